//! Earlier messages took the time, and the running message is not the culprit.

use crate::diagnose::account::account;
use crate::diagnose::facts::{Facts, INPUT_TIMEOUT_NS};
use crate::diagnose::finding::Finding;
use crate::diagnose::hot_method::{branches, hot_path, most_of_it_in};
use crate::diagnose::slow_message::SlowMessage;
use crate::model::message_name::message_name;
use crate::model::plural::plural;
use crate::model::time::{format_ns, percent, share};
use crate::model::{OutsidePlace, token};
use loopbox_format::model::own_ns;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One slow earlier message as the cause.
pub(super) fn find_one(facts: &Facts<'_>) -> Option<Finding> {
    one_long(facts, facts.primary_message().filter(|slow| !slow.running)?)
}

/// Many slow messages as the cause, unless one of them explains more.
pub(super) fn find_many(facts: &Facts<'_>) -> Option<Finding> {
    let many = many_short(facts)?;
    let one = facts.past().iter().map(|past| facts.score(*past)).fold(0.0, f64::max);
    (many.score > one).then_some(many)
}

fn one_long(facts: &Facts<'_>, past: SlowMessage<'_>) -> Option<Finding> {
    let account = account(facts)?;
    let ended = facts.now_ns.since(past.end_ns());
    let (path, culprit) = hot_path(facts, past);
    let place = most_of_it_in(facts, past, culprit);
    let title = if past.is_outside() {
        let of = past
            .place
            .and_then(OutsidePlace::words)
            .map_or_else(String::new, |words| format!(", in {words},"));
        format!("Main had been busy {}{of} for {}{place}", token::title(past.token), past.length())
    } else {
        format!("An earlier message (#{}) took {}{place}", past.token, past.length())
    };
    let now = match facts.running() {
        // It is slow itself.
        Some(running) if running.wall_ns >= 1_000_000_000 => {
            format!("{} has taken {} since", running.noun(), running.length())
        }
        Some(running) if running.is_outside() => {
            format!("{} is only {} old: a victim of the earlier one", running.noun(), running.length())
        }
        Some(running) => format!(
            "the running message (#{}) is only {} old: a victim of the earlier one",
            running.token,
            format_ns(running.wall_ns)
        ),
        None if facts.unknown_main().is_some() => "what main did at the dump is not known".into(),
        None => "no message was running at the dump".into(),
    };
    Some(
        Finding::new("history", facts.score(past), title)
            .with_evidence(format!(
                "{} ended {} before the dump",
                past.name(facts.analysis),
                format_ns(ended)
            ))
            .with_evidence(now)
            .with_all_evidence(path)
            .with_all_evidence(branches(facts))
            .with_all_evidence(past.before_install(facts.analysis))
            .with_share(account.not_frozen())
            .at_most_medium(facts.unknown_main())
            .at_most_medium(account.against_code())
            .with_advice("The stack at the dump is not the cause: look at the earlier message.")
            .with_message(past.token)
            .with_culprit(culprit.map(|method| method.frame)),
    )
}

fn many_short(facts: &Facts<'_>) -> Option<Finding> {
    let load = facts.load;
    let share = share(load.work_ns, load.span_ns);
    if load.messages < 5 || load.span_ns < INPUT_TIMEOUT_NS / 2 {
        return None;
    }
    let by_share = match share {
        s if s >= 0.9 => 0.72,
        s if s >= 0.8 => 0.6,
        s if s >= 0.65 => 0.42,
        _ => return None,
    };
    // One long message, past or present, explains more than all the short ones.
    let dominated = facts.longest_ns() > Some(load.work_ns / 2);
    let free = facts.was_free_for(INPUT_TIMEOUT_NS / 5);
    let score = by_share - if dominated { 0.3 } else { 0.0 } - if free { 0.2 } else { 0.0 };
    let title = format!(
        "Main was busy with many messages: {} of them took {} of the last {}",
        load.messages,
        format_ns(load.work_ns),
        format_ns(load.span_ns)
    );
    let mut finding = Finding::new("history", score, title)
        .with_evidence(format!("messages took {} of the time before the dump", percent(share)))
        .with_all_evidence(
            facts.longest_past.map(|past| format!("the longest of them took {}", format_ns(past.wall_ns))),
        )
        .with_all_evidence(handlers(facts))
        .with_advice(
            "No single message is to blame: look in the history for handlers that appear repeatedly.",
        );
    if let Some(running) = facts.running() {
        finding = finding.with_evidence(format!("{} is {} old", running.noun(), running.length()));
    }
    Some(finding)
}

/// How many handlers are named.
const MAX_HANDLERS: usize = 3;

/// The handlers that took most of the time in the window before the dump (see `docs/diagnosis.md`). Only
/// messages that the history keeps by name are counted.
fn handlers(facts: &Facts<'_>) -> Option<String> {
    let mut by_name: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let in_window = facts.analysis.history.iter().filter(|record| facts.is_in_window(record));
    for detail in in_window.flat_map(|record| &record.details) {
        let Some(message) = &detail.message else { continue };
        // What one library dispatches are many things to the app, of which the stacks know the slow ones.
        let by_stacks = facts.analysis.named_by_stacks(detail.token, Some(message));
        let name = by_stacks.unwrap_or_else(|| message_name(message, facts.analysis.api_level()));
        let (count, wall_ns) = by_name.entry(name).or_default();
        *count += 1;
        *wall_ns = wall_ns.saturating_add(own_ns(&facts.analysis.history, detail));
    }
    let mut handlers: Vec<_> = by_name.into_iter().collect();
    handlers.sort_by_key(|(_, (_, wall_ns))| Reverse(*wall_ns));
    let part = |wall_ns: u64| percent(share(wall_ns, facts.load.work_ns).min(1.0));
    let named = handlers.iter().take(MAX_HANDLERS).map(|(name, (count, wall_ns))| {
        format!("{name} ({} in {}, {})", format_ns(*wall_ns), plural(*count, "message"), part(*wall_ns))
    });
    let named: Vec<String> = named.collect();
    let with_name =
        handlers.iter().take(MAX_HANDLERS).fold(0, |sum: u64, (_, (_, ns))| sum.saturating_add(*ns));
    let rest = share(facts.load.work_ns.saturating_sub(with_name), facts.load.work_ns);
    let rest =
        if rest >= 0.1 { format!("; {} to others or without a name", percent(rest)) } else { String::new() };
    (!named.is_empty())
        .then(|| format!("of those kept by name, most time went to {}{rest}", named.join("; ")))
}
