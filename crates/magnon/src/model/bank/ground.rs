//! What the walks of a bank are made on: the nodes that are seen, their features, and steps along the edges.

use crate::matrix::SparseMatrix;
use crate::model::ModelError;
use crate::model::dirgnn::InAndOut;
use crate::nn::{Engine, MapSource};
use crate::operator::{Along, Neighbourhood};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What the walks of some nodes are made on.
pub(super) struct Ground<E: Engine> {
    pub seen: Arc<Neighbourhood>,
    /// Steps out and in; none where nobody walks.
    pub steps: Vec<Step<E>>,
    /// Features of the nodes that are seen.
    pub features: Option<Arc<E::Map>>,
    /// The rows of weights of the nodes that are seen.
    pub selection: Option<Arc<E::Map>>,
}

/// A map, and how many of its rows are needed for the nodes within 0, 1, … steps.
pub(super) type First<E> = (Arc<<E as Engine>::Map>, Arc<[usize]>);

/// A step along the edges: P or Pᵀ as one map, or as two where nodes have twins.
pub(super) struct Step<E: Engine> {
    /// The map that comes first, where there are two.
    pub first: Option<First<E>>,
    /// The map that gives a row to each node.
    pub last: Arc<E::Map>,
}

impl<E: Engine> Step<E> {
    /// Whether nodes with the same neighbours share a row.
    pub fn has_twins(&self) -> bool {
        self.first.is_some()
    }
}

// By hand: a derived one would ask for an engine that can be cloned.
impl<E: Engine> Clone for Step<E> {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), last: self.last.clone() }
    }
}

/// The matrices behind the steps.
pub(super) struct Ways {
    seen: Arc<Neighbourhood>,
    /// Rows of P and of Pᵀ in local numbers.
    rows: [Vec<Row>; 2],
    twins: Option<Twins>,
}

/// Columns, ascending, and values of a row.
type Row = Vec<(u32, f32)>;

/// Nodes with the same row, in P or in Pᵀ. With B for the distinct rows and R for the choice of one for each node the matrix is
/// R·B and its transpose Bᵀ·Rᵀ: a product goes over the entries of B in place of those of all rows.
struct Twins {
    along: Along,
    /// The row of B that a node has; they are numbered by the first node that has them.
    class: Vec<u32>,
    /// One node of each.
    first: Vec<u32>,
}

/// Share of the entries that twins must leave at most to be worth a second map.
const WORTH: f64 = 0.75;

impl Ways {
    pub fn new(steps: &InAndOut, seen: &Arc<Neighbourhood>, twins: bool) -> Self {
        let rows = [Along::Out, Along::In].map(|along| local_rows(steps, seen, along));
        let entries: usize = rows[0].iter().map(Vec::len).sum();
        let ways = if twins { &[Along::Out, Along::In][..] } else { &[] };
        let found =
            ways.iter().map(|&along| Twins::new(along, &rows[usize::from(along == Along::In)]));
        let cost = |twins: &Twins| {
            let rows = &rows[usize::from(twins.along == Along::In)];
            let distinct: usize = twins.first.iter().map(|&u| rows[u as usize].len()).sum();
            distinct + rows.len()
        };
        let best = found.min_by_key(cost);
        let worth = |twins: &Twins| cost(twins) as f64 <= WORTH * entries as f64;
        let twins = best.filter(worth);
        Self { seen: seen.clone(), rows, twins }
    }

    /// Whether products are made by way of twins.
    pub fn have_twins(&self) -> bool {
        self.twins.is_some()
    }

    /// What a step that way applies first.
    pub fn first<E: Engine>(
        &self,
        engine: &E,
        along: Along,
    ) -> Result<Option<First<E>>, ModelError> {
        let Some(twins) = &self.twins else { return Ok(None) };
        let (nodes, classes) = (twins.class.len(), twins.first.len());
        let within = (0..=self.seen.steps()).map(|k| self.seen.size(k));
        let (matrix, rows): (_, Arc<[usize]>) = if along == twins.along {
            let rows = &self.rows[usize::from(along == Along::In)];
            let distinct = twins.first.iter().map(|&u| rows[u as usize].as_slice());
            (matrix(distinct, nodes), within.map(|size| twins.upto(size)).collect())
        } else {
            let mut members = vec![Row::new(); classes];
            (0..).zip(&twins.class).for_each(|(u, &class)| members[class as usize].push((u, 1.0)));
            (matrix(members.iter().map(Vec::as_slice), nodes), within.map(|_| classes).collect())
        };
        Ok(Some((Arc::new(engine.prepare(MapSource::Sparse(matrix))?), rows)))
    }

    /// What a step that way gives some of the nodes.
    pub fn last<E: Engine>(
        &self,
        engine: &E,
        along: Along,
        nodes: Range<usize>,
    ) -> Result<Arc<E::Map>, ModelError> {
        let at = |along: Along| usize::from(along == Along::In);
        let matrix = match &self.twins {
            None => {
                let rows = &self.rows[at(along)];
                matrix(rows[nodes].iter().map(Vec::as_slice), rows.len())
            }
            Some(twins) if along == twins.along => {
                let choices: Vec<[(u32, f32); 1]> =
                    twins.class[nodes].iter().map(|&class| [(class, 1.0)]).collect();
                matrix(choices.iter().map(|choice| &choice[..]), twins.first.len())
            }
            Some(twins) => {
                let rows = &self.rows[at(twins.along)];
                let mut turned = vec![Row::new(); rows.len()];
                for (class, &u) in (0..).zip(&twins.first) {
                    rows[u as usize].iter().for_each(|&(v, x)| turned[v as usize].push((class, x)));
                }
                matrix(turned[nodes].iter().map(Vec::as_slice), twins.first.len())
            }
        };
        Ok(Arc::new(engine.prepare(MapSource::Sparse(matrix))?))
    }
}

impl Twins {
    fn new(along: Along, rows: &[Row]) -> Self {
        let mut known: HashMap<Vec<(u32, u32)>, u32> = HashMap::new();
        let (mut class, mut first) = (Vec::with_capacity(rows.len()), Vec::new());
        for (u, row) in (0..).zip(rows) {
            let key = row.iter().map(|&(v, x)| (v, x.to_bits())).collect();
            let next = first.len() as u32;
            let found = *known.entry(key).or_insert(next);
            if found == next {
                first.push(u);
            }
            class.push(found);
        }
        Self { along, class, first }
    }

    /// Distinct rows of the first nodes.
    fn upto(&self, nodes: usize) -> usize {
        self.first.partition_point(|&u| (u as usize) < nodes)
    }
}

/// Rows of P or Pᵀ among the nodes that are seen.
fn local_rows(steps: &InAndOut, seen: &Neighbourhood, along: Along) -> Vec<Row> {
    let InAndOut { left, right } = steps;
    let nodes: Vec<usize> = seen.nodes().collect();
    let row = |u: usize| {
        let entry = |(v, out, back): (usize, f64, f64)| {
            let weight = match along {
                Along::Out => out * left[nodes[u]] * right[nodes[v]],
                Along::In => back * right[nodes[u]] * left[nodes[v]],
            };
            (weight != 0.0).then_some((v as u32, weight as f32))
        };
        seen.pattern().row(u).filter_map(entry).collect()
    };
    (0..nodes.len()).map(row).collect()
}

fn matrix<'r>(rows: impl Iterator<Item = &'r [(u32, f32)]>, cols: usize) -> SparseMatrix {
    let rows: Vec<&[(u32, f32)]> = rows.collect();
    let entries =
        rows.iter().enumerate().flat_map(|(u, row)| row.iter().map(move |&(v, x)| (u, v, x)));
    let matrix = SparseMatrix::from_triplets(rows.len(), cols, entries);
    let Ok(matrix) = matrix else { unreachable!("every column is one of a node or a class") };
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::nn::{Cpu, Shape, Side};
    use crate::operator::Pattern;

    /// By way of twins a step is what it is over all edges, out and in, for all nodes and for the nearest ones.
    #[test]
    fn twins_change_nothing() {
        let edges = |u: u32| (0..6).map(move |k| (u, (u / 4 * 5 + 2 * k + 1) % 40));
        let out = GraphBuilder::new(40).edges((0..40).flat_map(edges)).build().unwrap().graph;
        let engine = Cpu::<f64>::sequential();
        for (graph, along) in [(out.clone(), Along::Out), (out.transpose(), Along::In)] {
            let steps = InAndOut::new(&graph, 0.5);
            let pattern = Arc::new(Pattern::new(&graph).unwrap());
            let seen = Arc::new(Neighbourhood::new(&pattern, &[3, 17, 20, 9], 2));
            let ways = Ways::new(&steps, &seen, true);
            assert_eq!(ways.twins.as_ref().map(|twins| twins.along), Some(along));
            assert!(!Ways::new(&steps, &seen, false).have_twins());
            let plain = steps.maps(&seen);
            for (along, map) in [Along::Out, Along::In].into_iter().zip(plain) {
                let map = engine.prepare(map).unwrap();
                let (first, rows) = ways.first(&engine, along).unwrap().unwrap();
                let last = ways.last(&engine, along, 0..seen.size(2)).unwrap();
                for k in 0..2 {
                    let [from, to] = [seen.size(k + 1), seen.size(k)].map(|n| Shape::real(n, 1));
                    let x: Vec<f64> = (0..from.len()).map(|i| (i * i % 11) as f64 - 4.0).collect();
                    let apply = |map: &_, x: &Vec<f64>, from: Shape, to: Shape| {
                        let mut y = vec![0.0; to.len()];
                        let (x, y_) = ((x, from), (&mut y, to));
                        engine.map(map, Side::Forward, None, x, y_, false).unwrap();
                        y
                    };
                    let expected = apply(&map, &x, from, to);
                    let middle = Shape::real(rows[k], 1);
                    let found = apply(&last, &apply(&first, &x, from, middle), middle, to);
                    for (a, b) in expected.iter().zip(&found) {
                        assert!((a - b).abs() < 1e-6, "{along:?} {k}: {a} {b}");
                    }
                }
            }
        }
    }
}
