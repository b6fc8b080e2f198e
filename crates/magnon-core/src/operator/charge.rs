//! `Charge`: the checked electric charge q ∈ [0, ½].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The electric charge q ∈ [0, ½], which turns a one-way edge into the phase e^{i2πq}.
///
/// ```
/// use magnon_core::operator::Charge;
/// let third: Charge = "1/3".parse()?;
/// assert_eq!(third.to_string(), "1/3");
/// assert!("0.7".parse::<Charge>().is_err());
/// # Ok::<(), magnon_core::operator::ChargeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Charge {
    value: f64,
    /// Numerator and denominator, where it was written so.
    fraction: Option<(u32, u32)>,
}

/// Why a text or number is no charge.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ChargeError {
    /// The text is neither a decimal nor a fraction.
    #[error("'{0}' is not a charge; write a number such as 0.25, a fraction such as 1/3, or auto")]
    Syntax(String),
    /// The number is outside of [0, ½].
    #[error("the charge {0} is outside of [0, 1/2]; 1 − q gives the conjugate operator of q")]
    OutOfRange(f64),
}

impl Charge {
    /// The charge 0: direction is ignored.
    pub const ZERO: Self = Self { value: 0.0, fraction: None };

    /// Checks a decimal.
    pub fn new(value: f64) -> Result<Self, ChargeError> {
        if (0.0..=0.5).contains(&value) {
            Ok(Self { value: value.abs(), fraction: None })
        } else {
            Err(ChargeError::OutOfRange(value))
        }
    }

    /// Checks the fraction `numerator / denominator`.
    pub fn fraction(numerator: u32, denominator: u32) -> Result<Self, ChargeError> {
        let checked = Self::new(f64::from(numerator) / f64::from(denominator))?;
        Ok(Self { fraction: Some((numerator, denominator)), ..checked })
    }

    /// The number q.
    pub fn value(self) -> f64 {
        self.value
    }

    /// (cos, sin) of 2πq·`difference`; exact at quarter turns, so that q = ½ is exactly real.
    pub fn phase(self, difference: f64) -> (f64, f64) {
        let turn = (self.value * difference).rem_euclid(1.0);
        match turn {
            0.0 | 1.0 => (1.0, 0.0),
            0.25 => (0.0, 1.0),
            0.5 => (-1.0, 0.0),
            0.75 => (0.0, -1.0),
            _ => {
                let (sin, cos) = (turn * std::f64::consts::TAU).sin_cos();
                (cos, sin)
            }
        }
    }
}

impl FromStr for Charge {
    type Err = ChargeError;

    fn from_str(text: &str) -> Result<Self, ChargeError> {
        let syntax = || ChargeError::Syntax(text.to_owned());
        let text = text.trim();
        if let Some((numerator, denominator)) = text.split_once('/') {
            let numerator = numerator.trim().parse().map_err(|_| syntax())?;
            let denominator = denominator.trim().parse().map_err(|_| syntax())?;
            return match denominator {
                0 => Err(syntax()),
                _ => Self::fraction(numerator, denominator),
            };
        }
        Self::new(text.parse().map_err(|_| syntax())?)
    }
}

impl TryFrom<String> for Charge {
    type Error = ChargeError;

    fn try_from(text: String) -> Result<Self, ChargeError> {
        text.parse()
    }
}

impl From<Charge> for String {
    fn from(charge: Charge) -> Self {
        charge.to_string()
    }
}

impl fmt::Display for Charge {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.fraction {
            Some((numerator, denominator)) => write!(f, "{numerator}/{denominator}"),
            None => write!(f, "{}", self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_charges() {
        let parse = |text: &str| text.parse::<Charge>();
        assert_eq!(parse("0.25").unwrap().value(), 0.25);
        assert_eq!(parse("1/3").unwrap().value(), 1.0 / 3.0);
        assert_eq!(parse("1 / 2").unwrap().to_string(), "1/2");
        for bad in ["", "x", "auto", "1/0", "1/", "-1/4", "1/3/4", "0x1"] {
            assert!(matches!(parse(bad), Err(ChargeError::Syntax(_))), "{bad}");
        }
        for bad in ["0.51", "-0.1", "2/3", "NaN", "inf"] {
            assert!(matches!(parse(bad), Err(ChargeError::OutOfRange(_))), "{bad}");
        }
    }

    #[test]
    fn quarter_turns_are_exact() {
        let half = Charge::fraction(1, 2).unwrap();
        assert_eq!(half.phase(1.0), (-1.0, 0.0));
        assert_eq!(half.phase(-1.0), (-1.0, 0.0));
        let quarter = Charge::fraction(1, 4).unwrap();
        assert_eq!(quarter.phase(-1.0), (0.0, -1.0));
        let (cos, sin) = Charge::fraction(1, 3).unwrap().phase(1.0);
        assert!((cos + 0.5).abs() < 1e-15 && (sin - 0.75f64.sqrt()).abs() < 1e-15);
    }
}
