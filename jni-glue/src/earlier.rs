//! What earlier processes of this app left behind: rings without a living process.

use crate::config::Settings;
use crate::hang::{self, Hangs};
use crate::{digest, framework, log, report};
use jni::Env;
use loopbox_format::looper::most_overdue_ns;
use loopbox_format::model::{Anr, MainState, Pending, ProcessExit, Running};
use loopbox_format::report as format;
use loopbox_recorder::judge;
use loopbox_store::{BuildId, FuseState, Recovered, RingPolicy, adopt, write_report};
use std::fs;
use std::path::{Path, PathBuf};

/// The end of a process is worth a report when a message had run that long: the system kills apps all the time, and
/// mostly while nothing is wrong.
const HUNG_NS: u64 = 1_000_000_000;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    /// Reports made of rings whose process ended in the middle of a hang, or crashed.
    pub(crate) reports: Vec<PathBuf>,
    /// Processes that ended while a thread was stopped for a stack: their libart, and in the middle of what.
    pub(crate) blown: Vec<(BuildId, u8)>,
}

/// Takes over the rings of dead processes in `directory`. A ring is deleted when its report is on disk or not wanted;
/// one whose report cannot be written is kept for the next launch.
pub(crate) fn take_over(env: &mut Env<'_>, settings: &Settings) -> Earlier {
    let directory = &settings.directory;
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
                if let FuseState::Open { phase, .. } = recovered.fuse {
                    earlier.blown.push((recovered.identity.libart, phase));
                }
                report::name_by_stack(&mut recovered.report, settings.recorder.keep);
                judge_dead(env, settings, recovered);
                if deserves_report(recovered) {
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
    let exit = recovered.report.anr.exit.as_ref();
    recovered.crash.is_some()
        || recovered.running_ns().is_some_and(|ran| ran >= HUNG_NS)
        || exit.is_some_and(|exit| exit.reason == ProcessExit::ANR)
}

/// What is known of the end, and what follows from it.
fn judge_dead(env: &mut Env<'_>, settings: &Settings, recovered: &mut Recovered) {
    let exit = framework::exit(env, &recovered.report);
    let report = &mut recovered.report;
    let running = match &report.main {
        MainState::Running(running) => Some(running),
        _ => None,
    };
    // Of a message that ran before.
    if running.is_none_or(|running| report.pending.captured_ns < running.start_ns) {
        report.pending = Pending::default();
        report.figures.clear();
    }
    report.anr = Anr {
        ran_ns: running.map_or(0, Running::age_ns),
        patience_ns: hang::patience(settings, report),
        overdue_ns: most_overdue_ns(&report.pending),
        exit,
        ..Anr::default()
    };
    report.anr.verdict = judge(&report.anr);
}

/// Writes the report, or, when the process itself has written one of the same hang, what is known of its end into that.
fn write(directory: &Path, recovered: &mut Recovered) -> Result<PathBuf, String> {
    recovered.report.digest = digest::lines(&recovered.report);
    let report = &recovered.report;
    let own = Hangs::file_name(report).filter(|_| recovered.crash.is_none());
    if let Some(name) = own {
        let path = directory.join([&name, ".lbx"].concat());
        if let Some(bytes) = fs::read(&path).ok().and_then(|bytes| add_exit(&bytes, &report.anr)) {
            return write_report(directory, &name, &bytes).map_err(|error| error.to_string());
        }
    }
    let meta = &report.meta;
    let name = format!("loopbox-{}-{}-recovered", meta.process.pid, meta.dumped_at.uptime_ns / 1_000_000);
    let bytes = format::encode(report).map_err(|error| error.to_string())?;
    write_report(directory, &name, &bytes).map_err(|error| error.to_string())
}

fn add_exit(file: &[u8], dead: &Anr) -> Option<Vec<u8>> {
    let add = |anr: &mut Anr| {
        anr.exit.clone_from(&dead.exit);
        anr.verdict = judge(anr);
    };
    format::judge_anew(file, add).ok()?
}
