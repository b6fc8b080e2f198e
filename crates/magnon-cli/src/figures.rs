//! From results to figures.

use magnon::data::write::write_atomic;
use magnon::data::{Dataset, Labels, NodeNames};
use magnon::filter::Filter;
use magnon::operator::Bounds;
use magnon::spectrum::{Density, Eigenmap, Frustration};
use magnon::train::EpochRecord;
use magnon::workflow::{FrequencyCurve, FrequencyReport};
use magnon_report::{
    Curve, DensityCurve, DensityFigure, EigenmapFigure, Figure, FrustrationFigure, Report,
    SpectrumCurve, SpectrumFigure, TrainingFigure,
};
use std::path::Path;

/// Draws a figure into a file.
pub fn save(figure: &dyn Figure, path: &Path) -> anyhow::Result<()> {
    let bytes = magnon_report::encode(figure, path)?;
    Ok(write_atomic(path, |out| out.write_all(&bytes))?)
}

/// Writes a page into a file.
pub fn save_page(page: &Report, path: &Path) -> anyhow::Result<()> {
    let html = page.html()?;
    Ok(write_atomic(path, |out| out.write_all(html.as_bytes()))?)
}

/// Sorted eigenvalues at one charge.
pub fn eigenvalues(title: String, charge: f64, values: &[f64]) -> SpectrumFigure {
    let eigenvalues = values.to_vec();
    let curve = SpectrumCurve { charge, eigenvalues, ..SpectrumCurve::default() };
    SpectrumFigure { title, curves: vec![curve], ..SpectrumFigure::default() }
}

/// The density with a band of two standard errors.
pub fn density(title: String, name: String, found: &Density) -> DensityFigure {
    let band = |sign: f64| {
        let pairs = found.density.iter().zip(&found.error);
        pairs.map(|(d, e)| d + sign * 2.0 * e).collect()
    };
    let (x, density) = (found.lambda.clone(), found.density.clone());
    let curve = DensityCurve { name, x, density, low: band(-1.0), high: band(1.0) };
    DensityFigure { title, curves: vec![curve] }
}

/// λ_min against the charge.
pub fn frustration(title: String, found: &Frustration) -> FrustrationFigure {
    FrustrationFigure {
        title,
        charges: found.curve.iter().map(|point| point.charge).collect(),
        values: found.curve.iter().map(|point| point.lambda_min).collect(),
        minima: found.minima.iter().map(|point| point.charge).collect(),
    }
}

/// Eigenvalues of the renormalised adjacency beside their approximation, one curve per charge.
pub fn frequency_response(
    title: String,
    found: &FrequencyReport,
    response: Curve,
) -> SpectrumFigure {
    let ascending = |values: &[f64]| values.iter().rev().copied().collect();
    let curve = |curve: &FrequencyCurve| SpectrumCurve {
        charge: curve.charge,
        eigenvalues: ascending(&curve.adjacency),
        approximation: ascending(&curve.approximation),
        indices: Vec::new(),
    };
    let curves = found.curves.iter().map(curve).collect();
    SpectrumFigure { title, curves, response: Some(response), ..SpectrumFigure::default() }
}

/// h(λ) over an interval.
pub fn response(name: String, filter: &Filter, bounds: Bounds) -> Curve {
    const POINTS: usize = 400;
    let x: Vec<f64> = (0..=POINTS)
        .map(|i| bounds.min + (bounds.max - bounds.min) * i as f64 / POINTS as f64)
        .collect();
    let y = x.iter().map(|&lambda| filter.response(lambda)).collect();
    Curve { name, x, y, dashed: false }
}

/// Nodes as points: one eigenvector in the plane, two with the phase of the second as height.
pub fn eigenmap(title: String, map: &Eigenmap, dataset: &Dataset) -> EigenmapFigure {
    eigenmap_of(title, map, dataset.labels.as_ref(), dataset.node_names.as_ref())
}

/// The same, from labels and names of the nodes.
pub fn eigenmap_of(
    title: String,
    map: &Eigenmap,
    labels: Option<&Labels>,
    node_names: Option<&NodeNames>,
) -> EigenmapFigure {
    let rows = 0..map.points.rows();
    let column = |j: usize, of: fn(&num_complex::Complex64) -> f64| -> Vec<f64> {
        rows.clone().map(|u| of(&map.points.row(u)[j])).collect()
    };
    let real = map.points.as_slice().iter().all(|z| z.im.abs() < 1e-12);
    let vectors = map.vectors.len();
    let name = |part: &str, j: usize| format!("{part} u{}", subscript(map.vectors[j]));
    // A real eigenvector has one coordinate, a complex one two.
    let (x, y, z, axes) = match (real, vectors) {
        (true, 1) => (
            column(0, |z| z.re),
            column(0, |z| z.im),
            Vec::new(),
            [name("Re", 0), name("Im", 0), String::new()],
        ),
        (true, 2) => (
            column(0, |z| z.re),
            column(1, |z| z.re),
            Vec::new(),
            [name("", 0), name("", 1), String::new()],
        ),
        (true, _) => (
            column(1, |z| z.re),
            column(2, |z| z.re),
            column(0, |z| z.re),
            [name("", 1), name("", 2), name("", 0)],
        ),
        (false, 1) => (
            column(0, |z| z.re),
            column(0, |z| z.im),
            Vec::new(),
            [name("Re", 0), name("Im", 0), String::new()],
        ),
        (false, _) => (
            column(0, |z| z.re),
            column(0, |z| z.im),
            column(1, |z| z.re),
            [name("Re", 0), name("Im", 0), name("Re", 1)],
        ),
    };
    let phases = match real {
        true => Vec::new(),
        false => rows.clone().map(|u| map.phases.row(u)[0]).collect(),
    };
    let (labels, class_names) = classes(labels, map.points.rows());
    let node_names = match node_names {
        Some(names) => rows.map(|u| names.name(u).unwrap_or_default().into_owned()).collect(),
        None => Vec::new(),
    };
    let edges = map.edges.iter().map(|&(u, v)| [u, v]).collect();
    EigenmapFigure { title, x, y, z, axes, phases, labels, class_names, node_names, edges }
}

/// The class of each node, with one more for nodes without a label.
fn classes(labels: Option<&Labels>, nodes: usize) -> (Vec<u16>, Vec<String>) {
    let Some(labels) = labels else { return (Vec::new(), Vec::new()) };
    let mut names = labels.names.clone();
    let unknown = names.len() as u32;
    if names.len() >= usize::from(u16::MAX) {
        return (Vec::new(), Vec::new());
    }
    if labels.classes.iter().any(Option::is_none) {
        names.push("no label".to_owned());
    }
    let class = |u: usize| labels.classes.get(u).copied().flatten().unwrap_or(unknown) as u16;
    ((0..nodes).map(class).collect(), names)
}

fn subscript(number: usize) -> String {
    let digit = |c: char| char::from_u32('₀' as u32 + c as u32 - '0' as u32).unwrap_or(c);
    number.to_string().chars().map(digit).collect()
}

/// Loss and accuracy by epoch.
pub fn training(title: String, history: &[EpochRecord], best: usize) -> TrainingFigure {
    let column = |of: fn(&EpochRecord) -> f64| history.iter().map(of).collect();
    TrainingFigure {
        title,
        train_loss: column(|record| record.train_loss),
        val_loss: column(|record| record.val_loss),
        train_accuracy: column(|record| record.train_accuracy),
        val_accuracy: column(|record| record.val_accuracy),
        best_epoch: Some(best),
    }
}
