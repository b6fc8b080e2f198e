//! Line ends: a line feed, a carriage return, or both.

use memchr::memchr;

/// Text that is looked at at once.
const BLOCK: usize = 1 << 14;

/// Turns every carriage return that ends a line by itself into a line feed, in place. Lines keep
/// their numbers and offsets. Returns before a line feed belong to it.
pub(crate) fn settle_line_ends(text: &mut [u8]) {
    let Some(first) = memchr(b'\r', text) else { return };
    if !has_lone_return(text.get(first..).unwrap_or_default()) {
        return;
    }
    let mut before_feed = false;
    for byte in text.iter_mut().rev() {
        match *byte {
            b'\n' => before_feed = true,
            b'\r' if before_feed => {}
            b'\r' => *byte = b'\n',
            _ => before_feed = false,
        }
    }
}

/// Whether a return is followed by anything but a line feed. A block is looked at without a branch,
/// as most files with returns have one on every line.
fn has_lone_return(text: &[u8]) -> bool {
    let followers = text.get(1..).unwrap_or_default();
    let lone = |(&byte, &next): (&u8, &u8)| (byte == b'\r') & (next != b'\n');
    let blocks = text.chunks(BLOCK).zip(followers.chunks(BLOCK));
    blocks.into_iter().any(|(block, next)| {
        block.iter().zip(next).map(lone).fold(false, |found, lone| found | lone)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        settle_line_ends(&mut text);
        text
    }

    #[test]
    fn lone_returns_end_lines() {
        for (text, expected) in [
            (&b"a\rb\rc\r"[..], &b"a\nb\nc\n"[..]),
            (b"a\r\nb\r\nc", b"a\r\nb\r\nc"),
            (b"a\r\rb\n", b"a\n\nb\n"),
            (b"a\r\r\nb\rc", b"a\r\r\nb\nc"),
            (b"a\nb", b"a\nb"),
            (b"", b""),
        ] {
            assert_eq!(settled(text), expected, "{text:?}");
        }
    }

    #[test]
    fn returns_are_seen_across_blocks() {
        for at in [BLOCK - 2, BLOCK - 1, BLOCK, 2 * BLOCK] {
            let mut text = b"7\r\n".repeat(BLOCK);
            text.splice(at..at, *b"8\r9");
            let lines = |text: &[u8]| text.iter().filter(|&&byte| byte == b'\n').count();
            assert!(lines(&settled(&text)) > lines(&text), "{at}");
        }
    }
}
