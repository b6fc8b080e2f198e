//! Makes features from the graph.

use crate::Error;
use crate::data::{
    DataError, Dataset, FeatureNorm, Features, MadeFeatures, MadeKind, Scaling, set_features,
};
use crate::graph::{DiGraph, log_degrees};
use crate::matrix::{Matrix, SparseMatrix};
use crate::operator::{Charge, Kind, MagneticOperator, OperatorConfig};
use crate::spectrum::{Select, SpectrumConfig, spectrum};
use num_complex::Complex64;

/// Puts features that are made from the graph in place of those of the data set, or beside them, and says so. Those that
/// are scaled by default stay as they are where `norm` is none.
pub fn make_features(
    dataset: &mut Dataset,
    made: MadeFeatures,
    norm: FeatureNorm,
) -> Result<(), Error> {
    let name = dataset.name.clone();
    let (features, usual) = match made.kind {
        MadeKind::Degree => (degrees(&dataset.graph), FeatureNorm::Standard),
        MadeKind::Identity => (identity(&dataset.graph, &name)?, FeatureNorm::None),
        MadeKind::Eigen(count) => (eigenvectors(&dataset.graph, count)?, FeatureNorm::None),
        MadeKind::None => (ones(&dataset.graph), FeatureNorm::None),
    };
    let norm = if norm == FeatureNorm::None { norm } else { usual };
    let given = dataset.features.take().filter(|_| made.added);
    let first = std::mem::take(&mut dataset.scaling);
    set_features(dataset, features, &name, norm)?;
    if let (Some(given), Some(own)) = (given, dataset.features.take_if(|_| made.added)) {
        let rest = std::mem::take(&mut dataset.scaling);
        let columns = given.cols();
        dataset.scaling = Scaling::Joined { columns, first: Box::new(first), rest: Box::new(rest) };
        dataset.features = Some(given.beside(&own));
    }
    dataset.remarks.push(made.words());
    Ok(())
}

fn degrees(graph: &DiGraph) -> Features {
    Features::Dense(log_degrees(graph))
}

fn ones(graph: &DiGraph) -> Features {
    let ones = Matrix::from_vec(graph.nodes(), 1, vec![1.0; graph.nodes()]);
    Features::Dense(ones.unwrap_or_else(|_| Matrix::zeros(0, 1)))
}

fn identity(graph: &DiGraph, name: &str) -> Result<Features, Error> {
    let nodes = graph.nodes();
    let ones = (0..nodes).map(|u| (u, u as u32, 1.0));
    let matrix = SparseMatrix::from_triplets(nodes, nodes, ones);
    Ok(Features::Sparse(matrix.map_err(|error| DataError::format(name, error.to_string()))?))
}

/// Real parts, then imaginary ones where there are any. The phase of an eigenvector is free: its largest entry is made
/// real and positive, so that the same graph always has the same features.
fn eigenvectors(graph: &DiGraph, count: usize) -> Result<Features, Error> {
    let charge = Charge::fraction(1, 4).unwrap_or(Charge::ZERO);
    let kind = Kind::Laplacian;
    let config = OperatorConfig { charge, kind, self_loops: false, ..Default::default() };
    let operator = MagneticOperator::new(graph, &config)?;
    let select = Select::Smallest(count.min(graph.nodes()));
    let solver = SpectrumConfig { select, vectors: true, ..Default::default() };
    let found = spectrum(&operator, &solver, &())?;
    let vectors = found.vectors.unwrap_or_else(|| Matrix::zeros(graph.nodes(), 0));
    let (rows, count) = (vectors.rows(), vectors.cols());
    let root = (rows as f64).sqrt();
    let turns: Vec<Complex64> = (0..count)
        .map(|j| {
            // Of entries that are about as large the first, whatever their last digits.
            let most = (0..rows).map(|u| vectors.row(u)[j].norm()).fold(0.0, f64::max);
            let first = (0..rows).map(|u| vectors.row(u)[j]).find(|z| z.norm() >= 0.999 * most);
            first.filter(|z| z.norm() > 0.0).map_or(root.into(), |z| root * z.conj() / z.norm())
        })
        .collect();
    let parts = if operator.is_real() { 1 } else { 2 };
    let mut columns = Matrix::<f32>::zeros(rows, parts * count);
    let width = parts * count;
    for (u, row) in columns.as_mut_slice().chunks_exact_mut(width.max(1)).enumerate() {
        for (j, turn) in turns.iter().enumerate() {
            let z = turn * vectors.row(u)[j];
            row[j] = z.re as f32;
            if parts == 2 {
                row[count + j] = z.im as f32;
            }
        }
    }
    Ok(Features::Dense(columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SyntheticConfig;

    #[test]
    fn degrees_and_identity() {
        let mut dataset = SyntheticConfig::demo().dataset("demo").unwrap();
        make_features(&mut dataset, MadeKind::Degree.into(), FeatureNorm::Auto).unwrap();
        let (mean, std) = dataset.features.as_ref().unwrap().moments();
        assert!(mean.iter().all(|m| m.abs() < 1e-6) && std.iter().all(|s| (s - 1.0).abs() < 1e-6));
        make_features(&mut dataset, MadeKind::Identity.into(), FeatureNorm::Auto).unwrap();
        let features = dataset.features.unwrap();
        assert_eq!((features.rows(), features.cols()), (features.cols(), features.rows()));
        assert!(features.values().iter().all(|&v| v == 1.0));
    }

    /// Given columns stay, and a model can scale the same columns of other data in the same way.
    #[test]
    fn features_are_added() {
        let mut dataset = SyntheticConfig::demo().dataset("demo").unwrap();
        let raw = dataset.features.clone().unwrap();
        dataset.scaling = FeatureNorm::Standard.apply(dataset.features.as_mut().unwrap());
        let given = dataset.features.clone().unwrap();
        make_features(&mut dataset, "+degree".parse().unwrap(), FeatureNorm::Auto).unwrap();
        let joined = dataset.features.clone().unwrap();
        assert_eq!(joined.cols(), given.cols() + 2);
        assert_eq!(joined.split_at(given.cols())[0].values(), given.values());
        let mut again = raw.beside(&degrees(&dataset.graph));
        dataset.scaling.apply(&mut again);
        assert_eq!(again.values(), joined.values());
    }

    /// They solve Lu = λu, and a relabelled graph has the same ones.
    #[test]
    fn eigenvectors_are_those_of_the_laplacian() {
        let graph = SyntheticConfig::demo().dataset("demo").unwrap().graph;
        let Features::Dense(x) = eigenvectors(&graph, 3).unwrap() else { panic!("dense") };
        assert_eq!((x.rows(), x.cols()), (graph.nodes(), 6));
        let charge = Charge::fraction(1, 4).unwrap();
        let kind = Kind::Laplacian;
        let config = OperatorConfig { charge, kind, self_loops: false, ..Default::default() };
        let operator = MagneticOperator::new(&graph, &config).unwrap();
        for j in 0..3 {
            let entry = |u: usize| Complex64::new(x.row(u)[j].into(), x.row(u)[3 + j].into());
            let product = |u: usize| operator.row(u).map(|(v, l)| l * entry(v)).sum::<Complex64>();
            let square: f64 = (0..graph.nodes()).map(|u| entry(u).norm_sqr()).sum();
            assert!((square / graph.nodes() as f64 - 1.0).abs() < 1e-5);
            let form = (0..graph.nodes()).map(|u| entry(u).conj() * product(u)).sum::<Complex64>();
            let value = form.re / square;
            let rest = (0..graph.nodes()).map(|u| (product(u) - value * entry(u)).norm_sqr());
            assert!((rest.sum::<f64>() / square).sqrt() < 1e-4);
        }
    }
}
