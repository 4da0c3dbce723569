//! Rebuilding the stacks of a report from retraced frames.

use super::stack_frames::Retracer;
use crate::load::limits;
use crate::load::sampled_tree::{TreeBudget, read_tree};
use crate::load::stack_frames::{FrameCollector, NO_LOCATION};
use crate::model::AppPackages;
use loopbox_format::model::{LocationId, LockChain, OtherThreads, Report, StackTree, TreeNode, Uptime};
use loopbox_format::stacks::TreeMerger;

/// The report's stack trees, with their frames retraced.
pub(super) fn trees(report: &Report, retracer: &mut Retracer<'_>) -> Vec<StackTree> {
    let mut budget = TreeBudget::default();
    let mut trees = Vec::with_capacity(report.trees.len().min(limits::TREES));
    for tree in report.trees.iter().rev().take(limits::TREES) {
        // Frames only serve to get back to the locations that they were read from.
        let packages = AppPackages::default();
        let mut frames = FrameCollector::new(&report.symbols, &packages);
        let read = read_tree(tree, Uptime::MAX, &mut frames, &mut budget);
        if read.error.is_some() {
            trees.push(renamed(tree, report, retracer));
            continue;
        }
        let mut merger = TreeMerger::new(usize::MAX);
        let mut push = |stack: &[LocationId], samples: u32| {
            for _ in 0..samples {
                merger.push(stack.iter().copied());
            }
        };
        let mut at = 0;
        for run in read.stack_runs() {
            let stack: Vec<LocationId> =
                read.stack(run.top).into_iter().map(|frame| frames.location(frame)).collect();
            push(&[], run.start - at);
            push(&retracer.stack(&report.symbols, &stack), run.end - run.start);
            at = run.end;
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

/// The report's lock chain, with the stacks of the holders retraced.
pub(super) fn locks(report: &Report, retracer: &mut Retracer<'_>) -> LockChain {
    let mut locks = report.locks.clone();
    locks.waits.truncate(limits::LOCK_WAITS);
    for holder in locks.waits.iter_mut().filter_map(|wait| wait.holder.as_mut()) {
        holder.stack.truncate(limits::STACK_DEPTH);
        holder.stack = retracer.stack(&report.symbols, &holder.stack);
    }
    locks
}

/// The report's other threads, with their stacks retraced.
pub(super) fn threads(report: &Report, retracer: &mut Retracer<'_>) -> OtherThreads {
    let mut threads = report.threads.clone();
    threads.threads.truncate(limits::THREADS);
    for stack in threads.threads.iter_mut().filter_map(|thread| thread.stack.as_mut()) {
        stack.truncate(limits::STACK_DEPTH);
        *stack = retracer.stack(&report.symbols, stack);
    }
    threads
}

/// An invalid tree with its frames renamed one by one. It keeps its shape, and so stays invalid in the same
/// way.
fn renamed(tree: &StackTree, report: &Report, retracer: &mut Retracer<'_>) -> StackTree {
    let nodes = tree.nodes.iter().take(limits::NODES + 1).map(|node| {
        let location = retracer.stack(&report.symbols, &[node.location]).first().copied();
        TreeNode { location: location.unwrap_or(NO_LOCATION), ..*node }
    });
    StackTree { nodes: nodes.collect(), ..tree.clone() }
}
