//! A library to be loaded before libc: the n-th file operation of a process within one folder goes wrong.
//!
//! `MAGNON_FAULT` is `N KIND LOG FOLDER`: operation N (from 0) under FOLDER goes wrong as KIND says: `EIO`, `ENOSPC`,
//! `short` (a write takes half of its bytes), `exit` (the process ends there, as if it had been killed).
//! Every operation adds a letter to LOG. It is compiled by the tests themselves, and has no crates.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn getenv(name: *const c_char) -> *const c_char;
    fn __errno_location() -> *mut c_int;
    fn _exit(code: c_int) -> !;
}

struct Plan {
    at: i64,
    kind: &'static str,
    folder: &'static str,
    log: c_int,
}

static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
static SEEN: AtomicI64 = AtomicI64::new(0);
/// Which descriptors are of files in the folder.
static OURS: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];

/// The function of that name that comes after ours.
macro_rules! next {
    ($name:ident as $type:ty) => {{
        static NEXT: OnceLock<usize> = OnceLock::new();
        let name = concat!(stringify!($name), "\0").as_ptr().cast();
        let found = *NEXT.get_or_init(|| dlsym(-1isize as *mut c_void, name) as usize);
        transmute::<usize, $type>(found)
    }};
}

type Open = unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int;
type Write = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;

fn plan() -> Option<&'static Plan> {
    let read = || {
        let text = unsafe { getenv(c"MAGNON_FAULT".as_ptr()) };
        if text.is_null() {
            return None;
        }
        let text: &'static str = unsafe { CStr::from_ptr(text) }.to_str().ok()?;
        let mut words = text.splitn(4, ' ');
        let at = words.next()?.parse().ok()?;
        let (kind, log, folder) = (words.next()?, words.next()?, words.next()?);
        let mut name = [0u8; 512];
        name.get_mut(..log.len())?.copy_from_slice(log.as_bytes());
        let create = 0o2101; // append, create, write
        let log = unsafe { next!(open64 as Open)(name.as_ptr().cast(), create, 0o644) };
        Some(Plan { at, kind, folder, log })
    };
    PLAN.get_or_init(read).as_ref()
}

/// What an operation is to do.
enum Turn {
    Go,
    Fail,
    Short,
}

fn turn(letter: u8) -> Turn {
    let Some(plan) = plan() else { return Turn::Go };
    let now = SEEN.fetch_add(1, SeqCst);
    unsafe { next!(write as Write)(plan.log, (&raw const letter).cast(), 1) };
    if now != plan.at {
        return Turn::Go;
    }
    let errno = match plan.kind {
        "exit" => unsafe { _exit(137) },
        "short" => return Turn::Short,
        "ENOSPC" => 28,
        _ => 5,
    };
    unsafe { *__errno_location() = errno };
    Turn::Fail
}

fn path_is_ours(path: *const c_char) -> bool {
    plan().is_some_and(|plan| {
        unsafe { CStr::from_ptr(path) }.to_bytes().starts_with(plan.folder.as_bytes())
    })
}

fn is_ours(file: c_int) -> bool {
    usize::try_from(file).is_ok_and(|at| OURS.get(at).is_some_and(|ours| ours.load(SeqCst)))
}

fn opened(path: *const c_char, open: impl FnOnce() -> c_int) -> c_int {
    let ours = path_is_ours(path);
    if ours && !matches!(turn(b'o'), Turn::Go) {
        return -1;
    }
    let file = open();
    if let Ok(at) = usize::try_from(file)
        && let Some(place) = OURS.get(at)
    {
        place.store(ours, SeqCst);
    }
    file
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    opened(path, || unsafe { next!(open64 as Open)(path, flags, mode) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    opened(path, || unsafe { next!(open as Open)(path, flags, mode) })
}

/// An operation on a path, or on two, of which the second counts.
macro_rules! on_path {
    ($($name:ident, $letter:literal, ($($argument:ident: $type:ty),*), $path:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            if path_is_ours($path) && !matches!(turn($letter), Turn::Go) {
                return -1;
            }
            unsafe { next!($name as unsafe extern "C" fn($($type),*) -> c_int)($($argument),*) }
        }
    )*};
}

on_path! {
    rename, b'n', (from: *const c_char, to: *const c_char), to;
    unlink, b'u', (path: *const c_char), path;
    mkdir, b'm', (path: *const c_char, mode: c_uint), path;
}

/// An operation on a file that gives a number, or -1.
macro_rules! on_file {
    ($($name:ident, $letter:literal, ($($argument:ident: $type:ty),*) -> $given:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(file: c_int, $($argument: $type),*) -> $given {
            if is_ours(file) && !matches!(turn($letter), Turn::Go) {
                return -1;
            }
            type Next = unsafe extern "C" fn(c_int, $($type),*) -> $given;
            unsafe { next!($name as Next)(file, $($argument),*) }
        }
    )*};
}

on_file! {
    fsync, b's', () -> c_int;
    fdatasync, b's', () -> c_int;
    ftruncate64, b't', (length: i64) -> c_int;
    fallocate64, b'a', (mode: c_int, start: i64, length: i64) -> c_int;
    read, b'r', (to: *mut c_void, length: usize) -> isize;
    pread64, b'r', (to: *mut c_void, length: usize, at: i64) -> isize;
    copy_file_range, b'c', (from_at: *mut i64, to: c_int, to_at: *mut i64, length: usize, flags: c_uint) -> isize;
}

/// A write: it may also take half of its bytes.
macro_rules! on_write {
    ($($name:ident, ($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(file: c_int, from: *const c_void, length: usize, $($argument: $type),*) -> isize {
            let length = match if is_ours(file) { turn(b'w') } else { Turn::Go } {
                Turn::Go => length,
                Turn::Fail => return -1,
                Turn::Short => length.div_ceil(2),
            };
            type Next = unsafe extern "C" fn(c_int, *const c_void, usize, $($type),*) -> isize;
            unsafe { next!($name as Next)(file, from, length, $($argument),*) }
        }
    )*};
}

on_write! {
    write, ();
    pwrite64, (at: i64);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(at: *mut c_void, length: usize, protection: c_int, flags: c_int, file: c_int, from: i64) -> *mut c_void {
    if is_ours(file) && !matches!(turn(b'p'), Turn::Go) {
        return -1isize as *mut c_void;
    }
    type Map = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;
    unsafe { next!(mmap64 as Map)(at, length, protection, flags, file, from) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(file: c_int) -> c_int {
    if let Ok(at) = usize::try_from(file)
        && let Some(place) = OURS.get(at)
    {
        place.store(false, SeqCst);
    }
    unsafe { next!(close as unsafe extern "C" fn(c_int) -> c_int)(file) }
}
