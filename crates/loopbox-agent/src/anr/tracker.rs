//! A hang from the first suspicion to its final verdict. Used by the worker only.

use super::{framework, sigquit};
use crate::session::Session;
use crate::session::settings::Settings;
use crate::session::stall::StallSnapshot;
use crate::sys::{clock, log, proc};
use jni::Env;
use loopbox_format::looper::most_overdue_ns;
use loopbox_format::model::{
    Anr, AnrVerdict, DumpReason, MainState, QuitSignal, RecordKind, Report, SignalOrigin, SystemWord,
};
use loopbox_format::report::judge_anew;
use loopbox_recorder::{judge, origin, patience_ns};
use loopbox_store::write_report;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A suspect message, and a report that may still get more evidence, are checked at least this often.
const CHECK_MS: u64 = 500;
/// The system takes traces for up to twenty seconds before it reports that a process does not respond.
const ASK_NS: u64 = 25_000_000_000;
/// A message or freeze that ended at most this long ago may still be the reason for a signal.
const RECENT_NS: u64 = 10_000_000_000;
/// A message that took less is never the reason.
const SHORT_NS: u64 = 300_000_000;

/// What the running message requires of the worker.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stall {
    Nothing,
    /// A message has become suspicious: what is known of it belongs into the ring.
    Suspect,
    /// It has crossed its hang threshold.
    Hang,
}

/// Tracks the hangs of a session.
#[derive(Debug)]
pub(crate) struct AnrTracker {
    /// The message under suspicion; 0 for none.
    token: u64,
    threshold_ns: u64,
    /// How long the main thread had waited for a processor when the suspicion started.
    waited_ns: Option<u64>,
    /// It is reported, or never will be.
    settled: bool,
    /// The signal that a report of this message answers.
    signal: Option<(u64, QuitSignal)>,
    /// What the system has reported about a message, for that message's next report.
    system: Option<(u64, SystemWord)>,
    /// The last freeze, if it was over shortly before the last report.
    thawed_ns: u64,
    open: Option<OpenReport>,
}

/// Evidence that a report does not have yet.
#[derive(Debug)]
pub(crate) struct NewEvidence {
    ended_ns: Option<u64>,
    system: Option<SystemWord>,
}

/// A report that may get more evidence.
#[derive(Debug)]
struct OpenReport {
    name: String,
    path: PathBuf,
    /// Its message; 0 when none ran.
    token: u64,
    /// Until when the system is asked; `None` when it has answered, or is not asked.
    ask_until_ns: Option<u64>,
}

impl AnrTracker {
    pub(crate) fn new() -> Self {
        Self {
            token: 0,
            threshold_ns: 0,
            waited_ns: None,
            settled: false,
            signal: None,
            system: None,
            thawed_ns: 0,
            open: None,
        }
    }

    /// What the stall monitor's snapshot requires.
    pub(crate) fn check(&mut self, env: &mut Env<'_>, session: &Session) -> Stall {
        let stall = session.stall.snapshot();
        let token = stall.suspect_token();
        if token != self.token {
            self.token = token;
            self.settled = false;
            self.threshold_ns = session.settings.hang_threshold_ns;
            self.waited_ns = proc::main_waited_ns();
            return if token == 0 { Stall::Nothing } else { Stall::Suspect };
        }
        let ran_ns = stall.message.ran_ns.saturating_sub(self.starved_ns());
        if token == 0 || self.settled || ran_ns < self.threshold_ns {
            return Stall::Nothing;
        }
        self.settled = true;
        if proc::is_traced() || framework::is_debugged(env) { Stall::Nothing } else { Stall::Hang }
    }

    /// The suspect has a name, which may change its threshold.
    pub(crate) fn named(&mut self, session: &Session, report: &Report) {
        self.threshold_ns = hang_threshold_ns(&session.settings, report);
    }

    /// How long the worker may sleep.
    pub(crate) fn wait_ms(&self, session: &Session) -> Option<u64> {
        let busy = self.open.is_some() || (self.token != 0 && !self.settled);
        busy.then(|| CHECK_MS.min(session.settings.hang_threshold_ns / 8_000_000).max(1))
    }

    /// The name of a hang's report file: the same however often it is written.
    pub(crate) fn file_name(report: &Report) -> Option<String> {
        let MainState::Running(running) = &report.main else { return None };
        let process = &report.meta.process;
        let numbers = [process.pid.into(), process.installed_ns / 1_000_000, running.token];
        let [pid, installed, token] = numbers.map(|number| number.to_string());
        Some(["loopbox-", &pid, "-", &installed, "-m", &token].concat())
    }

    /// The evidence for an ANR at this moment, without the queue, which is captured later, and the verdict.
    pub(crate) fn classify(&mut self, env: &mut Env<'_>, session: &Session, report: &Report) -> Anr {
        let now_ns = report.meta.dumped_at.uptime_ns;
        let stall = snapshot_after(session, now_ns);
        let frozen = stall.frozen;
        let recent = frozen.last_over_ns.saturating_add(RECENT_NS) > now_ns;
        self.thawed_ns = if recent { frozen.last_ns } else { 0 };
        let mut anr = Anr {
            patience_ns: hang_threshold_ns(&session.settings, report),
            before_ns: longest_recent_ns(report, now_ns).saturating_sub(self.thawed_ns),
            debugged: proc::is_traced() || framework::is_debugged(env),
            ..Anr::default()
        };
        let mut token = 0;
        if let MainState::Running(running) = &report.main {
            token = running.token;
            if stall.message.token == token {
                anr.frozen_ns = stall.message.frozen_ns;
            }
            anr.ran_ns = running.age_ns().saturating_sub(anr.frozen_ns);
            if self.token == token {
                anr.starved_ns = self.starved_ns();
            }
        }
        if report.meta.reason == DumpReason::SigQuit {
            self.signal = Some((token, signal(session)));
        }
        anr.signal = self.signal.filter(|(of, _)| *of == token).map(|(_, signal)| signal);
        if report.meta.reason != DumpReason::SigQuit && token == 0 {
            anr.signal = None;
        }
        if token != 0 {
            anr.system =
                self.system.as_ref().filter(|(of, _)| *of == token).map(|(_, system)| system.clone());
        }
        anr.verdict = judge(&anr);
        anr
    }

    /// Adds the queue, which is known now, to the evidence.
    pub(crate) fn add_queue(&self, report: &mut Report) {
        report.anr.overdue_ns =
            most_overdue_ns(&report.pending).and_then(|ns| ns.checked_sub(self.thawed_ns));
        report.anr.verdict = judge(&report.anr);
    }

    /// Puts the evidence into the file of that name, if that is the report of the message which still runs. Returns the
    /// file.
    pub(crate) fn update_evidence(&self, session: &Session, name: &str, anr: &Anr) -> Option<PathBuf> {
        let open = self.open.as_ref().filter(|open| open.name == name)?;
        let written = open.rewrite(session, |known| {
            let overdue_ns = known.overdue_ns;
            *known = Anr { overdue_ns, ..anr.clone() };
            known.verdict = judge(known);
        });
        written.then(|| open.path.clone())
    }

    /// A report was written; it may get more evidence when a signal or a hang was the reason for it.
    pub(crate) fn report_written(&mut self, name: &str, path: &Path, report: &Report) {
        if !matches!(report.meta.reason, DumpReason::SigQuit | DumpReason::Hang) {
            return;
        }
        let token = if let MainState::Running(running) = &report.main { running.token } else { 0 };
        let unresponsive = !matches!(report.anr.verdict, AnrVerdict::Responsive);
        if token == self.token {
            self.settled |= unresponsive;
        }
        let asked =
            report.anr.signal.is_some_and(|signal| signal.origin == SignalOrigin::System) || unresponsive;
        let answered = report.anr.system.is_some();
        let ask_until_ns = (asked && !answered).then(|| clock::now_ns().saturating_add(ASK_NS));
        self.open = Some(OpenReport { name: name.to_owned(), path: path.to_owned(), token, ask_until_ns });
    }

    /// Checks whether there is new evidence for the report written last.
    pub(crate) fn new_evidence(&mut self, env: &mut Env<'_>, session: &Session) -> Option<NewEvidence> {
        let open = self.open.as_mut()?;
        let ended_ns = open.ended_ns(session);
        let mut system = None;
        if let Some(until_ns) = open.ask_until_ns {
            system = framework::not_responding(env).map(SystemWord::NotResponding);
            if system.is_none() && clock::now_ns() >= until_ns && framework::is_available(env) {
                system = Some(SystemWord::Silent);
            }
            if system.is_some() || clock::now_ns() >= until_ns {
                open.ask_until_ns = None;
            }
        }
        if ended_ns.is_none() && system.is_none() {
            if open.is_done() {
                self.open = None;
            }
            return None;
        }
        Some(NewEvidence { ended_ns, system })
    }

    /// Puts it into the file. Returns the file, and the reason for the listener.
    pub(crate) fn add_evidence(
        &mut self,
        session: &Session,
        evidence: NewEvidence,
    ) -> Option<(PathBuf, &'static str)> {
        let open = self.open.as_mut()?;
        let NewEvidence { ended_ns, system } = evidence;
        let what = match system {
            Some(SystemWord::NotResponding(_)) => "anr",
            _ if ended_ns.is_some() => "ended",
            _ => "judged",
        };
        if ended_ns.is_some() {
            open.token = 0;
        } else if let Some(SystemWord::NotResponding(_)) = &system {
            self.system = system.clone().map(|system| (open.token, system));
        }
        let path = open.path.clone();
        let more = open.rewrite(session, |anr| {
            anr.ended_after_ns = anr.ended_after_ns.or(ended_ns);
            if system.is_some() {
                anr.system = system;
            }
            anr.verdict = judge(anr);
        });
        if !more || open.is_done() {
            self.open = None;
        }
        more.then_some((path, what))
    }

    fn starved_ns(&self) -> u64 {
        let now = proc::main_waited_ns();
        now.zip(self.waited_ns).map_or(0, |(now, before)| now.saturating_sub(before))
    }
}

impl OpenReport {
    /// No more evidence will come.
    fn is_done(&self) -> bool {
        self.token == 0 && self.ask_until_ns.is_none()
    }

    /// How long the message took, if it has ended.
    fn ended_ns(&self, session: &Session) -> Option<u64> {
        if self.token == 0 || session.shared.token() == self.token {
            return None;
        }
        // The loop inside of a message has messages of its own; only its end makes a record of it.
        let history = session.reader.snapshot(clock::now_ns()).report.history;
        let record = history
            .iter()
            .rev()
            .find(|r| r.first_token <= self.token && self.token - r.first_token < u64::from(r.count))?;
        let detail = record.details.iter().find(|detail| detail.token == self.token);
        Some(detail.map_or(record.slowest.wall_ns, |detail| detail.wall_ns))
    }

    /// Changes the evidence in the file; false when the file is gone or cannot be written.
    fn rewrite(&self, session: &Session, change: impl FnOnce(&mut Anr)) -> bool {
        // The app may have taken the file: it has the report as it was.
        let Ok(bytes) = fs::read(&self.path) else { return false };
        let Ok(Some(bytes)) = judge_anew(&bytes, change) else { return false };
        let written = write_report(&session.settings.directory, &self.name, &bytes);
        if let Err(error) = &written {
            log::warn(&["a report could not be updated with its verdict: ", &error.to_string()].concat());
        }
        written.is_ok()
    }
}

/// How long the running message may run before it is a hang.
pub(crate) fn hang_threshold_ns(settings: &Settings, report: &Report) -> u64 {
    let message = match &report.main {
        MainState::Running(running) => running.message.as_ref(),
        _ => None,
    };
    patience_ns(settings.hang_threshold_ns, message, settings.api_level)
}

/// A snapshot of the stall monitor from after `now_ns`: after a freeze all threads wake at once, and this one may be first.
fn snapshot_after(session: &Session, now_ns: u64) -> StallSnapshot {
    for _ in 0..100 {
        let stall = session.stall.snapshot();
        if stall.at_ns >= now_ns || session.shared.token() == 0 {
            return stall;
        }
        session.shared.wake_all();
        std::thread::sleep(Duration::from_millis(1));
    }
    session.stall.snapshot()
}

fn signal(session: &Session) -> QuitSignal {
    let sigquit::Sender { pid, uid } = sigquit::sender();
    // SAFETY: no arguments, no effects.
    let own_uid = unsafe { libc::getuid() };
    let count = sigquit::count().wrapping_sub(session.signals_before);
    QuitSignal { origin: origin(pid, uid, std::process::id(), own_uid), pid, uid, count }
}

/// How long the longest message of the last seconds took.
fn longest_recent_ns(report: &Report, now_ns: u64) -> u64 {
    let recent = report.history.iter().rev().take_while(|record| {
        record.start_ns.saturating_add(record.wall_ns).saturating_add(RECENT_NS) >= now_ns
    });
    let worked = recent.filter(|r| matches!(r.kind, RecordKind::Group | RecordKind::Single));
    worked.map(|record| record.slowest.wall_ns).filter(|&ns| ns >= SHORT_NS).max().unwrap_or(0)
}
