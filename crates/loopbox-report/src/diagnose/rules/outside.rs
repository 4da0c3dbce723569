//! Main was busy outside of messages.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::model::time::{format_ns, percent, share};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let load = facts.load;
    let cpu = share(load.idle_cpu_ns, load.idle_ns);
    if load.idle_ns < 2_000_000_000 || cpu < 0.5 || share(load.idle_ns, load.span_ns) < 0.5 {
        return None;
    }
    let slow_message = facts.running().is_some_and(|r| r.wall_ns >= 2_000_000_000);
    let score = if slow_message { 0.35 } else { 0.66 };
    let title = format!(
        "Main was busy outside of messages: {} of the last {} on the CPU between them",
        format_ns(load.idle_cpu_ns),
        format_ns(load.span_ns)
    );
    Some(
        Finding::new("outside", score, title)
            .with_evidence(format!("no message ran for {}, yet main used the CPU for {} of that", format_ns(load.idle_ns), percent(cpu)))
            .with_advice(
                "Input events, sensor and file-descriptor callbacks and idle handlers run inside MessageQueue.next(), \
                 where no hook sees them: look at addIdleHandler and at native code.",
            ),
    )
}
