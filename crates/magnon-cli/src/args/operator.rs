//! Flags that say which operator is built.

use crate::data::Loaded;
use crate::interrupt::{leave, stoppable};
use crate::progress::Stop;
use crate::report::{Clock, usage};
use anyhow::Context;
use clap::Args;
use magnon::graph::DiGraph;
use magnon::model::{ChargeChoice, KindChoice, OperatorChoice, PassChoice, choose_pass};
use magnon::operator::{Normalize, OperatorConfig, Symmetrize};
use magnon::workflow::CycleFindings;

#[derive(Args)]
#[command(next_help_heading = "Operator")]
pub struct OperatorArgs {
    /// Charge q in [0, 1/2]: a number such as 0.25, a fraction such as 1/3, or auto to choose by the
    /// directed cycles of the graph [default: auto]
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    pub charge: Option<ChargeChoice>,
    /// How the adjacency becomes symmetric [default: max]
    #[arg(long, value_enum)]
    pub symmetrize: Option<Symmetrize>,
    /// How degrees are divided out [default: sym]
    #[arg(long, value_enum)]
    pub normalize: Option<Normalize>,
    /// Do not add a self loop to every node
    #[arg(long)]
    pub no_self_loops: bool,
    /// Adjacency or Laplacian [default: adjacency]
    #[arg(long, value_enum)]
    pub kind: Option<KindChoice>,
    /// Low keeps the adjacency, high negates it, auto decides by the homophily of training labels
    /// [default: low; auto where a model is trained]
    #[arg(long, value_enum)]
    pub pass: Option<PassChoice>,
}

/// The operator's configuration, and how charge and pass were chosen where that was left open.
pub struct Resolved {
    pub config: OperatorConfig,
    pub charge_evidence: Option<String>,
    pub pass_evidence: Option<String>,
}

impl OperatorArgs {
    /// The first of the flags that were given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--charge", self.charge.is_some()),
            ("--symmetrize", self.symmetrize.is_some()),
            ("--normalize", self.normalize.is_some()),
            ("--no-self-loops", self.no_self_loops),
            ("--kind", self.kind.is_some()),
            ("--pass", self.pass.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Puts the flags that were given in place of what a configuration has.
    pub fn apply(&self, choice: &mut OperatorChoice) -> anyhow::Result<()> {
        if self.pass.is_some() && self.kind == Some(KindChoice::Laplacian) {
            return Err(usage("--pass chooses the sign of the adjacency; a Laplacian has none"));
        }
        choice.pass = self.pass.unwrap_or(choice.pass);
        choice.charge = self.charge.unwrap_or(choice.charge);
        choice.symmetrize = self.symmetrize.unwrap_or(choice.symmetrize);
        choice.normalize = self.normalize.unwrap_or(choice.normalize);
        choice.kind = self.kind.unwrap_or(choice.kind);
        choice.self_loops &= !self.no_self_loops;
        Ok(())
    }

    /// The library's configuration; a pass left to choice is measured on the training labels, a
    /// charge on the cycles.
    pub fn resolve(&self, loaded: &Loaded, clock: &mut Clock) -> anyhow::Result<Resolved> {
        let mut choice = OperatorChoice { pass: PassChoice::Low, ..Default::default() };
        self.apply(&mut choice)?;
        let (charge, charge_evidence) = match choice.charge {
            ChargeChoice::Fixed(charge) => (charge, None),
            ChargeChoice::Auto => {
                let CycleFindings { advice, .. } =
                    clock.phase("cycles", || find_cycles(&loaded.dataset.graph))?;
                (advice.choice, Some(advice.reason))
            }
        };
        let (high, pass_evidence) = match choice.pass {
            PassChoice::Low => (false, None),
            PassChoice::High => (true, None),
            PassChoice::Auto => choose(loaded)?,
        };
        Ok(Resolved { config: choice.config(charge, high), charge_evidence, pass_evidence })
    }
}

/// Looks for cycles in the length range that charges come from. An interrupt ends the command: what
/// waits for the charge could not go on without it.
fn find_cycles(graph: &DiGraph) -> anyhow::Result<CycleFindings> {
    let found = stoppable(|stop| magnon::workflow::find_cycles(graph, &Stop(stop)));
    match found {
        Err(magnon::Error::Stopped) => leave(),
        found => Ok(found?),
    }
}

fn choose(loaded: &Loaded) -> anyhow::Result<(bool, Option<String>)> {
    let labels = loaded.dataset.labels.as_ref();
    let labels = labels.context("--pass auto needs labels; give --pass low or --pass high")?;
    let split = loaded.split.as_ref();
    let split = split.context("--pass auto needs a split; give one with --split 60/20/20")?;
    let pass = choose_pass(PassChoice::Auto, &loaded.dataset.graph, labels, split)?;
    let evidence = pass.words().map(|words| format!("{} pass: {words}", pass.name()));
    Ok((pass.high, evidence))
}
