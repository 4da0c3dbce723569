//! The current message is a victim: earlier ones took the time. The article's second step.

use super::super::Finding;
use super::super::facts::{Facts, INPUT_TIMEOUT_NS, percent, said, share};
use super::current_slow::{hot_path, most_of_it_in};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let one = one_long(facts);
    let many = many_short(facts);
    match (one, many) {
        (Some(one), Some(many)) if many.score > one.score => Some(many),
        (one, many) => one.or(many),
    }
}

fn one_long(facts: &Facts<'_>) -> Option<Finding> {
    let past = facts.past?;
    let ended = facts.now_ns.saturating_sub(past.end_ns());
    let (path, culprit) = hot_path(facts, past);
    let place = most_of_it_in(facts, culprit);
    let title = format!("An earlier message (#{}) took {}{place}", past.token, said(past.wall_ns));
    let now = match facts.running() {
        Some(running) => format!(
            "the running message (#{}) is only {} old: a victim",
            running.token,
            said(running.wall_ns)
        ),
        None => "no message was running at the dump".into(),
    };
    Some(
        Finding::new("history", facts.blame(past), title)
            .because(format!("{} ended {} before the dump", past.name(facts.api_level()), said(ended)))
            .because(now)
            .because_of(path)
            .advise("The stack at the dump is innocent: look at the earlier message.")
            .about(past.token)
            .blames(culprit.map(|(frame, _)| frame)),
    )
}

fn many_short(facts: &Facts<'_>) -> Option<Finding> {
    let busy = facts.busy;
    let share = share(busy.work_ns, busy.span_ns);
    let longest = facts.past.map_or(0, |past| past.wall_ns);
    let running = facts.running().map_or(0, |running| running.wall_ns);
    if busy.messages < 5 || busy.span_ns < INPUT_TIMEOUT_NS / 2 {
        return None;
    }
    let by_share = match share {
        s if s >= 0.9 => 0.72,
        s if s >= 0.8 => 0.6,
        s if s >= 0.65 => 0.42,
        _ => return None,
    };
    // One long message, past or present, explains more than all the short ones.
    let dominated = longest.max(running) > busy.work_ns / 2;
    let free = facts.idle_for_ns().unwrap_or(0) >= INPUT_TIMEOUT_NS / 5;
    let score = by_share - if dominated { 0.3 } else { 0.0 } - if free { 0.2 } else { 0.0 };
    let title = format!(
        "Main was busy with many messages: {} of them took {} of the last {}",
        busy.messages,
        said(busy.work_ns),
        said(busy.span_ns)
    );
    let mut finding = Finding::new("history", score, title)
        .because(format!("messages took {} of the time before the dump", percent(share)))
        .because(format!("the longest of them took {}", said(longest)))
        .advise(
            "No single message is to blame: look in the history for the handlers that come again and again.",
        );
    if let Some(running) = facts.running() {
        finding = finding.because(format!("the running message is {} old", said(running.wall_ns)));
    }
    Some(finding)
}
