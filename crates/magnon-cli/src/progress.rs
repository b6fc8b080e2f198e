//! What is shown while models are trained.

use crate::args::Common;
use crate::interrupt::hold;
use crate::report::Bar as Spinner;
use indicatif::{ProgressBar, ProgressStyle};
use magnon::progress::{Epoch, Progress};
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Shows the state of training on a terminal, from the first second on.
pub struct Watcher<'a> {
    stop: &'a AtomicBool,
    patience: usize,
    /// Whether a checkpoint is written when training is stopped.
    keeps: bool,
    quiet: bool,
    shown: bool,
    start: Instant,
    bar: Mutex<Bar>,
}

struct Bar {
    /// What is shown before the first epoch: that the data are read and made ready.
    waiting: Option<Spinner>,
    bar: Option<ProgressBar>,
    last: Instant,
}

/// Shows how many jobs are done, and how long the others take at the same pace.
pub struct JobBar<'a> {
    stop: &'a AtomicBool,
    quiet: bool,
    start: Instant,
    /// Jobs that were done before this command began.
    before: AtomicUsize,
    bar: Option<ProgressBar>,
}

impl<'a> JobBar<'a> {
    pub fn new(common: &Common, stop: &'a AtomicBool) -> Self {
        let shown = !common.quiet && io::stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = ProgressBar::new(0);
            if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        let before = AtomicUsize::new(usize::MAX);
        Self { stop, quiet: common.quiet, start: Instant::now(), before, bar }
    }
}

impl Progress for JobBar<'_> {
    fn step(&self, done: usize, total: usize, message: &str) {
        let Some(bar) = &self.bar else { return };
        if total == 0 {
            // Nothing is known of the number of steps.
            bar.set_message(format!("{message}, {:.0?} so far", self.start.elapsed()));
            return;
        }
        let first = self.before.fetch_min(done.saturating_sub(1), Relaxed);
        let here = done - first.min(done.saturating_sub(1));
        let left =
            self.start.elapsed().mul_f64((total - done.min(total)) as f64 / here.max(1) as f64);
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        let left = match left.as_secs() {
            0..90 => format!("{} s", left.as_secs()),
            more => format!("{} min", more.div_ceil(60)),
        };
        bar.set_message(format!("{message}, about {left} left"));
    }

    fn remark(&self, text: &str) {
        if !self.quiet {
            match &self.bar {
                Some(bar) => bar.suspend(|| remark!("note: {text}")),
                None => remark!("note: {text}"),
            }
        }
    }

    fn stop_flag(&self) -> &AtomicBool {
        self.stop
    }
}

impl Drop for JobBar<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Time between two looks at the terminal.
const PAUSE: Duration = Duration::from_millis(60);

impl<'a> Watcher<'a> {
    pub fn new(common: &Common, stop: &'a AtomicBool, patience: usize, keeps: bool) -> Self {
        Self {
            stop,
            patience,
            keeps,
            quiet: common.quiet,
            shown: !common.quiet && io::stderr().is_terminal(),
            start: Instant::now(),
            bar: Mutex::new(Bar {
                waiting: Some(Spinner::open_ended("reading the data and making ready", common)),
                bar: None,
                last: Instant::now(),
            }),
        }
    }

    /// Shows a line, unless it is too early or another was shown just now.
    fn show(&self, position: usize, length: usize, message: impl FnOnce() -> String) {
        if !self.shown || self.start.elapsed() < Duration::from_secs(1) {
            return;
        }
        let Ok(mut state) = self.bar.try_lock() else { return };
        if state.last.elapsed() < PAUSE {
            return;
        }
        state.last = Instant::now();
        state.waiting = None;
        let bar = state.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(0);
            if let Ok(style) = ProgressStyle::with_template("{bar:20} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_length(length as u64);
        bar.set_position(position as u64);
        bar.set_message(message());
    }
}

impl Progress for Watcher<'_> {
    fn remark(&self, text: &str) {
        match self.bar.lock().as_deref() {
            Ok(Bar { waiting: Some(waiting), .. }) => waiting.remark(text),
            _ if !self.quiet => remark!("note: {text}"),
            _ => {}
        }
    }
    fn step(&self, done: usize, total: usize, what: &str) {
        self.show(done, total, || what.to_owned());
    }
    fn epoch(&self, epoch: &Epoch) {
        if self.keeps {
            hold();
        }
        let Epoch { trial, done, trials, epoch: number, best, .. } = *epoch;
        let waited = number - best;
        // One trial shows how much of its patience is spent, several how many are done.
        let (position, length) = if trials == 1 { (waited, self.patience) } else { (done, trials) };
        self.show(position, length, || {
            let mut text = String::new();
            if trials > 1 {
                text = format!("{done}/{trials} trained, {trial}, ");
            }
            let pace = self.start.elapsed().as_secs_f64() / number.max(1) as f64;
            let left = pace * (self.patience - waited.min(self.patience)) as f64;
            text + &format!(
                "epoch {number}, loss {:.4} / {:.4}, accuracy {:.1} / {:.1} % (training / validation), \
                 best {best}, stops in {} epochs, {left:.0} s",
                epoch.train_loss,
                epoch.val_loss,
                100.0 * epoch.train_accuracy,
                100.0 * epoch.val_accuracy,
                self.patience - waited.min(self.patience),
            )
        });
    }
    fn stop_flag(&self) -> &AtomicBool {
        self.stop
    }
}

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        if let Ok(state) = self.bar.get_mut()
            && let Some(bar) = state.bar.take()
        {
            bar.finish_and_clear();
        }
    }
}
