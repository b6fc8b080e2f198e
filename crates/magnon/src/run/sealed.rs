//! JSON that carries its own checksum, so that one changed letter is seen.

use crate::tensors::FileError;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// The checksum of bytes, in letters.
pub(super) fn checksum(parts: &[&[u8]]) -> String {
    let mut sum = crc32fast::Hasher::new();
    parts.iter().for_each(|part| sum.update(part));
    format!("{:08x}", sum.finalize())
}

/// A text with the content and its checksum.
pub(super) fn seal(content: &impl Serialize) -> Result<String, serde_json::Error> {
    let content = serde_json::to_value(content)?;
    let sum = checksum(&[content.to_string().as_bytes()]);
    let text = serde_json::to_string_pretty(&json!({ "checksum": sum, "content": content }))?;
    Ok(text + "\n")
}

/// The content of such a text, where it is still as it was written.
pub(super) fn unseal(path: &Path, text: &[u8]) -> Result<Value, FileError> {
    let changed = || FileError::Changed { path: path.to_owned() };
    let mut sealed: Value = serde_json::from_slice(text).map_err(|_| changed())?;
    let content = sealed.get_mut("content").map(Value::take).ok_or_else(changed)?;
    match seal(&content) {
        Ok(expected) if expected.as_bytes() == text => Ok(content),
        _ => Err(changed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_is_seen() {
        let content = json!({ "b": 0.1f32, "a": [u64::MAX, -1], "c": { "ü": null } });
        let text = seal(&content).unwrap().into_bytes();
        let path = Path::new("sealed.json");
        assert_eq!(unseal(path, &text).unwrap(), content);
        for bit in 0..8 * text.len() {
            let mut text = text.clone();
            text[bit / 8] ^= 1 << (bit % 8);
            let error = unseal(path, &text).unwrap_err().to_string();
            assert!(error.contains("sealed.json"), "{error}");
        }
    }
}
