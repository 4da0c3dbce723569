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
    let queue = &facts.analysis.queue;
    let waiting = queue.messages().count();
    let of_queue = flood.count as f64 / waiting.max(1) as f64;
    let mut score: f64 = match (flood.count, of_queue) {
        (100.., 0.5..) => 0.78,
        (50.., 0.5..) => 0.68,
        (_, 0.5..) => 0.5,
        _ => 0.35,
    };
    let read = match (queue.whole, queue.total) {
        (true, _) => format!("{waiting} pending messages"),
        (false, Some(total)) => format!("the {waiting} pending messages that were read, of {total},"),
        (false, None) => format!("the {waiting} pending messages that were read"),
    };
    let overdue = match flood.overdue_ns {
        0 => String::new(),
        ns => format!(", the oldest overdue by {}", format_ns(ns)),
    };
    let mut evidence = vec![format!("{} of {read} are {name}{overdue}", flood.count)];
    // The rest may be of other kinds.
    let mixed = !queue.whole && of_queue < 0.9;
    let unknown = mixed.then(|| "the queue was not read to its end".to_owned());
    let unknown: Vec<String> =
        unknown.into_iter().chain(facts.unknown_main()).chain(facts.unknown_history()).collect();
    // Messages that piled up behind one that blocks main are its consequence. A flood is older than that
    // message, or no message blocks main and main is busy all the same.
    let blocked = facts.longest_ns();
    let busy = share(facts.load.work_ns, facts.load.span_ns);
    if let Some(blocked) = blocked
        && blocked >= 1_000_000_000
        && flood.overdue_ns <= blocked.saturating_add(blocked / 4)
    {
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
    Some(Finding::new("flood", score, title).with_all_evidence(evidence).at_most_medium(unknown).with_advice(
        "Remove the message before posting it again (removeCallbacks), or coalesce the updates.",
    ))
}
