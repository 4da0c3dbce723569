//! The process was frozen or the device was asleep: this is not a hang.

use crate::diagnose::account::{Account, TimeUse};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::load::WINDOW_NS;
use crate::model::time::{format_ns, percent, share};
use loopbox_format::model::RecordKind;

/// A process without a sample of its running message for longer than this was frozen rather than slow.
const FREEZE_NS: u64 = 60_000_000_000;
/// When the process was frozen for less than this share of the message, the freeze is not the cause.
const MIN_SHARE: f64 = 0.3;
/// A message that took this long without the freeze is slow itself.
const LONG_NS: u64 = 4_000_000_000;
/// The score of a freeze is lowered by this much when the message ran for [`LONG_NS`] without the freeze,
/// because this rest explains an ANR by itself.
const LONG_REST: f64 = 0.3;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    measured(facts).or_else(|| between_messages(facts)).or_else(|| inside_a_message(facts))
}

/// The recorder measured the freeze: its thread woke up at least a second too late.
fn measured(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.running()?;
    let facts = &facts.of(slow);
    let account = Account::of(facts, slow);
    let (ns, share) = (account.ns(TimeUse::Frozen), account.share(TimeUse::Frozen));
    let ran_ns = slow.wall_ns.saturating_sub(ns);
    let by_share: f64 = match share {
        share if share >= 0.6 => 0.9,
        share if share >= 0.5 => 0.8,
        share if share >= MIN_SHARE => 0.6,
        _ => return None,
    };
    let score = by_share - if ran_ns >= LONG_NS { LONG_REST } else { 0.0 };
    let title = format!(
        "The process was frozen or stopped for {} of the {} of {}",
        format_ns(ns),
        slow.length(),
        slow.noun()
    );
    Some(
        Finding::new("frozen", score, title)
            .with_evidence(format!(
                "none of its threads ran in that time; the message itself had {}",
                format_ns(ran_ns)
            ))
            .with_share(share)
            .at_most_medium((facts.unseen.frozen_ns < ns).then(|| {
                "that it was stopped is known of the moment of the report alone".to_owned()
            }))
            .with_advice(
                "Nothing that main's stack shows took that time. Who froze or stopped the process is outside of it: the \
                 system's freezer of cached apps, a debugger, a signal (SIGSTOP), a device that was asleep.",
            )
            .with_message(slow.token),
    )
}

fn between_messages(facts: &Facts<'_>) -> Option<Finding> {
    let record = facts.analysis.history.iter().rev().find(|r| r.kind == RecordKind::Frozen)?;
    let ended = facts.now_ns.since(record.start_ns.plus(record.wall_ns));
    if ended > WINDOW_NS {
        return None;
    }
    // Work since the thaw explains an ANR by itself when it took seconds.
    let since = facts.longest_ns();
    let score = if since >= Some(2_000_000_000) { 0.45 } else { 0.82 };
    let title = format!(
        "The process was frozen, or only rested, for {}, until {} before the dump",
        format_ns(record.wall_ns),
        format_ns(ended)
    );
    Some(
        Finding::new("frozen", score, title)
            .with_evidence("between two messages nothing ran for over a minute, and then main went on")
            .with_all_evidence(since.map(|ns| format!("the longest message since took {}", format_ns(ns))))
            // An app that nobody uses has such gaps, too.
            .no_verdict(["whether it was frozen or only had nothing to do is not known".to_owned()])
            .with_advice(
                "If it was frozen, time-outs that started before ran out meanwhile: then this is not a hang of the app's \
                 code.",
            ),
    )
}

/// No sample was taken for longer than [`FREEZE_NS`]. This is used only when the recorder measured no freeze:
/// a measured freeze says exactly how long it was.
fn inside_a_message(facts: &Facts<'_>) -> Option<Finding> {
    if facts.analysis.anr.frozen_ns > 0 {
        return None;
    }
    let slow = facts.running().filter(|slow| slow.wall_ns > FREEZE_NS)?;
    let tree = slow.tree?;
    let gap = tree.sample_ns.windows(2).map(|w| w[1].since(w[0])).max()?;
    let cpu = slow.cpu_share()?;
    // The sampler's interval grows for very long messages, but never to a minute; it did not run either.
    if gap <= FREEZE_NS || cpu > 0.1 {
        return None;
    }
    // As far as stacks show that it ran.
    let ran_ns = tree.total_ns().saturating_sub(gap);
    let score = 0.92 - if ran_ns >= LONG_NS { LONG_REST } else { 0.0 };
    let title = format!("The process was frozen for {} during {}", format_ns(gap), slow.noun());
    Some(
        Finding::new("frozen", score, title)
            .with_evidence("the sampler did not run in that time either")
            .with_evidence(format!("main was on the CPU for {} of the message", percent(cpu)))
            .with_share(share(gap, slow.wall_ns))
            .with_advice("Subtract the freeze from the message's age before you rate it.")
            .with_message(slow.token),
    )
}
