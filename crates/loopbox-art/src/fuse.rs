//! The fuse: a mark of the dangerous step that is under way. It outlives the process.

use std::sync::atomic::{AtomicU32, Ordering};

/// What the sampler is doing. The numbers are stable: the next process reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// Nothing: the process may die without the sampler being suspected.
    Idle = 0,
    /// The self-check before first use.
    SelfCheck = 1,
    /// Asking ART to stop a thread.
    Suspend = 2,
    /// The main thread is stopped and its stack is walked.
    Walk = 3,
    /// Resuming the main thread.
    Resume = 4,
    /// Asking ART who holds a lock.
    LockOwner = 5,
    /// A thread was to be stopped or walked. The process ended before it could write a more exact phase,
    /// which may be any other one except [`SelfCheck`](Phase::SelfCheck).
    Stop = 6,
    /// The sampler walks its own stack. No thread is stopped.
    WarmUp = 7,
    /// Another thread than main is stopped and its stack is walked, or it is being resumed.
    Other = 8,
}

impl Phase {
    /// All phases. The index of a phase is the number that marks it.
    pub const ALL: [Phase; 9] = [
        Phase::Idle,
        Phase::SelfCheck,
        Phase::Suspend,
        Phase::Walk,
        Phase::Resume,
        Phase::LockOwner,
        Phase::Stop,
        Phase::WarmUp,
        Phase::Other,
    ];

    /// The phase of a mark; `None` for a number that no version of this crate has written.
    pub fn from_mark(mark: u32) -> Option<Phase> {
        Phase::ALL.into_iter().find(|p| *p as u32 == mark)
    }

    /// Stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Idle => "idle",
            Phase::SelfCheck => "self-check",
            Phase::Suspend => "suspend",
            Phase::Walk => "walk",
            Phase::Resume => "resume",
            Phase::LockOwner => "lock-owner",
            Phase::Stop => "stop",
            Phase::WarmUp => "warm-up",
            Phase::Other => "other",
        }
    }
}

/// Where the phase is marked so that it survives the death of the process.
pub trait Fuse: Send + Sync {
    /// Marks the phase that begins now. It may be called while the main thread is stopped, and by a runnable
    /// thread: so no allocation, no lock, no log, no panic, no system call.
    fn mark(&self, phase: Phase);

    /// Makes sure that the next process learns of `phase` if this process ends before
    /// [`settle`](Fuse::settle) is called. Called in native state with no thread stopped, so it may take its
    /// time.
    fn arm(&self, phase: Phase) {
        let _ = phase;
    }

    /// Makes sure that the next process finds the last mark. Called in the same state as [`arm`](Fuse::arm).
    fn settle(&self) {}
}

impl Fuse for AtomicU32 {
    fn mark(&self, phase: Phase) {
        // Relaxed: one location, and the reader is another process after this one's death.
        self.store(phase as u32, Ordering::Relaxed);
    }
}

/// No fuse: no phase is marked.
impl Fuse for () {
    fn mark(&self, _: Phase) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_its_phase() {
        let cell = AtomicU32::new(77);
        for phase in Phase::ALL {
            cell.mark(phase);
            assert_eq!(Phase::from_mark(cell.load(Ordering::Relaxed)), Some(phase));
        }
        assert_eq!(Phase::from_mark(77), None);
    }
}
