//! The future, and who keeps main from it: pending messages and locks.

use super::MessageView;
use crate::analysis::Analysis;
use crate::clock::{ms, ms_between};
use crate::queue::Waiting;
use loopbox_format::model::{LockWait, PendingSource};
use serde::Serialize;

/// What the main thread was asked to do next.
#[derive(Debug, Clone, Serialize)]
pub struct PendingView {
    /// `looper_dump`, `messages_field` or `unavailable`.
    pub source: &'static str,
    /// Why it is unavailable.
    pub why: String,
    /// When it was read, relative to the dump.
    pub captured_at_ms: f64,
    /// Which of the framework's queues it is, when it says so.
    pub implementation: Option<String>,
    /// Whether the Looper sat waiting for a message.
    pub polling: Option<bool>,
    /// Whether the Looper was quitting.
    pub quitting: Option<bool>,
    /// What waits, in order of time.
    pub messages: Vec<WaitingView>,
    /// How many of them are overdue.
    pub overdue: usize,
    /// By how much the oldest of them is.
    pub most_overdue_ms: f64,
    /// Removed messages that the queue had not dropped yet.
    pub tombstones: u32,
    /// Lines of the dump without a known meaning.
    pub unread: Vec<String>,
    /// How many more lines were printed than kept.
    pub dropped_lines: u32,
}

/// One entry of the queue.
#[derive(Debug, Clone, Serialize)]
pub struct WaitingView {
    /// When it is due, relative to the dump of the queue; negative when overdue; `None` for one put at the front.
    pub due_in_ms: Option<f64>,
    /// Its name; `None` for a sync barrier.
    pub message: Option<MessageView>,
    /// The token of a sync barrier.
    pub barrier: Option<i32>,
    /// Whether a sync barrier lets it pass; `None` when unknown.
    pub asynchronous: Option<bool>,
    /// What is left of the text of its `obj`.
    pub object: Option<String>,
}

impl PendingView {
    pub(crate) fn new(a: &Analysis) -> Self {
        let (source, why) = match &a.pending.source {
            PendingSource::LooperDump => ("looper_dump", String::new()),
            PendingSource::MessagesField => ("messages_field", String::new()),
            PendingSource::Unavailable(why) => ("unavailable", why.clone()),
            _ => ("unknown", String::new()),
        };
        let q = &a.queue;
        let waiting = |w: &Waiting| WaitingView {
            due_in_ms: (!w.front)
                .then(|| ms_between(w.due_in_ns.max(0) as u64, w.due_in_ns.min(0).unsigned_abs())),
            message: w.message.as_ref().map(|m| MessageView::new(m, a.meta.process.api_level)),
            barrier: w.barrier,
            asynchronous: w.asynchronous,
            object: w.object.clone(),
        };
        Self {
            source,
            why,
            captured_at_ms: ms_between(a.pending.captured_ns, a.zero_ns),
            implementation: q.implementation.clone(),
            polling: q.polling,
            quitting: q.quitting,
            messages: q.waiting.iter().map(waiting).collect(),
            overdue: q.waiting.iter().filter(|w| w.overdue_ns() > 0).count(),
            most_overdue_ms: ms(q.waiting.iter().map(Waiting::overdue_ns).max().unwrap_or(0)),
            tombstones: q.tombstones,
            unread: q.unread.clone(),
            dropped_lines: a.pending.dropped_lines,
        }
    }
}

/// The locks that kept main waiting, step by step.
#[derive(Debug, Clone, Serialize)]
pub struct LocksView {
    /// When they were followed, relative to the dump.
    pub captured_at_ms: f64,
    /// The first is what main waits for, each further one what the holder before it waits for.
    pub waits: Vec<LockView>,
    /// Whether the last holder waits for a thread before it.
    pub deadlock: bool,
}

/// A lock that a thread waits for.
#[derive(Debug, Clone, Serialize)]
pub struct LockView {
    /// What is locked: `a java.lang.Object`, `the class com.example.Foo`.
    pub object: String,
    /// The thread that holds it; `None` when nobody does.
    pub holder: Option<HolderView>,
}

/// A thread that holds a lock.
#[derive(Debug, Clone, Serialize)]
pub struct HolderView {
    /// Its name.
    pub name: String,
    /// Its id in the kernel.
    pub tid: u32,
    /// What it was doing, top frame first, as lines of a Java stack trace.
    pub stack: Vec<String>,
}

impl LocksView {
    pub(crate) fn new(a: &Analysis) -> Self {
        let full = |&frame: &u32| a.frames.get(frame as usize).map(crate::Frame::full).unwrap_or_default();
        Self {
            captured_at_ms: ms_between(a.locks.captured_ns, a.zero_ns),
            waits: a
                .locks
                .waits
                .iter()
                .map(|wait| LockView {
                    object: locked_object(wait),
                    holder: wait.holder.as_ref().map(|h| HolderView {
                        name: h.name.clone(),
                        tid: h.tid,
                        stack: h.stack.iter().rev().map(full).collect(),
                    }),
                })
                .collect(),
            deadlock: a.locks.deadlock,
        }
    }
}

/// What is locked, in words.
pub(crate) fn locked_object(wait: &LockWait) -> String {
    match (wait.class.as_str(), wait.of_class.as_str()) {
        (_, of) if !of.is_empty() => format!("the class {of}"),
        ("", _) => "an unknown object".into(),
        (class, _) => format!("a {class}"),
    }
}
