//! The product S·X with a dense block.

use super::MagneticOperator;
use super::engine::{Engine, Factors, Source};
use super::input::{Columns, Input};
use super::kernel::Instructions;
use super::line::{F32_LANES, tile};
use super::output::write;
use crate::matrix::Matrix;
use num_complex::Complex32;

impl MagneticOperator {
    /// S·X in single precision, on the threads of the current pool. The result does not depend on
    /// their number.
    ///
    /// # Panics
    /// When `x` has another number of rows than the operator has nodes.
    pub fn apply(&self, x: &Matrix<Complex32>) -> Matrix<Complex32> {
        assert_eq!(x.rows(), self.nodes(), "the block must have one row a node");
        const WIDTH: usize = F32_LANES / 2;
        let engine = Engine::<f32, F32_LANES, true>::new(self, Instructions::detect(), true);
        let scaling = self.scaling(0.0, 1.0);
        let mut out = Matrix::zeros(x.rows(), x.cols());
        let (mut z, mut product) = (tile(self.nodes()), tile(self.nodes()));
        for first in (0..x.cols()).step_by(WIDTH) {
            let width = WIDTH.min(x.cols() - first);
            let columns = Columns { data: x.as_slice(), stride: x.cols(), first, width };
            let enter = scaling.enter.as_deref();
            engine.start(1.0, Source { input: Input::Complex(columns), enter }, &mut z);
            let factors = Factors { scale: 1.0, keep: 0.0, theta: 0.0 };
            let nothing = Source { input: Input::Zero, enter: None };
            engine.step(&scaling, factors, nothing, &z, &mut product);
            write(&mut out, &[(first..first + width, &product[..])], scaling.leave.as_deref());
        }
        out
    }
}
