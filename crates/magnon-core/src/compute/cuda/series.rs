//! Filters that are solved for in main memory, as series.
//!
//! Conjugate gradients ask after each step how much is left, and a card would wait for the answer. On an
//! interval that holds all eigenvalues, a rational function without poles there is a Chebyshev series that
//! falls off geometrically: its length is known beforehand, each term is one pass, and no inner product is
//! needed.

use crate::compute::map::check_solvable;
use crate::compute::{Bounds, EdgeMatrix, EdgeValues, Series, chebyshev};
use rayon::prelude::*;

/// What is left out, against the largest value: below what single precision tells apart.
const TOLERANCE: f64 = 1e-9;
/// More terms than this take longer than conjugate gradients.
const MOST: usize = 512;
/// Places at which the denominator is looked at.
const PLACES: usize = 1000;

/// The series that takes the place of a rational filter; `None` where it has to be solved for.
pub(super) fn unsolved(edges: &EdgeMatrix, series: &Series) -> Option<Series> {
    let Series::Rational { numerator, denominator } = series else { return None };
    check_solvable(edges.hermitian, edges.neighbourhood()).ok()?;
    let domain = bounds(edges);
    let value = |c: &[f64], x: f64| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    let place = |k: usize| domain.min + (domain.max - domain.min) * k as f64 / PLACES as f64;
    let places = || (0..=PLACES).map(place);
    if !places().all(|x| value(denominator, x) > 0.0) {
        return None;
    }
    let h = |x: f64| value(numerator, x) / value(denominator, x);
    let largest = places().fold(0f64, |most, x| most.max(h(x).abs()));
    let fitted = chebyshev::fit(h, domain, TOLERANCE * largest)?;
    let short = fitted.coefficients.len() <= MOST && fitted.truncation <= 1e-7 * largest;
    short.then_some(Series::Chebyshev { coefficients: fitted.coefficients, domain })
}

/// An interval that holds all eigenvalues of S, by Gershgorin's circles of R S R⁻¹ = diag(r·l)·T + M, which
/// are exact for normalised operators.
fn bounds(edges: &EdgeMatrix) -> Bounds {
    let pattern = edges.neighbourhood.pattern();
    let row = |u: usize| {
        let entries = pattern.offsets[u]..pattern.offsets[u + 1];
        let size = |e: usize| match &edges.values {
            EdgeValues::Classes { forward, .. } => forward[(pattern.columns[e] >> 30) as usize],
            EdgeValues::Entries { forward, .. } => forward[e],
        };
        let sum: f64 = entries.map(size).map(|[re, im]| re.hypot(im)).sum();
        let centre = edges.own.get(u).copied().unwrap_or(0.0);
        let radius = (edges.left[u] * edges.right[u]).abs() * sum;
        [centre - radius, centre + radius]
    };
    let whole = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let rows = (0..pattern.nodes()).into_par_iter().map(row);
    let [min, max] = rows.reduce(|| [f64::INFINITY, f64::NEG_INFINITY], whole);
    // A width for the map to [−1, 1], also where the operator is a multiple of the identity.
    let slack = 1e-9 * (1.0 + min.abs().max(max.abs()));
    Bounds { min: min - slack, max: max + slack }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::tile::TileOperator;
    use crate::filter::{Accuracy, Filter};
    use crate::graph::GraphBuilder;
    use crate::operator::{Charge, Kind, MagneticOperator, OperatorConfig};

    #[test]
    fn personalised_page_rank_is_a_short_series() {
        let edges = (0..40u32).map(|u| (u, (u * 7 + 1) % 40)).filter(|(u, v)| u != v);
        let graph = GraphBuilder::new(40).edges(edges).build().unwrap().graph;
        for self_loops in [false, true] {
            let charge = Charge::fraction(1, 3).unwrap();
            let config = OperatorConfig { charge, self_loops, ..Default::default() };
            let operator = MagneticOperator::new(&graph, &config).unwrap();
            let edges = operator.edges();
            let found = bounds(&edges);
            assert!(found.min >= -1.0 - 1e-6 && found.max <= 1.0 + 1e-6, "{found:?}");
            let exact = Filter::page_rank(0.9, operator.bounds(), Kind::Adjacency, Accuracy::Exact)
                .unwrap();
            let series = unsolved(&edges, exact.series()).unwrap();
            let Series::Chebyshev { coefficients, domain } = series else { panic!("{series:?}") };
            assert!(coefficients.len() < 64, "{}", coefficients.len());
            let short = Filter::chebyshev(&coefficients, domain).unwrap();
            for k in 0..=20 {
                let x = domain.min + (domain.max - domain.min) * f64::from(k) / 20.0;
                assert!((short.response(x) - exact.response(x)).abs() < 1e-7, "{x}");
            }
        }
        // A pole on the interval has no series.
        let config = OperatorConfig::default();
        let operator = MagneticOperator::new(&graph, &config).unwrap();
        let edges = operator.edges();
        let pole = Series::Rational { numerator: vec![1.0], denominator: vec![-0.5, 1.0] };
        assert!(unsolved(&edges, &pole).is_none());
    }
}
