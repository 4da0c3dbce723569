//! Collapsed stacks: one line a stack, frames apart by `;` from the bottom up, a space and its time in microseconds.
//!
//! The format of Brendan Gregg's stackcollapse scripts, read by flame graph tools, speedscope and many others.

use crate::{Frame, Merged, Tree};
use std::fmt::Write as _;

/// The name of a frame without what would end it early: `;` parts frames, a space the count.
fn label(frame: &Frame) -> String {
    frame.qualified().replace(';', ":").replace(' ', "_")
}

fn labels(frames: &[Frame]) -> Vec<String> {
    frames.iter().map(label).collect()
}

/// The stacks of all trees, equal ones summed up, sorted.
pub(crate) fn merged(trees: &[Tree], frames: &[Frame]) -> String {
    let labels = labels(frames);
    let merged = Merged::new(trees, frames);
    let mut lines: Vec<String> = Vec::new();
    let mut path: Vec<u32> = Vec::new();
    for (i, node) in merged.nodes.iter().enumerate().filter(|(_, node)| node.self_ns >= 1_000) {
        path.clear();
        let mut at = Some(i as u32);
        while let Some(here) = at {
            path.push(here);
            at = merged.nodes[here as usize].parent;
        }
        let names = path.iter().rev().map(|&n| labels[merged.nodes[n as usize].frame as usize].as_str());
        lines.push(format!("{} {}\n", names.collect::<Vec<_>>().join(";"), node.self_ns / 1_000));
    }
    lines.sort_unstable();
    lines.concat()
}

/// The stacks of one tree in order of time, each run of equal stacks on a line of its own. Time without a stack is
/// left out.
pub(crate) fn timed(tree: &Tree, frames: &[Frame]) -> String {
    let labels = labels(frames);
    let mut out = String::new();
    for (top, begin, end) in tree.tops() {
        let us = tree.span_ns(begin, end) / 1_000;
        let stack: Vec<&str> = tree.stack(top).iter().map(|&f| labels[f as usize].as_str()).collect();
        let _ = writeln!(out, "{} {us}", stack.join(";"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analysis, test_support::ReportBuilder};

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
    fn merged_stacks_are_summed_over_time_and_trees() {
        let a = analysis();
        assert_eq!(merged(&a.trees, &a.frames), "a.A.a 10000\na.A.a;b.B.b 70000\n");
    }

    #[test]
    fn timed_stacks_keep_their_order() {
        let a = analysis();
        assert_eq!(timed(&a.trees[1], &a.frames), "a.A.a;b.B.b 20000\na.A.a 10000\na.A.a;b.B.b 30000\n");
    }

    #[test]
    fn a_name_cannot_forge_a_frame_or_a_count() {
        let mut report = ReportBuilder::new().running(1, 100).tree(1, &[("a.A.a", 1)]).build();
        report.report.symbols.methods[0].name = "x;y 99\nz 5".into();
        let a = Analysis::new(&report);
        assert_eq!(merged(&a.trees, &a.frames), "a.A.x:y_99_z_5 10000\n");
    }
}
