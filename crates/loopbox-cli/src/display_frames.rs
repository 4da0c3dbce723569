//! Which reports of a batch have display frames that another report of the same process has, too.

use crate::batch::{BatchReading, files};
use crate::{input, output};
use anyhow::Result;
use loopbox_report::Analysis;
use loopbox_report::smoothness::{FrameProcess, FramesOnce, FramesSeen};
use rayon::iter::{IntoParallelRefIterator as _, ParallelBridge as _, ParallelIterator as _};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Finds the display frames that several reports of one process have, so that they are counted once. Reads
/// all of a report only if its process has left several reports; otherwise only the header.
///
/// # Errors
/// When the threads cannot be started.
pub(crate) fn once(how: &BatchReading, paths: &[PathBuf]) -> Result<FramesOnce> {
    let process = how.reading.process.as_deref();
    Ok(how.pool()?.install(|| {
        let named = files(paths).par_bridge().filter(|path| path.is_file());
        let named = named.filter_map(|path| Some((process_of(&path, process)?, path)));
        let named: Vec<(FrameProcess, PathBuf)> = named.collect();
        let mut left: HashMap<&FrameProcess, u32> = HashMap::new();
        named.iter().for_each(|(process, _)| *left.entry(process).or_default() += 1);
        let several =
            named.par_iter().filter(|(process, _)| left.get(process).is_some_and(|files| *files > 1));
        let seen: Vec<FramesSeen> = several.filter_map(|(_, path)| seen(path, process)).collect();
        FramesOnce::of(seen)
    }))
}

/// Prints how many reports' figures are left out.
pub(crate) fn print_left_out(once: &FramesOnce) {
    let reports = match once.left_out() {
        0 => return,
        1 => "1 report".to_owned(),
        n => format!("{n} reports"),
    };
    output::print_error(format_args!(
        "note: the frames of {reports} are left out: another report of the same process counts them, too"
    ));
}

/// The process of a report; `None` when it is not known. Of a report only the header is read. A ring is
/// decoded as a whole.
fn process_of(path: &Path, process: Option<&str>) -> Option<FrameProcess> {
    match loopbox_format::report::meta(&input::read(path).ok()?.bytes) {
        Some(meta) => FrameProcess::of(&meta),
        None => FrameProcess::of(&input::decode(path, process).ok()?.decoded.report.meta),
    }
}

/// The display frames of a report; `None` for a damaged report, which a batch does not use.
fn seen(path: &Path, process: Option<&str>) -> Option<FramesSeen> {
    let analysis = Analysis::new(&input::decode(path, process).ok()?.decoded);
    FramesSeen::of(&analysis).filter(|_| analysis.issues.is_empty())
}
