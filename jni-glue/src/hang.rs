//! A hang from the first suspicion to the last word on it. All of this is the worker's.

use crate::config::Settings;
use crate::session::Session;
use crate::{clock, figures, framework, log, sigquit};
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

/// What happens to a suspect, and to a report that may get more, is looked at that often at the least.
const LOOK_MS: u64 = 500;
/// The system takes traces for up to twenty seconds before it says that a process does not respond.
const ASK_NS: u64 = 25_000_000_000;
/// What ended, or was over, that long ago may still be the reason for a signal.
const RECENT_NS: u64 = 10_000_000_000;
/// A message that took less is no reason for anything.
const SHORT_NS: u64 = 300_000_000;

/// What the worker has to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Nothing,
    /// A message began to be suspicious: what is known belongs into the ring.
    Suspect,
    /// It outran its patience.
    Hang,
}

/// The hangs of a session.
#[derive(Debug)]
pub(crate) struct Hangs {
    /// The message under suspicion; 0 for none.
    token: u64,
    patience_ns: u64,
    /// How long main had waited for a processor when the suspicion began.
    waited_ns: Option<u64>,
    /// It is reported, or never will be.
    settled: bool,
    /// The signal that a report of this message answers.
    signal: Option<(u64, QuitSignal)>,
    /// What the system has said of a message, for its next report.
    said: Option<(u64, SystemWord)>,
    /// The last freeze, if it was over shortly before the last report.
    thawed_ns: u64,
    open: Option<Open>,
}

/// What a report does not have yet.
#[derive(Debug)]
pub(crate) struct News {
    ended_ns: Option<u64>,
    said: Option<SystemWord>,
}

/// A report that may get more.
#[derive(Debug)]
struct Open {
    name: String,
    path: PathBuf,
    /// Its message; 0 when none ran.
    token: u64,
    /// Until when the system is asked; `None` when it has answered, or need not be asked.
    ask_until_ns: Option<u64>,
}

impl Hangs {
    pub(crate) fn new() -> Self {
        Self {
            token: 0,
            patience_ns: 0,
            waited_ns: None,
            settled: false,
            signal: None,
            said: None,
            thawed_ns: 0,
            open: None,
        }
    }

    /// What the watching thread makes of the running message.
    pub(crate) fn look(&mut self, env: &mut Env<'_>, session: &Session) -> Look {
        let seen = session.watched.seen();
        let token = if seen.suspect { seen.message.token } else { 0 };
        if token != self.token {
            self.token = token;
            self.settled = false;
            self.patience_ns = session.settings.patience_ns;
            self.waited_ns = figures::main_waited_ns();
            return if token == 0 { Look::Nothing } else { Look::Suspect };
        }
        let ran_ns = seen.message.ran_ns.saturating_sub(self.starved_ns());
        if token == 0 || self.settled || ran_ns < self.patience_ns {
            return Look::Nothing;
        }
        self.settled = true;
        if figures::is_traced() || framework::is_debugged(env) { Look::Nothing } else { Look::Hang }
    }

    /// The suspect has a name.
    pub(crate) fn named(&mut self, session: &Session, report: &Report) {
        self.patience_ns = patience(&session.settings, report);
    }

    /// How long the worker may sleep.
    pub(crate) fn wait_ms(&self, session: &Session) -> Option<u64> {
        let busy = self.open.is_some() || (self.token != 0 && !self.settled);
        busy.then(|| LOOK_MS.min(session.settings.patience_ns / 8_000_000).max(1))
    }

    /// The name of a report's file: one for each hang, however often it is written.
    pub(crate) fn file_name(report: &Report) -> Option<String> {
        let MainState::Running(running) = &report.main else { return None };
        let process = &report.meta.process;
        let numbers = [process.pid.into(), process.installed_ns / 1_000_000, running.token];
        let [pid, installed, token] = numbers.map(|number| number.to_string());
        Some(["loopbox-", &pid, "-", &installed, "-m", &token].concat())
    }

    /// What speaks for an ANR at this moment but the queue, which is asked later, and what follows from it.
    pub(crate) fn judge(&mut self, env: &mut Env<'_>, session: &Session, report: &Report) -> Anr {
        let now_ns = report.meta.dumped_at.uptime_ns;
        let seen = look_after(session, now_ns);
        let frozen = seen.frozen;
        let recent = frozen.last_over_ns.saturating_add(RECENT_NS) > now_ns;
        self.thawed_ns = if recent { frozen.last_ns } else { 0 };
        let mut anr = Anr {
            patience_ns: patience(&session.settings, report),
            before_ns: before_ns(report, now_ns).saturating_sub(self.thawed_ns),
            debugged: figures::is_traced() || framework::is_debugged(env),
            ..Anr::default()
        };
        let mut token = 0;
        if let MainState::Running(running) = &report.main {
            token = running.token;
            if seen.message.token == token {
                anr.frozen_ns = seen.message.frozen_ns;
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
            anr.system = self.said.as_ref().filter(|(of, _)| *of == token).map(|(_, said)| said.clone());
        }
        anr.verdict = judge(&anr);
        anr
    }

    /// The queue is known now, too.
    pub(crate) fn judge_queue(&self, report: &mut Report) {
        report.anr.overdue_ns =
            most_overdue_ns(&report.pending).and_then(|ns| ns.checked_sub(self.thawed_ns));
        report.anr.verdict = judge(&report.anr);
    }

    /// Puts the evidence into the file of that name, if it is that of the message which still runs: says where.
    pub(crate) fn judged_again(&self, session: &Session, name: &str, anr: &Anr) -> Option<PathBuf> {
        let open = self.open.as_ref().filter(|open| open.name == name)?;
        let written = open.add(session, |known| {
            let overdue_ns = known.overdue_ns;
            *known = Anr { overdue_ns, ..anr.clone() };
            known.verdict = judge(known);
        });
        written.then(|| open.path.clone())
    }

    /// A report was written, and may get more when a signal or a hang was why.
    pub(crate) fn written(&mut self, name: &str, path: &Path, report: &Report) {
        if !matches!(report.meta.reason, DumpReason::SigQuit | DumpReason::Hang) {
            return;
        }
        let token = if let MainState::Running(running) = &report.main { running.token } else { 0 };
        let speaks = !matches!(report.anr.verdict, AnrVerdict::Responsive);
        if token == self.token {
            self.settled |= speaks;
        }
        let asked = report.anr.signal.is_some_and(|signal| signal.origin == SignalOrigin::System) || speaks;
        let said = report.anr.system.is_some();
        let ask_until_ns = (asked && !said).then(|| clock::now_ns().saturating_add(ASK_NS));
        self.open = Some(Open { name: name.to_owned(), path: path.to_owned(), token, ask_until_ns });
    }

    /// Looks whether there is more to say in the report written last.
    pub(crate) fn news(&mut self, env: &mut Env<'_>, session: &Session) -> Option<News> {
        let open = self.open.as_mut()?;
        let ended_ns = open.ended_ns(session);
        let mut said = None;
        if let Some(until_ns) = open.ask_until_ns {
            said = framework::not_responding(env).map(SystemWord::NotResponding);
            if said.is_none() && clock::now_ns() >= until_ns && framework::is_there(env) {
                said = Some(SystemWord::Silent);
            }
            if said.is_some() || clock::now_ns() >= until_ns {
                open.ask_until_ns = None;
            }
        }
        if ended_ns.is_none() && said.is_none() {
            if open.is_done() {
                self.open = None;
            }
            return None;
        }
        Some(News { ended_ns, said })
    }

    /// Puts it into the file: says where, and what it was.
    pub(crate) fn add(&mut self, session: &Session, news: News) -> Option<(PathBuf, &'static str)> {
        let open = self.open.as_mut()?;
        let News { ended_ns, said } = news;
        let what = match said {
            Some(SystemWord::NotResponding(_)) => "anr",
            _ if ended_ns.is_some() => "ended",
            _ => "judged",
        };
        if ended_ns.is_some() {
            open.token = 0;
        } else if let Some(SystemWord::NotResponding(_)) = &said {
            self.said = said.clone().map(|said| (open.token, said));
        }
        let path = open.path.clone();
        let more = open.add(session, |anr| {
            anr.ended_after_ns = anr.ended_after_ns.or(ended_ns);
            if said.is_some() {
                anr.system = said;
            }
            anr.verdict = judge(anr);
        });
        if !more || open.is_done() {
            self.open = None;
        }
        more.then_some((path, what))
    }

    fn starved_ns(&self) -> u64 {
        let now = figures::main_waited_ns();
        now.zip(self.waited_ns).map_or(0, |(now, before)| now.saturating_sub(before))
    }
}

impl Open {
    /// Nothing more will come.
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
    fn add(&self, session: &Session, change: impl FnOnce(&mut Anr)) -> bool {
        // Whoever took the file has it as it was.
        let Ok(bytes) = fs::read(&self.path) else { return false };
        let Ok(Some(bytes)) = judge_anew(&bytes, change) else { return false };
        let written = write_report(&session.settings.directory, &self.name, &bytes);
        if let Err(error) = &written {
            log::warn(&["a verdict is not in its report: ", &error.to_string()].concat());
        }
        written.is_ok()
    }
}

/// How long the running message may run.
pub(crate) fn patience(settings: &Settings, report: &Report) -> u64 {
    let message = match &report.main {
        MainState::Running(running) => running.message.as_ref(),
        _ => None,
    };
    patience_ns(settings.patience_ns, message, settings.api_level)
}

/// What the watching thread has seen since `now_ns`: after a freeze all threads wake at once, and this one may be first.
fn look_after(session: &Session, now_ns: u64) -> crate::watch::Seen {
    for _ in 0..100 {
        let seen = session.watched.seen();
        if seen.at_ns >= now_ns || session.shared.token() == 0 {
            return seen;
        }
        session.shared.nudge();
        std::thread::sleep(Duration::from_millis(1));
    }
    session.watched.seen()
}

fn signal(session: &Session) -> QuitSignal {
    let sigquit::Sender { pid, uid } = sigquit::sender();
    // SAFETY: no arguments, no effects.
    let own_uid = unsafe { libc::getuid() };
    let count = sigquit::count().wrapping_sub(session.signals_before);
    QuitSignal { origin: origin(pid, uid, std::process::id(), own_uid), pid, uid, count }
}

/// The longest message that ended lately.
fn before_ns(report: &Report, now_ns: u64) -> u64 {
    let recent = report.history.iter().rev().take_while(|record| {
        record.start_ns.saturating_add(record.wall_ns).saturating_add(RECENT_NS) >= now_ns
    });
    let worked = recent.filter(|r| matches!(r.kind, RecordKind::Group | RecordKind::Single));
    worked.map(|record| record.slowest.wall_ns).filter(|&ns| ns >= SHORT_NS).max().unwrap_or(0)
}
