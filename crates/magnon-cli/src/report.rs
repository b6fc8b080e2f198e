//! What commands print: one JSON object, or aligned lines; times by phase; a progress bar.

use crate::args::Common;
use crate::failure;
use crate::outputs::is_stdout_taken;
use crate::terminal::{shown, shown_json};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
pub use magnon::workflow::grouped;
use magnon::workflow::{Phases, Progress};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Seconds by phase.
#[derive(Default)]
pub struct Clock {
    seconds: Map<String, Value>,
}

impl From<&Phases> for Clock {
    fn from(phases: &Phases) -> Self {
        let mut clock = Self::default();
        clock.add_all(phases);
        clock
    }
}

impl Clock {
    /// Runs `work` and notes its time under `name`.
    pub fn phase<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(name, start.elapsed().as_secs_f64());
        result
    }

    /// Notes the phases of a call.
    pub fn add_all(&mut self, phases: &Phases) {
        phases.iter().for_each(|(name, seconds)| self.add(name, seconds));
    }

    /// Notes time that was measured elsewhere.
    pub fn add(&mut self, name: &str, spent: f64) {
        let before = self.seconds.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        self.seconds.insert(name.to_owned(), json!(before + spent));
    }

    /// The phases as `load 0.01 s, operator 0.02 s`.
    fn line(&self) -> String {
        let part = |(name, seconds): (&String, &Value)| {
            format!("{name} {:.3} s", seconds.as_f64().unwrap_or(0.0))
        };
        self.seconds.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}

/// Lines for people and keys for scripts, filled side by side.
#[derive(Default)]
pub struct Report {
    lines: Vec<(String, String)>,
    keys: Map<String, Value>,
}

impl Report {
    /// A line for people.
    pub fn line(&mut self, name: &str, value: impl ToString) {
        self.lines.push((name.to_owned(), value.to_string()));
    }

    /// All keys of a result.
    pub fn put(&mut self, result: &impl Serialize) -> anyhow::Result<()> {
        match serde_json::to_value(result)? {
            Value::Object(keys) => self.keys.extend(keys),
            other => anyhow::bail!("a result is an object, not {other}"),
        }
        Ok(())
    }

    /// The files that were asked for, a key for each.
    pub fn files<const N: usize>(&mut self, files: [(&str, Option<&Path>); N]) {
        for (name, path) in files {
            let path = path.map(|path| path.display().to_string());
            self.keys.insert(name.to_owned(), json!(path));
        }
    }

    /// Prints one of the two on standard output.
    pub fn print(mut self, common: &Common, clock: Clock) -> anyhow::Result<()> {
        if common.json {
            // Those of the command in place of those of the call.
            self.keys.shift_remove("seconds");
            self.keys.insert("seconds".to_owned(), Value::Object(clock.seconds));
            failure::answered();
            writeln!(io::stdout(), "{}", shown_json(&Value::Object(self.keys).to_string()))?;
            return Ok(());
        }
        if !clock.seconds.is_empty() {
            self.line("time", clock.line());
        }
        let width = self.lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let lines = self.lines.iter().map(|(name, value)| format!("{name:width$}  {value}"));
        print_lines(lines)
    }
}

/// Prints lines for people: on standard output, or on standard error where a file goes to standard output.
pub fn print_lines(lines: impl Iterator<Item = impl AsRef<str>>) -> anyhow::Result<()> {
    let mut out: Box<dyn Write> = match is_stdout_taken() {
        true => Box::new(io::stderr().lock()),
        false => Box::new(io::stdout().lock()),
    };
    for line in lines {
        writeln!(out, "{}", shown(line.as_ref()))?;
    }
    Ok(())
}

/// Flags that cannot be meant: exit code 2.
#[derive(Debug)]
pub struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of wrong usage.
pub fn usage(problem: impl ToString) -> anyhow::Error {
    Usage(problem.to_string()).into()
}

/// The words of an error, with parameters as flags.
pub fn with_flag(error: &magnon::Error) -> String {
    match error {
        magnon::Error::Parameter { name, problem } => {
            format!("--{} {problem}", name.replace('_', "-"))
        }
        error => error.to_string(),
    }
}

/// Arguments outside of their range are wrong usage; the rest is the fault of the data.
pub fn fault(error: magnon::Error) -> anyhow::Error {
    if error.is_argument() { usage(with_flag(&error)) } else { error.into() }
}

/// Whether the error is one of wrong usage.
pub fn is_usage(error: &anyhow::Error) -> bool {
    let argument = error.downcast_ref::<magnon::Error>();
    error.is::<Usage>()
        || matches!(argument, Some(magnon::Error::Argument(_) | magnon::Error::Parameter { .. }))
}

/// Whether the error is a pipe that its reader has closed.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind =
        |cause: &(dyn std::error::Error + 'static)| Some(cause.downcast_ref::<io::Error>()?.kind());
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}

/// What takes less shows no progress.
const SECOND: Duration = Duration::from_secs(1);

/// A progress bar that shows itself on a terminal after a second.
pub struct Bar {
    start: Instant,
    label: &'static str,
    quiet: bool,
    shown: bool,
    /// Whether steps say nothing about the time that is left.
    open_ended: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    /// For work in steps of about equal cost: the time left is estimated.
    pub fn new(label: &'static str, common: &Common) -> Self {
        let quiet = common.quiet;
        let shown = !quiet && io::stderr().is_terminal();
        let (start, bar) = (Instant::now(), Mutex::new(None));
        Self { start, label, quiet, shown, open_ended: false, bar }
    }

    /// For work that cannot tell when it ends: what is done so far and the time spent are shown.
    pub fn open_ended(label: &'static str, common: &Common) -> Self {
        let mut bar = Self::new(label, common);
        bar.open_ended = true;
        if bar.shown
            && let Ok(mut inner) = bar.bar.lock()
        {
            let hidden = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            let spinner = inner.insert(styled(hidden, "{msg}, {elapsed} so far"));
            spinner.set_message(label);
            spinner.enable_steady_tick(SECOND);
            // What is over within a second shows nothing.
            let late = spinner.clone();
            std::thread::spawn(move || {
                std::thread::sleep(SECOND);
                if !late.is_finished() {
                    late.set_draw_target(ProgressDrawTarget::stderr());
                }
            });
        }
        bar
    }

    /// `done` of `total` steps are made.
    fn tell(&self, done: usize, total: usize) {
        if !self.shown || self.start.elapsed() < SECOND {
            return;
        }
        let Ok(mut bar) = self.bar.lock() else { return };
        if self.open_ended {
            if let Some(bar) = bar.as_ref() {
                bar.set_message(format!("{}: {done} of {total}", self.label));
            }
            return;
        }
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(total as u64).with_message(self.label);
            styled(bar, "{msg} {wide_bar} {percent}% {eta} left")
        });
        bar.set_position(bar.position().max(done as u64));
    }
}

/// An interrupt ends the command at once: nothing is kept of a call that is not done.
impl Progress for Bar {
    fn step(&self, done: usize, total: usize, _: &str) {
        self.tell(done, total);
    }

    fn remark(&self, text: &str) {
        if self.quiet {
            return;
        }
        match self.bar.lock().as_deref() {
            Ok(Some(bar)) => bar.suspend(|| remark!("note: {text}")),
            _ => remark!("note: {text}"),
        }
    }
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Ok(Some(bar)) = self.bar.get_mut().map(Option::take) {
            bar.finish_and_clear();
        }
    }
}
