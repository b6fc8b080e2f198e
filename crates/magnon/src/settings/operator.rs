//! Which operator is built.

use super::value;
use crate::Error;
use crate::model::{ChargeChoice, KindChoice, OperatorChoice, PassChoice};
use crate::operator::{Normalize, Phase, Symmetrize};
use serde::{Deserialize, Serialize};

/// Which operator is built; what is not given stays as a configuration has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Operator"))]
pub struct OperatorSettings {
    /// Charge q in [0, 1/2]: a number such as 0.25, a fraction such as 1/3, or auto to choose by the
    /// directed cycles of the graph [default: auto]
    #[cfg_attr(feature = "clap", arg(long, value_name = "Q", allow_hyphen_values = true))]
    #[serde(deserialize_with = "value::text")]
    pub charge: Option<ChargeChoice>,
    /// What the phase of an edge is made of, where edges have weights [default: sign]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub phase: Option<Phase>,
    /// How the adjacency becomes symmetric [default: max]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub symmetrize: Option<Symmetrize>,
    /// How degrees are divided out [default: sym]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub normalize: Option<Normalize>,
    /// Do not add a self loop to every node
    #[cfg_attr(feature = "clap", arg(long))]
    pub no_self_loops: bool,
    /// Adjacency or Laplacian [default: adjacency]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub kind: Option<KindChoice>,
    /// Low keeps the adjacency, high negates it, auto decides by the homophily of training labels
    /// [default: low; auto where a model is trained]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub pass: Option<PassChoice>,
}

impl OperatorSettings {
    /// The first parameter that was given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("charge", self.charge.is_some()),
            ("phase", self.phase.is_some()),
            ("symmetrize", self.symmetrize.is_some()),
            ("normalize", self.normalize.is_some()),
            ("no_self_loops", self.no_self_loops),
            ("kind", self.kind.is_some()),
            ("pass", self.pass.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Puts what was given in place of what a configuration has.
    pub fn apply(&self, choice: &mut OperatorChoice) -> Result<(), Error> {
        if self.pass.is_some() && self.kind == Some(KindChoice::Laplacian) {
            let problem = "chooses the sign of the adjacency; a Laplacian has none";
            return Err(Error::parameter("pass", problem));
        }
        if self.normalize == Some(Normalize::Directed) && self.symmetrize.is_some() {
            let problem =
                "is not for the normalisation directed, which keeps the edges out and in apart";
            return Err(Error::parameter("symmetrize", problem));
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
    pub fn choice(&self) -> Result<OperatorChoice, Error> {
        let mut choice = OperatorChoice::low_pass();
        self.apply(&mut choice)?;
        Ok(choice)
    }
}
