//! How long main waited for a CPU, and how long for something else, as the kernel counts it.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use crate::model::time::{format_ns, percent, share};

/// A message that waited for a CPU for this share of its time hardly waited for anything else.
pub(super) const MOST: f64 = 0.6;

/// The recorder's first check of a message comes within this time. A message that has run for no longer than
/// this may lie mostly before that check.
const FIRST_CHECK_NS: u64 = 500_000_000;
/// A share is computed only when main was without CPU waits for at least this long: the kernel's counters are
/// read one after the other, and the reader may be stopped in between.
const LEAST_LEFT_NS: u64 = 200_000_000;

/// The part of the time in which main was ready to run and got no CPU, as a share and as a text. The time
/// counts from the recorder's first check of the message. `None` when the wait since that check was not
/// measured. The kernel's counters are not enough, because they start with the process and not with the
/// message.
pub(super) fn measured_cpu_wait(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<(f64, String)> {
    let (starved_ns, measured_ns) = measured_ns(facts, slow)?;
    let part = share(starved_ns, measured_ns);
    let (waited, measured) = (format_ns(starved_ns), format_ns(measured_ns));
    Some((part, format!("main waited for a CPU for {waited} of the last {measured} ({})", percent(part))))
}

/// How much of the time main spent asleep, as a share of the time in which main did not wait for a CPU. A
/// main thread that is asleep waits for something else, whatever code its stacks show. `None` when the waits
/// or the CPU time were not measured, or when main waited for a CPU nearly all the time.
pub(super) fn asleep_share(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<f64> {
    let (starved_ns, measured_ns) = measured_ns(facts, slow)?;
    let had_ns = measured_ns - starved_ns;
    // The CPU time is that of the whole message: what it used before the first check makes the answer
    // smaller, never larger.
    let asleep_ns = had_ns.saturating_sub(slow.cpu_ns?);
    (had_ns >= LEAST_LEFT_NS).then(|| share(asleep_ns, had_ns))
}

/// A reason for less confidence: main's waits for a CPU were not measured.
pub(super) const NOT_MEASURED: &str = "whether main waited for a CPU was not measured";
/// A reason for less confidence: the CPU time is not known.
pub(super) const NO_CPU_TIME: &str = "main's CPU time was not read";

/// How long main waited for a CPU, and the length of the time in which these waits were counted, both in
/// nanoseconds. `None` when they were not counted, or for too short a time.
pub(super) fn measured_ns(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<(u64, u64)> {
    let starved_ns = facts.analysis.starved_ns().filter(|_| slow.running)?;
    let measured_ns = facts.analysis.anr.ran_ns.saturating_sub(FIRST_CHECK_NS);
    (measured_ns >= FIRST_CHECK_NS).then(|| (starved_ns.min(measured_ns), measured_ns))
}
