//! JSON that carries its own checksum, so that one changed letter is seen.

use serde::Serialize;
use serde_json::{Value, json};

/// The checksum of bytes, in letters.
pub fn checksum(parts: &[&[u8]]) -> String {
    let mut sum = crc32fast::Hasher::new();
    parts.iter().for_each(|part| sum.update(part));
    format!("{:08x}", sum.finalize())
}

/// A text with the content and its checksum.
pub fn seal(content: &impl Serialize) -> Result<String, serde_json::Error> {
    let content = serde_json::to_value(content)?;
    let sum = checksum(&[content.to_string().as_bytes()]);
    let text = serde_json::to_string_pretty(&json!({ "checksum": sum, "content": content }))?;
    Ok(text + "\n")
}

/// The content of such a text; `None` where it is not as it was written.
pub fn unseal(text: &[u8]) -> Option<Value> {
    let mut sealed: Value = serde_json::from_slice(text).ok()?;
    let content = sealed.get_mut("content").map(Value::take)?;
    (seal(&content).ok()?.as_bytes() == text).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_is_seen() {
        let content = json!({ "b": 0.1f32, "a": [u64::MAX, -1], "c": { "ü": null } });
        let text = seal(&content).unwrap().into_bytes();
        assert_eq!(unseal(&text), Some(content));
        for bit in 0..8 * text.len() {
            let mut text = text.clone();
            text[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unseal(&text), None, "bit {bit}");
        }
    }
}
