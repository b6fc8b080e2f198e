//! `Slab`: numbers that lie in memory, or in a file that is mapped into it.

use bytemuck::Pod;
use memmap2::Mmap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A list of numbers that is owned, or a part of a mapped file. Both are read as a slice; a mapped part is shared by
/// its clones, and the system reads and drops its pages as it sees fit.
#[derive(Clone)]
pub enum Slab<T> {
    /// In memory.
    Owned(Vec<T>),
    /// In a file.
    Mapped(Mapped<T>),
}

/// Whole numbers `T` in a mapped file: alignment and length were checked when it was made.
#[derive(Clone)]
pub struct Mapped<T> {
    file: Arc<Mmap>,
    start: usize,
    len: usize,
    numbers: std::marker::PhantomData<T>,
}

impl<T: Pod> Slab<T> {
    /// `len` numbers from byte `start` of a mapped file; `None` where they do not lie within it, or askew.
    pub fn mapped(file: &Arc<Mmap>, start: usize, len: usize) -> Option<Self> {
        let end = len.checked_mul(size_of::<T>())?.checked_add(start)?;
        let part = file.get(start..end)?;
        bytemuck::try_cast_slice::<u8, T>(part).ok()?;
        let numbers = std::marker::PhantomData;
        Some(Self::Mapped(Mapped { file: file.clone(), start, len, numbers }))
    }

    /// The numbers as a list of their own.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Self::Owned(numbers) => numbers,
            Self::Mapped(_) => self.to_vec(),
        }
    }
}

impl<T: Pod> Deref for Slab<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(numbers) => numbers,
            Self::Mapped(part) => part.numbers(),
        }
    }
}

impl<T: Pod> Mapped<T> {
    #[inline(always)]
    fn numbers(&self) -> &[T] {
        // SAFETY: `Slab::mapped` has seen that so many numbers lie in the file from here on, at an address that is
        // a multiple of their size; any bits are numbers (`Pod`), and the map lives as long as `self`. Tested by
        // `parts_of_files_are_numbers`.
        unsafe {
            let start = self.file.as_ptr().add(self.start);
            std::slice::from_raw_parts(start.cast::<T>(), self.len)
        }
    }
}

impl<T> From<Vec<T>> for Slab<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Owned(numbers)
    }
}

impl<T: Pod + PartialEq> PartialEq for Slab<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn parts_of_files_are_numbers() {
        let mut file = tempfile::tempfile().unwrap();
        let numbers: Vec<u8> = (0..20u32).flat_map(u32::to_ne_bytes).collect();
        file.write_all(&numbers).unwrap();
        // SAFETY: nobody else knows of the file.
        let file = Arc::new(unsafe { Mmap::map(&file) }.unwrap());
        let part = Slab::<u32>::mapped(&file, 8, 3).unwrap();
        assert_eq!(*part, [2, 3, 4]);
        assert_eq!(part, Slab::from(vec![2, 3, 4]));
        assert_eq!(part.clone().into_vec(), [2, 3, 4]);
        assert_eq!(Slab::<u32>::mapped(&file, 80, 0).unwrap().len(), 0);
        for (start, len) in [(2, 1), (8, 19), (84, 0), (8, usize::MAX), (usize::MAX - 3, 1)] {
            assert!(Slab::<u32>::mapped(&file, start, len).is_none(), "{start} {len}");
        }
    }
}
