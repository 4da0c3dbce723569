//! How long main waited for a CPU, as the kernel counts it.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use crate::model::time::{format_ns, percent, share};

/// What was counted speaks for the message when it is of this part of it at least.
const LEAST_PART: u64 = 4;

/// The part of the time since the recorder suspected a hang for which main could have run and got no CPU, and that in
/// words. `None` when it was not measured: the counters are read first at half of the message's time-out, and what they
/// have counted since the process's start says nothing about one message; nor does what they have counted of its last moments.
pub(super) fn measured_cpu_wait(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<(f64, String)> {
    let anr = &facts.analysis.anr;
    let measured_ns = anr.ran_ns.saturating_sub(anr.hang_threshold_ns? / 2);
    if !slow.running || measured_ns == 0 || measured_ns < anr.ran_ns / LEAST_PART {
        return None;
    }
    let part = share(anr.starved_ns, measured_ns).min(1.0);
    let (waited, measured) = (format_ns(anr.starved_ns), format_ns(measured_ns));
    Some((part, format!("main waited for a CPU for {waited} of the last {measured} ({})", percent(part))))
}
