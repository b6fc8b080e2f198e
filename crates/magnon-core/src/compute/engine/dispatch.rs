//! Every operation, handed to the chosen device.

use super::own::Own;
use super::{Backend, Buffer, Engine, Map, Recording, TargetList};
use crate::compute::activation::Activation;
use crate::compute::attention::{Attention, AttentionGradient};
use crate::compute::chains::ChainMaps;
use crate::compute::joined_channels::{JoinedChannels, JoinedGradient};
use crate::compute::kernels::Kernels;
use crate::compute::lanes::{LaneConfig, Relabelling};
use crate::compute::operands::{Done, DrawKey, Factor, Side};
use crate::compute::replay::ReplayConfig;
use crate::compute::{EngineError, MapSource, Shape};

/// Hands an operation to the device that there is, with what it was given as that device's own.
macro_rules! hand {
    ($self:ident, |$engine:ident $(, $given:ident)*| $body:expr) => {
        match &$self.0 {
            Backend::Cpu($engine) => {
                $(let $given = Own::cpu($given)?;)*
                $body
            }
            Backend::Double($engine) => {
                $(let $given = Own::double($given)?;)*
                $body
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda($engine) => {
                $(let $given = Own::cuda($given)?;)*
                $body
            }
        }
    };
}

/// Makes something of the device's own.
macro_rules! make {
    ($self:ident, $of:ident, |$engine:ident| $body:expr) => {
        match &$self.0 {
            Backend::Cpu($engine) => $body.map($of::Cpu),
            Backend::Double($engine) => $body.map($of::Double),
            #[cfg(feature = "cuda")]
            Backend::Cuda($engine) => $body.map($of::Cuda),
        }
    };
}

impl Engine {
    /// An engine on the same device that leaves the other threads to its siblings.
    pub fn sequential(&self) -> Self {
        Self(match &self.0 {
            Backend::Cpu(engine) => Backend::Cpu(engine.sequential()),
            Backend::Double(engine) => Backend::Double(engine.sequential()),
            #[cfg(feature = "cuda")]
            Backend::Cuda(engine) => Backend::Cuda(Box::new(engine.sequential())),
        })
    }

    /// An engine on the same device that does everything for several seeds at once, each in its own
    /// lane; `None` where that would gain nothing. Maps that this engine prepared serve it too, and a
    /// lane's results are those of its seed alone.
    #[cfg(feature = "cuda")]
    pub fn lanes(&self, lanes: &[LaneConfig]) -> Option<Result<Self, EngineError>> {
        let engine = self.card()?.lanes(lanes)?;
        Some(engine.map(|engine| Self(Backend::Cuda(Box::new(engine)))))
    }

    /// An engine for several seeds at once; none without a card.
    #[cfg(not(feature = "cuda"))]
    pub fn lanes(&self, _: &[LaneConfig]) -> Option<Result<Self, EngineError>> {
        None
    }

    /// From here on, operations aside may run beside the others; all that were asked for are before both.
    pub fn fork(&self) -> Done {
        hand!(self, |engine| engine.fork())
    }

    /// Whether operations are aside from here on: they read nothing that the others have written since the
    /// fork, and write nothing that those read.
    pub fn aside(&self, aside: bool) {
        hand!(self, |engine| engine.aside(aside))
    }

    /// What follows is after both.
    pub fn join(&self) -> Done {
        hand!(self, |engine| engine.join())
    }

    /// Draws are made from here on as if rows had other places, those of each lane or the same for all; none
    /// for their own. Engines without lanes have no use for it.
    pub fn relabel(&self, lanes: &[Relabelling]) -> Done {
        hand!(self, |engine| engine.relabel(lanes))
    }

    /// Whether the engine has lanes.
    pub fn has_lanes(&self) -> bool {
        hand!(self, |engine| engine.has_lanes())
    }

    /// Copies a buffer of an engine with one lane into a lane of a buffer of this one.
    pub fn put_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        hand!(self, |engine, from, to| engine.put_lane(lane, from, to))
    }

    /// Copies a lane of a buffer of this engine into one of an engine with one lane.
    pub fn take_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        hand!(self, |engine, from, to| engine.take_lane(lane, from, to))
    }

    /// One map for each lane, as one; `None` where the engine has no lanes, or the maps are not of a kind
    /// that can lie side by side.
    #[cfg(feature = "cuda")]
    pub fn stack(&self, maps: &[&Map]) -> Option<Result<Map, EngineError>> {
        let card = self.card()?;
        let own: Result<Vec<_>, _> = maps.iter().map(|map| Own::cuda(*map)).collect();
        match own {
            Ok(maps) => Some(card.stack(&maps)?.map(Map::Cuda)),
            Err(error) => Some(Err(error)),
        }
    }

    /// One map for each lane, as one; none without a card.
    #[cfg(not(feature = "cuda"))]
    pub fn stack(&self, _: &[&Map]) -> Option<Result<Map, EngineError>> {
        None
    }

    /// Prepares to repeat whole steps by itself; `None` where the engine cannot.
    #[cfg(feature = "cuda")]
    pub fn replay(&self, config: &ReplayConfig) -> Option<Result<Recording, EngineError>> {
        Some(self.card()?.replay(config)?.map(Recording::Cuda))
    }

    /// Prepares to repeat whole steps by itself; none without a card.
    #[cfg(not(feature = "cuda"))]
    pub fn replay(&self, _: &ReplayConfig) -> Option<Result<Recording, EngineError>> {
        None
    }

    /// `len` zeros.
    pub fn zeros(&self, len: usize) -> Result<Buffer, EngineError> {
        make!(self, Buffer, |engine| engine.zeros(len))
    }

    /// Number of numbers.
    pub fn len(&self, buffer: &Buffer) -> usize {
        match buffer {
            Buffer::Cpu(own) => own.len(),
            Buffer::Double(own) => own.len(),
            #[cfg(feature = "cuda")]
            Buffer::Cuda(own) => own.len(),
        }
    }

    /// Bytes of one number.
    pub fn width(&self) -> usize {
        if let Backend::Double(_) = self.0 { size_of::<f64>() } else { size_of::<f32>() }
    }

    /// Bytes of the blocks that the engine itself works in and keeps for the next time. What each thread has is counted once,
    /// so that the figure does not depend on the number of threads.
    pub fn scratch_bytes(&self) -> usize {
        hand!(self, |engine| engine.scratch_bytes())
    }

    /// A buffer of these numbers.
    pub fn buffer(&self, numbers: &[f32]) -> Result<Buffer, EngineError> {
        let mut buffer = self.zeros(numbers.len())?;
        self.upload(numbers, &mut buffer)?;
        Ok(buffer)
    }

    /// The numbers of a buffer, in single precision.
    pub fn numbers(&self, buffer: &Buffer) -> Result<Vec<f32>, EngineError> {
        let mut numbers = vec![0.0; self.len(buffer)];
        self.download(buffer, &mut numbers)?;
        Ok(numbers)
    }

    /// Sets every number to zero.
    pub fn clear(&self, buffer: &mut Buffer) -> Done {
        hand!(self, |engine, buffer| engine.clear(buffer))
    }

    /// Numbers to the engine.
    pub fn upload(&self, numbers: &[f32], to: &mut Buffer) -> Done {
        match &self.0 {
            Backend::Cpu(engine) => engine.upload(numbers, to.cpu()?),
            Backend::Double(engine) => {
                let numbers: Vec<f64> = numbers.iter().map(|&x| x.into()).collect();
                engine.upload(&numbers, to.double()?)
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda(engine) => engine.upload(numbers, to.cuda()?),
        }
    }

    /// Numbers of double precision to the engine, which rounds them to its own.
    pub fn upload_double(&self, numbers: &[f64], to: &mut Buffer) -> Done {
        match &self.0 {
            Backend::Double(engine) => engine.upload(numbers, to.double()?),
            _ => self.upload(&numbers.iter().map(|&x| x as f32).collect::<Vec<_>>(), to),
        }
    }

    /// Copies all numbers of one buffer to another.
    pub fn copy(&self, from: &Buffer, to: &mut Buffer) -> Done {
        hand!(self, |engine, from, to| engine.copy(from, to))
    }

    /// Numbers from the engine.
    pub fn download(&self, from: &Buffer, numbers: &mut [f32]) -> Done {
        match &self.0 {
            Backend::Cpu(engine) => engine.download(from.cpu()?, numbers),
            Backend::Double(_) => {
                let from = from.double()?;
                numbers.iter_mut().zip(from).for_each(|(to, &x)| *to = x as f32);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda(engine) => engine.download(from.cuda()?, numbers),
        }
    }

    /// Numbers from the engine, in double precision.
    pub fn download_double(&self, from: &Buffer) -> Result<Vec<f64>, EngineError> {
        if let Backend::Double(_) = self.0 {
            return Ok(from.double()?.clone());
        }
        let mut numbers = vec![0.0; self.len(from)];
        self.download(from, &mut numbers)?;
        Ok(numbers.into_iter().map(f64::from).collect())
    }

    /// `out = left · right`. Where `out` is real and the product is not, its real part is taken.
    pub fn product(
        &self,
        left: Factor<Buffer>,
        right: Factor<Buffer>,
        out: (&mut Buffer, Shape),
        add: bool,
    ) -> Done {
        hand!(self, |engine, left, right, out| engine.product(left, right, out, add))
    }

    /// Prepares a linear map.
    pub fn prepare(&self, source: MapSource) -> Result<Map, EngineError> {
        make!(self, Map, |engine| engine.prepare(source))
    }

    /// Rows, columns and field of a map.
    pub fn map_shape(&self, map: &Map) -> Shape {
        match map {
            Map::Cpu(own) => own.shape(),
            Map::Double(own) => own.shape(),
            #[cfg(feature = "cuda")]
            Map::Cuda(own) => own.shape(),
        }
    }

    /// Numbers that a dense or sparse map stores; 0 for others, which cannot be masked.
    pub fn map_stored(&self, map: &Map) -> usize {
        match map {
            Map::Cpu(own) => own.stored(),
            Map::Double(own) => own.stored(),
            #[cfg(feature = "cuda")]
            Map::Cuda(own) => own.stored(),
        }
    }

    /// `y = M x` or `y = Mᴴ x`, for the leading block of M that the two shapes leave: its first
    /// `y.rows` rows and `x.rows` columns, or the other way round. With `values`, which are as many
    /// as [`map_stored`](Self::map_stored), those take the place of the stored numbers.
    pub fn map(
        &self,
        map: &Map,
        side: Side,
        values: Option<&Buffer>,
        x: (&Buffer, Shape),
        y: (&mut Buffer, Shape),
        add: bool,
    ) -> Done {
        hand!(self, |engine, map, values, x, y| engine.map(map, side, values, x, y, add))
    }

    /// Multiplies the numbers of `mask` with those that the map stores.
    pub fn mask_map(&self, map: &Map, mask: &mut Buffer) -> Done {
        hand!(self, |engine, map, mask| engine.mask_map(map, mask))
    }

    /// Adds the row `bias` to every row of `y`.
    pub fn add_bias(&self, bias: &Buffer, y: (&mut Buffer, Shape)) -> Done {
        hand!(self, |engine, bias, y| engine.add_bias(bias, y))
    }

    /// `bias` becomes the sum of the rows of `y`.
    pub fn sum_rows(&self, y: (&Buffer, Shape), bias: &mut Buffer, add: bool) -> Done {
        hand!(self, |engine, y, bias| engine.sum_rows(y, bias, add))
    }

    /// `y = f(x)`; the shape is that of `x`.
    pub fn activate(&self, f: Activation, shape: Shape, x: &Buffer, y: &mut Buffer) -> Done {
        hand!(self, |engine, x, y| engine.activate(f, shape, x, y))
    }

    /// `dx += f'(x)·dy`.
    pub fn activate_gradient(
        &self,
        f: Activation,
        shape: Shape,
        x: &Buffer,
        y: &Buffer,
        dy: &Buffer,
        dx: &mut Buffer,
    ) -> Done {
        hand!(self, |engine, x, y, dy, dx| engine.activate_gradient(f, shape, x, y, dy, dx))
    }

    /// Fills `mask` with 0 at the given rate and 1/(1 − rate) elsewhere, one draw per entry.
    pub fn draw_mask(&self, rate: f64, key: DrawKey, shape: Shape, mask: &mut Buffer) -> Done {
        hand!(self, |engine, mask| engine.draw_mask(rate, key, shape, mask))
    }

    /// `y = a ⊙ x`.
    pub fn multiply(&self, a: &Buffer, x: &Buffer, y: &mut Buffer, add: bool) -> Done {
        hand!(self, |engine, a, x, y| engine.multiply(a, x, y, add))
    }

    /// `y = factor·x` over the first numbers of both, as many as the shorter one has.
    pub fn scale(&self, factor: f64, x: &Buffer, y: &mut Buffer, add: bool) -> Done {
        hand!(self, |engine, x, y| engine.scale(factor, x, y, add))
    }

    /// `y = c[k]·x`.
    pub fn scale_by(&self, c: (&Buffer, usize), x: &Buffer, y: &mut Buffer, add: bool) -> Done {
        hand!(self, |engine, c, x, y| engine.scale_by(c, x, y, add))
    }

    /// `out[k] = Σ x·y`.
    pub fn dot(&self, x: &Buffer, y: &Buffer, out: (&mut Buffer, usize), add: bool) -> Done {
        hand!(self, |engine, x, y, out| engine.dot(x, y, out, add))
    }

    /// `y = max(a, b)`, entry by entry, of real matrices.
    pub fn maximum(&self, a: &Buffer, b: &Buffer, y: &mut Buffer) -> Done {
        hand!(self, |engine, a, b, y| engine.maximum(a, b, y))
    }

    /// `dx += dy` where `x ≥ other`, or where `x > other` for `strict`.
    pub fn maximum_gradient(
        &self,
        x: &Buffer,
        other: &Buffer,
        strict: bool,
        dy: &Buffer,
        dx: &mut Buffer,
    ) -> Done {
        hand!(self, |engine, x, other, dy, dx| engine.maximum_gradient(x, other, strict, dy, dx))
    }

    /// Copies the columns of `x` into `y`, from the column `at` on.
    pub fn put_columns(&self, x: (&Buffer, Shape), y: (&mut Buffer, Shape), at: usize) -> Done {
        hand!(self, |engine, x, y| engine.put_columns(x, y, at))
    }

    /// Adds the columns of `y` from `at` on to `x`.
    pub fn add_columns(&self, y: (&Buffer, Shape), at: usize, x: (&mut Buffer, Shape)) -> Done {
        hand!(self, |engine, y, x| engine.add_columns(y, at, x))
    }

    /// Every row divided by its Euclidean norm; rows of zeros stay.
    pub fn normalize_rows(&self, x: (&Buffer, Shape), y: &mut Buffer) -> Done {
        hand!(self, |engine, x, y| engine.normalize_rows(x, y))
    }

    /// `dx += (dy − y·⟨y, dy⟩)/‖x‖`, row by row.
    pub fn normalize_rows_gradient(
        &self,
        x: (&Buffer, Shape),
        y: &Buffer,
        dy: &Buffer,
        dx: &mut Buffer,
    ) -> Done {
        hand!(self, |engine, x, y, dy, dx| engine.normalize_rows_gradient(x, y, dy, dx))
    }

    /// Softmax of every row.
    pub fn softmax(&self, x: (&Buffer, Shape), y: &mut Buffer) -> Done {
        hand!(self, |engine, x, y| engine.softmax(x, y))
    }

    /// `dx += y ⊙ (dy − ⟨y, dy⟩)`, row by row.
    pub fn softmax_gradient(&self, y: (&Buffer, Shape), dy: &Buffer, dx: &mut Buffer) -> Done {
        hand!(self, |engine, y, dy, dx| engine.softmax_gradient(y, dy, dx))
    }

    /// `y(i,g) = Σ_j x(i,j)·a(j)` over the columns j of each of `groups` groups.
    pub fn group_dot(
        &self,
        x: (&Buffer, Shape),
        a: &Buffer,
        groups: usize,
        y: &mut Buffer,
    ) -> Done {
        hand!(self, |engine, x, a, y| engine.group_dot(x, a, groups, y))
    }

    /// `dx(i,j) += dy(i,g)·a(j)`; the shape is that of `dx`.
    pub fn group_dot_gradient(
        &self,
        a: &Buffer,
        groups: usize,
        dy: &Buffer,
        dx: (&mut Buffer, Shape),
    ) -> Done {
        hand!(self, |engine, a, dy, dx| engine.group_dot_gradient(a, groups, dy, dx))
    }

    /// `da(j) += Σ_i dy(i,g)·x(i,j)`.
    pub fn group_sum(
        &self,
        x: (&Buffer, Shape),
        groups: usize,
        dy: &Buffer,
        da: &mut Buffer,
    ) -> Done {
        hand!(self, |engine, x, dy, da| engine.group_sum(x, groups, dy, da))
    }

    /// Sums over the neighbours with weights that are a softmax of scores; see [`Attention`].
    pub fn attend(&self, input: &Attention, out: &mut Buffer, norms: &mut Buffer) -> Done {
        hand!(self, |engine, input, out, norms| engine.attend(&input, out, norms))
    }

    /// The gradients of [`attend`](Self::attend), added to what is there.
    pub fn attend_gradient(&self, input: &Attention, back: AttentionGradient) -> Done {
        hand!(self, |engine, input, back| engine.attend_gradient(&input, back))
    }

    /// Whether it has [`map_chains`](Self::map_chains) and its way back for weights of so many columns.
    pub fn has_chains(&self, cols: usize) -> bool {
        hand!(self, |engine| engine.has_chains(cols))
    }

    /// The products of chains with their weights, which all have `cols` columns, side by side: a matrix for each head.
    pub fn map_chains(
        &self,
        chains: Vec<ChainMaps>,
        weights: Vec<&Buffer>,
        cols: usize,
        outs: Vec<&mut Buffer>,
    ) -> Done {
        hand!(self, |engine, chains, weights, outs| engine.map_chains(chains, weights, cols, outs))
    }

    /// The gradients of the weights, from that of the products of the only head.
    pub fn map_chains_gradient(
        &self,
        chains: Vec<ChainMaps>,
        dy: &Buffer,
        cols: usize,
        outs: Vec<&mut Buffer>,
    ) -> Done {
        hand!(self, |engine, chains, dy, outs| engine.map_chains_gradient(chains, dy, cols, outs))
    }

    /// Whether it has [`read_channels`](Self::read_channels) and its way back for channels of so many columns and so many
    /// classes.
    pub fn joins_channels(&self, cols: usize, classes: usize) -> bool {
        hand!(self, |engine| engine.joins_channels(cols, classes))
    }

    /// Logits of channels side by side and their bias, and which entries of the hidden layer are not 0.
    pub fn read_channels(
        &self,
        of: &JoinedChannels,
        x: (&Buffer, Shape),
        bias: &Buffer,
        kept: &mut Buffer,
        y: &mut Buffer,
    ) -> Done {
        hand!(self, |engine, of, x, bias, kept, y| engine.read_channels(&of, x, bias, kept, y))
    }

    /// The way back through [`read_channels`](Self::read_channels).
    pub fn read_channels_gradient(
        &self,
        of: &JoinedChannels,
        back: JoinedGradient,
        shape: Shape,
    ) -> Done {
        hand!(self, |engine, of, back| engine.read_channels_gradient(&of, back, shape))
    }

    /// Log-softmax of every row into `y`.
    pub fn log_softmax(&self, x: (&Buffer, Shape), y: &mut Buffer) -> Done {
        hand!(self, |engine, x, y| engine.log_softmax(x, y))
    }

    /// Targets (row, class) to the engine: a list for each lane, all as long, or one for all lanes.
    pub fn targets(&self, lanes: &[&[(u32, u32)]], to: &mut TargetList) -> Done {
        match &self.0 {
            Backend::Cpu(engine) => engine.targets(lanes, &mut to.cpu),
            Backend::Double(engine) => engine.targets(lanes, &mut to.cpu),
            #[cfg(feature = "cuda")]
            Backend::Cuda(engine) => engine.targets(lanes, &mut to.cuda),
        }
    }

    /// Mean negative log likelihood of `targets` under the log-probabilities `y`, and
    /// how many rows have their largest entry at the target.
    pub fn nll_loss(
        &self,
        y: (&Buffer, Shape),
        targets: &TargetList,
    ) -> Result<(f64, usize), EngineError> {
        match &self.0 {
            Backend::Cpu(engine) => engine.nll_loss(y.cpu()?, &targets.cpu),
            Backend::Double(engine) => engine.nll_loss(y.double()?, &targets.cpu),
            #[cfg(feature = "cuda")]
            Backend::Cuda(engine) => engine.nll_loss(y.cuda()?, &targets.cuda),
        }
    }

    /// `dx = ∂loss/∂x` of log-softmax and mean negative log likelihood, for the rows of the targets;
    /// the others stay. Every row is a target once at most.
    pub fn nll_loss_gradient(
        &self,
        y: (&Buffer, Shape),
        targets: &TargetList,
        dx: &mut Buffer,
    ) -> Done {
        match &self.0 {
            Backend::Cpu(engine) => engine.nll_loss_gradient(y.cpu()?, &targets.cpu, dx.cpu()?),
            Backend::Double(engine) => {
                engine.nll_loss_gradient(y.double()?, &targets.cpu, dx.double()?)
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda(engine) => engine.nll_loss_gradient(y.cuda()?, &targets.cuda, dx.cuda()?),
        }
    }
}
