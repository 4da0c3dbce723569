//! SIGQUIT, which the system sends to a process that does not respond.
//!
//! ART blocks it in every thread and its thread "Signal Catcher" waits for it with sigwait. Unblocked on the main
//! thread, the kernel delivers it there first (`complete_signal` tries the main thread first). Our handler captures where
//! the main thread is, counts the signal and wakes the worker; when our report is on disk, the worker forwards the signal
//! to the Signal Catcher, which writes the system's own trace. A worker that is late does not delay that trace: the stall
//! monitor forwards the signal at the deadline.
//!
//! The handler stays for good. Threads that the main thread starts inherit its mask, with the signal unblocked, and no
//! thread can block it for them: with the default action back in place, a signal that reaches one of them would end the
//! process. Without a session the handler forwards the signal at once.
//!
//! A main thread that waits where no signal ends the wait (for the disk, mostly) takes none, and the kernel wakes no other
//! thread for it: the stall monitor takes that signal in its place.

use super::{native_stack, signal_catcher};
use crate::session::shared_state::SharedState;
use crate::sys::{clock, wake};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The eventfd that the handler notifies; -1 while no session handles the signal.
static WAKE: AtomicI32 = AtomicI32::new(-1);
/// Where the handler says that a signal waits to be forwarded: the last session's.
static SHARED: AtomicPtr<SharedState> = AtomicPtr::new(ptr::null_mut());
/// How many signals arrived.
static COUNT: AtomicU32 = AtomicU32::new(0);
/// Process and user of the last sender, from `siginfo_t`; 0 when no process sent it (a terminal).
static SENDER: AtomicU64 = AtomicU64::new(0);
/// The thread that our handler runs on, 0 for none. Two libraries that came and went can end up in each other's chain.
static HANDLING: AtomicI32 = AtomicI32::new(0);
/// The action that was in force before ours: its handler is called after ours.
static PREVIOUS: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());
/// Held while the action changes: on the main thread at install and uninstall only, otherwise by the stall monitor and
/// the worker.
static CHANGING: Mutex<()> = Mutex::new(());
/// The main thread had the signal blocked at the last check.
static BLOCKED: AtomicBool = AtomicBool::new(false);
/// How often each was found and repaired: the default action, SIG_IGN, the signal blocked on the main thread.
static DEFAULTS: AtomicU32 = AtomicU32::new(0);
static IGNORES: AtomicU32 = AtomicU32::new(0);
static BLOCKS: AtomicU32 = AtomicU32::new(0);
/// What does no harm is repaired this often; a library that keeps changing it back gets its way.
const MAX_REPAIRS: u32 = 8;

/// The handler is in place.
#[derive(Debug)]
pub(crate) struct SigQuit {
    was_blocked: bool,
}

/// The sender of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sender {
    pub(crate) pid: u32,
    pub(crate) uid: u32,
}

impl SigQuit {
    /// Installs the handler. On the main thread, whose mask changes; `wake` is the worker's eventfd, which must
    /// stay open until [`SigQuit::uninstall`], `shared` notifies the stall monitor of each signal.
    pub(crate) fn install(wake: RawFd, shared: &Arc<SharedState>) -> io::Result<Self> {
        let _changing = changing();
        native_stack::find_stack_end();
        // Leaked: a handler that runs now may still use the one before it.
        SHARED.store(Arc::into_raw(Arc::clone(shared)).cast_mut(), Ordering::SeqCst);
        WAKE.store(wake, Ordering::SeqCst);
        let previous = exchange_action(&ours()).inspect_err(|_| WAKE.store(-1, Ordering::SeqCst))?;
        remember(&previous);
        let was_blocked = change_mask(libc::SIG_UNBLOCK)?;
        Ok(Self { was_blocked })
    }

    /// Ends the session's part: from now on the handler only forwards the signal. On the main thread.
    pub(crate) fn uninstall(&self) {
        let _changing = changing();
        WAKE.store(-1, Ordering::SeqCst);
        forward_waiting();
        // Errors are impossible in these calls: the arguments were right before.
        let Ok(mut now) = current_action() else { return };
        if matches!(now.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
            // Another library that was there first has gone. It does not mean the process to end by the next signal: ART
            // had it blocked before any library changed that.
            let _ = exchange_action(&ours());
            now = ours();
        }
        // Another library that came after us needs the signal unblocked.
        if self.was_blocked && is_ours(&now) {
            let _ = change_mask(libc::SIG_BLOCK);
        }
    }
}

/// How the signal reaches us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandlerState {
    /// No session handles it.
    NotInstalled,
    /// Our handler is called first.
    Installed,
    /// Another library has installed its own after ours, and it depends on that one whether ours is called at all.
    Chained,
    /// Another library keeps setting SIG_IGN.
    Ignored,
    /// Another library has blocked it on the main thread, so that the Signal Catcher gets it at once.
    Blocked,
}

/// Finds out how the signal reaches us, and puts our handler back where another library, which was there before us and is
/// gone, has restored what it had found: the default action, which ends the process when the signal is unblocked. Takes a
/// lock; not for the main thread while it handles messages.
pub(crate) fn check_handler() -> HandlerState {
    let _changing = changing();
    if WAKE.load(Ordering::SeqCst) < 0 {
        return HandlerState::NotInstalled;
    }
    let Ok(mut action) = current_action() else { return HandlerState::Installed };
    let repaired = match action.sa_sigaction {
        libc::SIG_DFL => Some(&DEFAULTS),
        libc::SIG_IGN if IGNORES.load(Ordering::Relaxed) < MAX_REPAIRS => Some(&IGNORES),
        _ => None,
    };
    if let Some(count) = repaired
        && let Ok(found) = exchange_action(&ours())
    {
        remember(&found);
        count.fetch_add(1, Ordering::Relaxed);
        action = ours();
    }
    match action.sa_sigaction {
        libc::SIG_IGN => HandlerState::Ignored,
        _ if BLOCKED.load(Ordering::Relaxed) => HandlerState::Blocked,
        _ if is_ours(&action) => HandlerState::Installed,
        _ => HandlerState::Chained,
    }
}

/// Sets whether the main thread has the signal blocked. Returns whether it is to unblock it.
pub(crate) fn set_blocked(blocked: bool) -> bool {
    BLOCKED.store(blocked, Ordering::Relaxed);
    blocked && WAKE.load(Ordering::SeqCst) >= 0 && BLOCKS.load(Ordering::Relaxed) < MAX_REPAIRS
}

/// Unblocks the signal on the calling thread, the main one, when a handler is in force. Two system calls and no lock; at
/// most [`MAX_REPAIRS`] times. Where the default action or SIG_IGN is in force, [`check_handler`] repairs that first, on
/// another thread, and the main thread is asked again.
pub(crate) fn unblock() {
    let wanted = WAKE.load(Ordering::SeqCst) >= 0;
    let handled = |action: libc::sigaction| !matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN);
    if wanted && current_action().is_ok_and(handled) && matches!(change_mask(libc::SIG_UNBLOCK), Ok(true)) {
        BLOCKS.fetch_add(1, Ordering::Relaxed);
    }
}

/// The signal alone, as the kernel's system calls have a set of signals.
const ONLY_SIG_QUIT: u64 = 1 << (libc::SIGQUIT - 1);

/// Blocks the signal on the calling thread, which can see it pending then.
pub(crate) fn block_here() {
    // An error is impossible: the arguments are right.
    let _ = change_mask(libc::SIG_BLOCK);
}

/// Whether the signal is pending for the process, and no thread has taken it. On a thread that has called [`block_here`].
pub(crate) fn is_pending() -> bool {
    let mut set = 0_u64;
    // SAFETY: the kernel's sets have 64 signals, and `set` has room for them.
    let failed = unsafe { libc::syscall(libc::SYS_rt_sigpending, &raw mut set, size_of::<u64>()) };
    failed == 0 && set & ONLY_SIG_QUIT != 0
}

/// Takes the pending signal, if there still is one, in place of the main thread. The handler before ours is not called: it
/// may need the main thread.
pub(crate) fn take_pending() {
    let _changing = changing();
    let fd = WAKE.load(Ordering::SeqCst);
    if fd < 0 {
        return;
    }
    let (set, mut info) = (ONLY_SIG_QUIT, MaybeUninit::<libc::siginfo_t>::zeroed());
    // SAFETY: plain data, for which zeros are valid: no time.
    let at_once: libc::timespec = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the set has the kernel's size, the others are valid for the call.
    let taken = unsafe {
        let (set, info, at_once) = (&raw const set, info.as_mut_ptr(), &raw const at_once);
        libc::syscall(libc::SYS_rt_sigtimedwait, set, info, at_once, size_of::<u64>())
    };
    if taken == libc::c_long::from(libc::SIGQUIT) {
        // SAFETY: filled in by the call that took a signal.
        note_sender(unsafe { info.assume_init_ref() });
        COUNT.fetch_add(1, Ordering::SeqCst);
        // SAFETY: null, or leaked by `install` and only changed by its own atomics.
        if let Some(shared) = unsafe { SHARED.load(Ordering::SeqCst).as_ref() } {
            shared.signal_arrived(clock::now_ns());
        }
        wake::notify(fd);
    }
}

fn note_sender(info: &libc::siginfo_t) {
    // A signal that was sent has a sender; one that the kernel made has other data there.
    let sent = info.si_code <= 0;
    // SAFETY: every siginfo_t has room for both.
    let (pid, uid) = if sent { unsafe { (info.si_pid(), info.si_uid()) } } else { (0, 0) };
    SENDER.store(u64::from(pid.cast_unsigned()) << 32 | u64::from(uid), Ordering::SeqCst);
}

/// How often each was repaired: the default action, SIG_IGN, the signal blocked on the main thread.
pub(crate) fn repairs() -> [u32; 3] {
    [&DEFAULTS, &IGNORES, &BLOCKS].map(|count| count.load(Ordering::Relaxed))
}

fn changing() -> MutexGuard<'static, ()> {
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on this action's handler is called after ours.
fn remember(previous: &libc::sigaction) {
    // SAFETY: null, or leaked here and never changed.
    let known = unsafe { PREVIOUS.load(Ordering::SeqCst).as_ref() };
    let same = known.is_some_and(|known| {
        (known.sa_sigaction, known.sa_flags) == (previous.sa_sigaction, previous.sa_flags)
    });
    if !same && !is_ours(previous) {
        // Leaked: a handler that runs now may still read it.
        PREVIOUS.store(Box::into_raw(Box::new(*previous)), Ordering::SeqCst);
    }
}

/// How many signals arrived since the library was loaded.
pub(crate) fn count() -> u32 {
    COUNT.load(Ordering::SeqCst)
}

/// The sender of the last signal.
pub(crate) fn sender() -> Sender {
    let sender = SENDER.load(Ordering::SeqCst);
    Sender { pid: (sender >> 32) as u32, uid: sender as u32 }
}

/// Forwards the signal that waits for it, if one does, to ART's Signal Catcher. Called by several threads, of which one finds
/// it. Async-signal-safe once the Signal Catcher was found.
pub(crate) fn forward_waiting() {
    // SAFETY: null, or leaked by `install` and only changed by its own atomics.
    let shared = unsafe { SHARED.load(Ordering::SeqCst).as_ref() };
    if shared.is_some_and(SharedState::take_signal) {
        signal_catcher::forward();
    }
}

fn ours() -> libc::sigaction {
    // SAFETY: sigaction is plain data, for which zeros are valid: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    action
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == ours().sa_sigaction
}

fn exchange_action(new: &libc::sigaction) -> io::Result<libc::sigaction> {
    let mut old = MaybeUninit::uninit();
    // SAFETY: `new` is a valid action whose handler is async-signal-safe; `old` has room for the result.
    match unsafe { libc::sigaction(libc::SIGQUIT, new, old.as_mut_ptr()) } {
        // SAFETY: filled in by the call that succeeded.
        0 => Ok(unsafe { old.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

fn current_action() -> io::Result<libc::sigaction> {
    let mut now = MaybeUninit::uninit();
    // SAFETY: nothing is changed; `now` has room for the result.
    match unsafe { libc::sigaction(libc::SIGQUIT, ptr::null(), now.as_mut_ptr()) } {
        // SAFETY: filled in by the call that succeeded.
        0 => Ok(unsafe { now.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Changes the calling thread's mask. Returns whether the signal was blocked before.
fn change_mask(how: libc::c_int) -> io::Result<bool> {
    let mut set = MaybeUninit::uninit();
    let mut old = MaybeUninit::uninit();
    // SAFETY: both sets have room; `set` is filled in before it is used, `old` when the last call succeeds.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGQUIT);
        match libc::pthread_sigmask(how, set.as_ptr(), old.as_mut_ptr()) {
            0 => Ok(libc::sigismember(old.as_ptr(), libc::SIGQUIT) == 1),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// Runs on the main thread, in the middle of its work: atomics, its stack, one write, and the handler before ours.
extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let errno = errno();
    // SAFETY: no arguments, no effects.
    let thread = unsafe { libc::gettid() };
    if HANDLING.swap(thread, Ordering::SeqCst) == thread {
        // A handler before ours has ours as the one before it.
        return;
    }
    // SAFETY: the kernel passes a siginfo_t that is valid during the handler; for a signal that was sent it has the
    // sender.
    if let Some(info) = unsafe { info.as_ref() } {
        note_sender(info);
    }
    // SAFETY: no arguments, no effects.
    if thread == unsafe { libc::getpid() } {
        // SAFETY: the kernel's own argument, on the main thread, whose id is the process's.
        unsafe { native_stack::capture(context) };
    }
    // The worker that sees the count sees the capture.
    COUNT.fetch_add(1, Ordering::SeqCst);
    // SAFETY: null, or leaked by `install` and only changed by its own atomics.
    if let Some(shared) = unsafe { SHARED.load(Ordering::SeqCst).as_ref() } {
        shared.signal_arrived(clock::now_ns());
    }
    let fd = WAKE.load(Ordering::SeqCst);
    if fd >= 0 {
        wake::notify(fd);
    } else {
        forward_waiting();
    }
    // SAFETY: null, or leaked by `remember` and never changed.
    if let Some(previous) = unsafe { PREVIOUS.load(Ordering::SeqCst).as_ref() } {
        // SAFETY: the action was in force for this signal, with these flags.
        unsafe { call(previous, signal, info, context) };
    }
    HANDLING.store(0, Ordering::SeqCst);
    set_errno(errno);
}

/// # Safety
/// `action` is one that was in force for `signal`, the rest are a handler's own arguments.
unsafe fn call(
    action: &libc::sigaction,
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    let function = action.sa_sigaction;
    // By default the signal ends a process; ART's processes block it instead, so that the default never applied.
    if function == libc::SIG_DFL || function == libc::SIG_IGN {
        return;
    }
    if action.sa_flags & libc::SA_SIGINFO == 0 {
        // SAFETY: without SA_SIGINFO the field holds a handler of one argument.
        let handler =
            unsafe { std::mem::transmute::<libc::sighandler_t, extern "C" fn(libc::c_int)>(function) };
        handler(signal);
    } else {
        type Full = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: with SA_SIGINFO the field holds a handler of three arguments.
        let handler = unsafe { std::mem::transmute::<libc::sighandler_t, Full>(function) };
        handler(signal, info, context);
    }
}

fn errno_location() -> *mut libc::c_int {
    #[cfg(target_os = "android")]
    // SAFETY: no arguments; points to the calling thread's errno.
    unsafe {
        libc::__errno()
    }
    #[cfg(not(target_os = "android"))]
    // SAFETY: as above.
    unsafe {
        libc::__errno_location()
    }
}

fn errno() -> libc::c_int {
    // SAFETY: the calling thread's own errno.
    unsafe { *errno_location() }
}

fn set_errno(value: libc::c_int) {
    // SAFETY: as in `errno`.
    unsafe { *errno_location() = value };
}

/// Held by a test that sends the signal or changes what it does: SIG_IGN, set for the process, throws away the signals that
/// wait for any of its threads.
#[cfg(test)]
pub(super) static IN_TEST: Mutex<()> = Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::wake::EventFd;
    use std::sync::atomic::AtomicBool;

    static CHAINED: AtomicBool = AtomicBool::new(false);

    extern "C" fn earlier(_: libc::c_int) {
        CHAINED.store(true, Ordering::SeqCst);
    }

    /// One test, because the disposition of a signal belongs to the whole process.
    #[test]
    fn the_signal_is_counted_and_chained_and_the_handler_stays() {
        let _alone = IN_TEST.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: zeros are a valid action; the handler is async-signal-safe.
        let mut before: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        before.sa_sigaction = earlier as *const () as libc::sighandler_t;
        exchange_action(&before).unwrap();
        change_mask(libc::SIG_BLOCK).unwrap();

        let event = EventFd::new().unwrap();
        let shared = Arc::new(SharedState::default());
        let installed = SigQuit::install(event.raw(), &shared).unwrap();
        let seen = count();
        for nth in 1..=100 {
            // SAFETY: sends a signal that has a handler to this thread.
            unsafe { libc::raise(libc::SIGQUIT) };
            assert_eq!(count(), seen + nth);
        }
        event.wait(-1);
        assert!(CHAINED.load(Ordering::SeqCst));
        assert_eq!(sender().pid, std::process::id());

        // Another library comes and goes, and leaves an action that it had not found.
        assert_eq!(check_handler(), HandlerState::Installed);
        let mut left = ours();
        for nth in 1..=20 {
            left.sa_sigaction = libc::SIG_DFL;
            exchange_action(&left).unwrap();
            assert_eq!((check_handler(), repairs()[0]), (HandlerState::Installed, nth));
        }
        // SAFETY: sends a signal that has a handler to this thread.
        unsafe { libc::raise(libc::SIGQUIT) };
        assert_eq!(count(), seen + 101);
        for nth in 1..=MAX_REPAIRS + 2 {
            left.sa_sigaction = libc::SIG_IGN;
            exchange_action(&left).unwrap();
            let state = if nth <= MAX_REPAIRS { HandlerState::Installed } else { HandlerState::Ignored };
            assert_eq!((check_handler(), repairs()[1]), (state, nth.min(MAX_REPAIRS)));
        }
        exchange_action(&before).unwrap();
        assert_eq!(check_handler(), HandlerState::Chained);
        exchange_action(&ours()).unwrap();
        change_mask(libc::SIG_BLOCK).unwrap();
        assert!(set_blocked(true));
        assert_eq!(check_handler(), HandlerState::Blocked);
        unblock();
        assert!(!change_mask(libc::SIG_BLOCK).unwrap() && repairs()[2] == 1);
        assert!(!set_blocked(false));
        change_mask(libc::SIG_UNBLOCK).unwrap();

        // What no other thread takes, the calling one does.
        assert!(!is_pending());
        block_here();
        // SAFETY: sends a blocked signal to this thread.
        unsafe { libc::raise(libc::SIGQUIT) };
        assert!(is_pending());
        let seen = count();
        take_pending();
        assert_eq!((is_pending(), count(), sender().pid), (false, seen + 1, std::process::id()));
        take_pending();
        assert_eq!(count(), seen + 1, "there is none any more");
        change_mask(libc::SIG_UNBLOCK).unwrap();

        // What was found last is passed on to: here a handler again.
        remember(&before);
        // Ours stays in place: with the default action a thread that inherited the mask would end the process.
        assert!(shared.signal_since_ns().is_some());
        installed.uninstall();
        assert_eq!(check_handler(), HandlerState::NotInstalled);
        assert!(is_ours(&current_action().unwrap()) && shared.signal_since_ns().is_none());
        assert!(change_mask(libc::SIG_UNBLOCK).unwrap(), "blocked as before");
        CHAINED.store(false, Ordering::SeqCst);
        // SAFETY: sends a signal that has a handler to this thread.
        unsafe { libc::raise(libc::SIGQUIT) };
        assert!(CHAINED.load(Ordering::SeqCst) && shared.signal_since_ns().is_none(), "forwarded at once");

        // A library that was there before has gone, and has left the default action and the signal unblocked.
        let installed = SigQuit::install(event.raw(), &shared).unwrap();
        left.sa_sigaction = libc::SIG_DFL;
        exchange_action(&left).unwrap();
        installed.uninstall();
        // SAFETY: sends a signal that has a handler to this thread.
        unsafe { libc::raise(libc::SIGQUIT) };
        assert!(is_ours(&current_action().unwrap()));
    }
}
