//! The way in which entries are written down.

/// Makes the constant `ENTRIES` of lines such as
///
/// ```text
/// "name" ["alias"] (nodes edges)
/// "One sentence on what it is."
/// note "What one should know before using it."
/// from repository "folder/" {
///     ("path" size "sha256")
///     ("path" at "name upstream" size "sha256")
///     ("path" blob "id in git")
///     ("path" unknown)
/// }
/// ;
/// ```
///
/// where `repository!()` is the start of the address, `_` stands for a number that is not known,
/// and there may be no note and several repositories.
macro_rules! entries {
    ($(
        $name:literal [$($alias:literal)*] ($nodes:tt $edges:tt)
        $description:literal
        $(note $note:literal)?
        $(from $repository:ident $folder:literal { $(($path:literal $($file:tt)*))* })+
        ;
    )*) => {
        pub(super) const ENTRIES: &[crate::Entry] = &[$(
            crate::Entry {
                name: $name,
                aliases: &[$($alias),*],
                description: $description,
                nodes: $crate::table::entries::count!($nodes),
                edges: $crate::table::entries::count!($edges),
                note: $crate::table::entries::note!($($note)?),
                files: &[$($(
                    $crate::table::entries::file!($repository $folder $path $($file)*)
                ),*),+],
            }
        ),*];
    };
}

macro_rules! count {
    (_) => {
        None
    };
    ($number:literal) => {
        Some($number)
    };
}

macro_rules! note {
    () => {
        None
    };
    ($note:literal) => {
        Some($note)
    };
}

macro_rules! file {
    ($repository:ident $folder:literal $path:literal at $name:literal $size:literal $sha256:literal) => {
        crate::File::known($path, concat!($repository!(), $folder, $name), $size, $sha256)
    };
    ($repository:ident $folder:literal $path:literal at $name:literal blob $id:literal) => {
        crate::File::of_blob($path, concat!($repository!(), $folder, $name), $id)
    };
    ($repository:ident $folder:literal $path:literal at $name:literal unknown) => {
        crate::File::unknown($path, concat!($repository!(), $folder, $name))
    };
    ($repository:ident $folder:literal $path:literal $($known:tt)+) => {
        $crate::table::entries::file!($repository $folder $path at $path $($known)+)
    };
}

pub(super) use {count, entries, file, note};
