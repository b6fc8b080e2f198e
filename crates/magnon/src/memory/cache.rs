//! The size of the cache that all cores share.

use std::sync::LazyLock;

/// What a processor for data centres has, where the system does not say.
const USUAL: usize = 32 << 20;

/// Bytes of the last-level cache.
pub(crate) fn last_level() -> usize {
    static SIZE: LazyLock<usize> = LazyLock::new(|| asked().unwrap_or(USUAL));
    *SIZE
}

#[cfg(target_os = "linux")]
fn asked() -> Option<usize> {
    let caches = std::fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let sizes = caches.flatten().filter_map(|cache| {
        let text = |name| std::fs::read_to_string(cache.path().join(name)).ok();
        Some((text("level")?.trim().parse::<u32>().ok()?, bytes(&text("size")?)?))
    });
    sizes.max().map(|(_, size)| size)
}

#[cfg(not(target_os = "linux"))]
fn asked() -> Option<usize> {
    None
}

/// The number that the system writes as `512K` or `32M`.
#[cfg(any(target_os = "linux", test))]
fn bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_shl(shift).filter(|&size| size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_system_writes_them() {
        assert_eq!(bytes("32768K\n"), Some(32 << 20));
        assert_eq!(
            [bytes("8M"), bytes("1G"), bytes("512")],
            [Some(8 << 20), Some(1 << 30), Some(512)]
        );
        assert_eq!([bytes("KK"), bytes("K"), bytes(""), bytes("0K"), bytes("1T")], [None; 5]);
    }
}
