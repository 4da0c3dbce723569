//! Main was idle: the hang is elsewhere.

use crate::diagnose::facts::{Facts, INPUT_TIMEOUT_NS};
use crate::diagnose::finding::Finding;
use crate::diagnose::rules::barrier;
use crate::model::Overdue;
use crate::model::framework::Role;
use crate::model::time::{format_ns, percent, share};
use loopbox_format::model::Feature;

/// Messages that have waited for this long contradict the verdict.
const OVERDUE_NS: u64 = 1_000_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let overdue = facts.analysis.queue.longest_overdue(facts.analysis.dump_ns);
    // "Main was free" sends the reader elsewhere: it takes no more than one sign against it to say nothing.
    if facts.not_idle.is_some()
        || overdue.by(OVERDUE_NS) == Some(true)
        || barrier::holds_back(facts).is_some()
    {
        return None;
    }
    let load = facts.load;
    let idle_share = share(load.idle_ns, load.span_ns);
    let mostly_idle = load.span_ns >= INPUT_TIMEOUT_NS && idle_share >= 0.85;
    let free_for = facts.free_for_ns();
    let young = facts.running().is_none_or(|running| running.wall_ns < 500_000_000 && !running.is_outside());
    let score: f64 = match free_for {
        Some(free) if free >= INPUT_TIMEOUT_NS => 0.85,
        Some(free) if free >= 2_000_000_000 => 0.68,
        Some(_) if mostly_idle => 0.6,
        None if mostly_idle && young => 0.55,
        _ => return None,
    };
    let mut finding = Finding::new(
        "main-free",
        score,
        match free_for {
            Some(free) => format!("Main was free, for {}: the hang is elsewhere", format_ns(free)),
            None => format!(
                "Main was free for {} of the time before the dump: the hang is elsewhere",
                percent(idle_share)
            ),
        },
    );
    if load.span_ns >= 1_000_000 {
        finding = finding.with_evidence(format!(
            "messages took {} of the last {}",
            format_ns(load.work_ns),
            format_ns(load.span_ns)
        ));
    }
    if facts.waits == Some(true) {
        finding = finding.with_evidence("the Looper waited in nativePollOnce");
    }
    if overdue.by(OVERDUE_NS) == Some(false) {
        finding = finding.with_evidence("no pending message was overdue by a second");
    }
    Some(
        finding
            .no_verdict(unread(facts, overdue))
            .at_most_medium(unsure(facts))
            .at_most_medium(other_moment(facts))
            .with_advice(
                "Look at input dispatching (no focused window), at other processes of the app, at binder threads, and at \
                 when the dump was made: it may have come after the hang.",
            ),
    )
}

/// The data that was not read and could contradict the verdict. The verdict says that the cause is not on
/// main, so it must not rest on data that was not read. A line for each kind of data.
fn unread(facts: &Facts<'_>, overdue: Overdue) -> Vec<String> {
    let a = facts.analysis;
    let queue = match overdue {
        Overdue::Unknown if a.queue.is_known() => {
            Some("the queue was not read to its end: messages may be due")
        }
        Overdue::Unknown => Some("the queue was not read: messages may be due"),
        _ => None,
    };
    let cpu = idle_cpu_unread(facts).filter(|_| facts.waits != Some(true));
    let hook = a.features.iter().all(|state| state.feature != Feature::Hook);
    let hook = hook.then_some("whether the hook worked is not known");
    let known = [queue, cpu, hook].into_iter().flatten().map(str::to_owned);
    known.chain(facts.unknown_main()).chain(facts.unknown_history()).collect()
}

/// The reasons why the verdict is not sure: the Looper did not wait at the dump, or that is not known, or
/// main's CPU time between messages was not read.
fn unsure(facts: &Facts<'_>) -> Vec<String> {
    let waits = match facts.waits {
        _ if facts.free_for_ns().is_none() => None,
        Some(true) => None,
        Some(false) => Some("the Looper did not wait at the dump"),
        None => Some("whether the Looper waited at the dump is not known"),
    };
    waits.into_iter().chain(idle_cpu_unread(facts)).map(str::to_owned).collect()
}

/// The caveat that the system's trace is of another moment and shows main at work.
fn other_moment(facts: &Facts<'_>) -> Option<String> {
    let a = facts.analysis;
    let trace = a.system_trace.as_ref().filter(|trace| trace.apart.is_some())?;
    let top = a.frames.get(trace.main()?.java().last()?.index())?;
    let works = top.role() != Some(Role::Poll);
    works.then(|| format!("the system's trace, of another moment, shows main in {}", top.short()))
}

/// The caveat that CPU time between messages was not read: input, callbacks and idle handlers run there.
fn idle_cpu_unread(facts: &Facts<'_>) -> Option<&'static str> {
    (facts.load.idle_unread_ns > 0).then_some("main's CPU time between messages was not read")
}
