//! Names of columns and files in messages.

/// Names in a row; of very many, only the first.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 20;
    let shown = names.iter().take(SHOWN).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len() {
        0..=SHOWN => shown,
        many => format!("{shown} and {} more", many - SHOWN),
    }
}
