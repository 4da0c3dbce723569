//! The fuse: a mark that outlives the process while something dangerous is being done.

use std::sync::atomic::{AtomicU32, Ordering};

/// What is being done at the moment. The numbers are stable: they are read by the next process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// Nothing: the process may die without the sampler being suspected.
    Idle = 0,
    /// The self-check before first use.
    SelfCheck = 1,
    /// Asking ART to stop the main thread.
    Suspend = 2,
    /// The main thread is stopped and its stack is walked.
    Walk = 3,
    /// Letting the main thread go.
    Resume = 4,
    /// Asking ART who holds a lock.
    LockOwner = 5,
}

impl Phase {
    /// The phase of a mark; `None` for a number that no version of this crate has written.
    pub fn from_mark(mark: u32) -> Option<Phase> {
        [Phase::Idle, Phase::SelfCheck, Phase::Suspend, Phase::Walk, Phase::Resume, Phase::LockOwner]
            .into_iter()
            .find(|p| *p as u32 == mark)
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
        }
    }
}

/// Where the phase is marked. The mark must survive the death of the process (mapped file memory does).
///
/// `mark` is called while the main thread is stopped: no allocation, no lock, no log, no panic.
pub trait Fuse: Send + Sync {
    /// Notes what is being done from now on.
    fn mark(&self, phase: Phase);
}

impl Fuse for AtomicU32 {
    fn mark(&self, phase: Phase) {
        // Relaxed: one location, and the reader is another process after this one's death.
        self.store(phase as u32, Ordering::Relaxed);
    }
}

/// No fuse.
impl Fuse for () {
    fn mark(&self, _: Phase) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_its_phase() {
        let cell = AtomicU32::new(77);
        for phase in
            [Phase::Idle, Phase::SelfCheck, Phase::Suspend, Phase::Walk, Phase::Resume, Phase::LockOwner]
        {
            cell.mark(phase);
            assert_eq!(Phase::from_mark(cell.load(Ordering::Relaxed)), Some(phase));
        }
        assert_eq!(Phase::from_mark(77), None);
    }
}
