//! The other threads of the process, and their stacks.

use super::{LocationId, Uptime};
use bincode::{Decode, Encode};

/// The process's other threads when the main thread did not respond.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct OtherThreads {
    /// When they were read, uptime.
    pub captured_ns: Uptime,
    /// The threads, empty when they were not read. Those with a stack come first. In both groups, sleeping
    /// threads come before running ones, in the kernel's order.
    pub threads: Vec<OtherThread>,
    /// How many more threads there were.
    pub left_out: u32,
}

/// A thread that is not the main one.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct OtherThread {
    /// Its name in the kernel, at most 15 bytes: ART keeps the end of a Java thread's longer name there.
    pub name: String,
    /// Its id in the kernel.
    pub tid: u32,
    /// Its scheduler state, an ASCII letter as in `/proc/PID/stat`: `R` runs or is ready to, `S` sleeps or
    /// waits, `D` waits for the disk or the kernel.
    pub state: u8,
    /// CPU time since it began; `None` when it could not be read.
    pub cpu_ns: Option<u64>,
    /// What it was doing, bottom frame first; empty when it ran no Java code. `None` when no stack was taken:
    /// Java does not know the thread, it did not stop, or the bounds on number or time were reached.
    pub stack: Option<Vec<LocationId>>,
}
