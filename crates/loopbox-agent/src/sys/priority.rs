//! The scheduling priority of a thread.

/// `Process.THREAD_PRIORITY_BACKGROUND`.
const BACKGROUND: i32 = 10;

/// A thread that has a lower priority than the app's threads, except while another thread waits for its work.
/// A new thread has the nice value of the one that made it; the main thread of a visible app has -10.
pub(crate) struct BackgroundThread {
    usual: i32,
    low: i32,
    now: i32,
}

impl BackgroundThread {
    /// The calling thread, with its priority unchanged for now.
    pub(crate) fn of_this_thread() -> Self {
        let usual = nice(THIS_THREAD);
        let low = if usual < BACKGROUND && may_return_to(usual) { BACKGROUND } else { usual };
        Self { usual, low, now: usual }
    }

    /// Sets whether another thread waits for this one's work. To be called on this thread.
    pub(crate) fn hurry(&mut self, hurries: bool) {
        let wanted = if hurries { self.usual } else { self.low };
        if wanted != self.now && set(wanted) {
            self.now = wanted;
        }
    }

    /// The thread's nice value while no other thread waits for its work.
    pub(crate) fn low(&self) -> i32 {
        self.low
    }
}

/// Gives the calling thread the main thread's nice value, which changes when the app goes to the foreground
/// or the background. For a thread that stops the main thread: the main thread stands still until the calling
/// thread resumes it, and threads with a higher priority would delay that.
pub(crate) fn follow_main() {
    let of_main = nice(std::process::id());
    if nice(THIS_THREAD) != of_main {
        set(of_main);
    }
}

/// While this value lives, the calling thread has priority over the main thread. The calling thread has
/// stopped main, or is about to. ART calls `sched_yield` on this thread before ART checks again whether main
/// has stopped. Without the priority, the thread would get its processor back late on a busy machine, and
/// main would stand still until then.
pub(crate) struct Urgent {
    usual: i32,
    raised: bool,
}

impl Urgent {
    /// Raises the priority, as far as the system allows it.
    pub(crate) fn begin() -> Self {
        let usual = nice(THIS_THREAD);
        let wanted = (usual - AHEAD).max(HIGHEST);
        let raised = wanted < usual && may_return_to(wanted) && set(wanted);
        Self { usual, raised }
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if self.raised {
            set(self.usual);
        }
    }
}

/// How much lower the nice value becomes. 10 steps give ten times the share of a processor.
const AHEAD: i32 = 10;
const HIGHEST: i32 = -20;

const THIS_THREAD: u32 = 0;

/// The nice value of a thread. The kernel's system call counts in reverse, from 40 for -20 to 1 for 19.
fn nice(tid: u32) -> i32 {
    // SAFETY: no pointers.
    let value = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, tid) };
    i32::try_from(20 - value).unwrap_or(0)
}

fn set(nice: i32) -> bool {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, THIS_THREAD, nice) == 0 }
}

/// Whether a thread that has lowered its priority may raise it again: Android allows its apps to (`setrlimit
/// nice 40 40` of init.rc).
fn may_return_to(nice: i32) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the result goes to a local; `getuid` has no arguments.
    let (failed, user) = unsafe { (libc::getrlimit(libc::RLIMIT_NICE, &raw mut limit), libc::getuid()) };
    user == 0 || failed == 0 && i64::try_from(limit.rlim_cur).unwrap_or(i64::MAX) >= i64::from(20 - nice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{clock, proc};

    /// Field 19 of the thread's stat file.
    fn by_the_kernel() -> i32 {
        let stat = proc::text(&format!("/proc/self/task/{}/stat", clock::this_thread()));
        stat.rsplit(')').next().unwrap().split_whitespace().nth(16).unwrap().parse().unwrap()
    }

    #[test]
    fn a_thread_gives_way_until_it_hurries() {
        let before = by_the_kernel();
        let mut thread = BackgroundThread::of_this_thread();
        assert_eq!(by_the_kernel(), before, "not before it is asked to");
        thread.hurry(false);
        let low = if before < BACKGROUND && may_return_to(before) { BACKGROUND } else { before };
        assert_eq!((thread.low(), by_the_kernel()), (low, low));
        thread.hurry(true);
        assert_eq!(by_the_kernel(), before);
    }

    #[test]
    fn a_thread_is_ahead_for_a_moment() {
        let before = by_the_kernel();
        let urgent = Urgent::begin();
        let ahead = (before - AHEAD).max(HIGHEST);
        assert_eq!(by_the_kernel(), if may_return_to(ahead) { ahead } else { before });
        drop(urgent);
        assert_eq!(by_the_kernel(), before);
    }

    #[test]
    fn a_thread_follows_main() {
        let of_main = nice(std::process::id());
        if may_return_to(of_main) && of_main < 19 {
            assert!(set(of_main + 1));
            follow_main();
            assert_eq!(by_the_kernel(), of_main);
        }
    }
}
