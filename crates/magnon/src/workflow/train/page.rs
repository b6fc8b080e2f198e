//! The page of a run, as the last step of training.

use super::{KeptRun, TrainOptions};
use crate::Error;
use crate::run::RunFolder;
use crate::workflow::{Progress, pages};
use std::time::Instant;

/// Writes `report.html` where it is asked for. The model is safe by now: a page that cannot be drawn or written is a
/// remark, and no reason to fail.
pub(super) fn add(
    run: &mut KeptRun,
    folder: &RunFolder,
    options: &TrainOptions,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let Some(command) = &options.page else { return Ok(()) };
    progress.step(0, 1, "report");
    let start = Instant::now();
    match pages::save_run(run, folder.path(), command.clone(), progress) {
        Err(Error::Stopped) => return Err(Error::Stopped),
        Err(error) => progress.remark(&format!("there is no report.html: {error}")),
        Ok(()) => (),
    }
    run.report.seconds.add("report", start.elapsed().as_secs_f64());
    Ok(())
}
