//! Growing stack trees anew from retraced stacks.

use super::frames::Retracer;
use crate::bounds;
use crate::frame::Frames;
use crate::tree::Tree;
use loopbox_format::model::{Report, StackTree, TreeNode};

/// The report's trees with retraced stacks.
pub(super) fn trees(report: &Report, retracer: &mut Retracer<'_>) -> Vec<StackTree> {
    let mut cells = bounds::CELLS;
    let mut trees = Vec::with_capacity(report.trees.len().min(bounds::TREES));
    for tree in report.trees.iter().rev().take(bounds::TREES) {
        // Frames are only used to get back to the locations they were read from.
        let mut frames = Frames::default();
        let read = Tree::read(tree, &report.symbols, &mut frames, &mut cells);
        if read.flaw.is_some() {
            trees.push(renamed(tree, report, retracer));
            continue;
        }
        let locations = frames.locations();
        let mut grown = Grown::default();
        for (top, begin, end) in read.tops() {
            let stack: Vec<u32> = read.stack(top).iter().map(|&frame| locations[frame as usize]).collect();
            grown.push(begin, end, &retracer.stack(&report.symbols, &stack));
        }
        let samples = read.samples() as usize;
        trees.push(StackTree {
            nodes: grown.nodes,
            sample_deltas_ns: tree.sample_deltas_ns.iter().take(samples).copied().collect(),
            ..tree.clone()
        });
    }
    trees.reverse();
    trees
}

/// A tree that contradicts itself, with its shape and so its flaw kept: every frame becomes one.
fn renamed(tree: &StackTree, report: &Report, retracer: &mut Retracer<'_>) -> StackTree {
    let nodes = tree.nodes.iter().take(bounds::NODES + 1).map(|node| {
        let location = retracer.stack(&report.symbols, &[node.location]).first().copied();
        TreeNode { location: location.unwrap_or(u32::MAX), ..*node }
    });
    StackTree { nodes: nodes.collect(), ..tree.clone() }
}

/// A tree of runs of equal frames, in pre-order, grown from stacks in order of time.
#[derive(Default)]
struct Grown {
    nodes: Vec<TreeNode>,
    open: Vec<Open>,
    /// Where the next root may begin.
    cursor: u32,
}

struct Open {
    node: usize,
    location: u32,
    end: u32,
    /// Where the next child may begin.
    cursor: u32,
}

impl Grown {
    /// Adds samples `begin..end`, which lie after all added before and have this stack, bottom first.
    fn push(&mut self, begin: u32, end: u32, stack: &[u32]) {
        let goes_on = |(open, location): &(&Open, &u32)| open.location == **location && open.end == begin;
        let common = self.open.iter().zip(stack).take_while(goes_on).count();
        self.open.truncate(common);
        for open in &mut self.open {
            self.nodes[open.node].count += end - begin;
            open.end = end;
        }
        for &location in stack.iter().skip(common) {
            let cursor = match self.open.last_mut() {
                Some(parent) => {
                    self.nodes[parent.node].children += 1;
                    parent.cursor
                }
                None => self.cursor,
            };
            self.open.push(Open { node: self.nodes.len(), location, end, cursor: begin });
            self.nodes.push(TreeNode { location, skip: begin - cursor, count: end - begin, children: 0 });
        }
        if let Some((_, callers)) = self.open.split_last_mut() {
            callers.iter_mut().for_each(|caller| caller.cursor = end);
            self.cursor = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::test_support::ReportBuilder;
    use proptest::prelude::*;

    proptest! {
        /// Growing a tree from its own stacks gives the same stacks at the same samples.
        #[test]
        fn a_tree_grown_from_its_stacks_has_the_same_stacks(
            stacks in proptest::collection::vec((proptest::collection::vec(0_u32..3, 0..5), 1_u32..4), 1..12),
        ) {
            let mut grown = Grown::default();
            let mut want: Vec<Vec<u32>> = Vec::new();
            let mut at = 0;
            for (stack, count) in &stacks {
                if !stack.is_empty() {
                    grown.push(at, at + count, stack);
                }
                want.extend((0..*count).map(|_| stack.clone()));
                at += count;
            }
            let report = ReportBuilder::new().running(1, 1_000).tree(1, &[("a.A.a b.B.b c.C.c", at)]).with(|r| {
                r.trees[0].nodes = grown.nodes.clone();
            });
            let a = Analysis::new(&report.build());
            let tree = &a.trees[0];
            prop_assert_eq!(tree.flaw, None);
            let mut got: Vec<Vec<u32>> = vec![Vec::new(); at as usize];
            let class = |frame: u32| u32::from(a.frames[frame as usize].class.as_bytes()[0] - b'a');
            for (top, begin, end) in tree.tops() {
                let stack: Vec<u32> = tree.stack(top).into_iter().map(class).collect();
                got[begin as usize..end as usize].fill(stack);
            }
            prop_assert_eq!(got, want);
            // As few nodes as there can be: no two neighbours of the same caller that could be one.
            let joins = tree.nodes.iter().filter(|l| {
                let next = tree.nodes.get(l.next as usize);
                next.is_some_and(|r| r.parent == l.parent && r.frame == l.frame && r.begin == l.end)
            });
            prop_assert_eq!(joins.count(), 0);
        }
    }
}
