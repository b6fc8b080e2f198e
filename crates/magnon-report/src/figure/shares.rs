//! Shares: named parts as bars, the largest first.

use super::draw::bars::{Bar, Bars};
use super::draw::check::Check;
use super::draw::number;
use super::draw::plan::{Art, Plan, Plot};
use super::draw::table::Table;
use crate::PlotError;
use serde::{Deserialize, Serialize};

/// Named shares of 1, such as how much each setting of a search mattered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SharesFigure {
    /// The title.
    pub title: String,
    /// What a share is of.
    pub label: String,
    /// The names.
    pub names: Vec<String>,
    /// Their shares, from 0 to 1.
    pub shares: Vec<f64>,
    /// A sentence for each; may be left empty.
    pub notes: Vec<String>,
}

impl Plot for SharesFigure {
    fn plan(&self) -> Result<Plan, PlotError> {
        let check = Check("figure of shares");
        check.finite("the list of shares", &self.shares)?;
        check.some("the list of shares", &self.shares)?;
        check.length("the list of names", self.names.len(), self.shares.len())?;
        let rows: Vec<(usize, f64)> = {
            let mut rows: Vec<(usize, f64)> = self.shares.iter().copied().enumerate().collect();
            rows.sort_by(|a, b| b.1.total_cmp(&a.1));
            rows
        };
        let note = |at: usize| self.notes.get(at).map_or("", String::as_str);
        let words: Vec<String> = rows
            .iter()
            .take(3)
            .map(|&(at, share)| format!("{} {}", self.names[at], number::per_cent(share)))
            .collect();
        let bars = rows.iter().map(|&(at, share)| Bar {
            name: self.names[at].clone(),
            share,
            tip: format!("{}: {}. {}", self.names[at], number::per_cent(share), note(at)),
        });
        let table = Table {
            caption: self.title.clone(),
            head: vec!["name".to_owned(), "share".to_owned(), "note".to_owned()],
            rows: rows
                .iter()
                .map(|&(at, share)| {
                    vec![self.names[at].clone(), number::per_cent(share), note(at).to_owned()]
                })
                .collect(),
        };
        Ok(Plan {
            title: self.title.clone(),
            description: format!("{}: {}.", self.label, words.join(", ")),
            art: Art::Bars(Bars { bars: bars.collect(), label: self.label.clone() }),
            tables: vec![table],
        })
    }
}
