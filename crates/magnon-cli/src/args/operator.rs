//! Flags that say which operator is built.

use crate::report::usage;
use clap::Args;
use magnon::model::{ChargeChoice, KindChoice, OperatorChoice, PassChoice};
use magnon::operator::{Normalize, Phase, Symmetrize};

#[derive(Args)]
#[command(next_help_heading = "Operator")]
pub struct OperatorArgs {
    /// Charge q in [0, 1/2]: a number such as 0.25, a fraction such as 1/3, or auto to choose by the
    /// directed cycles of the graph [default: auto]
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    pub charge: Option<ChargeChoice>,
    /// What the phase of an edge is made of, where edges have weights [default: sign]
    #[arg(long, value_enum)]
    pub phase: Option<Phase>,
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

impl OperatorArgs {
    /// The first of the flags that were given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--charge", self.charge.is_some()),
            ("--phase", self.phase.is_some()),
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
        if self.normalize == Some(Normalize::Directed) && self.symmetrize.is_some() {
            return Err(usage(
                "--symmetrize is not for --normalize directed, which keeps the edges out and in apart",
            ));
        }
        choice.pass = self.pass.unwrap_or(choice.pass);
        choice.charge = self.charge.unwrap_or(choice.charge);
        choice.phase = self.phase.unwrap_or(choice.phase);
        choice.symmetrize = self.symmetrize.unwrap_or(choice.symmetrize);
        choice.normalize = self.normalize.unwrap_or(choice.normalize);
        choice.kind = self.kind.unwrap_or(choice.kind);
        choice.self_loops &= !self.no_self_loops;
        Ok(())
    }

    /// The library's configuration.
    pub fn choice(&self) -> anyhow::Result<OperatorChoice> {
        let mut choice = OperatorChoice::low_pass();
        self.apply(&mut choice)?;
        Ok(choice)
    }
}
