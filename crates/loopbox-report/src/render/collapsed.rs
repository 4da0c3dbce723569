//! Collapsed stacks: one line for each stack. The line has the frames, outermost first and separated by `;`,
//! then a space, and then the stack's time in microseconds.
//!
//! This is the format of Brendan Gregg's stackcollapse scripts, which flame graph tools, speedscope and many
//! others read.

use crate::model::harmless;
use crate::model::{Frame, FrameTable, MergedTree, SampledTree};
use std::fmt::Write as _;

/// The name of a frame without the separators of the format: `;` ends a frame, a space ends the stack, and a
/// line break ends the time.
fn label(frame: &Frame) -> String {
    harmless(&frame.qualified()).replace(';', ":").replace(char::is_whitespace, "_")
}

fn labels(frames: &FrameTable) -> Vec<String> {
    frames.iter().map(label).collect()
}

/// The stacks of all trees, equal ones summed up, sorted.
pub(crate) fn merged(trees: &[SampledTree], frames: &FrameTable) -> String {
    let labels = labels(frames);
    let merged = MergedTree::new(trees, frames);
    let mut lines: Vec<String> = Vec::new();
    let mut path: Vec<u32> = Vec::new();
    for (i, node) in merged.nodes.iter().enumerate().filter(|(_, node)| node.self_ns >= 1_000) {
        path.clear();
        let mut at = Some(i as u32);
        while let Some(here) = at {
            path.push(here);
            at = merged.nodes[here as usize].parent;
        }
        let names = path.iter().rev().map(|&n| labels[merged.nodes[n as usize].frame.index()].as_str());
        lines.push(format!("{} {}\n", names.collect::<Vec<_>>().join(";"), node.self_ns / 1_000));
    }
    lines.sort_unstable();
    lines.concat()
}

/// The stacks of one tree in order of time, each run of equal stacks on its own line. Time without a stack is
/// left out.
pub(crate) fn in_time_order(tree: &SampledTree, frames: &FrameTable) -> String {
    let labels = labels(frames);
    let mut out = String::new();
    for run in tree.stack_runs() {
        let us = tree.span_ns(run.start, run.end) / 1_000;
        let stack: Vec<&str> = tree.stack(run.top).iter().map(|f| labels[f.index()].as_str()).collect();
        let _ = writeln!(out, "{} {us}", stack.join(";"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Analysis;
    use crate::test_support::ReportBuilder;

    fn analysis() -> Analysis {
        let report = ReportBuilder::new()
            .single("a.H", 200, 100)
            .running(43, 1_000)
            .tree(1, &[("a.A.a b.B.b", 2)])
            .tree(43, &[("a.A.a b.B.b", 2), ("a.A.a", 1), ("a.A.a b.B.b:7", 3)])
            .build();
        Analysis::new(&report)
    }

    #[test]
    fn merged_sums_up_over_time_and_trees() {
        let a = analysis();
        assert_eq!(merged(&a.trees, &a.frames), "a.A.a 10000\na.A.a;b.B.b 70000\n");
    }

    #[test]
    fn in_time_order_keeps_runs_apart() {
        let a = analysis();
        assert_eq!(
            in_time_order(&a.trees[1], &a.frames),
            "a.A.a;b.B.b 20000\na.A.a 10000\na.A.a;b.B.b 30000\n"
        );
    }

    #[test]
    fn label_cannot_forge_a_frame_or_a_count() {
        let mut report = ReportBuilder::new().running(1, 100).tree(1, &[("a.A.a", 1)]).build();
        report.report.symbols.methods[0].name = "x;y 99\nz 5".into();
        let a = Analysis::new(&report);
        assert_eq!(merged(&a.trees, &a.frames), "a.A.x:y_99_z_5 10000\n");
    }
}
