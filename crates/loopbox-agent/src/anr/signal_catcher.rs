//! ART's Signal Catcher: the thread that writes the system's own trace when SIGQUIT reaches it.
//!
//! While it writes, ART waits for every thread that runs Java code. In ART 16 a thread that asks to suspend
//! another thread waits as well: up to thirty seconds where a thread reaches no safepoint. So no thread of
//! the recorder asks for a suspension meanwhile, and no signal is forwarded in the middle of a stop.

#[cfg(debug_assertions)]
use crate::sys::fault;
use crate::sys::{clock, proc};
use loopbox_format::model::Uptime;
use std::io;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

/// The pause between two checks of the thread.
const PAUSE: Duration = Duration::from_millis(10);

/// How long a signal waits at most for the end of a stop before it is forwarded. A stop usually takes
/// microseconds, but up to ten seconds where main reaches no safepoint.
const LONGEST_STOP: Duration = Duration::from_millis(100);
const STOP_PAUSE: Duration = Duration::from_millis(1);

static CATCHER: SignalCatcher = SignalCatcher::new();

struct SignalCatcher {
    /// The thread's id in the kernel, for the life of the process. 0 until the thread was searched for.
    tid: AtomicI32,
    /// Incremented before and after each signal that is sent to it.
    sent: AtomicU32,
    /// The value of `sent` right before the thread was last found to wait for a signal. While `sent` has this
    /// value, the thread has answered every signal that `sent` counts.
    answered: AtomicU32,
    /// How many threads are about to send it a signal.
    sending: AtomicU32,
}

/// Finds the thread, and takes a snapshot of it; `None` when its state cannot be read. From then on signals
/// are forwarded to the thread. Reads files.
///
/// # Errors
/// When not all threads can be read, and those that can are others, or ART has no such thread: nothing is
/// forwarded.
pub(crate) fn find() -> Result<Option<Snapshot>, NotFound> {
    let threads = proc::threads().map_err(NotFound::Unreadable)?;
    let named = threads.into_iter().map(|tid| (tid, proc::read(&proc::of_thread(tid, "comm"))));
    CATCHER.tid.store(by_name(named)?.cast_signed(), Ordering::SeqCst);
    Ok(Snapshot::now())
}

/// Which of these threads has the name.
fn by_name(threads: impl Iterator<Item = (u32, io::Result<String>)>) -> Result<u32, NotFound> {
    let mut unread = None;
    for (tid, name) in threads {
        match name {
            Ok(name) if name == "Signal Catcher\n" => return Ok(tid),
            Err(error) if !proc::is_of_gone_thread(&error) => unread = Some(error),
            _ => {}
        }
    }
    Err(unread.map_or(NotFound::Absent, NotFound::Unreadable))
}

/// Why the thread was not found.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotFound {
    #[error("{0}")]
    Unreadable(io::Error),
    #[error("ART has no Signal Catcher")]
    Absent,
}

/// The state of the thread at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// How often the thread had given up its processor. The thread does nothing but wait for signals and
    /// answer them, so this number changes only with a signal.
    pauses: u64,
    is_busy: bool,
}

impl Snapshot {
    /// The state of the thread now. `None` while the thread is not found, or when its state cannot be read.
    pub(crate) fn now() -> Option<Self> {
        let tid = Some(CATCHER.tid.load(Ordering::SeqCst)).filter(|&tid| tid != 0)?.unsigned_abs();
        Some(Self { pauses: proc::pauses(tid)?, is_busy: proc::keeps_from_sig_quit(tid)? })
    }

    /// A snapshot at which the thread waited, with this number of pauses.
    pub(crate) fn waiting(pauses: u64) -> Self {
        Self { pauses, is_busy: false }
    }

    /// How often it had yielded its processor.
    pub(crate) fn pauses(self) -> u64 {
        self.pauses
    }

    /// Whether the thread has got a signal since the snapshot `earlier`. A signal that comes while the thread
    /// answers another one cannot be distinguished from that one.
    pub(crate) fn has_got_one_since(self, earlier: Self) -> bool {
        !earlier.is_busy && (self.is_busy || self.pauses != earlier.pauses)
    }
}

/// Records that the Signal Catcher has got a signal that the recorder did not send. No thread may be stopped
/// while the Signal Catcher answers that signal.
pub(crate) fn has_got_one() {
    CATCHER.sent.fetch_add(1, Ordering::SeqCst);
}

/// Sends the thread the signal, if the thread was found. If a thread is being stopped, first waits for
/// [`LONGEST_STOP`] at most. Async-signal-safe.
pub(super) fn forward(is_stopping: impl Fn() -> bool) {
    CATCHER.forward(is_stopping);
}

/// The thread's id in the kernel, or 0 while it is unknown.
#[cfg(debug_assertions)]
pub(crate) fn thread() -> i32 {
    CATCHER.tid.load(Ordering::SeqCst)
}

/// Whether `tid` is the Signal Catcher's. Async-signal-safe.
pub(super) fn is_thread(tid: i32) -> bool {
    CATCHER.tid.load(Ordering::SeqCst) == tid
}

/// Whether a signal from us was sent to the thread, or is about to be, and the thread has not finished its
/// answer as far as is known. Takes only three loads when all such signals are answered.
pub(crate) fn is_tracing() -> bool {
    CATCHER.is_tracing()
}

/// Whether the thread writes a trace, for our signal or any other; true when that cannot be read. Reads a
/// file.
pub(crate) fn writes_trace() -> bool {
    CATCHER.writes_trace()
}

/// Waits for the end of the trace, until this uptime at most. Returns whether no trace is being written any
/// more.
pub(crate) fn wait_until_idle(until_ns: Uptime) -> bool {
    CATCHER.wait_until_idle(until_ns)
}

impl SignalCatcher {
    const fn new() -> Self {
        Self {
            tid: AtomicI32::new(0),
            sent: AtomicU32::new(0),
            answered: AtomicU32::new(0),
            sending: AtomicU32::new(0),
        }
    }

    fn forward(&self, is_stopping: impl Fn() -> bool) {
        let tid = self.tid.load(Ordering::SeqCst);
        if tid != 0 {
            // Before the check for a stop: who begins one after that check sees this, and leaves it out.
            self.sending.fetch_add(1, Ordering::SeqCst);
            let mut waited = Duration::ZERO;
            while waited < LONGEST_STOP && is_stopping() {
                // A system call with a time on the stack.
                std::thread::sleep(STOP_PAUSE);
                waited += STOP_PAUSE;
            }
            self.sent.fetch_add(1, Ordering::SeqCst);
            // Directed at that thread, so that it does not come back to us.
            // SAFETY: no pointers. The thread lives as long as the process.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, libc::SIGQUIT) };
            // A snapshot in between showed a thread that still waited.
            self.sent.fetch_add(1, Ordering::SeqCst);
            self.sending.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn is_tracing(&self) -> bool {
        self.is_tracing_by(proc::keeps_from_sig_quit)
    }

    /// As [`is_tracing`](Self::is_tracing). `keeps` finds out what [`proc::keeps_from_sig_quit`] does.
    fn is_tracing_by(&self, keeps: impl Fn(u32) -> Option<bool>) -> bool {
        if self.sending.load(Ordering::SeqCst) != 0 {
            return true;
        }
        let sent = self.sent.load(Ordering::SeqCst);
        if sent == self.answered.load(Ordering::SeqCst) {
            return false;
        }
        let tracing = keeps(self.tid.load(Ordering::SeqCst).unsigned_abs()) != Some(false);
        #[cfg(debug_assertions)]
        let tracing = tracing || fault::trace_lasts();
        if !tracing {
            self.answered.store(sent, Ordering::SeqCst);
        }
        tracing
    }

    fn writes_trace(&self) -> bool {
        let tid = self.tid.load(Ordering::SeqCst).unsigned_abs();
        self.is_tracing() || (tid != 0 && proc::keeps_from_sig_quit(tid) != Some(false))
    }

    fn wait_until_idle(&self, until_ns: Uptime) -> bool {
        while self.is_tracing() {
            if clock::now_ns() >= until_ns {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::sigquit;
    use super::*;
    use std::mem::MaybeUninit;
    use std::sync::{PoisonError, mpsc};

    #[test]
    fn a_signal_that_came_past_us_is_noticed_once() {
        let snapshot = |pauses, is_busy| Snapshot { pauses, is_busy };
        let waits = snapshot(7, false);
        assert!(!waits.has_got_one_since(waits));
        let answers = snapshot(7, true);
        assert!(answers.has_got_one_since(waits), "it has not paused yet");
        assert!(!snapshot(9, true).has_got_one_since(answers), "the same signal");
        let waits_again = snapshot(12, false);
        assert!(!waits_again.has_got_one_since(snapshot(9, true)), "and its end");
        assert!(waits_again.has_got_one_since(waits), "all of it between two snapshots");
    }

    #[test]
    fn a_trace_lasts_until_the_thread_waits_for_signals_again() {
        let _alone = sigquit::IN_TEST.lock().unwrap_or_else(PoisonError::into_inner);
        let (send, received) = mpsc::channel();
        let (go_on, wait) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let mut set = MaybeUninit::uninit();
            let mut signal = 0;
            // SAFETY: the set has room and is filled in first; the mask is this thread's own.
            unsafe {
                libc::sigemptyset(set.as_mut_ptr());
                libc::sigaddset(set.as_mut_ptr(), libc::SIGQUIT);
                libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
            }
            send.send(clock::this_thread()).unwrap();
            for _ in 0..2 {
                // SAFETY: as above; the signal is blocked.
                unsafe { libc::sigwait(set.as_ptr(), &raw mut signal) };
                send.send(0).unwrap();
                wait.recv().unwrap();
            }
        });
        let catcher = SignalCatcher::new();
        catcher.forward(|| false);
        assert!(!catcher.is_tracing(), "nothing was found to send it to");
        catcher.tid.store(received.recv().unwrap().cast_signed(), Ordering::SeqCst);
        for _ in 0..2 {
            assert!(catcher.wait_until_idle(Uptime::MAX));
            catcher.forward(|| false);
            // Whether the thread has not got it yet, or is at work.
            assert!(catcher.is_tracing());
            received.recv().unwrap();
            assert!(catcher.is_tracing() && !catcher.wait_until_idle(Uptime::ZERO));
            go_on.send(()).unwrap();
        }
        thread.join().unwrap();
        assert!(catcher.wait_until_idle(Uptime::MAX), "a thread that is gone writes nothing");
    }

    #[test]
    fn no_stop_begins_between_the_check_for_one_and_the_signal() {
        let catcher = SignalCatcher::new();
        // No thread has this id, so nothing is sent.
        catcher.tid.store(i32::MAX, Ordering::SeqCst);
        let checks = AtomicU32::new(0);
        catcher.forward(|| {
            assert!(catcher.is_tracing(), "who begins one now sees this");
            checks.fetch_add(1, Ordering::SeqCst) < 3
        });
        assert_eq!(checks.load(Ordering::SeqCst), 4, "it waits for the end of the stop");
        assert!(!catcher.is_tracing());
        checks.store(0, Ordering::SeqCst);
        catcher.forward(|| checks.fetch_add(1, Ordering::SeqCst) < 1_000);
        assert!(checks.load(Ordering::SeqCst) <= 100, "but not for ever");
    }

    #[test]
    fn a_trace_lasts_as_long_as_the_thread_cannot_be_read() {
        let catcher = SignalCatcher::new();
        // No thread has this id, so nothing is sent.
        catcher.tid.store(i32::MAX, Ordering::SeqCst);
        catcher.forward(|| false);
        assert!(catcher.is_tracing_by(|_| None) && catcher.is_tracing_by(|_| None));
        assert!(!catcher.is_tracing_by(|_| Some(false)));
        assert!(!catcher.is_tracing_by(|_| None), "it has answered all of them");
    }

    #[test]
    fn a_thread_that_cannot_be_read_may_be_the_signal_catcher() {
        let fails = |code| Err(io::Error::from_raw_os_error(code));
        let named = |name: &str| Ok(name.to_owned());
        let find = |names: Vec<io::Result<String>>| by_name((1..).zip(names));
        let catcher = || named("Signal Catcher\n");
        assert!(matches!(find(vec![named("main\n"), catcher()]), Ok(2)));
        assert!(matches!(find(vec![fails(libc::EMFILE), catcher()]), Ok(2)));
        assert!(matches!(find(vec![named("main\n"), fails(libc::ENOENT)]), Err(NotFound::Absent)));
        let unread = find(vec![fails(libc::EMFILE), named("main\n")]);
        assert!(matches!(unread, Err(NotFound::Unreadable(_))));
    }
}
