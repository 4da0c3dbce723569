//! Main was idle: the hang is elsewhere.

use crate::diagnose::facts::{Facts, INPUT_TIMEOUT_NS};
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::WaitKind;
use crate::model::time::{format_ns, percent, share};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    // "Main was free" sends the reader elsewhere: it takes no more than one sign against it to say nothing.
    if facts.not_idle.is_some() {
        return None;
    }
    let load = facts.load;
    let idle_share = share(load.idle_ns, load.span_ns);
    let mostly_idle = load.span_ns >= INPUT_TIMEOUT_NS && idle_share >= 0.85;
    let free_for = facts.free_for_ns();
    let young = facts.running().is_none_or(|running| running.wall_ns < 500_000_000 && !running.is_outside());
    let polls = facts.analysis.queue.polling == Some(true)
        || facts.profile.as_ref().is_some_and(|p| p.share(WaitKind::Polling) >= 0.8);
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
    if load.span_ns > 0 {
        finding = finding.with_evidence(format!(
            "messages took {} of the last {}",
            format_ns(load.work_ns),
            format_ns(load.span_ns)
        ));
    }
    if polls {
        finding = finding.with_evidence("the Looper waited in nativePollOnce");
    }
    if facts.analysis.queue.is_known() {
        finding = finding.with_evidence("no pending message was overdue by a second");
    }
    Some(finding.with_advice(
        "Look at input dispatching (no focused window), at other processes of the app, at binder threads, and at \
         when the dump was made: it may have come after the hang.",
    ))
}
