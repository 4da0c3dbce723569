//! What earlier processes of this app left behind: rings without a living process.

use crate::{digest, log, report};
use loopbox_format::report as format;
use loopbox_recorder::Keep;
use loopbox_store::{FuseState, Recovered, RingPolicy, adopt, write_report};
use std::path::{Path, PathBuf};

/// The end of a process is worth a report when a message had run that long: the system kills apps all the time, and
/// mostly while nothing is wrong.
const HUNG_NS: u64 = 1_000_000_000;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    /// Reports made of rings whose process ended in the middle of a hang, or crashed.
    pub(crate) reports: Vec<PathBuf>,
    /// A process ended while its main thread was stopped for a stack.
    pub(crate) died_sampling: bool,
}

/// Takes over the rings of dead processes in `directory`. A ring is deleted when its report is on disk or not wanted;
/// one whose report cannot be written is kept for the next launch. `keep` says which messages may be named.
pub(crate) fn take_over(directory: &Path, keep: Keep) -> Earlier {
    let mut earlier = Earlier::default();
    let rings = match adopt(directory, &RingPolicy::default()) {
        Ok(rings) => rings,
        Err(error) => {
            log::warn(&format!("cannot look for earlier rings in {}: {error}", directory.display()));
            return earlier;
        }
    };
    for mut ring in rings {
        match &mut ring.content {
            Ok(recovered) => {
                earlier.died_sampling |= matches!(recovered.fuse, FuseState::Open { .. });
                if deserves_report(recovered) {
                    report::name_by_stack(&mut recovered.report, keep);
                    match write(directory, recovered) {
                        Ok(path) => earlier.reports.push(path),
                        Err(error) => {
                            log::warn(&format!("no report of {}: {error}", ring.name));
                            continue;
                        }
                    }
                }
            }
            Err(error) => log::warn(&format!("{} cannot be read: {error}", ring.name)),
        }
        if let Err(error) = ring.delete() {
            log::warn(&format!("an earlier ring stays: {error}"));
        }
    }
    earlier
}

fn deserves_report(recovered: &Recovered) -> bool {
    recovered.crash.is_some() || recovered.running_ns().is_some_and(|ran| ran >= HUNG_NS)
}

fn write(directory: &Path, recovered: &mut Recovered) -> Result<PathBuf, String> {
    recovered.report.digest = digest::lines(&recovered.report);
    let meta = &recovered.report.meta;
    let name = format!("loopbox-{}-{}-recovered", meta.process.pid, meta.dumped_at.uptime_ns / 1_000_000);
    let bytes = format::encode(&recovered.report).map_err(|error| error.to_string())?;
    write_report(directory, &name, &bytes).map_err(|error| error.to_string())
}
