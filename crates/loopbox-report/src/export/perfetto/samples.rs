//! The stacks as samples (`TracePacket.stack_sample`). Perfetto reads them since version 58, and sums them up
//! in its flame graph. The slices under the main thread show the same stacks in order of time, in every
//! version.

use std::collections::BTreeMap;

use super::packets::{Trace, instant, packet};
use super::proto::Message;
use crate::model::{Analysis, FrameKind, SampledTree};
use loopbox_format::model::Uptime;

/// `Frame.Kind` of native frames.
const NATIVE: u64 = 1;
/// The unit of the samples' weights, a value of `StackSample.CounterDescriptor.Unit`.
const NANOSECONDS: u64 = 1;
/// The number of the only thread that has samples.
const MAIN_THREAD: u64 = 1;
/// How many frames all call stacks may have together. Each stack is written whole, so a file of deep trees
/// could grow to many times its size. A report at the recorder's limits has a tenth of this; samples beyond
/// it are written as slices only.
const MAX_FRAMES: usize = 1 << 22;

/// The defaults of all samples, for `TracePacketDefaults`.
pub(super) fn defaults() -> Message {
    let weight = Message::new().string(2, "wall time").uint(3, NANOSECONDS);
    Message::new().string(1, "loopbox").message(2, weight)
}

/// The interned names and frames. The id of each is the frame's number in the analysis, counted from 1.
pub(super) fn intern_frames(a: &Analysis, mut interned: Message) -> Message {
    let text = |iid: u64, text: &str| Message::new().uint(1, iid).string(2, text);
    let mut files: BTreeMap<&str, u64> = BTreeMap::new();
    for (number, frame) in (1..).zip(a.frames.iter()) {
        let mut written = Message::new().uint(1, number).uint(2, number);
        if !frame.file.is_empty() {
            let next = files.len() as u64 + 1;
            let file = *files.entry(&frame.file).or_insert(next);
            written = written.uint(5, file);
            if file == next {
                interned = interned.message(18, text(file, &frame.file));
            }
        }
        if let Some(line) = frame.line {
            written = written.uint(6, line.into());
        }
        if frame.kind == FrameKind::Native {
            written = written.uint(7, NATIVE);
        }
        interned = interned.message(5, text(number, &frame.qualified())).message(6, written);
    }
    let pid = u64::from(a.meta.process.pid.max(1));
    interned.message(48, Message::new().uint(1, MAIN_THREAD).uint(2, pid).uint(3, pid))
}

/// Writes every sample of every tree.
pub(super) fn write(trace: &mut Trace, a: &Analysis) {
    let (mut not_before, mut stacks, mut frames) = (Uptime::ZERO, 0, 0);
    for tree in &a.trees {
        for run in tree.stack_runs() {
            let stack = tree.stack(run.top);
            frames += stack.len();
            if frames > MAX_FRAMES {
                return;
            }
            stacks += 1;
            let numbers = stack.iter().map(|frame| frame.index() as u64 + 1);
            let callstack =
                numbers.fold(Message::new().uint(1, stacks), |written, frame| written.uint(2, frame));
            let interned = Message::new().message(7, callstack);
            for sample in run.start..run.end {
                let interned = (sample == run.start).then_some(&interned);
                write_sample(trace, tree, sample, stacks, not_before, interned);
            }
        }
        not_before = not_before.max(tree.sample_ns.last().copied().unwrap_or_default());
    }
}

fn write_sample(
    trace: &mut Trace,
    tree: &SampledTree,
    sample: u32,
    stack: u64,
    not_before: Uptime,
    interned: Option<&Message>,
) {
    let Some(&at) = tree.sample_ns.get(sample as usize) else { return };
    let weight_ns = tree.span_ns(sample, sample + 1);
    let written = Message::new().uint(2, MAIN_THREAD).uint(6, stack).uint(11, weight_ns);
    let mut sampled = packet(trace.sequence).uint(8, instant(at.max(not_before).0));
    if let Some(interned) = interned {
        sampled = sampled.message(12, interned.clone());
    }
    trace.push(sampled.message(135, written));
}
