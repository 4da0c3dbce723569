//! The threads besides the main thread.

use super::system_trace::ThreadTraceView;
use crate::derive::java_stack;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use crate::model::{Analysis, OtherThread, ThreadState};

json_object! {
    /// What the other threads of the process were doing.
    pub(crate) struct ThreadsView<'a>(a: &'a Analysis) {
        /// When the threads were dumped, relative to the dump of the report.
        captured_at_ms: f64 = ms_between(a.threads.captured_ns, a.dump_ns),
        /// The threads; those with a stack come first.
        threads: Vec<ThreadView<'a>> =
            a.threads.threads.iter().map(|thread| ThreadView::new(a, thread)).collect(),
        /// The number of threads that are not in the report.
        left_out: u32 = a.threads.left_out,
    }
}

json_object! {
    /// A thread that is not the main thread.
    pub(crate) struct ThreadView<'a>(a: &'a Analysis, thread: &'a OtherThread) {
        /// The name of the thread, cut to 15 bytes by the kernel unless ART's trace has all of it.
        name: &'a str = &thread.name,
        /// The kernel's id of the thread; null for a thread of ART's trace without an id.
        tid: Option<u32> = thread.tid,
        /// The state of the thread in the kernel.
        doing: Name<ThreadState> = Name(ThreadState::of(thread.state)),
        /// The CPU time since the start of the thread.
        cpu_ms: Option<f64> = thread.cpu_ns.map(ms),
        /// The stack, top frame first, as lines of a Java stack trace; empty when the thread runs no Java
        /// code, null when no stack was taken.
        stack: Option<Vec<String>> = thread.stack.as_ref().map(|stack| java_stack(a, stack)),
        /// The thread in ART's own trace of the ANR; left out when the trace does not show the thread, or is
        /// of another moment.
        #[serde(skip_serializing_if = "Option::is_none")]
        trace: Option<ThreadTraceView<'a>> =
            a.system_trace.as_ref().zip(a.traced(thread))
                .map(|(trace, thread)| ThreadTraceView::new(a, trace, thread)),
    }
}
