//! The locks that kept the main thread waiting.

use crate::derive::java_stack;
use crate::model::time::ms_between;
use crate::model::{Analysis, LockHolder, LockSource, LockWait};

json_object! {
    /// The chain of locks that kept the main thread waiting.
    pub(crate) struct LocksView<'a>(a: &'a Analysis) {
        /// When the chain was followed, relative to the dump.
        captured_at_ms: f64 = ms_between(a.locks.captured_ns, a.dump_ns),
        /// The first entry is the lock that the main thread waits for. Each further entry is the lock that
        /// the holder in the entry before it waits for.
        waits: Vec<LockView<'a>> = a.locks.waits.iter().map(|wait| LockView::new(a, wait)).collect(),
        /// Which source the chain of locks comes from.
        source: LockSource = a.locks.source,
        /// Whether the last holder waits for a thread that comes earlier in the chain.
        deadlock: bool = a.locks.deadlock,
    }
}

json_object! {
    /// A lock that a thread waits for.
    pub(crate) struct LockView<'a>(a: &Analysis, wait: &'a LockWait) {
        /// What is locked: `a java.lang.Object`, `the class com.example.Foo`.
        object: &'a str = &wait.object,
        /// The thread that holds the lock; null when no thread does.
        holder: Option<HolderView<'a>> = wait.holder.as_ref().map(|holder| HolderView::new(a, holder)),
    }
}

json_object! {
    /// A thread that holds a lock.
    pub(crate) struct HolderView<'a>(a: &Analysis, holder: &'a LockHolder) {
        /// The name of the thread.
        name: &'a str = &holder.name,
        /// The kernel's id of the thread.
        tid: Option<u32> = holder.tid,
        /// The stack of the thread, top frame first, as lines of a Java stack trace.
        stack: Vec<String> = java_stack(a, &holder.stack),
    }
}
