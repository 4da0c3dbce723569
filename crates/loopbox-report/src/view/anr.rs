//! Whether the main thread did not respond.

use crate::analysis::Analysis;
use crate::clock::{duration, ms};
use loopbox_format::model::{Anr, AnrVerdict, SignalOrigin, SystemWord};
use serde::Serialize;

/// Whether the main thread did not respond, in whose eyes, and what speaks for it.
#[derive(Debug, Clone, Serialize)]
pub struct AnrView {
    /// `confirmed`, `probable`, `hang`, `responsive`; `unknown` when nobody judged.
    pub verdict: &'static str,
    /// The evidence in words.
    pub evidence: Vec<String>,
    /// How long the running message had been running without `frozen_ms`.
    pub ran_ms: f64,
    /// How long a message like it may run; `None` when nobody asked.
    pub patience_ms: Option<f64>,
    /// The part of its age in which the process did not run.
    pub frozen_ms: f64,
    /// How long the main thread waited for a processor since the suspicion began.
    pub starved_ms: f64,
    /// How long the message took in all, once it has ended.
    pub ended_after_ms: Option<f64>,
    /// How long the queue's first message has been overdue.
    pub overdue_ms: Option<f64>,
    /// The longest message that ended just before.
    pub before_ms: f64,
    /// Whether a debugger was attached.
    pub debugged: bool,
    /// The SIGQUIT that the report answers.
    pub signal: Option<SignalView>,
    /// `silent` or `not_responding`; `None` when the system was not asked.
    pub system: Option<&'static str>,
    /// The system's own words for it.
    pub system_words: String,
    /// How the process ended, as the system recorded it.
    pub exit: Option<ExitView>,
}

/// A SIGQUIT.
#[derive(Debug, Clone, Serialize)]
pub struct SignalView {
    /// `system`, `same_process`, `same_user`, `shell`, `other`.
    pub origin: &'static str,
    /// Sending process.
    pub pid: u32,
    /// Its user.
    pub uid: u32,
    /// How many there were so far.
    pub count: u32,
}

/// The end of a process.
#[derive(Debug, Clone, Serialize)]
pub struct ExitView {
    /// `ApplicationExitInfo.REASON_*`.
    pub reason: i32,
    /// Its name.
    pub name: &'static str,
    /// The system's words.
    pub description: String,
    /// Unix time.
    pub unix_ms: u64,
}

/// Names of `ApplicationExitInfo.REASON_*`, by their numbers (API 30 to 34).
const REASONS: [&str; 17] = [
    "unknown",
    "exit of its own",
    "signal",
    "low memory",
    "crash",
    "native crash",
    "ANR",
    "initialization failure",
    "permission change",
    "excessive resource usage",
    "user request",
    "user stopped",
    "dependency died",
    "other",
    "freezer",
    "package state change",
    "package updated",
];

impl AnrView {
    pub(crate) fn new(a: &Analysis) -> Self {
        let anr = &a.anr;
        let (system, system_words) = match &anr.system {
            None => (None, ""),
            Some(SystemWord::NotResponding(words)) => (Some("not_responding"), words.as_str()),
            Some(_) => (Some("silent"), ""),
        };
        Self {
            verdict: verdict(anr.verdict),
            evidence: evidence(anr),
            ran_ms: ms(anr.ran_ns),
            patience_ms: (anr.patience_ns > 0).then_some(ms(anr.patience_ns)),
            frozen_ms: ms(anr.frozen_ns),
            starved_ms: ms(anr.starved_ns),
            ended_after_ms: anr.ended_after_ns.map(ms),
            overdue_ms: anr.overdue_ns.map(ms),
            before_ms: ms(anr.before_ns),
            debugged: anr.debugged,
            signal: anr.signal.map(|signal| SignalView {
                origin: origin(signal.origin),
                pid: signal.pid,
                uid: signal.uid,
                count: signal.count,
            }),
            system,
            system_words: system_words.to_owned(),
            exit: anr.exit.as_ref().map(|exit| ExitView {
                reason: exit.reason,
                name: reason(exit.reason),
                description: exit.description.clone(),
                unix_ms: exit.unix_ms,
            }),
        }
    }
}

fn verdict(verdict: AnrVerdict) -> &'static str {
    match verdict {
        AnrVerdict::Confirmed => "confirmed",
        AnrVerdict::Probable => "probable",
        AnrVerdict::Hang => "hang",
        AnrVerdict::Responsive => "responsive",
        _ => "unknown",
    }
}

fn origin(origin: SignalOrigin) -> &'static str {
    match origin {
        SignalOrigin::System => "system",
        SignalOrigin::SameProcess => "same_process",
        SignalOrigin::SameUser => "same_user",
        SignalOrigin::Shell => "shell",
        _ => "other",
    }
}

fn reason(number: i32) -> &'static str {
    usize::try_from(number).ok().and_then(|at| REASONS.get(at)).copied().unwrap_or("a reason not known here")
}

fn evidence(anr: &Anr) -> Vec<String> {
    let mut lines = Vec::new();
    let long = |ns| duration(ms(ns));
    if let Some(exit) = &anr.exit {
        let words = if exit.description.is_empty() { "no words" } else { &exit.description };
        lines.push(format!("the system recorded the end of the process: {} ({words})", reason(exit.reason)));
    }
    match &anr.system {
        None => {}
        Some(SystemWord::NotResponding(words)) if words.is_empty() => {
            lines.push("the system says that the process does not respond".into());
        }
        Some(SystemWord::NotResponding(words)) => {
            lines.push(format!("the system says that the process does not respond: {words}"));
        }
        Some(_) => {
            lines.push("the system was asked and did not say that the process does not respond".into());
        }
    }
    if let Some(signal) = anr.signal {
        let who = match signal.origin {
            SignalOrigin::System => "the system".into(),
            SignalOrigin::SameProcess => "this process itself".into(),
            SignalOrigin::SameUser => format!("process {} of the same user", signal.pid),
            SignalOrigin::Shell => format!("a shell or bug report (process {})", signal.pid),
            _ => format!("process {} of user {}", signal.pid, signal.uid),
        };
        let more = if signal.count > 1 { format!(", the {}. so far", signal.count) } else { String::new() };
        lines.push(format!("SIGQUIT came from {who}{more}"));
    }
    if anr.ran_ns > 0 {
        let patience = if anr.patience_ns > 0 {
            format!("; {} are allowed", long(anr.patience_ns))
        } else {
            String::new()
        };
        lines.push(format!("the running message had taken {}{patience}", long(anr.ran_ns)));
    }
    if anr.frozen_ns > 0 {
        lines.push(format!("the process was frozen or stopped for another {}", long(anr.frozen_ns)));
    }
    if anr.starved_ns > 0 {
        lines.push(format!("the main thread waited for a processor for {} of it", long(anr.starved_ns)));
    }
    if let Some(ended) = anr.ended_after_ns {
        lines.push(format!("it went on: the message ended after {}", long(ended)));
    }
    if let Some(overdue) = anr.overdue_ns {
        lines.push(format!("the queue was overdue by {}", long(overdue)));
    }
    if anr.before_ns > 0 {
        lines.push(format!("a message of {} had just ended", long(anr.before_ns)));
    }
    if anr.debugged {
        lines.push("a debugger was attached".into());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{ProcessExit, QuitSignal};

    #[test]
    fn everything_that_is_known_is_said() {
        const S: u64 = 1_000_000_000;
        let anr = Anr {
            verdict: AnrVerdict::Confirmed,
            ran_ns: 6 * S,
            patience_ns: 5 * S,
            frozen_ns: 9 * S,
            starved_ns: S,
            ended_after_ns: Some(17 * S),
            overdue_ns: Some(4 * S),
            before_ns: 2 * S,
            debugged: true,
            signal: Some(QuitSignal { origin: SignalOrigin::Shell, pid: 12, uid: 2_000, count: 3 }),
            system: Some(SystemWord::NotResponding("Input dispatching timed out".into())),
            exit: Some(ProcessExit { reason: 6, description: "bg anr".into(), unix_ms: 1 }),
        };
        insta::assert_snapshot!(evidence(&anr).join("\n"));
        assert_eq!(evidence(&Anr::default()), Vec::<String>::new());
        assert_eq!((reason(-1), reason(99)), ("a reason not known here", "a reason not known here"));
    }
}
