//! Personalised PageRank.

use super::config::check_tolerance;
use super::form::MAX_ORDER;
use super::polynomial::{diffusion_radius, of_diffusion};
use super::{Accuracy, Filter, FilterEntry, FilterError};
use crate::compute::Series;
use crate::operator::{Bounds, Kind};

const NAME: &str = "personalised PageRank";

/// α where none is given.
const ALPHA: f64 = 0.9;

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["order", "alpha", "exact", "tolerance"],
    searched: &["alpha"],
    iterate: Some(|config, domain, kind| {
        let order = config.order.unwrap_or_default();
        Filter::page_rank_steps(config.alpha.unwrap_or(ALPHA), domain, kind, order)
    }),
    ..FilterEntry::new("ppr", "Personalised PageRank", |config, domain, kind| {
        Filter::page_rank(config.alpha.unwrap_or(ALPHA), domain, kind, config.accuracy())
    })
};

impl Filter {
    /// Σ_k (1−α)α^k P^k = (1−α)(I − αP)^{-1}, 0 < α < 1, for an operator with spectrum in `domain`. P
    /// is the operator itself or, where that is a Laplacian, I − L.
    ///
    /// With an order, the series of powers is cut there. Else it is a Chebyshev series cut to the
    /// tolerance, which needs far fewer products, or solved by conjugate gradients.
    pub fn page_rank(
        alpha: f64,
        domain: Bounds,
        kind: Kind,
        accuracy: Accuracy,
    ) -> Result<Self, FilterError> {
        if !(alpha > 0.0 && alpha < 1.0) {
            let range = "above 0 and below 1";
            return Err(FilterError::OutOfRange { name: "alpha", value: alpha, range });
        }
        // I − αP = a + bS.
        let laplacian = kind == Kind::Laplacian;
        let (a, b) = if laplacian { (1.0 - alpha, alpha) } else { (1.0, -alpha) };
        let least = (a + b * domain.min).min(a + b * domain.max);
        if least <= 0.0 {
            let radius = domain.radius();
            return Err(FilterError::Diverges { filter: NAME, factor: alpha, radius });
        }
        match accuracy {
            Accuracy::Order(order) => taylor(alpha, domain, laplacian, order),
            Accuracy::Tolerance(tolerance) => {
                check_tolerance(tolerance)?;
                chebyshev(1.0 - alpha, [a, b], domain, tolerance)
            }
            Accuracy::Exact => {
                let form =
                    Series::Rational { numerator: vec![1.0 - alpha], denominator: vec![a, b] };
                Ok(Self::checked(form, 0.0)?.into_exact())
            }
        }
    }

    /// K steps of Z ← αPZ + (1−α)X from Z = X: Σ_{k<K} (1−α)α^k P^k + α^K P^K. What the series cut at
    /// K leaves out is all at the last power, so that the weights sum to 1.
    pub fn page_rank_steps(
        alpha: f64,
        domain: Bounds,
        kind: Kind,
        order: usize,
    ) -> Result<Self, FilterError> {
        // What the series refuses is refused here.
        Self::page_rank(alpha, domain, kind, Accuracy::Order(order))?;
        let power = |k: usize| alpha.powf(k as f64);
        let mut terms: Vec<f64> = (0..order).map(|k| (1.0 - alpha) * power(k)).collect();
        terms.push(power(order));
        of_diffusion(terms, domain, kind == Kind::Laplacian, 0.0)
    }
}

/// The first `order` + 1 terms in powers of P.
fn taylor(
    alpha: f64,
    domain: Bounds,
    laplacian: bool,
    order: usize,
) -> Result<Filter, FilterError> {
    if order > MAX_ORDER {
        return Err(FilterError::OrderTooLarge(order));
    }
    let radius = diffusion_radius(domain, laplacian);
    let ratio = alpha * radius;
    if ratio >= 1.0 {
        return Err(FilterError::Diverges { filter: NAME, factor: alpha, radius });
    }
    let terms: Vec<f64> = (0..=order).map(|k| (1.0 - alpha) * alpha.powf(k as f64)).collect();
    let tail = (1.0 - alpha) / (1.0 - ratio) * ratio.powf(order as f64 + 1.0);
    of_diffusion(terms, domain, laplacian, tail)
}

/// The series of `factor` / (a + bλ): with λ = c + hx it is factor/(a + bc) · 1/(1 − βx), and
/// 1/(1 − βx) = (1−β²)^{-1/2} Σ (2−δ_k0) r^k T_k(x), r = β / (1 + √(1−β²)).
fn chebyshev(
    factor: f64,
    [a, b]: [f64; 2],
    domain: Bounds,
    tolerance: f64,
) -> Result<Filter, FilterError> {
    let middle = a + b * domain.centre();
    let beta = -b * domain.half_width() / middle;
    if beta.abs() >= 1.0 {
        // An interval of hardly more than a point, widened past the pole: too close for a series.
        return Err(FilterError::NotResolved { filter: NAME, tolerance, terms: MAX_ORDER });
    }
    let root = (1.0 - beta * beta).sqrt();
    let r = beta / (1.0 + root);
    let size = factor / (middle * root);
    // What lies beyond K sums to 2·size·|r|^{K+1} / (1 − |r|).
    let tail = |order: f64| 2.0 * size * r.abs().powf(order + 1.0) / (1.0 - r.abs());
    let needed = (tolerance * (1.0 - r.abs()) / (2.0 * size)).ln() / r.abs().ln() - 1.0;
    let order = if r == 0.0 { 0.0 } else { needed.ceil().max(0.0) };
    if order.is_nan() || order > MAX_ORDER as f64 {
        return Err(FilterError::NotResolved { filter: NAME, tolerance, terms: MAX_ORDER });
    }
    let sign = |k: usize| if r < 0.0 && k % 2 == 1 { -1.0 } else { 1.0 };
    let terms = (0..=order as usize).map(|k| match k {
        0 => size,
        _ => 2.0 * size * sign(k) * r.abs().powf(k as f64),
    });
    Filter::checked(Series::Chebyshev { coefficients: terms.collect(), domain }, tail(order))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Bounds = Bounds { min: -1.0, max: 1.0 };
    const LAPLACIAN: Bounds = Bounds { min: 0.0, max: 2.0 };

    #[test]
    fn truncation_keeps_its_word() {
        for alpha in [0.1, 0.9, 0.9999] {
            let closed = |p: f64| (1.0 - alpha) / (1.0 - alpha * p);
            for (domain, kind) in [(UNIT, Kind::Adjacency), (LAPLACIAN, Kind::Laplacian)] {
                let of = |accuracy| Filter::page_rank(alpha, domain, kind, accuracy).unwrap();
                let (exact, series) = (of(Accuracy::Exact), of(Accuracy::Tolerance(1e-6)));
                assert!(series.truncation() <= 1e-6 && series.truncation() > 1e-8);
                for p in [-1.0, -0.2, 0.0, 0.7, 1.0] {
                    let lambda = if kind == Kind::Laplacian { 1.0 - p } else { p };
                    assert!((exact.response(lambda) - closed(p)).abs() < 1e-11);
                    let error = (series.response(lambda) - closed(p)).abs();
                    assert!(error <= series.truncation() * 1.01, "{alpha} {p}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn a_stated_order_is_kept() {
        let powers = Filter::page_rank(0.5, UNIT, Kind::Adjacency, Accuracy::Order(2)).unwrap();
        assert_eq!(powers.coefficients(), [0.5, 0.25, 0.125]);
        assert_eq!(powers.truncation(), 0.125);
        let other = Filter::page_rank(0.5, LAPLACIAN, Kind::Laplacian, Accuracy::Order(2)).unwrap();
        assert!((other.response(0.3) - powers.response(0.7)).abs() < 1e-14);
    }

    #[test]
    fn steps_sum_to_one() {
        let steps = Filter::page_rank_steps(0.5, UNIT, Kind::Adjacency, 2).unwrap();
        assert_eq!(steps.coefficients(), [0.5, 0.25, 0.25]);
        assert_eq!((steps.response(1.0), steps.truncation()), (1.0, 0.0));
        let other = Filter::page_rank_steps(0.5, LAPLACIAN, Kind::Laplacian, 2).unwrap();
        assert!((other.response(0.3) - steps.response(0.7)).abs() < 1e-14);
        assert!(Filter::page_rank_steps(1.0, UNIT, Kind::Adjacency, 2).is_err());
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert!(Filter::page_rank(1.0, UNIT, Kind::Adjacency, Accuracy::Exact).is_err());
        let wide = Bounds { min: -2.0, max: 2.0 };
        let diverges = Filter::page_rank(0.6, wide, Kind::Adjacency, Accuracy::Tolerance(1e-6));
        assert!(matches!(diverges, Err(FilterError::Diverges { .. })));
    }
}
