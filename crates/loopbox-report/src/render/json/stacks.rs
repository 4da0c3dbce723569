//! The sampled stack trees.

use crate::model::message_name::tree_title;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use crate::model::token::Key;
use crate::model::{Analysis, FrameId, MergedNode, MergedTree, SampledNode, SampledTree};
use loopbox_format::model::StackSource;

json_object! {
    /// The sampled stacks of one message.
    pub(crate) struct TreeView(a: &Analysis, tree: &SampledTree) {
        /// The number of the message. What ran outside of messages has the number of the message before it,
        /// `after-45`.
        token: Key = Key(tree.token),
        /// A title of the stacks for a reader: `#46 com.example.Checkout (running at the dump)`.
        title: String = tree_title(a, tree.token),
        /// When the dispatch of the message started, relative to the dump.
        at_ms: f64 = ms_between(tree.start_ns, a.dump_ns),
        /// How the stacks were taken.
        source: Name<StackSource> = Name(tree.source),
        /// The number of samples.
        samples: u32 = tree.samples(),
        /// When the first sample was taken, relative to the dump.
        first_sample_at_ms: f64 = ms_between(tree.first_sample_ns(), a.dump_ns),
        /// The time that the samples cover.
        total_ms: f64 = ms(tree.total_ns()),
        /// The sampling interval that was asked for at the end; it doubles for very long messages.
        interval_ms: f64 = ms(tree.interval_ns()),
        /// The median interval that was reached; null with fewer than two samples.
        reached_interval_ms: Option<f64> = tree.reached_interval_ns().map(ms),
        /// The number of samples that were due and could not be taken.
        missed_samples: u32 = tree.missed_samples,
        /// The longest time for which one sample suspended the main thread.
        longest_stop_ms: f64 = ms(tree.longest_suspend_ns),
        /// The time for which all samples together suspended the main thread.
        total_stop_ms: f64 = ms(tree.total_suspend_ns),
        /// The nodes in pre-order.
        nodes: Vec<NodeView> = tree.nodes.iter().map(|node| NodeView::new(tree, node)).collect(),
        /// The path of the heaviest calls, outermost frame first; a method that calls itself is one entry.
        hot_path: Vec<HotFrame> =
            MergedTree::folded([tree], &a.frames).hot_path().into_iter().map(HotFrame::new).collect(),
    }
}

json_object! {
    /// One frame over a run of consecutive samples.
    pub(crate) struct NodeView(tree: &SampledTree, node: &SampledNode) {
        /// The index of the frame in the `frames` of the report.
        frame: FrameId = node.frame,
        /// The number of callers; 0 for a root.
        depth: u32 = node.depth,
        /// When the first sample of the node was taken, relative to the first sample of the tree.
        from_ms: f64 = ms(tree.span_ns(0, node.start)),
        /// The time that the node's samples cover.
        total_ms: f64 = ms(node.total_ns),
        /// The part of `total_ms` with the frame on top of the stack.
        self_ms: f64 = ms(node.self_ns),
        /// The number of the node's samples.
        samples: u32 = node.end - node.start,
    }
}

json_object! {
    /// A frame of the hot path.
    pub(crate) struct HotFrame(node: &MergedNode) {
        /// The index of the frame in the `frames` of the report.
        frame: FrameId = node.frame,
        /// The time in the method and in what it calls, over the whole message.
        total_ms: f64 = ms(node.total_ns),
        /// The time with the method on top of the stack.
        self_ms: f64 = ms(node.self_ns),
        /// The depth of the method's deepest recursion; 1 when it did not call itself.
        calls: u32 = node.calls,
    }
}
