//! Stack trees with their times.

use crate::analysis::Analysis;
use crate::clock::{ms, ms_between};
use crate::merged::Merged;
use crate::tree::Tree;
use loopbox_format::model::StackSource;
use serde::Serialize;

/// The sampled stacks of one message.
#[derive(Debug, Clone, Serialize)]
pub struct TreeView {
    /// The message's number.
    pub token: u64,
    /// When its dispatch began, relative to the dump.
    pub at_ms: f64,
    /// `art`, `java_api` or `unknown`.
    pub source: &'static str,
    /// How many stacks were taken.
    pub samples: u32,
    /// When the first was taken, relative to the dump.
    pub first_sample_at_ms: f64,
    /// The time that the samples stand for.
    pub total_ms: f64,
    /// The interval asked for at the end; it doubles for very long messages.
    pub interval_ms: f64,
    /// The median interval reached; `None` with fewer than two samples.
    pub reached_interval_ms: Option<f64>,
    /// Samples that were due but could not be taken.
    pub missed_samples: u32,
    /// The longest time that one sample kept the main thread stopped.
    pub longest_stop_ms: f64,
    /// The time that all samples kept it stopped.
    pub total_stop_ms: f64,
    /// In pre-order.
    pub nodes: Vec<NodeView>,
    /// The path of the heaviest merged frames, bottom first.
    pub hot_path: Vec<HotFrame>,
}

/// One frame over a run of consecutive samples.
#[derive(Debug, Clone, Serialize)]
pub struct NodeView {
    /// Index into [`super::View::frames`].
    pub frame: u32,
    /// 0 for a root.
    pub depth: u32,
    /// When its first sample was taken, relative to the tree's first.
    pub from_ms: f64,
    /// The time that its samples stand for.
    pub total_ms: f64,
    /// The part of it with the frame on top of the stack.
    pub self_ms: f64,
    /// How many samples have it.
    pub samples: u32,
}

/// A frame of the hot path.
#[derive(Debug, Clone, Serialize)]
pub struct HotFrame {
    /// Index into [`super::View::frames`].
    pub frame: u32,
    /// Time in it and what it calls, over the whole message.
    pub total_ms: f64,
    /// Time with it on top of the stack.
    pub self_ms: f64,
}

impl TreeView {
    pub(crate) fn new(a: &Analysis, tree: &Tree) -> Self {
        let mut gaps: Vec<u64> = tree
            .sample_ns
            .windows(2)
            .take(tree.samples().saturating_sub(1) as usize)
            .map(|pair| pair[1].saturating_sub(pair[0]))
            .collect();
        gaps.sort_unstable();
        Self {
            token: tree.token,
            at_ms: ms_between(tree.start_ns, a.zero_ns),
            source: match tree.source {
                Some(StackSource::Art) => "art",
                Some(StackSource::JavaApi) => "java_api",
                _ => "unknown",
            },
            samples: tree.samples(),
            first_sample_at_ms: ms_between(
                tree.sample_ns.first().copied().unwrap_or(tree.start_ns),
                a.zero_ns,
            ),
            total_ms: ms(tree.total_ns()),
            interval_ms: ms(tree.phases.last().map_or(0, |phase| phase.interval_ns)),
            reached_interval_ms: gaps.get(gaps.len() / 2).copied().map(ms),
            missed_samples: tree.missed_samples,
            longest_stop_ms: ms(tree.longest_stop_ns),
            total_stop_ms: ms(tree.total_stop_ns),
            nodes: tree
                .nodes
                .iter()
                .map(|node| NodeView {
                    frame: node.frame,
                    depth: node.depth,
                    from_ms: ms(tree.span_ns(0, node.begin)),
                    total_ms: ms(node.total_ns),
                    self_ms: ms(node.self_ns),
                    samples: node.end - node.begin,
                })
                .collect(),
            hot_path: Merged::new([tree], &a.frames)
                .hot_path()
                .into_iter()
                .map(|hot| HotFrame {
                    frame: hot.frame,
                    total_ms: ms(hot.total_ns),
                    self_ms: ms(hot.self_ns),
                })
                .collect(),
        }
    }
}
