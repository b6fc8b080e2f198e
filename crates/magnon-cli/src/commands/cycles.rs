//! `magnon cycles`: which cycle lengths exist, and the charges that they suggest.

use crate::args::Common;
use crate::data;
use crate::interrupt::{interrupted, leave, patient};
use crate::outputs::{self, CSV, output};
use crate::report::{Bar, Clock, Report, grouped};
use clap::Args;
use magnon::cycles::{Evidence, LengthAnswer};
use magnon::data::Dataset;
use magnon::settings::CyclesSettings;
use magnon::workflow::{CycleListConfig, CyclesReport, Phases, cycle_text, list_cycles};
use std::path::PathBuf;

#[derive(Args)]
pub struct CyclesArgs {
    #[command(flatten)]
    pub settings: CyclesSettings,
    /// Write every cycle to this file: its length, and its nodes by number or, where they have some, by name
    #[arg(long, value_name = "FILE", requires = "enumerate", value_parser = output(), help_heading = "Output")]
    pub csv: Option<PathBuf>,
}

pub fn run(args: &CyclesArgs, common: &Common) -> anyhow::Result<()> {
    let settings = &args.settings;
    let config = settings.config()?;
    outputs::check(common, &[("--csv", args.csv.as_deref(), CSV)])?;
    let mut clock = Clock::default();
    let loaded = data::read(&settings.data, common, &mut clock)?;
    let dataset = &loaded.dataset;
    let mut seconds = Phases::default();
    let bar = Bar::open_ended("looking for cycles", common);
    let mut found = patient(|stop| magnon::workflow::cycles(dataset, &config, &mut seconds, stop));
    if settings.enumerate {
        let config = CycleListConfig {
            max_length: settings.max_length,
            limit: settings.limit,
            csv: args.csv.clone(),
        };
        let counts =
            seconds.time("enumerate", || patient(|stop| list_cycles(dataset, &config, stop)))?;
        found = found.with_counts(&counts);
        found.interrupted = interrupted();
    }
    drop(bar);
    seconds.iter().for_each(|(name, spent)| clock.add(name, spent));
    if found.interrupted && !common.quiet {
        remark!("note: interrupted; this is what is known so far");
    }
    let mut report = Report::default();
    report.put(&found)?;
    describe(&found, dataset, &mut report);
    // A list that is not whole is not written.
    let written = args.csv.as_deref().filter(|_| !found.interrupted);
    if let Some(path) = written {
        report.line("written", path.display());
    }
    report.files([("csv", written)]);
    report.print(common, clock)?;
    if args.csv.is_some() && found.interrupted {
        // The list was asked for, and is not there: what is known is told, and the command has failed.
        leave();
    }
    Ok(())
}

/// What was found, in lines for people.
fn describe(found: &CyclesReport, dataset: &Dataset, report: &mut Report) {
    report.line("graph", &found.name);
    describe_lengths(&found.lengths, dataset, report);
    if let (Some(counts), Some(complete)) = (&found.counts, found.complete) {
        let each = counts.iter().map(|(m, &count)| format!("{m}: {}", grouped(count as usize)));
        let more = if complete { "" } else { " or more" };
        let total = grouped(counts.values().sum::<u64>() as usize);
        let each = each.collect::<Vec<_>>().join(", ");
        report.line("cycles", format!("{total}{more} ({each})"));
    }
    describe_flux(found, report);
    // Nothing is advised where an interrupt came before the end.
    if let (Some(charges), Some(choice), Some(reason)) =
        (&found.charges, &found.choice, &found.reason)
    {
        let list: Vec<&str> = charges.iter().map(|charge| charge.fraction.as_str()).collect();
        report.line("charges", list.join(", "));
        report.line("advice", format!("q = {choice}: {reason}"));
    }
}

fn describe_lengths(lengths: &[LengthAnswer], dataset: &Dataset, report: &mut Report) {
    // Neighbouring lengths with the same answer and no cycle to show share a line.
    let alike = |a: &LengthAnswer, b: &LengthAnswer| {
        a.witness.is_none() && b.witness.is_none() && a.evidence == b.evidence
    };
    for group in lengths.chunk_by(alike) {
        let ([first, ..], [.., last]) = (group, group) else { continue };
        let name = match group.len() {
            1 => format!("length {}", first.length),
            _ => format!("length {}–{}", first.length, last.length),
        };
        let known = match first.exists {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        };
        report.line(&name, format!("{known:9}  {}", reason(first, dataset)));
    }
}

fn reason(answer: &LengthAnswer, dataset: &Dataset) -> String {
    match &answer.witness {
        Some(cycle) => cycle_text(cycle, dataset.node_names.as_ref(), SHOWN),
        None => evidence(answer.evidence).to_owned(),
    }
}

/// How an answer is known, in words.
fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Budget if interrupted() => "the search was interrupted",
        evidence => evidence.words(),
    }
}

/// Nodes of a cycle that a line of the command shows.
const SHOWN: usize = 6;

fn describe_flux(found: &CyclesReport, report: &mut Report) {
    let Some(free) = found.flux_free else { return };
    let text = match found.flux_divisor {
        _ if found.symmetric => {
            "none: the graph is symmetric, and the charge has no effect".to_owned()
        }
        _ if free => "none: every charge has the spectrum of 0, and local phases".to_owned(),
        None => "not whole numbers: each charge has a spectrum of its own".to_owned(),
        Some(1) => "multiples of 1: each charge in [0, 1/2] has a spectrum of its own".to_owned(),
        Some(g) => format!("multiples of {g}: charges 1/{g} apart have the same spectrum"),
    };
    report.line("flux", text);
}
