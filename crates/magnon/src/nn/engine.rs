//! `Engine`: where matrices live and products are made.

use super::{Field, Scalar, Shape};

/// A function applied to every entry, or a read-out from complex to real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// tanh x of real x.
    Tanh,
    /// max(x, 0) of real x.
    Relu,
    /// The paper's complex gated tanh: ς(z) = tanh(Re z)·tanh(Im z).
    GatedTanh,
    /// The gate of the authors' published code: Re z · tanh(e^{Im z}).
    ExponentialGate,
    /// ReLU on both parts where Re z ≥ 0, else 0: complex to complex.
    ComplexRelu,
    /// |z|: one real column a complex one.
    Modulus,
    /// Re z and Im z side by side: twice as many real columns, the real parts first.
    Parts,
}

impl Activation {
    /// Shape of the result; `None` where the function does not take such a matrix.
    pub fn result(self, of: Shape) -> Option<Shape> {
        let takes = match self {
            Self::Tanh | Self::Relu => Field::Real,
            _ => Field::Complex,
        };
        (of.field == takes).then_some(match self {
            Self::Tanh | Self::Relu | Self::ComplexRelu => of,
            Self::GatedTanh | Self::ExponentialGate | Self::Modulus => {
                Shape::real(of.rows, of.cols)
            }
            Self::Parts => Shape::real(of.rows, 2 * of.cols),
        })
    }
}

/// One side of a dense product.
pub struct Side<'a, B> {
    /// The numbers.
    pub buffer: &'a B,
    /// Shape as stored.
    pub shape: Shape,
    /// Whether the conjugate transpose is meant.
    pub adjoint: bool,
}

/// The numbers of one Adam step; see [`Adam`](super::Adam).
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Step length η, the first moment's correction included.
    pub rate: f64,
    /// β₁.
    pub first: f64,
    /// β₂.
    pub second: f64,
    /// 1/√(1 − β₂ᵗ).
    pub second_correction: f64,
    /// ε.
    pub epsilon: f64,
    /// λ of the L2 term λW that is added to the gradient.
    pub l2: f64,
    /// Factor of W before the step: 1 − ηλ for decoupled decay, 1 otherwise.
    pub shrink: f64,
    /// Factor of the gradient, below 1 where it was clipped.
    pub clip: f64,
}

/// Where matrices live, and the products and maps on them. The tape and the models know nothing
/// else, so that a device needs no more than this.
///
/// Sums of gradients (`add`) go on top of what a buffer holds. Results do not depend on the number
/// of threads.
pub trait Engine {
    /// The precision.
    type Real: Scalar;
    /// A row of numbers where the engine has them.
    type Buffer;
    /// A fixed linear map, prepared for the engine.
    type Map;

    /// `len` zeros.
    fn zeros(&self, len: usize) -> Self::Buffer;
    /// Number of numbers.
    fn len(&self, buffer: &Self::Buffer) -> usize;
    /// Sets every number to zero.
    fn clear(&self, buffer: &mut Self::Buffer);
    /// Numbers to the engine.
    fn upload(&self, numbers: &[Self::Real], to: &mut Self::Buffer);
    /// Copies all numbers of one buffer to another.
    fn copy(&self, from: &Self::Buffer, to: &mut Self::Buffer);
    /// Numbers from the engine.
    fn download(&self, from: &Self::Buffer, numbers: &mut [Self::Real]);

    /// `out = left · right`, or `out += left · right` where `add`. Where `out` is real and the
    /// product is not, its real part is taken.
    fn product(
        &self,
        left: Side<Self::Buffer>,
        right: Side<Self::Buffer>,
        out: (&mut Self::Buffer, Shape),
        add: bool,
    );

    /// Rows, columns and field of a map.
    fn map_shape(&self, map: &Self::Map) -> Shape;
    /// `y = M x`.
    fn map(&self, map: &Self::Map, x: (&Self::Buffer, Shape), y: (&mut Self::Buffer, Shape));
    /// `x = Mᴴ y`, or `x += Mᴴ y` where `add`.
    fn map_adjoint(
        &self,
        map: &Self::Map,
        y: (&Self::Buffer, Shape),
        x: (&mut Self::Buffer, Shape),
        add: bool,
    );

    /// Adds the row `bias` to every row of `y`.
    fn add_bias(&self, bias: &Self::Buffer, y: (&mut Self::Buffer, Shape));
    /// `bias` becomes the sum of the rows of `y`, or gains it where `add`.
    fn sum_rows(&self, y: (&Self::Buffer, Shape), bias: &mut Self::Buffer, add: bool);

    /// `y = f(x)`; the shape is that of `x`.
    fn activate(&self, f: Activation, shape: Shape, x: &Self::Buffer, y: &mut Self::Buffer);
    /// `dx += f'(x)·dy`.
    fn activate_gradient(
        &self,
        f: Activation,
        shape: Shape,
        x: &Self::Buffer,
        y: &Self::Buffer,
        dy: &Self::Buffer,
        dx: &mut Self::Buffer,
    );

    /// Fills `mask` with 0 at the given rate and 1/(1 − rate) elsewhere, once an entry, by a key.
    fn draw_mask(&self, rate: f64, key: [u32; 4], shape: Shape, mask: &mut Self::Buffer);
    /// `y = a ⊙ x`.
    fn multiply(&self, a: &Self::Buffer, x: &Self::Buffer, y: &mut Self::Buffer);
    /// `y += a ⊙ x`.
    fn multiply_add(&self, a: &Self::Buffer, x: &Self::Buffer, y: &mut Self::Buffer);
    /// Copies the columns of `x` into `y`, from the column `at` on.
    fn put_columns(&self, x: (&Self::Buffer, Shape), y: (&mut Self::Buffer, Shape), at: usize);
    /// Adds the columns of `y` from `at` on to `x`.
    fn add_columns(&self, y: (&Self::Buffer, Shape), at: usize, x: (&mut Self::Buffer, Shape));

    /// Log-softmax of every row into `y`.
    fn log_softmax(&self, x: (&Self::Buffer, Shape), y: &mut Self::Buffer);
    /// Mean negative log likelihood of `targets` (row, class) under the log-probabilities `y`, and
    /// how many rows have their largest entry at the target.
    fn likelihood(&self, y: (&Self::Buffer, Shape), targets: &[(u32, u32)]) -> (f64, usize);
    /// `dx = ∂loss/∂x` of log-softmax and mean negative log likelihood, for the rows of the targets;
    /// the others stay. Every row is a target once at most.
    fn likelihood_gradient(
        &self,
        y: (&Self::Buffer, Shape),
        targets: &[(u32, u32)],
        dx: &mut Self::Buffer,
    );

    /// Sum of squares.
    fn square_norm(&self, x: &Self::Buffer) -> f64;
    /// One Adam step on `weights` with the moments `first` and `second`.
    fn adam(
        &self,
        step: AdamStep,
        gradient: &Self::Buffer,
        weights: &mut Self::Buffer,
        first: &mut Self::Buffer,
        second: &mut Self::Buffer,
    );
}
