//! Where a slow message spent its time.

use super::dominant_wait::short;
use super::facts::Facts;
use super::slow_message::SlowMessage;
use super::system_trace::{is_of_trace, seen_in};
use crate::model::time::{format_ns, percent, share};
use crate::model::{FrameId, MergedTree};

/// The method of a slow message to look at first.
#[derive(Debug, Clone, Copy)]
pub(super) struct HotMethod {
    pub(super) frame: FrameId,
    /// Its part of the sampled time.
    share: f64,
    /// How often it called itself at most, itself counted.
    calls: u32,
}

/// `, most of it in Cart.total`, `, last seen in Cart.total` when there are too few stacks to say more; empty when no
/// method is known.
pub(super) fn most_of_it_in(facts: &Facts<'_>, slow: SlowMessage<'_>, method: Option<HotMethod>) -> String {
    let Some(HotMethod { frame, share: part, calls }) = method else { return String::new() };
    let name = recursive(short(facts, frame), calls);
    let covered = slow.tree.map(|tree| share(tree.total_ns(), slow.certain_ns));
    match part {
        _ if slow.tree.is_some_and(is_of_trace) => format!(", in {name} by the system's trace"),
        _ if covered < Some(0.1) || slow.is_mostly_before_install(facts.analysis) => {
            format!(", last seen in {name}")
        }
        part if part >= 0.5 => format!(", most of it in {name}"),
        part => format!(", {} of it in {name}", percent(part)),
    }
}

/// A method that calls itself, with the number of its calls on top of each other: `Fib.fib ×41`.
fn recursive(name: String, calls: u32) -> String {
    if calls > 1 { format!("{name} ×{calls}") } else { name }
}

/// The hot path of a message's stacks as evidence, and the method on it to look at first: the deepest of the
/// app's own, or else of what it ships.
pub(super) fn hot_path(facts: &Facts<'_>, slow: SlowMessage<'_>) -> (Vec<String>, Option<HotMethod>) {
    let frames = &facts.analysis.frames;
    let Some(tree) = slow.tree.filter(|tree| tree.samples() > 0) else {
        return (
            vec!["no stack of the message was sampled, so it is not known where it spent its time".into()],
            None,
        );
    };
    let merged = MergedTree::folded([tree], frames);
    let path = merged.hot_path();
    let own = frames.first_own(path.iter().rev(), |node| node.frame);
    let named = path.iter().rev().find(|node| !frames[node.frame].synthetic);
    let culprit = own.or(named).or(path.last());
    let total = tree.total_ns();
    let hot = culprit.map(|node| HotMethod {
        frame: node.frame,
        share: share(node.total_ns, total),
        calls: node.calls,
    });
    if let Some(place) = seen_in(facts, slow) {
        return (vec![place], hot);
    }
    let mut evidence: Vec<String> = culprit
        .into_iter()
        .chain(path.last().filter(|last| culprit.is_some_and(|c| c.frame != last.frame)))
        .map(|node| {
            let own = match share(node.self_ns, node.total_ns) {
                s if s >= 0.01 => format!(", {} in its own code", format_ns(node.self_ns)),
                _ => String::new(),
            };
            let name = recursive(frames[node.frame].full(), node.calls);
            format!("{} of {} sampled in {name}{own}", format_ns(node.total_ns), format_ns(total))
        })
        .collect();
    if share(total, slow.wall_ns) < 0.5 {
        evidence.push(format!("the stacks cover only {} of {}", format_ns(total), format_ns(slow.wall_ns)));
    }
    (evidence, hot)
}
