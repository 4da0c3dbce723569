//! ART's own trace of the ANR.

use super::recorder::NamedValueView;
use crate::derive::trace_lines;
use crate::model::time::ms;
use crate::model::{Analysis, SystemTrace, TraceThread};

json_object! {
    /// The trace as a whole; its threads are listed with the other threads of the report.
    pub(crate) struct SystemTraceView<'a>(a: &'a Analysis, trace: &'a SystemTrace) {
        /// The subject of the ANR, as the system wrote it; empty where it did not.
        subject: &'a str = &trace.subject,
        /// Other fields that the system wrote about the ANR, with its own names and texts: `Frozen`,
        /// `TimeoutStart`, …
        fields: Vec<NamedValueView<'a>> =
            trace.fields.iter().map(|(name, value)| NamedValueView::new(name, value)).collect(),
        /// For how long the system had waited for the app when it asked for the trace; null where the trace
        /// does not show that.
        waited_ms: Option<f64> = trace.waited_ns().map(ms),
        /// Whether ART wrote a part of the trace. Where ART did not answer, the system collected native
        /// stacks, and the kernel functions that threads sleep in.
        of_art: bool = trace.of_art,
        /// When ART wrote the trace, as the trace has it: local time of the device.
        written_at: &'a str = &trace.written_at,
        /// Whether the trace is complete up to its end.
        complete: bool = trace.complete,
        /// The number of threads that were read.
        threads: usize = trace.threads.len(),
        /// The number of threads that were left out.
        left_out: u32 = trace.left_out,
        /// Why the trace does not describe the moment of the report, in words; null when it does.
        apart: Option<&'a str> = trace.apart.as_deref(),
        /// The main thread; null when the trace does not show it.
        main: Option<ThreadTraceView<'a>> = trace.main().map(|main| ThreadTraceView::new(a, trace, main)),
    }
}

json_object! {
    /// A thread as the trace shows it.
    pub(crate) struct ThreadTraceView<'a>(a: &Analysis, trace: &SystemTrace, thread: &'a TraceThread) {
        /// ART's number of the thread.
        tid: Option<u32> = thread.tid,
        /// The state of the thread in ART: `Native`, `Blocked`, …
        state: &'a str = &thread.state,
        /// The kernel function that the thread sleeps in; empty when unknown.
        wchan: &'a str = &thread.wchan,
        /// The stack of the thread, innermost first: native frames, methods of Java, and below each method
        /// the locks that it holds or wants.
        lines: Vec<String> = trace_lines(a, trace, thread),
    }
}
