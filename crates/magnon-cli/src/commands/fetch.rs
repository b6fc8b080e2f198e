//! `magnon fetch`: public data sets by name.

use crate::args::Common;
use crate::fetched;
use crate::report::usage;
use crate::terminal::shown_json;
use clap::Args;
use magnon::workflow::{PublicData, public_data};
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
        let list = serde_json::to_string(&public_data())?;
        return Ok(writeln!(out, "{}", shown_json(&list))?);
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
    let datasets = public_data().datasets;
    let width = datasets.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in &datasets {
        let PublicData { name, description, .. } = row;
        writeln!(out, "{name:width$}  {:>9}  {description}{}", size(row), state(row))?;
    }
    Ok(())
}

/// The size, where it is known.
fn size(row: &PublicData) -> String {
    match row.bytes {
        Some(bytes) if bytes >= 10 << 20 => format!("{} MiB", bytes >> 20),
        Some(bytes) => format!("{} KiB", bytes.div_ceil(1 << 10)),
        None => "size ?".to_owned(),
    }
}

/// What one should know.
fn state(row: &PublicData) -> &'static str {
    match (&row.folder, row.verified) {
        (Some(_), _) => " (here)",
        (None, true) => "",
        (None, false) => " (no checksum is known: --allow-unverified)",
    }
}
