//! Locks that the main thread waits for, and who holds them.

use super::{LocationId, Uptime};
use bincode::{Decode, Encode};

/// The locks that keep the main thread waiting, step by step.
///
/// The first is what the main thread waits for, each further one what the holder of the one before waits for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct LockChain {
    /// When it was followed, uptime.
    pub captured_ns: Uptime,
    /// The steps; empty when the main thread waited for no lock, or that was not checked.
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
    /// Who holds it; `None` when no thread does (one in `Object.wait` has released it).
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
