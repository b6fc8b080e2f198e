//! Flux: what phase a charge gives to the cycles of the underlying graph.

use super::period::gcd;
use crate::graph::DiGraph;
use crate::operator::Phase;
use crate::progress::Progress;
use serde::Serialize;
use std::sync::atomic::Ordering::Relaxed;

/// Net flux of the cycles of the underlying graph.
///
/// A walk along u → v gains the difference of its [`Phase`]: ±1 by direction, or A(u,v) − A(v,u); the sum round a cycle is its flux f, and the charge q
/// gives it the phase e^{i2πqf}. Phases of all cycles determine the operator up to a change of local
/// phases: charges q and p that agree on every cycle give S_q = D\*S_pD with a diagonal D of phases.
/// Such a gauge transformation keeps the spectrum. It does not keep what a filter does to features,
/// h(S_q)X = D\*h(S_p)DX, which is h(S_p)X for all X only where D is 1 on each component, as on a
/// symmetric graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flux {
    /// Whether every cycle has flux 0: then every charge has the spectrum of 0.
    pub free: bool,
    /// Greatest common divisor g of all fluxes: charges that differ by a multiple of 1/g have the
    /// same spectrum. 0 for a flux-free graph; `None` where weights are not whole numbers.
    pub divisor: Option<u64>,
}

impl Flux {
    /// Whether charge q gives no cycle a phase, and so differs from charge 0 by local phases alone.
    pub fn is_gauge(&self, q: f64) -> bool {
        let turns = self.divisor.map(|g| q * g as f64);
        self.free || turns.is_some_and(|turns| (turns - turns.round()).abs() < 1e-9)
    }
}

/// Measures the flux: potentials along a spanning forest, then the flux of the fundamental cycle of
/// every other edge. Takes e log d steps for e edges and degrees d; `None` when `stop` is set on the
/// way.
pub fn flux(graph: &DiGraph, phase: Phase, progress: &dyn Progress) -> Option<Flux> {
    let stop = progress.stop_flag();
    if stop.load(Relaxed) {
        return None;
    }
    let transpose = graph.transpose();
    let n = graph.nodes();
    let mut potential: Vec<Option<f64>> = vec![None; n];
    let mut stack = Vec::new();
    let mut flux = Flux { free: true, divisor: Some(0) };
    for root in 0..n {
        if potential[root].is_some() {
            continue;
        }
        potential[root] = Some(0.0);
        stack.push(root);
        while let Some(u) = stack.pop() {
            if stop.load(Relaxed) {
                return None;
            }
            if flux.divisor == Some(1) && (phase == Phase::Sign || !graph.is_weighted()) {
                return Some(flux); // whole numbers with the divisor 1 keep it
            }
            let here = potential[u].unwrap_or(0.0);
            for (v, gain) in gains(graph, &transpose, phase, u) {
                match potential[v] {
                    None => {
                        potential[v] = Some(here + gain);
                        stack.push(v);
                    }
                    Some(there) => flux.add(here + gain - there),
                }
            }
        }
    }
    Some(flux)
}

impl Flux {
    fn add(&mut self, around: f64) {
        // Weights are single precision; their sums are exact in double precision but for rounding.
        if around.abs() < 1e-9 {
            return;
        }
        self.free = false;
        let whole = around.round();
        self.divisor = match self.divisor {
            Some(divisor) if (around - whole).abs() < 1e-9 && whole.abs() < 1e15 => {
                Some(gcd(divisor as usize, whole.abs() as usize) as u64)
            }
            _ => None,
        };
    }
}

/// Neighbours of `u` in the underlying graph with what the way to them gains; a pair joined both ways comes
/// twice, which changes nothing.
fn gains<'a>(
    graph: &'a DiGraph,
    transpose: &'a DiGraph,
    phase: Phase,
    u: usize,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let weight = move |g: &DiGraph, k: usize| g.weights(u).map_or(1.0, |w| f64::from(w[k]));
    let of = move |g: &'a DiGraph, other: &'a DiGraph, sign: f64| {
        g.targets(u).iter().enumerate().filter(move |&(_, &v)| v as usize != u).map(
            move |(k, &v)| {
                let back = other.targets(u).binary_search(&v).map_or(0.0, |k| weight(other, k));
                (v as usize, sign * phase.difference(weight(g, k), back))
            },
        )
    };
    of(graph, transpose, 1.0).chain(of(transpose, graph, -1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use std::sync::atomic::AtomicBool;

    fn of(nodes: usize, edges: &[(u32, u32)]) -> Flux {
        let graph = GraphBuilder::new(nodes).edges(edges.iter().copied()).build().unwrap().graph;
        flux(&graph, Phase::Sign, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn known_fluxes() {
        let free = Flux { free: true, divisor: Some(0) };
        assert_eq!(of(4, &[(0, 1), (1, 2), (3, 2)]), free); // a tree
        assert_eq!(of(3, &[(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)]), free); // symmetric
        assert_eq!(of(4, &[(0, 1), (1, 3), (0, 2), (2, 3)]), free); // a balanced diamond
        // The directed m-cycle has flux m, the feed-forward triangle 1 although it is acyclic.
        assert_eq!(of(3, &[(0, 1), (1, 2), (2, 0)]).divisor, Some(3));
        assert_eq!(of(3, &[(0, 1), (1, 2), (0, 2)]), Flux { free: false, divisor: Some(1) });
        let two = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 4)];
        assert_eq!(of(10, &two).divisor, Some(2)); // a 4-cycle and a 6-cycle
        assert!(of(3, &[(0, 1), (1, 2), (2, 0)]).is_gauge(1.0 / 3.0));
        assert!(!of(3, &[(0, 1), (1, 2), (2, 0)]).is_gauge(0.25));
    }

    #[test]
    fn weights_count() {
        let edges = [(0, 1, 0.5), (1, 2, 0.5), (2, 0, 0.25)];
        let graph = GraphBuilder::new(3).weighted_edges(edges).build().unwrap().graph;
        let stop = AtomicBool::new(false);
        let of = |phase| flux(&graph, phase, &stop);
        assert_eq!(of(Phase::Weight), Some(Flux { free: false, divisor: None }));
        assert_eq!(of(Phase::Sign), Some(Flux { free: false, divisor: Some(3) }));
        stop.store(true, Relaxed);
        assert_eq!(of(Phase::Weight), None);
    }
}
