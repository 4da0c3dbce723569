//! Signs that the whole device lacked something. They do not describe a single message: a machine can be
//! starved while main sleeps.

use super::facts::Facts;
use crate::model::time::format_ns;

/// The signs that the device was short of something. Each has a weight, which the rule `starved` uses, and a
/// sentence.
pub(super) fn signs(facts: &Facts<'_>) -> Vec<(f64, String)> {
    let mut signs = Vec::new();
    // A check every 300 ms that takes 750 ms or more is a severe delay of the whole system
    // (`docs/diagnosis.md` names the source of this threshold).
    if let Some(latency) = facts.wakeup_latency_ns.filter(|latency| *latency >= 300_000_000) {
        let weight = if latency >= 450_000_000 { 0.35 } else { 0.25 };
        let often = facts.late_records;
        signs.push((
            weight,
            format!(
                "the sampler thread woke up to {} late ({often} {} with 300 ms or more)",
                format_ns(latency),
                if often == 1 { "record" } else { "records" }
            ),
        ));
    }
    if facts.late_records >= 3 {
        signs.push((0.1, "and it did so repeatedly".into()));
    }
    for (statistic, what, some, much) in [
        ("psi.cpu.some_avg10_percent", "CPU", 25.0, 50.0),
        ("psi.memory.some_avg10_percent", "memory", 15.0, 40.0),
        ("psi.io.some_avg10_percent", "I/O", 30.0, 60.0),
    ] {
        if let Some(value) = facts.analysis.statistic(statistic).filter(|v| *v >= some) {
            let weight = if value >= much { 0.3 } else { 0.15 };
            signs.push((
                weight,
                format!("{what} pressure: tasks were stalled for {value:.0} % of the last 10 s"),
            ));
        }
    }
    if let Some(tree) = facts.primary_message().and_then(|slow| slow.tree) {
        let requested = tree.intervals.last().map(|interval| interval.interval_ns);
        // A process that does not run, or a runtime that stops it, is no machine that is short of something.
        let seen_ns = tree.total_ns().saturating_sub(facts.unseen.all_ns());
        let reached = seen_ns / u64::from(tree.samples().max(1));
        if let Some(requested) = requested
            && requested > 0
            && reached >= requested.saturating_mul(3)
            && tree.samples() >= 3
        {
            signs.push((
                0.15,
                format!(
                    "a stack was taken every {} instead of every {}",
                    format_ns(reached),
                    format_ns(requested)
                ),
            ));
        }
    }
    signs
}
