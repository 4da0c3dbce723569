//! One handler floods the queue.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::model::message_name::message_name;
use crate::model::time::{format_ns, percent, share};

/// Fewer equal messages than this are normal.
const MIN_FLOOD: usize = 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let flood = facts.analysis.queue.largest_flood()?;
    if flood.count < MIN_FLOOD {
        return None;
    }
    let name = message_name(&flood.message, facts.analysis.api_level());
    let waiting = facts.analysis.queue.messages().count();
    let of_queue = flood.count as f64 / waiting.max(1) as f64;
    let mut score: f64 = match (flood.count, of_queue) {
        (100.., 0.5..) => 0.78,
        (50.., 0.5..) => 0.68,
        (_, 0.5..) => 0.5,
        _ => 0.35,
    };
    let mut evidence = vec![format!(
        "{} of {waiting} pending messages are {name}, the oldest overdue by {}",
        flood.count,
        format_ns(flood.overdue_ns)
    )];
    // Messages that piled up behind one that blocks main are its consequence. A flood is older than that message, or
    // no message blocks main and main is busy all the same.
    let blocked = facts.running().map_or(0, |r| r.wall_ns).max(facts.longest_past.map_or(0, |p| p.wall_ns));
    let busy = share(facts.load.work_ns, facts.load.span_ns);
    if blocked >= 1_000_000_000 && flood.overdue_ns <= blocked.saturating_add(blocked / 4) {
        score -= 0.4;
        evidence.push(format!(
            "against it: a message blocked main for {}, so they piled up behind that message",
            format_ns(blocked)
        ));
    } else if facts.load.span_ns > 0 {
        score += if busy >= 0.7 { 0.1 } else { -0.15 };
        let messages = facts.load.messages;
        evidence.push(format!("messages took {} of the time before, {messages} of them", percent(busy)));
    }
    let title = format!("{} pending messages of one kind flood the queue: {name}", flood.count);
    Some(Finding::new("flood", score, title).with_all_evidence(evidence).with_advice(
        "Remove the message before posting it again (removeCallbacks), or coalesce the updates.",
    ))
}
