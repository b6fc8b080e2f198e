//! An allocator that counts what is asked for.
#![allow(dead_code)] // each file looks at a part

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub struct Counting;

/// Bytes in use.
pub static NOW: AtomicUsize = AtomicUsize::new(0);
/// Most bytes in use since this was last set.
pub static PEAK: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Requests for memory that this thread has made.
pub fn calls() -> usize {
    CALLS.get()
}

fn note(size: usize) {
    CALLS.with(|calls| calls.set(calls.get() + 1));
    PEAK.fetch_max(NOW.fetch_add(size, Relaxed) + size, Relaxed);
}

// SAFETY: hands every request to the system's allocator; the counters are only looked at. Tested by every test
// that counts, which runs on this allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
