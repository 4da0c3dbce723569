//! Where a slow message spent its time.

use super::dominant_wait::short;
use super::facts::Facts;
use super::slow_message::SlowMessage;
use super::system_trace::seen_in;
use super::traced_main::is_of_trace;
use super::unseen::Unseen;
use crate::model::framework::{Role, WaitKind};
use crate::model::time::{format_ns, percent, share};
use crate::model::{Analysis, Frame, FrameId, MergedNode, MergedTree};
use loopbox_format::model::Token;
use std::collections::BTreeMap;

/// The method of a slow message to look at first.
#[derive(Debug, Clone, Copy)]
pub(super) struct HotMethod {
    pub(super) frame: FrameId,
    /// The method's share of the time that the stacks cover.
    share: f64,
    /// The time that the message's stacks cover.
    seen_ns: u64,
    /// The depth of the method's deepest recursion: 1 when it did not call itself.
    calls: u32,
}

/// An addition to a title: `, most of it in Cart.total`, or, when there are too few stacks to say more, `,
/// last seen in Cart.total`. Empty when no method is known.
pub(super) fn most_of_it_in(facts: &Facts<'_>, slow: SlowMessage<'_>, method: Option<HotMethod>) -> String {
    let Some(HotMethod { frame, share: part, seen_ns, calls }) = method else { return String::new() };
    let name = recursive(short(facts, frame), calls);
    let frozen_ns = Unseen::of(facts.analysis, slow).frozen_ns;
    let covered = share(seen_ns, slow.certain_ns.saturating_sub(frozen_ns));
    let it = if frozen_ns >= slow.certain_ns / 10 && frozen_ns > 0 { "the rest" } else { "it" };
    match part {
        _ if slow.tree.is_some_and(is_of_trace) => format!(", in {name} by the system's trace"),
        _ if covered < 0.1 || slow.is_mostly_before_install(facts.analysis) => {
            format!(", last seen in {name}")
        }
        // Of the greater part nothing was seen.
        _ if covered < 0.5 => {
            format!(", {} of {it} seen in {name}", format_ns((seen_ns as f64 * part) as u64))
        }
        part if part >= 0.5 => format!(", most of {it} in {name}"),
        part => format!(", {} of {it} in {name}", percent(part)),
    }
}

/// The name of a method, with the depth of its recursion if it calls itself: `Fib.fib ×41`.
fn recursive(name: String, calls: u32) -> String {
    if calls > 1 { format!("{name} ×{calls}") } else { name }
}

/// The hot path of a message's stacks as evidence, and the method on it to examine first: the deepest one of
/// the app's own code, or else of the libraries in the app.
pub(super) fn hot_path(facts: &Facts<'_>, slow: SlowMessage<'_>) -> (Vec<String>, Option<HotMethod>) {
    let frames = &facts.analysis.frames;
    let Some(tree) = slow.tree.filter(|tree| tree.samples() > 0) else {
        return (
            vec!["no stack of the message was sampled, so it is not known where it spent its time".into()],
            None,
        );
    };
    let unseen = Unseen::of(facts.analysis, slow);
    let gaps = unseen.gaps();
    let merged = MergedTree::seen(tree, &gaps, frames);
    let path = merged.hot_path();
    let own = frames.first_own(path.iter().rev().copied(), |node| node.frame);
    // Where a thread is parked, and what dispatches a message, is nobody's code.
    let nobodys = |node: &&MergedNode| {
        use Role::{Dispatch, Loop, Queue, Waits};
        matches!(frames[node.frame].role(), Some(Dispatch | Loop | Queue | Waits(WaitKind::Lock)))
    };
    let somebodys = || path.iter().rev().copied().filter(|node| !nobodys(node));
    let named = somebodys().find(|node| !frames[node.frame].synthetic);
    let culprit = own.or(named).or_else(|| somebodys().next());
    let total = tree.total_ns().saturating_sub(gaps.ns(0, tree.samples()));
    let hot = culprit.map(|node| HotMethod {
        frame: node.frame,
        share: share(node.total_ns, total),
        seen_ns: total,
        calls: node.calls,
    });
    if let Some(place) = seen_in(facts, slow) {
        return (vec![place], hot);
    }
    let mut evidence: Vec<String> = culprit
        .into_iter()
        .chain(path.last().copied().filter(|last| culprit.is_some_and(|c| c.frame != last.frame)))
        .map(|node| {
            let own = match share(node.self_ns, node.total_ns) {
                s if s >= 0.01 => format!(", {} in its own code", format_ns(node.self_ns)),
                _ => String::new(),
            };
            let name = recursive(frames[node.frame].full(), node.calls);
            format!("{} of {} sampled in {name}{own}", format_ns(node.total_ns), format_ns(total))
        })
        .collect();
    if share(total, slow.wall_ns.saturating_sub(unseen.frozen_ns)) < 0.5 {
        evidence.push(format!("the stacks cover only {} of {}", format_ns(total), format_ns(slow.wall_ns)));
    }
    (evidence, hot)
}

/// How many branches are named at most.
const MAX_BRANCHES: usize = 3;
/// A branch with less than this share of the time is not named.
const MIN_BRANCH: f64 = 0.05;

/// The app's methods in which the message spent most of its time, each with its share and what it waited for;
/// `None` when one method has all of it.
pub(super) fn branches(facts: &Facts<'_>) -> Option<String> {
    let profile = facts.profile.as_ref()?;
    let frames = &facts.analysis.frames;
    let mut times: BTreeMap<(String, WaitKind), u64> = BTreeMap::new();
    for (site, ns) in profile.sites() {
        let name = frames[site.app.unwrap_or(site.at)].short();
        let time = times.entry((name, site.kind)).or_default();
        *time = time.saturating_add(ns);
    }
    let mut times: Vec<_> =
        times.into_iter().filter(|(_, ns)| share(*ns, profile.total_ns) >= MIN_BRANCH).collect();
    times.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let named = times.iter().take(MAX_BRANCHES).map(|((name, kind), ns)| {
        let waits = if kind.is_wait() { format!(" ({})", kind.noun()) } else { String::new() };
        format!("{} in {name}{waits}", percent(share(*ns, profile.total_ns)))
    });
    let named: Vec<String> = named.collect();
    (named.len() > 1).then(|| format!("of the stacks {}", named.join(", ")))
}

/// How many methods of a path are kept at most: the first one, and the last ones.
const MAX_PATH: usize = 8;

/// The app's methods from the outermost one down to `method`. They are from one stack: of the stacks with
/// `method` on them, the one in which main was longest.
pub(super) fn path_to(a: &Analysis, token: Token, method: FrameId) -> Vec<String> {
    let Some(tree) = a.tree(token) else { return Vec::new() };
    let runs =
        tree.stack_runs().into_iter().map(|run| (tree.span_ns(run.start, run.end), tree.stack(run.top)));
    let heaviest = runs.filter(|(_, stack)| stack.contains(&method)).max_by_key(|(ns, _)| *ns);
    let Some((_, stack)) = heaviest else { return Vec::new() };
    let end = stack.iter().rposition(|&id| id == method);
    let own = stack.iter().take(end.into_iter().map(|end| end + 1).sum()).map(|&id| &a.frames[id]);
    let own = own.filter(|frame| frame.is_of_app() && !frame.synthetic);
    let mut path: Vec<String> = own.map(Frame::qualified).collect();
    path.dedup();
    if let Some(more) = path.len().checked_sub(MAX_PATH).filter(|more| *more > 0) {
        path.drain(1..=more);
    }
    path
}
