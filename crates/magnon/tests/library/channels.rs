//! Channels that share products, against the definition of each.

use magnon::Error;
use magnon::data::{Dataset, Features};
use magnon::filter::{Propagated, propagate};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::{Matrix, SparseMatrix};
use magnon::model::{Channel, ChannelBlock};
use magnon::operator::MagneticOperator;
use magnon::workflow::{ChannelsReport, propagate_channels, write_channels};
use num_complex::Complex64;
use std::collections::HashMap;

/// Some edges with weights, among them a pair and a node without edges out, or in.
fn graph() -> DiGraph {
    let edges = [
        (0, 1, 1.0),
        (1, 2, 2.0),
        (2, 0, 0.5),
        (1, 0, 3.0),
        (3, 0, 1.5),
        (2, 4, 1.0),
        (3, 4, 0.25),
        (4, 1, 2.0),
    ];
    GraphBuilder::new(6).weighted_edges(edges).build().unwrap().graph
}

/// P = D_out^{-1/2} A D_in^{-1/2}, dense.
fn step(graph: &DiGraph) -> Vec<Vec<f64>> {
    let nodes = graph.nodes();
    let mut matrix = vec![vec![0.0; nodes]; nodes];
    for (u, row) in matrix.iter_mut().enumerate() {
        let weights = graph.weights(u).unwrap();
        for (&v, &weight) in graph.targets(u).iter().zip(weights) {
            row[v as usize] = f64::from(weight);
        }
    }
    let out: Vec<f64> = matrix.iter().map(|row| row.iter().sum()).collect();
    let inward: Vec<f64> = (0..nodes).map(|v| matrix.iter().map(|row| row[v]).sum()).collect();
    for (u, row) in matrix.iter_mut().enumerate() {
        for (v, value) in row.iter_mut().enumerate().filter(|(_, value)| **value != 0.0) {
            *value /= (out[u] * inward[v]).sqrt();
        }
    }
    matrix
}

fn features() -> Matrix<f32> {
    let values = (0..18).map(|i| ((i * 7 + 3) % 11) as f32 - 4.5).collect();
    Matrix::from_vec(6, 3, values).unwrap()
}

fn dataset(features: Features) -> Dataset {
    let mut dataset = magnon::data::SyntheticConfig::demo().dataset("demo").unwrap();
    (dataset.graph, dataset.features, dataset.labels) = (graph(), Some(features), None);
    dataset
}

type Found = HashMap<String, Vec<Complex64>>;

fn run(dataset: &Dataset, list: &str) -> Result<(Found, ChannelsReport), Error> {
    let channels = Channel::list(list).unwrap();
    let mut found = Found::new();
    let mut take = |channel: &Channel, block: ChannelBlock| {
        let real = |x: &f32| Complex64::new(f64::from(*x), 0.0);
        let numbers = match block {
            ChannelBlock::Sparse(block) => block.to_dense().as_slice().iter().map(real).collect(),
            ChannelBlock::Real(block) => block.as_slice().iter().map(real).collect(),
            ChannelBlock::Complex(block) => {
                let wide = |z: &num_complex::Complex32| Complex64::new(z.re.into(), z.im.into());
                block.as_slice().iter().map(wide).collect()
            }
        };
        found.insert(channel.to_string(), numbers);
        Ok(())
    };
    let report = propagate_channels(dataset, &channels, &mut take, &())?;
    Ok((found, report))
}

fn near(a: &[Complex64], b: &[Complex64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-5)
}

/// The product of a dense matrix, or of its transpose, with rows of three.
fn times(matrix: &[Vec<f64>], transposed: bool, x: &[f64]) -> Vec<f64> {
    let nodes = matrix.len();
    let entry = |u: usize, v: usize| if transposed { matrix[v][u] } else { matrix[u][v] };
    let cell = |u: usize, c: usize| (0..nodes).map(|v| entry(u, v) * x[3 * v + c]).sum();
    (0..nodes).flat_map(|u| (0..3).map(move |c| (u, c))).map(|(u, c)| cell(u, c)).collect()
}

#[test]
fn words_are_products_of_dense_matrices() {
    let dataset = dataset(Features::Dense(features()));
    let (found, report) = run(&dataset, "x,out,in,out.out,out.in,in.out,in.in,out.in.in").unwrap();
    // One product for X, PX, PᵀX and PᵀPᵀX each.
    assert_eq!((report.products, report.channels.len()), (4, 8));
    let matrix = step(&dataset.graph);
    let x: Vec<f64> = features().as_slice().iter().map(|&x| f64::from(x)).collect();
    for (word, numbers) in &found {
        let steps = word.split('.').rev().filter(|step| *step != "x");
        let wanted = steps.fold(x.clone(), |block, step| times(&matrix, step == "in", &block));
        let wanted: Vec<Complex64> = wanted.iter().map(|&x| Complex64::new(x, 0.0)).collect();
        assert!(near(numbers, &wanted), "{word}: {numbers:?} {wanted:?}");
    }
    // A node without edges out gets exactly nothing from them.
    assert!(found["out"][15..].iter().chain(&found["in"][9..12]).all(|z| z.norm() == 0.0));
}

#[test]
fn powers_of_several_charges_share_their_products() {
    let dataset = dataset(Features::Dense(features()));
    let power = |order: usize, charge: &str| {
        format!("power(order={order},charge={charge},self_loops=false,normalize=directed)")
    };
    let mut list: Vec<String> = Vec::new();
    for charge in ["1/8", "1/4", "1/3"] {
        list.extend([1, 2, 3].map(|order| power(order, charge)));
    }
    let plain = "power(order=1,self_loops=false,normalize=directed)".to_owned();
    list.extend([plain.clone(), "linear-rank(order=4,charge=1/4)".to_owned()]);
    let (found, report) = run(&dataset, &list.join(",")).unwrap();
    // Three for all powers of up to two steps; those of three, and the filter, by themselves.
    let mut alone = 0;
    for text in &list {
        let Channel::Filter { operator, filter } = text.parse::<Channel>().unwrap() else {
            panic!("{text} is a filter")
        };
        let operator = MagneticOperator::new(&dataset.graph, &operator).unwrap();
        let filter = filter.build(operator.bounds(), operator.config().kind).unwrap();
        alone += match filter.order() {
            Some(products) if products > 2 => products,
            _ => 0,
        };
        let x = Features::Dense(features());
        let wanted: Vec<Complex64> = match propagate(&operator, &filter, &x, &()).unwrap() {
            Propagated::Real(block) => {
                assert_eq!(text, &plain);
                block.as_slice().iter().map(|&x| Complex64::new(x.into(), 0.0)).collect()
            }
            Propagated::Complex(block) => {
                block.as_slice().iter().map(|z| Complex64::new(z.re.into(), z.im.into())).collect()
            }
        };
        assert!(near(&found[text], &wanted), "{text}");
    }
    assert_eq!(report.products, 3 + alone);
}

#[test]
fn sparse_features_and_files() {
    let full = features();
    let entries = || (0..18).map(|i| (i / 3, (i % 3) as u32, full.as_slice()[i]));
    let sparse = SparseMatrix::from_triplets(6, 3, entries()).unwrap();
    let data = dataset(Features::Sparse(sparse));
    let list = "x,out.in,power(order=1,charge=1/8,self_loops=false,normalize=directed)";
    let (found, _) = run(&data, list).unwrap();
    assert_eq!(found, run(&dataset(Features::Dense(features())), list).unwrap().0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/channels.npz");
    let channels = Channel::list(list).unwrap();
    write_channels(&path, &data, &channels, &()).unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    let names: Vec<String> =
        (0..3).map(|i| archive.by_index(i).unwrap().name().unwrap().into_owned()).collect();
    assert_eq!(names[0], "x.npy");
    assert!(names.contains(&"out.in.npy".to_owned()));
    // Header and numbers.
    assert_eq!(archive.by_name("out.in.npy").unwrap().size(), 128 + 18 * 4);
}

#[test]
fn what_cannot_be_is_refused_and_leaves_no_file() {
    let data = dataset(Features::Dense(features()));
    let refused = |list: &str| run(&data, list).unwrap_err().to_string();
    assert!(refused("x,rows-out").contains("rows-out is made of rows of the adjacency"));
    assert!(refused("out,x,out").contains("out is named twice"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.npz");
    // A polynomial without coefficients fails after X was written.
    let channels = Channel::list("x,polynomial").unwrap();
    assert!(write_channels(&path, &data, &channels, &()).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let bare = Dataset { features: None, ..data };
    assert!(run(&bare, "x").unwrap_err().to_string().contains("no features"));
}
