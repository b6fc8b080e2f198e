//! An allocator that refuses one large request, as a system without memory does.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Requests of at least so many bytes count as large; the tables of an unpacker are not.
pub const LARGE: usize = 1 << 17;

/// Large requests that are still granted before one is refused; none is where this is the largest number.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Refuses a large request after `granted` others.
pub fn arm(granted: usize) {
    LEFT.store(granted, SeqCst);
}

/// Refuses nothing any more, and says whether something was refused.
pub fn disarm() -> bool {
    LEFT.swap(usize::MAX, SeqCst) == usize::MAX
}

struct Failing;

/// Whether a request is the one to refuse.
fn refused(size: usize) -> bool {
    size >= LARGE
        && LEFT.fetch_update(SeqCst, SeqCst, |left| match left {
            usize::MAX => None,
            0 => Some(usize::MAX),
            left => Some(left - 1),
        }) == Ok(0)
}

// SAFETY: hands requests to the system's allocator, or gives null, which says that there is no memory.
// Tested by every test of `allocations.rs`, which runs on this allocator.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as promised by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Giving back a part is no request.
        if size > layout.size() && refused(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;
