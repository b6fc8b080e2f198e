//! Values as callers write them: a number or its text, a list or its text with commas.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Value;
use std::fmt::Display;
use std::str::FromStr;

/// A finite number. `NaN` and `inf` can be written and mean no setting.
pub fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err("it must be a finite number".to_owned()),
        Err(_) => Err("it is not a number".to_owned()),
    }
}

/// A number of bytes, with K, M, G or T for powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is no amount of memory; write it as 800M or 8G");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let unit = text[digits.len()..].to_ascii_uppercase();
    let power = match unit.trim_end_matches("IB").trim_end_matches('B') {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err(wrong()),
    };
    let bytes = number * 1024f64.powi(power);
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(wrong()) }
}

/// `yes` or `no`.
#[cfg(feature = "clap")]
pub(super) fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("say yes or no".to_owned()),
    }
}

/// The text of a value: numbers are written as they are.
fn words(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(format!("{other} is neither text nor a number")),
    }
}

/// The items of a list, or of a text with commas between them; a single number is a list of one.
fn items(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.iter().map(words).collect(),
        Value::String(text) => Ok(text.split(',').map(str::to_owned).collect()),
        other => Ok(vec![words(other)?]),
    }
}

/// The value, or nothing where there is none.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Ok(Some(Value::deserialize(deserializer)?).filter(|value| !value.is_null()))
}

/// What is read from text; a number may stand in place of its text.
pub(super) fn text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let read = |value: Value| words(&value)?.parse().map_err(|error: T::Err| error.to_string());
    given(deserializer)?.map(read).transpose().map_err(D::Error::custom)
}

/// Writes what [`text`] reads.
pub(super) fn as_text<S: Serializer>(
    value: &Option<impl Display>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

/// A list, or its text with commas.
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    Ok(some_list(deserializer)?.unwrap_or_default())
}

/// A list, or its text with commas, where there is one.
pub(super) fn some_list<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let one = |item: String| item.parse().map_err(|error: T::Err| format!("'{item}': {error}"));
    let read = |value: Value| items(&value)?.into_iter().map(one).collect::<Result<_, _>>();
    given(deserializer)?.map(read).transpose().map_err(D::Error::custom)
}

/// A list of finite numbers, or its text with commas, where there is one.
pub(super) fn numbers<'de, D>(deserializer: D) -> Result<Option<Vec<f64>>, D::Error>
where
    D: Deserializer<'de>,
{
    let one = |item: String| finite(&item).map_err(|problem| format!("'{item}': {problem}"));
    let read = |value: Value| items(&value)?.into_iter().map(one).collect::<Result<_, _>>();
    given(deserializer)?.map(read).transpose().map_err(D::Error::custom)
}

/// A text with commas, or the list of its items.
pub(super) fn joined<'de, D>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    let read = |value: Value| Ok(items(&value)?.join(","));
    given(deserializer)?.map(read).transpose().map_err(|error: String| D::Error::custom(error))
}

/// A number of bytes, or its text, such as `8G`.
pub(super) fn memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let read = |value: Value| size(&words(&value)?);
    given(deserializer)?.map(read).transpose().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_refused() {
        assert_eq!(finite("-2.5e3"), Ok(-2500.0));
        for text in ["nan", "NaN", "inf", "-inf", "1e400", "", "word"] {
            assert!(finite(text).is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_are_read() {
        for (text, bytes) in [
            ("8G", 8 << 30),
            ("512m", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("4096", 4096),
            ("2KB", 2048),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "8X", "-1G", "0", "nanG", "1e40"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
