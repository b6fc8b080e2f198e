//! Eigenmaps: nodes at the coordinates that eigenvectors give them.

use super::draw::check::Check;
use super::draw::cloud::{Cloud, MOST_EDGES};
use super::draw::number;
use super::draw::plan::{Art, Plan, Plot};
use super::draw::scale::Domain;
use super::draw::table::{Table, spread_over};
use crate::PlotError;
use serde::{Deserialize, Serialize};

/// Nodes in the plane or in space, coloured by class, with faint edges; beside them the nodes'
/// phases on a circle. Files show x and y; a page can be turned where there is a z.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EigenmapFigure {
    /// The title.
    pub title: String,
    /// First coordinates, one per node.
    pub x: Vec<f64>,
    /// Second coordinates.
    pub y: Vec<f64>,
    /// Third coordinates; empty for a map in the plane.
    pub z: Vec<f64>,
    /// What the three coordinates are, as `Re u₁`; empty names become x, y, z.
    pub axes: [String; 3],
    /// Phases in radians; empty for none.
    pub phases: Vec<f64>,
    /// The nodes' classes; empty for one class.
    pub labels: Vec<u16>,
    /// The classes' names; empty for their numbers.
    pub class_names: Vec<String>,
    /// The nodes' names, shown under the pointer; empty for their numbers.
    pub node_names: Vec<String>,
    /// Source and target of each edge. At most 20,000 are drawn, evenly chosen.
    pub edges: Vec<[u32; 2]>,
}

impl EigenmapFigure {
    fn check(&self) -> Result<(), PlotError> {
        let check = Check("eigenmap");
        let nodes = self.x.len();
        check.curve("the list of coordinates", &self.x, &self.y)?;
        for (what, list) in [("z", &self.z), ("the list of phases", &self.phases)] {
            if !list.is_empty() {
                check.length(what, list.len(), nodes)?;
                check.finite(what, list)?;
            }
        }
        if !self.labels.is_empty() {
            check.length("the list of labels", self.labels.len(), nodes)?;
        }
        if !self.node_names.is_empty() {
            check.length("the list of node names", self.node_names.len(), nodes)?;
        }
        if !self.class_names.is_empty() {
            for (index, &label) in self.labels.iter().enumerate() {
                check.below("the list of labels", index, label.into(), self.class_names.len())?;
            }
        }
        for (index, end) in self.edges.iter().flatten().enumerate() {
            check.below("the list of edges", index / 2, *end as usize, nodes)?;
        }
        Ok(())
    }

    /// Into the cube from −1 to 1, with one scale for all axes: they are parts of one vector space.
    fn points(&self) -> Vec<[f64; 3]> {
        let flat = vec![0.0; self.x.len()];
        let z = if self.z.is_empty() { &flat } else { &self.z };
        let lists = [&self.x, &self.y, z];
        let domains = lists.map(|list| Domain::of(list.iter().copied()));
        let middles = domains.map(|domain| 0.5 * domain.low + 0.5 * domain.high);
        // A coordinate that never changes asks for no room.
        let changes = |list: &[f64]| list.iter().any(|value| *value != list[0]);
        let spans = std::iter::zip(lists, domains).filter(|(list, _)| changes(list));
        let half = spans.map(|(_, d)| 0.5 * d.high - 0.5 * d.low).fold(0.0, f64::max);
        let half = if half > 0.0 { half } else { 1.0 };
        let place = |axis: usize, value: f64| (value - middles[axis]) / half;
        (self.x.iter().zip(&self.y).zip(z))
            .map(|((&x, &y), &z)| [place(0, x), place(1, y), place(2, z)])
            .collect()
    }

    fn class_names(&self) -> Vec<String> {
        if !self.class_names.is_empty() {
            return self.class_names.clone();
        }
        let last = self.labels.iter().max().copied().unwrap_or(0);
        (0..=last).map(|class| format!("class {class}")).collect()
    }
}

impl Plot for EigenmapFigure {
    fn plan(&self) -> Result<Plan, PlotError> {
        self.check()?;
        let nodes = self.x.len();
        let class_names = self.class_names();
        let labels = if self.labels.is_empty() { vec![0; nodes] } else { self.labels.clone() };
        let kept = spread_over(self.edges.len(), MOST_EDGES);
        let edges: Vec<[u32; 2]> = kept.into_iter().map(|at| self.edges[at]).collect();
        let mut description = format!("Eigenmap of {} nodes", number::count(nodes));
        if class_names.len() > 1 {
            description += &format!(" of {} classes", class_names.len());
        }
        if edges.len() < self.edges.len() {
            let (some, all) = (number::count(edges.len()), number::count(self.edges.len()));
            description += &format!(", with {some} of {all} edges");
        } else if !edges.is_empty() {
            description += &format!(", with {} edges", number::count(edges.len()));
        }
        if !self.phases.is_empty() {
            description += "; beside it the phase of every node on a circle, one ring a class";
        }
        description += ".";
        let mut sizes = vec![0usize; class_names.len()];
        for &label in &labels {
            sizes[usize::from(label)] += 1;
        }
        let rows =
            class_names.iter().zip(sizes).map(|(name, size)| vec![name.clone(), size.to_string()]);
        let table = Table {
            caption: "Nodes by class".into(),
            head: vec!["class".into(), "nodes".into()],
            rows: rows.collect(),
        };
        let mut axes = self.axes.clone();
        for (axis, plain) in axes.iter_mut().zip(["x", "y", "z"]) {
            // The names stand in a corner of the map.
            *axis = super::draw::text::fit(axis, 12.0, 100.0);
            if axis.is_empty() {
                axis.push_str(plain);
            }
        }
        let cloud = Cloud {
            points: self.points(),
            flat: self.z.is_empty(),
            labels,
            class_names,
            node_names: self.node_names.clone(),
            edges,
            phases: self.phases.clone(),
            axes,
        };
        Ok(Plan {
            title: self.title.clone(),
            description,
            art: Art::Cloud(cloud),
            tables: vec![table],
        })
    }
}
