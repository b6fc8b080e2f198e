//! Nodes with the same neighbours.

use super::chain::Source;
use magnon_core::operator::Along;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Nodes with the same row in P, or in Pᵀ. With B for the distinct rows and R for the choice of one for each node the
/// matrix is R·B and its transpose Bᵀ·Rᵀ: a product goes over the entries of B in place of those of all rows.
pub(super) struct Twins {
    /// The way whose rows are compared.
    along: Along,
    /// The row of B that a node has; they are numbered by the first node that has them.
    class: Vec<u32>,
    /// That node.
    first: Vec<u32>,
    /// The nodes of each, one list after the other, and where the lists begin.
    members: Vec<u32>,
    offsets: Vec<usize>,
}

/// Share of the entries that twins must leave at most to be worth a second matrix.
const WORTH: f64 = 0.75;

impl Twins {
    /// The twins of the way that leaves fewer entries, where it leaves few enough. `ways` are P and Pᵀ.
    pub fn find(nodes: usize, ways: &[(Along, Source); 2]) -> Option<Self> {
        let entries = |twins: &[u32], (_, rows): &(Along, Source)| -> usize {
            let mut row = Vec::new();
            let count = |&u: &u32| {
                row.clear();
                rows(u, &mut row);
                row.len()
            };
            twins.iter().map(count).sum()
        };
        let everyone: Vec<u32> = (0..nodes as u32).collect();
        let all = entries(&everyone, &ways[0]) as f64;
        let found = ways.iter().map(|way| {
            let twins = Self::new(nodes, way);
            (entries(&twins.first, way) + nodes, twins)
        });
        let (cost, twins) = found.min_by_key(|(cost, _)| *cost)?;
        (cost as f64 <= WORTH * all).then_some(twins)
    }

    fn new(nodes: usize, (along, rows): &(Along, Source)) -> Self {
        let mut known: HashMap<u64, Vec<u32>> = HashMap::new();
        let (mut class, mut first): (Vec<u32>, Vec<u32>) = (Vec::with_capacity(nodes), Vec::new());
        let (mut row, mut other) = (Vec::new(), Vec::new());
        for u in 0..nodes as u32 {
            row.clear();
            rows(u, &mut row);
            let mut hasher = DefaultHasher::new();
            row.iter().for_each(|&(v, x)| (v, x.to_bits()).hash(&mut hasher));
            let alike = known.entry(hasher.finish()).or_default();
            let same = |class: &&u32| {
                other.clear();
                rows(first[**class as usize], &mut other);
                other == row
            };
            let found = alike.iter().find(same).copied();
            class.push(found.unwrap_or(first.len() as u32));
            if found.is_none() {
                alike.push(first.len() as u32);
                first.push(u);
            }
        }
        let mut members: Vec<u32> = (0..nodes as u32).collect();
        members.sort_by_key(|&u| class[u as usize]);
        let begin = |k: u32| members.partition_point(|&u| class[u as usize] < k);
        let offsets = (0..=first.len() as u32).map(begin).collect();
        Self { along: *along, class, first, members, offsets }
    }

    /// P or Pᵀ as two factors, where `rows` are those of the matrix itself.
    pub fn factors<'a>(&'a self, along: Along, rows: Source<'a>) -> [Source<'a>; 2] {
        if along == self.along {
            let class = |u: u32, row: &mut Vec<_>| row.push((self.class[u as usize], 1.0));
            let distinct = move |k: u32, row: &mut Vec<_>| rows(self.first[k as usize], row);
            return [Box::new(class), Box::new(distinct)];
        }
        let turned = move |u: u32, row: &mut Vec<(u32, f64)>| {
            let start = row.len();
            rows(u, row);
            // Of the nodes with a row of B the first one stands for all; they come in the order of the rows.
            let mut end = start;
            for at in start..row.len() {
                let (v, x) = row[at];
                let class = self.class[v as usize];
                if self.first[class as usize] == v {
                    row[end] = (class, x);
                    end += 1;
                }
            }
            row.truncate(end);
        };
        let members = |k: u32, row: &mut Vec<_>| {
            let span = self.offsets[k as usize]..self.offsets[k as usize + 1];
            row.extend(self.members[span].iter().map(|&u| (u, 1.0)));
        };
        [Box::new(turned), Box::new(members)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bank::chain::Chain;

    /// 40 nodes, of which four each point to the same six; `turned` is the transpose.
    fn entry(u: u32, v: u32, turned: bool) -> f64 {
        let (u, v) = if turned { (v, u) } else { (u, v) };
        let there = (0..6).any(|k| (u / 4 * 5 + 2 * k + 1) % 40 == v);
        // Weights depend on the node that is pointed to, so that twins have the same.
        if there { 0.5 + f64::from(v) } else { 0.0 }
    }

    fn source(turned: bool) -> Source<'static> {
        Box::new(move |u, row| {
            let entries = (0..40).map(|v| (v, entry(u, v, turned)));
            row.extend(entries.filter(|&(_, x)| x != 0.0));
        })
    }

    /// By way of twins a step is what it is over all edges, out and in, whichever of them has the twins.
    #[test]
    fn twins_change_nothing() {
        for turned in [false, true] {
            let ways = [(Along::Out, source(turned)), (Along::In, source(!turned))];
            let twins = Twins::find(40, &ways).unwrap();
            assert_eq!(twins.along == Along::In, turned);
            assert_eq!(twins.first.len(), 8);
            for (along, turned) in [(Along::Out, turned), (Along::In, !turned)] {
                let factors = twins.factors(along, source(turned));
                let rows = [3, 17, 20, 9, 39];
                let chain = Chain::new(&rows, &factors, Some(40));
                for (row, &u) in rows.iter().enumerate() {
                    let mut entries = vec![(row, 1.0)];
                    for factor in &chain.factors {
                        let next = |&(k, a): &(usize, f64)| {
                            factor.row(k).map(move |(v, b)| (v as usize, a * b)).collect::<Vec<_>>()
                        };
                        entries = entries.iter().flat_map(next).collect();
                    }
                    let mut found = [0.0; 40];
                    entries.iter().for_each(|&(v, x)| found[v] += x);
                    let expected: Vec<f64> = (0..40).map(|v| entry(u, v, turned)).collect();
                    assert_eq!(found[..], expected, "{along:?}, row {u}");
                }
            }
        }
    }

    /// Where hardly two rows are the same, a second matrix would cost more than it saves.
    #[test]
    fn few_twins_are_left_alone() {
        let path = |step: u32| -> Source<'static> {
            Box::new(move |u, row| row.push(((u + step) % 40, 1.0)))
        };
        assert!(Twins::find(40, &[(Along::Out, path(1)), (Along::In, path(39))]).is_none());
    }
}
