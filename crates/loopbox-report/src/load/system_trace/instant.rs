//! Main's stack in the trace, as a tree of one sample. Code that reads the recorder's stacks can thus read
//! this one, too.

use crate::load::limits;
use crate::model::framework;
use crate::model::{Analysis, Frame, FrameId, SampledNode, SampledTree, SystemTrace, TraceThread};
use loopbox_format::model::{MainState, Phase, StackSource, Token, Uptime};

/// The weight of the one sample: the same as for the last sample of a message that has ended. It is not zero,
/// because a stack that was taken shows something.
const WEIGHT_NS: u64 = 1_000;

/// Adds a tree from the trace when the recorder has no stack of what main did at the dump.
pub(super) fn complete(a: &mut Analysis, trace: &SystemTrace) {
    let Some(stack) = trace.main().map(TraceThread::java).filter(|stack| !stack.is_empty()) else { return };
    if a.last_stack().is_some() {
        return;
    }
    let end_ns = a.dump_ns.max(Uptime(WEIGHT_NS));
    let at_ns = end_ns.minus(WEIGHT_NS);
    let (token, start_ns) = match &a.main {
        MainState::Running(running) => (running.token, running.start_ns),
        MainState::Outside(outside) => (outside.token, outside.start_ns.unwrap_or(outside.after_ns)),
        _ => (Token::outside_before(next_message(a)), at_ns),
    };
    let mut tree = SampledTree {
        token,
        start_ns,
        source: StackSource::SystemTrace,
        intervals: vec![Phase { first_sample: 0, interval_ns: 0 }],
        nodes: nodes(&stack),
        sample_ns: vec![at_ns, end_ns],
        missed_samples: 0,
        longest_suspend_ns: 0,
        total_suspend_ns: 0,
        entry: None,
        error: None,
    };
    if !token.is_outside() {
        let roles: Vec<_> = a.frames.iter().map(Frame::role).collect();
        tree.entry = framework::entry(&tree, &a.frames, &roles);
    }
    a.trees.push(tree);
}

/// The number of the message after the last one of the history.
fn next_message(a: &Analysis) -> Token {
    a.history.last().map_or(Token::FIRST, |last| last.first_token.plus(last.count.into()))
}

/// The nodes of a tree with one branch, in which each frame calls the next one.
fn nodes(stack: &[FrameId]) -> Vec<SampledNode> {
    let depth = stack.len().min(limits::STACK_DEPTH) as u32;
    let frames = stack.iter().zip(0..depth);
    let node = |(&frame, at): (&FrameId, u32)| {
        let is_top = at + 1 == depth;
        SampledNode {
            frame,
            parent: at.checked_sub(1),
            depth: at,
            start: 0,
            end: 1,
            subtree_end: depth,
            total_ns: WEIGHT_NS,
            self_ns: if is_top { WEIGHT_NS } else { 0 },
            self_samples: u32::from(is_top),
        }
    };
    frames.map(node).collect()
}
