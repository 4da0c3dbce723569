//! Garbage collections: those that the app asks for, and those that it must wait for because its heap is
//! full.

use crate::diagnose::collections::FULL;
use crate::diagnose::cpu_wait::asleep_share;
use crate::diagnose::dominant_wait::{called_from, dominant_wait, uncovered};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::hot_method::{hot_path, most_of_it_in};
use crate::diagnose::wait_kind::WaitKind;
use crate::model::time::{format_ns, percent};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = dominant_wait(facts, WaitKind::Gc)?;
    let title =
        format!("{} runs an explicit garbage collection{}", w.slow.subject(), called_from(facts, w.site));
    Some(
        Finding::new("gc", w.score, title)
            .with_all_evidence(w.evidence)
            .at_most_medium(w.unknown)
            .with_share(w.share)
            .with_advice("Do not call System.gc() on the main thread.")
            .with_message(w.slow.token)
            .with_culprit(w.site.app),
    )
}

/// Waits for collections are normal below this share of the time.
const MIN_SHARE: f64 = 0.3;
/// Replaces `MIN_SHARE` when main sleeps for most of the time although its stacks show code that computes.
/// The limit is lower, because the threads of a starved machine wait for a CPU for most of the time. They can
/// wait for collections only in the rest of the time.
const MIN_SHARE_ASLEEP: f64 = 0.1;
const MIN_SPAN_MS: f64 = 500.0;

/// A full heap as the cause: the threads that allocate wait for one collection after the other. The
/// statistics are those of the process. Main is probably one of these threads while it does not wait for
/// anything else.
pub(super) fn find_pressure(facts: &Facts<'_>) -> Option<Finding> {
    let statistic = |name: &str| facts.analysis.statistic(name);
    let slow = facts.primary_message().filter(|slow| slow.running)?;
    let profile = facts.profile.as_ref()?;
    let unnamed = profile.share(WaitKind::Unknown);
    if profile.waiting_share() >= 0.4 || profile.share(WaitKind::Gc) >= 0.4 || unnamed >= 0.4 {
        return None;
    }
    let span_ms = statistic("gc.lately.ms").filter(|span| *span >= MIN_SPAN_MS)?;
    let waited = (statistic("gc.lately.blocking_time_ms")? / span_ms).min(1.0);
    let full = statistic("heap.used_bytes")? / statistic("heap.max_bytes").filter(|max| *max > 0.0)?;
    let asleep = asleep_share(facts, slow).filter(|asleep| *asleep >= 0.5);
    let least = if asleep.is_some() { MIN_SHARE_ASLEEP } else { MIN_SHARE };
    if waited < least || full < FULL {
        return None;
    }
    let certainty = match asleep {
        _ if waited >= 0.5 => 0.06,
        // More than the slow message itself weighs, and less than a starved machine does.
        Some(_) => 0.02,
        None => -0.12,
    };
    let score = facts.score(slow) + certainty;
    let (path, culprit) = hot_path(facts, slow);
    let title = format!(
        "{} allocates in a full heap, and waits for collections{}",
        slow.subject(),
        most_of_it_in(facts, slow, culprit)
    );
    let collections = format!(
        "{} collections that threads had to wait for took {} of the last {}",
        statistic("gc.lately.blocking_count")?,
        percent(waited),
        format_ns((span_ms * 1e6) as u64)
    );
    Some(
        Finding::new("gc", score, title)
            .with_evidence(collections)
            .with_evidence(format!("{} of the heap's limit is in use", percent(full)))
            .with_all_evidence(asleep.map(|asleep| {
                format!("of the time for which main did not wait for a CPU, it slept for {}", percent(asleep))
            }))
            .with_all_evidence(path)
            .at_most_medium(uncovered(facts, slow, profile))
            .at_most_medium(
                (waited < 0.5).then(|| format!("collections explain {} of the time", percent(waited))),
            )
            .with_advice(
                "See what fills the heap (a heap dump, bitmaps, caches); allocate less on the main thread.",
            )
            .with_message(slow.token)
            .with_culprit(culprit.map(|method| method.frame)),
    )
}
