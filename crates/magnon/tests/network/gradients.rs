//! The gradient of every operation against central differences in double precision.

use magnon::compute::{
    Activation, Buffer, Done, DrawKey, Engine, Field, Map, MapSource, PreciseRows, Series, Shape,
};
use magnon::filter::{Accuracy, Filter};
use magnon::graph::generate::{GeneratorConfig, generate};
use magnon::graph::{DiGraph, GraphBuilder, SelfLoops};
use magnon::matrix::SparseMatrix;
use magnon::model::{Join, MapChain, MapChains};
use magnon::nn::{CustomNode, CustomOp, Loss, ParameterId, Parameters, Tape, Trace, Var};
use magnon::operator::{
    Along, Charge, EdgeMatrix, Kind, MagneticOperator, Neighbourhood, Normalize, OperatorConfig,
    Pattern,
};
use std::sync::Arc;

/// Numbers that look random and stay away from kinks.
fn numbers(len: usize, salt: usize) -> Vec<f32> {
    doubles(len, salt).into_iter().map(|x| x as f32).collect()
}

/// The same in double precision.
fn doubles(len: usize, salt: usize) -> Vec<f64> {
    // On a grid, moved a little: neither numbers nor sums of two come closer to 0 than 2·10⁻⁵.
    let draw = |i: usize| {
        let i = (i + 1) * (salt + 17);
        ((i * i % 10_007 * 7919 + i * 13) % 1009) as f64 / 504.5 - 1.0
    };
    (0..len).map(|i| draw(i) + 0.003).collect()
}

/// The numbers of a buffer in double precision.
fn double(buffer: &mut Buffer) -> &mut Vec<f64> {
    let Buffer::Double(numbers) = buffer else { panic!("a buffer of double precision") };
    numbers
}

/// The numbers of a matrix of a trace.
fn value(trace: &Trace, of: Var) -> Vec<f64> {
    trace.engine().download_double(trace.value(of).unwrap()).unwrap()
}

/// Compares the gradient of a loss with respect to every parameter with central differences.
#[track_caller]
fn check<'a>(
    engine: &'a Engine,
    shapes: &[Shape],
    model: impl Fn(&mut Trace<'_, 'a>, &[Var]) -> Loss,
) {
    let mut parameters = Parameters::new();
    let ids: Vec<ParameterId> = shapes
        .iter()
        .enumerate()
        .map(|(i, &shape)| {
            let numbers = numbers(shape.len(), i + 1);
            parameters.add(engine, &format!("p{i}"), shape, &numbers).unwrap()
        })
        .collect();
    let mut tape = Tape::new(engine);
    let loss = |parameters: &Parameters, tape: &mut Tape<'a>| {
        let mut trace = tape.trace(parameters);
        let vars: Vec<Var> = ids.iter().map(|&id| trace.parameter(id)).collect();
        model(&mut trace, &vars).mean
    };
    // Twice, so that buffers that are used again are seen to be clean.
    let mut gradients = Vec::new();
    for _ in 0..2 {
        gradients = parameters.zeros(engine).unwrap();
        let mut trace = tape.trace(&parameters);
        let vars: Vec<Var> = ids.iter().map(|&id| trace.parameter(id)).collect();
        let loss = model(&mut trace, &vars);
        trace.backward(loss, &mut gradients).unwrap();
    }
    for (p, gradient) in gradients.iter().enumerate() {
        let mut largest = 0.0f64;
        for (i, found) in engine.download_double(gradient).unwrap().into_iter().enumerate() {
            let step = 1e-5;
            let mut at = |by: f64| {
                double(&mut parameters.values_mut()[p])[i] += by;
                let value = loss(&parameters, &mut tape);
                double(&mut parameters.values_mut()[p])[i] -= by;
                value
            };
            let expected = (at(step) - at(-step)) / (2.0 * step);
            assert!(
                (found - expected).abs() < 1e-8 + 1e-6 * expected.abs(),
                "parameter {p}, number {i}: {found} but {expected} by differences"
            );
            largest = largest.max(expected.abs());
        }
        assert!(largest > 1e-4, "the loss does not depend on parameter {p}");
    }
}

const TARGETS: [(u32, u32); 4] = [(0, 1), (1, 0), (3, 2), (4, 1)];
/// For results of two rows at least.
const FEW: [(u32, u32); 2] = [(0, 1), (1, 0)];
const KEY: DrawKey = DrawKey { seed: 1, epoch: 2, batch: 3, site: 4 };

/// The loss of a real matrix, or of the parts of a complex one.
fn loss(trace: &mut Trace, y: Var, targets: &[(u32, u32)]) -> Loss {
    let y = match trace.shape(y).field() {
        Field::Real => y,
        Field::Complex => trace.activate(Activation::Parts, y),
    };
    trace.nll_loss(y, targets).unwrap()
}

fn prepare(engine: &Engine, source: MapSource) -> Arc<Map> {
    Arc::new(engine.prepare(source).unwrap())
}

#[test]
fn a_loss_of_a_parameter_as_it_is() {
    let engine = Engine::double().sequential();
    check(&engine, &[Shape::real(5, 3)], |trace, p| trace.nll_loss(p[0], &TARGETS).unwrap());
}

#[test]
fn products_of_real_and_complex_matrices() {
    let engine = Engine::double().sequential();
    let (real, complex) = (Shape::real, Shape::complex);
    for left in [real(5, 4), complex(5, 4)] {
        for right in [real(4, 3), complex(4, 3)] {
            let bias = Shape::new(1, 3, left.field().join(right.field()));
            check(&engine, &[left, right, bias], |trace, p| {
                let y = trace.linear(p[0], p[1], p[2]);
                loss(trace, y, &TARGETS)
            });
        }
    }
}

#[test]
fn activations_and_read_outs() {
    let engine = Engine::double().sequential();
    use Activation::{
        ComplexRelu, Elu, ExponentialGate, GatedTanh, Lift, Modulus, Parts, RealPart, Relu,
        SplitRelu, Tanh,
    };
    for f in [Tanh, Relu, Elu, Lift] {
        check(&engine, &[Shape::real(5, 3)], |trace, p| {
            let y = trace.activate(f, p[0]);
            loss(trace, y, &TARGETS)
        });
    }
    for f in [GatedTanh, ExponentialGate, ComplexRelu, SplitRelu, Modulus, RealPart, Parts] {
        check(&engine, &[Shape::complex(5, 3)], |trace, p| {
            let y = trace.activate(f, p[0]);
            loss(trace, y, &TARGETS)
        });
    }
}

#[test]
fn dropout_concatenation_and_shared_matrices() {
    let engine = Engine::double().sequential();
    check(&engine, &[Shape::real(5, 3), Shape::real(5, 2)], |trace, p| {
        let dropped = trace.dropout(p[0], 0.4, KEY);
        let both = trace.concatenate(&[dropped, p[1], p[0]]); // used twice: its gradients add up
        loss(trace, both, &TARGETS)
    });
    check(&engine, &[Shape::complex(5, 3)], |trace, p| {
        let dropped = trace.dropout(p[0], 0.4, KEY);
        let both = trace.concatenate(&[dropped, p[0]]);
        loss(trace, both, &TARGETS)
    });
}

#[test]
fn dropout_keeps_the_mean() {
    let engine = Engine::double().sequential();
    let parameters = Parameters::new();
    let mut tape = Tape::new(&engine);
    let mut trace = tape.trace(&parameters);
    let x = trace.input(Shape::real(200, 500), &[1.0; 100_000]);
    let y = trace.dropout(x, 0.3, DrawKey { seed: 9, epoch: 9, batch: 9, site: 9 });
    let y = value(&trace, y);
    let kept = y.iter().filter(|&&v| v != 0.0).count() as f64 / 1e5;
    assert!((kept - 0.7).abs() < 0.01, "{kept}");
    assert!(y.iter().all(|&v| v == 0.0 || (v - 1.0 / 0.7).abs() < 1e-12));
}

#[test]
fn sums_of_the_first_rows_with_factors() {
    let engine = Engine::double().sequential();
    for field in [Field::Real, Field::Complex] {
        let shape = |rows| Shape::new(rows, 3, field);
        check(&engine, &[shape(5), shape(4), shape(2)], |trace, p| {
            // Of a matrix that is whole, of ones that are not, and of one twice.
            let sum = trace.sum_head(2, &[(0.5, p[0]), (-2.0, p[1]), (1.5, p[0]), (0.25, p[2])]);
            loss(trace, sum, &FEW)
        });
        check(&engine, &[shape(5), shape(5)], |trace, p| {
            let y = trace.sum(&[(1.0, p[0]), (-0.5, p[1])]);
            let y = trace.sum(&[(2.0, y), (3.0, p[1])]);
            loss(trace, y, &TARGETS)
        });
        check(&engine, &[shape(5), shape(2)], |trace, p| {
            let first = trace.head(p[0], 2);
            assert_eq!(trace.head(p[1], 2), p[1], "all rows are the matrix itself");
            // Rows that one use leaves out have the gradient of the other.
            let all = loss(trace, p[0], &TARGETS);
            let both = trace.concatenate(&[first, p[1]]);
            assert!(all.mean > 0.0);
            loss(trace, both, &FEW)
        });
        // The way back adds to what a whole matrix has already, and is added to.
        check(&engine, &[shape(5)], |trace, p| {
            let tail = trace.sum(&[(0.7, p[0])]);
            let first = trace.head(tail, 2);
            let again = trace.sum_head(2, &[(1.0, tail), (-3.0, first)]);
            loss(trace, again, &FEW)
        });
    }
}

#[test]
fn combinations_with_trained_coefficients() {
    let engine = Engine::double().sequential();
    for field in [Field::Real, Field::Complex] {
        let part = Shape::new(5, 3, field);
        check(&engine, &[Shape::real(1, 3), part, part], |trace, p| {
            let sum = trace.combine(p[0], &[p[1], p[2], p[1]]);
            loss(trace, sum, &TARGETS)
        });
        // Several on one row of coefficients, one of them twice, as they are and after a softmax.
        check(&engine, &[Shape::real(1, 3), part, part], |trace, p| {
            let soft = trace.softmax(p[0]);
            let parts = [(p[0], 0, p[1]), (p[0], 2, p[2]), (soft, 1, p[1]), (soft, 1, p[2])];
            let scaled = parts.map(|(row, k, x)| trace.scale_by(row, k, x));
            let all = trace.concatenate(&scaled);
            loss(trace, all, &TARGETS)
        });
    }
}

#[test]
fn rows_by_softmax_and_norm() {
    let engine = Engine::double().sequential();
    check(&engine, &[Shape::real(5, 3)], |trace, p| {
        let y = trace.softmax(p[0]);
        let y = trace.sum(&[(4.0, y)]);
        loss(trace, y, &TARGETS)
    });
    for field in [Field::Real, Field::Complex] {
        check(&engine, &[Shape::new(5, 3, field)], |trace, p| {
            let y = trace.normalize_rows(p[0]);
            let y = trace.sum(&[(3.0, y), (0.5, p[0])]);
            loss(trace, y, &TARGETS)
        });
    }
    // Rows have norm 1, but for those of zeros, which stay.
    let parameters = Parameters::new();
    let mut tape = Tape::new(&engine);
    let mut trace = tape.trace(&parameters);
    let x = trace.input(Shape::real(3, 2), &[3.0, -4.0, 0.0, 0.0, 1e-3, 0.0]);
    let y = trace.normalize_rows(x);
    for (found, expected) in value(&trace, y).iter().zip([0.6, -0.8, 0.0, 0.0, 1.0, 0.0]) {
        assert!((found - expected).abs() < 1e-15, "{found} but {expected}");
    }
}

/// Channels that are joined and read in one sweep, and step by step.
#[test]
fn joined_channels() {
    let engine = Engine::double().sequential();
    let key = DrawKey { seed: 3, epoch: 2, batch: 0, site: 1 };
    assert!(engine.joins_channels(16, 3) && !engine.joins_channels(3, 3));
    for (normalize, dropout) in [(true, None), (false, Some((0.4, key))), (true, Some((0.4, key)))]
    {
        let join = Join { normalize, activation: Some(Activation::Relu), dropout };
        let (x, row) = (Shape::real(5, 16), Shape::real(1, 16));
        let readout = [Shape::real(32, 3), Shape::real(1, 3)];
        let weights = Shape::real(1, 2);
        check(
            &engine,
            &[x.with_cols(32), row, row, weights, readout[0], readout[1]],
            |trace, p| {
                let x = trace.sum(&[(1.0, p[0])]);
                let logits = join.read(trace, x, &p[1..3], p[3], [p[4], p[5]]);
                loss(trace, logits, &TARGETS)
            },
        );
        check(&engine, &[x, x, row, row, weights, readout[0]], |trace, p| {
            let channels = [0, 1].map(|c| (trace.sum(&[(1.0, p[c])]), Some(p[c + 2])));
            let hidden = join.apply(trace, &channels, p[4]);
            let logits = trace.product(hidden, p[5]);
            loss(trace, logits, &TARGETS)
        });
    }
}

/// One sweep gives what single operations give, with the same entries dropped: logits and gradients, of many tasks.
#[test]
fn joined_channels_are_what_their_steps_give() {
    let engine = Engine::double();
    let key = DrawKey { seed: 5, epoch: 1, batch: 0, site: 0 };
    let (rows, cols, classes) = (300, 48, 5);
    let mut parameters = Parameters::new();
    let shapes = [(rows, cols), (rows, cols), (1, cols), (1, cols), (1, 2), (2 * cols, classes)];
    let mut ids: Vec<ParameterId> = Vec::new();
    for (i, (rows, cols)) in shapes.into_iter().chain([(1, classes)]).enumerate() {
        let shape = Shape::real(rows, cols);
        let numbers = numbers(shape.len(), i + 1);
        ids.push(parameters.add(&engine, &i.to_string(), shape, &numbers).unwrap());
    }
    let join =
        Join { normalize: true, activation: Some(Activation::Relu), dropout: Some((0.5, key)) };
    let targets: Vec<(u32, u32)> = (0..rows as u32).map(|u| (u, u % classes as u32)).collect();
    let [found, expected] = [true, false].map(|at_once| {
        let mut tape = Tape::new(&engine);
        let mut trace = tape.trace(&parameters);
        let p: Vec<Var> = ids.iter().map(|&id| trace.parameter(id)).collect();
        let logits = if at_once {
            let x = trace.concatenate(&p[..2]);
            join.read(&mut trace, x, &p[2..4], p[4], [p[5], p[6]])
        } else {
            let channels = [0, 1].map(|c| (trace.sum(&[(1.0, p[c])]), Some(p[c + 2])));
            let hidden = join.apply(&mut trace, &channels, p[4]);
            trace.linear(hidden, p[5], p[6])
        };
        let loss = loss(&mut trace, logits, &targets);
        let mut all = parameters.zeros(&engine).unwrap();
        let logits = value(&trace, logits);
        trace.backward(loss, &mut all).unwrap();
        let all = all.iter().map(|buffer| engine.download_double(buffer).unwrap());
        all.chain([logits]).collect::<Vec<_>>()
    });
    for (found, expected) in found.iter().zip(&expected) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
    }
}

/// Rows of a sparse matrix that look random.
fn precise(rows: usize, cols: usize, salt: usize) -> PreciseRows {
    let mut matrix = PreciseRows::empty(cols);
    for u in 0..rows {
        let there = |&v: &usize| (u * 7 + v * 5 + salt).is_multiple_of(3);
        matrix.push_row((0..cols).filter(there).map(|v| (v as u32, (u + v) as f64 * 0.1 - 0.4)));
    }
    matrix
}

/// Chains of maps with two heads, of which the first has a gradient, against their maps one by one.
#[test]
fn chains_of_maps() {
    for engine in [Engine::double().sequential(), Engine::double()] {
        assert!(engine.has_chains(32) && !engine.has_chains(20));
        let map = |rows: usize, cols: usize, salt: usize| {
            prepare(&engine, MapSource::Precise(precise(rows, cols, salt)))
        };
        let ways = [
            (vec![map(7, 3, 1), map(3, 4, 2)], vec![map(5, 7, 3), map(2, 7, 4)]),
            (vec![], vec![map(5, 6, 5), map(2, 6, 6)]),
        ];
        let chain = |(tail, heads): (Vec<_>, Vec<_>)| MapChain { tail, heads };
        let chains = MapChains::new(ways.clone().map(chain).into());
        let shapes = [Shape::real(4, 32), Shape::real(6, 32)];
        check(&engine, &shapes, |trace, p| {
            let y = chains.apply(trace, p, 0);
            // The other part is there already, and changes nothing.
            let other = chains.apply(trace, p, 1);
            for (part, all) in [y, other].into_iter().enumerate() {
                let one_by_one = [0, 1].map(|c: usize| {
                    let (tail, heads) = &ways[c];
                    let inner = tail.iter().rev().fold(p[c], |x, map| trace.map(map, x));
                    trace.map(&heads[part], inner)
                });
                let expected = trace.concatenate(&one_by_one);
                assert_eq!(value(trace, all), value(trace, expected));
            }
            loss(trace, y, &TARGETS)
        });
        // Weights that are no parameters, and one that two chains share.
        check(&engine, &[Shape::real(6, 32)], |trace, p| {
            let chain = |salt: usize| MapChain { tail: vec![], heads: vec![map(5, 6, salt)] };
            let chains = MapChains::new(vec![chain(1), chain(2), chain(3)]);
            let scaled = trace.sum(&[(2.0, p[0])]);
            let y = chains.apply(trace, &[p[0], scaled, p[0]], 0);
            loss(trace, y, &TARGETS)
        });
    }
}

/// 2X − Y by an operation of its own, which keeps nothing.
struct Twice;

impl CustomOp for Twice {
    fn backward(&self, trace: &mut Trace, node: &CustomNode, gradients: &mut [Buffer]) -> Done {
        let engine = trace.engine();
        let inputs = trace.inputs(node).to_vec();
        for (x, factor) in inputs.into_iter().zip([2.0, -1.0]) {
            trace.add_gradient(x, gradients, |_, out, add| {
                engine.scale(factor, node.dy, out, add)
            })?;
        }
        Ok(())
    }
}

#[test]
fn an_operation_of_its_own() {
    let engine = Engine::double().sequential();
    check(&engine, &[Shape::real(5, 3), Shape::real(5, 3)], |trace, p| {
        let shape = trace.shape(p[0]);
        let x = trace.custom(Arc::new(Twice), p, shape, (None, 0), |trace, _, out| {
            trace.engine().scale(2.0, trace.value(p[0])?, out, false)?;
            trace.engine().scale(-1.0, trace.value(p[1])?, out, true)
        });
        let plain = trace.sum(&[(2.0, p[0]), (-1.0, p[1])]);
        assert_eq!(value(trace, x), value(trace, plain));
        let x = trace.activate(Activation::Tanh, x);
        loss(trace, x, &TARGETS)
    });
}

#[test]
fn maxima_of_two_matrices() {
    let engine = Engine::double().sequential();
    check(&engine, &[Shape::real(5, 3), Shape::real(5, 3)], |trace, p| {
        let most = trace.maximum(p[0], p[1]);
        let most = trace.maximum(most, p[0]); // equal in places, which then count once
        loss(trace, most, &TARGETS)
    });
}

#[test]
fn sums_over_groups_of_columns() {
    let engine = Engine::double().sequential();
    for groups in [2, 3, 6] {
        check(&engine, &[Shape::real(5, 6), Shape::real(1, 6)], |trace, p| {
            let y = trace.group_dot(p[0], p[1], groups);
            let y = trace.concatenate(&[y, p[0]]);
            loss(trace, y, &TARGETS)
        });
    }
}

/// Eight nodes with edges both ways and one way, a self loop, and a node alone.
fn graph(weighted: bool) -> DiGraph {
    let edges = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1), (4, 3), (4, 5), (5, 4), (6, 5), (2, 2)];
    let weight = |i: usize| if weighted { 0.5 + (i % 4) as f32 / 3.0 } else { 1.0 };
    let edges = edges.into_iter().enumerate().map(|(i, (u, v))| (u, v, weight(i)));
    let builder = GraphBuilder::new(8).weighted_edges(edges).self_loops(SelfLoops::Keep);
    let graph = builder.build().unwrap().graph;
    assert_eq!(graph.is_weighted(), weighted);
    graph
}

fn seen(pattern: &Arc<Pattern>, targets: &[u32], steps: usize) -> Arc<Neighbourhood> {
    Arc::new(Neighbourhood::new(pattern, targets, steps))
}

/// Neighbourhoods of few targets and of all nodes, with 2 steps.
fn neighbourhoods(pattern: &Arc<Pattern>) -> [Arc<Neighbourhood>; 2] {
    [seen(pattern, &[4, 0], 2), seen(pattern, &[0, 1, 2, 3, 4, 5, 6, 7], 2)]
}

/// y(u) = Σ_v α(u,v) h(v) from the definition, for the first rows of a neighbourhood.
fn attended(
    operator: &MagneticOperator,
    seen: &Neighbourhood,
    [h, s, t]: [&[f64]; 3],
    (heads, cols, rows): (usize, usize, usize),
) -> Vec<f64> {
    let place = |node: usize| seen.nodes().position(|other| other == node);
    let mut y = vec![0.0; rows * heads * cols];
    for u in 0..rows {
        let mut others: Vec<usize> =
            operator.row(seen.node(u)).filter_map(|(node, _)| place(node)).collect();
        others.push(u);
        others.sort_unstable();
        others.dedup();
        for head in 0..heads {
            let score = |v: usize| {
                let sum = t[u * heads + head] + s[v * heads + head];
                if sum > 0.0 { sum.exp() } else { (0.2 * sum).exp() }
            };
            let total: f64 = others.iter().map(|&v| score(v)).sum();
            for c in head * cols..(head + 1) * cols {
                let sum = others.iter().map(|&v| score(v) * h[v * heads * cols + c]);
                y[u * heads * cols + c] = sum.sum::<f64>() / total;
            }
        }
    }
    y
}

/// With one and several heads, with and without dropout, with fewer rows than nodes seen.
#[test]
fn attention_over_neighbours() {
    let engine = Engine::double().sequential();
    let operator = MagneticOperator::new(&graph(false), &OperatorConfig::default()).unwrap();
    for seen in neighbourhoods(operator.pattern()) {
        let edges = EdgeMatrix::operator(&operator, &seen);
        let map = prepare(&engine, MapSource::Edges(edges));
        // Eight heads of eight columns have loops of their own.
        for (heads, cols, steps) in [(1, 2, 1), (3, 2, 0), (3, 2, 1), (2, 2, 2), (8, 8, 1)] {
            // The scores are there for all nodes that are seen.
            let (from, rows) = (seen.size((steps + 1).min(2)), seen.size(steps));
            let shapes = [Shape::real(from, cols * heads), Shape::real(from, heads)];
            let shapes = [shapes[0], shapes[1], shapes[1]];
            let targets: Vec<(u32, u32)> = (0..rows as u32).map(|row| (row, row % 2)).collect();
            for dropout in [None, Some((0.4, KEY)), Some((0.0, KEY))] {
                check(&engine, &shapes, |trace, p| {
                    let y = trace.attend(&map, [p[0], p[1], p[2]], rows, 0.2, dropout);
                    loss(trace, y, &targets)
                });
            }
            // Scores from the features, as the model has them, which go two ways then; and one
            // matrix of scores for both ends.
            let row = Shape::real(1, cols * heads);
            check(&engine, &[shapes[0], row, row], |trace, p| {
                let features = trace.activate(Activation::Tanh, p[0]);
                let [s, t] = [p[1], p[2]].map(|row| trace.group_dot(features, row, heads));
                let s = trace.sum(&[(4.0, s), (-1.0, t)]); // scores of both signs at every node
                let dropout = Some((0.3, KEY));
                let y = trace.attend(&map, [features, s, t], rows, 0.2, dropout);
                loss(trace, y, &targets)
            });
            check(&engine, &shapes[..2], |trace, p| {
                let y = trace.attend(&map, [p[0], p[1], p[1]], rows, 0.2, None);
                loss(trace, y, &targets)
            });
            // Its values are those of the definition where all neighbours are seen.
            if from < seen.size(steps + 1) {
                continue;
            }
            let parameters = Parameters::new();
            let mut tape = Tape::new(&engine);
            let mut trace = tape.trace(&parameters);
            let vars = [0, 1, 2].map(|i| trace.input(shapes[i], &numbers(shapes[i].len(), i + 1)));
            let values = vars.map(|var| value(&trace, var));
            let y = trace.attend(&map, vars, rows, 0.2, None);
            let values = [&values[0][..], &values[1], &values[2]];
            let expected = attended(&operator, &seen, values, (heads, cols, rows));
            let expected = expected[..].iter();
            if steps < 2 || rows == operator.nodes() {
                for (a, b) in value(&trace, y).iter().zip(expected) {
                    assert!((a - b).abs() < 1e-12, "{a} but {b}");
                }
            }
        }
    }
}

/// Attention is dropped at the rate that was asked for, and what is left is scaled up.
#[test]
fn dropped_attention_keeps_the_mean() {
    let engine = Engine::double().sequential();
    let config = GeneratorConfig { nodes: 200, density: 0.3, ..Default::default() };
    let graph = generate(&config, 3).unwrap().graph;
    let operator = MagneticOperator::new(&graph, &OperatorConfig::default()).unwrap();
    let map = prepare(&engine, MapSource::operator(&operator));
    let parameters = Parameters::new();
    let mut tape = Tape::new(&engine);
    let mut trace = tape.trace(&parameters);
    let (heads, zeros) = (5, [0.0; 1000]);
    let h = trace.input(Shape::real(200, heads), &[1.0; 1000]);
    let s = trace.input(Shape::real(200, heads), &zeros);
    for rate in [0.0, 0.25, 0.6] {
        // Equal scores and features of 1: y(u) is the share of neighbours kept, scaled up.
        let y = trace.attend(&map, [h, s, s], 200, 0.2, Some((rate, KEY)));
        let y = value(&trace, y);
        let mean = y.iter().sum::<f64>() / 1000.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean} at the rate {rate}");
        assert_eq!(y.iter().all(|&y| (y - 1.0).abs() < 1e-12), rate == 0.0);
    }
}

/// Every matrix over edges: of operators, and of A and Aᵀ with factors on both sides.
fn edge_matrices(graph: &DiGraph) -> Vec<[EdgeMatrix; 2]> {
    let pattern = Arc::new(Pattern::new(graph).unwrap());
    let mut list = Vec::new();
    for charge in [Charge::ZERO, Charge::fraction(1, 3).unwrap()] {
        for normalize in [Normalize::Symmetric, Normalize::RandomWalk, Normalize::None] {
            for kind in [Kind::Adjacency, Kind::NegatedAdjacency, Kind::Laplacian] {
                let self_loops = kind != Kind::NegatedAdjacency;
                let config =
                    OperatorConfig { charge, normalize, kind, self_loops, ..Default::default() };
                let operator = MagneticOperator::from_pattern(pattern.clone(), &config).unwrap();
                let matrix = |seen| EdgeMatrix::operator(&operator, seen);
                list.push(neighbourhoods(&pattern).each_ref().map(matrix));
            }
        }
    }
    let (left, right) = (doubles(8, 5), doubles(8, 6));
    for along in [Along::Out, Along::In] {
        let matrix = |seen| EdgeMatrix::adjacency(along, &left, &right, seen);
        list.push(neighbourhoods(&pattern).each_ref().map(matrix));
    }
    list
}

/// From a prefix of the rows to another, on real and complex blocks.
#[test]
fn matrices_over_edges_and_their_adjoints() {
    let engine = Engine::double().sequential();
    for weighted in [false, true] {
        for matrix in edge_matrices(&graph(weighted)).into_iter().flatten() {
            let seen = matrix.neighbourhood().clone();
            let map = prepare(&engine, MapSource::Edges(matrix));
            for (from, to) in [(1, 0), (2, 1), (2, 2), (0, 1)] {
                let (from, rows) = (seen.size(from), seen.size(to));
                for field in [Field::Real, Field::Complex] {
                    check(&engine, &[Shape::new(from, 2, field)], |trace, p| {
                        let y = trace.map_head(&map, p[0], rows);
                        loss(trace, y, &[(0, 1), (rows as u32 - 1, 0)])
                    });
                }
            }
        }
    }
}

/// Wide blocks go through the vector loops in strips; a strip more or less changes nothing.
#[test]
fn blocks_of_all_widths_are_multiplied_alike() {
    let engine = Engine::double().sequential();
    let parameters = Parameters::new();
    for matrix in edge_matrices(&graph(true)).into_iter().map(|[few, _]| few) {
        let seen = matrix.neighbourhood().clone();
        let map = prepare(&engine, MapSource::Edges(matrix));
        for field in [Field::Real, Field::Complex] {
            let wide = Shape::new(seen.size(1), 101, field);
            let values = numbers(wide.len(), 9);
            let mut tape = Tape::new(&engine);
            let mut trace = tape.trace(&parameters);
            let x = trace.input(wide, &values);
            let y = trace.map_head(&map, x, seen.size(0));
            let width = trace.shape(y).width();
            let whole = value(&trace, y);
            for cols in [1, 7, 8, 17, 33, 64, 65, 100] {
                let narrow = wide.with_cols(cols);
                let rows = values.chunks(wide.width()).flat_map(|row| &row[..narrow.width()]);
                let part = trace.input(narrow, &rows.copied().collect::<Vec<_>>());
                let part = trace.map_head(&map, part, seen.size(0));
                let taken = trace.shape(part).width();
                let part = value(&trace, part);
                let rows = whole.chunks(width).zip(part.chunks(taken));
                for (whole, part) in rows {
                    assert!(whole.iter().zip(part).all(|(a, b)| (a - b).abs() < 1e-14), "{cols}");
                }
            }
        }
    }
}

fn operator(charge: Charge, normalize: Normalize) -> MagneticOperator {
    let config = GeneratorConfig { nodes: 5, density: 0.5, ..Default::default() };
    let graph = generate(&config, 3).unwrap().graph;
    let config = OperatorConfig { charge, normalize, ..Default::default() };
    MagneticOperator::new(&graph, &config).unwrap()
}

fn small_sparse() -> SparseMatrix {
    let entries = [(0, 1, 2.0), (1, 4, -1.0), (3, 0, 0.5), (4, 4, 1.5), (4, 0, 1.0), (1, 2, 0.7)];
    SparseMatrix::from_triplets(5, 5, entries.into_iter()).unwrap()
}

/// Dense, sparse, operator and filter maps, on real and complex blocks.
#[test]
fn maps_and_their_adjoints() {
    let engine = Engine::double().sequential();
    let mut maps = Vec::new();
    for shape in [Shape::real(5, 5), Shape::complex(5, 5)] {
        maps.push(MapSource::dense(shape, numbers(shape.len(), 77)).unwrap());
    }
    maps.push(MapSource::Sparse(small_sparse()));
    for charge in [Charge::ZERO, Charge::fraction(1, 3).unwrap()] {
        for normalize in [Normalize::Symmetric, Normalize::RandomWalk, Normalize::None] {
            let operator = operator(charge, normalize);
            let bounds = operator.bounds();
            maps.push(MapSource::operator(&operator));
            let heat = Filter::heat(1.0, bounds, Kind::Adjacency, Accuracy::Tolerance(1e-9));
            for filter in [Filter::linear_rank(4).unwrap(), heat.unwrap()] {
                maps.push(MapSource::filter(&operator, &filter));
            }
        }
    }
    for map in maps {
        let map = prepare(&engine, map);
        for block in [Shape::real(5, 3), Shape::complex(5, 3)] {
            check(&engine, &[block], |trace, p| {
                let y = trace.map(&map, p[0]);
                loss(trace, y, &TARGETS)
            });
        }
    }
}

/// Dropout of the numbers that a map stores: the same on the way there and back, and for all products
/// that share a mask.
#[test]
fn maps_with_dropped_numbers() {
    let engine = Engine::double().sequential();
    let dense = |shape: Shape| MapSource::dense(shape, numbers(shape.len(), 77)).unwrap();
    let sources =
        [dense(Shape::real(5, 5)), dense(Shape::complex(5, 5)), MapSource::Sparse(small_sparse())];
    for source in sources {
        let map = prepare(&engine, source);
        for rate in [0.0, 0.3] {
            for block in [Shape::real(5, 3), Shape::complex(5, 3)] {
                check(&engine, &[block, block], |trace, p| {
                    let mask = trace.mask_map(&map, rate, KEY);
                    let parts = [p[0], p[1]].map(|x| trace.map_masked(&map, mask, x));
                    let plain = trace.map(&map, p[0]);
                    let y = trace.concatenate(&[parts[0], parts[1], plain]);
                    loss(trace, y, &TARGETS)
                });
            }
        }
    }
    // What is left out is left out, and the rest scaled: with features of 1 the rows' sums say so.
    let map = prepare(&engine, MapSource::dense(Shape::real(1, 4000), vec![1.0; 4000]).unwrap());
    let parameters = Parameters::new();
    let mut tape = Tape::new(&engine);
    let mut trace = tape.trace(&parameters);
    let x = trace.input(Shape::real(4000, 1), &[1.0; 4000]);
    let mask = trace.mask_map(&map, 0.3, KEY);
    let y = trace.map_masked(&map, mask, x);
    let kept = value(&trace, y)[0] * 0.7;
    assert!((kept - kept.round()).abs() < 1e-9 && (kept / 4000.0 - 0.7).abs() < 0.03, "{kept}");
}

/// Sparse maps from a prefix of the rows to another, as the layers of a model on a diffusion have them.
#[test]
fn prefixes_of_sparse_maps() {
    let engine = Engine::double().sequential();
    let map = prepare(&engine, MapSource::Sparse(small_sparse()));
    for (from, rows) in [(5, 5), (5, 2), (3, 5), (2, 2), (1, 4)] {
        // Rows of 16 and of 64 numbers have loops of their own.
        let blocks =
            [(2, Field::Real), (2, Field::Complex), (16, Field::Real), (32, Field::Complex)];
        for (cols, field) in blocks {
            check(&engine, &[Shape::new(from, cols, field)], |trace, p| {
                let y = trace.map_head(&map, p[0], rows);
                let both = trace.sum_head(rows.min(from), &[(1.0, y), (0.5, p[0])]);
                let first = trace.head(y, rows.min(from));
                let both = trace.concatenate(&[both, first]);
                loss(trace, both, &[(0, 1)])
            });
        }
    }
}

fn series() -> Vec<Series> {
    let domain = magnon::operator::Bounds { min: -1.5, max: 1.0 };
    vec![
        Series::Powers(vec![0.5]),
        Series::Powers(vec![0.5, -0.25, 0.75]),
        Series::Chebyshev { coefficients: vec![0.4], domain },
        Series::Chebyshev { coefficients: vec![0.4, -0.3, 0.2], domain },
    ]
}

/// Filters from the nodes of a neighbourhood to its targets, which are fewer.
#[test]
fn filters_on_neighbourhoods() {
    let engine = Engine::double().sequential();
    let parameters = Parameters::new();
    for weighted in [false, true] {
        for [few, all] in edge_matrices(&graph(weighted)) {
            let seen = few.neighbourhood().clone();
            assert!(seen.size(0) < seen.size(1) && seen.size(1) < seen.size(2));
            for series in series() {
                let filter = |edges: &EdgeMatrix| MapSource::Filter {
                    edges: edges.clone(),
                    series: series.clone(),
                };
                let (map, whole) = (prepare(&engine, filter(&few)), prepare(&engine, filter(&all)));
                assert_eq!(engine.map_shape(&map).rows(), 2);
                for field in [Field::Real, Field::Complex] {
                    let block = Shape::new(seen.size(2), 2, field);
                    check(&engine, &[block], |trace, p| {
                        let y = trace.map(&map, p[0]);
                        loss(trace, y, &FEW)
                    });
                    // The rows of the targets are those of the filter on all nodes.
                    let mut tape = Tape::new(&engine);
                    let mut trace = tape.trace(&parameters);
                    let values = numbers(8 * block.width(), 3);
                    let rows =
                        seen.nodes().flat_map(|u| &values[u * block.width()..][..block.width()]);
                    let part = trace.input(block, &rows.copied().collect::<Vec<_>>());
                    let part = trace.map(&map, part);
                    let all = trace.input(block.with_rows(8), &values);
                    let all = trace.map(&whole, all);
                    let width = trace.shape(all).width();
                    let all = value(&trace, all);
                    for (row, part) in value(&trace, part).chunks(width).enumerate() {
                        let all = &all[seen.node(row) * width..][..width];
                        let same = all.iter().zip(part).all(|(a, b)| (a - b).abs() < 1e-13);
                        assert!(same, "{series:?}: {part:?} but {all:?}");
                    }
                }
            }
        }
    }
}

/// A filter that is solved for is on all nodes; rows of its result are chosen by a sparse map.
#[test]
fn filters_that_are_solved_for() {
    let engine = Engine::double().sequential();
    for weighted in [false, true] {
        for charge in [Charge::ZERO, Charge::fraction(1, 3).unwrap()] {
            let config = OperatorConfig { charge, ..Default::default() };
            let operator = MagneticOperator::new(&graph(weighted), &config).unwrap();
            let rank = Filter::page_rank(0.6, operator.bounds(), Kind::Adjacency, Accuracy::Exact)
                .unwrap();
            let numerator = vec![0.5, 0.25, -0.1];
            let other = Series::Rational { numerator, denominator: vec![1.0, -0.3, 0.2] };
            assert!(matches!(rank.series(), Series::Rational { .. }));
            let [few, all] = neighbourhoods(operator.pattern());
            let units = [(0, 4, 1.0), (1, 0, 1.0)];
            let chosen = SparseMatrix::from_triplets(2, 8, units.into_iter()).unwrap();
            let chosen = prepare(&engine, MapSource::Sparse(chosen));
            for series in [rank.series().clone(), other] {
                let edges = EdgeMatrix::operator(&operator, &all);
                let map = prepare(&engine, MapSource::Filter { edges, series: series.clone() });
                for field in [Field::Real, Field::Complex] {
                    check(&engine, &[Shape::new(8, 2, field)], |trace, p| {
                        let y = trace.map(&map, p[0]);
                        let y = trace.map(&chosen, y);
                        loss(trace, y, &FEW)
                    });
                }
                // On fewer nodes it would be another filter: refused, not computed.
                let edges = EdgeMatrix::operator(&operator, &few);
                let map = prepare(&engine, MapSource::Filter { edges, series });
                let (parameters, mut tape) = (Parameters::new(), Tape::new(&engine));
                let mut trace = tape.trace(&parameters);
                let block = Shape::real(few.size(2), 2);
                let x = trace.input(block, &numbers(block.len(), 1));
                let y = trace.map(&map, x);
                let error = trace.value(y).unwrap_err().to_string();
                assert!(error.contains("every node"), "{error}");
            }
        }
    }
}

/// What comes after a failure does nothing, and says what went wrong first.
#[test]
fn the_first_failure_is_the_one_that_is_told() {
    let engine = Engine::double().sequential();
    let mut parameters = Parameters::new();
    let w = parameters.add(&engine, "w", Shape::real(5, 2), &numbers(10, 1)).unwrap();
    let map = prepare(&engine, MapSource::Sparse(small_sparse()));
    let mut tape = Tape::new(&engine);
    let mut trace = tape.trace(&parameters);
    let x = trace.parameter(w);
    let scores = trace.map(&map, x);
    let failed = trace.attend(&map, [x, scores, scores], 5, 0.2, None);
    let later = trace.activate(Activation::Tanh, failed);
    let bias = trace.input(Shape::real(1, 2), &[0.5, 1.0]);
    let later = trace.sum(&[(1.0, later), (2.0, x)]);
    let later = trace.bias(later, bias);
    for error in [trace.value(failed).err(), trace.nll_loss(later, &FEW).err()] {
        assert_eq!(error.unwrap().to_string(), "attention needs a map over edges");
    }
    assert!(trace.value(scores).is_ok(), "what came before is there");
    // The next trace begins anew.
    let mut trace = tape.trace(&parameters);
    let x = trace.parameter(w);
    assert!(trace.nll_loss(x, &FEW).is_ok());
}

/// The map of a filter does what its eigenvalues say: h(S)v = h(λ)v for the constant vector of an
/// undirected random walk.
#[test]
fn filter_maps_act_as_their_response() {
    let engine = Engine::double().sequential();
    let operator = operator(Charge::ZERO, Normalize::RandomWalk);
    for filter in [
        Filter::polynomial(&[0.3, -1.0, 0.25]).unwrap(),
        Filter::heat(2.0, operator.bounds(), Kind::Adjacency, Accuracy::Tolerance(1e-12)).unwrap(),
    ] {
        let map = prepare(&engine, MapSource::filter(&operator, &filter));
        let parameters = Parameters::new();
        let mut tape = Tape::new(&engine);
        let mut trace = tape.trace(&parameters);
        let x = trace.input(Shape::real(5, 1), &[1.0; 5]);
        let y = trace.map(&map, x);
        for y in value(&trace, y) {
            assert!((y - filter.response(1.0)).abs() < 1e-10);
        }
    }
}

/// Where e^b has no number, the gate is open for good: its slope is 0, not 0·∞.
#[test]
fn an_open_gate_has_no_slope() {
    let engine = Engine::cpu().sequential();
    let [x, dy] = [&[1.5, 200.0][..], &[1.0]].map(|numbers| engine.buffer(numbers).unwrap());
    let (mut y, mut dx) = (engine.zeros(1).unwrap(), engine.zeros(2).unwrap());
    let shape = Shape::complex(1, 1);
    engine.activate(Activation::ExponentialGate, shape, &x, &mut y).unwrap();
    engine.activate_gradient(Activation::ExponentialGate, shape, &x, &y, &dy, &mut dx).unwrap();
    let [y, dx] = [y, dx].map(|buffer| engine.numbers(&buffer).unwrap());
    assert_eq!((y, dx), (vec![1.5], vec![1.0, 0.0]));
}
