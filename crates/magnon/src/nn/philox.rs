//! Philox 4×32-10: random bits as a function of a place and a key.
//!
//! With no state to carry along, a training run that is taken up again draws what it would have
//! drawn, and masks may be made in any order.

/// Four random words for a counter and a key.
#[inline(always)]
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        let high = |x: u64| (x >> 32) as u32;
        counter =
            [high(b) ^ counter[1] ^ key[0], b as u32, high(a) ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with the generator.
    #[test]
    fn known_answers() {
        let zero = philox([0; 4], [0; 2]);
        assert_eq!(zero, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = philox([u32::MAX; 4], [u32::MAX; 2]);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }
}
