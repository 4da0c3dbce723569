//! The end of a suspension: a stopped thread is resumed on every path.

use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use super::Art;
use crate::fuse::Phase;
use crate::symbols::Opaque;
use crate::sys::{self, mem};

/// A stopped thread, mostly the main thread. It is resumed when this value is dropped.
pub struct Suspended<'a> {
    pub(super) art: &'a Art,
    pub(super) thread: Opaque,
    pub(super) caller: usize,
    pub(super) asked_ns: u64,
    pub(super) held_ns: u64,
    /// Makes the value `!Send`: only the thread that suspended may resume.
    pub(super) not_send: PhantomData<*mut ()>,
}

impl Suspended<'_> {
    pub(crate) fn thread(&self) -> usize {
        self.thread as usize
    }

    /// Kernel id of the stopped thread; `None` when it cannot be read.
    pub fn tid(&self) -> Option<u32> {
        mem::read(self.thread().wrapping_add(self.art.main.thin_lock_id_at + 4))
    }

    /// When the stop was requested, `CLOCK_MONOTONIC` ns.
    pub fn asked_ns(&self) -> u64 {
        self.asked_ns
    }

    /// The instant at which the thread was first known to be stopped, not a duration; `CLOCK_MONOTONIC` ns.
    /// Up to ART 14 the thread may have stopped milliseconds earlier.
    pub fn held_ns(&self) -> u64 {
        self.held_ns
    }

    /// Resumes the thread, as dropping does, and returns an upper bound of the ns that it was held.
    ///
    /// The time begins with the request to stop, because ART does not report when the thread stopped. It ends
    /// with the call that resumes the thread, not with that call's return: the woken thread mostly takes the
    /// processor from the caller, which on a loaded machine gets it back milliseconds later.
    /// [`Stats::resume_ns`](crate::Stats::resume_ns) sums the difference.
    pub fn resume(self) -> u64 {
        let held_ns = sys::now_ns().saturating_sub(self.asked_ns);
        drop(self);
        held_ns
    }
}

#[cfg(debug_assertions)]
impl Art {
    /// Runs `body` as if the stopped thread's stack were read meanwhile. For tests of what happens when that
    /// takes long.
    #[cfg(debug_assertions)]
    pub fn while_read(&self, _: &Suspended<'_>, body: impl FnOnce()) {
        if self.window.begin_read() {
            body();
            self.window.end_read();
        }
    }
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        let art = self.art;
        if !art.window.release() {
            return;
        }
        let is_main = mem::same(self.thread(), art.main.thread);
        art.fuse.mark(if is_main { Phase::Resume } else { Phase::Other });
        let called_ns = sys::now_ns();
        // SAFETY: `thread` was returned by `suspend` on this list; letting go of the window makes this the
        // only place that resumes it.
        unsafe { art.suspension.resume(art.thread_list as Opaque, self.thread) };
        let returned_ns = sys::now_ns();
        art.close();
        let held = called_ns.saturating_sub(self.asked_ns);
        art.windows.fetch_add(1, Ordering::Relaxed);
        art.held_ns.fetch_add(held, Ordering::Relaxed);
        if is_main {
            art.longest_ns.fetch_max(held, Ordering::Relaxed);
            art.longest_known_ns.fetch_max(called_ns.saturating_sub(self.held_ns), Ordering::Relaxed);
        } else {
            art.longest_other_ns.fetch_max(held, Ordering::Relaxed);
        }
        art.resume_ns.fetch_add(returned_ns.saturating_sub(called_ns), Ordering::Relaxed);
    }
}
