//! The heat kernel.

use super::config::check_tolerance;
use super::form::MAX_ORDER;
use super::polynomial::{diffusion_radius, of_diffusion};
use super::{Accuracy, Filter, FilterEntry, FilterError};
use crate::compute::Series;
use crate::operator::{Bounds, Kind};

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["order", "time", "exact", "tolerance"],
    ..FilterEntry::new("heat", "Heat kernel", |config, domain, kind| {
        Filter::heat(config.time.unwrap_or(1.0), domain, kind, config.accuracy())
    })
};

impl Filter {
    /// Σ_k e^{−t} t^k/k! P^k = exp(−t(I − P)), t > 0, for an operator with spectrum in `domain`. P is
    /// the operator itself or, where that is a Laplacian, I − L: then this is exp(−tL).
    ///
    /// With an order, the series of powers is cut there. Else the kernel is a Chebyshev series, whose
    /// coefficients are modified Bessel functions, to the tolerance or to machine precision; it needs
    /// about √t products where powers need t.
    pub fn heat(
        time: f64,
        domain: Bounds,
        kind: Kind,
        accuracy: Accuracy,
    ) -> Result<Self, FilterError> {
        if !(time > 0.0 && time.is_finite()) {
            let range = "a finite number above 0";
            return Err(FilterError::OutOfRange { name: "time", value: time, range });
        }
        let laplacian = kind == Kind::Laplacian;
        match accuracy {
            Accuracy::Order(order) => taylor(time, domain, laplacian, order),
            Accuracy::Tolerance(tolerance) => {
                check_tolerance(tolerance)?;
                chebyshev(time, domain, laplacian, tolerance)
            }
            Accuracy::Exact => Ok(chebyshev(time, domain, laplacian, 0.0)?.into_exact()),
        }
    }
}

/// The first `order` + 1 terms in powers of P.
fn taylor(time: f64, domain: Bounds, laplacian: bool, order: usize) -> Result<Filter, FilterError> {
    if order > MAX_ORDER {
        return Err(FilterError::OrderTooLarge(order));
    }
    // Terms through their logarithms, so that large t neither under- nor overflows on the way.
    let mut logarithm = -time;
    let mut terms = vec![logarithm.exp()];
    for k in 1..=order {
        logarithm += (time / k as f64).ln();
        terms.push(logarithm.exp());
    }
    let radius = diffusion_radius(domain, laplacian);
    // The tail is Σ_{k>K} e^{−t} (tρ)^k/k!, which falls faster than geometrically in the end; before
    // that, polynomial and kernel differ by at most their sizes.
    let ratio = time * radius / (order as f64 + 2.0);
    let next = (logarithm
        + (order as f64 + 1.0) * radius.max(1e-300).ln()
        + (time / (order as f64 + 1.0)).ln())
    .exp();
    let tail = if ratio < 1.0 { next / (1.0 - ratio) } else { f64::INFINITY };
    let truncation = tail.min(2.0 * (time * (radius - 1.0)).exp());
    of_diffusion(terms, domain, laplacian, truncation)
}

/// e^{−t(1−c)} Σ (2−δ_k0) I_k(th) T_k, on the interval of centre c and half width h; for a Laplacian
/// e^{−tc} Σ (2−δ_k0) (−1)^k I_k(th) T_k.
fn chebyshev(
    time: f64,
    domain: Bounds,
    laplacian: bool,
    tolerance: f64,
) -> Result<Filter, FilterError> {
    let (centre, half) = (domain.centre(), domain.half_width());
    // The largest response; everything else is relative to it.
    let largest = match laplacian {
        true => (-time * (centre - half)).exp(),
        false => (-time * (1.0 - centre - half)).exp(),
    };
    if !largest.is_finite() {
        let range = "smaller: the kernel overflows on this operator, which is not normalised";
        return Err(FilterError::OutOfRange { name: "time", value: time, range });
    }
    let bessel = scaled_bessel(time * half)?;
    let factor = |k: usize| match k {
        0 => largest,
        _ if laplacian && k % 2 == 1 => -2.0 * largest,
        _ => 2.0 * largest,
    };
    let mut coefficients: Vec<f64> = (0..bessel.len()).map(|k| factor(k) * bessel[k]).collect();
    let allowed = tolerance.max(f64::EPSILON * largest);
    let mut truncation = 0.0;
    while coefficients.len() > 1 {
        let last = coefficients[coefficients.len() - 1].abs();
        if truncation + last > allowed {
            break;
        }
        truncation += last;
        coefficients.pop();
    }
    Filter::checked(Series::Chebyshev { coefficients, domain }, truncation)
}

/// e^{−x} I_k(x) for k = 0, 1, … as far as they are not negligible, by Miller's recurrence downwards:
/// I_{k−1} = I_{k+1} + (2k/x) I_k, scaled by I_0 + 2 Σ I_k = e^x.
fn scaled_bessel(x: f64) -> Result<Vec<f64>, FilterError> {
    let terms = 40.0 + 14.0 * x.sqrt();
    if terms > MAX_ORDER as f64 {
        return Err(FilterError::NotResolved {
            filter: "the heat kernel",
            tolerance: f64::EPSILON,
            terms: MAX_ORDER,
        });
    }
    let terms = terms as usize;
    let mut values = vec![0.0; terms + 2];
    values[terms] = f64::MIN_POSITIVE;
    for k in (1..=terms).rev() {
        values[k - 1] = values[k + 1] + 2.0 * k as f64 / x * values[k];
        if values[k - 1] > 1e250 {
            values[k - 1..].iter_mut().for_each(|value| *value *= 1e-250);
        }
    }
    let sum = values[0] + 2.0 * values[1..].iter().sum::<f64>();
    values.iter_mut().for_each(|value| *value /= sum);
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Bounds = Bounds { min: -1.0, max: 1.0 };
    const LAPLACIAN: Bounds = Bounds { min: 0.0, max: 2.0 };

    #[test]
    fn truncation_keeps_its_word() {
        for time in [1e-3, 0.1, 2.5, 30.0, 300.0, 5e4, 2e5] {
            let closed = |lambda: f64| (-time * (1.0 - lambda)).exp();
            let of = |accuracy| Filter::heat(time, UNIT, Kind::Adjacency, accuracy).unwrap();
            let (exact, series) = (of(Accuracy::Exact), of(Accuracy::Tolerance(1e-7)));
            assert!(series.truncation() <= 1e-7);
            assert!(series.order() <= exact.order());
            for i in 0..=40 {
                let lambda = f64::from(i - 20) / 20.0;
                let error = (exact.response(lambda) - closed(lambda)).abs();
                assert!(error < 1e-12, "t = {time}, λ = {lambda}: {error:e}");
                let error = (series.response(lambda) - closed(lambda)).abs();
                assert!(error <= series.truncation() + 1e-12, "{error:e}");
            }
        }
        assert!(Filter::heat(0.0, UNIT, Kind::Adjacency, Accuracy::Exact).is_err());
        assert!(Filter::heat(f64::NAN, UNIT, Kind::Adjacency, Accuracy::Exact).is_err());
        assert!(Filter::heat(1e300, UNIT, Kind::Adjacency, Accuracy::Exact).is_err());
    }

    #[test]
    fn on_a_laplacian_it_damps() {
        for accuracy in [Accuracy::Exact, Accuracy::Tolerance(1e-9), Accuracy::Order(60)] {
            let filter = Filter::heat(5.0, LAPLACIAN, Kind::Laplacian, accuracy).unwrap();
            for lambda in [0.0, 0.3, 1.0, 2.0f64] {
                let expected = (-5.0 * lambda).exp();
                assert!((filter.response(lambda) - expected).abs() < 1e-8, "{accuracy:?}");
            }
        }
    }

    #[test]
    fn a_stated_order_is_kept() {
        let filter = Filter::heat(1.0, UNIT, Kind::Adjacency, Accuracy::Order(3)).unwrap();
        assert_eq!(filter.coefficients().len(), 4);
        assert!((filter.coefficients()[3] - (-1f64).exp() / 6.0).abs() < 1e-16);
        let cut = (0..4).map(|k| filter.coefficients()[k]).sum::<f64>();
        assert!((1.0 - cut) <= filter.truncation() && filter.truncation() < 0.03);
    }
}
