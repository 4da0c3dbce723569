//! Main was free: the hang is elsewhere.

use super::super::Finding;
use super::super::facts::{Facts, INPUT_TIMEOUT_NS, percent, said, share};
use super::super::waits::Doing;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let busy = facts.busy;
    let idle_share = share(busy.idle_ns, busy.span_ns);
    let mostly_idle = busy.span_ns >= INPUT_TIMEOUT_NS && idle_share >= 0.85;
    let free_for = facts.idle_for_ns();
    let young = facts.running().is_none_or(|running| running.wall_ns < 500_000_000);
    let polls = facts.a.queue.polling == Some(true)
        || facts.profile.as_ref().is_some_and(|p| p.share(Doing::Polling) >= 0.8);
    let mut score: f64 = match free_for {
        Some(free) if free >= INPUT_TIMEOUT_NS => 0.85,
        Some(free) if free >= 2_000_000_000 => 0.68,
        Some(_) if mostly_idle => 0.6,
        None if mostly_idle && young => 0.55,
        _ => return None,
    };
    // Something is due and is not served: main is not free, it is kept from it.
    let overdue = facts.a.queue.overdue_sync(1_000_000_000);
    if overdue > 0 {
        score -= 0.35;
    }
    let mut finding = Finding::new(
        "main-free",
        score,
        match free_for {
            Some(free) => format!("Main was free, for {}: the hang is elsewhere", said(free)),
            None => format!(
                "Main was free for {} of the time before the dump: the hang is elsewhere",
                percent(idle_share)
            ),
        },
    );
    if busy.span_ns > 0 {
        finding = finding.because(format!(
            "messages took {} of the last {}",
            said(busy.work_ns),
            said(busy.span_ns)
        ));
    }
    if polls {
        finding = finding.because("the Looper waited in nativePollOnce");
    }
    if overdue > 0 {
        finding = finding
            .because(format!("against it: {overdue} pending messages were overdue by more than a second"));
    } else if facts.a.queue.known {
        finding = finding.because("no pending message was overdue");
    }
    Some(finding.advise(
        "Look at input dispatching (no focused window), at other processes of the app, at binder threads, and at \
         when the dump was made: it may have come after the hang.",
    ))
}
