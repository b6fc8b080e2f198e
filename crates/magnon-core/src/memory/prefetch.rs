//! Asking for memory before it is needed.

/// Asks for the cache line at `address`, which need not be valid.
#[inline(always)]
pub fn prefetch<L>(address: *const L) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is harmless; it never faults. Tested by `no_address_faults`.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for the cache line at `address`, which is read once and should not push out others.
#[inline(always)]
pub fn prefetch_once<L>(address: *const L) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as for `prefetch`.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_NTA, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_NTA>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_faults() {
        for address in [0, 1, usize::MAX, 1 << 47] {
            prefetch(std::ptr::without_provenance::<u8>(address));
            prefetch_once(std::ptr::without_provenance::<u8>(address));
        }
    }
}
