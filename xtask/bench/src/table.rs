//! Medians and ratios as a Markdown table.

/// Times of one contender, one a round.
#[derive(Default)]
pub struct Times(Vec<f64>);

impl Times {
    pub fn push(&mut self, seconds: f64) {
        self.0.push(seconds);
    }

    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Rows of us against a peer, printed as soon as they are known, and notes that follow them.
#[derive(Default)]
pub struct Table {
    begun: bool,
    notes: Vec<String>,
}

impl Table {
    /// A row: the median of each side, and the median of the ratios of the rounds. Ours alone where the peer is missing.
    pub fn row(&mut self, task: &str, peer: &str, ours: &Times, theirs: &Times) {
        if theirs.0.is_empty() {
            return self.alone(task, ours);
        }
        let ratios = ours.0.iter().zip(&theirs.0).map(|(ours, theirs)| theirs / ours);
        let ratio = Times(ratios.collect()).median();
        let (ours, theirs) = (milliseconds(ours.median()), milliseconds(theirs.median()));
        self.print([task, &ours, peer, &theirs, &format!("{ratio:.1}×")]);
    }

    /// A row of short times, in as many digits as they need.
    pub fn fine(&mut self, task: &str, peer: &str, ours: &Times, theirs: &Times) {
        let (ours, theirs) = (ours.median(), theirs.median());
        let ratio = format!("{:.2}×", theirs / ours);
        self.print([task, &short(ours), peer, &short(theirs), &ratio]);
    }

    /// A row of two times in seconds.
    pub fn pair(&mut self, task: &str, peer: &str, ours: f64, theirs: f64) {
        let ratio = format!("{:.1}×", theirs / ours);
        self.print([task, &short(ours), peer, &short(theirs), &ratio]);
    }

    /// A row without a peer.
    pub fn alone(&mut self, task: &str, ours: &Times) {
        self.print([task, &milliseconds(ours.median()), "–", "–", "–"]);
    }

    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn print(&mut self, row: [&str; 5]) {
        if !self.begun {
            println!("| task | magnon | peer | its time | ratio |");
            println!("|---|---|---|---|---|");
            self.begun = true;
        }
        println!("| {} |", row.join(" | "));
    }

    /// Prints the notes.
    pub fn end(self) {
        println!();
        self.notes.iter().for_each(|note| println!("{note}"));
        println!();
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", 1000.0 * seconds)
}

/// Seconds, or thousandths of them where they are few.
fn short(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.1} s"),
        0.1.. => format!("{:.0} ms", 1000.0 * seconds),
        0.001.. => format!("{:.2} ms", 1000.0 * seconds),
        _ => format!("{:.1} µs", 1e6 * seconds),
    }
}

/// Seconds that `work` takes.
pub fn time<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = std::time::Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}
