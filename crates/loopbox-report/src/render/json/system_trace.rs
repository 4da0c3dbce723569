//! ART's own trace of the ANR.

use crate::derive::trace_lines;
use crate::model::{Analysis, SystemTrace, TraceThread};

json_object! {
    /// The trace as a whole; its threads stand with the others of the report.
    pub(crate) struct SystemTraceView<'a>(a: &'a Analysis, trace: &'a SystemTrace) {
        /// What it is about, as the system wrote it; empty where it did not.
        subject: &'a str = &trace.subject,
        /// When ART wrote it, as it stands there: local time of the device.
        written_at: &'a str = &trace.written_at,
        /// Whether its end is there.
        complete: bool = trace.complete,
        /// The number of threads that were read.
        threads: usize = trace.threads.len(),
        /// The number of further threads.
        left_out: u32 = trace.left_out,
        /// Why it has nothing about the moment of the report, in words; null when it does.
        apart: Option<&'a str> = trace.apart.as_deref(),
        /// The main thread; null when it does not show it.
        main: Option<ThreadTraceView<'a>> = trace.main().map(|main| ThreadTraceView::new(a, trace, main)),
    }
}

json_object! {
    /// A thread as the trace shows it.
    pub(crate) struct ThreadTraceView<'a>(a: &Analysis, trace: &SystemTrace, thread: &'a TraceThread) {
        /// ART's number of it.
        tid: Option<u32> = thread.tid,
        /// Its state in ART: `Native`, `Blocked`, …
        state: &'a str = &thread.state,
        /// Its stack, innermost first: native frames, methods of Java, and below each the locks that it holds
        /// or wants.
        lines: Vec<String> = trace_lines(a, trace, thread),
    }
}
