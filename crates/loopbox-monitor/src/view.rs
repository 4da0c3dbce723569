//! The view for readers: plain numbers and names.

use serde::Serialize;
use std::collections::BTreeMap;

/// The stalls of all files, summed up.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct View {
    /// `loopbox.monitor/1`.
    pub schema: &'static str,
    /// How many files were read.
    pub files: u64,
    /// How many stalls the files have.
    pub stalls: u64,
    /// How long the stalls took together.
    pub ms: f64,
    /// How long the longest stall took.
    pub longest_ms: f64,
    /// How many frames the stalls dropped, where that is known.
    pub dropped_frames: u64,
    /// How many stalls each level has.
    pub levels: BTreeMap<u32, u64>,
    /// How many processes wrote lines. One whose lines do not say when it started, because an older recorder
    /// wrote them, counts once in each file.
    pub processes: u64,
    /// How many different users of the app are named; 0 when none is.
    pub users: u64,
    /// Lines that are cut off, damaged or of a newer version.
    pub cut_lines: u64,
    /// Lines that the app could not write.
    pub lost_lines: u64,
    /// The stalls by day, oldest first.
    pub days: Vec<Group>,
    /// The stalls by scene, most time first.
    pub scenes: Vec<Group>,
    /// The stalls by message, most time first.
    pub messages: Vec<Group>,
    /// The time of the stalls by stack, most time first.
    pub stacks: Vec<StackGroup>,
    /// What the process did around stalls.
    pub around: Around,
}

/// Stalls that have something in common.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Group {
    /// What the stalls of the group have in common: the day, the scene or the message. Empty in the group of
    /// the stalls that do not have this value.
    pub name: String,
    /// How many stalls there are.
    pub stalls: u64,
    /// The total duration of the stalls, in milliseconds.
    pub ms: f64,
    /// How long the longest stall took.
    pub longest_ms: f64,
    /// How many frames the stalls dropped, where that is known.
    pub dropped_frames: u64,
    /// How many stalls each level has.
    pub levels: BTreeMap<u32, u64>,
}

/// Time in stacks that have the same culprit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StackGroup {
    /// The app's method nearest to the top, or else a library's, or else the top frame's; empty for time
    /// without a stack.
    pub method: String,
    /// The method of the top frame; `None` if it is the same as `method`, or if there is no stack.
    pub waits_in: Option<String>,
    /// The part of the stalls' time that falls to these stacks, by how often they were seen.
    pub ms: f64,
    /// How many stalls have a stack of this group.
    pub stalls: u64,
    /// The stack of the longest of these stalls, top first.
    pub frames: Vec<String>,
    /// How long that stall took.
    pub longest_ms: f64,
}

/// Averages over the stalls that have a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Around {
    /// Averages over the last sample before each stall.
    pub before: Phase,
    /// Averages over the samples during each stall.
    pub during: Phase,
    /// Averages over the first sample after each stall.
    pub after: Phase,
}

/// Averages of the samples before, during or after stalls; each stall counts once. An average is `None` when
/// no stall has the value.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Phase {
    /// How many stalls have a sample.
    pub stalls: u64,
    /// CPU use of the process, in per cent of one processor.
    pub proc_cpu: Option<f64>,
    /// CPU use of all processes, in per cent of all processors.
    pub sys_cpu: Option<f64>,
    /// Memory that the machine has left.
    pub free_mb: Option<f64>,
    /// Share of time in which something waited for a processor.
    pub psi_cpu: Option<f64>,
    /// Share of time in which something waited for memory.
    pub psi_memory: Option<f64>,
    /// Share of time in which something waited for the disk.
    pub psi_io: Option<f64>,
}
