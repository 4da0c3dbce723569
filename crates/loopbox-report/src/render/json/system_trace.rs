//! ART's own trace of the ANR.

use crate::model::{Analysis, LockAction, SystemTrace, TraceLine, TraceLock, TraceThread};
use serde::Serialize;

/// The trace as a whole; its threads stand with the others of the report.
#[derive(Debug, Clone, Serialize)]
pub struct SystemTraceView {
    /// What it is about, as the system wrote it; empty where it did not.
    pub subject: String,
    /// When ART wrote it, as it stands there: local time of the device.
    pub written_at: String,
    /// Whether its end is there.
    pub complete: bool,
    /// The number of threads that were read.
    pub threads: usize,
    /// The number of further threads.
    pub left_out: u32,
    /// Why it has nothing about the moment of the report, in words; `None` when it does.
    pub apart: Option<String>,
    /// The main thread; `None` when it does not show it.
    pub main: Option<ThreadTraceView>,
}

/// A thread as the trace shows it.
#[derive(Debug, Clone, Serialize)]
pub struct ThreadTraceView {
    /// ART's number of it.
    pub tid: Option<u32>,
    /// Its state in ART: `Native`, `Blocked`, …
    pub state: String,
    /// Its stack, innermost first: native frames, methods of Java, and below each the locks that it holds or wants.
    pub lines: Vec<String>,
}

impl SystemTraceView {
    pub(super) fn new(a: &Analysis) -> Option<Self> {
        let trace = a.system_trace.as_ref()?;
        Some(Self {
            subject: trace.subject.clone(),
            written_at: trace.written_at.clone(),
            complete: trace.complete,
            threads: trace.threads.len(),
            left_out: trace.left_out,
            apart: trace.apart.clone(),
            main: trace.main().map(|main| ThreadTraceView::new(a, trace, main)),
        })
    }
}

impl ThreadTraceView {
    pub(super) fn new(a: &Analysis, trace: &SystemTrace, thread: &TraceThread) -> Self {
        let lines = thread.stack.iter().map(|line| match line {
            TraceLine::Java(frame) => format!("at {}", a.frames[*frame].full()),
            TraceLine::Lock(lock) => lock_line(trace, lock),
            TraceLine::Text(text) => text.clone(),
        });
        Self { tid: thread.tid, state: thread.state.clone(), lines: lines.collect() }
    }
}

/// `- waiting to lock a java.lang.Object <0x0d3b5c8a>, held by sync (thread 23)`.
fn lock_line(trace: &SystemTrace, lock: &TraceLock) -> String {
    let action = match lock.action {
        LockAction::Holds => "locked",
        LockAction::Wants => "waiting to lock",
        LockAction::WaitsOn => "waiting on",
        LockAction::SleepsOn => "sleeping on",
    };
    let id = lock.id.map(|id| format!(" <{id:#010x}>")).unwrap_or_default();
    let holder = lock.holder.map(|tid| match trace.thread(tid) {
        Some(thread) => format!(", held by {} (thread {tid})", thread.name),
        None => format!(", held by thread {tid}"),
    });
    format!("- {action} {}{id}{}", lock.object, holder.unwrap_or_default())
}
