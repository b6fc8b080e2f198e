//! Checkpoints: a [`State`] in a file.

use super::{Best, EpochRecord, State};
use crate::tensors::{FileError, Tensors};
use magnon_data::disk;
use std::path::Path;

/// What a checkpoint says that it is.
pub const FORMAT: &str = "magnon-checkpoint";

/// The four sets of numbers, by the names that they have in the file.
const SETS: [&str; 4] = ["weights", "first", "second", "best"];

/// Writes a state; `of` says what it is a state of, and must be the same on reading.
pub fn write(path: &Path, of: &str, state: &State) -> Result<(), FileError> {
    let mut file = Tensors::default();
    let best = state.best.as_ref().map(|best| &best.weights);
    let sets = [Some(&state.weights), Some(&state.first), Some(&state.second), best];
    for (name, set) in SETS.iter().zip(sets) {
        for (i, numbers) in set.into_iter().flatten().enumerate() {
            file.push_row(&format!("{name}.{i}"), numbers);
        }
    }
    let rows: Vec<[f64; 6]> = state.history.iter().map(EpochRecord::columns).collect();
    file.push_table("history", &rows);
    let best_epoch = state.best.as_ref().map_or(0, |best| best.record.epoch);
    let words = [
        ("of", of.to_owned()),
        ("epoch", state.epoch.to_string()),
        ("steps", state.steps.to_string()),
        ("best_epoch", best_epoch.to_string()),
        ("sets", state.weights.len().to_string()),
    ];
    file.words.extend(words.map(|(key, word)| (key.to_owned(), word)));
    file.write(path, FORMAT)
}

/// Reads a state back, where there is one.
pub fn read_if_there(path: &Path, of: &str) -> Result<Option<State>, FileError> {
    match disk::exists(path) {
        Ok(true) => read(path, of).map(Some),
        Ok(false) => Ok(None),
        Err(reason) => Err(FileError::Read { path: path.to_owned(), reason }),
    }
}

/// Reads a state back.
pub fn read(path: &Path, of: &str) -> Result<State, FileError> {
    let file = Tensors::read(path, FORMAT)?;
    let state = (|| {
        let found: String = file.word("of")?;
        if found != of {
            return Err(format!("it belongs to another run ({found}, not {of})"));
        }
        let count: usize = file.word("sets")?;
        let set = |name: &str| -> Result<Vec<Vec<f32>>, String> {
            (0..count).map(|i| file.numbers(&format!("{name}.{i}"))).collect()
        };
        let history: Vec<EpochRecord> =
            file.table("history")?.iter().map(EpochRecord::from_columns).collect();
        let best_epoch: usize = file.word("best_epoch")?;
        let best = history.iter().find(|record| record.epoch == best_epoch).copied();
        let best = match best {
            Some(record) => Some(Best { record, weights: set("best")? }),
            None => None,
        };
        Ok(State {
            epoch: file.word("epoch")?,
            steps: file.word("steps")?,
            weights: set("weights")?,
            first: set("first")?,
            second: set("second")?,
            best,
            history,
        })
    })();
    state.map_err(|problem| FileError::Broken { path: path.to_owned(), problem })
}
