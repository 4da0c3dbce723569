//! The evidence for an ANR, from the first suspicion on. Used by the worker only.

use super::{debugger, sigquit};
use crate::jni::env::Env;
use crate::session::Session;
use crate::session::settings::Settings;
use crate::sys::{clock, proc};
use loopbox_format::looper::summarize_queue;
use loopbox_format::model::{
    Anr, AnrVerdict, DumpReason, MainState, QuitSignal, RecordKind, Report, SignalOrigin, SystemWord, Token,
    Uptime,
};
use loopbox_recorder::{Activity, Suspect, classify, origin, threshold_ns};

/// A message or freeze that ended at most this long ago may still be the reason for a signal.
const RECENT_NS: u64 = 10_000_000_000;
/// A message shorter than this is never the reason for a signal.
const SHORT_NS: u64 = 300_000_000;

/// What a check of the running message found, and so what the worker must do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stall {
    Nothing,
    /// A message has become suspicious: its details are to be saved in the ring.
    Suspect,
    /// The suspect has crossed its hang threshold.
    Hang,
}

/// Tracks the hangs of a session.
#[derive(Debug)]
pub(crate) struct AnrTracker {
    /// The message under suspicion; [`Token::NONE`] for none.
    token: Token,
    /// When the suspect was first seen, if it runs outside of messages; else [`Uptime::ZERO`]. Two suspects
    /// that run one after the other between the same two messages have the same token. This time
    /// distinguishes them.
    seen_ns: Uptime,
    threshold_ns: u64,
    /// How long the suspect had been without a processor when it crossed its hang threshold.
    starved_at_hang_ns: u64,
    /// Whether the suspect has been reported, or will never be reported.
    settled: bool,
    /// The last signal that got a report, and what main ran at that signal.
    signal: Option<(Token, QuitSignal)>,
    /// The pause between two messages in which main sleeps although messages are due: its token, and since
    /// when main sleeps. `None` while main does not.
    held_back: Option<(Token, Uptime)>,
    /// What the system has reported about a message, for that message's next report.
    system: Option<(Token, SystemWord)>,
    /// How long the last freeze took, if it ended shortly before the last report; else 0.
    thawed_ns: u64,
}

impl AnrTracker {
    pub(crate) fn new() -> Self {
        Self {
            token: Token::NONE,
            seen_ns: Uptime::ZERO,
            threshold_ns: 0,
            starved_at_hang_ns: 0,
            settled: false,
            signal: None,
            held_back: None,
            system: None,
            thawed_ns: 0,
        }
    }

    /// Compares the stall monitor's snapshot with the suspect. Returns what the running message requires now.
    pub(crate) fn check(&mut self, env: &mut Env<'_>, session: &Session) -> Stall {
        if session.shared.is_paused() {
            // The stall monitor may not have checked since.
            return Stall::Nothing;
        }
        let stall = session.stall.snapshot();
        let token = stall.suspect_token();
        let seen_ns = if token.is_outside() { stall.message().start_ns } else { Uptime::ZERO };
        if (token, seen_ns) != (self.token, self.seen_ns) {
            (self.token, self.seen_ns) = (token, seen_ns);
            self.settled = false;
            self.threshold_ns = session.settings.hang_threshold_ns;
            return if token == Token::NONE { Stall::Nothing } else { Stall::Suspect };
        }
        let Suspect { ran_ns, starved_ns, .. } = stall.message();
        let ran_ns = ran_ns.saturating_sub(starved_ns);
        if token == Token::NONE || self.settled || ran_ns < self.threshold_ns {
            return Stall::Nothing;
        }
        self.settled = true;
        self.starved_at_hang_ns = starved_ns;
        if debugger::is_attached(env, session) { Stall::Nothing } else { Stall::Hang }
    }

    /// Takes the suspect's threshold from this report, which has the suspect's name: the threshold depends on
    /// the name.
    pub(crate) fn named(&mut self, session: &Session, report: &Report) {
        self.threshold_ns = hang_threshold_ns(&session.settings, report);
    }

    /// Notes that main has slept for `held_ns` although messages are due. `token` is the token of this pause
    /// between two messages. Returns whether that is a hang.
    pub(crate) fn is_held_back(
        &mut self,
        env: &mut Env<'_>,
        session: &Session,
        token: Token,
        held_ns: u64,
    ) -> bool {
        self.held_back = Some((token, clock::now_ns().minus(held_ns)));
        !debugger::is_attached(env, session)
    }

    /// Forgets the pause that [`is_held_back`](Self::is_held_back) recorded: the queue has no due message any
    /// more.
    pub(crate) fn is_free(&mut self) {
        self.held_back = None;
    }

    /// The pause between two messages in which main sleeps although messages are due: the pause's token, and
    /// since when main sleeps. `None` unless `report` is about this pause, as it is in two cases. First, the
    /// pause is the hang for which `report` was written. Main may run a message by now, because an
    /// asynchronous message passes a barrier. Second, main runs nothing according to `report`, and no message
    /// has begun since the pause began.
    pub(crate) fn held_back(&self, session: &Session, report: &Report) -> Option<(Token, Uptime)> {
        let running = running_token(&report.main);
        let nothing = running == Token::NONE;
        let own = report.meta.reason == DumpReason::Hang && (nothing || running != self.token);
        let still = |token| nothing && token == session.shared.main.token();
        self.held_back.filter(|&(token, _)| own || still(token))
    }

    /// Whether a message without a report is under suspicion.
    pub(crate) fn has_suspect(&self) -> bool {
        self.token != Token::NONE && !self.settled
    }

    /// The name of a hang's report file. It stays the same, however often the report is written. `held_back`
    /// is the result of [`AnrTracker::held_back`].
    pub(crate) fn file_name(report: &Report, held_back: Option<Token>) -> Option<String> {
        // What runs outside of messages, or keeps them waiting, goes by the message after it. Of messages
        // that no hook saw there may be many before that one: they go by when main was last known to be at
        // rest, too.
        let (kind, token) = match (held_back, &report.main) {
            (Some(token), _) => ("-q", token.message()),
            (_, MainState::Running(running)) => ("-m", running.token),
            (_, MainState::Outside(outside)) => ("-o", outside.token.message()),
            _ => return None,
        };
        let process = &report.meta.process;
        let numbers = [process.pid.into(), process.installed_ns.0 / 1_000_000, token.0];
        let [pid, installed, token] = numbers.map(|number| number.to_string());
        let after = match &report.main {
            MainState::Outside(outside) if kind == "-o" => format!("-{}", outside.after_ns.0 / 1_000_000),
            _ => String::new(),
        };
        Some(["loopbox-", &pid, "-", &installed, kind, &token, &after].concat())
    }

    /// Puts the present evidence for an ANR, and the verdict, into a report. The queue is captured later.
    pub(crate) fn classify(&mut self, env: &mut Env<'_>, session: &Session, report: &mut Report) {
        let now_ns = report.meta.dumped_at.uptime_ns;
        let activity = match &report.main {
            MainState::Running(running) => {
                Activity::Running { token: running.token, start_ns: running.start_ns }
            }
            _ => session.shared.main.activity(),
        };
        let stall = session.stall.snapshot().at(now_ns, activity, proc::counted());
        let frozen = stall.frozen();
        let recent = frozen.last_over_ns.plus(RECENT_NS) > now_ns;
        self.thawed_ns = if recent { frozen.last_ns } else { 0 };
        let mut anr = Anr {
            hang_threshold_ns: Some(hang_threshold_ns(&session.settings, report)),
            before_ns: longest_recent_ns(report, now_ns).saturating_sub(self.thawed_ns),
            debugged: debugger::is_attached(env, session),
            ..Anr::default()
        };
        let token = running_token(&report.main);
        if token != Token::NONE {
            let watched = Some(stall.message()).filter(|message| message.token == token);
            anr.frozen_ns = watched.map_or(0, |message| message.frozen_ns);
            let age_ns = match &report.main {
                MainState::Running(running) => running.age_ns(),
                // Since when it has run for certain: its start, or the first time that it was seen.
                MainState::Outside(outside) => {
                    let seen_ns = watched.map(|message| message.start_ns);
                    let since_ns = outside.start_ns.into_iter().chain(seen_ns).min();
                    outside.as_of_ns.since(since_ns.unwrap_or(outside.as_of_ns))
                }
                _ => 0,
            };
            anr.ran_ns = age_ns.saturating_sub(anr.frozen_ns);
            anr.starved_ns = watched.map_or(0, |message| message.starved_ns);
            report.cpu_use = watched.map(|message| message.cpu_use).filter(|used| used.over_ns > 0);
            if self.token == token && report.meta.reason == DumpReason::Hang {
                // As it was when it became one: the wait for a processor since then must not take it back,
                // for it is reported only once.
                anr.starved_ns = self.starved_at_hang_ns;
            }
        }
        if let Some((_, since_ns)) = self.held_back(session, report) {
            anr.ran_ns = anr.ran_ns.max(now_ns.since(since_ns));
        }
        if report.meta.reason == DumpReason::SigQuit {
            self.signal = Some((token, signal_for(token, self.signal, signal(session))));
        }
        anr.signal = self.signal.filter(|(of, _)| *of == token).map(|(_, signal)| signal);
        if report.meta.reason != DumpReason::SigQuit && token == Token::NONE {
            anr.signal = None;
        }
        if token != Token::NONE {
            anr.system =
                self.system.as_ref().filter(|(of, _)| *of == token).map(|(_, system)| system.clone());
        }
        report.anr = anr;
        report.anr.verdict = self.verdict(report);
    }

    /// The verdict that the report's evidence allows. A hang may end while its report is being taken: what
    /// main runs then proves nothing, but the message that has just ended was the hang.
    fn verdict(&self, report: &Report) -> AnrVerdict {
        let anr = &report.anr;
        let hung = report.meta.reason == DumpReason::Hang && anr.before_ns >= self.threshold_ns;
        match classify(anr) {
            AnrVerdict::Responsive if hung && !anr.debugged => AnrVerdict::Hang,
            verdict => verdict,
        }
    }

    /// Adds the queue, which is known now, to the evidence.
    pub(crate) fn add_queue(&self, report: &mut Report) {
        let overdue_ns = summarize_queue(&report.pending).most_overdue_ns;
        // The queue was read after the report was taken. What became due since is not evidence for it.
        let later_ns = report.pending.captured_ns.since(report.meta.dumped_at.uptime_ns);
        report.anr.overdue_ns =
            overdue_ns.and_then(|ns| ns.checked_sub(self.thawed_ns)).map(|ns| ns.saturating_sub(later_ns));
        report.anr.verdict = self.verdict(report);
    }

    /// How a report is to be followed: returns the report's message ([`Token::NONE`] for none), and whether
    /// to ask the system about that message. Also notes that a reported hang needs no second report.
    pub(crate) fn follow_up(&mut self, session: &Session, report: &Report) -> (Token, bool) {
        let mut token = running_token(&report.main);
        // Of what runs outside of messages only the stall monitor knows when it ends.
        let stall = session.stall.snapshot();
        if token.is_outside() && stall.message().token != token && stall.outside_over.0 != token {
            token = Token::NONE;
        }
        let unresponsive = !matches!(report.anr.verdict, AnrVerdict::Responsive);
        if token == self.token && !matches!(report.meta.reason, DumpReason::Requested(_)) {
            self.settled |= unresponsive;
        }
        let by_system = report.anr.signal.is_some_and(|signal| signal.origin == SignalOrigin::System);
        (token, (by_system || unresponsive) && report.anr.system.is_none())
    }

    /// Keeps the system's answer about a message. The message's next report will have it.
    pub(crate) fn keep_system_answer(&mut self, message: Token, system: Option<&SystemWord>) {
        if let Some(SystemWord::NotResponding(_)) = system {
            self.system = system.cloned().map(|system| (message, system));
        }
    }
}

/// The message that runs, or what runs outside of messages.
fn running_token(main: &MainState) -> Token {
    match main {
        MainState::Running(running) => running.token,
        MainState::Outside(outside) => outside.token,
        _ => Token::NONE,
    }
}

/// How long the running message may run before it is a hang.
pub(crate) fn hang_threshold_ns(settings: &Settings, report: &Report) -> u64 {
    let message = match &report.main {
        MainState::Running(running) => running.message.as_ref(),
        _ => None,
    };
    threshold_ns(settings.hang_threshold_ns, message, settings.api_level)
}

fn signal(session: &Session) -> QuitSignal {
    let sigquit::Sender { pid, uid } = sigquit::sender();
    // SAFETY: no arguments, no effects.
    let own_uid = unsafe { libc::getuid() };
    let count = sigquit::count().wrapping_sub(session.signals_before);
    QuitSignal { origin: origin(pid, uid, std::process::id(), own_uid), pid, uid, count }
}

/// Returns the signal to report for `of`, the token of what main runs. If `earlier` is a signal of the system
/// for this token, returns it with the count of `latest`. So a signal of another sender, such as the shell
/// for a bug report, does not replace the system's. Otherwise returns `latest`.
fn signal_for(of: Token, earlier: Option<(Token, QuitSignal)>, latest: QuitSignal) -> QuitSignal {
    match earlier {
        Some((token, system))
            if token == of && of != Token::NONE && system.origin == SignalOrigin::System =>
        {
            QuitSignal { count: latest.count, ..system }
        }
        _ => latest,
    }
}

/// How long the longest message of the last seconds took.
fn longest_recent_ns(report: &Report, now_ns: Uptime) -> u64 {
    let recent = report
        .history
        .iter()
        .rev()
        .take_while(|record| record.start_ns.plus(record.wall_ns).plus(RECENT_NS) >= now_ns);
    let worked = recent.filter(|r| matches!(r.kind, RecordKind::Group | RecordKind::Single));
    worked.filter_map(|record| Some(record.slowest?.wall_ns)).filter(|&ns| ns >= SHORT_NS).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::Outside;

    #[test]
    fn a_signal_of_the_system_stays_known_when_another_one_follows_in_the_same_message() {
        let signal = |origin, count| QuitSignal { origin, pid: count, uid: count, count };
        let system = signal(SignalOrigin::System, 1);
        let other = signal(SignalOrigin::Other, 2);
        let token = Token(7);
        assert_eq!(signal_for(token, Some((token, system)), other), QuitSignal { count: 2, ..system });
        assert_eq!(signal_for(Token(8), Some((token, system)), other), other);
        assert_eq!(signal_for(Token::NONE, Some((Token::NONE, system)), other), other);
        assert_eq!(signal_for(token, Some((token, other)), system), system);
        assert_eq!(signal_for(token, None, other), other);
    }

    #[test]
    fn a_hang_that_ended_while_its_report_was_taken_is_a_hang() {
        let tracker = AnrTracker { token: Token(7), threshold_ns: 5_000_000_000, ..AnrTracker::new() };
        let verdict = |reason, before_ns, debugged| {
            let anr = Anr { before_ns, debugged, ..Anr::default() };
            let mut report = Report { anr, ..Report::default() };
            report.meta.reason = reason;
            tracker.verdict(&report)
        };
        assert_eq!(verdict(DumpReason::Hang, 5_000_000_000, false), AnrVerdict::Hang);
        assert_eq!(verdict(DumpReason::Hang, 4_999_999_999, false), AnrVerdict::Responsive);
        assert_eq!(verdict(DumpReason::Hang, 5_000_000_000, true), AnrVerdict::Responsive);
        // Of a message that ended before another process's ANR nothing is known but its length.
        assert_eq!(verdict(DumpReason::SigQuit, 5_000_000_000, false), AnrVerdict::Responsive);
    }

    #[test]
    fn two_hangs_between_two_messages_have_a_file_each() {
        let token = Token::outside_before(Token(46));
        let name = |after_ns, as_of_ns| {
            let outside = Outside { token, after_ns, start_ns: None, as_of_ns, cpu_ns: None };
            let report = Report { main: MainState::Outside(outside), ..Report::default() };
            AnrTracker::file_name(&report, None)
        };
        let (first, second) = (Uptime(7_000_000), Uptime(9_000_000));
        assert_eq!(name(first, Uptime(8_000_000)), name(first, Uptime(8_500_000)), "of one hang");
        assert_ne!(name(first, Uptime(8_000_000)), name(second, Uptime(9_500_000)));
    }
}
