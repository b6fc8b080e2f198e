//! One file: attempts until it is whole, then its checksum, then its place.

use crate::attempt::Failure;
use crate::checksum::Found;
use crate::client::Client;
use crate::part::Part;
use crate::{FetchError, File, Options, Progress};
use std::path::Path;
use std::time::Duration;

/// An attempt that brought this much does not count as a failure.
const GOOD_PART: u64 = 1 << 20;
/// Between two looks at whether to go on.
const MOMENT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A file to download, and all that is needed for it.
pub(crate) struct Download<'a> {
    pub(crate) file: &'a File,
    /// The address that is asked.
    pub(crate) address: String,
    /// Where the file is to stand.
    pub(crate) place: &'a Path,
    pub(crate) options: &'a Options,
    pub(crate) client: &'a Client,
    pub(crate) progress: &'a mut dyn FnMut(Progress<'_>) -> bool,
}

impl Download<'_> {
    /// Downloads the file, checks it and puts it in its place.
    pub(crate) fn run(mut self) -> Result<Found, FetchError> {
        let mut part = Part::open(self.place)?;
        match self.complete(&mut part) {
            Ok(found) => part.finish(self.place).map(|()| found),
            Err(error) => {
                let useless =
                    matches!(error, FetchError::Checksum { .. } | FetchError::TooLarge { .. });
                if useless || part.length() == 0 {
                    part.discard();
                }
                Err(error)
            }
        }
    }

    fn complete(&mut self, part: &mut Part) -> Result<Found, FetchError> {
        // Bytes of another run are of use where they can be told from those of another version.
        let is_known = self.file.is_verified() || part.tag().is_some();
        if !is_known || part.length() > self.limit().0 {
            part.restart()?;
        }
        let mut restarted = false;
        loop {
            self.receive(part)?;
            let found = part.found(self.file)?;
            if found.is(self.file) {
                return Ok(found);
            }
            if restarted || !part.is_mixed() {
                let (address, expected) = (self.address.clone(), self.file.checksum());
                return Err(FetchError::Checksum { address, expected, found: found.shown() });
            }
            part.restart()?;
            restarted = true;
        }
    }

    /// Tries until all bytes are there.
    fn receive(&mut self, part: &mut Part) -> Result<(), FetchError> {
        let mut failures = 0;
        while self.file.size != Some(part.length()) {
            let before = part.length();
            let error = match self.attempt(part) {
                Ok(()) => return Ok(()),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(error)) => error,
            };
            if part.length() >= before.saturating_add(GOOD_PART) {
                failures = 0;
            }
            if failures == self.options.retries {
                return Err(error);
            }
            self.wait(&error, failures, part.length())?;
            failures += 1;
        }
        Ok(())
    }

    /// Waits before the next attempt, twice as long after each failure.
    fn wait(&mut self, error: &FetchError, failures: u32, bytes: u64) -> Result<(), FetchError> {
        let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
        let wait = self.options.first_wait.saturating_mul(factor).min(LONGEST_WAIT);
        let problem = error.to_string();
        self.tell(Progress::Waiting { file: self.file, problem: &problem, wait })?;
        let mut left = wait;
        while !left.is_zero() {
            let moment = left.min(MOMENT);
            std::thread::sleep(moment);
            left -= moment;
            self.report(bytes, self.file.size)?;
        }
        Ok(())
    }

    pub(crate) fn report(&mut self, bytes: u64, total: Option<u64>) -> Result<(), FetchError> {
        self.tell(Progress::Received { file: self.file, bytes, total })
    }

    fn tell(&mut self, progress: Progress<'_>) -> Result<(), FetchError> {
        if (self.progress)(progress) {
            return Ok(());
        }
        Err(FetchError::Cancelled { address: self.address.clone() })
    }
}
