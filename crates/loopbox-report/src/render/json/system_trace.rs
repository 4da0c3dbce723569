//! ART's own trace of the ANR.

use crate::derive::trace_lines;
use crate::model::{Analysis, SystemTrace, TraceThread};
use schemars::JsonSchema;
use serde::Serialize;

/// The trace as a whole; its threads stand with the others of the report.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SystemTraceView<'a> {
    /// What it is about, as the system wrote it; empty where it did not.
    subject: &'a str,
    /// When ART wrote it, as it stands there: local time of the device.
    written_at: &'a str,
    /// Whether its end is there.
    complete: bool,
    /// The number of threads that were read.
    threads: usize,
    /// The number of further threads.
    left_out: u32,
    /// Why it has nothing about the moment of the report, in words; null when it does.
    apart: Option<&'a str>,
    /// The main thread; null when it does not show it.
    main: Option<ThreadTraceView<'a>>,
}

/// A thread as the trace shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ThreadTraceView<'a> {
    /// ART's number of it.
    tid: Option<u32>,
    /// Its state in ART: `Native`, `Blocked`, …
    state: &'a str,
    /// Its stack, innermost first: native frames, methods of Java, and below each the locks that it holds or wants.
    lines: Vec<String>,
}

impl<'a> SystemTraceView<'a> {
    pub(crate) fn new(a: &'a Analysis, trace: &'a SystemTrace) -> Self {
        Self {
            subject: &trace.subject,
            written_at: &trace.written_at,
            complete: trace.complete,
            threads: trace.threads.len(),
            left_out: trace.left_out,
            apart: trace.apart.as_deref(),
            main: trace.main().map(|main| ThreadTraceView::new(a, trace, main)),
        }
    }
}

impl<'a> ThreadTraceView<'a> {
    pub(super) fn new(a: &Analysis, trace: &SystemTrace, thread: &'a TraceThread) -> Self {
        Self { tid: thread.tid, state: &thread.state, lines: trace_lines(a, trace, thread) }
    }
}
