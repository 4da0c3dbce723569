//! One handler floods the queue.

use super::super::Finding;
use super::super::facts::{Facts, percent, said, share};
use crate::view::MessageView;

/// Fewer equal messages than this are ordinary life.
const MANY: usize = 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let flood = facts.a.queue.largest_crowd()?;
    if flood.count < MANY {
        return None;
    }
    let name = MessageView::new(&flood.message, facts.api_level()).text;
    let waiting = facts.a.queue.messages().count();
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
        said(flood.overdue_ns)
    )];
    // What piled up behind a message that blocks main is its consequence. A flood is older than that message, or
    // there is none and main is busy all the same.
    let blocked = facts.running().map_or(0, |r| r.wall_ns).max(facts.past.map_or(0, |p| p.wall_ns));
    let busy = share(facts.busy.work_ns, facts.busy.span_ns);
    if blocked >= 1_000_000_000 && flood.overdue_ns <= blocked.saturating_add(blocked / 4) {
        score -= 0.4;
        evidence.push(format!(
            "against it: a message blocked main for {}, so they piled up behind it",
            said(blocked)
        ));
    } else if facts.busy.span_ns > 0 {
        score += if busy >= 0.7 { 0.1 } else { -0.15 };
        let messages = facts.busy.messages;
        evidence.push(format!("messages took {} of the time before, {messages} of them", percent(busy)));
    }
    let title = format!("{} pending messages of one kind flood the queue: {name}", flood.count);
    Some(
        Finding::new("flood", score, title)
            .because_of(evidence)
            .advise("Remove the message before posting it again (removeCallbacks), or coalesce the updates."),
    )
}
