//! The evidence for and against an ANR.

use crate::model::Analysis;
use crate::model::anr_type::{anr_call, words_of};
use crate::model::anr_words::exit_reason;
use crate::model::plural::plural;
use crate::model::time::{format_ms, format_ns};
use loopbox_format::model::{
    Anr, AnrWarning, CpuUse, DumpReason, Feature, MainState, SignalOrigin, SystemWord,
};

/// The evidence for and against an ANR, in words.
pub(crate) fn evidence(a: &Analysis) -> Vec<String> {
    let mut lines = warned(a);
    lines.extend(kind(a));
    lines.extend(known(&a.anr, a.cpu_use, &a.main));
    lines.extend(
        a.memory_limit().iter().flat_map(|limit| limit.words().into_iter().chain(limit.lately_words())),
    );
    lines.extend(lost_signal(a));
    lines
}

/// The system's warnings that came while the main thread was late.
fn warned(a: &Analysis) -> Vec<String> {
    let line = |warning: &AnrWarning| {
        let ms = |ms: u64| format_ms(ms as f64);
        let before = format_ns(a.dump_ns.since(warning.at_ns));
        let what = words_of(warning.kind);
        let passed = format!("{} of {} had passed", ms(warning.consumed_ms), ms(warning.timeout_ms));
        let came_true = if a.anr_info.is_some_and(|info| warning.is_of(&info)) {
            ", and it is the ANR that ended the process"
        } else {
            ""
        };
        format!("{before} before this, the system warned of an ANR: {what}, {passed}{came_true}")
    };
    a.anr_warnings.iter().map(line).collect()
}

/// What the system waited for, when it declared an ANR.
fn kind(a: &Analysis) -> Option<String> {
    let call = anr_call(a).filter(|call| !call.is_warning)?;
    let given = call.timeout_ms.map(|ms| format!(", which was given {}", format_ms(ms as f64)));
    let unseen = if a.anr_info.is_some_and(|info| !info.user_perceptible) {
        "; the user could not notice it"
    } else {
        ""
    };
    Some(format!("what the system waited for: {}{}{unseen}", call.words, given.unwrap_or_default()))
}

/// Why the recorder may have missed the system's signal. If it may have, the absence of a signal proves
/// nothing. `None` when the recorder cannot have missed the signal.
fn lost_signal(a: &Analysis) -> Option<String> {
    let own = matches!(a.meta.reason, DumpReason::Hang | DumpReason::Recovered { .. });
    let state = a.features.iter().find(|state| state.feature == Feature::SigQuit)?;
    let chosen = !state.on && state.detail.contains("by the app");
    let doubtful = !state.on || state.detail.contains("in front of ours");
    (own && a.anr.signal.is_none() && doubtful && !chosen)
        .then(|| format!("no SIGQUIT was seen, and one may not have reached the recorder: {}", state.detail))
}

fn known(anr: &Anr, cpu_use: Option<CpuUse>, main: &MainState) -> Vec<String> {
    let mut lines = Vec::new();
    let long = format_ns;
    if let Some(exit) = &anr.exit {
        let words = if exit.description.is_empty() { "no description" } else { &exit.description };
        lines.push(format!("the system recorded the end of the process: {} ({words})", exit_reason(exit)));
    }
    match &anr.system {
        None => {}
        Some(SystemWord::NotResponding(words)) if words.is_empty() => {
            lines.push("the system reports that the process does not respond".into());
        }
        Some(SystemWord::NotResponding(words)) => {
            lines.push(format!("the system reports that the process does not respond: {words}"));
        }
        Some(_) => {
            lines.push("the system was asked and does not report that the process does not respond".into());
        }
    }
    if let Some(signal) = anr.signal {
        let sender = match signal.origin {
            SignalOrigin::System => "the system".into(),
            SignalOrigin::SameProcess => "this process itself".into(),
            SignalOrigin::SameUser => format!("process {} of the same user", signal.pid),
            SignalOrigin::Shell => format!("a shell or bug report (process {})", signal.pid),
            _ => format!("process {} of user {}", signal.pid, signal.uid),
        };
        let more = if signal.count > 1 { format!(", {} so far", signal.count) } else { String::new() };
        lines.push(format!("SIGQUIT came from {sender}{more}"));
    }
    if anr.ran_ns > 0 {
        let threshold =
            anr.hang_threshold_ns.map_or_else(String::new, |ns| format!("; the threshold is {}", long(ns)));
        let what = match main {
            MainState::Running(_) => "the running message had taken",
            MainState::Outside(_) => "what ran outside of messages had taken",
            _ => "main had slept while messages were due for",
        };
        lines.push(format!("{what} {}{threshold}", long(anr.ran_ns)));
    }
    if anr.frozen_ns > 0 {
        lines.push(format!("the process was frozen or stopped for another {}", long(anr.frozen_ns)));
    }
    if anr.starved_ns > 0 {
        lines.push(format!("the main thread waited for a CPU for {} of that time", long(anr.starved_ns)));
    }
    if let Some(CpuUse { over_ns, main_ns, process_ns: Some(process_ns), processors }) = cpu_use {
        let others = long(process_ns.saturating_sub(main_ns));
        let of = processors.map_or_else(String::new, |n| format!(" on {}", plural(n.into(), "processor")));
        lines.push(format!(
            "in the last {}{of} the main thread used {} of CPU time, and the app's other threads {others}",
            long(over_ns),
            long(main_ns)
        ));
    }
    if let Some(ended) = anr.ended_after_ns {
        lines.push(format!("the hang ended: the message took {} in total", long(ended)));
    }
    if let Some(overdue) = anr.overdue_ns {
        lines.push(format!("the first message of the queue was overdue by {}", long(overdue)));
    }
    if anr.before_ns > 0 {
        lines.push(format!("a message that took {} had just ended", long(anr.before_ns)));
    }
    if anr.debugged {
        lines.push("a debugger was attached".into());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;
    use loopbox_format::model::{
        AnrVerdict, FeatureState, Outside, ProcessExit, QuitSignal, Running, Token, Uptime,
    };

    #[test]
    fn evidence_lists_everything_that_is_known() {
        const S: u64 = 1_000_000_000;
        let anr = Anr {
            verdict: AnrVerdict::Confirmed,
            ran_ns: 6 * S,
            hang_threshold_ns: Some(5 * S),
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
        let (token, start_ns, as_of_ns) = (Token(1), Uptime(1), Uptime(6 * S));
        let running = Running { token, start_ns, as_of_ns, cpu_ns: None, depth: 1, message: None };
        let running = MainState::Running(running);
        let used = CpuUse { over_ns: 5 * S, main_ns: S / 2, process_ns: Some(9 * S), processors: Some(2) };
        insta::assert_snapshot!(known(&anr, Some(used), &running).join(
            "
"
        ));
        assert_eq!(known(&Anr::default(), None, &running), Vec::<String>::new());
        let unread = CpuUse { process_ns: None, ..used };
        assert_eq!(known(&Anr::default(), Some(unread), &running), Vec::<String>::new());
        let anr = Anr { ran_ns: 6 * S, ..Anr::default() };
        let outside = Outside { token, after_ns: start_ns, start_ns: None, as_of_ns, cpu_ns: None };
        let outside = known(&anr, None, &MainState::Outside(outside));
        assert_eq!(outside, ["what ran outside of messages had taken 6.00 s"]);
        let idle = known(&anr, None, &MainState::Idle { since_ns: Uptime(1) });
        assert_eq!(idle, ["main had slept while messages were due for 6.00 s"]);
    }

    #[test]
    fn a_hang_without_a_signal_says_what_may_have_kept_it_from_the_recorder() {
        let in_front = "another library's SIGQUIT handler is installed in front of ours";
        let ignored = "another library ignores SIGQUIT (SIG_IGN) for the process";
        for (reason, on, detail, said) in [
            (DumpReason::Hang, true, in_front, true),
            (DumpReason::Hang, false, ignored, true),
            (DumpReason::Recovered { crash_signal: None }, true, in_front, true),
            (DumpReason::Hang, true, "handled on the main thread", false),
            (DumpReason::Hang, true, "handled on the main thread, then by another library's handler", false),
            (DumpReason::Hang, false, "switched off by the app", false),
            (DumpReason::Requested(String::new()), true, in_front, false),
        ] {
            let state = FeatureState { feature: Feature::SigQuit, on, detail: detail.to_owned() };
            let decoded = ReportBuilder::new().with(|report| {
                report.meta.reason = reason.clone();
                report.features.retain(|state| state.feature != Feature::SigQuit);
                report.features.push(state);
            });
            let lines = evidence(&Analysis::new(&decoded.build()));
            let expected =
                format!("no SIGQUIT was seen, and one may not have reached the recorder: {detail}");
            assert_eq!(lines.contains(&expected), said, "{reason:?}, {detail}: {lines:?}");
        }
    }
}
