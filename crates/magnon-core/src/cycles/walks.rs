//! Walks of exact length, which guide the search for a cycle of exact length.

use super::allowance::Allowance;
use super::component::Component;

/// For every node the lengths k ≤ `max` (at most 63) of walks from it to `home`, as bits.
///
/// A walk may repeat nodes, so a missing bit is proof and a present one a promise. Costs `max`
/// passes over the edges, fewer once nothing changes; `None` where the allowance ends first.
pub(super) fn walks_to(
    component: &Component,
    home: u32,
    max: usize,
    allowance: &mut Allowance,
) -> Option<Vec<u64>> {
    let keep = u64::MAX >> (63 - max.min(63));
    let mut walks = vec![0u64; component.size()];
    walks[home as usize] = 1;
    for _ in 0..max {
        let mut changed = false;
        for u in 0..component.size() {
            let targets = component.graph.targets(u);
            allowance.pay(targets.len())?;
            let targets = targets.iter();
            let lengths = targets.fold(walks[u], |bits, &v| bits | walks[v as usize] << 1) & keep;
            changed |= lengths != walks[u];
            walks[u] = lengths;
        }
        if !changed {
            break;
        }
    }
    Some(walks)
}

/// A cycle of exactly `length` edges through `home`, found within `budget` edges looked at.
///
/// `Err` says that the budget ran out; `Ok(None)` that there is none.
pub(super) fn find(
    component: &Component,
    home: u32,
    walks: &[u64],
    length: usize,
    budget: &mut u64,
) -> Result<Option<Vec<u32>>, ()> {
    let leads_home = |node: u32, edges: usize| walks[node as usize] >> edges & 1 == 1;
    if !leads_home(home, length) {
        return Ok(None);
    }
    let mut path = vec![home];
    let mut next = vec![0usize];
    while let (Some(&node), Some(edge)) = (path.last(), next.last_mut()) {
        let left = length - path.len(); // edges after the one that is chosen now
        let Some(&target) = component.graph.targets(node as usize).get(*edge) else {
            path.pop();
            next.pop();
            continue;
        };
        *edge += 1;
        *budget = budget.checked_sub(1).ok_or(())?;
        if left == 0 {
            if target == home {
                return Ok(Some(path));
            }
        } else if leads_home(target, left) && !path.contains(&target) {
            path.push(target);
            next.push(0);
        }
    }
    Ok(None)
}
