//! Reports of earlier processes of this app, from the rings that they left behind.

use super::digest::{self, FileState};
use super::running_message;
use super::suspicion::End;
use crate::anr::framework::{self, ProcessEnd};
use crate::anr::tracker::{self, AnrTracker};
use crate::error::WriteError;
use crate::jni::env::Env;
use crate::session::Session;
use crate::session::gate::Gate;
use crate::session::previous_runs::PreviousRuns;
use crate::session::settings::Settings;
use crate::sys::log;
use loopbox_format::looper::summarize_queue;
use loopbox_format::model::{Anr, AnrWarning, MainState, Pending, Report, Uptime};
use loopbox_format::report::{Evidence, encode, update_evidence};
use loopbox_recorder::classify;
use loopbox_store::{
    FuseState, FuseSubject, Interruption, Outlives, RecoverError, Recovered, RingPolicy, adopt, suspect,
    write_report,
};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Makes reports of the rings of dead processes in the directory of the settings. A ring is deleted when its
/// report is on disk or not wanted. A ring that cannot be read, or whose report cannot be written, is kept
/// for the next launch.
pub(super) fn recover(env: &mut Env<'_>, session: &Session) -> PreviousRuns {
    recover_rings(&session.settings, &session.gate, |report| framework::exit(env, report))
}

/// Does what [`recover`] does. `exit` finds out how the process of a report ended.
fn recover_rings(
    settings: &Settings,
    gate: &Gate,
    mut exit: impl FnMut(&Report) -> Option<ProcessEnd>,
) -> PreviousRuns {
    let directory = &settings.directory;
    let mut previous = PreviousRuns::default();
    let mut rings = match adopt(directory, &RingPolicy::default()) {
        Ok(rings) => rings,
        // The first launch, or the directory cannot be had yet.
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return previous,
        Err(error) => {
            log::failed(
                "cannot look for rings of earlier processes in ",
                directory.as_os_str().as_bytes(),
                &error,
            );
            return previous;
        }
    };
    // The rest is for the next launch. It is not read before: that would count as a try.
    while !gate.is_closed()
        && let Some(mut ring) = rings.next()
    {
        match &mut ring.content {
            Ok(recovered) => {
                running_message::name_by_stack(&mut recovered.report, settings.recorder.keep);
                let end = exit(&recovered.report);
                if ring.is_first_try {
                    check_fuse(directory, recovered, end.as_ref());
                }
                classify_ended(settings, recovered, end);
                if let Err(error) = save_report(settings, gate, recovered, &mut previous.reports) {
                    log::failed("no report could be written from ", ring.name.as_bytes(), &error);
                    // What could not be encoded will not be the next time, so that this try counts.
                    if let WriteError::Write(_) = error
                        && let Err(error) = ring.keep()
                    {
                        log::failed("a ring could not be put back", b"", &error);
                    }
                    continue;
                }
            }
            Err(error) => {
                log::failed("no report can be made from ", ring.name.as_bytes(), error);
                // What is in it is not known. The next launch tries once more.
                if let RecoverError::Io(_) = error {
                    continue;
                }
            }
        }
        if let Err(error) = ring.delete() {
            log::failed("a ring could not be deleted", b"", &error);
        }
    }
    previous
}

/// Puts what is known of a dead process on disk, where that is worth a report. Adds the paths to `reports`.
fn save_report(
    settings: &Settings,
    gate: &Gate,
    recovered: &mut Recovered,
    reports: &mut Vec<PathBuf>,
) -> Result<(), WriteError> {
    let warned = add_to_warned(&settings.directory, gate, &recovered.report)?;
    let is_there = warned.is_some();
    reports.extend(warned);
    if deserves_report(recovered, is_there) {
        reports.push(write(settings, gate, recovered)?);
    }
    Ok(())
}

/// Whether a recovered ring is worth a report. `is_there`: the ring's process has reported the ANR itself.
fn deserves_report(recovered: &Recovered, is_there: bool) -> bool {
    let report = &recovered.report;
    let is_calm = if is_there { digest::ran_short(report) } else { digest::is_calm(report) };
    recovered.crash.is_some() || !is_calm || !report.frames.is_empty()
}

/// Counts the end of the earlier process against the sampler, when the process ended in the middle of a
/// dangerous step. Must be called only when a ring is tried for the first time, so that each end is counted
/// once. If the present process ends before this call, the end of the earlier process is never counted.
fn check_fuse(directory: &Path, recovered: &Recovered, system: Option<&ProcessEnd>) {
    let FuseState::Open { phase, since_ns } = recovered.fuse else { return };
    let open_ns = recovered.last_alive_ns.since(since_ns);
    let end = End { phase, open_ns, system, crash: recovered.crash };
    if let Some(suspicion) = end.suspicion() {
        let process = &recovered.report.meta.process;
        let libart = recovered.identity.libart;
        let subject = FuseSubject { process: &process.name, app_version: &process.app_version, libart };
        suspect(directory, &subject, phase, suspicion);
    }
}

/// Adds what is known about the process's end, and the verdict.
fn classify_ended(settings: &Settings, recovered: &mut Recovered, end: Option<ProcessEnd>) {
    let interruption = recovered.interruption;
    let report = &mut recovered.report;
    let running = running(report);
    // Both are about a message that ran before.
    if running.is_none_or(|(start_ns, _)| report.pending.captured_ns < start_ns) {
        report.pending = Pending::default();
        report.statistics.clear();
    }
    report.anr = evidence(report, interruption, tracker::hang_threshold_ns(settings, report));
    if let Some(ProcessEnd { exit, anr, .. }) = end {
        (report.anr.exit, report.anr_info) = (Some(exit), anr);
    }
    report.anr.verdict = classify(&report.anr);
}

/// Since when main's message, or its work outside of messages, ran for certain, and how long; `None` when
/// nothing ran.
fn running(report: &Report) -> Option<(Uptime, u64)> {
    match &report.main {
        MainState::Running(running) => Some((running.start_ns, running.age_ns())),
        MainState::Outside(outside) => Some((outside.start_ns.unwrap_or(outside.after_ns), outside.age_ns())),
        _ => None,
    }
}

/// The evidence that the ring itself has. Time in which the process was frozen or debugged makes no hang.
fn evidence(report: &Report, interruption: Interruption, hang_threshold_ns: u64) -> Anr {
    let Interruption { frozen_ns, debugged } = interruption;
    let overdue_ns = summarize_queue(&report.pending).most_overdue_ns;
    Anr {
        ran_ns: running(report).map_or(0, |(_, age_ns)| age_ns.saturating_sub(frozen_ns)),
        frozen_ns,
        hang_threshold_ns: Some(hang_threshold_ns),
        // The queue may have been read after the freeze.
        overdue_ns: overdue_ns.and_then(|ns| ns.checked_sub(frozen_ns)),
        debugged,
        ..Anr::default()
    }
}

/// Writes the report. When the process itself has written a report of the same hang, adds what is known about
/// the process's end to that report instead.
fn write(settings: &Settings, gate: &Gate, recovered: &mut Recovered) -> Result<PathBuf, WriteError> {
    let (directory, enter) = (&settings.directory, || gate.enter());
    recovered.report.digest =
        digest::lines(&recovered.report, FileState::Closed, settings.digest_annotations);
    let report = &recovered.report;
    let own = AnrTracker::file_name(report, None).filter(|_| recovered.crash.is_none());
    if let Some(name) = &own {
        let path = directory.join([name, ".lbx"].concat());
        if let Some(bytes) =
            fs::read(&path).ok().and_then(|bytes| add_exit(&bytes, report, &report.anr_warnings))
        {
            return Ok(write_report(directory, name, &bytes, Outlives::Process, enter)?);
        }
    }
    // Java finds that of a hang by this name (`SystemProfiles.java`).
    let name = own.unwrap_or_else(|| {
        let meta = &report.meta;
        format!("loopbox-{}-{}", meta.process.pid, meta.dumped_at.uptime_ns.0 / 1_000_000)
    });
    let name = [&name, "-recovered"].concat();
    Ok(write_report(directory, &name, &encode(report)?, Outlives::PowerLoss, enter)?)
}

/// Adds what is known of the process's end, and the warnings that are newer than the file, to the bytes of a
/// report file. `None` when they cannot be added.
fn add_exit(file: &[u8], dead: &Report, warnings: &[AnrWarning]) -> Option<Vec<u8>> {
    let add = |known: &mut Evidence| {
        known.anr.exit.clone_from(&dead.anr.exit);
        known.anr.verdict = classify(&known.anr);
        known.info = dead.anr_info;
        if !warnings.is_empty() {
            known.warnings = warnings.to_vec();
        }
    };
    update_evidence(file, add, |lines, known| digest::update(lines, known, FileState::Closed)).ok()?
}

/// Adds what is known of a process's end to another report that the process had written itself: one that has
/// a warning of the ANR that ended the process, and no ANR of the system yet. The ANR's type and number
/// identify the warning. Main may have run other messages after the warning. Returns the report's path;
/// `None` when there is no such report, or the report's file cannot be read or its bytes cannot be updated.
///
/// # Errors
/// When the directory cannot be read, or the file cannot be written.
fn add_to_warned(directory: &Path, gate: &Gate, dead: &Report) -> io::Result<Option<PathBuf>> {
    let Some(info) = dead.anr_info else { return Ok(None) };
    let of_process = ["loopbox-", &dead.meta.process.pid.to_string(), "-"].concat();
    let own = AnrTracker::file_name(dead, None);
    for entry in fs::read_dir(directory)?.flatten() {
        let file = entry.file_name();
        let Some(name) = file.to_str().and_then(|file| file.strip_suffix(".lbx")) else { continue };
        if !name.starts_with(&of_process) || own.as_deref() == Some(name) {
            continue;
        }
        let Ok(bytes) = fs::read(entry.path()) else { continue };
        let known = Evidence::of(&bytes);
        if known.info.is_some() || !known.warnings.iter().any(|warning| warning.is_of(&info)) {
            continue;
        }
        let Some(bytes) = add_exit(&bytes, dead, &[]) else { break };
        return write_report(directory, name, &bytes, Outlives::Process, || gate.enter()).map(Some);
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
