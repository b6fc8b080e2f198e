//! What the models are held against.

use super::SplitInfo;
use super::entrant::{Entrant, Variation};
use super::hits::Hits;
use super::job::{JobResult, Setting};
use super::result::ControlRow;

/// A row for each control.
pub(super) fn rows(
    setting: &Setting,
    info: &SplitInfo,
    entrants: &[Entrant],
    majority: Option<&Hits>,
) -> Vec<ControlRow> {
    let accuracy = |entrant: &Entrant| {
        entrant.is_whole().then(|| Hits::of(setting, &[&entrant.jobs])).flatten()?.summary(info)
    };
    let mut rows = vec![ControlRow {
        control: "majority",
        model: None,
        text: "the most frequent class of the training nodes".to_owned(),
        test_accuracy: majority.and_then(|hits| hits.summary(info)),
        error: None,
    }];
    for entrant in entrants {
        let name = &entrant.name;
        let (control, model, text) = match entrant.variation {
            Variation::NoGraph => ("mlp", None, "a network that does not see the graph".to_owned()),
            Variation::Undirected => {
                ("undirected", Some(name.clone()), format!("{name} without direction"))
            }
            Variation::Itself | Variation::Coin(_) => continue,
        };
        let (test_accuracy, error) = (accuracy(entrant), entrant.error.clone());
        rows.push(ControlRow { control, model, text, test_accuracy, error });
    }
    if let Some((first, hits)) = coins(setting, entrants) {
        let name = &first.name;
        rows.push(ControlRow {
            control: "coin",
            model: Some(name.clone()),
            text: format!("{name} with every one-way edge turned by a coin"),
            test_accuracy: hits.as_ref().and_then(|hits| hits.summary(info)),
            error: entrants
                .iter()
                .filter(|entrant| matches!(entrant.variation, Variation::Coin(_)))
                .find_map(|entrant| entrant.error.clone()),
        });
    }
    rows
}

/// The controls on coins, all draws together.
pub(super) fn coins<'a>(
    setting: &Setting,
    entrants: &'a [Entrant],
) -> Option<(&'a Entrant, Option<Hits>)> {
    let coins =
        || entrants.iter().filter(|entrant| matches!(entrant.variation, Variation::Coin(_)));
    let first = coins().next()?;
    let whole = coins().all(Entrant::is_whole);
    let jobs: Vec<&[JobResult]> = coins().map(|entrant| &entrant.jobs[..]).collect();
    Some((first, whole.then(|| Hits::of(setting, &jobs)).flatten()))
}
