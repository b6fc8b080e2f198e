//! `Space`: where the search for eigenpairs has its vectors, and what it does with them there.

use super::SpectrumError;
use super::target::Target;
use super::tiles::{Basis, Block, Tile, gather, gram, scatter, turn, width};
use crate::compute::EngineError;
use crate::compute::instructions::Instructions;
use crate::compute::steps::HeldTiles;
use crate::compute::tile::{F64_LANES as N, flat, flat_mut, tile};
use faer::{Mat, c64};
use rayon::prelude::*;

/// A basis V, and tiles beside it.
pub trait Space<const COMPLEX: bool> {
    /// A tile of all nodes.
    type Tile;
    /// Tiles of the basis.
    fn tiles(&self) -> usize;
    /// A tile with these numbers.
    fn bring(&mut self, numbers: Tile) -> Result<Self::Tile, EngineError>;
    /// The numbers of a tile.
    fn numbers(&mut self, of: Self::Tile) -> Result<Tile, EngineError>;
    /// T_m of the target, as [`Target::filter`].
    fn filter(
        &mut self,
        of: Self::Tile,
        degree: usize,
        cut: f64,
    ) -> Result<Self::Tile, EngineError>;
    /// V·C for one tile of columns.
    fn combined(&mut self, coefficients: &Mat<c64>) -> Result<Self::Tile, EngineError>;
    /// ‖Bu − θu‖ for the columns of a tile.
    fn residuals(&mut self, of: &mut Self::Tile, theta: &[f64]) -> Result<Vec<f64>, EngineError>;
    /// Takes from a tile what lies along the basis.
    fn separate(&mut self, of: &mut Self::Tile) -> Result<(), EngineError>;
    /// AᴴA.
    fn gram(&mut self, of: &Self::Tile) -> Result<Mat<c64>, EngineError>;
    /// A ← A·C.
    fn turn(&mut self, of: &mut Self::Tile, coefficients: &Mat<c64>) -> Result<(), EngineError>;
    /// Joins a tile to the basis, and gives VᴴBA.
    fn join(&mut self, new: Self::Tile) -> Result<Mat<c64>, EngineError>;
    /// V ← V·C, where C has whole tiles of columns.
    fn rotate(&mut self, coefficients: &Mat<c64>) -> Result<(), EngineError>;
    /// The basis in main memory.
    fn finish(self) -> Result<Basis<COMPLEX>, EngineError>;
}

/// Vectors in main memory.
pub struct HostSpace<'a, 'b, const COMPLEX: bool> {
    target: &'a Target<'b, COMPLEX>,
    basis: Basis<COMPLEX>,
    nodes: usize,
    work: Tile,
    image: Tile,
}

impl<'a, 'b, const COMPLEX: bool> HostSpace<'a, 'b, COMPLEX> {
    pub fn new(target: &'a Target<'b, COMPLEX>, nodes: usize) -> Self {
        let basis = Basis::new(nodes, Instructions::detect());
        Self { target, basis, nodes, work: Vec::new(), image: tile(nodes) }
    }
}

impl<const COMPLEX: bool> Space<COMPLEX> for HostSpace<'_, '_, COMPLEX> {
    type Tile = Tile;

    fn tiles(&self) -> usize {
        self.basis.tiles
    }

    fn bring(&mut self, numbers: Tile) -> Result<Tile, EngineError> {
        Ok(numbers)
    }

    fn numbers(&mut self, of: Tile) -> Result<Tile, EngineError> {
        Ok(of)
    }

    fn filter(&mut self, mut of: Tile, degree: usize, cut: f64) -> Result<Tile, EngineError> {
        self.target.filter(&mut of, degree, cut, &mut self.work)?;
        Ok(of)
    }

    fn combined(&mut self, coefficients: &Mat<c64>) -> Result<Tile, EngineError> {
        let mut block = tile(self.nodes);
        self.basis.add_to(coefficients, 0.0, &mut block);
        Ok(block)
    }

    fn residuals(&mut self, of: &mut Tile, theta: &[f64]) -> Result<Vec<f64>, EngineError> {
        self.target.product(of, &mut self.image, &mut self.work)?;
        let width = width(COMPLEX);
        let lines = self.image.par_iter_mut().zip(of.par_iter()).with_min_len(1 << 12);
        lines.for_each(|(image, line)| {
            for j in 0..N {
                image.0[j] -= theta[j % width] * line.0[j];
            }
        });
        let squares = gram::<COMPLEX>(&self.target.weights, &self.image, &self.image);
        Ok(norms(&squares))
    }

    fn separate(&mut self, of: &mut Tile) -> Result<(), EngineError> {
        if self.basis.tiles > 0 {
            let along = self.basis.inner(&self.target.weights, of);
            self.basis.add_to(&negative(&along), 1.0, of);
        }
        Ok(())
    }

    fn gram(&mut self, of: &Tile) -> Result<Mat<c64>, EngineError> {
        Ok(gram::<COMPLEX>(&self.target.weights, of, of))
    }

    fn turn(&mut self, of: &mut Tile, coefficients: &Mat<c64>) -> Result<(), EngineError> {
        turn::<COMPLEX>(of, coefficients);
        Ok(())
    }

    fn join(&mut self, mut new: Tile) -> Result<Mat<c64>, EngineError> {
        self.basis.push(&new);
        self.target.product(&mut new, &mut self.image, &mut self.work)?;
        Ok(self.basis.inner(&self.target.weights, &self.image))
    }

    fn rotate(&mut self, coefficients: &Mat<c64>) -> Result<(), EngineError> {
        self.basis.rotate(coefficients);
        Ok(())
    }

    fn finish(self) -> Result<Basis<COMPLEX>, EngineError> {
        Ok(self.basis)
    }
}

fn norms(squares: &Mat<c64>) -> Vec<f64> {
    (0..squares.ncols()).map(|j| squares[(j, j)].re.max(0.0).sqrt()).collect()
}

fn negative(of: &Mat<c64>) -> Mat<c64> {
    Mat::from_fn(of.nrows(), of.ncols(), |i, j| -of[(i, j)])
}

/// Vectors that stay where the steps are made, as on a card: small matrices go there and back.
pub struct There<'a, 'b, const COMPLEX: bool> {
    target: &'a Target<'b, COMPLEX>,
    held: &'a dyn HeldTiles,
    nodes: usize,
    basis: Vec<usize>,
    /// Three that steps work in.
    work: [usize; 3],
}

impl<'a, 'b, const COMPLEX: bool> There<'a, 'b, COMPLEX> {
    pub fn new(
        target: &'a Target<'b, COMPLEX>,
        held: &'a dyn HeldTiles,
        nodes: usize,
    ) -> Result<Self, EngineError> {
        let work = [held.room()?, held.room()?, held.room()?];
        Ok(Self { target, held, nodes, basis: Vec::new(), work })
    }

    /// B·A into the first of the working tiles.
    fn image(&self, of: usize) -> Result<usize, EngineError> {
        let [image, between, _] = self.work;
        self.held.advance([of, image, between], &self.target.product_steps())?;
        Ok(image)
    }

    fn inner(&self, many: &[usize], one: usize) -> Result<Mat<c64>, EngineError> {
        Ok(gather::<COMPLEX>(&self.held.products(many, one)?))
    }

    fn add(
        &self,
        many: &[usize],
        coefficients: &Mat<c64>,
        keep: f64,
        to: usize,
    ) -> Result<(), EngineError> {
        let blocks: Vec<Block> = scatter::<COMPLEX>(coefficients, many.len());
        self.held.combine(many, &blocks, keep, to)
    }
}

impl<const COMPLEX: bool> Drop for There<'_, '_, COMPLEX> {
    fn drop(&mut self) {
        self.basis.iter().chain(&self.work).for_each(|&tile| self.held.free(tile));
    }
}

/// A tile there; its place is free again when it goes.
pub struct Place<'a> {
    held: &'a dyn HeldTiles,
    at: usize,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.held.free(self.at);
    }
}

impl<'a, const COMPLEX: bool> Space<COMPLEX> for There<'a, '_, COMPLEX> {
    type Tile = Place<'a>;

    fn tiles(&self) -> usize {
        self.basis.len()
    }

    fn bring(&mut self, numbers: Tile) -> Result<Place<'a>, EngineError> {
        let at = self.held.put(flat(&numbers))?;
        Ok(Place { held: self.held, at })
    }

    fn numbers(&mut self, of: Place<'a>) -> Result<Tile, EngineError> {
        let mut numbers = tile(self.nodes);
        self.held.get(of.at, flat_mut(&mut numbers))?;
        Ok(numbers)
    }

    fn filter(
        &mut self,
        mut of: Place<'a>,
        degree: usize,
        cut: f64,
    ) -> Result<Place<'a>, EngineError> {
        let (steps, last) = self.target.filter_steps(degree, cut);
        let [other, between, _] = self.work;
        self.held.advance([of.at, other, between], &steps)?;
        if last == 1 {
            std::mem::swap(&mut of.at, &mut self.work[0]);
        }
        Ok(of)
    }

    fn combined(&mut self, coefficients: &Mat<c64>) -> Result<Place<'a>, EngineError> {
        let place = Place { held: self.held, at: self.held.room()? };
        self.add(&self.basis, coefficients, 0.0, place.at)?;
        Ok(place)
    }

    fn residuals(&mut self, of: &mut Place<'a>, theta: &[f64]) -> Result<Vec<f64>, EngineError> {
        let (image, width) = (self.image(of.at)?, width(COMPLEX));
        let value = |i: usize, j: usize| if i == j { c64::from(-theta[i]) } else { c64::ZERO };
        self.add(&[of.at], &Mat::from_fn(width, width, value), 1.0, image)?;
        Ok(norms(&self.inner(&[image], image)?))
    }

    fn separate(&mut self, of: &mut Place<'a>) -> Result<(), EngineError> {
        if self.basis.is_empty() {
            return Ok(());
        }
        let along = self.inner(&self.basis, of.at)?;
        self.add(&self.basis, &negative(&along), 1.0, of.at)
    }

    fn gram(&mut self, of: &Place<'a>) -> Result<Mat<c64>, EngineError> {
        self.inner(&[of.at], of.at)
    }

    fn turn(&mut self, of: &mut Place<'a>, coefficients: &Mat<c64>) -> Result<(), EngineError> {
        self.add(&[of.at], coefficients, 0.0, self.work[0])?;
        std::mem::swap(&mut of.at, &mut self.work[0]);
        Ok(())
    }

    fn join(&mut self, new: Place<'a>) -> Result<Mat<c64>, EngineError> {
        let image = self.image(new.at)?;
        self.basis.push(new.at);
        std::mem::forget(new); // the basis has its place now
        self.inner(&self.basis, image)
    }

    fn rotate(&mut self, coefficients: &Mat<c64>) -> Result<(), EngineError> {
        let width = width(COMPLEX);
        let mut turned: Vec<Place> = Vec::new();
        for t in 0..coefficients.ncols() / width {
            turned.push(self.combined(&coefficients.subcols(t * width, width).to_owned())?);
        }
        let before = std::mem::take(&mut self.basis);
        before.into_iter().for_each(|tile| self.held.free(tile));
        for place in turned {
            self.basis.push(place.at);
            std::mem::forget(place);
        }
        Ok(())
    }

    fn finish(self) -> Result<Basis<COMPLEX>, EngineError> {
        let mut basis = Basis::new(self.nodes, Instructions::detect());
        let mut numbers = tile(self.nodes);
        for &at in &self.basis {
            self.held.get(at, flat_mut(&mut numbers))?;
            basis.push(&numbers);
        }
        Ok(basis)
    }
}

/// What the search does in whichever space its target has.
pub trait InSpace<const COMPLEX: bool> {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run<S: Space<COMPLEX>>(self, space: S) -> Result<Self::Output, SpectrumError>;
}

/// Does the work where the target's steps are made.
pub fn in_space<const COMPLEX: bool, W: InSpace<COMPLEX>>(
    target: &Target<COMPLEX>,
    nodes: usize,
    work: W,
) -> Result<W::Output, SpectrumError> {
    match target.held() {
        Some(held) => work.run(There::new(target, held, nodes)?),
        None => work.run(HostSpace::new(target, nodes)),
    }
}
