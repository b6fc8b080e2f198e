//! The directed cycle 0 → 1 → … → n − 1 → 0.

/// Its edges; a single node has none.
pub fn edges(nodes: usize, edges: &mut Vec<(u32, u32)>) {
    let n = nodes as u32;
    edges.extend((0..n).filter(|_| n > 1).map(|u| (u, (u + 1) % n)));
}
