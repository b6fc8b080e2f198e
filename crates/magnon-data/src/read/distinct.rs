//! About how many different hashes there are, in a kilobyte (HyperLogLog; Flajolet et al., 2007).

/// Registers; the standard error is 1.04 / √1024 = 3 %.
const REGISTERS: usize = 1024;

/// Keeps, for each register, the longest run of zeros at the end of a hash.
#[derive(Clone)]
pub(super) struct Distinct([u8; REGISTERS]);

impl Distinct {
    pub(super) fn new() -> Self {
        Self([0; REGISTERS])
    }

    /// Takes note of a hash.
    #[inline(always)]
    pub(super) fn add(&mut self, hash: u64) {
        let register = &mut self.0[(hash >> 32) as usize % REGISTERS];
        let run = (hash as u32 | 1 << 31).trailing_zeros() as u8 + 1;
        *register = run.max(*register);
    }

    /// Takes note of all that another has seen.
    pub(super) fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(ours, theirs)| *ours = (*ours).max(*theirs));
    }

    /// The estimate.
    pub(super) fn estimate(&self) -> f64 {
        let registers = REGISTERS as f64;
        let sum: f64 = self.0.iter().map(|&run| (-f64::from(run)).exp2()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let empty = self.0.iter().filter(|&&run| run == 0).count();
        match empty > 0 && raw < 2.5 * registers {
            true => registers * (registers / empty as f64).ln(),
            false => raw,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_near() {
        for count in [0, 1, 50, 1000, 3000, 20_000, 300_000] {
            let (mut even, mut odd) = (Distinct::new(), Distinct::new());
            for i in (0..count).chain(0..count / 2) {
                // The finaliser of splitmix64 stands for a hash.
                let mut hash = (i + 1u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                if i % 2 == 0 { &mut even } else { &mut odd }.add(hash ^ (hash >> 31));
            }
            even.join(&odd);
            let (estimate, count) = (even.estimate(), count as f64);
            assert!((estimate - count).abs() <= 0.1 * count, "{estimate} for {count}");
        }
    }
}
