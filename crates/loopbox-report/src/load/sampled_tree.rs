//! Reading a stack tree: every index is checked, the times are summed up.

use super::limits;
use super::stack_frames::FrameCollector;
use crate::model::{FrameId, SampledNode, SampledTree};
use loopbox_format::model::{StackTree, TreeNode, Uptime};
use loopbox_format::problem::sample_times;

/// The part of [`limits::NODE_DEPTH_SUM`] that is left for the trees of one report.
#[derive(Debug)]
pub(crate) struct TreeBudget(usize);

impl Default for TreeBudget {
    fn default() -> Self {
        Self(limits::NODE_DEPTH_SUM)
    }
}

/// Reads the decoded tree of a message that ended at `end_ns`. When the tree is invalid, its consistent part
/// is kept, and [`SampledTree::error`] says what is wrong.
pub(crate) fn read_tree(
    tree: &StackTree,
    end_ns: Uptime,
    frames: &mut FrameCollector<'_>,
    budget: &mut TreeBudget,
) -> SampledTree {
    let mut error =
        (tree.sample_deltas_ns.len() > limits::SAMPLES).then_some("it has more samples than the limit");
    let sample_ns = sample_times(tree, end_ns, limits::SAMPLES);
    let samples = sample_ns.len().saturating_sub(1) as u32;
    let mut reader =
        TreeReader { nodes: Vec::new(), unfinished: Vec::new(), samples, root_cursor: 0, error: None };
    for node in &tree.nodes {
        if reader.nodes.len() >= limits::NODES || budget.0 == 0 {
            error = error.or(Some("it has more nodes than the limit"));
            break;
        }
        let depth = reader.add(node, || frames.frame(node.location));
        budget.0 = budget.0.saturating_sub(depth + 1);
    }
    reader.finish();
    let mut read = SampledTree {
        token: tree.token,
        start_ns: tree.start_ns,
        source: tree.source,
        intervals: tree.phases.iter().take(limits::SHORT_LIST).copied().collect(),
        nodes: reader.nodes,
        sample_ns,
        missed_samples: tree.missed_samples,
        longest_suspend_ns: tree.longest_stop_ns,
        total_suspend_ns: tree.total_stop_ns,
        entry: None,
        error: error.or(reader.error),
    };
    sum_up(&mut read);
    read
}

/// Computes the times of all nodes from those of the samples.
fn sum_up(tree: &mut SampledTree) {
    for i in 0..tree.nodes.len() {
        let (start, end) = (tree.nodes[i].start, tree.nodes[i].end);
        let (mut children_ns, mut children_samples) = (0_u64, 0);
        for child in tree.children(Some(i as u32)) {
            let child = &tree.nodes[child as usize];
            children_ns = children_ns.saturating_add(tree.span_ns(child.start, child.end));
            children_samples += child.end - child.start;
        }
        let total_ns = tree.span_ns(start, end);
        let node = &mut tree.nodes[i];
        node.total_ns = total_ns;
        node.self_ns = total_ns.saturating_sub(children_ns);
        node.self_samples = (end - start).saturating_sub(children_samples);
    }
}

/// A node of which not all children have been read.
struct UnfinishedNode {
    /// The index of the node in the result; `None` for a node that was not kept.
    index: Option<u32>,
    children_left: u32,
    cursor: u32,
    end: u32,
}

struct TreeReader {
    nodes: Vec<SampledNode>,
    unfinished: Vec<UnfinishedNode>,
    samples: u32,
    root_cursor: u32,
    error: Option<&'static str>,
}

impl TreeReader {
    fn close_finished(&mut self) {
        while let Some(node) = self.unfinished.pop_if(|node| node.children_left == 0) {
            self.close(&node);
        }
    }

    fn close(&mut self, node: &UnfinishedNode) {
        let end = self.nodes.len() as u32;
        if let Some(node) = node.index.and_then(|i| self.nodes.get_mut(i as usize)) {
            node.subtree_end = end;
        }
    }

    /// Adds the next node of the pre-order and returns its depth.
    fn add(&mut self, node: &TreeNode, frame: impl FnOnce() -> FrameId) -> usize {
        self.close_finished();
        let depth = self.unfinished.len();
        let parent = self.unfinished.last().and_then(|caller| caller.index);
        let (cursor, limit) = match self.unfinished.last_mut() {
            Some(caller) => {
                caller.children_left -= 1;
                (&mut caller.cursor, caller.end)
            }
            None => (&mut self.root_cursor, self.samples),
        };
        let start = cursor.saturating_add(node.skip);
        let end = start.saturating_add(node.count);
        if end > limit {
            self.error = Some("a node has more samples than its caller");
        } else if node.count == 0 {
            self.error = Some("a node has no sample");
        }
        let (start, end) = (start.min(limit), end.min(limit));
        *cursor = end;
        let keep = end > start && depth < limits::STACK_DEPTH;
        if depth >= limits::STACK_DEPTH {
            self.error = Some("it is deeper than the limit");
        }
        let index = keep.then_some(self.nodes.len() as u32);
        if keep {
            let (depth, frame) = (depth as u32, frame());
            self.nodes.push(SampledNode {
                frame,
                parent,
                depth,
                start,
                end,
                subtree_end: 0,
                total_ns: 0,
                self_ns: 0,
                self_samples: 0,
            });
        }
        self.unfinished.push(UnfinishedNode { index, children_left: node.children, cursor: start, end });
        depth.min(limits::STACK_DEPTH)
    }

    fn finish(&mut self) {
        self.close_finished();
        if !self.unfinished.is_empty() {
            self.error = Some("it ends before all children of its nodes");
        }
        while let Some(node) = self.unfinished.pop() {
            self.close(&node);
        }
    }
}
