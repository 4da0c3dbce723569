//! Locks that the main thread waits for, and who holds them.

use super::{LocationId, Uptime};
use bincode::{Decode, Encode};

/// The locks that keep the main thread waiting, step by step.
///
/// The first lock is the one that the main thread waits for. Each further lock is the one that the holder of
/// the previous lock waits for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct LockChain {
    /// When the chain was followed, uptime.
    pub captured_ns: Uptime,
    /// The locks in the order of the chain; empty when the main thread waited for no lock, or when that was
    /// not checked.
    pub waits: Vec<LockWait>,
    /// Whether the last holder waits for a lock of a thread before it in the chain: a deadlock.
    pub deadlock: bool,
}

/// A lock that a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct LockWait {
    /// Class of the object that is locked, as Java writes it; empty when it could not be read.
    pub class: String,
    /// For a `synchronized static` method, whose lock is a class object: the name of that class; else empty.
    pub of_class: String,
    /// Who holds it; `None` when no thread does (a thread in `Object.wait` has released the lock).
    pub holder: Option<LockHolder>,
}

/// The thread that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct LockHolder {
    /// Name of the thread.
    pub name: String,
    /// Its id in the kernel.
    pub tid: u32,
    /// What it was doing, bottom frame first.
    pub stack: Vec<LocationId>,
}
