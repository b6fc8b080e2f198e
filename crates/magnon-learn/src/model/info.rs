//! `ModelInfo`: what a model says of itself.

use super::select::{ChargeChoice, KindChoice, OperatorChoice, PassChoice};
use super::tunable::Tunable;
use magnon_core::filter::{FilterConfig, FilterKind};
use magnon_core::operator::{Charge, Kind, Normalize, OperatorConfig, Phase, Symmetrize};

/// What a model is, needs and can do.
#[derive(Clone, Copy, Debug)]
pub struct ModelInfo {
    /// The name, as on the command line.
    pub name: &'static str,
    /// The name as its paper writes it.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The paper.
    pub source: &'static str,
    /// What it makes of the direction of edges.
    pub direction: Direction,
    /// The operator that it takes, and its settings unless told otherwise.
    pub operator: Option<OperatorNeed>,
    /// The filter that it takes, unless told otherwise.
    pub filter: Option<FilterNeed>,
    /// How it is trained unless told otherwise.
    pub training: TrainingDefaults,
    /// Its own settings that a search may change.
    pub tunable: &'static [Tunable],
}

impl ModelInfo {
    /// A model that symmetrises the graph and takes neither an operator nor a filter; struct update syntax says what else
    /// it is.
    pub const fn new(name: &'static str, title: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            title,
            summary,
            source: "",
            direction: Direction::Ignored,
            operator: None,
            filter: None,
            training: TrainingDefaults::MGC,
            tunable: &[],
        }
    }
}

/// What a model makes of the direction of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It does not look at the graph.
    NoGraph,
    /// It symmetrises the graph.
    Ignored,
    /// It keeps direction as the phase of its operator; the charge 0 ignores it.
    Charge,
    /// It reads edges forwards and backwards.
    InAndOut,
}

impl Direction {
    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoGraph => "does not look at the graph",
            Self::Ignored => "symmetrises the graph",
            Self::Charge => "kept as the phase of the operator; the charge 0 ignores it",
            Self::InAndOut => "edges are read forwards and backwards",
        }
    }
}

/// Which operator a model takes, and which of its settings are open.
#[derive(Clone, Copy, Debug)]
pub struct OperatorNeed {
    /// Charge as a fraction; `None` for a choice among those that the cycles suggest.
    pub charge: Option<(u32, u32)>,
    /// Adjacency or Laplacian.
    pub kind: KindChoice,
    /// Sign of the adjacency.
    pub pass: PassChoice,
    /// How A becomes symmetric.
    pub symmetrize: Symmetrize,
    /// Whether every node gets a self loop.
    pub self_loops: bool,
    /// How degrees are divided out.
    pub normalize: Normalize,
    /// The settings that the model leaves open; the others are part of its definition.
    pub open: &'static [&'static str],
}

/// All settings of an operator.
pub const ALL_SETTINGS: &[&str] =
    &["charge", "kind", "pass", "symmetrize", "self_loops", "normalize"];

impl OperatorNeed {
    /// Any operator; charge and pass are left to the data.
    pub const ANY: Self = Self {
        charge: None,
        kind: KindChoice::Adjacency,
        pass: PassChoice::Auto,
        symmetrize: Symmetrize::Max,
        self_loops: true,
        normalize: Normalize::Symmetric,
        open: ALL_SETTINGS,
    };

    /// Any operator, by default that of the undirected graph with self loops.
    pub const UNDIRECTED: Self = Self { charge: Some((0, 1)), pass: PassChoice::Low, ..Self::ANY };

    /// The settings unless told otherwise.
    pub fn default_choice(&self) -> OperatorChoice {
        let charge = self.charge.and_then(|(p, q)| Charge::fraction(p, q).ok());
        let charge = charge.map(|charge| if charge.value() == 0.0 { Charge::ZERO } else { charge });
        OperatorChoice {
            charge: charge.map_or_else(Default::default, ChargeChoice::Fixed),
            kind: self.kind,
            pass: self.pass,
            phase: Phase::default(),
            symmetrize: self.symmetrize,
            self_loops: self.self_loops,
            normalize: self.normalize,
        }
    }

    /// The first setting of an operator that is not open, and not as the model's definition has it.
    pub fn conflict(&self, config: &OperatorConfig) -> Option<&'static str> {
        let own = self.default_choice();
        let charge = match own.charge {
            ChargeChoice::Fixed(charge) => charge.value() == config.charge.value(),
            ChargeChoice::Auto => true,
        };
        let laplacian = config.kind == Kind::Laplacian;
        let high = config.kind == Kind::NegatedAdjacency;
        let pass =
            laplacian || own.pass == PassChoice::Auto || (own.pass == PassChoice::High) == high;
        let same = [
            ("charge", charge),
            ("kind", (own.kind == KindChoice::Laplacian) == laplacian),
            ("pass", pass),
            ("symmetrize", own.symmetrize == config.symmetrize),
            ("self_loops", own.self_loops == config.self_loops),
            ("normalize", own.normalize == config.normalize),
        ];
        let closed = same.into_iter().find(|(name, same)| !same && !self.open.contains(name));
        closed.map(|(name, _)| name)
    }
}

/// Which filter a model takes.
#[derive(Clone, Copy, Debug)]
pub struct FilterNeed {
    /// Which.
    pub kind: FilterKind,
    /// Its order.
    pub order: Option<usize>,
    /// Its α.
    pub alpha: Option<f64>,
    /// Whether it is solved for.
    pub exact: bool,
}

impl FilterNeed {
    /// A filter of some order.
    pub const fn of_order(kind: FilterKind, order: usize) -> Self {
        Self { kind, order: Some(order), alpha: None, exact: false }
    }

    /// The filter unless told otherwise.
    pub fn default_config(&self) -> FilterConfig {
        let Self { kind, order, alpha, exact } = *self;
        FilterConfig { kind, order, alpha, exact, ..Default::default() }
    }
}

/// How a model is trained unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingDefaults {
    /// Learning rate.
    pub rate: f64,
    /// Strength of the L2 term.
    pub weight_decay: f64,
    /// Most epochs.
    pub epochs: usize,
    /// Epochs without a better validation loss before training stops.
    pub patience: usize,
}

impl TrainingDefaults {
    /// Those of the MGC paper, for its web graphs.
    pub const MGC: Self = Self { rate: 0.01, weight_decay: 1e-4, epochs: 10_000, patience: 50 };
}
