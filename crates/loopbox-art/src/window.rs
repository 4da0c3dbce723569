//! The suspend window: the time from the request to stop a thread until it is resumed. Its state decides who
//! resumes the thread: the thread that stopped it, or a guard, and never both.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

const FREE: u32 = 0;
/// ART was asked to stop a thread and has not answered.
const ASKED: u32 = 1;
/// A thread is stopped, and nothing reads from it.
const HELD: u32 = 2;
/// The stopped thread's stack or its locks are being read: it must not run meanwhile.
const READ: u32 = 3;
/// A guard has resumed the thread. This state is final, because the reason why a guard was needed is not
/// understood.
const RESCUED: u32 = 4;

/// The single suspension that can exist at a time.
#[derive(Debug, Default)]
pub(crate) struct SuspendWindow {
    state: AtomicU32,
    /// The stopped `art::Thread*`.
    thread: AtomicUsize,
    /// Kernel id of the thread that stopped it.
    holder: AtomicU32,
    /// The `art::Thread*` of the thread that stopped it.
    holder_thread: AtomicUsize,
    /// When the stop was requested; 0 while nothing is held.
    since_ns: AtomicU64,
}

/// The state that a guard found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reclaimed {
    /// The guard may resume no thread: none is stopped, a stop or a resume is under way, or a guard has
    /// already resumed the thread.
    Nothing,
    /// The guard now owns this thread and must resume it.
    Thread(usize),
    /// A living thread reads the stopped thread's stack, which would change under the reader if that thread
    /// were resumed.
    BeingRead,
}

impl SuspendWindow {
    /// Announces that the calling thread, of this kernel id and `art::Thread*`, is about to ask ART to stop a
    /// thread. False when a thread is held already, or after a rescue.
    pub(crate) fn ask(&self, holder: u32, holder_thread: usize, now_ns: u64) -> bool {
        let free = self.state.compare_exchange(FREE, ASKED, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if free {
            self.holder.store(holder, Ordering::Relaxed);
            self.holder_thread.store(holder_thread, Ordering::Relaxed);
            self.since_ns.store(now_ns, Ordering::Relaxed);
        }
        free
    }

    /// Notes that ART has stopped this thread.
    pub(crate) fn opened(&self, thread: usize) {
        self.thread.store(thread, Ordering::Relaxed);
        self.state.store(HELD, Ordering::Release);
    }

    /// Begins to read the stopped thread. False when it runs again.
    pub(crate) fn begin_read(&self) -> bool {
        self.state.compare_exchange(HELD, READ, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Ends what [`begin_read`](Self::begin_read) began.
    pub(crate) fn end_read(&self) {
        let _ = self.state.compare_exchange(READ, HELD, Ordering::Release, Ordering::Relaxed);
    }

    /// Called by the holder before it resumes the thread. False when a guard has taken the thread.
    pub(crate) fn release(&self) -> bool {
        self.state.compare_exchange(HELD, ASKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Ends the suspension: notes that nothing is held any more.
    pub(crate) fn close(&self) {
        self.since_ns.store(0, Ordering::Relaxed);
        self.state.store(FREE, Ordering::Release);
    }

    /// When the present suspension was requested; `None` when there is none.
    pub(crate) fn since_ns(&self) -> Option<u64> {
        Some(self.since_ns.load(Ordering::Relaxed)).filter(|ns| *ns != 0)
    }

    /// The `art::Thread*` of the thread that last requested a suspension, if `lives` returns that it still
    /// exists.
    pub(crate) fn holder(&self, lives: impl Fn(u32) -> bool) -> Option<usize> {
        lives(self.holder.load(Ordering::Relaxed)).then(|| self.holder_thread.load(Ordering::Relaxed))
    }

    /// Takes the stopped thread from its holder, where that is safe: while nobody reads it, or when its
    /// reader has ended. `lives` returns whether a thread of this process still exists.
    pub(crate) fn reclaim(&self, lives: impl Fn(u32) -> bool) -> Reclaimed {
        let from = match self.state.load(Ordering::Acquire) {
            HELD => HELD,
            READ if !lives(self.holder.load(Ordering::Relaxed)) => READ,
            READ => return Reclaimed::BeingRead,
            _ => return Reclaimed::Nothing,
        };
        match self.state.compare_exchange(from, RESCUED, Ordering::AcqRel, Ordering::Relaxed) {
            // Read after the exchange: from then on no other thread writes it. Before, the holder may let go
            // and stop another thread in between, and this would be the one that runs.
            Ok(_) => Reclaimed::Thread(self.thread.load(Ordering::Relaxed)),
            Err(_) => Reclaimed::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVES: fn(u32) -> bool = |_| true;
    const DEAD: fn(u32) -> bool = |_| false;

    fn held() -> SuspendWindow {
        let window = SuspendWindow::default();
        assert!(window.ask(7, 0x2000, 100));
        assert_eq!(window.since_ns(), Some(100));
        window.opened(0x1000);
        window
    }

    #[test]
    fn a_window_opens_and_closes() {
        let window = held();
        assert!(!window.ask(8, 0x2000, 200), "one at a time");
        assert!(window.begin_read());
        assert!(!window.begin_read());
        window.end_read();
        assert!(window.release());
        window.close();
        assert_eq!(window.since_ns(), None);
        assert!(window.ask(8, 0x2000, 300));
    }

    #[test]
    fn a_holder_that_stays_away_loses_the_thread_and_resumes_nothing() {
        let window = held();
        assert_eq!(window.reclaim(LIVES), Reclaimed::Thread(0x1000));
        assert_eq!(window.reclaim(LIVES), Reclaimed::Nothing, "once");
        assert!(!window.begin_read());
        assert!(!window.release());
        assert!(!window.ask(9, 0x2000, 400), "for good");
    }

    #[test]
    fn a_stack_is_not_pulled_away_under_a_living_reader() {
        let window = held();
        assert!(window.begin_read());
        assert_eq!(window.reclaim(LIVES), Reclaimed::BeingRead);
        assert_eq!(window.reclaim(|tid| tid != 7), Reclaimed::Thread(0x1000), "its reader is no more");
    }

    #[test]
    fn the_holder_is_known_while_it_lives() {
        let window = held();
        assert_eq!(window.holder(LIVES), Some(0x2000));
        assert_eq!(window.holder(DEAD), None);
    }

    #[test]
    fn what_is_not_held_or_just_let_go_is_not_taken() {
        let window = SuspendWindow::default();
        assert_eq!(window.reclaim(DEAD), Reclaimed::Nothing);
        assert!(window.ask(7, 0x2000, 100));
        assert_eq!(window.reclaim(DEAD), Reclaimed::Nothing, "ART has not answered");
        window.opened(0x1000);
        assert!(window.release());
        assert_eq!(window.reclaim(LIVES), Reclaimed::Nothing, "the holder is about to resume it");
    }
}
