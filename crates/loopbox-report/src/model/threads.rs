//! The threads besides the main thread.

use super::frame::FrameId;
use loopbox_format::model::Uptime;

/// What the other threads of the process were doing while the main thread did not respond.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OtherThreads {
    /// When the threads were dumped, in uptime.
    pub captured_ns: Uptime,
    /// The threads; those with a stack come first.
    pub threads: Vec<OtherThread>,
    /// How many further threads are not in the report.
    pub left_out: u32,
}

impl OtherThread {
    /// The kernel's id of the thread in brackets, after a blank; empty where it is not known.
    pub(crate) fn tid_in_brackets(&self) -> String {
        self.tid.map_or_else(String::new, |tid| format!(" ({tid})"))
    }
}

/// A thread that is not the main thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherThread {
    /// The name of the thread.
    pub name: String,
    /// The kernel's id of the thread; `None` for a thread of the system's trace without an id.
    pub tid: Option<u32>,
    /// The state letter of proc(5), `/proc/PID/stat`; `None` when unknown.
    pub state: Option<u8>,
    /// The CPU time that the thread has used since its start.
    pub cpu_ns: Option<u64>,
    /// The stack, outermost frame first; empty when the thread runs no Java code, `None` when no stack was
    /// taken.
    pub stack: Option<Vec<FrameId>>,
    /// The index of the thread in the system's trace, when the trace is of the moment of the report.
    pub trace: Option<usize>,
}
