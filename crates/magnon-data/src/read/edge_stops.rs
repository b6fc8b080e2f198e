//! Where fields end: the positions of all bytes that may end one, 64 bytes at a time.
//!
//! A scanner that reads a field to find where the next one starts waits for each in turn. With the
//! stops known beforehand, fields are read independently of each other.

/// Which bytes are stops.
pub(super) trait Stop {
    /// One bit for each byte of a block that is one. A zero byte must be one: it stands behind the end.
    fn mask(&self, block: &[u8; 64]) -> u64;
}

/// Stops at all that is no digit.
pub(super) struct NonDigits;

impl Stop for NonDigits {
    #[inline(always)]
    fn mask(&self, block: &[u8; 64]) -> u64 {
        non_digits(block)
    }
}

/// Stops at a delimiter, at quotes and at all bytes up to `limit`, among which line feeds should be.
pub(super) struct FieldEnds {
    pub(super) delimiter: u8,
    pub(super) limit: u8,
}

impl Stop for FieldEnds {
    #[inline(always)]
    fn mask(&self, block: &[u8; 64]) -> u64 {
        field_ends(self, block)
    }
}

/// Walks over the stops of a text in order.
pub(super) struct Stops<'a, S> {
    text: &'a [u8],
    stop: S,
    /// Where the block of `mask` starts.
    block: usize,
    /// Stops of the block that are still ahead, one bit a byte.
    mask: u64,
}

impl<'a, S: Stop> Stops<'a, S> {
    pub(super) fn new(text: &'a [u8], stop: S) -> Self {
        let mut stops = Self { text, stop, block: 0, mask: 0 };
        stops.seek(0);
        stops
    }

    /// Goes to the first stop at or after `at`.
    pub(super) fn seek(&mut self, at: usize) {
        self.block = at & !63;
        self.mask = self.load() & (u64::MAX << (at & 63));
    }

    /// The next stop; the end of the text is one, and stays one.
    #[inline(always)]
    pub(super) fn next(&mut self) -> usize {
        while self.mask == 0 {
            if self.block >= self.text.len() {
                return self.text.len();
            }
            self.block += 64;
            self.mask = self.load();
        }
        let at = self.block + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        at.min(self.text.len())
    }

    #[inline(always)]
    fn load(&self) -> u64 {
        let rest = self.text.get(self.block..).unwrap_or_default();
        if let Some((block, _)) = rest.split_first_chunk() {
            return self.stop.mask(block);
        }
        // What lies behind the end is a stop.
        let mut block = [0; 64];
        block[..rest.len()].copy_from_slice(rest);
        self.stop.mask(&block)
    }
}

/// One bit for each byte that is no digit.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn non_digits(block: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmpgt_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
    };
    let mut mask = 0;
    for (i, part) in block.chunks_exact(16).enumerate() {
        // SAFETY: SSE2 belongs to every x86-64 processor, and the load is of 16 bytes that are there.
        // Tested by `every_byte_is_a_digit_or_a_stop`, also under Miri.
        let bits = unsafe {
            let bytes = _mm_loadu_si128(part.as_ptr().cast::<__m128i>());
            // '0'…'9' become −128…−119, everything else is larger.
            let moved = _mm_add_epi8(bytes, _mm_set1_epi8(80));
            _mm_movemask_epi8(_mm_cmpgt_epi8(moved, _mm_set1_epi8(-119)))
        };
        mask |= u64::from(bits as u32) << (16 * i);
    }
    mask
}

#[cfg(not(target_arch = "x86_64"))]
use portable as non_digits;

/// One bit for each byte that is no digit.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn portable(block: &[u8; 64]) -> u64 {
    let bit = |(i, byte): (usize, &u8)| u64::from(byte.wrapping_sub(b'0') > 9) << i;
    block.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit)
}

/// One bit for each byte that may end a field.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn field_ends(ends: &FieldEnds, block: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };
    let mut mask = 0;
    for (i, part) in block.chunks_exact(16).enumerate() {
        // SAFETY: SSE2 belongs to every x86-64 processor, and the load is of 16 bytes that are there.
        // Tested by `every_byte_may_end_a_field_or_not`, also under Miri.
        let bits = unsafe {
            let bytes = _mm_loadu_si128(part.as_ptr().cast::<__m128i>());
            let delimiter = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(ends.delimiter as i8));
            let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8));
            let low = _mm_cmpeq_epi8(bytes, _mm_min_epu8(bytes, _mm_set1_epi8(ends.limit as i8)));
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(delimiter, quote), low))
        };
        mask |= u64::from(bits as u32) << (16 * i);
    }
    mask
}

#[cfg(not(target_arch = "x86_64"))]
use portable_field_ends as field_ends;

/// One bit for each byte that may end a field.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn portable_field_ends(ends: &FieldEnds, block: &[u8; 64]) -> u64 {
    let stop = |byte: u8| (byte == ends.delimiter) | (byte == b'"') | (byte <= ends.limit);
    let bit = |(i, &byte): (usize, &u8)| u64::from(stop(byte)) << i;
    block.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit)
}

/// The number of 1 to 8 digits in `text[start..end]`, all of which must be digits.
///
/// All digits are handled at once, without a branch that depends on how many there are.
#[inline(always)]
pub(super) fn number(text: &[u8], start: usize, end: usize) -> Option<u32> {
    let length = end.wrapping_sub(start);
    if length.wrapping_sub(1) >= 8 {
        return None;
    }
    let word = match text.get(..end).and_then(<[u8]>::last_chunk) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let mut padded = [0; 8];
            padded[8 - length..].copy_from_slice(text.get(start..end)?);
            u64::from_le_bytes(padded)
        }
    };
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    // Bytes before the number count as leading zeros.
    let digits = (word ^ ZEROS) & (u64::MAX << (64 - 8 * length));
    // Pairs, fours and eights are joined.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    const EVERY_FOURTH: u64 = 0x0000_00ff_0000_00ff;
    let high = (pairs & EVERY_FOURTH).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & EVERY_FOURTH).wrapping_mul(1 + (10_000 << 32));
    Some((high.wrapping_add(low) >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_digit_or_a_stop() {
        for byte in 0..=255u8 {
            let text = [[b'5'; 70], [byte; 70]].concat();
            let expected = if byte.is_ascii_digit() { 140 } else { 70 };
            assert_eq!(Stops::new(&text, NonDigits).next(), expected, "{byte}");
            let block = std::array::from_fn(|i| text[i + 38]);
            assert_eq!(portable(&block), non_digits(&block), "{byte}");
        }
    }

    #[test]
    fn every_byte_may_end_a_field_or_not() {
        for ends in
            [FieldEnds { delimiter: b';', limit: 10 }, FieldEnds { delimiter: 9, limit: 32 }]
        {
            for byte in 0..=255u8 {
                let block = std::array::from_fn(|i| if i % 3 == 0 { byte } else { b'a' });
                let stops = byte <= ends.limit || byte == ends.delimiter || byte == b'"';
                let expected = if stops { 0x9249_2492_4924_9249 } else { 0 };
                assert_eq!(ends.mask(&block), expected, "{byte}");
                assert_eq!(portable_field_ends(&ends, &block), expected, "{byte}");
            }
        }
    }

    #[test]
    fn stops_come_in_order_from_anywhere() {
        let text: Vec<u8> = (0..500).map(|i| if i % 7 == 3 { b'\n' } else { b'1' }).collect();
        for from in [0, 3, 4, 63, 64, 65, 130, 499, 500] {
            let mut stops = Stops::new(&text, NonDigits);
            stops.seek(from);
            for expected in (from..500).filter(|i| i % 7 == 3).chain([500, 500]) {
                assert_eq!(stops.next(), expected, "from {from}");
            }
        }
    }

    #[test]
    fn numbers_of_every_length() {
        for before in ["", "x", "1234567890\n"] {
            for length in 0..=10 {
                let text = format!("{before}{}\n", &"9081726354"[..length]);
                let (start, end) = (before.len(), before.len() + length);
                let expected = text[start..end].parse().ok().filter(|_| (1..=8).contains(&length));
                assert_eq!(number(text.as_bytes(), start, end), expected, "{text}");
            }
        }
    }
}
