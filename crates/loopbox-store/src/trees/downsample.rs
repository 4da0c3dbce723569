//! A tree with fewer samples.

use loopbox_format::model::{Phase, StackTree};
use loopbox_format::stacks::{TreeMerger, stacks};

/// The tree with every `n`-th sample only. The others count as missed, and the intervals are `n` times as
/// long. `None` when the tree contradicts itself.
pub(super) fn every_nth(tree: &StackTree, n: u32) -> Option<StackTree> {
    let n = n.max(1);
    let mut merger = TreeMerger::new(tree.nodes.len());
    let mut sample_deltas_ns = Vec::new();
    let mut waited_ns = 0_u64;
    let samples = (0_u32..).zip(stacks(tree).ok()?).zip(&tree.sample_deltas_ns);
    for ((sample, stack), delta) in samples {
        waited_ns = waited_ns.saturating_add(*delta);
        // Fewer stacks never need more nodes than all of them, so there is room.
        if sample % n == 0 && merger.push(stack.into_iter()) {
            sample_deltas_ns.push(waited_ns);
            waited_ns = 0;
        }
    }
    let dropped = (tree.sample_deltas_ns.len() - sample_deltas_ns.len()) as u32;
    let longer = |phase: &Phase| Phase {
        first_sample: phase.first_sample.div_ceil(n),
        interval_ns: phase.interval_ns.saturating_mul(u64::from(n)),
    };
    Some(StackTree {
        phases: tree.phases.iter().map(longer).collect(),
        sample_deltas_ns,
        nodes: merger.nodes().to_vec(),
        missed_samples: tree.missed_samples.saturating_add(dropped),
        ..*tree
    })
}
