//! The sampled stack trees.

use crate::model::message_name::tree_title;
use crate::model::name::NameOrUnknown;
use crate::model::time::{ms, ms_between};
use crate::model::token::Key;
use crate::model::{Analysis, FrameId, MergedNode, MergedTree, SampledNode, SampledTree};
use loopbox_format::model::StackSource;
use schemars::JsonSchema;
use serde::Serialize;

/// The sampled stacks of one message.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TreeView {
    /// The number of the message; of what ran outside of messages the one before it, `after-45`.
    token: Key,
    /// What the stacks are of, for a reader: `#46 com.example.Checkout (running at the dump)`.
    title: String,
    /// When its dispatch started, relative to the dump.
    at_ms: f64,
    /// How the stacks were taken.
    source: NameOrUnknown<StackSource>,
    /// The number of samples.
    samples: u32,
    /// When the first sample was taken, relative to the dump.
    first_sample_at_ms: f64,
    /// The time that the samples cover.
    total_ms: f64,
    /// The sampling interval that was asked for at the end; it doubles for very long messages.
    interval_ms: f64,
    /// The median interval that was reached; null with fewer than two samples.
    reached_interval_ms: Option<f64>,
    /// The number of samples that were due and could not be taken.
    missed_samples: u32,
    /// The longest time for which one sample suspended the main thread.
    longest_stop_ms: f64,
    /// The time for which all samples together suspended it.
    total_stop_ms: f64,
    /// The nodes in pre-order.
    nodes: Vec<NodeView>,
    /// The path of the heaviest calls, outermost frame first; a method that calls itself is one entry.
    hot_path: Vec<HotFrame>,
}

/// One frame over a run of consecutive samples.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NodeView {
    /// The index in [`super::ReportView::frames`].
    frame: FrameId,
    /// The number of callers; 0 for a root.
    depth: u32,
    /// When its first sample was taken, relative to the first of the tree.
    from_ms: f64,
    /// The time that its samples cover.
    total_ms: f64,
    /// The part of `total_ms` with the frame on top of the stack.
    self_ms: f64,
    /// The number of its samples.
    samples: u32,
}

/// A frame of the hot path.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HotFrame {
    /// The index in [`super::ReportView::frames`].
    frame: FrameId,
    /// The time in the method and in what it calls, over the whole message.
    total_ms: f64,
    /// The time with the method on top of the stack.
    self_ms: f64,
    /// How often the method called itself at most, itself counted.
    calls: u32,
}

impl TreeView {
    pub(super) fn new(a: &Analysis, tree: &SampledTree) -> Self {
        let merged = MergedTree::folded([tree], &a.frames);
        Self {
            token: Key(tree.token),
            title: tree_title(a, tree.token),
            at_ms: ms_between(tree.start_ns, a.dump_ns),
            source: NameOrUnknown(tree.source),
            samples: tree.samples(),
            first_sample_at_ms: ms_between(tree.first_sample_ns(), a.dump_ns),
            total_ms: ms(tree.total_ns()),
            interval_ms: ms(tree.interval_ns()),
            reached_interval_ms: tree.reached_interval_ns().map(ms),
            missed_samples: tree.missed_samples,
            longest_stop_ms: ms(tree.longest_suspend_ns),
            total_stop_ms: ms(tree.total_suspend_ns),
            nodes: tree.nodes.iter().map(|node| NodeView::new(tree, node)).collect(),
            hot_path: merged.hot_path().into_iter().map(HotFrame::new).collect(),
        }
    }
}

impl NodeView {
    fn new(tree: &SampledTree, node: &SampledNode) -> Self {
        Self {
            frame: node.frame,
            depth: node.depth,
            from_ms: ms(tree.span_ns(0, node.start)),
            total_ms: ms(node.total_ns),
            self_ms: ms(node.self_ns),
            samples: node.end - node.start,
        }
    }
}

impl HotFrame {
    fn new(node: &MergedNode) -> Self {
        Self { frame: node.frame, total_ms: ms(node.total_ns), self_ms: ms(node.self_ns), calls: node.calls }
    }
}
