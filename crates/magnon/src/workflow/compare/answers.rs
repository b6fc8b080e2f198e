//! Do the graph and its directions help?

use super::SplitInfo;
use super::controls::coins;
use super::entrant::{Entrant, Variation, leader};
use super::hits::Hits;
use super::job::Setting;
use super::verdict::{self, Against, Answer, Finding};
use crate::model::Direction;

/// Does the graph help? The best model that sees it against the network that does not and the majority.
pub(super) fn graph(
    info: &SplitInfo,
    entrants: &[Entrant],
    majority: Option<&Hits>,
    whole: &dyn Fn(&Entrant) -> Option<Hits>,
) -> Answer {
    let sees = |entrant: &&Entrant| {
        entrant.variation == Variation::Itself && entrant.info().direction != Direction::NoGraph
    };
    let Some(model) = leader(entrants.iter().filter(sees)) else {
        let text = "whether the graph helps was not tested: no model that sees it was trained";
        return Answer { answer: Finding::Untested, model: None, text: text.to_owned() };
    };
    let plain = entrants.iter().find(|e| e.info().direction == Direction::NoGraph);
    let own = whole(model);
    let against = |control: &'static str, other: Option<&Hits>| Against {
        control,
        difference: own.as_ref().zip(other).and_then(|(own, other)| own.difference(other, info)),
    };
    let plain = plain.and_then(whole);
    let controls =
        [against("an MLP without it", plain.as_ref()), against("the majority class", majority)];
    verdict::answer("the graph", &model.name, &controls)
}

/// Does direction help? The best model that makes something of it against itself without direction and
/// against itself on directions by coin.
pub(super) fn direction(
    setting: &Setting,
    info: &SplitInfo,
    entrants: &[Entrant],
    whole: &dyn Fn(&Entrant) -> Option<Hits>,
) -> Answer {
    let plain = |answer, text: &str| Answer { answer, model: None, text: text.to_owned() };
    if setting.symmetric {
        let text = "direction cannot help: the graph is symmetric, every edge runs both ways";
        return plain(Finding::Cannot, text);
    }
    let Some(model) = leader(entrants.iter().filter(|entrant| entrant.is_directed())) else {
        let text = "whether direction helps was not tested: no model that looks at it was trained";
        return plain(Finding::Untested, text);
    };
    let undirected = entrants
        .iter()
        .find(|e| e.variation == Variation::Undirected && e.name == model.name)
        .and_then(whole);
    let coins = coins(setting, entrants).and_then(|(_, hits)| hits);
    let own = whole(model);
    let against = |control, other: Option<&Hits>| Against {
        control,
        difference: own.as_ref().zip(other).and_then(|(own, other)| own.difference(other, info)),
    };
    let controls = [
        against("itself without direction", undirected.as_ref()),
        against("itself on directions by coin", coins.as_ref()),
    ];
    verdict::answer("direction", &model.name, &controls)
}
