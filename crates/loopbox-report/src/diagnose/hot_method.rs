//! Where a slow message spent its time.

use super::dominant_wait::short;
use super::facts::{Facts, SlowMessage};
use crate::model::class_names::is_platform;
use crate::model::time::{format_ns, percent, share};
use crate::model::{FrameId, MergedTree};

/// The method of a slow message to look at first.
#[derive(Debug, Clone, Copy)]
pub(super) struct HotMethod {
    pub(super) frame: FrameId,
    /// Its part of the sampled time.
    share: f64,
}

/// `, most of it in Cart.total`; empty when no method is known.
pub(super) fn most_of_it_in(facts: &Facts<'_>, method: Option<HotMethod>) -> String {
    match method {
        Some(HotMethod { frame, share }) if share >= 0.5 => {
            format!(", most of it in {}", short(facts, frame))
        }
        Some(HotMethod { frame, share }) => format!(", {} of it in {}", percent(share), short(facts, frame)),
        None => String::new(),
    }
}

/// The hot path of a message's stacks as evidence, and the method on it to look at first: the deepest of the app's own.
pub(super) fn hot_path(facts: &Facts<'_>, slow: SlowMessage<'_>) -> (Vec<String>, Option<HotMethod>) {
    let frames = &facts.analysis.frames;
    let Some(tree) = slow.tree.filter(|tree| tree.samples() > 0) else {
        return (
            vec!["no stack of the message was sampled, so it is not known where it spent its time".into()],
            None,
        );
    };
    let merged = MergedTree::new([tree], frames);
    let path = merged.hot_path();
    let own = path.iter().rev().find(|node| !is_platform(&frames[node.frame].class));
    let culprit = own.or(path.last());
    let total = tree.total_ns();
    let mut evidence: Vec<String> = culprit
        .into_iter()
        .chain(path.last().filter(|last| culprit.is_some_and(|c| c.frame != last.frame)))
        .map(|node| {
            let own = match share(node.self_ns, node.total_ns) {
                s if s >= 0.01 => format!(", {} in its own code", format_ns(node.self_ns)),
                _ => String::new(),
            };
            let name = frames[node.frame].full();
            format!("{} of {} sampled in {name}{own}", format_ns(node.total_ns), format_ns(total))
        })
        .collect();
    if share(total, slow.wall_ns) < 0.5 {
        evidence.push(format!("the stacks cover only {} of {}", format_ns(total), format_ns(slow.wall_ns)));
    }
    (evidence, culprit.map(|node| HotMethod { frame: node.frame, share: share(node.total_ns, total) }))
}
