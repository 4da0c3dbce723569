//! The sampled stack trees.

use crate::model::message_name::tree_title;
use crate::model::time::{ms, ms_between};
use crate::model::{Analysis, FrameId, MergedTree, SampledTree, token};
use loopbox_format::model::{StackSource, Token};
use serde::Serialize;

/// The sampled stacks of one message.
#[derive(Debug, Clone, Serialize)]
pub struct TreeView {
    /// The number of the message; of what ran outside of messages the one before it, `after-45`.
    #[serde(serialize_with = "token::serialize")]
    pub token: Token,
    /// What the stacks are of, for a reader: `#46 com.example.Checkout (running at the dump)`.
    pub title: String,
    /// When its dispatch started, relative to the dump.
    pub at_ms: f64,
    /// How the stacks were taken: `art`, `java_api` or `unknown`.
    pub source: &'static str,
    /// The number of samples.
    pub samples: u32,
    /// When the first sample was taken, relative to the dump.
    pub first_sample_at_ms: f64,
    /// The time that the samples cover.
    pub total_ms: f64,
    /// The sampling interval that was asked for at the end; it doubles for very long messages.
    pub interval_ms: f64,
    /// The median interval that was reached; `None` with fewer than two samples.
    pub reached_interval_ms: Option<f64>,
    /// The number of samples that were due and could not be taken.
    pub missed_samples: u32,
    /// The longest time for which one sample suspended the main thread.
    pub longest_stop_ms: f64,
    /// The time for which all samples together suspended it.
    pub total_stop_ms: f64,
    /// The nodes in pre-order.
    pub nodes: Vec<NodeView>,
    /// The path of the heaviest calls, outermost frame first; a method that calls itself is one entry.
    pub hot_path: Vec<HotFrame>,
}

/// One frame over a run of consecutive samples.
#[derive(Debug, Clone, Serialize)]
pub struct NodeView {
    /// The index in [`super::ReportView::frames`].
    pub frame: FrameId,
    /// The number of callers; 0 for a root.
    pub depth: u32,
    /// When its first sample was taken, relative to the first of the tree.
    pub from_ms: f64,
    /// The time that its samples cover.
    pub total_ms: f64,
    /// The part of `total_ms` with the frame on top of the stack.
    pub self_ms: f64,
    /// The number of its samples.
    pub samples: u32,
}

/// A frame of the hot path.
#[derive(Debug, Clone, Serialize)]
pub struct HotFrame {
    /// The index in [`super::ReportView::frames`].
    pub frame: FrameId,
    /// The time in the method and in what it calls, over the whole message.
    pub total_ms: f64,
    /// The time with the method on top of the stack.
    pub self_ms: f64,
    /// How often the method called itself at most, itself counted.
    pub calls: u32,
}

impl TreeView {
    pub(super) fn new(a: &Analysis, tree: &SampledTree) -> Self {
        let mut gaps: Vec<u64> = tree
            .sample_ns
            .windows(2)
            .take(tree.samples().saturating_sub(1) as usize)
            .map(|pair| pair[1].since(pair[0]))
            .collect();
        gaps.sort_unstable();
        Self {
            token: tree.token,
            title: tree_title(a, tree.token),
            at_ms: ms_between(tree.start_ns, a.dump_ns),
            source: match tree.source {
                Some(StackSource::Art) => "art",
                Some(StackSource::JavaApi) => "java_api",
                _ => "unknown",
            },
            samples: tree.samples(),
            first_sample_at_ms: ms_between(
                tree.sample_ns.first().copied().unwrap_or(tree.start_ns),
                a.dump_ns,
            ),
            total_ms: ms(tree.total_ns()),
            interval_ms: ms(tree.intervals.last().map_or(0, |interval| interval.interval_ns)),
            reached_interval_ms: gaps.get(gaps.len() / 2).copied().map(ms),
            missed_samples: tree.missed_samples,
            longest_stop_ms: ms(tree.longest_suspend_ns),
            total_stop_ms: ms(tree.total_suspend_ns),
            nodes: tree
                .nodes
                .iter()
                .map(|node| NodeView {
                    frame: node.frame,
                    depth: node.depth,
                    from_ms: ms(tree.span_ns(0, node.start)),
                    total_ms: ms(node.total_ns),
                    self_ms: ms(node.self_ns),
                    samples: node.end - node.start,
                })
                .collect(),
            hot_path: MergedTree::folded([tree], &a.frames)
                .hot_path()
                .into_iter()
                .map(|hot| HotFrame {
                    frame: hot.frame,
                    total_ms: ms(hot.total_ns),
                    self_ms: ms(hot.self_ns),
                    calls: hot.calls,
                })
                .collect(),
        }
    }
}
