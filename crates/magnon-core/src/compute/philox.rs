//! Philox 4×32-10: random bits as a function of a place and a key.
//!
//! With no state to carry along, a training run that is taken up again draws what it would have
//! drawn, and masks may be made in any order.

/// Four random words for each of `N` counters, which differ in their first word: `first`,
/// `first + 1`, …. The counters go side by side, so that the loops become vector instructions.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // four arrays at one place: indices say it best
pub fn philox<const N: usize>(first: u32, rest: [u32; 3], mut key: [u32; 2]) -> [[u32; N]; 4] {
    // A word in the lower half of 64 bits: a vector instruction multiplies those, and nobody looks at the upper half.
    const WORD: u64 = 0xFFFF_FFFF;
    let mut words: [[u64; N]; 4] = [[0; N]; 4];
    for lane in 0..N {
        words[0][lane] = first.wrapping_add(lane as u32).into();
        for k in 0..3 {
            words[k + 1][lane] = rest[k].into();
        }
    }
    for _ in 0..10 {
        for lane in 0..N {
            let a = (words[0][lane] & WORD) * 0xD251_1F53;
            let b = (words[2][lane] & WORD) * 0xCD9E_8D57;
            words[0][lane] = (b >> 32) ^ words[1][lane] ^ u64::from(key[0]);
            words[2][lane] = (a >> 32) ^ words[3][lane] ^ u64::from(key[1]);
            (words[1][lane], words[3][lane]) = (b, a);
        }
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    let mut found = [[0; N]; 4];
    for k in 0..4 {
        for lane in 0..N {
            found[k][lane] = words[k][lane] as u32;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with the generator.
    #[test]
    fn known_answers() {
        let zero = philox::<2>(0, [0; 3], [0; 2]).map(|word| word[0]);
        assert_eq!(zero, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = philox::<2>(u32::MAX, [u32::MAX; 3], [u32::MAX; 2]).map(|word| word[0]);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn lanes_are_counters() {
        let wide = philox::<8>(40, [1, 2, 3], [4, 5]);
        for lane in 0..8 {
            let one = philox::<1>(40 + lane, [1, 2, 3], [4, 5]);
            assert_eq!(one.map(|word| word[0]), wide.map(|word| word[lane as usize]));
        }
    }
}
