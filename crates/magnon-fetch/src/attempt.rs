//! One attempt at a file: what is asked, what of the answer is taken, what its failure means.

use crate::client::{Answer, Trouble};
use crate::download::Download;
use crate::part::Part;
use crate::{FetchError, Options};
use std::time::Instant;

/// How an attempt failed.
pub(crate) enum Failure {
    /// It may pass.
    Passing(FetchError),
    /// It will not.
    Final(FetchError),
}

/// How fast an answer comes.
struct Pace {
    since: Instant,
    bytes: u64,
}

impl Pace {
    /// Counts bytes; whether those of the last `read_timeout` were too few.
    fn is_below(&mut self, count: usize, options: &Options) -> bool {
        self.bytes = self.bytes.saturating_add(count as u64);
        let passed = self.since.elapsed();
        if passed < options.read_timeout {
            return false;
        }
        let needed = options.slowest as f64 * passed.as_secs_f64();
        let below = (self.bytes as f64) < needed;
        *self = Self { since: Instant::now(), bytes: 0 };
        below
    }
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        Self::Final(error)
    }
}

impl Download<'_> {
    /// Asks once and reads what comes.
    pub(crate) fn attempt(&mut self, part: &mut Part) -> Result<(), Failure> {
        let answer = self.client.ask(&self.address, part.length(), part.tag());
        let mut answer = answer.map_err(|trouble| self.failure(trouble, part.length()))?;
        self.take(&answer, part)?;
        let (limit, reason) = self.limit();
        let address = self.address.clone();
        let too_large = || Failure::Final(FetchError::TooLarge { address, limit, reason });
        let total = answer.length.map(|length| part.length().saturating_add(length));
        if total.is_some_and(|total| total > limit) {
            return Err(too_large());
        }
        let total = self.file.size.or(total);
        let mut buffer = vec![0; 1 << 16];
        let mut pace = Pace { since: Instant::now(), bytes: 0 };
        loop {
            self.report(part.length(), total)?;
            let read = answer.read(&mut buffer);
            let count = read.map_err(|trouble| self.failure(trouble, part.length()))?;
            if count == 0 {
                break;
            }
            let bytes = buffer.get(..count).unwrap_or_default();
            if part.length().saturating_add(count as u64) > limit {
                return Err(too_large());
            }
            part.append(bytes)?;
            if pace.is_below(count, self.options) {
                let (address, path) = (self.address.clone(), self.place.to_owned());
                let slowest = self.options.slowest;
                return Err(Failure::Passing(FetchError::TooSlow { address, path, slowest }));
            }
        }
        // Without a length, an end is all that a broken connection shows.
        if answer.length.is_none() && self.file.size.is_some_and(|size| part.length() < size) {
            let trouble = Trouble::BrokenOff("the body ended early".into());
            return Err(self.failure(trouble, part.length()));
        }
        Ok(())
    }

    /// Makes the part ready for the body of an answer, if it has one that is of use.
    fn take(&self, answer: &Answer, part: &mut Part) -> Result<(), Failure> {
        match answer.status {
            200 => {
                part.restart()?;
                if !self.file.is_verified() {
                    part.set_tag(answer.tag.clone())?;
                }
                Ok(())
            }
            206 if answer.start == Some(part.length()) => {
                part.go_on();
                Ok(())
            }
            // The part is not what the server has; the next attempt asks for all of it.
            206 | 416 if part.length() > 0 => {
                part.restart()?;
                let trouble = Trouble::BrokenOff("the server cannot go on from there".into());
                Err(self.failure(trouble, 0))
            }
            status => {
                let (address, path) = (self.address.clone(), self.place.to_owned());
                let error = FetchError::Status { address, path, status };
                let passing = matches!(status, 408 | 429 | 500..);
                Err(if passing { Failure::Passing(error) } else { Failure::Final(error) })
            }
        }
    }

    /// The most bytes that are taken, and why.
    pub(crate) fn limit(&self) -> (u64, &'static str) {
        match self.file.size {
            Some(size) => (size, "which is the size that is known of it"),
            None => (
                self.options.max_bytes,
                "the limit on files whose size is not known; raise it if you trust the address",
            ),
        }
    }

    fn failure(&self, trouble: Trouble, received: u64) -> Failure {
        let (address, path) = (self.address.clone(), self.place.to_owned());
        match trouble {
            Trouble::NoNetwork(problem) => {
                Failure::Final(FetchError::NoNetwork { address, path, problem })
            }
            Trouble::NoConnection => {
                let waited = self.options.connect_timeout.as_secs_f64();
                let problem = format!("no connection within {waited:.1} s");
                Failure::Passing(FetchError::NoNetwork { address, path, problem })
            }
            Trouble::TimedOut => {
                let waited = self.options.read_timeout;
                Failure::Passing(FetchError::TimedOut { address, path, waited })
            }
            Trouble::BrokenOff(problem) => {
                Failure::Passing(FetchError::BrokenOff { address, path, received, problem })
            }
            Trouble::Answer(problem) => {
                Failure::Final(FetchError::Answer { address, path, problem })
            }
        }
    }
}
