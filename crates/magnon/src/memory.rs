//! Large arrays that are touched at random.

use bytemuck::Zeroable;

/// `len` zeros, in large pages where the system has them.
///
/// Random access to a large array misses the processor's page table cache most of the time when
/// pages are small, and every small page costs a fault when it is first touched. The system is
/// asked for large ones and may decline.
pub(crate) fn zeroed<T: Zeroable>(len: usize) -> Vec<T> {
    let zeros: Vec<T> = bytemuck::zeroed_vec(len);
    #[cfg(target_os = "linux")]
    advise_huge_pages(zeros.as_ptr().cast(), size_of::<T>() * len);
    zeros
}

/// The same, or `None` where the system refuses.
pub(crate) fn try_zeroed<T: Zeroable>(len: usize) -> Option<Vec<T>> {
    let zeros: Vec<T> = bytemuck::allocation::try_zeroed_vec(len).ok()?;
    #[cfg(target_os = "linux")]
    advise_huge_pages(zeros.as_ptr().cast(), size_of::<T>() * len);
    Some(zeros)
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
    // failure changes nothing but speed.
    unsafe { libc::madvise(first as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
}
