//! Growing stack trees anew from retraced stacks.

use super::frames::Retracer;
use crate::bounds;
use crate::frame::Frames;
use crate::tree::Tree;
use loopbox_format::model::{LockChain, OtherThreads, Report, StackTree, TreeNode};
use loopbox_format::stacks::TreeMerger;

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
        let mut merger = TreeMerger::new(usize::MAX);
        let mut push = |stack: &[u32], samples: u32| {
            for _ in 0..samples {
                merger.push(stack.iter().copied());
            }
        };
        let mut at = 0;
        for (top, begin, end) in read.tops() {
            let stack: Vec<u32> = read.stack(top).iter().map(|&frame| locations[frame as usize]).collect();
            push(&[], begin - at);
            push(&retracer.stack(&report.symbols, &stack), end - begin);
            at = end;
        }
        push(&[], read.samples() - at);
        let samples = read.samples() as usize;
        trees.push(StackTree {
            nodes: merger.nodes().to_vec(),
            sample_deltas_ns: tree.sample_deltas_ns.iter().take(samples).copied().collect(),
            ..tree.clone()
        });
    }
    trees.reverse();
    trees
}

/// The lock chain with retraced stacks of the holders.
pub(super) fn locks(report: &Report, retracer: &mut Retracer<'_>) -> LockChain {
    let mut locks = report.locks.clone();
    locks.waits.truncate(bounds::LOCKS);
    for holder in locks.waits.iter_mut().filter_map(|wait| wait.holder.as_mut()) {
        holder.stack.truncate(bounds::DEPTH);
        holder.stack = retracer.stack(&report.symbols, &holder.stack);
    }
    locks
}

/// The other threads with retraced stacks.
pub(super) fn threads(report: &Report, retracer: &mut Retracer<'_>) -> OtherThreads {
    let mut threads = report.threads.clone();
    threads.threads.truncate(bounds::THREADS);
    for stack in threads.threads.iter_mut().filter_map(|thread| thread.stack.as_mut()) {
        stack.truncate(bounds::DEPTH);
        *stack = retracer.stack(&report.symbols, stack);
    }
    threads
}

/// A tree that contradicts itself, with its shape and so its flaw kept: every frame becomes one.
fn renamed(tree: &StackTree, report: &Report, retracer: &mut Retracer<'_>) -> StackTree {
    let nodes = tree.nodes.iter().take(bounds::NODES + 1).map(|node| {
        let location = retracer.stack(&report.symbols, &[node.location]).first().copied();
        TreeNode { location: location.unwrap_or(u32::MAX), ..*node }
    });
    StackTree { nodes: nodes.collect(), ..tree.clone() }
}
