//! Main was busy, but outside of messages.

use super::super::Finding;
use super::super::facts::{Facts, percent, said, share};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let busy = facts.busy;
    let cpu = share(busy.idle_cpu_ns, busy.idle_ns);
    if busy.idle_ns < 2_000_000_000 || cpu < 0.5 || share(busy.idle_ns, busy.span_ns) < 0.5 {
        return None;
    }
    let slow_message = facts.running().is_some_and(|r| r.wall_ns >= 2_000_000_000);
    let score = if slow_message { 0.35 } else { 0.66 };
    let title = format!(
        "Main was busy outside of messages: {} of the last {} on the CPU between them",
        said(busy.idle_cpu_ns),
        said(busy.span_ns)
    );
    Some(
        Finding::new("outside", score, title)
            .because(format!("no message ran for {}, yet main used the CPU for {} of that", said(busy.idle_ns), percent(cpu)))
            .advise(
                "Input events, sensor and file-descriptor callbacks and idle handlers run inside MessageQueue.next(), \
                 where no hook sees them: look at addIdleHandler and at native code.",
            ),
    )
}
