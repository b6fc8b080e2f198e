//! How large a generated graph will be, known before it is made.

use super::{GenerateError, GeneratorConfig, GeneratorKind};

impl GeneratorConfig {
    /// The mean number of edges of all graphs of this configuration.
    fn mean_edges(&self) -> f64 {
        let (nodes, blocks) = (self.nodes as f64, self.blocks as f64);
        let pairs = (nodes / blocks).powi(2); // of nodes in two blocks
        let within = blocks * pairs / 2.0 * self.within() * (1.0 + self.mutual);
        let joined = match self.kind {
            GeneratorKind::Cycle => return nodes,
            GeneratorKind::ErdosRenyi => return self.density * nodes.powi(2),
            // The density halves with each layer; all halves together are at most twice the first.
            GeneratorKind::FeedForward => return 2.0 * blocks * pairs * self.density,
            GeneratorKind::Cyclic if self.blocks > 2 => blocks,
            _ => blocks * (blocks - 1.0) / 2.0,
        };
        within + joined * pairs * self.density
    }

    /// Bytes for the graph while it is built: a list of edges, the rows that they are sorted into,
    /// and the blocks.
    pub fn bytes(&self) -> f64 {
        let blocks = if self.has_blocks() { self.blocks as f64 } else { 0.0 };
        12.0 * self.mean_edges() + 20.0 * self.nodes as f64 + 16.0 * blocks
    }

    /// Says that there is no memory for so many bytes.
    pub fn out_of_memory(&self, bytes: f64) -> GenerateError {
        GenerateError::OutOfMemory { nodes: self.nodes, edges: self.mean_edges(), bytes }
    }

    /// An empty list with room for the edges. Hardly a graph has more than their mean number and
    /// six deviations; for such a one the list grows.
    pub(super) fn room(&self) -> Result<Vec<(u32, u32)>, GenerateError> {
        let mean = self.mean_edges();
        let most = mean + 6.0 * mean.sqrt() + 16.0;
        let mut edges = Vec::new();
        let room = edges.try_reserve_exact(most as usize);
        room.map_err(|_| self.out_of_memory(most * size_of::<(u32, u32)>() as f64))?;
        Ok(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::super::generate;
    use super::*;

    #[test]
    fn the_edges_have_the_room_that_was_foreseen() {
        for (_, kind) in GeneratorKind::ALL {
            for (blocks, mutual) in [(1, 0.0), (2, 1.0), (5, 0.5)] {
                let config = GeneratorConfig { kind, blocks, mutual, ..Default::default() };
                let (found, mean) =
                    (generate(&config, 3).unwrap().graph.edges() as f64, config.mean_edges());
                assert!(found < mean + 6.0 * mean.sqrt() + 16.0, "{config:?}: {found}, {mean}");
                // All but layered graphs are estimated closely; these have more room than they use.
                let least = if kind == GeneratorKind::FeedForward { 0.0 } else { 0.9 };
                assert!(found >= least * mean, "{config:?}: {found}, {mean}");
            }
        }
    }

    #[test]
    fn a_graph_without_memory_for_it_is_refused_at_once() {
        // Within every range, but not on any machine that runs this test.
        let config = GeneratorConfig { nodes: 1 << 30, density: 0.0, ..Default::default() };
        assert!(config.check().is_ok());
        assert!((config.bytes() - 20.0 * f64::from(1 << 30)).abs() < 100.0);
        let error = config.out_of_memory(config.bytes()).to_string();
        assert!(error.starts_with("out of memory: 21474836528 bytes are needed"), "{error}");
    }
}
