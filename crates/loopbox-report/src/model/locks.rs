//! The chain of locks that kept the main thread waiting.

use super::frame::FrameId;
use loopbox_format::model::Uptime;
use schemars::JsonSchema;
use serde::Serialize;

/// Which locks the main thread waited for, and which threads held them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockChain {
    /// When the chain was followed, in uptime.
    pub captured_ns: Uptime,
    /// The first entry is the lock that the main thread waits for. Each further entry is the lock that the
    /// holder in the entry before it waits for.
    pub waits: Vec<LockWait>,
    /// Whether the last holder waits for a thread that comes earlier in the chain.
    pub deadlock: bool,
    /// Who followed the chain.
    pub source: LockSource,
}

/// Who followed a chain of locks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LockSource {
    /// The recorder, through ART, while main waited.
    #[default]
    Recorder,
    /// ART's own trace of the ANR.
    SystemTrace,
    /// The recorder, by the object for which main is parked. That object is a lock of `java.util.concurrent`;
    /// ART does not know such locks.
    Synchronizers,
    /// The recorder, which found that main waits for a thread to end (`Thread.join`). The chain shows that
    /// thread as the holder.
    Join,
}

/// A lock that a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockWait {
    /// What is locked, in words: `a java.lang.Object`, `the class com.example.Foo`.
    pub object: String,
    /// The thread that holds the lock; `None` when no thread does and the waiter waits to be notified.
    pub holder: Option<LockHolder>,
}

/// A thread that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// The name of the thread.
    pub name: String,
    /// The kernel's id of the thread; `None` for a thread that the system's trace names and does not list.
    pub tid: Option<u32>,
    /// The stack of the thread, outermost frame first.
    pub stack: Vec<FrameId>,
}

/// A locked object in words. `locked_class` is the class whose `Class` object is locked; empty for other
/// objects.
pub(crate) fn locked_object(class: &str, locked_class: &str) -> String {
    match (class, locked_class) {
        (_, locked) if !locked.is_empty() => format!("the class {locked}"),
        ("", _) => "an unknown object".into(),
        (class, _) => format!("a {class}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_object_names_the_class_or_says_it_is_unknown() {
        assert_eq!(locked_object("java.lang.Object", ""), "a java.lang.Object");
        assert_eq!(locked_object("java.lang.Class", "com.example.Foo"), "the class com.example.Foo");
        assert_eq!(locked_object("", ""), "an unknown object");
    }
}
