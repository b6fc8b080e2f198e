//! What is kept of a comparison while it runs, in one journal.

use super::{JobResult, Tuned};
use crate::Error;
use crate::workflow::tune::{TrialNotes, TuneRecord};
use crate::workflow::{Job, Journal};
use serde::{Deserialize, Serialize};

/// Something that was done. The first that has all the fields of a line is what the line is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CompareRecord {
    /// A run of a model or a control.
    Run(JobResult),
    /// A training of a search.
    Trial(TuneRecord),
    /// What a search came to.
    Tuned(Box<Tuned>),
}

impl Job for CompareRecord {
    const CALL: &'static str = "compare";

    fn key(&self) -> &str {
        match self {
            Self::Run(job) => &job.key,
            Self::Trial(record) => &record.key,
            Self::Tuned(tuned) => &tuned.key,
        }
    }
}

impl Journal<CompareRecord> {
    /// Number of runs that are known.
    pub fn runs(&self) -> usize {
        self.all().filter(|record| matches!(record, CompareRecord::Run(_))).count()
    }

    /// Number of trainings of searches that are known.
    pub(super) fn trials(&self) -> usize {
        self.all().filter(|record| matches!(record, CompareRecord::Trial(_))).count()
    }

    /// A run that is known.
    pub(super) fn run(&self, key: &str) -> Option<&JobResult> {
        match self.get(key)? {
            CompareRecord::Run(job) => Some(job),
            _ => None,
        }
    }

    /// What a search came to, where that is known.
    pub(super) fn tuned(&self, key: &str) -> Option<&Tuned> {
        match self.get(key)? {
            CompareRecord::Tuned(tuned) => Some(tuned),
            _ => None,
        }
    }
}

impl TrialNotes for Journal<CompareRecord> {
    fn known(&self, key: &str) -> Option<TuneRecord> {
        match self.get(key)? {
            CompareRecord::Trial(record) => Some(record.clone()),
            _ => None,
        }
    }

    fn note(&mut self, record: TuneRecord) -> Result<(), Error> {
        self.keep(&CompareRecord::Trial(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelConfig;
    use crate::train::RunConfig;

    /// Each kind of line is read as what it was written as, though nothing in it says so.
    #[test]
    fn lines_are_read_as_they_were_written() {
        let key = "mgc".to_owned();
        let run = JobResult {
            key: key.clone(),
            charge: None,
            high: None,
            val_loss: 0.1,
            val_accuracy: 1.0 / 3.0,
            right: [[true; 4], [false; 4]].concat(),
            epochs: 3,
            parameters: 4,
            bytes: 5,
            build_seconds: 0.5,
            seconds: 0.25,
        };
        let trial = TuneRecord {
            key: key.clone(),
            val_accuracy: None,
            val_loss: None,
            epochs: 0.0,
            error: Some("too wild".to_owned()),
            seconds: 0.1,
        };
        let config = RunConfig::of(ModelConfig::named("mgc").unwrap());
        let tuned = CompareRecord::Tuned(Box::new(Tuned { key, config }));
        for record in [CompareRecord::Run(run), CompareRecord::Trial(trial), tuned] {
            let line = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<CompareRecord>(&line).unwrap(), record);
        }
    }
}
