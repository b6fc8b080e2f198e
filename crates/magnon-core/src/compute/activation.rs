//! `Activation`: functions that are applied entry by entry.

use super::{Field, Shape};

/// A function applied to every entry, or a read-out from complex to real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// tanh x of real x.
    Tanh,
    /// max(x, 0) of real x.
    Relu,
    /// x where x > 0, else e^x − 1, of real x.
    Elu,
    /// The paper's complex gated tanh: ς(z) = tanh(Re z)·tanh(Im z).
    GatedTanh,
    /// The gate of the authors' published code: Re z · tanh(e^{Im z}).
    ExponentialGate,
    /// z where Re z ≥ 0, else 0: complex to complex.
    ComplexRelu,
    /// max(Re z, 0) + i·max(Im z, 0): complex to complex.
    SplitRelu,
    /// |z|: one real column per complex one.
    Modulus,
    /// Re z: one real column per complex one.
    RealPart,
    /// A real matrix as a complex one.
    Lift,
    /// Re z and Im z side by side: twice as many real columns, the real parts first.
    Parts,
}

impl Activation {
    /// Shape of the result; `None` where the function does not take such a matrix.
    pub fn result(self, of: Shape) -> Option<Shape> {
        let takes = match self {
            Self::Tanh | Self::Relu | Self::Elu | Self::Lift => Field::Real,
            _ => Field::Complex,
        };
        (of.field() == takes).then_some(match self {
            Self::Tanh | Self::Relu | Self::Elu | Self::ComplexRelu | Self::SplitRelu => of,
            Self::GatedTanh | Self::ExponentialGate | Self::Modulus | Self::RealPart => {
                of.with_field(Field::Real)
            }
            Self::Lift => of.with_field(Field::Complex),
            Self::Parts => of.as_real(),
        })
    }
}
