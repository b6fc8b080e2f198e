//! Large numbers for people.

/// A difference with its sign. One that rounds to 0 is `+0.00`, whichever side of 0 it lies on.
pub fn signed(difference: f64, digits: usize) -> String {
    let text = format!("{difference:+.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => format!("+{rest}"),
        _ => text,
    }
}

/// A number with its thousands set apart.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_to_zero_has_no_minus() {
        for (number, text) in
            [(-1e-9, "+0.00"), (-0.0, "+0.00"), (-0.005001, "-0.01"), (1.5, "+1.50")]
        {
            assert_eq!(signed(number, 2), text);
        }
    }
}
