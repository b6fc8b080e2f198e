//! Memory for what is read. Where there is none, an error says for which file and how much.

use super::DataError;
use bytemuck::Zeroable;
use magnon_core::memory;

/// More memory is needed than there is.
pub(crate) fn out_of_memory(file: &str, bytes: u64) -> DataError {
    let problem = format!(
        "out of memory: {bytes} bytes more are needed to read it; use a larger machine, or a part \
         of the data"
    );
    DataError::format(file, problem)
}

fn refused<T>(file: &str, len: usize) -> DataError {
    out_of_memory(file, (len as u64).saturating_mul(size_of::<T>() as u64))
}

/// Makes sure that `more` values can be pushed.
#[inline]
pub(crate) fn reserve<T>(values: &mut Vec<T>, more: usize, file: &str) -> Result<(), DataError> {
    if values.capacity() - values.len() >= more {
        return Ok(());
    }
    // As a list grows, it is doubled.
    let len = values.capacity().max(more);
    values.try_reserve(more).map_err(|_| refused::<T>(file, len))
}

/// `len` zeros.
pub(crate) fn zeroed<T: Zeroable>(len: usize, file: &str) -> Result<Vec<T>, DataError> {
    memory::try_zeroed(len).ok_or_else(|| refused::<T>(file, len))
}

/// All values of an iterator that knows their number.
pub(crate) fn collect<T>(
    values: impl ExactSizeIterator<Item = T>,
    file: &str,
) -> Result<Vec<T>, DataError> {
    let len = values.len();
    memory::try_collect(values).ok_or_else(|| refused::<T>(file, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_an_error_with_the_figure() {
        const VAST: usize = isize::MAX as usize;
        let errors = [
            zeroed::<u8>(VAST, "f").unwrap_err(),
            collect((0..VAST).map(|x| x as u8), "f").unwrap_err(),
            reserve(&mut vec![1u8], VAST, "f").unwrap_err(),
        ];
        for error in errors {
            let expected = format!("f: out of memory: {VAST} bytes more");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
        let mut values = vec![1u8];
        reserve(&mut values, 1000, "f").unwrap();
        assert!(values.capacity() > 1000);
    }
}
