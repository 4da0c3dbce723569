//! The threads beside the main thread.

use super::system_trace::ThreadTraceView;
use crate::derive::java_stack;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use crate::model::{Analysis, OtherThread, ThreadState};
use schemars::JsonSchema;
use serde::Serialize;

/// What the other threads of the process were doing.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ThreadsView<'a> {
    /// When the threads were dumped, relative to the dump of the report.
    captured_at_ms: f64,
    /// The threads; those with a stack come first.
    threads: Vec<ThreadView<'a>>,
    /// The number of threads that are not in the report.
    left_out: u32,
}

/// A thread that is not the main thread.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ThreadView<'a> {
    /// The name of the thread, cut to 15 bytes by the kernel unless ART's trace has all of it.
    name: &'a str,
    /// The kernel's id of the thread.
    tid: u32,
    /// The state of the thread in the kernel: `runs`, `waits`, `waits for the kernel`, `stopped`, `ends` or `unknown`.
    doing: Name<ThreadState>,
    /// The CPU time since the start of the thread.
    cpu_ms: Option<f64>,
    /// The stack, top frame first, as lines of a Java stack trace; empty when the thread runs no Java code, null when no
    /// stack was taken.
    stack: Option<Vec<String>>,
    /// The thread in ART's own trace of the ANR; left out when that does not show it, or is of another moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<ThreadTraceView<'a>>,
}

impl<'a> ThreadsView<'a> {
    pub(crate) fn new(a: &'a Analysis) -> Self {
        Self {
            captured_at_ms: ms_between(a.threads.captured_ns, a.dump_ns),
            threads: a.threads.threads.iter().map(|thread| ThreadView::new(a, thread)).collect(),
            left_out: a.threads.left_out,
        }
    }
}

impl<'a> ThreadView<'a> {
    fn new(a: &'a Analysis, thread: &'a OtherThread) -> Self {
        let trace = a.system_trace.as_ref().zip(a.traced(thread));
        Self {
            name: &thread.name,
            tid: thread.tid,
            doing: Name(ThreadState::of(thread.state)),
            cpu_ms: thread.cpu_ns.map(ms),
            stack: thread.stack.as_ref().map(|stack| java_stack(a, stack)),
            trace: trace.map(|(trace, thread)| ThreadTraceView::new(a, trace, thread)),
        }
    }
}
