//! Packets of one writer.

use super::proto::Message;

pub(super) const CLOCK_REALTIME: u64 = 1;
pub(super) const CLOCK_MONOTONIC: u64 = 3;
/// `TracePacket.SequenceFlags`: the sequence starts anew.
pub(super) const STATE_CLEARED: u64 = 1;
/// `TracePacket.SequenceFlags`: the packet depends on earlier packets of its sequence.
const NEEDS_STATE: u64 = 2;

/// Where packets are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The number of the writer's sequence. It is not zero, and no other writer of the trace uses it.
    pub(super) sequence: u64,
    /// Whether the trace has no other packets. Packets of another program would have another clock.
    pub(super) is_alone: bool,
}

impl Place {
    pub(crate) const ALONE: Self = Self { sequence: 1, is_alone: true };
}

/// A time as Perfetto's timestamp, which is signed: at most `i64::MAX`.
pub(super) fn instant(ns: u64) -> u64 {
    ns.min(i64::MAX as u64)
}

pub(super) struct Trace {
    pub(super) packets: Message,
    pub(super) sequence: u64,
}

impl Trace {
    pub(super) fn push(&mut self, packet: Message) {
        let packets = std::mem::take(&mut self.packets);
        self.packets = packets.message(1, packet);
    }
}

/// A packet that depends on what its sequence has written before.
pub(super) fn packet(sequence: u64) -> Message {
    Message::new().uint(10, sequence).uint(13, NEEDS_STATE)
}
