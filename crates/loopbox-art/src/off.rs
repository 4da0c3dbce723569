//! Why the sampler is off.

use crate::offsets::SuspendAbi;

/// Why this process is not sampled.
///
/// Each has a stable [`code`](Off::code) for reports and a text for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Off {
    /// Neither a system call nor a pipe can read the process's own memory, so nothing can be checked.
    #[error("the kernel does not let the process read its own memory")]
    NoReads,
    /// No loaded library holds the functions of the `JavaVM`.
    #[error("the ART module was not found: {0}")]
    NoModule(&'static str),
    /// The library's file is missing, damaged, or not the one that is mapped.
    #[error("the ART module at {path} is not readable: {why}")]
    ModuleUnreadable {
        /// The library's path.
        path: String,
        /// What was wrong.
        why: &'static str,
    },
    /// A function that sampling needs is in none of the symbol tables.
    #[error("the ART module has no {0}")]
    NoSymbol(&'static str),
    /// This ART has only a suspend function that aborts the process on a time-out.
    #[error("only suspend functions that abort on time-out were found ({0})")]
    OnlyAbortingSuspend(&'static str),
    /// The functions found are not of one version.
    #[error("the symbols contradict each other: {0}")]
    MixedSymbols(&'static str),
    /// A step of the self-check failed: the layout of this ART is not known.
    #[error("unknown ART: {0}")]
    UnknownArt(&'static str),
    /// The table and the running process say different things.
    #[error("the table's row {row} says {field} is {table}, the process says {found}")]
    Contradiction {
        /// Id of the row.
        row: &'static str,
        /// Name of the value that differs.
        field: &'static str,
        /// The table's value, in bytes.
        table: usize,
        /// The value found, in bytes.
        found: usize,
    },
    /// The calling thread is not runnable in a method that should be a fast native one, because `@FastNative`
    /// has no effect or was removed when the app was built. So the objects that a walk reads could be moved
    /// or freed meanwhile.
    #[error("the fast native method does not make its thread runnable")]
    NotRunnable,
    /// The self-check walked a stack and did not find the expected frames.
    #[error("self-check of the stack walk failed: {0}")]
    WalkCheck(&'static str),
    /// Names built from memory differ from those the runtime gives.
    #[error("self-check of the method names failed: {0}")]
    NameCheck(&'static str),
    /// A suspension stopped another thread than main.
    #[error("the suspended thread was not the main thread")]
    WrongThread,
    /// Called in a place where it is not allowed.
    #[error("called in the wrong place: {0}")]
    Misuse(&'static str),
}

impl Off {
    /// Stable short code, for reports and statistics.
    pub fn code(&self) -> &'static str {
        match self {
            Off::NoReads => "no-reads",
            Off::NoModule(_) => "no-module",
            Off::ModuleUnreadable { .. } => "module-unreadable",
            Off::NoSymbol(_) => "no-symbol",
            Off::OnlyAbortingSuspend(_) => "aborting-suspend",
            Off::MixedSymbols(_) => "mixed-symbols",
            Off::UnknownArt(_) => "unknown-art",
            Off::Contradiction { .. } => "table-contradiction",
            Off::NotRunnable => "not-runnable",
            Off::WalkCheck(_) => "walk-check",
            Off::NameCheck(_) => "name-check",
            Off::WrongThread => "wrong-thread",
            Off::Misuse(_) => "misuse",
        }
    }
}

/// Why a suspension failed. The failed call holds no thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SuspendError {
    /// The thread did not reach a safepoint in the time that ART allows: 10 s up to ART 14, 1 to 2 s since
    /// ART 15. A thread that has ended gives this error, too.
    #[error("the main thread did not reach a safepoint in time")]
    TimedOut,
    /// The calling thread is not in native state: suspending from there could deadlock with a GC.
    #[error("the calling thread is not in native state")]
    NotNative,
    /// The calling thread is the main thread or not attached.
    #[error("the calling thread cannot suspend the main thread")]
    WrongCaller,
    /// An earlier suspension stopped another thread than main; the sampler is off for good.
    #[error("the suspended thread was not the main thread")]
    WrongThread,
    /// Another suspension by this library has not ended. Or a guard had to end an earlier suspension
    /// ([`Art::rescue`](crate::Art::rescue)). After that, no suspension is possible.
    #[error("the main thread is held already")]
    Held,
}

impl SuspendAbi {
    /// Short stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            SuspendAbi::BoolBool => "bool-bool",
            SuspendAbi::ReasonBool => "reason-bool",
            SuspendAbi::ReasonAttempt => "reason-attempt",
        }
    }
}
