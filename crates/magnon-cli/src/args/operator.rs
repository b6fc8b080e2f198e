//! Flags that say which operator is built.

use crate::data::Loaded;
use crate::report::{Clock, usage};
use anyhow::Context;
use clap::{Args, ValueEnum};
use magnon::cycles::{LengthsConfig, advise, cycle_lengths, flux};
use magnon::graph::{DiGraph, homophily, measure};
use magnon::operator::{Charge, ChargeError, Kind, Normalize, OperatorConfig, Symmetrize};
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

#[derive(Args)]
#[command(next_help_heading = "Operator")]
pub struct OperatorArgs {
    /// Charge q in [0, 1/2]: a number such as 0.25, a fraction such as 1/3, or auto to choose by the
    /// directed cycles of the graph
    #[arg(long, value_name = "Q", default_value = "auto", allow_hyphen_values = true)]
    pub charge: ChargeArg,
    /// How the adjacency becomes symmetric
    #[arg(long, value_enum, default_value = "max")]
    pub symmetrize: Symmetrize,
    /// How degrees are divided out
    #[arg(long, value_enum, default_value = "sym")]
    pub normalize: Normalize,
    /// Do not add a self loop to every node
    #[arg(long)]
    pub no_self_loops: bool,
    /// Adjacency or Laplacian
    #[arg(long, value_enum, default_value = "adjacency")]
    pub kind: KindArg,
    /// Low keeps the adjacency, high negates it, auto decides by the homophily of training labels
    #[arg(long, value_enum)]
    pub pass: Option<PassArg>,
}

#[derive(Clone, Copy)]
pub enum ChargeArg {
    /// By the directed cycles of the graph
    Auto,
    /// A number
    Fixed(Charge),
}

impl FromStr for ChargeArg {
    type Err = ChargeError;

    fn from_str(text: &str) -> Result<Self, ChargeError> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Fixed),
        }
    }
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum KindArg {
    /// The adjacency
    Adjacency,
    /// I minus the adjacency, or D minus it where not normalised
    Laplacian,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum PassArg {
    /// Neighbours alike
    Low,
    /// Neighbours unlike
    High,
    /// High where fewer than half of a training node's training neighbours share its label
    Auto,
}

/// The operator's recipe, and how charge and pass were chosen where that was left open.
pub struct Resolved {
    pub config: OperatorConfig,
    pub charge_evidence: Option<String>,
    pub pass_evidence: Option<String>,
}

impl OperatorArgs {
    /// The library's configuration; a pass left to choice is measured on the training labels, a
    /// charge on the cycles.
    pub fn resolve(&self, loaded: &Loaded, clock: &mut Clock) -> anyhow::Result<Resolved> {
        let (charge, charge_evidence) = match self.charge {
            ChargeArg::Fixed(charge) => (charge, None),
            ChargeArg::Auto => clock.phase("cycles", || choose_charge(&loaded.dataset.graph)),
        };
        let (high, pass_evidence) = match self.pass {
            Some(_) if self.kind == KindArg::Laplacian => {
                return Err(usage(
                    "--pass chooses the sign of the adjacency; a Laplacian has none",
                ));
            }
            None | Some(PassArg::Low) => (false, None),
            Some(PassArg::High) => (true, None),
            Some(PassArg::Auto) => choose_pass(loaded)?,
        };
        let kind = match self.kind {
            KindArg::Laplacian => Kind::Laplacian,
            KindArg::Adjacency if high => Kind::NegatedAdjacency,
            KindArg::Adjacency => Kind::Adjacency,
        };
        let config = OperatorConfig {
            charge,
            symmetrize: self.symmetrize,
            self_loops: !self.no_self_loops,
            normalize: self.normalize,
            kind,
        };
        Ok(Resolved { config, charge_evidence, pass_evidence })
    }
}

fn choose_charge(graph: &DiGraph) -> (Charge, Option<String>) {
    let lengths = cycle_lengths(graph, &LengthsConfig::default(), &AtomicBool::new(false));
    let advice = advise(&lengths, &flux(graph), measure(graph).symmetric);
    (advice.choice, Some(advice.reason))
}

fn choose_pass(loaded: &Loaded) -> anyhow::Result<(bool, Option<String>)> {
    let labels = loaded.dataset.labels.as_ref();
    let labels = labels.context("--pass auto needs labels; give --pass low or --pass high")?;
    let split = loaded.split.as_ref();
    let split = split.context("--pass auto needs a split; give one with --split 60/20/20")?;
    let mut classes = vec![None; labels.classes.len()];
    for &node in &split.train {
        classes[node as usize] = labels.classes[node as usize];
    }
    let index = homophily(&loaded.dataset.graph, &classes).node;
    let index = index.context("--pass auto: no two training nodes are neighbours; give a pass")?;
    let (high, word) = if index < 0.5 { (true, "high") } else { (false, "low") };
    let evidence = format!("{word} pass: node homophily of the training labels is {index:.3}");
    Ok((high, Some(evidence)))
}
