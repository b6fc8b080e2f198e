//! The engine for NVIDIA cards against the one in main memory, operation by operation and model by model.
//!
//! Where there is no card, the tests say so and pass; with `MAGNON_DEVICE=cuda` that is an error.

mod files;
mod lanes;

use crate::training_common::{charge, config, dataset, history_bits};
use magnon::compute::{
    Activation, AdamBuffers, AdamStep, Attention, AttentionGradient, Buffer, Device, DrawKey,
    Engine, EngineError, Factor, Field, MapSource, Shape, Side, TargetList,
};
use magnon::data::{Features, SplitChoice};
use magnon::filter::{Accuracy, Filter, Propagated, propagate_on};
use magnon::graph::generate::{GeneratorConfig, generate};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::{Matrix, SparseMatrix};
use magnon::model::{Direction, MODELS};
use magnon::operator::{
    Along, Charge, EdgeMatrix, Kind, MagneticOperator, Neighbourhood, Normalize, OperatorConfig,
    Pattern,
};
use magnon::progress::Progress;
use magnon::spectrum::{
    DensityConfig, FrustrationConfig, Select, SpectrumConfig, density, frustration, spectrum,
};
use magnon::train::{Experiment, Repeat, TrialResult};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The first card; `None`, said aloud, where there is none.
fn card() -> Option<Engine> {
    match Engine::cuda(0) {
        Ok(cuda) => Some(cuda),
        Err(reason) if std::env::var_os("MAGNON_DEVICE").is_some() => panic!("{reason}"),
        Err(reason) => {
            eprintln!("left out: {reason}");
            None
        }
    }
}

fn numbers(len: usize, salt: usize) -> Vec<f32> {
    let draw = |i: usize| {
        let i = (i + 1) * (salt + 17);
        ((i * i % 10_007 * 7919 + i * 13) % 1009) as f32 / 504.5 - 1.0
    };
    (0..len).map(|i| draw(i) + 0.003).collect()
}

/// An engine with buffers of such numbers.
struct Desk<'e>(&'e Engine);

impl Desk<'_> {
    fn put(&self, numbers: &[f32]) -> Buffer {
        self.0.buffer(numbers).unwrap()
    }
    fn of(&self, shape: Shape, salt: usize) -> Buffer {
        self.put(&numbers(shape.len(), salt))
    }
    fn get(&self, buffer: &Buffer) -> Vec<f32> {
        self.0.numbers(buffer).unwrap()
    }
}

#[track_caller]
fn close(name: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let size = expected.iter().fold(1f32, |most, x| most.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{name}: number {i} is {a}, in main memory {b}");
    }
    let seen = expected.iter().any(|x| x.abs() > 1e-6);
    assert!(seen || expected.is_empty(), "{name}: all numbers are 0");
}

/// Runs the same work on both engines.
fn both(work: fn(&Engine) -> Results, tolerance: f32) {
    let Some(cuda) = card() else { return };
    let (found, expected) = (work(&cuda), work(&Engine::cpu().sequential()));
    assert_eq!(found.len(), expected.len());
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        close(name, found, expected, tolerance);
    }
}

type Results = Vec<(String, Vec<f32>)>;

fn dense_work(engine: &Engine) -> Results {
    let desk = Desk(engine);
    let mut results = Vec::new();
    let fields = [Field::Real, Field::Complex];
    for (m, n, k) in
        [(1, 1, 1), (3, 5, 7), (70, 33, 100), (64, 32, 16), (5, 130, 1000), (200, 7, 2049)]
    {
        for a in fields {
            for b in fields {
                for out in fields {
                    if out == Field::Complex && a == Field::Real && b == Field::Real {
                        continue;
                    }
                    for (left, right) in
                        [(false, false), (true, false), (false, true), (true, true)]
                    {
                        let shape = |rows: usize, cols: usize, adjoint: bool, field| match adjoint {
                            true => Shape::new(cols, rows, field),
                            false => Shape::new(rows, cols, field),
                        };
                        let (x, y) = (shape(m, k, left, a), shape(k, n, right, b));
                        let (p, q) = (desk.of(x, 1), desk.of(y, 2));
                        let to = Shape::new(m, n, out);
                        for add in [false, true] {
                            let mut z = desk.of(to, 3);
                            let p = Factor { buffer: &p, shape: x, adjoint: left };
                            let q = Factor { buffer: &q, shape: y, adjoint: right };
                            engine.product(p, q, (&mut z, to), add).unwrap();
                            let name = format!(
                                "product {m} {n} {k} {a:?} {b:?} {out:?} {left} {right} {add}"
                            );
                            results.push((name, desk.get(&z)));
                        }
                    }
                }
            }
        }
    }
    results
}

#[test]
fn dense_products() {
    both(dense_work, 1e-5);
}

fn entry_work(engine: &Engine) -> Results {
    let desk = Desk(engine);
    let mut results = Vec::new();
    let mut keep = |name: String, buffer: &Buffer| results.push((name, desk.get(buffer)));
    let real = Shape::real(37, 10);
    let complex = real.with_field(Field::Complex);
    for f in [
        Activation::Tanh,
        Activation::Relu,
        Activation::Elu,
        Activation::GatedTanh,
        Activation::ExponentialGate,
        Activation::ComplexRelu,
        Activation::SplitRelu,
        Activation::Modulus,
        Activation::RealPart,
        Activation::Lift,
        Activation::Parts,
    ] {
        let from = if f.result(real).is_some() { real } else { complex };
        let to = f.result(from).unwrap();
        let (x, dy) = (desk.of(from, 1), desk.of(to, 2));
        let (mut y, mut dx) = (desk.of(to, 3), desk.of(from, 4));
        engine.activate(f, from, &x, &mut y).unwrap();
        engine.activate_gradient(f, from, &x, &y, &dy, &mut dx).unwrap();
        keep(format!("{f:?}"), &y);
        keep(format!("{f:?} back"), &dx);
    }
    for (shape, rate) in [(real, 0.5), (complex, 0.3), (Shape::real(1, 1000), 0.9)] {
        let key = DrawKey { seed: 0x1234_5678_9abc_def0, epoch: 7, batch: 2, site: 3 };
        let mut mask = desk.of(shape, 1);
        engine.draw_mask(rate, key, shape, &mut mask).unwrap();
        keep(format!("mask {shape:?}"), &mask);
    }
    let (a, b, short) = (desk.of(real, 1), desk.of(real, 2), desk.of(real.with_rows(3), 5));
    for add in [false, true] {
        let mut y = desk.of(real, 3);
        engine.multiply(&a, &b, &mut y, add).unwrap();
        keep(format!("multiply {add}"), &y);
        engine.scale(-1.5, &short, &mut y, add).unwrap();
        keep(format!("scale {add}"), &y);
        engine.scale_by((&a, 4), &b, &mut y, add).unwrap();
        keep(format!("scale_by {add}"), &y);
        engine.dot(&a, &b, (&mut y, 6), add).unwrap();
        keep(format!("dot {add}"), &y);
        let mut row = desk.of(real.with_rows(1), 5);
        engine.sum_rows((&a, real), &mut row, add).unwrap();
        keep(format!("sum_rows {add}"), &row);
    }
    let tall = Shape::real(1000, 3);
    let (x, mut row) = (desk.of(tall, 1), desk.of(tall.with_rows(1), 2));
    engine.sum_rows((&x, tall), &mut row, true).unwrap();
    keep("sum_rows of many".to_owned(), &row);
    let clip = |most: f64| {
        let mut factor = desk.put(&[0.0]);
        engine.clip(&[desk.of(tall, 1), desk.of(tall, 2)], most, &mut factor).unwrap();
        factor
    };
    let half = clip(20.0);
    keep("clip".to_owned(), &half);
    keep("clip of what is short".to_owned(), &clip(1e6));
    let mut y = desk.of(real, 3);
    engine.maximum(&a, &b, &mut y).unwrap();
    keep("maximum".to_owned(), &y);
    for strict in [false, true] {
        engine.maximum_gradient(&a, &b, strict, &b, &mut y).unwrap();
        keep(format!("maximum back {strict}"), &y);
    }
    engine.add_bias(&desk.of(real.with_rows(1), 9), (&mut y, real)).unwrap();
    keep("bias".to_owned(), &y);
    for field in [Field::Real, Field::Complex] {
        let (wide, narrow) = (real.with_field(field), real.with_cols(4).with_field(field));
        let mut y = desk.of(wide, 3);
        engine.put_columns((&desk.of(narrow, 4), narrow), (&mut y, wide), 5).unwrap();
        keep(format!("put_columns {field:?}"), &y);
        let mut x = desk.of(narrow, 5);
        engine.add_columns((&y, wide), 2, (&mut x, narrow)).unwrap();
        keep(format!("add_columns {field:?}"), &x);
    }
    // A row of zeros stays.
    let mut with_zeros = numbers(real.len(), 6);
    with_zeros[10..20].fill(0.0);
    let x = desk.put(&with_zeros);
    let (mut y, mut dx) = (desk.of(real, 1), desk.of(real, 2));
    engine.normalize_rows((&x, real), &mut y).unwrap();
    engine.normalize_rows_gradient((&x, real), &y, &a, &mut dx).unwrap();
    keep("normalize".to_owned(), &y);
    keep("normalize back".to_owned(), &dx);
    engine.softmax((&x, real), &mut y).unwrap();
    keep("softmax".to_owned(), &y);
    engine.softmax_gradient((&y, real), &a, &mut dx).unwrap();
    keep("softmax back".to_owned(), &dx);
    engine.log_softmax((&x, real), &mut y).unwrap();
    keep("log_softmax".to_owned(), &y);
    let pairs: Vec<(u32, u32)> = (0..20).map(|i| (36 - i, i % 10)).collect();
    let mut targets = TargetList::default();
    engine.targets(&[&pairs], &mut targets).unwrap();
    let (loss, right) = engine.nll_loss((&y, real), &targets).unwrap();
    engine.nll_loss_gradient((&y, real), &targets, &mut dx).unwrap();
    keep("loss back".to_owned(), &dx);
    results.push(("loss".to_owned(), vec![loss as f32, right as f32]));
    let mut keep = |name: String, buffer: &Buffer| results.push((name, desk.get(buffer)));
    let row = desk.of(real.with_rows(1), 8);
    let (mut y, mut dx, mut da) =
        (desk.of(real.with_cols(5), 1), desk.of(real, 2), desk.of(real.with_rows(1), 3));
    engine.group_dot((&a, real), &row, 5, &mut y).unwrap();
    engine.group_dot_gradient(&row, 5, &y, (&mut dx, real)).unwrap();
    engine.group_sum((&a, real), 5, &y, &mut da).unwrap();
    keep("group_dot".to_owned(), &y);
    keep("group_dot back".to_owned(), &dx);
    keep("group_sum".to_owned(), &da);
    let step = AdamStep {
        rate: 0.01,
        first: 0.9,
        second: 0.999,
        second_correction: 3.0,
        epsilon: 1e-8,
        l2: 1e-3,
        shrink: 0.99,
        decays: 1.0,
    };
    let squares = numbers(real.len(), 3).iter().map(|x| x * x).collect::<Vec<_>>();
    let (mut weights, mut first, mut second) =
        ([desk.of(real, 1)], [desk.of(real, 2)], [desk.put(&squares)]);
    let gradients = [a];
    for clip in [Some(&half), None] {
        let (weights, first, second) = (&mut weights[..], &mut first[..], &mut second[..]);
        let all = AdamBuffers { clip, gradients: &gradients, weights, first, second };
        engine.adam_all(step, &[1.0], all).unwrap();
    }
    for (name, [buffer]) in [("w", &weights), ("m", &first), ("v", &second)] {
        keep(format!("adam {name}"), buffer);
    }
    results
}

#[test]
fn entries_and_rows() {
    both(entry_work, 2e-6);
}

/// A graph with a node that has more neighbours than a thread should visit, and one without any.
fn graph(weighted: bool) -> DiGraph {
    let nodes = 5000;
    let config = GeneratorConfig { nodes: 400, density: 0.02, ..Default::default() };
    let small = generate(&config, 2).unwrap().graph;
    let hub = (1..nodes as u32 - 1).map(|v| if v % 3 == 0 { (v, 0) } else { (0, v) });
    let edges: Vec<(u32, u32)> = small.iter().chain(hub).collect();
    match weighted {
        false => GraphBuilder::new(nodes).edges(edges).build().unwrap().graph,
        true => {
            let weight = |(u, v): (u32, u32)| (u, v, ((u + 2 * v) % 7 + 1) as f32 / 4.0);
            GraphBuilder::new(nodes)
                .weighted_edges(edges.into_iter().map(weight))
                .build()
                .unwrap()
                .graph
        }
    }
}

fn map_work(engine: &Engine) -> Results {
    let desk = Desk(engine);
    let mut sources = Vec::new();
    for weighted in [false, true] {
        let pattern = Arc::new(Pattern::new(&graph(weighted)).unwrap());
        let targets: Vec<u32> = (0..60).map(|i| i * 3).collect();
        let near = Arc::new(Neighbourhood::new(&pattern, &targets, 2));
        let degrees: Vec<f64> = (0..5000).map(|i| 1.0 / (1.0 + (i % 9) as f64)).collect();
        for along in [Along::Out, Along::In] {
            let edges = EdgeMatrix::adjacency(along, &degrees, &degrees, &near);
            sources.push((format!("{along:?} {weighted}"), MapSource::Edges(edges)));
        }
        for (q, normalize) in [
            (Charge::ZERO, Normalize::Symmetric),
            (charge(3), Normalize::Symmetric),
            (charge(5), Normalize::RandomWalk),
            (charge(4), Normalize::Directed),
        ] {
            let config = OperatorConfig { charge: q, normalize, ..Default::default() };
            let operator = MagneticOperator::from_pattern(pattern.clone(), &config).unwrap();
            let name = format!("{q} {normalize:?} {weighted}");
            sources.push((format!("operator {name}"), MapSource::operator(&operator)));
            let edges = EdgeMatrix::operator(&operator, &near);
            sources.push((format!("part {name}"), MapSource::Edges(edges)));
            let bounds = operator.bounds();
            let mut filters = vec![("linear", Filter::linear_rank(6).unwrap())];
            if normalize == Normalize::Symmetric {
                let heat = Filter::heat(2.0, bounds, Kind::Adjacency, Accuracy::Exact).unwrap();
                filters.push(("heat", heat));
                let exact = Filter::page_rank(0.9, bounds, Kind::Adjacency, Accuracy::Exact);
                filters.push(("ppr", exact.unwrap()));
            }
            for (kind, filter) in filters {
                sources.push((format!("{kind} {name}"), MapSource::filter(&operator, &filter)));
            }
        }
    }
    let triplets =
        (0..9000u32).map(|i| ((i * 7 % 3000) as usize, i * i % 97, (i % 11) as f32 - 5.0));
    let triplets: Vec<_> = triplets.filter(|&(_, _, x)| x != 0.0).collect();
    let sparse = SparseMatrix::from_triplets(3000, 97, triplets.into_iter()).unwrap();
    sources.push(("sparse".to_owned(), MapSource::Sparse(sparse)));
    for field in [Field::Real, Field::Complex] {
        let shape = Shape::new(150, 90, field);
        let dense = MapSource::dense(shape, numbers(shape.len(), 4)).unwrap();
        sources.push((format!("dense {field:?}"), dense));
    }
    let mut results = Vec::new();
    for (name, source) in sources {
        let shape = source.shape();
        let map = engine.prepare(source).unwrap();
        let (rows, cols) = (shape.rows(), shape.cols());
        for (side, from, to) in [(Side::Forward, cols, rows), (Side::Adjoint, rows, cols)] {
            for (width, field) in
                [(1, Field::Real), (5, Field::Real), (6, Field::Complex), (140, Field::Complex)]
            {
                if name.starts_with("ppr") && width > 5 {
                    continue;
                }
                let x = Shape::new(from, width, field);
                let y = Shape::new(to, width, field.join(shape.field()));
                let given = desk.of(x, 1);
                for add in [false, true] {
                    let mut out = desk.of(y, 2);
                    engine.map(&map, side, None, (&given, x), (&mut out, y), add).unwrap();
                    results
                        .push((format!("{name} {side:?} {width} {field:?} {add}"), desk.get(&out)));
                }
                // The real part alone, and fewer rows.
                if name.starts_with("part") || name.starts_with("operator") {
                    let out = match (shape.field(), field) {
                        (Field::Complex, Field::Complex) => Field::Real,
                        (map, field) => map.join(field),
                    };
                    let (x, y) = (x.with_rows(from * 3 / 4), Shape::new(to / 2, width, out));
                    let (given, mut out) = (desk.of(x, 1), desk.of(y, 2));
                    engine.map(&map, side, None, (&given, x), (&mut out, y), true).unwrap();
                    results
                        .push((format!("{name} {side:?} {width} {field:?} head"), desk.get(&out)));
                }
            }
        }
        let stored = engine.map_stored(&map);
        if stored > 0 && shape.field() == Field::Real {
            let mut mask = desk.of(Shape::real(1, stored), 3);
            engine.mask_map(&map, &mut mask).unwrap();
            for (side, from, to) in [(Side::Forward, cols, rows), (Side::Adjoint, rows, cols)] {
                let (x, y) = (Shape::real(from, 8), Shape::real(to, 8));
                let (given, mut out) = (desk.of(x, 1), desk.of(y, 2));
                engine.map(&map, side, Some(&mask), (&given, x), (&mut out, y), false).unwrap();
                results.push((format!("{name} {side:?} masked"), desk.get(&out)));
            }
        }
    }
    results
}

#[test]
fn products_with_maps() {
    both(map_work, 2e-5);
}

fn attention_work(engine: &Engine) -> Results {
    let desk = Desk(engine);
    let mut results = Vec::new();
    let config = GeneratorConfig { nodes: 300, density: 0.05, ..Default::default() };
    let pattern = Arc::new(Pattern::new(&generate(&config, 2).unwrap().graph).unwrap());
    let near = Arc::new(Neighbourhood::new(&pattern, &[5, 9, 40, 80], 1));
    let sizes = (near.size(0), near.size(1));
    let ones = vec![1.0; 300];
    let edges =
        engine.prepare(MapSource::Edges(EdgeMatrix::adjacency(Along::Out, &ones, &ones, &near)));
    let edges = edges.unwrap();
    for (heads, cols) in [(1, 7), (8, 8), (2, 40), (3, 1)] {
        for dropout in [None, Some((0.6, DrawKey { seed: 3, epoch: 5, batch: 1, site: 2 }))] {
            let (rows, seen) = sizes;
            let h = Shape::real(seen, heads * cols);
            let scores = Shape::real(seen, heads);
            let [features, source, target] =
                [desk.of(h, 1), desk.of(scores, 2), desk.of(scores, 3)];
            let input = Attention {
                edges: &edges,
                features: (&features, h),
                source: &source,
                target: &target,
                heads,
                rows,
                slope: 0.2,
                dropout,
            };
            let (mut out, mut norms) =
                (desk.of(h.with_rows(rows), 4), desk.of(Shape::real(rows, 2 * heads), 5));
            engine.attend(&input, &mut out, &mut norms).unwrap();
            let dy = desk.of(h.with_rows(rows), 6);
            let [mut df, mut ds, mut dt] = [desk.of(h, 7), desk.of(scores, 8), desk.of(scores, 9)];
            let back = AttentionGradient {
                norms: &norms,
                out: &out,
                dy: &dy,
                features: &mut df,
                source: &mut ds,
                target: &mut dt,
            };
            engine.attend_gradient(&input, back).unwrap();
            for (name, buffer) in [("y", &out), ("h", &df), ("s", &ds), ("t", &dt)] {
                let name = format!("attention {heads} {cols} {} {name}", dropout.is_some());
                results.push((name, desk.get(buffer)));
            }
        }
    }
    results
}

#[test]
fn attention() {
    both(attention_work, 1e-5);
}

/// Filtered features, also of sparse ones.
#[test]
fn filtered_features() {
    let Some(cuda) = card() else { return };
    for weighted in [false, true] {
        let graph = graph(weighted);
        let x = Matrix::from_vec(5000, 21, numbers(5000 * 21, 3)).unwrap();
        let sparse =
            SparseMatrix::from_triplets(5000, 9, (0..5000).map(|u| (u, u as u32 % 9, 1.5)))
                .unwrap();
        for features in [Features::Dense(x), Features::Sparse(sparse)] {
            for q in [Charge::ZERO, charge(4)] {
                let operator = OperatorConfig { charge: q, ..Default::default() };
                let operator = MagneticOperator::new(&graph, &operator).unwrap();
                let filter = Filter::linear_rank(8).unwrap();
                let run = |found: Propagated| match found {
                    Propagated::Real(x) => x.into_vec(),
                    Propagated::Complex(x) => {
                        x.into_vec().iter().flat_map(|z| [z.re, z.im]).collect()
                    }
                };
                let found = run(propagate_on(&cuda, &operator, &filter, &features, &()).unwrap());
                let expected = magnon::filter::propagate(&operator, &filter, &features, &());
                close(&format!("{q} {weighted}"), &found, &run(expected.unwrap()), 5e-5);
            }
        }
    }
}

/// Counts steps.
struct Count(AtomicUsize);

impl Progress for Count {
    fn step(&self, _: usize, _: usize, _: &str) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Features in blocks of columns, copied while others are filtered, are filtered to the same bits as all
/// columns at once.
#[test]
fn columns_in_blocks() {
    let Some(cuda) = card() else { return };
    let (nodes, cols) = (150_000, 128);
    let ring = (0..nodes as u32).map(|u| (u, (u + 1) % nodes as u32));
    let hub = (2..4000).map(|u| if u % 3 == 0 { (u, 0) } else { (0, u) });
    let graph = GraphBuilder::new(nodes).edges(ring.chain(hub)).build().unwrap().graph;
    let x = numbers(nodes * cols, 3);
    for (q, filter) in [
        (charge(4), Filter::linear_rank(5).unwrap()),
        (Charge::ZERO, Filter::linear_rank(3).unwrap()),
    ] {
        let operator = OperatorConfig { charge: q, ..Default::default() };
        let operator = MagneticOperator::new(&graph, &operator).unwrap();
        let features = Features::Dense(Matrix::from_vec(nodes, cols, x.clone()).unwrap());
        let count = Count(AtomicUsize::new(0));
        let found = match propagate_on(&cuda, &operator, &filter, &features, &count).unwrap() {
            Propagated::Real(found) => found.into_vec(),
            Propagated::Complex(found) => bytemuck::cast_slice(found.as_slice()).to_vec(),
        };
        assert!(count.0.into_inner() > 1, "{q}: one block");
        let map = cuda.prepare(MapSource::filter(&operator, &filter)).unwrap();
        let shape = Shape::real(nodes, cols);
        let to = shape.with_field(cuda.map_shape(&map).field());
        let desk = Desk(&cuda);
        let (given, mut out) = (desk.put(&x), cuda.zeros(to.len()).unwrap());
        cuda.map(&map, Side::Forward, None, (&given, shape), (&mut out, to), false).unwrap();
        assert!(found == desk.get(&out), "{q}");
        let stopped = propagate_on(&cuda, &operator, &filter, &features, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(magnon::filter::FilterError::Stopped)), "{q}");
    }
}

/// Eigenpairs, densities and frustration are those of main memory.
#[test]
fn spectra() {
    if card().is_none() {
        return;
    }
    let on = |device: Device, operator: &MagneticOperator, select: Select| {
        let config = SpectrumConfig { select, dense_up_to: 0, device, ..Default::default() };
        spectrum(operator, &config, &()).unwrap()
    };
    for weighted in [false, true] {
        let graph = graph(weighted);
        for (q, normalize) in [
            (Charge::ZERO, Normalize::Symmetric),
            (charge(3), Normalize::Symmetric),
            (charge(5), Normalize::Directed),
        ] {
            let kind = Kind::Laplacian;
            let config = OperatorConfig { charge: q, normalize, kind, ..Default::default() };
            let operator = MagneticOperator::new(&graph, &config).unwrap();
            let near = Select::Nearest { to: 0.4, count: 3 };
            for select in [Select::Smallest(5), Select::Largest(4), near] {
                let name = format!("{q} {normalize:?} {weighted} {select:?}");
                let [found, expected] =
                    [Device::Cuda(0), Device::Cpu].map(|device| on(device, &operator, select));
                for (a, b) in found.eigenvalues.iter().zip(&expected.eigenvalues) {
                    assert!((a - b).abs() < 1e-8, "{name}: {a}, in main memory {b}");
                }
                let again = on(Device::Cuda(0), &operator, select);
                assert_eq!(found.eigenvalues, again.eigenvalues, "{name}");
            }
            let [found, expected] = [Device::Cuda(0), Device::Cpu].map(|device| {
                let config = DensityConfig { moments: 90, device, ..Default::default() };
                density(&operator, &config, &()).unwrap()
            });
            for (a, b) in found.density.iter().zip(&expected.density) {
                assert!((a - b).abs() < 1e-4 * expected.peak().1, "{q}: {a}, in main memory {b}");
            }
        }
        let pattern = Arc::new(Pattern::new(&graph).unwrap());
        let [found, expected] = [Device::Cuda(0), Device::Cpu].map(|device| {
            let solver = SpectrumConfig { dense_up_to: 0, device, ..Default::default() };
            let config = FrustrationConfig { points: 3, solver, ..Default::default() };
            frustration(&pattern, &config, &()).unwrap()
        });
        for (a, b) in found.curve.iter().zip(&expected.curve) {
            assert!((a.lambda_min - b.lambda_min).abs() < 1e-8, "{a:?}, in main memory {b:?}");
        }
    }
}

/// All eigenvalues are the processor's affair, and a card that is not there is told.
#[test]
fn spectra_refused() {
    let graph = graph(false);
    let operator = MagneticOperator::new(&graph, &OperatorConfig::default()).unwrap();
    let device = Device::Cuda(4711);
    let config = SpectrumConfig { device, ..Default::default() };
    let error = spectrum(&operator, &config, &()).unwrap_err().to_string();
    assert!(error.contains("not on cuda:4711") && error.contains("--count"), "{error}");
    let config = SpectrumConfig { select: Select::Smallest(2), ..config };
    let error = spectrum(&operator, &config, &()).unwrap_err().to_string();
    assert!(error.contains("use the device cpu"), "{error}");
    let config = DensityConfig { device, ..Default::default() };
    let error = density(&operator, &config, &()).unwrap_err().to_string();
    assert!(error.contains("use the device cpu"), "{error}");
}

/// Trains a model for some epochs.
fn trained(
    name: &str,
    device: Device,
    change: impl Fn(&mut magnon::train::RunConfig),
) -> Vec<TrialResult> {
    let data = dataset(240, 12, 3);
    let info = MODELS.iter().find(|info| info.name == name).unwrap();
    let q = if info.direction == Direction::Charge { charge(3) } else { Charge::ZERO };
    let mut config = config(name, q);
    config.train.device = device;
    config.train.epochs = 40;
    if name == "bank" {
        config.model.set("channels", "x,out,in,linear-rank(order=4,charge=1/3)".into()).unwrap();
    }
    change(&mut config);
    Experiment::new(&data, &config).unwrap().run(None, &()).unwrap().runs
}

/// The first steps of every model are those in main memory, and it learns as much.
#[test]
fn every_model() {
    if card().is_none() {
        return;
    }
    for info in MODELS {
        let found = trained(info.name, Device::Cuda(0), |_| ()).remove(0);
        let expected = trained(info.name, Device::Cpu, |_| ()).remove(0);
        for (a, b) in found.history.iter().zip(&expected.history).take(3) {
            for (a, b) in [(a.train_loss, b.train_loss), (a.val_loss, b.val_loss)] {
                assert!(
                    (a - b).abs() < 1e-4,
                    "{}: {a} in epoch {}, in main memory {b}",
                    info.name,
                    1
                );
            }
        }
        let [a, b] = [&found, &expected].map(|run| run.best.val_loss);
        assert!((a - b).abs() < 0.05, "{}: {a}, in main memory {b}", info.name);
        eprintln!("{}: {a:.6}, in main memory {b:.6}", info.name);
    }
}

/// The same seed gives the same bits: once more, and among others.
#[test]
fn the_same_bits() {
    if card().is_none() {
        return;
    }
    for name in ["mgc", "gcn", "magnet", "gat", "fsgnn", "bank"] {
        let alone = |seed: u64, clip: Option<f64>| {
            let run = trained(name, Device::Cuda(0), |config| {
                config.train.seed = seed;
                config.train.optimiser.clip = clip;
            });
            history_bits(&run[0].history)
        };
        let once = alone(4, None);
        assert_eq!(once, alone(4, None), "{name}");
        // A limit that is never reached.
        assert_eq!(once, alone(4, Some(1e9)), "{name} with a limit");
        let several = trained(name, Device::Cuda(0), |config| config.runs.count = 7);
        for (run, seed) in several.iter().zip(0..) {
            assert_eq!(history_bits(&run.history), alone(seed, None), "{name}, seed {seed} of 7");
        }
    }
}

/// Runs on several splits, side by side where their shapes allow it, have the bits that each has alone.
#[test]
fn splits_side_by_side() {
    if card().is_none() {
        return;
    }
    let data = dataset(240, 12, 3);
    let split = |seed| {
        SplitChoice::Random([60.0, 20.0, 20.0]).choose(&[], data.labels.as_ref(), seed).unwrap()
    };
    let mut splits: Vec<_> = (0..4).map(split).collect();
    // One with other shapes.
    splits[2].train.pop();
    let repeat = |k: usize| Repeat { seed: 5 + k as u64, split: k % 4 };
    let repeats: Vec<Repeat> = (0..6).map(repeat).collect();
    for name in ["mgc", "sgc", "bank", "mlp", "gcn"] {
        let q = if matches!(name, "gcn" | "mlp") { Charge::ZERO } else { charge(3) };
        let mut config = config(name, q);
        (config.train.device, config.train.epochs) = (Device::Cuda(0), 40);
        if name == "bank" {
            let channels = "x,linear-rank(order=4,charge=1/3)";
            config.model.set("channels", channels.into()).unwrap();
        }
        let run = |repeats: Vec<Repeat>| {
            let experiment = Experiment::on(&data, &config, splits.clone(), repeats).unwrap();
            experiment.run(None, &()).unwrap().runs
        };
        for (k, found) in run(repeats.clone()).iter().enumerate() {
            let alone = run(vec![repeats[k]]).remove(0);
            assert_eq!(found.trial, alone.trial, "{name}");
            let [a, b] = [found, &alone].map(|run| history_bits(&run.history));
            assert_eq!(a, b, "{name}, run {k}");
            assert_eq!(found.hits, alone.hits, "{name}, run {k}");
        }
    }
}

/// What the card cannot hold is an error with the figure, and the engine goes on.
#[test]
fn too_large() {
    let Some(cuda) = card() else { return };
    let bytes = cuda.memory().unwrap().1;
    match cuda.zeros(bytes) {
        Err(EngineError::OutOfMemory { bytes: asked }) => assert_eq!(asked, 4 * bytes),
        other => panic!("{:?}", other.map(|_| ())),
    }
    let desk = Desk(&cuda);
    assert_eq!(desk.get(&desk.put(&[1.0, 2.0])), [1.0, 2.0]);
}

/// Many numbers go there and back.
#[test]
fn large_copies() {
    let Some(cuda) = card() else { return };
    let numbers: Vec<f32> = (0..(80usize << 20) + 12_345).map(|i| (i % 65_521) as f32).collect();
    let desk = Desk(&cuda);
    assert!(desk.get(&desk.put(&numbers)) == numbers);
}

/// A card that is not there is an error in words.
#[test]
fn no_such_card() {
    let reason = Device::Cuda(4711).describe().unwrap_err().to_string();
    assert!(reason.contains("driver") || reason.contains("cuda:4711"), "{reason}");
    assert!(reason.ends_with("; use the device cpu"), "{reason}");
    assert!(Device::Auto.describe().is_ok());
}
