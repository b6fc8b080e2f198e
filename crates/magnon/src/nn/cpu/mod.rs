//! The engine that works in main memory.

mod activation;
mod clock;
mod columns;
mod kernel;
mod likelihood;
mod mask;
mod optimise;
mod product;
mod sparse;

use clock::{Clock, Work};

pub use clock::Breakdown;

use super::engine::{Activation, AdamStep, Engine, Side};
use super::{Map, Scalar, Shape};
use crate::operator::instructions::{Instructions, Kernel};
use std::sync::{Mutex, PoisonError};

/// Matrices in main memory; dense products by faer, loops compiled for the processor's vectors.
#[derive(Debug)]
pub struct Cpu<T> {
    instructions: Instructions,
    /// Whether large products are shared between threads.
    parallel: bool,
    /// Blocks that filters work in, kept for the next time.
    scratch: Mutex<Vec<Vec<T>>>,
    clock: Clock,
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
            clock: Clock::default(),
        }
    }

    /// A sequential engine that measures where its time goes.
    pub fn timed() -> Self {
        Self { clock: Clock::on(), ..Self::sequential() }
    }

    /// Where the time went so far; zero unless the engine is [`timed`](Self::timed).
    pub fn breakdown(&self) -> Breakdown {
        self.clock.breakdown()
    }

    /// Elementwise work in the best instructions.
    #[inline(always)]
    fn sweep<K: Kernel>(&self, kernel: K) -> K::Output {
        self.clock.time(Work::Elementwise, || self.instructions.compute(kernel))
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
        self.clock.time(Work::Products, || {
            product::product(left, right, (out.0, out.1), add, self.parallel)
        });
    }

    fn map_shape(&self, map: &Map<T>) -> Shape {
        map.shape
    }

    fn map(&self, map: &Map<T>, x: (&Vec<T>, Shape), y: (&mut Vec<T>, Shape)) {
        self.clock.time(Work::Products, || self.apply(map, false, x, y, false));
    }

    fn map_adjoint(&self, map: &Map<T>, y: (&Vec<T>, Shape), x: (&mut Vec<T>, Shape), add: bool) {
        self.clock.time(Work::Products, || self.apply(map, true, y, x, add));
    }

    fn add_bias(&self, bias: &Vec<T>, y: (&mut Vec<T>, Shape)) {
        self.sweep(columns::AddBias { bias, y: y.0 });
    }

    fn sum_rows(&self, y: (&Vec<T>, Shape), bias: &mut Vec<T>, add: bool) {
        self.sweep(columns::SumRows { y: y.0, bias, add });
    }

    fn activate(&self, f: Activation, shape: Shape, x: &Vec<T>, y: &mut Vec<T>) {
        self.sweep(activation::Forward { f, shape, x, y });
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
        self.sweep(activation::Gradient { f, shape, x, y, dy, dx });
    }

    fn draw_mask(&self, rate: f64, key: [u32; 4], shape: Shape, mask: &mut Vec<T>) {
        self.sweep(mask::Draw { rate, key, shape, mask });
    }

    fn multiply(&self, a: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>) {
        self.sweep(columns::Multiply { a, x, y });
    }

    fn multiply_add(&self, a: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>) {
        self.sweep(columns::MultiplyAdd { a, x, y });
    }

    fn put_columns(&self, x: (&Vec<T>, Shape), y: (&mut Vec<T>, Shape), at: usize) {
        columns::put(x, y, at);
    }

    fn add_columns(&self, y: (&Vec<T>, Shape), at: usize, x: (&mut Vec<T>, Shape)) {
        columns::add_back(y, at, x);
    }

    fn log_softmax(&self, x: (&Vec<T>, Shape), y: &mut Vec<T>) {
        self.sweep(likelihood::LogSoftmax { x: x.0, shape: x.1, y });
    }

    fn likelihood(&self, y: (&Vec<T>, Shape), targets: &[(u32, u32)]) -> (f64, usize) {
        self.sweep(likelihood::Mean { y: y.0, shape: y.1, targets })
    }

    fn likelihood_gradient(&self, y: (&Vec<T>, Shape), targets: &[(u32, u32)], dx: &mut Vec<T>) {
        self.sweep(likelihood::Gradient { y: y.0, shape: y.1, targets, dx });
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
        self.clock.time(Work::Optimiser, || {
            self.instructions.compute(optimise::Adam { step, gradient, weights, first, second })
        });
    }
}
