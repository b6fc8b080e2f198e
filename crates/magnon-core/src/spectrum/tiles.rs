//! Tall thin matrices made of tiles, and the products between them.
//!
//! A tile holds a node's entries in one line of eight numbers: eight real columns, or the real parts
//! of four complex columns followed by their imaginary parts. Every product of two tiles is therefore
//! made of real 8 × 8 blocks, whichever of the two it is; only the small matrices know.

use crate::compute::instructions::Instructions;
use crate::compute::tile::{F64_LANES as N, Line};
use crate::matrix::Matrix;
use faer::{Mat, c64};
use num_complex::Complex64;
use rayon::prelude::*;

pub type Tile = Vec<Line<f64, N>>;
pub(crate) use crate::compute::steps::Block;

/// Rows that one task works on; sums are made over these and added in order.
fn rows_a_task(nodes: usize) -> usize {
    nodes.div_ceil(512).max(256)
}

/// Orthonormal columns under the inner product Σ_u w(u)·conj(a(u))·b(u), in tiles.
pub struct Basis<const COMPLEX: bool> {
    /// For each run of rows its part of every tile, one after the other.
    runs: Vec<Vec<Line<f64, N>>>,
    rows: usize,
    nodes: usize,
    pub tiles: usize,
    set: Instructions,
}

/// Columns of a tile.
pub const fn width(complex: bool) -> usize {
    if complex { N / 2 } else { N }
}

impl<const COMPLEX: bool> Basis<COMPLEX> {
    const WIDTH: usize = width(COMPLEX);

    pub fn new(nodes: usize, set: Instructions) -> Self {
        let rows = rows_a_task(nodes);
        Self { runs: vec![Vec::new(); nodes.div_ceil(rows)], rows, nodes, tiles: 0, set }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.tiles * Self::WIDTH
    }

    pub fn push(&mut self, tile: &Tile) {
        self.runs.par_iter_mut().zip(tile.par_chunks(self.rows)).for_each(|(run, rows)| {
            run.extend_from_slice(rows);
        });
        self.tiles += 1;
    }

    /// VᴴW: the inner products of all columns with those of a tile.
    pub fn inner(&self, weights: &[f64], tile: &Tile) -> Mat<c64> {
        let parts: Vec<Vec<Block>> = self
            .runs
            .par_iter()
            .zip(tile.par_chunks(self.rows))
            .zip(weights.par_chunks(self.rows))
            .map(|((run, rows), weights)| {
                let tiles = run.chunks_exact(rows.len().max(1));
                tiles.map(|part| self.set.run(|| outer(weights, part, rows))).collect()
            })
            .collect();
        gather::<COMPLEX>(&sum(parts, self.tiles))
    }

    /// `tile` ← `keep`·`tile` + V·C, for the columns of C.
    pub fn add_to(&self, coefficients: &Mat<c64>, keep: f64, tile: &mut Tile) {
        let blocks = scatter::<COMPLEX>(coefficients, self.tiles);
        self.runs.par_iter().zip(tile.par_chunks_mut(self.rows)).for_each(|(run, rows)| {
            self.set.run(|| {
                rows.iter_mut().for_each(|line| line.0.iter_mut().for_each(|x| *x *= keep));
                for (part, block) in run.chunks_exact(rows.len().max(1)).zip(&blocks) {
                    multiply(part, block, rows);
                }
            });
        });
    }

    /// V ← V·C, where C has whole tiles of columns.
    pub fn rotate(&mut self, coefficients: &Mat<c64>) {
        let tiles = coefficients.ncols() / Self::WIDTH;
        let blocks: Vec<Vec<Block>> = (0..tiles)
            .map(|t| {
                let columns = coefficients.subcols(t * Self::WIDTH, Self::WIDTH).to_owned();
                scatter::<COMPLEX>(&columns, self.tiles)
            })
            .collect();
        let (size, nodes, set) = (self.rows, self.nodes, self.set);
        self.runs.par_iter_mut().enumerate().for_each(|(i, run)| {
            let rows = size.min(nodes - i * size);
            let mut turned = vec![Line::ZERO; tiles * rows];
            set.run(|| {
                for (out, blocks) in turned.chunks_exact_mut(rows).zip(&blocks) {
                    for (part, block) in run.chunks_exact(rows).zip(blocks) {
                        multiply(part, block, out);
                    }
                }
            });
            run.clear();
            run.extend_from_slice(&turned);
        });
        self.tiles = tiles;
    }

    /// Writes the first columns to a matrix, row u times `factor(u)`.
    pub fn write(&self, out: &mut Matrix<Complex64>, factors: Option<&[f64]>) {
        let (cols, size) = (out.cols(), self.rows);
        let runs = out.as_mut_slice().par_chunks_mut(size * cols).zip(&self.runs).enumerate();
        runs.for_each(|(i, (cells, run))| {
            let rows = cells.len() / cols;
            for (r, row) in cells.chunks_exact_mut(cols).enumerate() {
                let factor = factors.map_or(1.0, |factors| factors[i * size + r]);
                for (j, cell) in row.iter_mut().enumerate() {
                    let line = &run[j / Self::WIDTH * rows + r].0;
                    let re = line[j % Self::WIDTH];
                    let im = if COMPLEX { line[Self::WIDTH + j % Self::WIDTH] } else { 0.0 };
                    *cell = factor * Complex64::new(re, im);
                }
            }
        });
    }

    /// One tile of the columns.
    pub fn tile(&self, index: usize) -> Tile {
        let mut tile = Vec::with_capacity(self.nodes);
        for (i, run) in self.runs.iter().enumerate() {
            let rows = self.rows.min(self.nodes - i * self.rows);
            tile.extend_from_slice(&run[index * rows..(index + 1) * rows]);
        }
        tile
    }
}

/// AᴴB of two tiles.
pub fn gram<const COMPLEX: bool>(weights: &[f64], a: &Tile, b: &Tile) -> Mat<c64> {
    let rows = rows_a_task(a.len());
    let set = Instructions::detect();
    let parts: Vec<Vec<Block>> = a
        .par_chunks(rows)
        .zip(b.par_chunks(rows))
        .zip(weights.par_chunks(rows))
        .map(|((a, b), weights)| vec![set.run(|| outer(weights, a, b))])
        .collect();
    gather::<COMPLEX>(&sum(parts, 1))
}

/// A ← A·C for one tile.
pub fn turn<const COMPLEX: bool>(tile: &mut Tile, coefficients: &Mat<c64>) {
    let blocks = scatter::<COMPLEX>(coefficients, 1);
    let set = Instructions::detect();
    tile.par_chunks_mut(1 << 12).for_each(|rows| {
        let before = rows.to_vec();
        rows.fill(Line::ZERO);
        set.run(|| multiply(&before, &blocks[0], rows));
    });
}

/// Σ_u w(u)·a(u)ᵀb(u) over the rows of two tiles, all 64 products.
#[inline(always)]
fn outer(weights: &[f64], a: &[Line<f64, N>], b: &[Line<f64, N>]) -> Block {
    let mut sum = [[0.0; N]; N];
    for ((w, a), b) in weights.iter().zip(a).zip(b) {
        for (sum, a) in sum.iter_mut().zip(&a.0) {
            let a = w * a;
            (0..N).for_each(|j| sum[j] += a * b.0[j]);
        }
    }
    sum
}

/// out(u) ← out(u) + a(u)·block.
#[inline(always)]
fn multiply(a: &[Line<f64, N>], block: &Block, out: &mut [Line<f64, N>]) {
    for (a, out) in a.iter().zip(out) {
        let mut sum = out.0;
        for (a, row) in a.0.iter().zip(block) {
            (0..N).for_each(|j| sum[j] += a * row[j]);
        }
        out.0 = sum;
    }
}

/// Sums the parts in their order.
fn sum(parts: Vec<Vec<Block>>, tiles: usize) -> Vec<Block> {
    let mut total = vec![[[0.0; N]; N]; tiles];
    for part in &parts {
        for (total, part) in total.iter_mut().zip(part) {
            for (total, part) in total.iter_mut().flatten().zip(part.iter().flatten()) {
                *total += part;
            }
        }
    }
    total
}

/// Real blocks of inner products as one matrix, a tile of rows for each block.
pub fn gather<const COMPLEX: bool>(blocks: &[Block]) -> Mat<c64> {
    let w = width(COMPLEX);
    Mat::from_fn(blocks.len() * w, w, |i, j| {
        let (block, i) = (&blocks[i / w], i % w);
        if COMPLEX {
            let re = block[i][j] + block[w + i][w + j];
            c64::new(re, block[i][w + j] - block[w + i][j])
        } else {
            c64::new(block[i][j], 0.0)
        }
    })
}

/// A matrix of coefficients, a tile of rows for each block, as real blocks.
pub fn scatter<const COMPLEX: bool>(coefficients: &Mat<c64>, tiles: usize) -> Vec<Block> {
    let w = width(COMPLEX);
    let block = |t: usize| {
        let mut block = [[0.0; N]; N];
        for i in 0..w {
            for j in 0..w.min(coefficients.ncols()) {
                let c = coefficients[(t * w + i, j)];
                block[i][j] = c.re;
                if COMPLEX {
                    block[w + i][j] = -c.im;
                    block[i][w + j] = c.im;
                    block[w + i][w + j] = c.re;
                }
            }
        }
        block
    };
    (0..tiles).map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(i: usize) -> f64 {
        ((i * 37 + 11) % 101) as f64 / 50.0 - 1.0
    }

    fn tile(nodes: usize, salt: usize) -> Tile {
        let line = |u: usize| Line(std::array::from_fn(|j| value(u * 8 + j + salt)));
        (0..nodes).map(line).collect()
    }

    fn matrix<const COMPLEX: bool>(tiles: &[&Tile]) -> Mat<c64> {
        let w = width(COMPLEX);
        Mat::from_fn(tiles[0].len(), w * tiles.len(), |u, j| {
            let line = tiles[j / w][u].0;
            c64::new(line[j % w], if COMPLEX { line[w + j % w] } else { 0.0 })
        })
    }

    fn check<const COMPLEX: bool>() {
        let nodes = 700;
        let (a, b, x) = (tile(nodes, 0), tile(nodes, 5), tile(nodes, 9));
        let weights: Vec<f64> = (0..nodes).map(|u| 1.0 + (u % 7) as f64).collect();
        let mut basis = Basis::<COMPLEX>::new(nodes, Instructions::detect());
        basis.push(&a);
        basis.push(&b);
        let (v, w) = (matrix::<COMPLEX>(&[&a, &b]), matrix::<COMPLEX>(&[&x]));
        let weighted = Mat::from_fn(nodes, w.ncols(), |u, j| w[(u, j)] * weights[u]);
        let inner = basis.inner(&weights, &x);
        assert!((&inner - v.adjoint() * &weighted).norm_max() < 1e-10);
        let mut out = x.clone();
        basis.add_to(&inner, -0.5, &mut out);
        let expected = &v * &inner - &w * faer::Scale(c64::from(0.5));
        assert!((matrix::<COMPLEX>(&[&out]) - expected).norm_max() < 1e-9);
        basis.rotate(&inner);
        assert_eq!(basis.tiles, 1);
        let all = basis.inner(&weights, &x);
        assert!((all - (&v * &inner).adjoint() * &weighted).norm_max() < 1e-6);
    }

    #[test]
    fn tiles_multiply_as_matrices() {
        check::<true>();
        check::<false>();
    }
}
