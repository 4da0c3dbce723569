//! The sampled stacks of one message as a tree in order of time.

use super::frame::FrameId;
use loopbox_format::model::{Phase, StackSource, Token, Uptime};

/// One frame over a run of consecutive samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledNode {
    /// The frame.
    pub frame: FrameId,
    /// The index of the caller's node; `None` for a root.
    pub parent: Option<u32>,
    /// The number of callers; 0 for a root.
    pub depth: u32,
    /// The index of the first sample with this node.
    pub start: u32,
    /// One past the last sample with this node.
    pub end: u32,
    /// One past the index of the node's last descendant: nodes are in pre-order.
    pub subtree_end: u32,
    /// The time that the node's samples cover.
    pub total_ns: u64,
    /// The part of `total_ns` with this frame on top of the stack.
    pub self_ns: u64,
    /// The number of samples with this frame on top of the stack.
    pub self_samples: u32,
}

/// A run of consecutive samples with one and the same stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackRun {
    /// The index of the node on top of the stack.
    pub top: u32,
    /// The first sample of the run.
    pub start: u32,
    /// One past the last sample of the run.
    pub end: u32,
}

/// A time in which no sample was taken though some were due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleGap {
    /// The sample before the gap. The gap begins when this sample was taken.
    pub(crate) sample: u32,
    /// How long no sample was taken although one was due.
    pub(crate) ns: u64,
}

/// Gaps of one tree, summed up so that the time of any range is found by two searches. A forged report may
/// have as many gaps as samples.
#[derive(Debug, Clone, Default)]
pub(crate) struct GapSums {
    /// By sample, in order: the time of all gaps up to this one.
    up_to: Vec<(u32, u64)>,
}

impl GapSums {
    pub(crate) fn new(gaps: impl IntoIterator<Item = SampleGap>) -> Self {
        let mut gaps: Vec<SampleGap> = gaps.into_iter().collect();
        gaps.sort_unstable_by_key(|gap| gap.sample);
        let mut sum = 0_u64;
        let up_to = gaps.iter().map(|gap| {
            sum = sum.saturating_add(gap.ns);
            (gap.sample, sum)
        });
        Self { up_to: up_to.collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.up_to.is_empty()
    }

    /// How much time of the gaps is in a range of samples.
    pub(crate) fn ns(&self, start: u32, end: u32) -> u64 {
        self.before(end).saturating_sub(self.before(start))
    }

    /// The time of all gaps.
    pub(crate) fn all_ns(&self) -> u64 {
        self.up_to.last().map_or(0, |(_, sum)| *sum)
    }

    fn before(&self, sample: u32) -> u64 {
        let at = self.up_to.partition_point(|(gap, _)| *gap < sample);
        at.checked_sub(1).and_then(|last| self.up_to.get(last)).map_or(0, |(_, sum)| *sum)
    }
}

/// The shortest gap: a sampler that is late for a moment leaves no gap.
const MIN_GAP_NS: u64 = 1_000_000_000;
/// The least number of samples that are missing in a gap.
const MIN_GAP_SAMPLES: u64 = 8;

/// The sampled stacks of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledTree {
    /// The number of the message.
    pub token: Token,
    /// When the dispatch of the message started, in uptime.
    pub start_ns: Uptime,
    /// How the stacks were taken.
    pub source: StackSource,
    /// The sampling intervals that were asked for, each with the first sample it applies to.
    pub intervals: Vec<Phase>,
    /// The nodes in pre-order.
    pub nodes: Vec<SampledNode>,
    /// When each sample was taken, in uptime; one more entry ends the last sample.
    pub sample_ns: Vec<Uptime>,
    /// The number of samples that were due and could not be taken.
    pub missed_samples: u32,
    /// The longest time for which one sample suspended the main thread.
    pub longest_suspend_ns: u64,
    /// The time for which all samples together suspended the main thread.
    pub total_suspend_ns: u64,
    /// The method by which the message is named: the app's first method above the dispatch. If the stacks
    /// have different ones, it is the one with the most time. `None` when no stack has such a method, or for
    /// what ran outside of messages.
    pub entry: Option<FrameId>,
    /// Why the tree is invalid or was not read completely.
    pub error: Option<&'static str>,
}

impl SampledTree {
    /// The number of samples.
    pub fn samples(&self) -> u32 {
        self.sample_ns.len().saturating_sub(1) as u32
    }

    /// The time from sample `start` to sample `end`.
    pub fn span_ns(&self, start: u32, end: u32) -> u64 {
        let at = |i: u32| self.sample_ns.get(i as usize).copied().unwrap_or_default();
        at(end).since(at(start))
    }

    /// The time that all samples cover.
    pub fn total_ns(&self) -> u64 {
        self.span_ns(0, self.samples())
    }

    /// The sampling interval that was asked for at the end; it doubles for very long messages.
    pub(crate) fn interval_ns(&self) -> u64 {
        self.intervals.last().map_or(0, |interval| interval.interval_ns)
    }

    /// The gaps between the tree's samples, in order of time.
    pub(crate) fn gaps(&self) -> Vec<SampleGap> {
        let pairs = (0..).zip(self.sample_ns.windows(2));
        let gaps = pairs.filter_map(|(sample, pair)| {
            let wanted = self.intervals.iter().rev().find(|phase| phase.first_sample <= sample);
            let interval_ns = wanted.map_or(0, |phase| phase.interval_ns);
            let ns = pair[1].since(pair[0]).saturating_sub(interval_ns);
            let is_gap = ns >= MIN_GAP_NS && ns >= interval_ns.saturating_mul(MIN_GAP_SAMPLES);
            is_gap.then_some(SampleGap { sample, ns })
        });
        gaps.collect()
    }

    /// The median interval that was reached; `None` with fewer than two samples.
    pub(crate) fn reached_interval_ns(&self) -> Option<u64> {
        let pairs = self.sample_ns.windows(2).take(self.samples().saturating_sub(1) as usize);
        let mut gaps: Vec<u64> = pairs.map(|pair| pair[1].since(pair[0])).collect();
        gaps.sort_unstable();
        gaps.get(gaps.len() / 2).copied()
    }

    /// When the first sample was taken, in uptime.
    pub(crate) fn first_sample_ns(&self) -> Uptime {
        self.sample_ns.first().copied().unwrap_or(self.start_ns)
    }

    /// The direct children of a node, or the roots.
    pub fn children(&self, of: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        let (mut at, end) = match of {
            Some(node) => (node + 1, self.nodes.get(node as usize).map_or(0, |n| n.subtree_end)),
            None => (0, self.nodes.len() as u32),
        };
        std::iter::from_fn(move || {
            let here = at;
            let node = self.nodes.get(here as usize).filter(|_| here < end)?;
            at = node.subtree_end;
            Some(here)
        })
    }

    /// The frames from the root to a node, outermost first.
    pub fn stack(&self, node: u32) -> Vec<FrameId> {
        let mut frames = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at.and_then(|i| self.nodes.get(i as usize)) {
            frames.push(node.frame);
            at = node.parent;
        }
        frames.reverse();
        frames
    }

    /// The runs of equal stacks in order of time. Samples without a stack are in none of them.
    pub fn stack_runs(&self) -> Vec<StackRun> {
        let mut runs = Vec::new();
        // A node is on top for those samples of its range that none of its children has.
        for (i, node) in self.nodes.iter().enumerate().filter(|(_, n)| n.self_samples > 0) {
            let top = i as u32;
            let mut from = node.start;
            for child in self.children(Some(top)) {
                let child = &self.nodes[child as usize];
                if child.start > from {
                    runs.push(StackRun { top, start: from, end: child.start });
                }
                from = child.end;
            }
            if node.end > from {
                runs.push(StackRun { top, start: from, end: node.end });
            }
        }
        runs.sort_unstable_by_key(|run| run.start);
        runs
    }
}
