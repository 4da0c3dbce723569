//! The locks that kept the main thread waiting.

use crate::model::time::ms_between;
use crate::model::{Analysis, FrameId, LockSource};
use serde::Serialize;

/// The chain of locks that kept the main thread waiting.
#[derive(Debug, Clone, Serialize)]
pub struct LocksView {
    /// When the chain was followed, relative to the dump.
    pub captured_at_ms: f64,
    /// The first entry is the lock that the main thread waits for, each further entry the one that the holder before it
    /// waits for.
    pub waits: Vec<LockView>,
    /// `recorder` (it followed the chain of monitors), `synchronizers` (it followed one of locks of `java.util.concurrent`), `join`
    /// (main waits for the first holder to end) or `system_trace` (ART's own trace of the ANR has it).
    pub source: &'static str,
    /// Whether the last holder waits for a thread that comes earlier in the chain.
    pub deadlock: bool,
}

/// A lock that a thread waits for.
#[derive(Debug, Clone, Serialize)]
pub struct LockView {
    /// What is locked: `a java.lang.Object`, `the class com.example.Foo`.
    pub object: String,
    /// The thread that holds the lock; `None` when no thread does.
    pub holder: Option<HolderView>,
}

/// A thread that holds a lock.
#[derive(Debug, Clone, Serialize)]
pub struct HolderView {
    /// The name of the thread.
    pub name: String,
    /// The kernel's id of the thread.
    pub tid: Option<u32>,
    /// The stack of the thread, top frame first, as lines of a Java stack trace.
    pub stack: Vec<String>,
}

impl LocksView {
    pub(super) fn new(a: &Analysis) -> Self {
        let full = |&frame: &FrameId| a.frames[frame].full();
        Self {
            captured_at_ms: ms_between(a.locks.captured_ns, a.dump_ns),
            source: match a.locks.source {
                LockSource::Recorder => "recorder",
                LockSource::SystemTrace => "system_trace",
                LockSource::Synchronizers => "synchronizers",
                LockSource::Join => "join",
            },
            waits: a
                .locks
                .waits
                .iter()
                .map(|wait| LockView {
                    object: wait.object.clone(),
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
