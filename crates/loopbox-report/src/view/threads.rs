//! The other threads of the process.

use crate::Frame;
use crate::analysis::Analysis;
use crate::clock::{ms, ms_between};
use serde::Serialize;

/// What the other threads were doing when the main thread did not respond.
#[derive(Debug, Clone, Serialize)]
pub struct ThreadsView {
    /// When they were looked at, relative to the dump.
    pub captured_at_ms: f64,
    /// Those with a stack first.
    pub threads: Vec<ThreadView>,
    /// How many more there were.
    pub left_out: u32,
}

/// A thread that is not the main one.
#[derive(Debug, Clone, Serialize)]
pub struct ThreadView {
    /// Its name, at most 15 bytes of it.
    pub name: String,
    /// Its id in the kernel.
    pub tid: u32,
    /// `runs`, `waits`, `waits for the kernel`, `stopped`, `ends` or `unknown`: what the scheduler says.
    pub doing: &'static str,
    /// CPU time since it began.
    pub cpu_ms: Option<f64>,
    /// Top frame first, as lines of a Java stack trace; empty when it ran no Java code, `None` when none was taken.
    pub stack: Option<Vec<String>>,
}

impl ThreadsView {
    pub(crate) fn new(a: &Analysis) -> Self {
        let full = |&frame: &u32| a.frames.get(frame as usize).map(Frame::full).unwrap_or_default();
        let view = |thread: &loopbox_format::model::OtherThread| ThreadView {
            name: thread.name.clone(),
            tid: thread.tid,
            doing: doing(thread.state),
            cpu_ms: thread.cpu_ns.map(ms),
            stack: thread.stack.as_ref().map(|stack| stack.iter().rev().map(full).collect()),
        };
        Self {
            captured_at_ms: ms_between(a.threads.captured_ns, a.zero_ns),
            threads: a.threads.threads.iter().map(view).collect(),
            left_out: a.threads.left_out,
        }
    }
}

/// proc(5), `/proc/PID/stat`, the third field.
fn doing(state: u8) -> &'static str {
    match state {
        b'R' => "runs",
        b'S' | b'I' => "waits",
        b'D' => "waits for the kernel",
        b'T' | b't' => "stopped",
        b'Z' | b'X' | b'x' => "ends",
        _ => "unknown",
    }
}
