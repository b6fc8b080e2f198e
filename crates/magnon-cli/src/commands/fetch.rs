//! `magnon fetch`: public data sets by name.

use crate::args::Common;
use crate::fetched;
use crate::report::usage;
use crate::terminal::shown_json;
use clap::Args;
use magnon_fetch::{Entry, datasets};
use serde_json::json;
use std::io::{self, Write};

#[derive(Args)]
pub struct FetchArgs {
    /// The data set, by a name of the list
    pub name: Option<String>,
    /// List the data sets that can be fetched
    #[arg(long, conflicts_with = "name", help_heading = "Fetching")]
    pub list: bool,
    /// Take files of which no checksum is known, and show the one that was found
    #[arg(long, help_heading = "Fetching")]
    pub allow_unverified: bool,
}

pub fn run(args: &FetchArgs, common: &Common) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let Some(name) = &args.name else {
        if !args.list {
            return Err(usage("name a data set, or list them all with --list"));
        }
        if !common.json {
            return list(&mut out);
        }
        return Ok(writeln!(out, "{}", shown_json(&list_json()))?);
    };
    let folder = fetched::fetch(name, args.allow_unverified, common.quiet)?;
    match common.json {
        true => {
            let found = json!({ "name": name, "folder": folder.display().to_string() });
            writeln!(out, "{}", shown_json(&found.to_string()))?;
        }
        false => writeln!(out, "{}", folder.display())?,
    }
    Ok(())
}

fn list(out: &mut dyn Write) -> anyhow::Result<()> {
    let width = datasets().iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    for entry in datasets() {
        let Entry { name, description, .. } = entry;
        writeln!(out, "{name:width$}  {:>9}  {description}{}", size(entry), state(entry))?;
    }
    Ok(())
}

/// The size, where it is known.
fn size(entry: &Entry) -> String {
    match entry.size() {
        Some(bytes) if bytes >= 10 << 20 => format!("{} MiB", bytes >> 20),
        Some(bytes) => format!("{} KiB", bytes.div_ceil(1 << 10)),
        None => "size ?".to_owned(),
    }
}

/// What one should know.
fn state(entry: &Entry) -> &'static str {
    let here = entry.cached(&magnon_fetch::cache_folder()).is_some();
    match (here, entry.is_verified()) {
        (true, _) => " (here)",
        (false, true) => "",
        (false, false) => " (no checksum is known: --allow-unverified)",
    }
}

/// All data sets as JSON.
pub fn list_json() -> String {
    let cache = magnon_fetch::cache_folder();
    let entries = datasets().iter().map(|entry| {
        json!({
            "name": entry.name,
            "aliases": entry.aliases,
            "description": entry.description,
            "nodes": entry.nodes,
            "edges": entry.edges,
            "note": entry.note,
            "bytes": entry.size(),
            "verified": entry.is_verified(),
            "folder": entry.cached(&cache).map(|folder| folder.display().to_string()),
        })
    });
    json!({ "datasets": entries.collect::<Vec<_>>() }).to_string()
}
