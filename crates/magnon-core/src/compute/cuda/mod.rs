//! The engine for NVIDIA cards.
//!
//! Nothing of it is needed to build or to start the program: the driver is looked for when a card is
//! asked for. The kernels are ours; NVRTC compiles them for the card that is there and the result is
//! kept in the platform's cache folder, and without NVRTC a general form serves that the driver
//! compiles itself.
//!
//! An engine has one or more lanes. Every matrix that it makes has its numbers once for each lane, and
//! every operation works on all lanes at once: the same model with several seeds costs little more than
//! with one, where one leaves most of the card idle. Maps are common to all lanes. No sum crosses lanes
//! and no sum is cut by their number, so that a lane's bits are those that it would have alone. No
//! floating-point sum is made by atomics.

mod abi;
mod apply;
mod attention;
mod buffer;
mod card;
mod compile;
mod engine;
mod entries;
mod filter;
mod held;
mod lanes;
mod lists;
mod loss;
mod map;
mod propagate;
mod replay;
mod series;
mod staging;
mod steps;
mod targets;
mod tiles;

pub use buffer::Buffer;
pub use compile::{fingerprint, general, source};
pub use map::Map;
pub use replay::Recording;
pub use targets::CardTargets;

use super::EngineError;
use abi::Argument;
use card::Card;
use cudarc::driver::CudaStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Matrices on an NVIDIA card, in single precision.
pub struct Cuda {
    card: Arc<Card>,
    /// All work of the engine, in order.
    stream: Arc<CudaStream>,
    lanes: usize,
    /// Whether nothing is recorded.
    stepwise: bool,
    /// Seeds of the lanes, where there are several.
    seeds: Option<cudarc::driver::CudaSlice<u64>>,
    /// Their rates of dropout, where they have their own.
    rates: Option<cudarc::driver::CudaSlice<u32>>,
    /// Where draws have other places than rows.
    places: Mutex<Option<lanes::Places>>,
    /// Blocks that operations work in, kept for the next time: those in order, and those aside.
    scratch: [Mutex<Vec<Buffer>>; 2],
    /// Whether operations are aside, and the stream that they have while a step is recorded.
    aside: AtomicBool,
    side: Mutex<Option<Arc<CudaStream>>>,
    /// Page-locked memory, kept for the next copy.
    stages: Mutex<Vec<staging::Stage>>,
    /// Where losses go while a step is recorded.
    recording: Mutex<Option<replay::Under>>,
    /// Times that the host took part in: what counts them cannot be recorded.
    crossings: AtomicUsize,
    /// Whether a step is rehearsed: then small matrices from the host are kept, to be there when it is
    /// recorded.
    rehearsal: AtomicBool,
    constants: Mutex<Vec<(Vec<f32>, Buffer)>>,
}

impl Cuda {
    /// Number of cards, or why none can be used.
    pub fn count() -> Result<usize, String> {
        card::count()
    }

    /// An engine on the card of a number, or why there is none.
    pub fn new(number: usize) -> Result<Self, String> {
        let card = Card::open(number)?;
        let stream = card.context.new_stream();
        let stream = stream.map_err(|error| format!("cuda:{number}: {}", card::words(&error)))?;
        Ok(Self::on(card, stream))
    }

    fn on(card: Arc<Card>, stream: Arc<CudaStream>) -> Self {
        let (scratch, stages, recording, crossings, rehearsal, constants) = Default::default();
        let (aside, side, places) = Default::default();
        Self {
            card,
            stream,
            lanes: 1,
            stepwise: false,
            seeds: None,
            rates: None,
            scratch,
            aside,
            side,
            places,
            stages,
            recording,
            crossings,
            rehearsal,
            constants,
        }
    }

    /// The same engine with every step started by the host, as recordings are held against it.
    pub fn stepwise(self) -> Self {
        Self { stepwise: true, ..self }
    }

    /// What the card is called.
    pub fn name(&self) -> &str {
        &self.card.name
    }

    /// Bytes of the card's memory that are free, and all.
    pub fn memory(&self) -> Result<(usize, usize), EngineError> {
        self.card.context.mem_get_info().map_err(card::failure)
    }

    /// Waits until all work has been done, as before a clock is read.
    pub fn synchronize(&self) -> Result<(), EngineError> {
        self.wait()
    }

    fn launch(
        &self,
        name: &str,
        grid: (u32, u32, u32),
        threads: u32,
        arguments: &[&dyn Argument],
    ) -> Result<(), EngineError> {
        self.card.launch(&self.current(), name, grid, threads, arguments)
    }

    /// Blocks of operations in order and of those aside lie apart: both may be under way.
    fn pool(&self) -> MutexGuard<'_, Vec<Buffer>> {
        let pool = &self.scratch[usize::from(self.aside.load(Ordering::Relaxed))];
        pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn under(&self) -> MutexGuard<'_, Option<replay::Under>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn flag(set: bool) -> i32 {
    i32::from(set)
}

/// Blocks of `size` that `n` takes.
fn ceil(n: usize, size: usize) -> Result<u32, EngineError> {
    u32::try_from(n.div_ceil(size))
        .ok()
        .filter(|&blocks| blocks < 1 << 31)
        .ok_or_else(|| EngineError::Unsupported(format!("{n} rows are too many for the card")))
}

/// Blocks of threads for `n` numbers in so many lanes; threads take several where there are many.
fn grid(n: usize, lanes: usize) -> Result<(u32, u32, u32), EngineError> {
    const MOST: usize = 1 << 16;
    let lanes = u32::try_from(lanes).ok().filter(|&lanes| lanes <= 65_535);
    let lanes = lanes.ok_or_else(|| EngineError::Unsupported("too many lanes".to_owned()))?;
    Ok((n.div_ceil(apply::THREADS as usize).clamp(1, MOST) as u32, 1, lanes))
}
