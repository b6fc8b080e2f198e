//! Bits as hexadecimal digits in a journal, the first bit lowest in the first digit.

use serde::{Deserialize, Deserializer, Serializer};

pub fn serialize<S: Serializer>(bits: &[bool], to: S) -> Result<S::Ok, S::Error> {
    let digit = |four: &[bool]| {
        let value = four.iter().enumerate().map(|(k, &bit)| u32::from(bit) << k).sum();
        char::from_digit(value, 16).unwrap_or('0')
    };
    to.serialize_str(&bits.chunks(4).map(digit).collect::<String>())
}

/// Four bits for each digit; none where anything is no digit.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<bool>, D::Error> {
    let text = String::deserialize(from)?;
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let bits = |digit: u32| (0..4).map(move |k| digit >> k & 1 == 1);
    Ok(digits.unwrap_or_default().into_iter().flat_map(bits).collect())
}
