//! The period of a strong component: the greatest common divisor of all its cycle lengths.

use super::component::Component;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The period, from breadth-first levels: gcd of level(u) + 1 − level(v) over all edges u → v. `None`
/// when `stop` is set on the way.
pub(super) fn period(component: &Component, stop: &AtomicBool) -> Option<usize> {
    let mut level = vec![usize::MAX; component.size()];
    level[0] = 0;
    let mut queue = std::collections::VecDeque::from([0usize]);
    let mut divisor = 0;
    while let Some(u) = queue.pop_front() {
        if stop.load(Relaxed) {
            return None;
        }
        if divisor == 1 {
            break; // as soon as it is 1 it stays so
        }
        for &v in component.graph.targets(u) {
            let v = v as usize;
            if level[v] == usize::MAX {
                level[v] = level[u] + 1;
                queue.push_back(v);
            } else {
                divisor = gcd(divisor, (level[u] + 1).abs_diff(level[v]));
            }
        }
    }
    Some(divisor)
}

/// Greatest common divisor; that of 0 and x is x.
pub(super) fn gcd(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
