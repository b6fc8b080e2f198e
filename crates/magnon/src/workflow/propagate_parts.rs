//! `propagate_parts`: parts of a graph that was cut are filtered by as many workers, each of which sees its own part and
//! what it is sent, and nothing else.
//!
//! Workers are threads of one process, and their messages are counted: what they come to on a wire between
//! machines is known before there are any. All numbers are those of [`propagate`](super::propagate()) on the
//! whole graph, bit for bit.

use crate::Error;
use crate::data::{DataError, Features, GraphPart};
use crate::filter::{Exchange, Filter, FilterConfig, FilterError, Propagated, propagate_part};
use crate::matrix::Matrix;
use crate::model::RowSource;
use crate::operator::{MagneticOperator, OperatorConfig};
use serde::Serialize;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};

/// What went between the workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartsReport {
    /// Workers.
    pub parts: usize,
    /// Nodes in the halo of each.
    pub halos: Vec<usize>,
    /// Bytes before the first product: which nodes are asked for, their degrees, and whether the operator is real.
    pub setup_bytes: u64,
    /// Bytes of all products.
    pub bytes: u64,
    /// Messages of all products.
    pub messages: u64,
}

/// Filters features with parts of a graph, as [`cut`](crate::data::cut) wrote them. The charge of the operator is fixed.
pub fn propagate_parts(
    files: &[PathBuf],
    features: &Features,
    operator: &OperatorConfig,
    filter: &FilterConfig,
) -> Result<(Propagated, PartsReport), Error> {
    let parts: Result<Vec<GraphPart>, DataError> =
        files.iter().map(|file| GraphPart::open(file)).collect();
    let parts = parts?;
    let count = parts.len();
    for (file, (index, part)) in files.iter().zip(parts.iter().enumerate()) {
        if (part.index(), part.parts(), part.whole()) != (index, count, features.rows()) {
            let problem = format!(
                "it is part {} of {} of a graph of {} nodes; part {index} of {count} of a graph of {} nodes is needed",
                part.index(),
                part.parts(),
                part.whole(),
                features.rows()
            );
            return Err(DataError::format(file.display().to_string(), problem).into());
        }
    }
    // A pair of ends for each pair of workers, so that messages stay in order.
    let mut senders: Vec<Vec<Sender<Vec<u8>>>> = vec![Vec::new(); count];
    let mut receivers: Vec<Vec<Mutex<Receiver<Vec<u8>>>>> = Vec::new();
    for _ in 0..count {
        let ends = (0..count).map(|_| channel());
        let (to, from): (Vec<_>, Vec<_>) = ends.unzip();
        senders.iter_mut().zip(to).for_each(|(senders, to)| senders.push(to));
        receivers.push(from.into_iter().map(Mutex::new).collect());
    }
    let halos = parts.iter().map(|part| part.nodes().len() - part.own().len()).collect();
    let counts = Counts::default();
    let work = |((part, to), from)| -> Result<Propagated, Error> {
        let wire = Wire { part, to, from, counts: &counts, asked: Vec::new(), needs: Vec::new() };
        wire.run(features, operator, filter)
    };
    let ends = parts.iter().zip(senders).zip(receivers);
    let results: Vec<Result<Propagated, Error>> = std::thread::scope(|scope| {
        let workers: Vec<_> = ends.map(|ends| scope.spawn(|| work(ends))).collect();
        let ended = |worker: std::thread::ScopedJoinHandle<_>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(ended).collect()
    });
    let report = PartsReport {
        parts: count,
        halos,
        setup_bytes: counts.setup.load(Relaxed),
        bytes: counts.bytes.load(Relaxed),
        messages: counts.messages.load(Relaxed),
    };
    Ok((joined(results, features)?, report))
}

/// The rows of all workers below each other. Of failures, the one that stopped the others.
fn joined(
    results: Vec<Result<Propagated, Error>>,
    features: &Features,
) -> Result<Propagated, Error> {
    let (mut real, mut complex) = (Vec::new(), Vec::new());
    let mut stopped = None;
    for result in results {
        match result {
            Ok(Propagated::Real(rows)) => real.extend(rows.into_vec()),
            Ok(Propagated::Complex(rows)) => complex.extend(rows.into_vec()),
            Err(Error::Stopped) => stopped = Some(Error::Stopped),
            Err(error) => return Err(error),
        }
    }
    if let Some(stopped) = stopped {
        return Err(stopped);
    }
    let (rows, cols) = (features.rows(), features.cols());
    let result = match complex.is_empty() {
        true => Matrix::from_vec(rows, cols, real).ok().map(Propagated::Real),
        false => Matrix::from_vec(rows, cols, complex).ok().map(Propagated::Complex),
    };
    let torn = || DataError::format("the parts", "their rows are not those of the graph");
    Ok(result.ok_or_else(torn)?)
}

/// What all workers have sent.
#[derive(Default)]
struct Counts {
    setup: AtomicU64,
    bytes: AtomicU64,
    messages: AtomicU64,
}

/// A worker's part, and its ends of the wire.
struct Wire<'a> {
    part: &'a GraphPart,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
    counts: &'a Counts,
    /// Local numbers of own nodes that each other worker asks for.
    asked: Vec<Vec<usize>>,
    /// Local numbers of nodes that are needed from each other worker.
    needs: Vec<Range<usize>>,
}

/// A worker that has ended takes its ends of the wire with it; why is told by it.
struct Gone;

impl From<Gone> for Error {
    fn from(_: Gone) -> Self {
        Self::Stopped
    }
}

impl Wire<'_> {
    fn run(
        mut self,
        features: &Features,
        operator: &OperatorConfig,
        filter: &FilterConfig,
    ) -> Result<Propagated, Error> {
        let operator = self.settle(self.part.operator(operator)?)?;
        let filter: Filter = filter.build(operator.bounds(), operator.config().kind)?;
        // Own rows of the features; what stands in the halo's is never read.
        let (own, nodes) = (self.part.own(), self.part.nodes());
        let mut local = Matrix::<f32>::zeros(nodes.len(), features.cols());
        let width = features.cols();
        let rows = local.as_mut_slice().chunks_exact_mut(width.max(1)).zip(nodes).enumerate();
        for (_, (row, &node)) in rows.filter(|(k, _)| own.contains(k)) {
            features.copy(node as usize, row);
        }
        let result = propagate_part(&operator, &filter, &Features::Dense(local), &self)?;
        let kept = own.start * width..own.end * width;
        let result = match result {
            Propagated::Real(x) => Matrix::from_vec(own.len(), width, x.as_slice()[kept].to_vec())
                .ok()
                .map(Propagated::Real),
            Propagated::Complex(x) => {
                let numbers = x.as_slice()[kept].to_vec();
                Matrix::from_vec(own.len(), width, numbers).ok().map(Propagated::Complex)
            }
        };
        let shape = FilterError::Shape { features: own.len(), nodes: nodes.len() };
        Ok(result.ok_or(shape)?)
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.part.index();
        (0..self.part.parts()).filter(move |&other| other != own)
    }

    fn send(&self, other: usize, bytes: Vec<u8>) -> Result<(), Gone> {
        self.to[other].send(bytes).map_err(|_| Gone)
    }

    fn receive(&self, other: usize) -> Result<Vec<u8>, Gone> {
        self.from[other].lock().map_err(|_| Gone)?.recv().map_err(|_| Gone)
    }

    /// Asks others for the nodes of the halo and their degrees, answers them, and agrees on whether the operator is
    /// real.
    fn settle(&mut self, operator: MagneticOperator) -> Result<MagneticOperator, Gone> {
        let (nodes, own) = (self.part.nodes(), self.part.own());
        let local = |node: u64| nodes.partition_point(|&known| known < node);
        let count = self.part.parts();
        self.needs = (0..count)
            .map(|other| {
                let rows = self.part.rows_of(other);
                local(rows.start)..local(rows.end)
            })
            .collect();
        let setup = |bytes: Vec<u8>| {
            self.counts.setup.fetch_add(bytes.len() as u64, Relaxed);
            bytes
        };
        for other in self.others() {
            let wanted: &[u64] = &nodes[self.needs[other].clone()];
            let mut bytes = vec![u8::from(operator.is_real())];
            bytes.extend_from_slice(bytemuck::cast_slice(wanted));
            self.send(other, setup(bytes))?;
        }
        let mut real = operator.is_real();
        let mut asked = vec![Vec::new(); count];
        for other in self.others() {
            let bytes = self.receive(other)?;
            let (flag, wanted) = bytes.split_first().ok_or(Gone)?;
            real &= *flag == 1;
            let wanted = wanted.as_chunks().0.iter().map(|&node| u64::from_ne_bytes(node));
            asked[other] = wanted.map(local).collect();
            let degrees = asked[other].iter().flat_map(|&node| operator.degrees_of(node));
            self.send(other, setup(degrees.flat_map(f64::to_ne_bytes).collect()))?;
        }
        let mut degrees = Vec::new();
        for other in self.others() {
            let bytes = self.receive(other)?;
            let numbers = bytes.as_chunks().0.iter().map(|&number| f64::from_ne_bytes(number));
            let numbers: Vec<f64> = numbers.collect();
            let pairs = numbers.as_chunks().0.iter().copied();
            degrees.extend(self.needs[other].clone().zip(pairs));
        }
        debug_assert_eq!(degrees.len() + own.len(), nodes.len());
        self.asked = asked;
        Ok(operator.with_halo(&degrees, real))
    }
}

impl Exchange for Wire<'_> {
    /// Sends the lines that others ask for, and takes theirs.
    fn exchange(&self, lines: &mut [u8], length: usize) -> bool {
        let mut talk = || -> Result<(), Gone> {
            for other in self.others().filter(|&other| !self.asked[other].is_empty()) {
                let asked = self.asked[other].iter();
                let bytes: Vec<u8> = asked
                    .flat_map(|&node| lines[node * length..][..length].iter().copied())
                    .collect();
                self.counts.bytes.fetch_add(bytes.len() as u64, Relaxed);
                self.counts.messages.fetch_add(1, Relaxed);
                self.send(other, bytes)?;
            }
            for other in self.others().filter(|&other| !self.needs[other].is_empty()) {
                let bytes = self.receive(other)?;
                let place = self.needs[other].start * length..self.needs[other].end * length;
                lines[place].copy_from_slice(&bytes);
            }
            Ok(())
        };
        talk().is_ok()
    }
}
