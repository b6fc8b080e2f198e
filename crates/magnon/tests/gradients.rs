//! The gradient of every operation against central differences in double precision.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use magnon::filter::{Accuracy, Filter};
use magnon::graph::generate::{GeneratorConfig, generate};
use magnon::matrix::SparseMatrix;
use magnon::nn::{Activation, Cpu, Loss, Map, ParameterId, Parameters, Pass, Shape, Tape, Var};
use magnon::operator::{Charge, Kind, MagneticOperator, Normalize, OperatorConfig};

type Engine = Cpu<f64>;

/// Numbers that look random and stay away from kinks.
fn numbers(len: usize, salt: usize) -> Vec<f64> {
    let draw = |i: usize| ((i * 7919 + salt * 104_729 + 13) % 1009) as f64 / 504.5 - 1.0;
    (0..len).map(|i| draw(i) + 0.003).collect()
}

/// Compares the gradient of a loss with respect to every parameter with central differences.
fn check<'a>(
    engine: &'a Engine,
    shapes: &[Shape],
    model: impl Fn(&mut Pass<'_, 'a, Engine>, &[Var]) -> Loss,
) {
    let mut parameters = Parameters::new();
    let ids: Vec<ParameterId> = shapes
        .iter()
        .enumerate()
        .map(|(i, &shape)| {
            parameters.add(engine, &format!("p{i}"), shape, &numbers(shape.len(), i + 1))
        })
        .collect();
    let mut tape = Tape::new(engine);
    let loss = |parameters: &Parameters<Engine>, tape: &mut Tape<'a, Engine>| {
        let mut pass = tape.pass(parameters);
        let vars: Vec<Var> = ids.iter().map(|&id| pass.parameter(id)).collect();
        model(&mut pass, &vars).mean
    };
    // Twice, so that buffers that are used again are seen to be clean.
    let mut gradients = Vec::new();
    for _ in 0..2 {
        gradients = parameters.zeros(engine);
        let mut pass = tape.pass(&parameters);
        let vars: Vec<Var> = ids.iter().map(|&id| pass.parameter(id)).collect();
        let loss = model(&mut pass, &vars);
        pass.backward(loss, &mut gradients);
    }
    let mut largest = 0.0f64;
    for (p, gradient) in gradients.iter().enumerate() {
        for (i, &found) in gradient.iter().enumerate() {
            let step = 1e-5;
            let mut at = |by: f64| {
                parameters.values_mut()[p][i] += by;
                let value = loss(&parameters, &mut tape);
                parameters.values_mut()[p][i] -= by;
                value
            };
            let expected = (at(step) - at(-step)) / (2.0 * step);
            assert!(
                (found - expected).abs() < 1e-8 + 1e-6 * expected.abs(),
                "parameter {p}, number {i}: {found} but {expected} by differences"
            );
            largest = largest.max(expected.abs());
        }
    }
    assert!(largest > 1e-4, "the loss does not depend on its parameters");
}

const TARGETS: [(u32, u32); 4] = [(0, 1), (1, 0), (3, 2), (4, 1)];

#[test]
fn products_of_real_and_complex_matrices() {
    let engine = Engine::sequential();
    let (real, complex) = (Shape::real, Shape::complex);
    for left in [real(5, 4), complex(5, 4)] {
        for right in [real(4, 3), complex(4, 3)] {
            let bias = Shape { rows: 1, cols: 3, field: left.field.join(right.field) };
            check(&engine, &[left, right, bias], |pass, p| {
                let y = pass.linear(p[0], p[1], p[2]);
                let y = match pass.shape(y).field {
                    magnon::nn::Field::Real => y,
                    magnon::nn::Field::Complex => pass.activate(Activation::Parts, y),
                };
                pass.likelihood(y, &TARGETS)
            });
        }
    }
}

#[test]
fn activations_and_read_outs() {
    let engine = Engine::sequential();
    for f in [Activation::Tanh, Activation::Relu] {
        check(&engine, &[Shape::real(5, 3)], |pass, p| {
            let y = pass.activate(f, p[0]);
            pass.likelihood(y, &TARGETS)
        });
    }
    use Activation::{ComplexRelu, ExponentialGate, GatedTanh, Modulus, Parts};
    for f in [GatedTanh, ExponentialGate, ComplexRelu, Modulus, Parts] {
        check(&engine, &[Shape::complex(5, 3)], |pass, p| {
            let mut y = pass.activate(f, p[0]);
            if f == ComplexRelu {
                y = pass.activate(Parts, y);
            }
            pass.likelihood(y, &TARGETS)
        });
    }
}

#[test]
fn dropout_concatenation_and_shared_matrices() {
    let engine = Engine::sequential();
    check(&engine, &[Shape::real(5, 3), Shape::real(5, 2)], |pass, p| {
        let dropped = pass.dropout(p[0], 0.4, [1, 2, 3, 4]);
        let both = pass.concatenate(dropped, p[1]);
        let both = pass.concatenate(both, p[0]); // used twice: its gradients add up
        pass.likelihood(both, &TARGETS)
    });
    check(&engine, &[Shape::complex(5, 3)], |pass, p| {
        let dropped = pass.dropout(p[0], 0.4, [1, 2, 3, 4]);
        let both = pass.concatenate(dropped, p[0]);
        let y = pass.activate(Activation::Parts, both);
        pass.likelihood(y, &TARGETS)
    });
}

#[test]
fn dropout_keeps_the_mean() {
    let engine = Engine::sequential();
    let parameters = Parameters::new();
    let mut tape = Tape::new(&engine);
    let mut pass = tape.pass(&parameters);
    let x = pass.input(Shape::real(200, 500), &[1.0; 100_000]);
    let y = pass.dropout(x, 0.3, [9, 9, 9, 9]);
    let y = pass.value(y);
    let kept = y.iter().filter(|&&v| v != 0.0).count() as f64 / 1e5;
    assert!((kept - 0.7).abs() < 0.01, "{kept}");
    assert!(y.iter().all(|&v| v == 0.0 || (v - 1.0 / 0.7).abs() < 1e-12));
}

fn operator(charge: Charge, normalize: Normalize) -> MagneticOperator {
    let config = GeneratorConfig { nodes: 5, density: 0.5, ..Default::default() };
    let graph = generate(&config, 3).unwrap().graph;
    let config = OperatorConfig { charge, normalize, ..Default::default() };
    MagneticOperator::new(&graph, &config).unwrap()
}

/// Dense, sparse, operator and filter maps, on real and complex blocks.
#[test]
fn maps_and_their_adjoints() {
    let engine = Engine::sequential();
    let mut maps = Vec::new();
    for shape in [Shape::real(5, 5), Shape::complex(5, 5)] {
        maps.push(Map::dense(shape, numbers(shape.len(), 77)).unwrap());
    }
    let entries = [(0, 1, 2.0), (1, 4, -1.0), (3, 0, 0.5), (4, 4, 1.5), (4, 0, 1.0)];
    maps.push(Map::sparse(&SparseMatrix::from_triplets(5, 5, entries.into_iter()).unwrap()));
    for charge in [Charge::ZERO, Charge::fraction(1, 3).unwrap()] {
        for normalize in [Normalize::Symmetric, Normalize::RandomWalk, Normalize::None] {
            let operator = operator(charge, normalize);
            let bounds = operator.bounds();
            maps.push(Map::operator(&operator));
            let heat = Filter::heat(1.0, bounds, Kind::Adjacency, Accuracy::Tolerance(1e-9));
            for filter in [Filter::linear_rank(4).unwrap(), heat.unwrap()] {
                maps.push(Map::filter(&operator, &filter).unwrap());
            }
        }
    }
    for map in &maps {
        for block in [Shape::real(5, 3), Shape::complex(5, 3)] {
            check(&engine, &[block], |pass, p| {
                let y = pass.map(map, p[0]);
                let y = match pass.shape(y).field {
                    magnon::nn::Field::Real => y,
                    magnon::nn::Field::Complex => pass.activate(Activation::Parts, y),
                };
                pass.likelihood(y, &TARGETS)
            });
        }
    }
}

/// The map of a filter does what its eigenvalues say: h(S)v = h(λ)v for the constant vector of an
/// undirected random walk.
#[test]
fn filter_maps_act_as_their_response() {
    let engine = Engine::sequential();
    let operator = operator(Charge::ZERO, Normalize::RandomWalk);
    for filter in [
        Filter::polynomial(&[0.3, -1.0, 0.25]).unwrap(),
        Filter::heat(2.0, operator.bounds(), Kind::Adjacency, Accuracy::Tolerance(1e-12)).unwrap(),
    ] {
        let map = Map::filter(&operator, &filter).unwrap();
        let parameters = Parameters::new();
        let mut tape = Tape::new(&engine);
        let mut pass = tape.pass(&parameters);
        let x = pass.input(Shape::real(5, 1), &[1.0; 5]);
        let y = pass.map(&map, x);
        for &y in pass.value(y) {
            assert!((y - filter.response(1.0)).abs() < 1e-10);
        }
    }
}
