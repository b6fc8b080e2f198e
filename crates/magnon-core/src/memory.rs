//! Large arrays: touched at random, or of a size that input decides.

mod prefetch;
mod slab;

pub use prefetch::{prefetch, prefetch_once};
pub use slab::Slab;

use bytemuck::Zeroable;

/// `len` zeros, in large pages where the system has them.
///
/// Random access to a large array misses the processor's page table cache most of the time when
/// pages are small, and every small page costs a fault when it is first touched. The system is
/// asked for large ones and may decline.
pub(crate) fn zeroed<T: Zeroable>(len: usize) -> Vec<T> {
    // Asked once more in the way that ends the process where there is no memory.
    try_zeroed(len).unwrap_or_else(|| bytemuck::zeroed_vec(len))
}

/// The same, or `None` where the system refuses.
pub fn try_zeroed<T: Zeroable>(len: usize) -> Option<Vec<T>> {
    // Fresh pages are zero. An allocator that has to align does not rely on that and writes the zeros itself, so the pages are
    // in use, and small, before anybody can ask for large ones. Then we ask first and write afterwards.
    if align_of::<T>() <= align_of::<u64>() {
        let zeros: Vec<T> = bytemuck::allocation::try_zeroed_vec(len).ok()?;
        #[cfg(target_os = "linux")]
        advise_huge_pages(zeros.as_ptr().cast(), size_of::<T>() * len);
        return Some(zeros);
    }
    let mut zeros = try_room::<T>(len)?;
    // SAFETY: there is room for `len` values, of which all zero bits are one (`Zeroable`). Tested by `aligned_arrays_are_zero`.
    unsafe {
        zeros.as_mut_ptr().write_bytes(0, len);
        zeros.set_len(len);
    }
    Some(zeros)
}

/// Room for `len` values, in large pages where the system has them, or `None` where it refuses.
pub fn try_room<T>(len: usize) -> Option<Vec<T>> {
    let mut room: Vec<T> = Vec::new();
    room.try_reserve_exact(len).ok()?;
    #[cfg(target_os = "linux")]
    advise_huge_pages(room.as_ptr().cast(), size_of::<T>() * len);
    Some(room)
}

/// The values of an iterator that knows their number, or `None` where the system refuses.
pub fn try_collect<T>(source: impl ExactSizeIterator<Item = T>) -> Option<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(source.len()).ok()?;
    values.extend(source);
    Some(values)
}

/// Whether the system would grant so many bytes now. A size that is out of all proportion is then
/// known before the first hour of work.
pub fn is_granted(bytes: usize) -> bool {
    let mut room = Vec::<u8>::new();
    let granted = room.try_reserve_exact(bytes).is_ok();
    // The compiler may leave out a request whose memory nobody looks at.
    std::hint::black_box(room.as_ptr());
    granted
}

/// Whether the system would grant so much address space now, for what others will ask of it. Nothing is counted as taken.
pub(crate) fn has_room(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping of its own, at an address that the system chooses, touches no other memory; it is taken
        // back at once and nobody has seen it. Tested by `what_cannot_be_had_is_refused`.
        unsafe {
            let start = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
            start != libc::MAP_FAILED && libc::munmap(start, bytes) == 0
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = bytes;
        true
    }
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(start: *const u8, bytes: usize) {
    const PAGE: usize = 4096;
    const WORTH_IT: usize = 4 << 20;
    if bytes < WORTH_IT {
        return;
    }
    let first = (start as usize).next_multiple_of(PAGE);
    let length = (start as usize + bytes - first) / PAGE * PAGE;
    // SAFETY: whole pages inside of one live allocation; the advice changes no content, and its
    // failure changes nothing but speed. Tested by `large_arrays_are_zero`.
    unsafe { libc::madvise(first as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_are_zero() {
        let mut zeros = zeroed::<u32>(3 << 20);
        assert!(zeros.iter().all(|&zero| zero == 0));
        zeros.fill(1);
        assert_eq!(zeros.iter().sum::<u32>(), 3 << 20);
    }

    #[test]
    fn aligned_arrays_are_zero() {
        // Memory that was in use before is not zero by itself.
        drop(vec![crate::compute::tile::Line([7u8; 64]); 1 << 10]);
        let zeros = zeroed::<crate::compute::tile::Line<u8, 64>>(1 << 10);
        assert!(zeros.len() == 1 << 10 && zeros.iter().all(|line| line.0 == [0; 64]));
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let vast = isize::MAX as usize;
        // Elsewhere than on Linux, room is not looked at.
        assert!(has_room(1 << 20) && (!has_room(vast) || cfg!(not(target_os = "linux"))));
        assert!(is_granted(1 << 20) && !is_granted(vast) && !is_granted(usize::MAX));
        assert_eq!(try_zeroed::<u64>(vast), None);
        assert_eq!(try_room::<u64>(vast), None);
        assert_eq!(try_collect([1, 2].into_iter()), Some(vec![1, 2]));
        assert_eq!(try_collect((0..vast).map(|x| x as u64)), None);
    }
}
