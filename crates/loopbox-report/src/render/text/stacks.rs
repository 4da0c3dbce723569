//! Stack trees in order of time, indented where the path branches, with short calls folded.

use super::layout::{Options, heading, line};
use super::style::{NAME, QUIET, WARN, paint, wall_time};
use crate::model::plural::plural;
use crate::model::time::{format_ms, format_relative};
use crate::model::{Frame, FrameId, token};
use crate::render::json::{NodeView, ReportView, TreeView};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The share of a tree below which a node is folded away.
const FOLD: f64 = 0.01;
/// The deepest indentation, because a terminal has a limited number of columns.
const MAX_INDENT: usize = 60;

/// The whole tree.
pub(super) fn write(out: &mut String, view: &ReportView, tree: &TreeView, options: Options) {
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
        let own = if node.self_ms > 0.0 { format_ms(node.self_ms) } else { String::new() };
        let at = format!("{:+.3} s", (first_at + node.from_ms) / 1e3);
        let total = paint(wall_time(node.total_ms), format!("{:>8}", format_ms(node.total_ms)));
        line(
            out,
            format!("  {at:>10} {total} {share:>4.0}% {own:>8}  {:indent$}{}", "", name(view, node.frame)),
        );
        let below = below(&tree.nodes, i, limit);
        let indent = indent + if below.branches(node, limit) { 2 } else { 0 };
        if let Some((frame, total_ms)) = below.heaviest_folded(limit) {
            let calls = below.folded_calls;
            let calls = if calls == 1 { "a shorter call".into() } else { format!("{calls} shorter calls") };
            let most = view.frames.get(frame.index()).map(Frame::short).unwrap_or_default();
            let text = format!(
                "  {:>10} {:>8} {:>5} {:>8}  {:indent$}… {calls}, {} of it in {most}",
                "",
                format_ms(below.folded_ms),
                "",
                "",
                "",
                format_ms(total_ms)
            );
            line(out, paint(QUIET, text));
        }
        indents.push(indent);
    }
}

/// The heaviest path only: one line for each frame whose time differs from that of its caller.
fn write_hot_path(out: &mut String, view: &ReportView, tree: &TreeView) {
    summary(out, tree);
    let mut shown = f64::NAN;
    for (i, hot) in tree.hot_path.iter().enumerate() {
        let last = i + 1 == tree.hot_path.len();
        let next_differs = tree.hot_path.get(i + 1).is_some_and(|next| next.total_ms < hot.total_ms * 0.98);
        if !last && !next_differs {
            continue;
        }
        shown = hot.total_ms;
        let total = paint(wall_time(shown), format!("{:>8}", format_ms(shown)));
        let calls = if hot.calls > 1 { format!(" ×{}", hot.calls) } else { String::new() };
        line(out, format!("    {total}  {}{calls}", paint(NAME, name(view, hot.frame))));
    }
    if shown.is_nan() {
        line(out, paint(QUIET, "    no stack"));
    }
}

pub(super) fn write_earlier(out: &mut String, view: &ReportView, options: Options) {
    let current = view.current.token();
    let others: Vec<_> = view.trees.iter().filter(|tree| Some(tree.token) != current).collect();
    if others.is_empty() {
        return;
    }
    let hint = if options.full { "" } else { ", the heaviest path of each (whole trees with --full)" };
    let trees = if others.len() == 1 { "tree" } else { "trees" };
    heading(out, "EARLIER STACKS", &format!("{} {trees}{hint}", others.len()));
    for tree in others {
        line(out, format!("  {}, {}", token::title(tree.token), format_relative(tree.at_ms)));
        if options.full {
            write(out, view, tree, options);
        } else {
            write_hot_path(out, view, tree);
        }
    }
}

fn name(view: &ReportView, frame: FrameId) -> String {
    view.frames.get(frame.index()).map(Frame::full).unwrap_or_default()
}

fn summary(out: &mut String, tree: &TreeView) {
    let how = match tree.source {
        "art" => "through ART",
        "java_api" => "by Thread.getStackTrace",
        _ => "in a way unknown to this version of loopbox",
    };
    let stacks = if tree.samples == 1 { "stack" } else { "stacks" };
    let mut text = format!("  {} {stacks} over {}, {how}", tree.samples, format_ms(tree.total_ms));
    if let Some(reached) = tree.reached_interval_ms {
        let _ =
            write!(text, ", one every {} (requested {})", format_ms(reached), format_ms(tree.interval_ms));
    }
    if tree.longest_stop_ms > 0.0 {
        let _ = write!(text, ", main suspended for at most {:.3} ms", tree.longest_stop_ms);
    }
    line(out, paint(QUIET, text));
    if let Some(weak) = weak(tree.samples, tree.reached_interval_ms) {
        line(out, paint(WARN, weak));
    }
    if tree.missed_samples > 0 {
        let share =
            f64::from(tree.missed_samples) / (f64::from(tree.missed_samples) + f64::from(tree.samples));
        line(
            out,
            paint(
                WARN,
                format!("  {} missed ({:.0} %)", plural(tree.missed_samples.into(), "sample"), share * 100.0),
            ),
        );
    }
}

/// What a reader must not make of figures that rest on few stacks, far apart: a machine without a processor
/// to spare, or one on which stopping main takes long.
fn weak(samples: u32, gap_ms: Option<f64>) -> Option<String> {
    /// The sampler asks for one every 10 ms.
    const FAR_MS: f64 = 50.0;
    /// With so many a share is right to five per cent.
    const ENOUGH: u32 = 400;
    let gap_ms = gap_ms.filter(|&gap_ms| gap_ms >= FAR_MS && (2..ENOUGH).contains(&samples))?;
    // Twice the standard deviation of a share of one half, of as many independent looks.
    let percent = 100.0 / f64::from(samples).sqrt();
    Some(format!(
        "  weak: the stacks are {} apart, so a time is right to about that, and a share of all to ±{percent:.0} %",
        format_ms(gap_ms)
    ))
}

/// The direct children of a node: those shown and those folded.
#[derive(Default)]
struct Below {
    shown: u32,
    folded_calls: u32,
    folded_ms: f64,
    folded_by_frame: BTreeMap<FrameId, f64>,
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
    /// Whether the children branch off the parent's path.
    fn branches(&self, parent: &NodeView, limit: f64) -> bool {
        self.shown > 1 || parent.self_ms > limit || self.folded_ms >= limit.max(f64::MIN_POSITIVE)
    }

    /// The frame with most of the folded time and its share; `None` when the folded calls do not matter.
    fn heaviest_folded(&self, limit: f64) -> Option<(FrameId, f64)> {
        if self.folded_ms < limit {
            return None;
        }
        self.folded_by_frame.iter().map(|(f, ms)| (*f, *ms)).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

#[cfg(test)]
mod tests {
    use super::weak;

    #[test]
    fn few_stacks_far_apart_are_called_weak() {
        let said = weak(54, Some(156.0)).unwrap();
        assert_eq!(
            said,
            "  weak: the stacks are 156 ms apart, so a time is right to about that, and a share of all to ±14 %"
        );
        for (samples, gap_ms) in [(54, Some(10.0)), (400, Some(156.0)), (1, Some(156.0)), (54, None)] {
            assert_eq!(weak(samples, gap_ms), None);
        }
    }
}
