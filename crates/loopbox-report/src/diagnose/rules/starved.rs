//! The machine is starved: the app hardly got to run.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::WaitKind;
use crate::model::time::{format_ns, percent};

/// Each sign that the CPU, the memory or the disk of the device is short, with its weight.
fn signs(facts: &Facts<'_>) -> Vec<(f64, String)> {
    let mut signs = Vec::new();
    // A check every 300 ms that takes 750 ms or more is a severe delay of the whole system (`docs/diagnosis.md` names the
    // source of this threshold).
    let latency = facts.wakeup_latency_ns;
    if latency >= 300_000_000 {
        let weight = if latency >= 450_000_000 { 0.35 } else { 0.25 };
        let often = facts.late_records;
        signs.push((
            weight,
            format!(
                "the sampler thread woke up to {} late ({often} records with 300 ms or more)",
                format_ns(latency)
            ),
        ));
    }
    if facts.late_records >= 3 {
        signs.push((0.1, "and it did so repeatedly".into()));
    }
    for (figure, what, some, much) in [
        ("psi.cpu.some_avg10_percent", "CPU", 25.0, 50.0),
        ("psi.memory.some_avg10_percent", "memory", 15.0, 40.0),
        ("psi.io.some_avg10_percent", "I/O", 30.0, 60.0),
    ] {
        if let Some(value) = facts.analysis.figure(figure).filter(|v| *v >= some) {
            let weight = if value >= much { 0.3 } else { 0.15 };
            signs.push((
                weight,
                format!("{what} pressure: tasks were stalled for {value:.0} % of the last 10 s"),
            ));
        }
    }
    if let (Some(ran), Some(waited)) =
        (facts.analysis.figure("main.ran_ns"), facts.analysis.figure("main.waited_for_cpu_ns"))
    {
        let part = waited / (ran + waited).max(1.0);
        if part >= 0.4 {
            let weight = if part >= 0.6 { 0.25 } else { 0.15 };
            signs.push((
                weight,
                format!(
                    "since its start main waited for a CPU for {} of the time that it could have run",
                    percent(part)
                ),
            ));
        }
    }
    if let (Some(slow), Some(profile)) = (facts.primary_message(), &facts.profile)
        && let Some(cpu) = slow.cpu_share()
        && slow.wall_ns >= 1_000_000_000
        && cpu < 0.5
        && profile.share(WaitKind::Running) >= 0.6
    {
        // Without other signs this is more likely a wait for a monitor: it does not count by itself.
        signs.push((
            0.3,
            format!("main seemed to compute, but got the CPU for only {} of the time", percent(cpu)),
        ));
    }
    if let Some(tree) = facts.primary_message().and_then(|slow| slow.tree) {
        let requested = tree.intervals.last().map_or(0, |interval| interval.interval_ns);
        let reached = tree.total_ns() / u64::from(tree.samples().max(1));
        if requested > 0 && reached >= requested.saturating_mul(3) && tree.samples() >= 3 {
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

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let signs = signs(facts);
    let sum: f64 = signs.iter().map(|(weight, _)| weight).sum();
    // A single sign may have many reasons, so it stays below the headline.
    let score = match signs.len() {
        0 => return None,
        1 => sum.min(0.35),
        _ => (sum + 0.1).min(0.93),
    };
    Some(
        Finding::new("starved", score, "The machine was starved: this app hardly got to run".into())
            .with_all_evidence(signs.into_iter().map(|(_, sign)| sign))
            .with_advice(
                "The code on the stack may not be the cause: see how many devices and which models report this.",
            ),
    )
}
