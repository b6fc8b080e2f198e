//! Every target on its seeds, and on seeds with bytes changed, cut off and put in twice: what a fuzzer begins with, on
//! any toolchain.

use magnon_fuzz::{Target, seeds};

/// Inputs made of each seed.
const CHANGED: usize = 8;

/// Numbers in no order (Knuth's multiplier).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// The seed with a few changes.
fn changed(seed: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut input = seed.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(input.len());
        let end = (at + numbers.below(64)).min(input.len());
        match numbers.below(4) {
            0 if at < input.len() => input[at] ^= 1 << numbers.below(8),
            1 if at < input.len() => input[at] = numbers.below(256) as u8,
            2 => {
                input.drain(at..end);
            }
            _ => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
        }
    }
    input
}

#[test]
fn targets_run_on_their_seeds() {
    let mut numbers = Numbers(1);
    for (name, seeds) in seeds() {
        assert!(!seeds.is_empty(), "{name} has no seeds");
        let target = Target::named(name);
        for seed in &seeds {
            target.run(seed);
            for _ in 0..CHANGED {
                target.run(&changed(seed, &mut numbers));
            }
        }
    }
}
