//! `Kernels`: what a device has to be able to do.

use super::activation::Activation;
use super::attention::{Attention, AttentionGradient};
use super::chains::ChainMaps;
use super::joined_channels::{JoinedChannels, JoinedGradient};
use super::lanes::Relabelling;
use super::operands::{Done, DrawKey, Factor, Side};
use super::{EngineError, MapSource, Scalar, Shape};

/// How a device stores matrices and maps.
pub trait Storage {
    /// A row of numbers where the device has them.
    type Buffer: Send + Sync;
    /// A fixed linear map, prepared for the device.
    type Map: Send + Sync;
}

/// Where matrices live, and the products and maps on them. The tape, the models and the trainer know
/// nothing else, so that a device needs no more than this.
///
/// Where `add` is true, a result goes on top of what its buffer holds. Results do not depend on the
/// number of threads.
pub(crate) trait Kernels: Storage + Send + Sync + Sized + 'static {
    /// The precision.
    type Real: Scalar;
    /// Targets (row, class) of a loss, where the engine has them.
    type Targets: Default + Send + Sync;

    /// An engine on the same device that leaves the other threads to its siblings.
    fn sequential(&self) -> Self;

    /// From here on, operations aside may run beside the others; all that were asked for are before both.
    fn fork(&self) -> Done {
        Ok(())
    }
    /// Whether operations are aside from here on: they read nothing that the others have written since the
    /// fork, and write nothing that those read.
    fn aside(&self, _aside: bool) {}
    /// What follows is after both.
    fn join(&self) -> Done {
        Ok(())
    }

    /// Draws are made from here on as if rows had other places, those of each lane or the same for all; none
    /// for their own. Engines without lanes have no use for it.
    fn relabel(&self, _lanes: &[Relabelling]) -> Done {
        Ok(())
    }

    /// Whether the engine has lanes.
    fn has_lanes(&self) -> bool {
        false
    }
    /// Copies a buffer of an engine with one lane into a lane of a buffer of this one.
    fn put_lane(&self, _lane: usize, from: &Self::Buffer, to: &mut Self::Buffer) -> Done {
        self.copy(from, to)
    }
    /// Copies a lane of a buffer of this engine into one of an engine with one lane.
    fn take_lane(&self, _lane: usize, from: &Self::Buffer, to: &mut Self::Buffer) -> Done {
        self.copy(from, to)
    }

    /// `len` zeros.
    fn zeros(&self, len: usize) -> Result<Self::Buffer, EngineError>;
    /// Bytes of the blocks that the engine itself works in and keeps for the next time. What each thread has is counted once,
    /// so that the figure does not depend on the number of threads.
    fn scratch_bytes(&self) -> usize {
        0
    }
    /// Sets every number to zero.
    fn clear(&self, buffer: &mut Self::Buffer) -> Done;
    /// Numbers to the engine.
    fn upload(&self, numbers: &[Self::Real], to: &mut Self::Buffer) -> Done;
    /// Copies all numbers of one buffer to another.
    fn copy(&self, from: &Self::Buffer, to: &mut Self::Buffer) -> Done;
    /// Numbers from the engine.
    fn download(&self, from: &Self::Buffer, numbers: &mut [Self::Real]) -> Done;

    /// `out = left · right`. Where `out` is real and the product is not, its real part is taken.
    fn product(
        &self,
        left: Factor<Self::Buffer>,
        right: Factor<Self::Buffer>,
        out: (&mut Self::Buffer, Shape),
        add: bool,
    ) -> Done;

    /// Prepares a linear map.
    fn prepare(&self, source: MapSource) -> Result<Self::Map, EngineError>;
    /// `y = M x` or `y = Mᴴ x`, for the leading block of M that the two shapes leave: its first
    /// `y.rows` rows and `x.rows` columns, or the other way round. With `values`, which are as many
    /// the map stores, those take the place of the stored numbers.
    fn map(
        &self,
        map: &Self::Map,
        side: Side,
        values: Option<&Self::Buffer>,
        x: (&Self::Buffer, Shape),
        y: (&mut Self::Buffer, Shape),
        add: bool,
    ) -> Done;
    /// Multiplies the numbers of `mask` with those that the map stores.
    fn mask_map(&self, map: &Self::Map, mask: &mut Self::Buffer) -> Done;

    /// Adds the row `bias` to every row of `y`.
    fn add_bias(&self, bias: &Self::Buffer, y: (&mut Self::Buffer, Shape)) -> Done;
    /// `bias` becomes the sum of the rows of `y`.
    fn sum_rows(&self, y: (&Self::Buffer, Shape), bias: &mut Self::Buffer, add: bool) -> Done;

    /// `y = f(x)`; the shape is that of `x`.
    fn activate(&self, f: Activation, shape: Shape, x: &Self::Buffer, y: &mut Self::Buffer)
    -> Done;
    /// `dx += f'(x)·dy`.
    fn activate_gradient(
        &self,
        f: Activation,
        shape: Shape,
        x: &Self::Buffer,
        y: &Self::Buffer,
        dy: &Self::Buffer,
        dx: &mut Self::Buffer,
    ) -> Done;

    /// Fills `mask` with 0 at the given rate and 1/(1 − rate) elsewhere, one draw per entry.
    fn draw_mask(&self, rate: f64, key: DrawKey, shape: Shape, mask: &mut Self::Buffer) -> Done;
    /// `y = a ⊙ x`.
    fn multiply(&self, a: &Self::Buffer, x: &Self::Buffer, y: &mut Self::Buffer, add: bool)
    -> Done;
    /// `y = factor·x` over the first numbers of both, as many as the shorter one has.
    fn scale(&self, factor: f64, x: &Self::Buffer, y: &mut Self::Buffer, add: bool) -> Done;
    /// `y = c[k]·x`.
    fn scale_by(
        &self,
        c: (&Self::Buffer, usize),
        x: &Self::Buffer,
        y: &mut Self::Buffer,
        add: bool,
    ) -> Done;
    /// `out[k] = Σ x·y`.
    fn dot(
        &self,
        x: &Self::Buffer,
        y: &Self::Buffer,
        out: (&mut Self::Buffer, usize),
        add: bool,
    ) -> Done;
    /// `y = max(a, b)`, entry by entry, of real matrices.
    fn maximum(&self, a: &Self::Buffer, b: &Self::Buffer, y: &mut Self::Buffer) -> Done;
    /// `dx += dy` where `x ≥ other`, or where `x > other` for `strict`.
    fn maximum_gradient(
        &self,
        x: &Self::Buffer,
        other: &Self::Buffer,
        strict: bool,
        dy: &Self::Buffer,
        dx: &mut Self::Buffer,
    ) -> Done;
    /// Copies the columns of `x` into `y`, from the column `at` on.
    fn put_columns(
        &self,
        x: (&Self::Buffer, Shape),
        y: (&mut Self::Buffer, Shape),
        at: usize,
    ) -> Done;
    /// Adds the columns of `y` from `at` on to `x`.
    fn add_columns(
        &self,
        y: (&Self::Buffer, Shape),
        at: usize,
        x: (&mut Self::Buffer, Shape),
    ) -> Done;

    /// Every row divided by its Euclidean norm; rows of zeros stay.
    fn normalize_rows(&self, x: (&Self::Buffer, Shape), y: &mut Self::Buffer) -> Done;
    /// `dx += (dy − y·⟨y, dy⟩)/‖x‖`, row by row.
    fn normalize_rows_gradient(
        &self,
        x: (&Self::Buffer, Shape),
        y: &Self::Buffer,
        dy: &Self::Buffer,
        dx: &mut Self::Buffer,
    ) -> Done;
    /// Softmax of every row.
    fn softmax(&self, x: (&Self::Buffer, Shape), y: &mut Self::Buffer) -> Done;
    /// `dx += y ⊙ (dy − ⟨y, dy⟩)`, row by row.
    fn softmax_gradient(
        &self,
        y: (&Self::Buffer, Shape),
        dy: &Self::Buffer,
        dx: &mut Self::Buffer,
    ) -> Done;
    /// `y(i,g) = Σ_j x(i,j)·a(j)` over the columns j of each of `groups` groups.
    fn group_dot(
        &self,
        x: (&Self::Buffer, Shape),
        a: &Self::Buffer,
        groups: usize,
        y: &mut Self::Buffer,
    ) -> Done;
    /// `dx(i,j) += dy(i,g)·a(j)`; the shape is that of `dx`.
    fn group_dot_gradient(
        &self,
        a: &Self::Buffer,
        groups: usize,
        dy: &Self::Buffer,
        dx: (&mut Self::Buffer, Shape),
    ) -> Done;
    /// `da(j) += Σ_i dy(i,g)·x(i,j)`.
    fn group_sum(
        &self,
        x: (&Self::Buffer, Shape),
        groups: usize,
        dy: &Self::Buffer,
        da: &mut Self::Buffer,
    ) -> Done;
    /// Sums over the neighbours with weights that are a softmax of scores; see [`Attention`].
    fn attend(
        &self,
        input: &Attention<Self>,
        out: &mut Self::Buffer,
        norms: &mut Self::Buffer,
    ) -> Done;
    /// The gradients of [`attend`](Self::attend), added to what is there.
    fn attend_gradient(&self, input: &Attention<Self>, back: AttentionGradient<Self>) -> Done;

    /// Whether it has [`map_chains`](Self::map_chains) and its way back for weights of so many columns.
    fn has_chains(&self, _cols: usize) -> bool {
        false
    }
    /// The products of chains with their weights, which all have `cols` columns, side by side: a matrix for each head.
    fn map_chains(
        &self,
        _chains: Vec<ChainMaps<Self>>,
        _weights: Vec<&Self::Buffer>,
        _cols: usize,
        _outs: Vec<&mut Self::Buffer>,
    ) -> Done {
        Err(EngineError::Unsupported("chains are gone through map by map here".to_owned()))
    }
    /// The gradients of the weights, from that of the products of the only head.
    fn map_chains_gradient(
        &self,
        _chains: Vec<ChainMaps<Self>>,
        _dy: &Self::Buffer,
        _cols: usize,
        _outs: Vec<&mut Self::Buffer>,
    ) -> Done {
        Err(EngineError::Unsupported("chains are gone through map by map here".to_owned()))
    }
    /// Whether it has [`read_channels`](Self::read_channels) and its way back for channels of so many columns and so many
    /// classes.
    fn joins_channels(&self, _cols: usize, _classes: usize) -> bool {
        false
    }
    /// Logits of channels side by side and their bias, and which entries of the hidden layer are not 0.
    fn read_channels(
        &self,
        _of: &JoinedChannels<Self>,
        _x: (&Self::Buffer, Shape),
        _bias: &Self::Buffer,
        _kept: &mut Self::Buffer,
        _y: &mut Self::Buffer,
    ) -> Done {
        Err(EngineError::Unsupported("channels are joined step by step here".to_owned()))
    }
    /// The way back through [`read_channels`](Self::read_channels).
    fn read_channels_gradient(
        &self,
        _of: &JoinedChannels<Self>,
        _back: JoinedGradient<Self>,
        _shape: Shape,
    ) -> Done {
        Err(EngineError::Unsupported("channels are joined step by step here".to_owned()))
    }

    /// Log-softmax of every row into `y`.
    fn log_softmax(&self, x: (&Self::Buffer, Shape), y: &mut Self::Buffer) -> Done;
    /// Targets (row, class) to the engine: a list for each lane, all as long, or one for all lanes.
    fn targets(&self, lanes: &[&[(u32, u32)]], to: &mut Self::Targets) -> Done;
    /// Mean negative log likelihood of `targets` under the log-probabilities `y`, and
    /// how many rows have their largest entry at the target.
    fn nll_loss(
        &self,
        y: (&Self::Buffer, Shape),
        targets: &Self::Targets,
    ) -> Result<(f64, usize), EngineError>;
    /// `dx = ∂loss/∂x` of log-softmax and mean negative log likelihood, for the rows of the targets;
    /// the others stay. Every row is a target once at most.
    fn nll_loss_gradient(
        &self,
        y: (&Self::Buffer, Shape),
        targets: &Self::Targets,
        dx: &mut Self::Buffer,
    ) -> Done;
}
