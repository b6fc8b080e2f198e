//! Several files in one input, parted by a mark, so that a change within one leaves the others alone.

const MARK: &[u8] = b"\xff|\xff\n";
/// Stands for a file that is not there.
const MISSING: &[u8] = b"!";

/// The parts of an input.
pub fn split(mut input: &[u8]) -> Vec<Option<&[u8]>> {
    let mut parts = Vec::new();
    loop {
        let end = input.windows(MARK.len()).position(|window| window == MARK);
        let part = &input[..end.unwrap_or(input.len())];
        parts.push((part != MISSING).then_some(part));
        let Some(end) = end else { return parts };
        input = &input[end + MARK.len()..];
    }
}

/// The input with these parts.
pub fn join(parts: &[impl AsRef<[u8]>]) -> Vec<u8> {
    parts.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(MARK)
}
