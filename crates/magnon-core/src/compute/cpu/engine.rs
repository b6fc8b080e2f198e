//! What the tape asks of the engine, handed to the kernels.

use super::clock::Work;
use super::map::Kind;
use super::{
    BLOCK, Cpu, Map, activation, attention, chains, columns, join, mask, nll_loss, optimise,
    product, rows,
};
use crate::compute::AdamStep;
use crate::compute::ChainMaps;
use crate::compute::kernels::{Kernels, Storage};
use crate::compute::{Activation, Done, DrawKey, Factor, Side};
use crate::compute::{Attention, AttentionGradient};
use crate::compute::{EngineError, MapSource, Scalar, Shape};
use crate::compute::{JoinedChannels, JoinedGradient};
use rayon::prelude::*;
use std::collections::BTreeSet;

impl<T: Scalar> Cpu<T> {
    fn scores<'a>(&'a self, input: &'a Attention<Self>) -> Option<attention::Scores<'a, T>> {
        let Kind::Edges(edges) = &input.edges.kind else { return None };
        let (features, shape) = input.features;
        Some(attention::Scores {
            edges,
            features,
            source: input.source,
            target: input.target,
            heads: input.heads,
            cols: shape.cols() / input.heads.max(1),
            seen: shape.rows(),
            rows: input.rows,
            slope: T::from_f64(input.slope),
            dropout: input.dropout,
            parallel: self.parallel,
            instructions: self.instructions,
        })
    }
}

fn without_edges() -> EngineError {
    EngineError::Unsupported("attention needs a map over edges".to_owned())
}

impl<T: Scalar> Storage for Cpu<T> {
    type Buffer = Vec<T>;
    type Map = Map<T>;
}

impl<T: Scalar> Kernels for Cpu<T> {
    type Real = T;
    type Targets = Vec<(u32, u32)>;

    fn sequential(&self) -> Self {
        Self::sequential()
    }

    fn zeros(&self, len: usize) -> Result<Vec<T>, EngineError> {
        let out_of_memory = EngineError::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) };
        crate::memory::try_zeroed(len).ok_or(out_of_memory)
    }

    fn scratch_bytes(&self) -> usize {
        let once = self.strips.lengths().into_iter().collect::<BTreeSet<_>>();
        let numbers = self.scratch.lengths().iter().chain(&once).sum::<usize>();
        numbers * size_of::<T>()
    }

    fn clear(&self, buffer: &mut Vec<T>) -> Done {
        buffer.fill(T::ZERO);
        Ok(())
    }

    fn upload(&self, numbers: &[T], to: &mut Vec<T>) -> Done {
        to.copy_from_slice(numbers);
        Ok(())
    }

    fn copy(&self, from: &Vec<T>, to: &mut Vec<T>) -> Done {
        to.copy_from_slice(from);
        Ok(())
    }

    fn download(&self, from: &Vec<T>, numbers: &mut [T]) -> Done {
        numbers.copy_from_slice(from);
        Ok(())
    }

    fn product(
        &self,
        left: Factor<Vec<T>>,
        right: Factor<Vec<T>>,
        out: (&mut Vec<T>, Shape),
        add: bool,
    ) -> Done {
        let left = product::Operand::new(left.buffer, left.shape, left.adjoint);
        let right = product::Operand::new(right.buffer, right.shape, right.adjoint);
        self.clock.time(Work::Products, || {
            product::product(left, right, (out.0, out.1), add, self.parallel)
        });
        Ok(())
    }

    fn prepare(&self, source: MapSource) -> Result<Map<T>, EngineError> {
        Ok(Map::new(source))
    }

    fn map(
        &self,
        map: &Map<T>,
        side: Side,
        values: Option<&Vec<T>>,
        x: (&Vec<T>, Shape),
        y: (&mut Vec<T>, Shape),
        add: bool,
    ) -> Done {
        self.clock
            .time(Work::Products, || self.apply(map, side, values, (x.0, x.1), (y.0, y.1), add))
    }

    fn mask_map(&self, map: &Map<T>, mask: &mut Vec<T>) -> Done {
        let numbers = match &map.kind {
            Kind::Dense(numbers) => numbers,
            Kind::Sparse(rows) => &rows.values,
            _ => return Err(EngineError::Unsupported("this map cannot be masked".to_owned())),
        };
        self.sweep_blocks(mask, |first, mask| {
            let numbers = &numbers[first..first + mask.len()];
            mask.iter_mut().zip(numbers).for_each(|(mask, &x)| *mask *= x);
        });
        Ok(())
    }

    fn add_bias(&self, bias: &Vec<T>, y: (&mut Vec<T>, Shape)) -> Done {
        self.sweep_rows(bias.len(), y.0, |_, y| {
            self.instructions.compute(columns::AddBias { bias, y });
        });
        Ok(())
    }

    fn sum_rows(&self, y: (&Vec<T>, Shape), bias: &mut Vec<T>, add: bool) -> Done {
        self.sweep(columns::SumRows { y: y.0, bias, add });
        Ok(())
    }

    fn activate(&self, f: Activation, shape: Shape, x: &Vec<T>, y: &mut Vec<T>) -> Done {
        if f == Activation::Parts || x.len() != y.len() {
            self.sweep(activation::Forward { f, shape, x, y });
            return Ok(());
        }
        self.sweep_blocks(y, |first, y| {
            let x = &x[first..first + y.len()];
            self.instructions.compute(activation::Forward { f, shape, x, y });
        });
        Ok(())
    }

    fn activate_gradient(
        &self,
        f: Activation,
        shape: Shape,
        x: &Vec<T>,
        y: &Vec<T>,
        dy: &Vec<T>,
        dx: &mut Vec<T>,
    ) -> Done {
        if f == Activation::Parts || x.len() != y.len() {
            self.sweep(activation::Gradient { f, shape, x, y, dy, dx });
            return Ok(());
        }
        self.sweep_blocks(dx, |first, dx| {
            let [x, y, dy] = [x, y, dy].map(|all| &all[first..first + dx.len()]);
            self.instructions.compute(activation::Gradient { f, shape, x, y, dy, dx });
        });
        Ok(())
    }

    fn draw_mask(&self, rate: f64, key: DrawKey, shape: Shape, mask: &mut Vec<T>) -> Done {
        self.sweep_blocks(mask, |first, mask| {
            self.instructions.compute(mask::Draw { rate, key, shape, first, mask });
        });
        Ok(())
    }

    fn multiply(&self, a: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>, add: bool) -> Done {
        self.sweep_blocks(y, |first, y| {
            let [a, x] = [a, x].map(|all| &all[first..first + y.len()]);
            match add {
                true => self.instructions.compute(columns::MultiplyAdd { a, x, y }),
                false => self.instructions.compute(columns::Multiply { a, x, y }),
            }
        });
        Ok(())
    }

    fn scale(&self, factor: f64, x: &Vec<T>, y: &mut Vec<T>, add: bool) -> Done {
        self.scaled(T::from_f64(factor), x, y, add);
        Ok(())
    }

    fn scale_by(&self, c: (&Vec<T>, usize), x: &Vec<T>, y: &mut Vec<T>, add: bool) -> Done {
        self.scaled(c.0[c.1], x, y, add);
        Ok(())
    }

    fn dot(&self, x: &Vec<T>, y: &Vec<T>, out: (&mut Vec<T>, usize), add: bool) -> Done {
        let sum = self.sweep(columns::Dot { x, y });
        let before = if add { out.0[out.1] } else { T::ZERO };
        out.0[out.1] = before + T::from_f64(sum);
        Ok(())
    }

    fn maximum(&self, a: &Vec<T>, b: &Vec<T>, y: &mut Vec<T>) -> Done {
        self.sweep(rows::Maximum { a, b, y });
        Ok(())
    }

    fn maximum_gradient(
        &self,
        x: &Vec<T>,
        other: &Vec<T>,
        strict: bool,
        dy: &Vec<T>,
        dx: &mut Vec<T>,
    ) -> Done {
        self.sweep(rows::MaximumGradient { x, other, strict, dy, dx });
        Ok(())
    }

    fn put_columns(&self, x: (&Vec<T>, Shape), y: (&mut Vec<T>, Shape), at: usize) -> Done {
        let (from, at) = (x.1.width(), at * y.1.field().parts());
        self.sweep_rows(y.1.width(), y.0, |first, rows| {
            columns::put(&x.0[first * from..], from, rows, y.1.width(), at);
        });
        Ok(())
    }

    fn add_columns(&self, y: (&Vec<T>, Shape), at: usize, x: (&mut Vec<T>, Shape)) -> Done {
        let (to, from, at) = (x.1.width(), y.1.width(), at * y.1.field().parts());
        self.sweep_rows(to, x.0, |first, rows| {
            let y = &y.0[first * from..];
            self.instructions.compute(columns::AddBack { y, from, at, x: rows, to });
        });
        Ok(())
    }

    fn normalize_rows(&self, x: (&Vec<T>, Shape), y: &mut Vec<T>) -> Done {
        let width = x.1.width();
        self.sweep_rows(width, y, |first, y| {
            let x = &x.0[first * width..][..y.len()];
            self.instructions.compute(rows::NormalizeRows { x, width, y });
        });
        Ok(())
    }

    fn normalize_rows_gradient(
        &self,
        x: (&Vec<T>, Shape),
        y: &Vec<T>,
        dy: &Vec<T>,
        dx: &mut Vec<T>,
    ) -> Done {
        let width = x.1.width();
        self.sweep_rows(width, dx, |first, dx| {
            let [x, y, dy] = [x.0, y, dy].map(|all| &all[first * width..][..dx.len()]);
            self.instructions.compute(rows::NormalizeRowsGradient { x, width, y, dy, dx });
        });
        Ok(())
    }

    fn softmax(&self, x: (&Vec<T>, Shape), y: &mut Vec<T>) -> Done {
        self.sweep(rows::Softmax { x: x.0, shape: x.1, y });
        Ok(())
    }

    fn softmax_gradient(&self, y: (&Vec<T>, Shape), dy: &Vec<T>, dx: &mut Vec<T>) -> Done {
        self.sweep(rows::SoftmaxGradient { y: y.0, shape: y.1, dy, dx });
        Ok(())
    }

    fn group_dot(&self, x: (&Vec<T>, Shape), a: &Vec<T>, groups: usize, y: &mut Vec<T>) -> Done {
        self.sweep(rows::GroupDot { x: x.0, shape: x.1, a, groups, y });
        Ok(())
    }

    fn group_dot_gradient(
        &self,
        a: &Vec<T>,
        groups: usize,
        dy: &Vec<T>,
        dx: (&mut Vec<T>, Shape),
    ) -> Done {
        self.sweep(rows::GroupDotGradient { a, groups, dy, dx: dx.0, shape: dx.1 });
        Ok(())
    }

    fn group_sum(&self, x: (&Vec<T>, Shape), groups: usize, dy: &Vec<T>, da: &mut Vec<T>) -> Done {
        self.sweep(rows::GroupSum { x: x.0, shape: x.1, groups, dy, da });
        Ok(())
    }

    fn attend(&self, input: &Attention<Self>, out: &mut Vec<T>, norms: &mut Vec<T>) -> Done {
        let scores = self.scores(input).ok_or_else(without_edges)?;
        self.clock.time(Work::Products, || scores.forward(out, norms));
        Ok(())
    }

    fn attend_gradient(&self, input: &Attention<Self>, back: AttentionGradient<Self>) -> Done {
        let scores = self.scores(input).ok_or_else(without_edges)?;
        let AttentionGradient { norms, out, dy, features, source, target } = back;
        let mut room = [input.rows * input.heads, input.rows].map(|len| self.take(len));
        self.clock.time(Work::Products, || {
            let [along, unused] = &mut room;
            scores.backward([norms, out, dy], [features, source, target], [along, unused]);
        });
        room.into_iter().for_each(|block| self.give(block));
        Ok(())
    }

    fn has_chains(&self, cols: usize) -> bool {
        cols > 0 && cols.is_multiple_of(chains::STRIP)
    }

    fn map_chains(
        &self,
        chains: Vec<ChainMaps<Self>>,
        weights: Vec<&Vec<T>>,
        cols: usize,
        outs: Vec<&mut Vec<T>>,
    ) -> Done {
        self.chains_there(&chains, &weights, cols, outs)
    }

    fn map_chains_gradient(
        &self,
        chains: Vec<ChainMaps<Self>>,
        dy: &Vec<T>,
        cols: usize,
        outs: Vec<&mut Vec<T>>,
    ) -> Done {
        self.chains_back(&chains, dy, cols, outs)
    }

    fn joins_channels(&self, cols: usize, classes: usize) -> bool {
        let lanes = cols > 0 && cols.is_multiple_of(join::LANES);
        lanes && (1..=join::CLASSES).contains(&classes)
    }

    fn read_channels(
        &self,
        of: &JoinedChannels<Self>,
        x: (&Vec<T>, Shape),
        bias: &Vec<T>,
        kept: &mut Vec<T>,
        y: &mut Vec<T>,
    ) -> Done {
        self.read_rows(of, (x.0, x.1), bias, kept, y);
        Ok(())
    }

    fn read_channels_gradient(
        &self,
        of: &JoinedChannels<Self>,
        back: JoinedGradient<Self>,
        shape: Shape,
    ) -> Done {
        self.read_rows_gradient(of, back, shape);
        Ok(())
    }

    fn log_softmax(&self, x: (&Vec<T>, Shape), y: &mut Vec<T>) -> Done {
        self.sweep(nll_loss::LogSoftmax { x: x.0, shape: x.1, y });
        Ok(())
    }

    fn targets(&self, lanes: &[&[(u32, u32)]], to: &mut Vec<(u32, u32)>) -> Done {
        let [pairs] = lanes else {
            let problem = format!("targets for {} lanes where there is one", lanes.len());
            return Err(EngineError::Unsupported(problem));
        };
        to.clear();
        to.extend_from_slice(pairs);
        Ok(())
    }

    fn nll_loss(
        &self,
        y: (&Vec<T>, Shape),
        targets: &Vec<(u32, u32)>,
    ) -> Result<(f64, usize), EngineError> {
        Ok(self.sweep(nll_loss::Mean { y: y.0, shape: y.1, targets }))
    }

    fn nll_loss_gradient(
        &self,
        y: (&Vec<T>, Shape),
        targets: &Vec<(u32, u32)>,
        dx: &mut Vec<T>,
    ) -> Done {
        self.sweep(nll_loss::Gradient { y: y.0, shape: y.1, targets, dx });
        Ok(())
    }
}

impl<T: Scalar> Cpu<T> {
    /// `y = factor·x`, or `y += factor·x`, as far as both go.
    fn scaled(&self, factor: T, x: &[T], y: &mut [T], add: bool) {
        self.sweep_blocks(y, |first, y| {
            let x = &x[first.min(x.len())..];
            self.instructions.compute(columns::Scale { factor, x, y, add });
        });
    }

    /// What gradients are multiplied with so that their norm is `most` at most.
    pub fn clip<'a>(
        &self,
        gradients: impl Iterator<Item = Result<&'a Vec<T>, EngineError>>,
        most: f64,
        factor: &mut [T],
    ) -> Done {
        let squares = |x: &Vec<T>| x.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
        let norm = gradients.map(|x| x.map(squares)).sum::<Result<f64, _>>()?.sqrt();
        factor.fill(T::from_f64((most / norm.max(most)).min(1.0)));
        Ok(())
    }

    /// One Adam step on `weights` with their first and second moments; the gradient is multiplied with the first number of
    /// `clip` before.
    pub fn adam(
        &self,
        step: AdamStep,
        clip: Option<&Vec<T>>,
        gradient: &[T],
        weights: &mut [T],
        [first, second]: [&mut Vec<T>; 2],
    ) -> Done {
        let clip = clip.and_then(|clip| clip.first()).copied().unwrap_or(T::ONE);
        let adam = |gradient, weights, first, second| {
            let work = optimise::Adam { step, clip, gradient, weights, first, second };
            self.instructions.compute(work);
        };
        self.clock.time(Work::Optimiser, || {
            if !self.parallel || weights.len() <= 2 * BLOCK {
                return adam(gradient, weights, first, second);
            }
            let moments = first.par_chunks_mut(BLOCK).zip(second.par_chunks_mut(BLOCK));
            let blocks = weights.par_chunks_mut(BLOCK).zip(gradient.par_chunks(BLOCK));
            blocks.zip(moments).for_each(|((weights, gradient), (first, second))| {
                adam(gradient, weights, first, second);
            });
        });
        Ok(())
    }
}
