//! Numbers as people write them: few digits, a true minus, powers of ten with raised digits.

/// A number with about `digits` significant digits.
pub(crate) fn short(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "not a number".into() } else { sign("∞", value < 0.0) };
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&size) {
        return scientific(value, digits.saturating_sub(1));
    }
    // A number's decimals: what is left of the digits after those before the point.
    let before = size.log10().floor() as i64 + 1;
    let decimals = (digits as i64 - before).max(0) as usize;
    sign(trimmed(&format!("{size:.decimals$}")), value < 0.0)
}

/// A number with a fixed count of decimals.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return short(value, decimals);
    }
    let text = format!("{:.decimals$}", value.abs());
    let zero = text.bytes().all(|digit| matches!(digit, b'0' | b'.'));
    sign(&text, value < 0.0 && !zero)
}

/// A power of ten with a mantissa: `2.5×10⁻⁷`.
pub(crate) fn scientific(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String = exponent.chars().map(raise).collect();
    let mantissa = trimmed(mantissa);
    let text =
        if mantissa == "1" { format!("10{raised}") } else { format!("{mantissa}×10{raised}") };
    sign(&text, value < 0.0)
}

/// A share in per cent.
pub(crate) fn per_cent(share: f64) -> String {
    format!("{}\u{a0}%", fixed(100.0 * share, 1))
}

/// A count with its thousands set apart, as on the command line.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A charge: a fraction where it is one of the paper's 1/m.
pub(crate) fn charge(q: f64) -> String {
    let m = (1.0 / q).round();
    if (2.0..=64.0).contains(&m) && (q - 1.0 / m).abs() < 1e-9 {
        return format!("1/{m}");
    }
    short(q, 4)
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn sign(text: &str, negative: bool) -> String {
    if negative { format!("−{text}") } else { text.to_owned() }
}

fn raise(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_digits() {
        let cases = [(0.0, "0"), (1.0, "1"), (-0.25, "−0.25"), (123.456, "123.5"), (1e9, "10⁹")];
        for (value, text) in cases {
            assert_eq!(short(value, 4), text);
        }
        assert_eq!(short(2.5e-7, 4), "2.5×10⁻⁷");
        assert_eq!(short(f64::NAN, 4), "not a number");
        assert_eq!(short(f64::NEG_INFINITY, 4), "−∞");
        assert_eq!(fixed(-0.001, 1), "0.0");
    }

    #[test]
    fn counts_and_charges() {
        assert_eq!(count(999), "999");
        assert_eq!(count(44_000), "44,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(charge(1.0 / 3.0), "1/3");
        assert_eq!(charge(0.0), "0");
        assert_eq!(charge(0.15), "0.15");
    }
}
