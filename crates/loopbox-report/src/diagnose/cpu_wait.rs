//! How long main waited for a CPU, as the kernel counts it.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use crate::model::time::{format_ns, percent, share};

/// Of a message that has run no longer, most may have been before the recorder's first look at it.
const FIRST_LOOK_NS: u64 = 500_000_000;

/// The part of the message since the recorder first looked at it for which main could have run and got no CPU, and that in
/// words. `None` when it was not measured: what the counters have counted since the process's start does not describe one
/// message.
pub(super) fn measured_cpu_wait(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<(f64, String)> {
    let anr = &facts.analysis.anr;
    let measured_ns = anr.ran_ns.saturating_sub(FIRST_LOOK_NS);
    if !slow.running || measured_ns < FIRST_LOOK_NS || anr.hang_threshold_ns.is_none() {
        return None;
    }
    let part = share(anr.starved_ns, measured_ns).min(1.0);
    let (waited, measured) = (format_ns(anr.starved_ns), format_ns(measured_ns));
    Some((part, format!("main waited for a CPU for {waited} of the last {measured} ({})", percent(part))))
}
