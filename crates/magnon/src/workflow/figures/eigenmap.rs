//! Nodes on a map.

use crate::data::{Dataset, Labels, NodeNames};
use crate::spectrum::Eigenmap;
use crate::workflow::MappedNodes;
use magnon_report::EigenmapFigure;
use num_complex::Complex64;

/// Nodes as points: one eigenvector in the plane, two with the phase of the second as height.
pub fn eigenmap(mapped: &MappedNodes, dataset: &Dataset) -> EigenmapFigure {
    let title = eigenmap_title(&mapped.report.name, &mapped.report.charge_text);
    map(title, &mapped.map, dataset.labels.as_ref(), dataset.node_names.as_ref())
}

/// The same, from labels and names of the nodes.
pub(in crate::workflow) fn map(
    title: String,
    map: &Eigenmap,
    labels: Option<&Labels>,
    node_names: Option<&NodeNames>,
) -> EigenmapFigure {
    let rows = 0..map.points.rows();
    let column = |j: usize, of: fn(&Complex64) -> f64| -> Vec<f64> {
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

/// The title of a map of a data set.
pub(in crate::workflow) fn eigenmap_title(name: &str, charge: &str) -> String {
    format!("{name} by eigenvectors of its magnetic Laplacian, q = {charge}")
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
