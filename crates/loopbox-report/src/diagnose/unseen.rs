//! Times in which no stack was taken although one was due: the last stack before such a time does not
//! represent it.

use super::slow_message::SlowMessage;
use super::wait_kind::kind_of_stack;
use crate::model::{Analysis, FrameKind, GapSums, SampleGap};

/// The times of a message in which no stack was taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Unseen {
    /// How long the process did not run, as the recorder measured it.
    pub(super) frozen_ns: u64,
    /// The gaps in which the process did not run.
    frozen: Vec<SampleGap>,
    /// The other gaps. Only gaps after a stack with running Java code on top are listed.
    unsampled: Vec<SampleGap>,
    /// Whether at least a third of the due stacks could not be taken: main, or the sampler, was stopped
    /// repeatedly, each time too briefly for a gap.
    pub(super) often_missed: bool,
}

impl Unseen {
    /// The gaps of a message.
    pub(super) fn of(a: &Analysis, slow: SlowMessage<'_>) -> Self {
        let mut unseen = Self { frozen_ns: frozen_ns(a, slow), ..Self::default() };
        let Some(tree) = slow.tree else { return unseen };
        unseen.often_missed = tree.missed_samples > tree.samples() / 2;
        let mut gaps = tree.gaps();
        // The recorder has the sum of them: the longest are surest to be of it.
        gaps.sort_unstable_by_key(|gap| (std::cmp::Reverse(gap.ns), gap.sample));
        let mut left_ns = unseen.frozen_ns;
        let runs = tree.stack_runs();
        for gap in gaps {
            let ns = gap.ns.min(left_ns);
            left_ns -= ns;
            if ns > 0 {
                unseen.frozen.push(SampleGap { ns, ..gap });
            }
            let rest = SampleGap { ns: gap.ns - ns, ..gap };
            // The runs are in order.
            let at = runs.partition_point(|run| run.end <= gap.sample);
            let Some(run) = runs.get(at).filter(|run| run.start <= gap.sample) else { continue };
            let is_java = a.frames[tree.nodes[run.top as usize].frame].kind == FrameKind::Java;
            // Who waits before a gap and after it waited in it, too.
            let ran = kind_of_stack(&tree.stack(run.top), &a.frames).is_some_and(|kind| !kind.is_wait());
            if is_java && ran && rest.ns > 0 {
                unseen.unsampled.push(rest);
            }
        }
        unseen
    }

    /// All gaps: the stack before a gap does not represent the time in it.
    pub(super) fn gaps(&self) -> GapSums {
        GapSums::new(self.frozen.iter().chain(&self.unsampled).copied())
    }

    pub(super) fn unsampled_ns(&self) -> u64 {
        self.unsampled.iter().fold(0, |sum, gap| sum.saturating_add(gap.ns))
    }

    /// The total length of all gaps.
    pub(super) fn all_ns(&self) -> u64 {
        self.gaps().all_ns()
    }
}

/// How long the process did not run during the message. 0 for a message that has ended: the recorder counts
/// this time only for what runs at the dump.
fn frozen_ns(a: &Analysis, slow: SlowMessage<'_>) -> u64 {
    if slow.running { a.anr.frozen_ns.min(slow.wall_ns) } else { 0 }
}
