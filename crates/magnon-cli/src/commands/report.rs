//! `magnon report`: the page of a run, made again.

use crate::args::Common;
use crate::interrupt::{leave, stoppable};
use crate::outputs::{self, HTML, output};
use crate::report::{Bar, Clock, Report};
use clap::Args;
use magnon::Error;
use magnon::data::write::file_in;
use magnon::workflow::{kept_run, pages};
use std::path::PathBuf;

#[derive(Args)]
pub struct ReportArgs {
    /// The run folder of `magnon train`
    pub run: PathBuf,
    /// Write the page to this file [default: report.html in the run folder]
    #[arg(short, long, value_name = "F.html", value_parser = output(), help_heading = "Output")]
    pub output: Option<PathBuf>,
}

pub fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<()> {
    outputs::check(common, &[("--output", args.output.as_deref(), HTML)])?;
    let mut clock = Clock::default();
    let bar = Bar::open_ended("reading the data", common);
    let found = clock.phase("load", || stoppable(|stop| kept_run(&args.run, stop)));
    drop(bar);
    let run = match found {
        Err(Error::Stopped) => leave(),
        found => found?,
    };
    let bar = Bar::open_ended("report", common);
    let command = format!("magnon report {}", args.run.display());
    let page = clock.phase("report", || pages::run(&run, command, &bar))?;
    drop(bar);
    let path = match &args.output {
        Some(path) => path.clone(),
        None => file_in(&args.run, "report.html")?,
    };
    pages::save(&page, &path)?;
    let mut report = Report::default();
    report.files([("output", Some(&path))]);
    report.line("written", path.display());
    report.print(common, clock)
}
