//! Stack trees: in order of time, indented where the path branches, short calls folded.

use super::style::{NAME, QUIET, WARN, of_wall, paint};
use super::{Options, line};
use crate::Frame;
use crate::clock::duration;
use crate::view::{NodeView, TreeView, View};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The share of a tree below which a node is folded away.
const FOLD: f64 = 0.01;
/// The deepest indentation; a terminal has only so many columns.
const MAX_INDENT: usize = 60;

/// The whole tree.
pub(super) fn write(out: &mut String, view: &View, tree: &TreeView, options: Options) {
    summary(out, tree);
    if tree.nodes.is_empty() {
        return;
    }
    line(out, paint(QUIET, format!("  {:>10} {:>8} {:>5} {:>8}  frame", "from", "total", "", "self")));
    let limit = if options.full { 0.0 } else { tree.total_ms * FOLD };
    let first_at = tree.first_sample_at_ms - tree.at_ms;
    // For each open depth: how far its children are indented.
    let mut indents: Vec<usize> = Vec::new();
    for (i, node) in tree.nodes.iter().enumerate().filter(|(_, node)| node.total_ms >= limit) {
        indents.truncate(node.depth as usize);
        let indent = indents.last().copied().unwrap_or(0).min(MAX_INDENT);
        let share = if tree.total_ms > 0.0 { 100.0 * node.total_ms / tree.total_ms } else { 0.0 };
        let own = if node.self_ms > 0.0 { duration(node.self_ms) } else { String::new() };
        let at = format!("{:+.3} s", (first_at + node.from_ms) / 1e3);
        let total = paint(of_wall(node.total_ms), format!("{:>8}", duration(node.total_ms)));
        line(
            out,
            format!("  {at:>10} {total} {share:>4.0}% {own:>8}  {:indent$}{}", "", name(view, node.frame)),
        );
        let below = below(&tree.nodes, i, limit);
        let indent = indent + if below.branches(node, limit) { 2 } else { 0 };
        if let Some((frame, total_ms)) = below.heaviest_folded(limit) {
            let calls = below.folded_calls;
            let calls = if calls == 1 { "a shorter call".into() } else { format!("{calls} shorter calls") };
            let most = view.frames.get(frame as usize).map(Frame::short).unwrap_or_default();
            let text = format!(
                "  {:>10} {:>8} {:>5} {:>8}  {:indent$}… {calls}, {} of it in {most}",
                "",
                duration(below.folded_ms),
                "",
                "",
                "",
                duration(total_ms)
            );
            line(out, paint(QUIET, text));
        }
        indents.push(indent);
    }
}

/// The heaviest path only, in one line a frame that differs in time from its caller.
pub(super) fn write_hot_path(out: &mut String, view: &View, tree: &TreeView) {
    summary(out, tree);
    let mut shown = f64::NAN;
    for (i, hot) in tree.hot_path.iter().enumerate() {
        let last = i + 1 == tree.hot_path.len();
        let next_differs = tree.hot_path.get(i + 1).is_some_and(|next| next.total_ms < hot.total_ms * 0.98);
        if !last && !next_differs {
            continue;
        }
        shown = hot.total_ms;
        let total = paint(of_wall(shown), format!("{:>8}", duration(shown)));
        line(out, format!("    {total}  {}", paint(NAME, name(view, hot.frame))));
    }
    if shown.is_nan() {
        line(out, paint(QUIET, "    no stack"));
    }
}

fn name(view: &View, frame: u32) -> String {
    view.frames.get(frame as usize).map(Frame::full).unwrap_or_default()
}

fn summary(out: &mut String, tree: &TreeView) {
    let how = match tree.source {
        "art" => "through ART",
        "java_api" => "by Thread.getStackTrace",
        _ => "in a way that this program does not know",
    };
    let mut text = format!("  {} stacks over {}, {how}", tree.samples, duration(tree.total_ms));
    if let Some(reached) = tree.reached_interval_ms {
        let _ = write!(text, ", one each {} (asked {})", duration(reached), duration(tree.interval_ms));
    }
    if tree.longest_stop_ms > 0.0 {
        let _ = write!(text, ", main stopped {:.3} ms at most", tree.longest_stop_ms);
    }
    line(out, paint(QUIET, text));
    if tree.missed_samples > 0 {
        let share =
            f64::from(tree.missed_samples) / (f64::from(tree.missed_samples) + f64::from(tree.samples));
        line(out, paint(WARN, format!("  {} samples missed ({:.0} %)", tree.missed_samples, share * 100.0)));
    }
}

/// The direct children of a node: those shown and those folded.
#[derive(Default)]
struct Below {
    shown: u32,
    folded_calls: u32,
    folded_ms: f64,
    folded_by_frame: BTreeMap<u32, f64>,
}

fn below(nodes: &[NodeView], at: usize, limit: f64) -> Below {
    let parent = &nodes[at];
    let mut below = Below::default();
    for node in nodes[at + 1..].iter().take_while(|n| n.depth > parent.depth) {
        if node.depth != parent.depth + 1 {
            continue;
        }
        if node.total_ms >= limit {
            below.shown += 1;
        } else {
            below.folded_calls += 1;
            below.folded_ms += node.total_ms;
            *below.folded_by_frame.entry(node.frame).or_default() += node.total_ms;
        }
    }
    below
}

impl Below {
    /// Whether the children do not simply continue the parent's path.
    fn branches(&self, parent: &NodeView, limit: f64) -> bool {
        self.shown > 1 || parent.self_ms > limit || self.folded_ms >= limit.max(f64::MIN_POSITIVE)
    }

    /// The frame with most of the folded time and its share; `None` when the folded calls do not matter.
    fn heaviest_folded(&self, limit: f64) -> Option<(u32, f64)> {
        if self.folded_ms < limit {
            return None;
        }
        self.folded_by_frame.iter().map(|(f, ms)| (*f, *ms)).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}
