//! The locks that kept the main thread waiting.

use crate::derive::java_stack;
use crate::model::time::ms_between;
use crate::model::{Analysis, LockSource, LockWait};
use schemars::JsonSchema;
use serde::Serialize;

/// The chain of locks that kept the main thread waiting.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LocksView<'a> {
    /// When the chain was followed, relative to the dump.
    captured_at_ms: f64,
    /// The first entry is the lock that the main thread waits for, each further entry the one that the holder before it
    /// waits for.
    waits: Vec<LockView<'a>>,
    /// Who followed the chain.
    source: LockSource,
    /// Whether the last holder waits for a thread that comes earlier in the chain.
    deadlock: bool,
}

/// A lock that a thread waits for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LockView<'a> {
    /// What is locked: `a java.lang.Object`, `the class com.example.Foo`.
    object: &'a str,
    /// The thread that holds the lock; null when no thread does.
    holder: Option<HolderView<'a>>,
}

/// A thread that holds a lock.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HolderView<'a> {
    /// The name of the thread.
    name: &'a str,
    /// The kernel's id of the thread.
    tid: Option<u32>,
    /// The stack of the thread, top frame first, as lines of a Java stack trace.
    stack: Vec<String>,
}

impl<'a> LocksView<'a> {
    pub(crate) fn new(a: &'a Analysis) -> Self {
        Self {
            captured_at_ms: ms_between(a.locks.captured_ns, a.dump_ns),
            source: a.locks.source,
            waits: a.locks.waits.iter().map(|wait| LockView::new(a, wait)).collect(),
            deadlock: a.locks.deadlock,
        }
    }
}

impl<'a> LockView<'a> {
    fn new(a: &Analysis, wait: &'a LockWait) -> Self {
        let holder = wait.holder.as_ref().map(|holder| HolderView {
            name: &holder.name,
            tid: holder.tid,
            stack: java_stack(a, &holder.stack),
        });
        Self { object: &wait.object, holder }
    }
}
