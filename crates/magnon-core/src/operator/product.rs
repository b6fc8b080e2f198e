//! The product S·X with a dense block.

use super::MagneticOperator;
use crate::compute::instructions::Instructions;
use crate::compute::tile::{Columns, F32_LANES, Place, Stepper, TileOperator, tile};
use crate::matrix::Matrix;
use num_complex::Complex32;

impl MagneticOperator {
    /// S·X in single precision, on the threads of the current pool. The result does not depend on
    /// their number.
    ///
    /// # Panics
    /// When `x` has another number of rows than the operator has nodes.
    pub fn apply(&self, x: &Matrix<Complex32>) -> Matrix<Complex32> {
        assert_eq!(x.rows(), self.nodes(), "the block must have one row per node");
        const WIDTH: usize = F32_LANES / 2;
        let set = Instructions::detect();
        let stepper = Stepper::<f32, F32_LANES, true>::new(self, set, true);
        let scaling = self.scaling(0.0, 1.0);
        let mut out = Matrix::zeros(x.rows(), x.cols());
        let mut z = tile(self.nodes());
        for first in (0..x.cols()).step_by(WIDTH) {
            let width = WIDTH.min(x.cols() - first);
            let columns = Columns { data: x.as_slice(), stride: x.cols(), first, width };
            columns.load(scaling.enter.as_deref(), &mut z, set, true);
            let (columns, leave) = (first..first + width, scaling.leave.as_deref());
            stepper.product_into(&scaling, &z, Place { matrix: &mut out, columns, leave });
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{GeneratorConfig, generate};
    use crate::operator::{Charge, Kind, Normalize, OperatorConfig};

    #[test]
    fn rows_times_columns() {
        let graph = generate(&GeneratorConfig::default(), 4).unwrap().graph;
        for normalize in [Normalize::Symmetric, Normalize::RandomWalk, Normalize::None] {
            let charge = Charge::fraction(1, 5).unwrap();
            let config =
                OperatorConfig { charge, normalize, kind: Kind::Laplacian, ..Default::default() };
            let operator = MagneticOperator::new(&graph, &config).unwrap();
            let number = |i: usize| ((i * 29) % 97) as f32 / 48.0 - 1.0;
            let values = (0..600 * 11).map(|i| Complex32::new(number(i), number(3 * i + 1)));
            let x = Matrix::from_vec(600, 11, values.collect()).unwrap();
            let product = operator.apply(&x);
            for u in 0..600 {
                for (j, actual) in product.row(u).iter().enumerate() {
                    let expected: num_complex::Complex64 = operator
                        .row(u)
                        .map(|(v, s)| {
                            s * num_complex::Complex64::new(
                                x.row(v)[j].re.into(),
                                x.row(v)[j].im.into(),
                            )
                        })
                        .sum();
                    let error = (expected.re - f64::from(actual.re)).abs()
                        + (expected.im - f64::from(actual.im)).abs();
                    assert!(error < 1e-4, "{error:e} at {u}, {j}");
                }
            }
        }
    }
}
