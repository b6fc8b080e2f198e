//! Turning payload bytes into numbers and text, a buffer at a time.

use super::dtype::{DType, Kind};
use crate::data::DataError;
use crate::data::room::{reserve, zeroed};
use half::f16;
use num_complex::Complex64;
use std::io::Read;

/// Elements are decoded in pieces of about this many bytes.
const BUFFER: usize = 1 << 18;

/// A payload that ended too early or could not be unpacked.
pub(super) fn short(file: &str, error: std::io::Error) -> DataError {
    DataError::format(file, format!("damaged or truncated: its payload cannot be read ({error})"))
}

/// Whether bytes of this type are `f32` in memory already.
pub(crate) fn is_native_f32(dtype: DType) -> bool {
    let native = dtype.big_endian == cfg!(target_endian = "big");
    native && dtype.kind == Kind::Float && dtype.size == 4
}

/// Hands every element's bytes to `take`, with its position.
fn each(
    file: &str,
    size: usize,
    len: usize,
    mut source: impl Read,
    mut take: impl FnMut(usize, &[u8]) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let piece = (BUFFER / size.max(1)).max(1);
    let mut buffer = zeroed::<u8>(piece.min(len) * size, file)?;
    let mut done = 0;
    while done < len && size > 0 {
        let now = piece.min(len - done);
        let bytes = &mut buffer[..now * size];
        source.read_exact(bytes).map_err(|error| short(file, error))?;
        for (k, element) in bytes.chunks_exact(size).enumerate() {
            take(done + k, element)?;
        }
        done += now;
    }
    Ok(())
}

/// Runs `$body` with `$convert` bound to a function from an element's bytes to a number.
macro_rules! with_number {
    ($dtype:expr, $file:expr, |$convert:ident| $body:expr) => {{
        macro_rules! run {
            ($type:ty) => {{
                if $dtype.big_endian {
                    let $convert = |bytes: &[u8]| {
                        bytes.try_into().map(<$type>::from_be_bytes).unwrap_or_default()
                    };
                    $body
                } else {
                    let $convert = |bytes: &[u8]| {
                        bytes.try_into().map(<$type>::from_le_bytes).unwrap_or_default()
                    };
                    $body
                }
            }};
        }
        match ($dtype.kind, $dtype.size) {
            (Kind::Bool | Kind::Uint, 1) => run!(u8),
            (Kind::Int, 1) => run!(i8),
            (Kind::Int, 2) => run!(i16),
            (Kind::Int, 4) => run!(i32),
            (Kind::Int, 8) => run!(i64),
            (Kind::Uint, 2) => run!(u16),
            (Kind::Uint, 4) => run!(u32),
            (Kind::Uint, 8) => run!(u64),
            (Kind::Float, 2) => run!(f16),
            (Kind::Float, 4) => run!(f32),
            (Kind::Float, 8) => run!(f64),
            (Kind::Complex, _) => Err(DataError::format(
                $file,
                "complex elements are not read here; real ones are needed",
            )),
            _ => Err(DataError::format($file, "numbers are needed, but the array holds text")),
        }
    }};
}

/// An element as a float and, where that is possible without loss, as `i64`.
trait Number: Copy {
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn to_i64(self) -> Option<i64>;
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline]
            fn to_i64(self) -> Option<i64> {
                i64::try_from(self).ok()
            }
        }
    )*};
}
whole!(u8, i8, u16, i16, u32, i32, u64, i64);

macro_rules! real {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline]
            fn to_f32(self) -> f32 {
                f64::from(self) as f32
            }
            #[inline]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline]
            fn to_i64(self) -> Option<i64> {
                let value = f64::from(self);
                // Whole numbers up to 2^53 are exact; larger ones are no index of anything.
                let whole = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
                whole.then_some(value as i64)
            }
        }
    )*};
}
real!(f16, f32, f64);

/// Every element as `f32`; says whether that has changed one.
pub(crate) fn floats(
    file: &str,
    dtype: DType,
    len: usize,
    source: impl Read,
    mut take: impl FnMut(usize, f32) -> Result<(), DataError>,
) -> Result<bool, DataError> {
    let mut rounded = false;
    with_number!(dtype, file, |convert| each(file, dtype.size, len, source, |k, bytes| {
        let number = convert(bytes);
        rounded |= f64::from(number.to_f32()) != number.to_f64();
        take(k, number.to_f32())
    }))?;
    Ok(rounded)
}

/// Every element as a complex number in double precision.
pub(super) fn complex(
    file: &str,
    dtype: DType,
    len: usize,
    source: impl Read,
    mut take: impl FnMut(usize, Complex64),
) -> Result<(), DataError> {
    if dtype.kind != Kind::Complex {
        return with_number!(dtype, file, |convert| each(
            file,
            dtype.size,
            len,
            source,
            |k, bytes| {
                take(k, Complex64::from(convert(bytes).to_f64()));
                Ok(())
            }
        ));
    }
    let half = DType { kind: Kind::Float, size: dtype.size / 2, ..dtype };
    with_number!(half, file, |convert| each(file, dtype.size, len, source, |k, bytes| {
        let (re, im) = bytes.split_at(half.size);
        take(k, Complex64::new(convert(re).to_f64(), convert(im).to_f64()));
        Ok(())
    }))
}

/// Every element as a whole number; `take` may refuse one with a reason.
pub(super) fn integers(
    file: &str,
    dtype: DType,
    len: usize,
    source: impl Read,
    mut take: impl FnMut(usize, i64) -> Result<(), String>,
) -> Result<(), DataError> {
    with_number!(dtype, file, |convert| each(file, dtype.size, len, source, |k, bytes| {
        let number = convert(bytes);
        let value = number.to_i64().ok_or_else(|| {
            let problem =
                format!("{} at position {k} is not a usable whole number", number.to_f32());
            DataError::format(file, problem)
        })?;
        take(k, value).map_err(|problem| DataError::format(file, problem))
    }))
}

/// Every element as text, without the zeros that pad it.
pub(super) fn strings(
    file: &str,
    dtype: DType,
    len: usize,
    source: impl Read,
) -> Result<Vec<String>, DataError> {
    if dtype.size == 0 {
        return Err(DataError::format(file, "its texts have no characters"));
    }
    let mut texts = Vec::new();
    reserve(&mut texts, len, file)?;
    each(file, dtype.size, len, source, |_, bytes| {
        texts.push(if dtype.kind == Kind::Bytes {
            let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        } else {
            let code = |four: &[u8]| -> u32 {
                let four = four.try_into().unwrap_or_default();
                if dtype.big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
            };
            let codes = bytes.chunks_exact(4).map(code);
            let text: String =
                codes.map(|c| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            text.trim_end_matches('\0').to_owned()
        });
        Ok(())
    })?;
    Ok(texts)
}
