//! Collections that threads had to wait for.

use super::facts::Facts;
use super::slow_message::SlowMessage;

/// The heap counts as full when at least this share of it is used. What a collection frees is then used up at
/// once.
pub(super) const FULL: f64 = 0.8;

/// How long threads recently waited for collections in a full heap. Main may have been one of these threads,
/// even when its stacks show running code. `None` when the time is not known, or the heap is not full.
pub(super) fn blocking_ns(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<u64> {
    let statistic = |name: &str| facts.analysis.statistic(name).filter(|_| slow.running);
    let full = statistic("heap.used_bytes")? / statistic("heap.max_bytes").filter(|max| *max > 0.0)?;
    let blocking_ms = statistic("gc.lately.blocking_time_ms").filter(|ms| *ms > 0.0)?;
    (full >= FULL).then_some((blocking_ms * 1e6) as u64)
}
