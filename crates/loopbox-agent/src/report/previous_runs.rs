//! Reports of earlier processes of this app, from the rings that they left behind.

use super::digest::{self, FileState};
use super::running_message;
use super::suspicion::End;
use crate::anr::framework::{self, ProcessEnd};
use crate::anr::tracker::{self, AnrTracker};
use crate::error::WriteError;
use crate::jni::env::Env;
use crate::session::Session;
use crate::session::previous_runs::PreviousRuns;
use crate::session::settings::Settings;
use crate::sys::log;
use loopbox_format::looper::summarize_queue;
use loopbox_format::model::{Anr, AnrWarning, MainState, Pending, Report, Uptime};
use loopbox_format::report::{Evidence, encode, update_evidence};
use loopbox_recorder::classify;
use loopbox_store::{
    FuseState, FuseSubject, Interruption, Outlives, Recovered, RingPolicy, adopt, suspect, write_report,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Makes reports of the rings of dead processes in `directory`. A ring is deleted when its report is on disk
/// or not wanted; one whose report cannot be written is kept for the next launch.
pub(super) fn recover(env: &mut Env<'_>, session: &Session) -> PreviousRuns {
    let settings = &session.settings;
    let directory = &settings.directory;
    let mut previous = PreviousRuns::default();
    let rings = match adopt(directory, &RingPolicy::default()) {
        Ok(rings) => rings,
        // The first launch, or the directory cannot be had yet.
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return previous,
        Err(error) => {
            log::warn(&format!(
                "cannot look for rings of earlier processes in {}: {error}",
                directory.display()
            ));
            return previous;
        }
    };
    for mut ring in rings {
        // The rest is for the next launch.
        if session.gate.is_closed() {
            break;
        }
        match &mut ring.content {
            Ok(recovered) => {
                running_message::name_by_stack(&mut recovered.report, settings.recorder.keep);
                let end = framework::exit(env, &recovered.report);
                check_fuse(directory, recovered, end.as_ref());
                classify_ended(settings, recovered, end);
                let warned = add_to_warned(session, &recovered.report);
                let is_there = warned.is_some();
                previous.reports.extend(warned);
                if deserves_report(recovered, is_there) {
                    match write(session, recovered) {
                        Ok(path) => previous.reports.push(path),
                        Err(error) => {
                            log::warn(&format!("no report could be written from {}: {error}", ring.name));
                            continue;
                        }
                    }
                }
            }
            Err(error) => log::warn(&format!("{} cannot be read: {error}", ring.name)),
        }
        if let Err(error) = ring.delete() {
            log::warn(&format!("the ring of an earlier process could not be deleted: {error}"));
        }
    }
    previous
}

/// Whether a recovered ring is worth a report. `is_there`: the ring's process has reported the ANR itself.
fn deserves_report(recovered: &Recovered, is_there: bool) -> bool {
    let report = &recovered.report;
    let is_calm = if is_there { digest::ran_short(report) } else { digest::is_calm(report) };
    recovered.crash.is_some() || !is_calm || !report.frames.is_empty()
}

/// Counts the end of the earlier process against the sampler, when the process ended in the middle of a
/// dangerous step.
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
fn write(session: &Session, recovered: &mut Recovered) -> Result<PathBuf, WriteError> {
    let (directory, enter) = (&session.settings.directory, || session.gate.enter());
    recovered.report.digest =
        digest::lines(&recovered.report, FileState::Closed, session.settings.digest_annotations);
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

/// Adds the process's end to the process's own report of an earlier message, during which the system warned
/// of the ANR that ended the process. The ANR's number identifies that report, because main may have run
/// other messages after the warning.
fn add_to_warned(session: &Session, dead: &Report) -> Option<PathBuf> {
    let info = dead.anr_info?;
    let directory = &session.settings.directory;
    let of_process = ["loopbox-", &dead.meta.process.pid.to_string(), "-"].concat();
    let own = AnrTracker::file_name(dead, None);
    for entry in fs::read_dir(directory).ok()?.flatten() {
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
        let bytes = add_exit(&bytes, dead, &[])?;
        return write_report(directory, name, &bytes, Outlives::Process, || session.gate.enter()).ok();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{AnrVerdict, Running, Token};

    const S: u64 = 1_000_000_000;

    #[test]
    fn time_in_which_a_dead_process_was_frozen_or_debugged_makes_no_hang() {
        let (token, start_ns, as_of_ns) = (Token(7), Uptime(10 * S), Uptime(72 * S));
        let running = Running { token, start_ns, as_of_ns, cpu_ns: None, depth: 1, message: None };
        let mut report = Report { main: MainState::Running(running), ..Report::default() };
        let of = |report: &Report, frozen_ns, debugged| {
            let anr = evidence(report, Interruption { frozen_ns, debugged }, 5 * S);
            (anr.ran_ns, anr.frozen_ns, classify(&anr))
        };
        assert_eq!(of(&report, 0, false), (62 * S, 0, AnrVerdict::Hang));
        assert_eq!(of(&report, 60 * S, false), (2 * S, 60 * S, AnrVerdict::Responsive));
        assert_eq!(of(&report, 0, true), (62 * S, 0, AnrVerdict::Responsive));
        assert_eq!(of(&report, 57 * S, false), (5 * S, 57 * S, AnrVerdict::Hang));
        // Nobody took a message from the queue for as long as the process was frozen.
        report.pending.lines = vec!["  Message 0: { when=-1m2s0ms what=1 target=a.B }".to_owned()];
        assert_eq!(of(&report, 60 * S, false).2, AnrVerdict::Responsive);
        assert_eq!(of(&report, 50 * S, false).2, AnrVerdict::Hang);
    }
}
