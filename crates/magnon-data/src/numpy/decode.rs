//! Turning payload bytes into numbers and text, a buffer at a time.

use super::dtype::{DType, Kind};
use crate::DataError;
use crate::allocate::{reserve, zeroed};
use half::{bf16, f16};
use num_complex::Complex64;
use std::io::Read;

/// Elements are decoded in pieces of about this many bytes.
const BUFFER: usize = 1 << 18;

/// A payload that ended too early or could not be unpacked.
pub(super) fn short(file: &str, error: std::io::Error) -> DataError {
    DataError::format(file, format!("damaged or truncated: its payload cannot be read ({error})"))
}

/// Whether bytes of this type are `f32` in memory already.
pub(super) fn is_native_f32(dtype: DType) -> bool {
    let native = dtype.big_endian == cfg!(target_endian = "big");
    native && dtype.kind == Kind::Float && dtype.size == 4
}

/// Elements that are decoded at once.
const PIECE: usize = 1 << 13;

/// Takes the bytes of some elements, with the position of the first.
type Take<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<(), DataError>;

/// Hands the bytes of some elements after the others to `take`, with the position of the first.
fn pieces(
    file: &str,
    size: usize,
    len: usize,
    source: &mut dyn Read,
    take: Take,
) -> Result<(), DataError> {
    let piece = (BUFFER / size.max(1)).clamp(1, PIECE);
    let mut buffer = zeroed::<u8>(piece.min(len) * size, file)?;
    let mut done = 0;
    while done < len && size > 0 {
        let now = piece.min(len - done);
        let bytes = &mut buffer[..now * size];
        source.read_exact(bytes).map_err(|error| short(file, error))?;
        take(done, bytes)?;
        done += now;
    }
    Ok(())
}

/// Refuses elements that are no real numbers.
pub(crate) fn check_real(file: &str, dtype: DType) -> Result<(), DataError> {
    match (dtype.kind, dtype.size) {
        (Kind::Bool | Kind::Uint | Kind::Int, 1) => Ok(()),
        (Kind::Int | Kind::Uint | Kind::Float, 2 | 4 | 8) | (Kind::Brain, 2) => Ok(()),
        (Kind::Complex, _) => {
            Err(DataError::format(file, "complex elements are not read here; real ones are needed"))
        }
        _ => Err(DataError::format(file, "numbers are needed, but the array holds text")),
    }
}

/// Appends the real numbers that bytes of a type hold, each as `$give` has it.
macro_rules! extend {
    ($dtype:expr, $bytes:expr, $out:expr, |$number:ident| $give:expr) => {{
        macro_rules! run {
            ($type:ty) => {{
                let elements = $bytes.as_chunks::<{ size_of::<$type>() }>().0.iter();
                if $dtype.big_endian {
                    $out.extend(elements.map(|&bytes| {
                        let $number = <$type>::from_be_bytes(bytes);
                        $give
                    }));
                } else {
                    $out.extend(elements.map(|&bytes| {
                        let $number = <$type>::from_le_bytes(bytes);
                        $give
                    }));
                }
            }};
        }
        match ($dtype.kind, $dtype.size) {
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
            (Kind::Brain, _) => run!(bf16),
            _ => run!(u8),
        }
    }};
}

/// A number in double precision.
trait Number {
    fn double(self) -> f64;
    /// The same as `i64`, where that is possible without loss.
    fn whole(self) -> Option<i64>;
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline]
            fn double(self) -> f64 {
                self as f64
            }
            #[inline]
            fn whole(self) -> Option<i64> {
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
            fn double(self) -> f64 {
                self.into()
            }
            #[inline]
            fn whole(self) -> Option<i64> {
                let value = f64::from(self);
                // Whole numbers up to 2^53 are exact; larger ones are no index of anything.
                let whole = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
                whole.then_some(value as i64)
            }
        }
    )*};
}
real!(bf16, f16, f32, f64);

/// The real numbers in some bytes.
fn doubles(dtype: DType, bytes: &[u8], out: &mut Vec<f64>) {
    out.clear();
    extend!(dtype, bytes, out, |number| number.double());
}

/// The whole numbers in some bytes.
fn wholes(dtype: DType, bytes: &[u8], out: &mut Vec<Option<i64>>) {
    out.clear();
    extend!(dtype, bytes, out, |number| number.whole());
}

/// Appends the real numbers in some bytes in single precision.
pub(crate) fn singles(dtype: DType, bytes: &[u8], out: &mut Vec<f32>) {
    if is_native_f32(dtype) {
        out.extend(bytes.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)));
    } else {
        extend!(dtype, bytes, out, |number| number.double() as f32);
    }
}

/// Every element as `f32`; says whether that has changed one.
pub(super) fn floats(
    file: &str,
    dtype: DType,
    len: usize,
    mut source: impl Read,
    mut take: impl FnMut(usize, f32) -> Result<(), DataError>,
) -> Result<bool, DataError> {
    check_real(file, dtype)?;
    let (mut rounded, mut numbers) = (false, Vec::new());
    reserve(&mut numbers, len.min(PIECE), file)?;
    pieces(file, dtype.size, len, &mut source, &mut |first, bytes| {
        doubles(dtype, bytes, &mut numbers);
        for (k, &number) in (first..).zip(&numbers) {
            let single = number as f32;
            rounded |= f64::from(single) != number;
            take(k, single)?;
        }
        Ok(())
    })?;
    Ok(rounded)
}

/// Every element as a complex number in double precision.
pub(super) fn complex(
    file: &str,
    dtype: DType,
    len: usize,
    mut source: impl Read,
    mut take: impl FnMut(usize, Complex64),
) -> Result<(), DataError> {
    let parts = if dtype.kind == Kind::Complex { 2 } else { 1 };
    let part = match parts {
        2 => DType { kind: Kind::Float, size: dtype.size / 2, ..dtype },
        _ => dtype,
    };
    check_real(file, part)?;
    let mut numbers = Vec::new();
    reserve(&mut numbers, parts * len.min(PIECE), file)?;
    pieces(file, dtype.size, len, &mut source, &mut |first, bytes| {
        doubles(part, bytes, &mut numbers);
        for (k, parts) in (first..).zip(numbers.chunks_exact(parts)) {
            take(k, Complex64::new(parts[0], parts.get(1).copied().unwrap_or(0.0)));
        }
        Ok(())
    })
}

/// Every element as a whole number; `take` may refuse one with a reason.
pub(super) fn integers(
    file: &str,
    dtype: DType,
    len: usize,
    mut source: impl Read,
    mut take: impl FnMut(usize, i64) -> Result<(), String>,
) -> Result<(), DataError> {
    check_real(file, dtype)?;
    let mut numbers = Vec::new();
    reserve(&mut numbers, len.min(PIECE), file)?;
    pieces(file, dtype.size, len, &mut source, &mut |first, bytes| {
        wholes(dtype, bytes, &mut numbers);
        for (k, &number) in (first..).zip(&numbers) {
            let value = number.ok_or_else(|| {
                let mut found = Vec::new();
                doubles(dtype, bytes, &mut found);
                let problem = format!(
                    "{} at position {k} is not a usable whole number",
                    found[k - first] as f32
                );
                DataError::format(file, problem)
            })?;
            take(k, value).map_err(|problem| DataError::format(file, problem))?;
        }
        Ok(())
    })
}

/// Every element as text, without the zeros that pad it.
pub(super) fn strings(
    file: &str,
    dtype: DType,
    len: usize,
    mut source: impl Read,
) -> Result<Vec<String>, DataError> {
    if dtype.size == 0 {
        return Err(DataError::format(file, "its texts have no characters"));
    }
    let mut texts = Vec::new();
    reserve(&mut texts, len, file)?;
    let mut text = |bytes: &[u8]| {
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
    };
    pieces(file, dtype.size, len, &mut source, &mut |_, bytes| {
        bytes.chunks_exact(dtype.size).for_each(&mut text);
        Ok(())
    })?;
    Ok(texts)
}
