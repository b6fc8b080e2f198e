//! The engine that works in main memory.

mod activation;
mod columns;
mod likelihood;
mod optimise;
mod product;
mod sparse;

use super::engine::{Activation, AdamStep, Engine, Side};
use super::philox::philox;
use super::{Map, Scalar, Shape};
use crate::operator::instructions::Instructions;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// Matrices in main memory; dense products by faer, loops compiled for the processor's vectors.
#[derive(Debug)]
pub struct Cpu<T> {
    instructions: Instructions,
    /// Whether large products are shared between threads.
    parallel: bool,
    /// Blocks that filters work in, kept for the next time.
    scratch: Mutex<Vec<Vec<T>>>,
    precision: PhantomData<T>,
}

impl<T: Scalar> Cpu<T> {
    /// An engine that shares large products between the threads of the current pool.
    pub fn parallel() -> Self {
        Self { parallel: true, ..Self::sequential() }
    }

    /// An engine that keeps to the calling thread. Its results are those of the parallel one.
    pub fn sequential() -> Self {
        Self {
            instructions: Instructions::detect(),
            parallel: false,
            scratch: Mutex::new(Vec::new()),
            precision: PhantomData,
        }
    }

    /// A block of `len` numbers of any value, from the pool where it has one.
    fn take(&self, len: usize) -> Vec<T> {
        let mut pool = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pool.iter().position(|block| block.len() == len);
        found.map_or_else(|| vec![T::ZERO; len], |at| pool.swap_remove(at))
    }

    fn give(&self, block: Vec<T>) {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(block);
    }
}

impl<T: Scalar> Engine for Cpu<T> {
    type Real = T;
    type Buffer = Vec<T>;
    type Map = Map<T>;

    fn zeros(&self, len: usize) -> Vec<T> {
        vec![T::ZERO; len]
    }

    fn len(&self, buffer: &Vec<T>) -> usize {
        buffer.len()
    }

    fn clear(&self, buffer: &mut Vec<T>) {
        buffer.fill(T::ZERO);
    }

    fn upload(&self, numbers: &[T], to: &mut Vec<T>) {
        to.copy_from_slice(numbers);
    }

    fn copy(&self, from: &Vec<T>, to: &mut Vec<T>) {
        to.copy_from_slice(from);
    }

    fn download(&self, from: &Vec<T>, numbers: &mut [T]) {
        numbers.copy_from_slice(from);
    }

    fn product(
        &self,
        left: Side<Vec<T>>,
        right: Side<Vec<T>>,
        out: (&mut Vec<T>, Shape),
        add: bool,
    ) {
        let left = product::Factor::new(left.buffer, left.shape, left.adjoint);
        let right = product::Factor::new(right.buffer, right.shape, right.adjoint);
        product::product(left, right, (out.0, out.1), add, self.parallel);
    }

    fn map_shape(&self, map: &Map<T>) -> Shape {
        map.shape
    }

    fn map(&self, map: &Map<T>, x: (&Vec<T>, Shape), y: (&mut Vec<T>, Shape)) {
        self.apply(map, false, x, y, false);
    }

    fn map_adjoint(&self, map: &Map<T>, y: (&Vec<T>, Shape), x: (&mut Vec<T>, Shape)) {
        self.apply(map, true, y, x, true);
    }

    fn add_bias(&self, bias: &Vec<T>, y: (&mut Vec<T>, Shape)) {
        self.instructions.run(|| columns::add_bias(bias, y.0));
    }

    fn sum_rows(&self, y: (&Vec<T>, Shape), bias: &mut Vec<T>) {
        self.instructions.run(|| columns::sum_rows(y.0, bias));
    }

    fn activate(&self, f: Activation, shape: Shape, x: &Vec<T>, y: &mut Vec<T>) {
        self.instructions.run(|| activation::forward(f, shape, x, y));
    }

    fn activate_gradient(
        &self,
        f: Activation,
        shape: Shape,
        x: &Vec<T>,
        y: &Vec<T>,
        dy: &Vec<T>,
        dx: &mut Vec<T>,
    ) {
        self.instructions.run(|| activation::gradient(f, shape, x, y, dy, dx));
    }

    fn draw_mask(&self, rate: f64, key: [u32; 4], shape: Shape, mask: &mut Vec<T>) {
        let parts = shape.field.parts();
        let keep = T::from_f64(1.0 / (1.0 - rate));
        // An entry is dropped where its 32 bits fall below the rate.
        let threshold = (rate * 4_294_967_296.0) as u64;
        let place = |entry: u32| [entry, key[2], key[3], 0];
        self.instructions.run(|| {
            for (block, chunk) in mask.chunks_mut(4 * parts).enumerate() {
                let draws = philox(place(block as u32), [key[0], key[1]]);
                for (entry, draw) in chunk.chunks_mut(parts).zip(draws) {
                    let kept = u64::from(draw) >= threshold;
                    entry.fill(if kept { keep } else { T::ZERO });
                }
            }
        });
    }

    fn multiply(&self, a: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>) {
        self.instructions.run(|| columns::combine(a, x, y, |a, x, _| a * x));
    }

    fn multiply_add(&self, a: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>) {
        self.instructions.run(|| columns::combine(a, x, y, |a, x, y| y + a * x));
    }

    fn add(&self, x: &Vec<T>, y: &mut Vec<T>) {
        self.instructions.run(|| columns::combine(x, x, y, |x, _, y| y + x));
    }

    fn put_columns(&self, x: (&Vec<T>, Shape), y: (&mut Vec<T>, Shape), at: usize) {
        columns::put(x, y, at);
    }

    fn add_columns(&self, y: (&Vec<T>, Shape), at: usize, x: (&mut Vec<T>, Shape)) {
        columns::add_back(y, at, x);
    }

    fn log_softmax(&self, x: (&Vec<T>, Shape), y: &mut Vec<T>) {
        self.instructions.run(|| likelihood::log_softmax(x.0, x.1, y));
    }

    fn likelihood(&self, y: (&Vec<T>, Shape), targets: &[(u32, u32)]) -> (f64, usize) {
        likelihood::mean(y.0, y.1, targets)
    }

    fn likelihood_gradient(&self, y: (&Vec<T>, Shape), targets: &[(u32, u32)], dx: &mut Vec<T>) {
        likelihood::gradient(y.0, y.1, targets, dx);
    }

    fn square_norm(&self, x: &Vec<T>) -> f64 {
        x.iter().map(|x| x.to_f64() * x.to_f64()).sum()
    }

    fn adam(
        &self,
        step: AdamStep,
        gradient: &Vec<T>,
        weights: &mut Vec<T>,
        first: &mut Vec<T>,
        second: &mut Vec<T>,
    ) {
        self.instructions.run(|| optimise::adam(step, gradient, weights, first, second));
    }
}
