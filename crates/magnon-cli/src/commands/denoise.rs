//! `magnon denoise`: the paper's two closed forms of graph signal denoising.

use crate::args::{Common, DataArgs, OperatorArgs};
use crate::data;
use crate::figures::{self, check_plot};
use crate::report::{Bar, Clock, Report, check_ending, grouped, usage};
use anyhow::Context;
use clap::Args;
use magnon::data::write::{write_csv, write_npy};
use magnon::data::{Features, read_signal};
use magnon::denoise::{DenoiseConfig, DenoiseForm, denoise, dirichlet_energy};
use magnon::matrix::Matrix;
use magnon::operator::{Kind, MagneticOperator, OperatorConfig, Pattern};
use magnon_plot::{Curve, ResponseFigure};
use num_complex::Complex64;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args)]
pub struct DenoiseArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// The form decides between adjacency and Laplacian, without self loops: there is no --kind, no
    /// --pass and no --no-self-loops
    #[command(flatten)]
    pub operator: OperatorArgs,
    /// Weight of closeness to the signal against smoothness, above 0
    #[arg(long, value_name = "MU", default_value_t = DenoiseConfig::default().mu, allow_negative_numbers = true, help_heading = "Denoising")]
    pub mu: f64,
    /// The closed form: β(I − αA)⁻¹x, or (I + L/μ)⁻¹x; they are equal
    #[arg(long, value_enum, default_value = "laplacian", help_heading = "Denoising")]
    pub form: DenoiseForm,
    /// The signal, real or complex, one row per node [default: the features of DATA]
    #[arg(long, value_name = "F.npy", help_heading = "Denoising")]
    pub signal: Option<PathBuf>,
    /// Write the denoised signal to this .npy file: complex128, or float64 where it is real
    #[arg(short, long, visible_alias = "npy", value_name = "F.npy", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write column,before,after to this file: the Dirichlet energy of each column
    #[arg(long, value_name = "F.csv", help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Draw what the denoising keeps of each frequency, μ/(μ + λ), by the file's ending
    #[arg(long, value_name = "F.svg|png|html", help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

pub fn run(args: &DenoiseArgs, common: &Common) -> anyhow::Result<()> {
    check_ending(args.output.as_deref(), "npy")?;
    check_ending(args.signal.as_deref(), "npy")?;
    check_ending(args.csv.as_deref(), "csv")?;
    check_plot(args.plot.as_deref())?;
    if args.operator.pass.is_some() || args.operator.kind.is_some() {
        return Err(usage("the form decides the operator; there is no --kind and no --pass"));
    }
    if args.operator.no_self_loops {
        return Err(usage("denoising never adds self loops, so --no-self-loops has no effect"));
    }
    let config = DenoiseConfig { mu: args.mu, form: args.form };
    config.check().map_err(usage)?;
    let mut clock = Clock::default();
    let loaded = data::read(&args.data, common, &mut clock)?;
    let name = &loaded.dataset.name;
    let signal = clock.phase("load", || match &args.signal {
        Some(path) => Ok(read_signal(path)?),
        None => {
            let features = loaded.dataset.features.as_ref().with_context(|| {
                format!("{name} has no features to denoise; give a signal with --signal F.npy")
            })?;
            dense(features)
        }
    })?;
    let resolved = args.operator.resolve(&loaded, &mut clock)?;
    // The paper's L_q and A_q, without the self loops of the renormalised operator.
    let operator_config = OperatorConfig { self_loops: false, ..resolved.config };
    let graph = &loaded.dataset.graph;
    if operator_config.charge.value() != 0.0 && !common.quiet && graph.is_symmetric() {
        remark!("note: the graph is symmetric, so every charge gives the same operator");
    }
    let pattern = clock.phase("operator", || Pattern::new(graph).map(Arc::new))?;
    let bar = Bar::open_ended("denoise", common);
    let done = clock.phase("denoise", || denoise(&pattern, &operator_config, &signal, &config))?;
    drop(bar);

    let real = done.signal.as_slice().iter().all(|z| z.im == 0.0);
    let dtype = if real { "float64" } else { "complex128" };
    let (rows, cols) = (done.signal.rows(), done.signal.cols());
    let mut report = Report::default();
    report.line("graph", name);
    report.line("charge", format!("q = {}", operator_config.charge));
    report.key("self_loops", operator_config.self_loops);
    let (alpha, beta) = (1.0 / (args.mu + 1.0), args.mu / (args.mu + 1.0));
    report.line("denoising", format!("μ = {}, α = {alpha:.6}, β = {beta:.6}", args.mu));
    report.line("signal", format!("{} × {}, {dtype}", grouped(rows), grouped(cols)));
    report.line(
        "energy",
        format!("{:.6e} before, {:.6e} after", done.energy_before, done.energy_after),
    );
    if let Some(path) = &args.output {
        clock.phase("write", || {
            if real {
                write_npy(path, &real_parts(&done.signal))
            } else {
                write_npy(path, &done.signal)
            }
        })?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.csv {
        let operator_config = OperatorConfig { kind: Kind::Laplacian, ..operator_config };
        let operator = MagneticOperator::from_pattern(pattern, &operator_config)?;
        let before = dirichlet_energy(&operator, &signal, 2.0)?;
        let after = dirichlet_energy(&operator, &done.signal, 2.0)?;
        let rows = before.iter().zip(&after).enumerate();
        let rows = rows.map(|(j, (b, a))| [j.to_string(), b.to_string(), a.to_string()]);
        clock.phase("write", || write_csv(path, &["column", "before", "after"], rows))?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.plot {
        let x: Vec<f64> = (0..=200).map(|i| f64::from(i) / 100.0).collect();
        let y = x.iter().map(|lambda| args.mu / (args.mu + lambda)).collect();
        let name = format!("μ = {}", args.mu);
        let curves = vec![Curve { name, x, y, dashed: false }];
        let title = "What denoising keeps of each frequency of the Laplacian".to_owned();
        clock.phase("plot", || figures::save(&ResponseFigure { title, curves }, path))?;
        report.line("drawn", path.display());
    }
    report.key("name", name.clone());
    report.key("nodes", rows);
    report.key("columns", cols);
    report.key("charge", operator_config.charge.value());
    report.key("charge_text", operator_config.charge.to_string());
    report.key("charge_evidence", resolved.charge_evidence);
    report.key("mu", args.mu);
    report.key("alpha", alpha);
    report.key("beta", beta);
    report.key("form", json!(args.form));
    report.key("energy_before", done.energy_before);
    report.key("energy_after", done.energy_after);
    report.key("dtype", dtype);
    report.key("csv", args.csv.as_ref().map(|path| path.display().to_string()));
    report.key("plot", args.plot.as_ref().map(|path| path.display().to_string()));
    report.key("output", args.output.as_ref().map(|path| path.display().to_string()));
    report.print(common, clock)
}

/// Features as a signal in double precision.
fn dense(features: &Features) -> anyhow::Result<Matrix<Complex64>> {
    let (rows, cols) = (features.rows(), features.cols());
    let mut signal = Matrix::<Complex64>::try_zeros(rows, cols)
        .with_context(|| format!("no memory for a signal of {rows} rows and {cols} columns"))?;
    let cells = signal.as_mut_slice();
    match features {
        Features::Dense(matrix) => {
            cells.iter_mut().zip(matrix.as_slice()).for_each(|(z, &x)| z.re = f64::from(x));
        }
        Features::Sparse(matrix) => {
            for u in 0..rows {
                let (columns, values) = matrix.row(u);
                for (&j, &x) in columns.iter().zip(values) {
                    cells[u * cols + j as usize].re = f64::from(x);
                }
            }
        }
    }
    Ok(signal)
}

fn real_parts(signal: &Matrix<Complex64>) -> Matrix<f64> {
    let mut real = Matrix::zeros(signal.rows(), signal.cols());
    let cells = real.as_mut_slice().iter_mut().zip(signal.as_slice());
    cells.for_each(|(x, z)| *x = z.re);
    real
}
