//! The threads beside the main thread.

use super::system_trace::ThreadTraceView;
use crate::model::time::{ms, ms_between};
use crate::model::{Analysis, FrameId, OtherThread, state_name};
use serde::Serialize;

/// What the other threads of the process were doing.
#[derive(Debug, Clone, Serialize)]
pub struct ThreadsView {
    /// When the threads were dumped, relative to the dump of the report.
    pub captured_at_ms: f64,
    /// The threads; those with a stack come first.
    pub threads: Vec<ThreadView>,
    /// The number of threads that are not in the report.
    pub left_out: u32,
}

/// A thread that is not the main thread.
#[derive(Debug, Clone, Serialize)]
pub struct ThreadView {
    /// The name of the thread, cut to 15 bytes by the kernel unless ART's trace has all of it.
    pub name: String,
    /// The kernel's id of the thread.
    pub tid: u32,
    /// The state of the thread in the kernel: `runs`, `waits`, `waits for the kernel`, `stopped`, `ends` or `unknown`.
    pub doing: &'static str,
    /// The CPU time since the start of the thread.
    pub cpu_ms: Option<f64>,
    /// The stack, top frame first, as lines of a Java stack trace; empty when the thread runs no Java code, `None` when no
    /// stack was taken.
    pub stack: Option<Vec<String>>,
    /// The thread in ART's own trace of the ANR; left out when that does not show it, or is of another moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<ThreadTraceView>,
}

impl ThreadsView {
    pub(super) fn new(a: &Analysis) -> Self {
        let full = |&frame: &FrameId| a.frames[frame].full();
        let view = |thread: &OtherThread| ThreadView {
            name: thread.name.clone(),
            tid: thread.tid,
            doing: state_name(thread.state),
            cpu_ms: thread.cpu_ns.map(ms),
            stack: thread.stack.as_ref().map(|stack| stack.iter().rev().map(full).collect()),
            trace: a
                .system_trace
                .as_ref()
                .zip(a.traced(thread))
                .map(|(trace, of)| ThreadTraceView::new(a, trace, of)),
        };
        Self {
            captured_at_ms: ms_between(a.threads.captured_ns, a.dump_ns),
            threads: a.threads.threads.iter().map(view).collect(),
            left_out: a.threads.left_out,
        }
    }
}

impl ThreadView {
    /// What the thread was doing: as the kernel reports it, or else ART's trace.
    pub(crate) fn doing(&self) -> &str {
        match &self.trace {
            Some(trace) if self.doing == "unknown" && !trace.state.is_empty() => &trace.state,
            _ => self.doing,
        }
    }

    /// Its stack, innermost first: as ART's trace shows it, which has native frames and locks, or else that of the recorder.
    pub(crate) fn lines(&self) -> Vec<String> {
        let at = |frame: &String| format!("at {frame}");
        let traced = self.trace.as_ref().map(|trace| trace.lines.as_slice()).unwrap_or_default();
        if traced.is_empty() { self.stack.iter().flatten().map(at).collect() } else { traced.to_vec() }
    }
}
