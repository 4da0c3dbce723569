//! Stack trees in order of time, indented where the path branches, with short calls folded.

use super::layout::{Options, heading, line};
use super::style::{NAME, QUIET, WARN, paint, wall_time};
use crate::model::plural::plural;
use crate::model::time::{format_ms, format_ns, format_relative, ms, ms_between};
use crate::model::{Analysis, FrameId, MergedTree, SampledNode, SampledTree, token};
use loopbox_format::model::StackSource;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The share of a tree below which a node is folded away.
const FOLD: f64 = 0.01;
/// The deepest indentation, because a terminal has a limited number of columns.
const MAX_INDENT: usize = 60;

/// Writes a tree.
pub(super) fn write(out: &mut String, a: &Analysis, tree: &SampledTree, options: Options) {
    if tree.source == StackSource::SystemTrace {
        line(out, paint(QUIET, "  no stack of the recorder's own: ANR TRACE below shows where main was"));
        return;
    }
    summary(out, tree);
    if tree.nodes.is_empty() {
        return;
    }
    line(out, paint(QUIET, format!("  {:>10} {:>8} {:>5} {:>8}  frame", "from", "total", "", "self")));
    let total_ms = ms(tree.total_ns());
    let limit_ms = if options.full { 0.0 } else { total_ms * FOLD };
    let from_ns =
        |node: &SampledNode| tree.sample_ns.get(node.start as usize).copied().unwrap_or(tree.start_ns);
    // For each open depth: how far its children are indented.
    let mut indents: Vec<usize> = Vec::new();
    for (i, node) in tree.nodes.iter().enumerate().filter(|(_, node)| ms(node.total_ns) >= limit_ms) {
        indents.truncate(node.depth as usize);
        let indent = indents.last().copied().unwrap_or(0).min(MAX_INDENT);
        let node_ms = ms(node.total_ns);
        let share = if total_ms > 0.0 { 100.0 * node_ms / total_ms } else { 0.0 };
        let own = if ms(node.self_ns) > 0.0 { format_ns(node.self_ns) } else { String::new() };
        let at = format!("{:+.3} s", ms_between(from_ns(node), tree.start_ns) / 1e3);
        let total = paint(wall_time(node_ms), format!("{:>8}", format_ms(node_ms)));
        let name = a.frames[node.frame].full();
        line(out, format!("  {at:>10} {total} {share:>4.0}% {own:>8}  {:indent$}{name}", ""));
        let below = below(&tree.nodes, i, limit_ms);
        let indent = indent + if below.branches(node, limit_ms) { 2 } else { 0 };
        if let Some((frame, folded_ms)) = below.heaviest_folded(limit_ms) {
            let calls = below.folded_calls;
            let calls = if calls == 1 { "a shorter call".into() } else { format!("{calls} shorter calls") };
            let text = format!(
                "  {:>10} {:>8} {:>5} {:>8}  {:indent$}… {calls}, {} of it in {}",
                "",
                format_ms(below.folded_ms),
                "",
                "",
                "",
                format_ms(folded_ms),
                a.frames[frame].short()
            );
            line(out, paint(QUIET, text));
        }
        indents.push(indent);
    }
}

/// Writes only the heaviest path: a line for each frame whose time differs from its caller's.
fn write_hot_path(out: &mut String, a: &Analysis, tree: &SampledTree) {
    summary(out, tree);
    let merged = MergedTree::folded([tree], &a.frames);
    let path = merged.hot_path();
    for (i, hot) in path.iter().enumerate() {
        let next = path.get(i + 1);
        if next.is_some_and(|next| ms(next.total_ns) >= ms(hot.total_ns) * 0.98) {
            continue;
        }
        let total = paint(wall_time(ms(hot.total_ns)), format!("{:>8}", format_ns(hot.total_ns)));
        let calls = if hot.calls > 1 { format!(" ×{}", hot.calls) } else { String::new() };
        line(out, format!("    {total}  {}{calls}", paint(NAME, a.frames[hot.frame].full())));
    }
    if path.is_empty() {
        line(out, paint(QUIET, "    no stack"));
    }
}

pub(super) fn write_earlier(out: &mut String, a: &Analysis, options: Options) {
    let current = a.current_token();
    let others: Vec<_> = a.trees.iter().filter(|tree| Some(tree.token) != current).collect();
    if others.is_empty() {
        return;
    }
    let hint = if options.full { "" } else { ", the heaviest path of each (whole trees with --full)" };
    heading(out, "EARLIER STACKS", &format!("{}{hint}", plural(others.len() as u64, "tree")));
    for tree in others {
        let at = format_relative(ms_between(tree.start_ns, a.dump_ns));
        line(out, format!("  {}, {at}", token::title(tree.token)));
        if options.full {
            write(out, a, tree, options);
        } else {
            write_hot_path(out, a, tree);
        }
    }
}

fn summary(out: &mut String, tree: &SampledTree) {
    let how = match tree.source {
        StackSource::Art => "through ART",
        StackSource::JavaApi => "by Thread.getStackTrace",
        _ => "in a way unknown to this version of loopbox",
    };
    let samples = tree.samples();
    let reached_ns = tree.reached_interval_ns();
    let stacks = plural(samples.into(), "stack");
    let mut text = format!("  {stacks} over {}, {how}", format_ns(tree.total_ns()));
    if let Some(reached_ns) = reached_ns {
        let (reached, requested) = (format_ns(reached_ns), format_ns(tree.interval_ns()));
        let _ = write!(text, ", one every {reached} (requested {requested})");
    }
    let longest_ms = ms(tree.longest_suspend_ns);
    if longest_ms > 0.0 {
        let _ = write!(text, ", main suspended for at most {longest_ms:.3} ms");
    }
    line(out, paint(QUIET, text));
    if let Some(weak) = weak(samples, reached_ns.map(ms)) {
        line(out, paint(WARN, weak));
    }
    if tree.missed_samples > 0 {
        let share = f64::from(tree.missed_samples) / (f64::from(tree.missed_samples) + f64::from(samples));
        let missed = plural(tree.missed_samples.into(), "sample");
        line(out, paint(WARN, format!("  {missed} missed ({:.0} %)", share * 100.0)));
    }
}

/// A warning that the times and shares of a tree are inexact, because its stacks are few and far apart. The
/// causes may be that the machine had no processor to spare, or that stopping main takes long on this
/// machine.
fn weak(samples: u32, gap_ms: Option<f64>) -> Option<String> {
    /// Stacks that are further apart than this are too rare. The sampler intends one every 10 ms.
    const FAR_MS: f64 = 50.0;
    /// With this many samples a share is accurate to five per cent.
    const ENOUGH: u32 = 400;
    let gap_ms = gap_ms.filter(|&gap_ms| gap_ms >= FAR_MS && (2..ENOUGH).contains(&samples))?;
    // Twice the standard deviation of a share of one half, of as many independent samples.
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

fn below(nodes: &[SampledNode], at: usize, limit_ms: f64) -> Below {
    let parent = &nodes[at];
    let mut below = Below::default();
    for node in nodes[at + 1..].iter().take_while(|n| n.depth > parent.depth) {
        if node.depth != parent.depth + 1 {
            continue;
        }
        let total_ms = ms(node.total_ns);
        if total_ms >= limit_ms {
            below.shown += 1;
        } else {
            below.folded_calls += 1;
            below.folded_ms += total_ms;
            *below.folded_by_frame.entry(node.frame).or_default() += total_ms;
        }
    }
    below
}

impl Below {
    /// Whether the children branch off the parent's path.
    fn branches(&self, parent: &SampledNode, limit_ms: f64) -> bool {
        self.shown > 1 || ms(parent.self_ns) > limit_ms || self.folded_ms >= limit_ms.max(f64::MIN_POSITIVE)
    }

    /// The frame with most of the folded time and its share; `None` when the folded calls do not matter.
    fn heaviest_folded(&self, limit_ms: f64) -> Option<(FrameId, f64)> {
        if self.folded_ms < limit_ms {
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
