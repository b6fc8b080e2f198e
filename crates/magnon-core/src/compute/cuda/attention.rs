//! Attention over the edges of a neighbourhood.

use super::apply::THREADS;
use super::lanes::{kept, thresholds};
use super::map::Kind;
use super::{Buffer, Cuda, abi, flag};
use crate::compute::Done;
use crate::compute::EngineError;
use crate::compute::{Attention, AttentionGradient};

impl Cuda {
    pub(super) fn run_attention(
        &self,
        input: &Attention<Self>,
        out: &mut Buffer,
        norms: &mut Buffer,
    ) -> Done {
        let attention = self.attention(input)?;
        let (units, shape) = (input.rows * input.heads, input.features.1);
        self.launch(
            "attend",
            self.warps(units)?,
            THREADS,
            &[
                &attention,
                &self.matrix_mut(out, input.rows * shape.cols())?,
                &self.matrix_mut(norms, 2 * units)?,
            ],
        )
    }

    pub(super) fn run_attention_gradient(
        &self,
        input: &Attention<Self>,
        back: AttentionGradient<Self>,
    ) -> Done {
        let attention = self.attention(input)?;
        let shape = input.features.1;
        let (units, numbers) = (input.rows * input.heads, input.rows * shape.cols());
        let mut along = self.take(units)?;
        let given = abi::Back {
            norms: self.matrix(back.norms, 2 * units)?,
            out: self.matrix(back.out, numbers)?,
            dy: self.matrix(back.dy, numbers)?,
            along: self.matrix_mut(&mut along, units)?,
        };
        self.launch("attend_along", self.grid(units)?, THREADS, &[&attention, &given])?;
        let seen = shape.rows() * input.heads;
        self.launch(
            "attend_sources",
            self.warps(seen)?,
            THREADS,
            &[
                &attention,
                &given,
                &self.matrix_mut(back.features, shape.len())?,
                &self.matrix_mut(back.source, seen)?,
            ],
        )?;
        self.launch(
            "attend_targets",
            self.warps(units)?,
            THREADS,
            &[&attention, &given, &self.matrix_mut(back.target, units)?],
        )?;
        self.give(along);
        Ok(())
    }

    fn attention(&self, input: &Attention<Self>) -> Result<abi::Attention, EngineError> {
        let Kind::Edges(edges) = &input.edges.kind else {
            return Err(EngineError::Unsupported("attention needs a map over edges".to_owned()));
        };
        let (features, shape) = input.features;
        let (heads, seen) = (input.heads, shape.rows());
        if seen > edges.lists.rows || input.rows > seen || heads == 0 {
            let problem = format!("attention on {} of {seen} nodes", input.rows);
            return Err(EngineError::Unsupported(problem));
        }
        let (rate, key) = input.dropout.unwrap_or_default();
        Ok(abi::Attention {
            offsets: self.address(&edges.lists.offsets),
            columns: self.address(&edges.lists.columns),
            features: self.matrix(features, shape.len())?,
            source: self.matrix(input.source, seen * heads)?,
            target: self.matrix(input.target, input.rows * heads)?,
            heads: heads as i64,
            cols: (shape.cols() / heads) as i64,
            seen: seen as i64,
            rows: input.rows as i64,
            slope: input.slope as f32,
            keep: kept(rate),
            threshold: thresholds(rate)[1],
            dropout: flag(input.dropout.is_some()),
            key: self.key(key),
        })
    }
}
