//! Today's date.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today by the clock of this machine, in UTC, as `2026-11-16`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

/// The date of a day, counted from 1 January 1970: years of March to February, so that the leap day comes last
/// (Hinnant, chrono-compatible low-level date algorithms).
fn date(days: u64) -> String {
    let days = days + 719_468; // from 1 March of year 0
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days as `date -u -d @SECONDS` of GNU coreutils has them.
    #[test]
    fn days_are_dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_773, "2026-11-16"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
