//! `magnon reproduce`: the paper's tables and figures, ours beside the published ones.

use crate::args::Common;
use crate::jobs::{self, Kept, run_jobs};
use crate::outputs::{self, MARKDOWN, output};
use clap::Args;
use magnon::data::write::{file_in, write_atomic};
use magnon::workflow::reproduce::{PARTS, ReproduceConfig, Reproduction, journal, reproduce};
use magnon::workflow::{Journal, pages};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct ReproduceArgs {
    /// dataset-statistics, accuracy, frequency-response, order, charge, eigenmap, or all
    #[arg(default_value = "all")]
    pub part: String,
    /// Folder that holds the data sets, each under its name [default: MAGNON_DATA, and what was fetched]
    #[arg(long, value_name = "FOLDER", help_heading = "Reproduction")]
    pub data: Vec<PathBuf>,
    /// Only these data sets
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Reproduction")]
    pub only: Vec<String>,
    /// Seeds on the authors' split, and random splits
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Reproduction")]
    pub runs: usize,
    /// Write reproduction.json, .md, .html and the figures to this folder, and keep what was trained there
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write all tables to this .md file
    #[arg(long, value_name = "F.md", value_parser = output(), help_heading = "Output")]
    pub markdown: Option<PathBuf>,
}

pub fn run(args: &ReproduceArgs, common: &Common) -> anyhow::Result<()> {
    outputs::check(common, &[("--markdown", args.markdown.as_deref(), MARKDOWN)])?;
    outputs::check_folder("--output", args.output.as_deref())?;
    let parts: Vec<&str> = match args.part.as_str() {
        "all" => Vec::new(),
        part => vec![part],
    };
    let mut folders = args.data.clone();
    if folders.is_empty() {
        folders.extend(std::env::var_os("MAGNON_DATA").map(PathBuf::from));
        folders.push(magnon::fetch::cache_folder());
    }
    let config = ReproduceConfig { folders, runs: args.runs, only: args.only.clone() };
    let mut kept = Kept::open(args.output.as_deref(), "reproduce.jsonl", common, journal)?;
    kept.remark_known(Journal::len, "results", common);
    let words = kept.words("what was trained is kept, and the same command goes on from it");
    let found = run_jobs(common, words, |progress| {
        reproduce(&parts, &config, kept.journal.as_mut(), progress)
    })?;
    if !common.quiet {
        found.missing.iter().for_each(|missing| remark!("note: {missing}"));
    }
    let command = command(args);
    write(args, &found, &command)?;
    kept.close(common);
    jobs::print(common, &serde_json::to_string(&found)?, || describe(&found))
}

/// The command that made this, without the places of one machine.
fn command(args: &ReproduceArgs) -> String {
    let runs = if args.runs == 10 { String::new() } else { format!(" --runs {}", args.runs) };
    let only = match args.only.is_empty() {
        true => String::new(),
        false => format!(" --only {}", args.only.join(",")),
    };
    format!("magnon reproduce {}{only}{runs}", args.part)
}

fn write(args: &ReproduceArgs, found: &Reproduction, command: &str) -> anyhow::Result<()> {
    let text = |path: &Path, text: &str| write_atomic(path, |out| out.write_all(text.as_bytes()));
    if let Some(path) = &args.markdown {
        text(path, &found.markdown(command))?;
    }
    if let Some(folder) = &args.output {
        text(&file_in(folder, "reproduction.md")?, &found.markdown(command))?;
        text(&file_in(folder, "reproduction.json")?, &serde_json::to_string(found)?)?;
        pages::save_reproduction(found, command, folder)?;
    }
    Ok(())
}

/// The tables for people.
fn describe(found: &Reproduction) -> String {
    let mut text = String::new();
    for table in &found.tables {
        text += &format!("{} ({})\n", table.title, table.setting);
        let mut rows = vec![std::iter::once(String::new()).chain(table.columns.clone()).collect()];
        rows.extend(table.rows.iter().map(|row| {
            let cells = row.cells.iter().map(|cell| cell.text());
            std::iter::once(row.name.clone()).chain(cells).collect::<Vec<String>>()
        }));
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..=table.columns.len()).map(|c| width(c).unwrap_or(0)).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
            text += &(cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n");
        }
        table.notes.iter().for_each(|note| text += &format!("note: {note}\n"));
        text.push('\n');
    }
    let figures = found.responses.len() + usize::from(found.eigenmap.is_some());
    if figures > 0 {
        text += &format!("{figures} figures; write them with -o FOLDER\n");
    }
    let parts = PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
    text + &format!("{:.0} s; parts: {parts}", found.seconds)
}
