//! `magnon eigenmap`: eigenvectors of the Laplacian as points of the nodes.

use super::spectrum::{SolverArgs, fault};
use crate::args::{Common, DataArgs, OperatorArgs};
use crate::data;
use crate::figures::{self, check_plot};
use crate::report::{Bar, Clock, Report, check_ending, grouped, usage};
use clap::Args;
use magnon::data::Dataset;
use magnon::data::write::{write_csv, write_npy};
use magnon::operator::Kind;
use magnon::spectrum::{Eigenmap, EigenmapConfig, eigenmap};
use std::path::PathBuf;

#[derive(Args)]
pub struct EigenmapArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// The map is of the Laplacian: --kind has no effect, and there is no --pass
    #[command(flatten)]
    pub operator: OperatorArgs,
    /// Eigenvectors shown, counted from 0 at the smallest eigenvalue
    #[arg(
        long,
        value_name = "I,J,…",
        value_delimiter = ',',
        default_value = "0,1,2",
        help_heading = "Eigenmap"
    )]
    pub vectors: Vec<usize>,
    /// Let components other than the largest count
    #[arg(long, help_heading = "Eigenmap")]
    pub whole_graph: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    /// Write node,label and phase, real and imaginary part of each vector to this file
    #[arg(long, value_name = "F.csv", help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write the eigenvectors in columns to this .npy file, complex128
    #[arg(long, value_name = "F.npy", help_heading = "Output")]
    pub npy: Option<PathBuf>,
    /// Draw the map into this file; an .html page can be turned in space
    #[arg(long, value_name = "F.svg|png|html", help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

pub fn run(args: &EigenmapArgs, common: &Common) -> anyhow::Result<()> {
    check_ending(args.csv.as_deref(), "csv")?;
    check_ending(args.npy.as_deref(), "npy")?;
    check_plot(args.plot.as_deref())?;
    if args.operator.pass.is_some() || args.operator.kind.is_some() {
        return Err(usage("an eigenmap is of the Laplacian; there is no --kind and no --pass"));
    }
    let solver = args.solver.config(common)?;
    solver.check().map_err(fault)?;
    let mut clock = Clock::default();
    let loaded = data::read(&args.data, common, &mut clock)?;
    let resolved = args.operator.resolve(&loaded, &mut clock)?;
    let mut operator_config = resolved.config;
    operator_config.kind = Kind::Laplacian;
    operator_config.self_loops = false;
    let config = EigenmapConfig {
        vectors: args.vectors.clone(),
        whole_graph: args.whole_graph,
        solver,
        ..Default::default()
    };
    let bar = Bar::open_ended("eigenpairs", common);
    let map = clock.phase("spectrum", || {
        let graph = &loaded.dataset.graph;
        eigenmap(graph, &operator_config, &config, &|done, total| bar.tell(done, total))
    });
    drop(bar);
    let map = map.map_err(fault)?;

    let mut report = Report::default();
    let name = &loaded.dataset.name;
    report.line("graph", name);
    report.line("charge", format!("q = {}", operator_config.charge));
    report.key("self_loops", operator_config.self_loops);
    if let Some(evidence) = &resolved.charge_evidence {
        report.line("", evidence);
    }
    for (j, value) in map.vectors.iter().zip(&map.eigenvalues) {
        report.line(&format!("vector {j}"), format!("λ = {value:.6}"));
    }
    let (of, all) = (grouped(map.nodes), grouped(map.points.rows()));
    report.line("points", format!("{of} of {all} nodes"));
    if let Some(path) = &args.csv {
        let (header, rows) = table(&map, &loaded.dataset);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        clock.phase("write", || write_csv(path, &header, rows))?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.npy {
        clock.phase("write", || write_npy(path, &map.points))?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.plot {
        let title = format!(
            "{name} by eigenvectors of its magnetic Laplacian, q = {}",
            operator_config.charge
        );
        let figure = figures::eigenmap(title, &map, &loaded.dataset);
        clock.phase("plot", || figures::save(&figure, path))?;
        report.line("drawn", path.display());
    }
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    report.key("name", name.clone());
    report.key("nodes", map.points.rows());
    report.key("component_nodes", map.nodes);
    report.key("charge", operator_config.charge.value());
    report.key("charge_text", operator_config.charge.to_string());
    report.key("charge_evidence", resolved.charge_evidence);
    report.key("vectors", map.vectors.clone());
    report.key("eigenvalues", map.eigenvalues.clone());
    let rows: Vec<Vec<f64>> = (0..map.phases.rows()).map(|u| map.phases.row(u).to_vec()).collect();
    report.key("phases", rows);
    report.key("csv", path(&args.csv));
    report.key("npy", path(&args.npy));
    report.key("plot", path(&args.plot));
    report.print(common, clock)
}

/// Header and rows of the csv file.
fn table(map: &Eigenmap, dataset: &Dataset) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header = vec!["node".to_owned(), "label".to_owned()];
    for j in &map.vectors {
        header.extend([format!("phase_{j}"), format!("re_{j}"), format!("im_{j}")]);
    }
    let label = |u: usize| {
        let labels = dataset.labels.as_ref()?;
        let class = (*labels.classes.get(u)?)?;
        labels.names.get(class as usize).cloned()
    };
    let row = |u: usize| {
        let mut cells = vec![u.to_string(), label(u).unwrap_or_default()];
        for (phase, z) in map.phases.row(u).iter().zip(map.points.row(u)) {
            cells.extend([phase, &z.re, &z.im].map(f64::to_string));
        }
        cells
    };
    (header, (0..map.points.rows()).map(row).collect())
}
