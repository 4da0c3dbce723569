//! SIGQUIT, which the system sends to a process that does not respond.
//!
//! ART blocks the signal in every thread. ART's thread "Signal Catcher" waits for it with sigwait. When the
//! signal is unblocked on the main thread, the kernel delivers it there (`complete_signal` tries the main
//! thread first). Our handler captures where the main thread is, counts the signal and wakes the worker. When
//! our report is on disk, the worker forwards the signal to the Signal Catcher, which writes the system's own
//! trace. A worker that is late does not delay that trace: the stall monitor forwards the signal at the
//! deadline.
//!
//! Once unblocked, the signal ends a process that has no handler for it, and other libraries set and restore
//! actions when they like. So it is unblocked only where ART's [signal chain](super::sigchain) keeps its
//! handler in the kernel, whatever actions the libraries set, and that handler calls ours. Where there is no
//! such chain nothing is unblocked, and ART gets the signal, as without us. The stall monitor then notices
//! that ART has got it.
//!
//! The handler stays for good. Threads that the main thread starts inherit its mask, so the signal is
//! unblocked on them, and no other thread can change that. If the default action were restored, a signal that
//! reaches one of them would end the process. Without a session the handler forwards the signal at once.
//!
//! A main thread in an uninterruptible wait (for the disk, mostly) takes no signal, and the kernel wakes no
//! other thread for it. The stall monitor then takes the signal in main's place.

use super::sigchain::{self, InKernel, Unclaimed};
use super::{native_stack, other_handler, signal_catcher};
use crate::session::shared_state::SharedState;
use crate::sys::{clock, wake};
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The eventfd that the handler notifies; -1 while no session handles the signal.
static WAKE: AtomicI32 = AtomicI32::new(-1);
/// The last session's state, in which the handler records that a signal waits to be forwarded. The pointer is
/// from an `Arc`, and [`replace_shared`] releases it.
static SHARED: AtomicPtr<SharedState> = AtomicPtr::new(ptr::null_mut());
/// How many threads use, or may use, the state that [`SHARED`] points to.
static USERS: AtomicU32 = AtomicU32::new(0);
/// How many signals arrived.
static COUNT: AtomicU32 = AtomicU32::new(0);
/// Process and user of the last sender, from `siginfo_t`; 0 when no process sent it (a terminal).
static SENDER: AtomicU64 = AtomicU64::new(0);
/// `HANDLING` is the thread that runs our handler now, 0 for none. `HANDLING_AT` is the position on the stack
/// at which our handler was called. With both, our handler breaks a cycle: a handler that was set without the
/// chain may call our handler, and our handler calls that one again, deeper on the stack. The position is
/// needed because another library's handler may leave by a jump. Then our handler does not return and reset
/// `HANDLING`.
static HANDLING: AtomicI32 = AtomicI32::new(0);
static HANDLING_AT: AtomicUsize = AtomicUsize::new(0);
/// Held while the kernel's action is changed: on the main thread at install and uninstall only, otherwise by
/// the stall monitor and the worker.
static CHANGING: Mutex<()> = Mutex::new(());
/// Whether the main thread had the signal blocked at the last check.
static BLOCKED: AtomicBool = AtomicBool::new(false);
/// How often each state was found and repaired. `DEFAULTS` and `IGNORES`: the default action and SIG_IGN, set
/// without the chain. `BLOCKS`: the signal blocked on the main thread.
static DEFAULTS: AtomicU32 = AtomicU32::new(0);
static IGNORES: AtomicU32 = AtomicU32::new(0);
static BLOCKS: AtomicU32 = AtomicU32::new(0);
/// SIG_IGN and a blocked signal, which are harmless states, are repaired this often at most. A library that
/// keeps restoring such a state wins.
const MAX_REPAIRS: u32 = 8;

/// The installed handler, with the state that was found before.
#[derive(Debug)]
pub(crate) struct SigQuit {
    was_blocked: bool,
    /// The app's own handler at the installation, as the chain had it.
    found: libc::sighandler_t,
}

/// The sender of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sender {
    pub(crate) pid: u32,
    pub(crate) uid: u32,
}

impl SigQuit {
    /// Installs the handler. On the main thread, whose mask changes. `wake` is the worker's eventfd, which
    /// must stay open until [`SigQuit::uninstall`]; `shared` notifies the stall monitor of each signal.
    ///
    /// # Errors
    /// When no handler can be kept in place. The signal stays blocked then.
    pub(crate) fn install(wake: RawFd, shared: &Arc<SharedState>) -> Result<Self, Unclaimed> {
        let _changing = changing();
        sigchain::claim(handler)?;
        native_stack::find_stack_end();
        replace_shared(shared);
        WAKE.store(wake, Ordering::SeqCst);
        put_back_a_handler();
        let found = sigchain::user_action().sa_sigaction;
        Ok(Self { was_blocked: change_mask(libc::SIG_UNBLOCK), found })
    }

    /// Ends the session's handling of the signal, on any thread: from now on the handler only forwards the
    /// signal. [`SigQuit::uninstall`] is to follow on the main thread, and the eventfd stays open until then.
    pub(crate) fn end() {
        WAKE.store(-1, Ordering::SeqCst);
        forward_waiting();
    }

    /// Ends the session's handling of the signal, and puts the mask back. On the main thread.
    pub(crate) fn uninstall(&self) {
        let _changing = changing();
        WAKE.store(-1, Ordering::SeqCst);
        forward_waiting();
        put_back_a_handler();
        // Another library that came after us needs the signal unblocked.
        let set = sigchain::user_action().sa_sigaction;
        if self.was_blocked && (set == self.found || matches!(set, libc::SIG_DFL | libc::SIG_IGN)) {
            change_mask(libc::SIG_BLOCK);
        }
    }
}

/// How the signal reaches us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandlerState {
    /// No session handles the signal.
    NotInstalled,
    /// Our handler is called first. `shared`: another library's handler is called after it.
    Installed { shared: bool },
    /// Another library has set a handler past ART's signal chain. The kernel calls that handler first. Our
    /// handler is called only if that handler calls it in turn.
    Chained,
    /// Another library repeatedly sets SIG_IGN past the chain.
    Ignored,
    /// Another library has blocked the signal on the main thread, so that the Signal Catcher gets it at once.
    Blocked,
}

/// Finds out how the signal reaches us. Sets the chain's handler again where a library went past the chain:
/// with the default action the signal would end the process. Takes a lock; not for the main thread while it
/// handles messages.
pub(crate) fn check_handler() -> HandlerState {
    let _changing = changing();
    if WAKE.load(Ordering::SeqCst) < 0 {
        return HandlerState::NotInstalled;
    }
    let mut found = sigchain::in_kernel();
    let repaired = match found {
        InKernel::Default => Some(&DEFAULTS),
        InKernel::Ignored if IGNORES.load(Ordering::Relaxed) < MAX_REPAIRS => Some(&IGNORES),
        _ => None,
    };
    if let Some(count) = repaired {
        sigchain::put_back();
        count.fetch_add(1, Ordering::Relaxed);
        found = sigchain::in_kernel();
    }
    let shared = other_handler::note();
    match found {
        InKernel::Ignored => HandlerState::Ignored,
        _ if BLOCKED.load(Ordering::Relaxed) => HandlerState::Blocked,
        InKernel::Chain | InKernel::Default => HandlerState::Installed { shared },
        InKernel::Other => HandlerState::Chained,
    }
}

fn put_back_a_handler() {
    if matches!(sigchain::in_kernel(), InKernel::Default | InKernel::Ignored) {
        sigchain::put_back();
    }
}

/// Notes whether the main thread has the signal blocked. Returns whether main should unblock it.
pub(crate) fn set_blocked(blocked: bool) -> bool {
    BLOCKED.store(blocked, Ordering::Relaxed);
    blocked && WAKE.load(Ordering::SeqCst) >= 0 && BLOCKS.load(Ordering::Relaxed) < MAX_REPAIRS
}

/// Unblocks the signal on the calling thread, the main one, when a handler is in force. Two system calls and
/// no lock; at most [`MAX_REPAIRS`] times. Where the default action or SIG_IGN is in force, [`check_handler`]
/// repairs that first, on another thread, and the main thread is asked again.
pub(crate) fn unblock() {
    let wanted = WAKE.load(Ordering::SeqCst) >= 0;
    let handled = || matches!(sigchain::in_kernel(), InKernel::Chain | InKernel::Other);
    if wanted && handled() && change_mask(libc::SIG_UNBLOCK) {
        BLOCKS.fetch_add(1, Ordering::Relaxed);
    }
}

/// The signal alone, as a signal set of the kernel's system calls.
const ONLY_SIG_QUIT: u64 = 1 << (libc::SIGQUIT - 1);

/// Blocks the signal on the calling thread, which can see it pending then.
pub(crate) fn block_here() {
    change_mask(libc::SIG_BLOCK);
}

/// Whether the signal is pending for the process, and no thread has taken it. Call this on a thread that has
/// called [`block_here`].
pub(crate) fn is_pending() -> bool {
    let mut set = 0_u64;
    // SAFETY: the kernel's sets have 64 signals, and `set` has room for them.
    let failed = unsafe { libc::syscall(libc::SYS_rt_sigpending, &raw mut set, size_of::<u64>()) };
    failed == 0 && set & ONLY_SIG_QUIT != 0
}

/// Whether signals go to ART only, because nothing keeps a handler in place. Then we can only notice them.
pub(crate) fn is_only_noticed() -> bool {
    !sigchain::is_claimed()
}

/// Notes that ART has taken a signal, whose sender is unknown.
pub(crate) fn was_taken() {
    SENDER.store(0, Ordering::SeqCst);
    COUNT.fetch_add(1, Ordering::SeqCst);
}

/// Takes the pending signal, if there still is one, in place of the main thread. Another library's handler is
/// not called: it may need the main thread.
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
        with_shared(|shared| shared.signal_arrived(clock::now_ns()));
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

/// How often each of these states was repaired: the default action, SIG_IGN, the signal blocked on the main
/// thread.
pub(crate) fn repairs() -> [u32; 3] {
    [&DEFAULTS, &IGNORES, &BLOCKS].map(|count| count.load(Ordering::Relaxed))
}

fn changing() -> MutexGuard<'static, ()> {
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Forwards the waiting signal, if there is one, to ART's Signal Catcher. Several threads call this; one of
/// them gets the signal. Async-signal-safe once the Signal Catcher was found.
pub(crate) fn forward_waiting() {
    with_shared(|shared| {
        if shared.take_signal() {
            signal_catcher::forward(|| shared.stops.is_stopping());
        }
    });
}

/// Forwards the signal at once, without waiting for the end of a stop. The signal's handler calls this on the
/// main thread, and a stop may be waiting for the main thread.
fn forward_at_once() {
    if with_shared(SharedState::take_signal) == Some(true) {
        signal_catcher::forward(|| false);
    }
}

/// Calls `body` with the last session's state; `None` when there is none. Async-signal-safe if `body` is.
fn with_shared<T>(body: impl FnOnce(&SharedState) -> T) -> Option<T> {
    USERS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: null, or of an `Arc` that `replace_shared` keeps while there are users.
    let result = unsafe { SHARED.load(Ordering::SeqCst).as_ref() }.map(body);
    USERS.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Uses this session's state from now on. By one thread at a time.
fn replace_shared(shared: &Arc<SharedState>) {
    let before = SHARED.swap(Arc::into_raw(Arc::clone(shared)).cast_mut(), Ordering::SeqCst);
    // Whoever begins after the swap uses the new one. One that began before may use the old one, which is
    // leaked then: a signal in the very moment of an installation.
    if !before.is_null() && USERS.load(Ordering::SeqCst) == 0 {
        // SAFETY: made by `into_raw` above, and swapped out once.
        drop(unsafe { Arc::from_raw(before) });
    }
}

/// Changes the calling thread's mask. Returns whether the signal was blocked before. A system call, because
/// the chain's functions block no signal that is claimed.
fn change_mask(how: libc::c_int) -> bool {
    let (set, mut old) = (ONLY_SIG_QUIT, 0_u64);
    // SAFETY: both sets have the kernel's size. An error is impossible: the arguments are right.
    unsafe {
        let (set, old) = (&raw const set, &raw mut old);
        libc::syscall(libc::SYS_rt_sigprocmask, how, set, old, size_of::<u64>());
    }
    old & ONLY_SIG_QUIT != 0
}

/// Runs on the main thread, in the middle of its work. It uses atomics, its stack, one write, and the handler
/// of another library. It always reports the signal as handled: otherwise the chain would continue with the
/// action that a library has set, and the default action ends the process.
extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) -> bool {
    let errno = errno();
    // SAFETY: no arguments, no effects.
    let thread = unsafe { libc::gettid() };
    // Somebody has unblocked the signal on the thread that it is forwarded to, which would get it for ever;
    // or a handler that was set past the chain has ended up behind it as well, and passes on to it in a
    // circle.
    if signal_catcher::is_thread(thread) || is_within(thread, &errno) {
        return true;
    }
    // SAFETY: the kernel passes a siginfo_t that is valid during the handler; for a signal that was sent it
    // has the sender.
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
    with_shared(|shared| shared.signal_arrived(clock::now_ns()));
    let fd = WAKE.load(Ordering::SeqCst);
    if fd >= 0 {
        wake::notify(fd);
    } else {
        forward_at_once();
    }
    // SAFETY: in a handler of this signal, with its arguments.
    unsafe { other_handler::call(signal, info, context) };
    HANDLING.store(0, Ordering::SeqCst);
    set_errno(errno);
    true
}

/// Whether this call of our handler is inside of an earlier call on the same thread, through handlers of
/// other libraries. If it is not, stores the thread and the position of this call. `frame` is a variable of
/// our handler; stacks grow downwards.
fn is_within(thread: i32, frame: &libc::c_int) -> bool {
    let at = ptr::from_ref(frame) as usize;
    if HANDLING.load(Ordering::SeqCst) == thread && at < HANDLING_AT.load(Ordering::SeqCst) {
        return true;
    }
    HANDLING_AT.store(at, Ordering::SeqCst);
    HANDLING.store(thread, Ordering::SeqCst);
    false
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

/// Held by a test that sends the signal or changes its action. Tests must not do that at the same time:
/// SIG_IGN applies to the whole process, and discards the signals that are pending for any thread.
#[cfg(test)]
pub(super) static IN_TEST: Mutex<()> = Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::wake::EventFd;

    /// Calls our handler as the chain does.
    extern "C" fn chain(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        assert!(handler(signal, info, context), "the chain goes no further");
    }

    extern "C" fn earlier(_: libc::c_int) {}

    /// Sets a handler in the kernel directly, like a library that bypasses the chain.
    fn set_past_the_chain(handler: libc::sighandler_t) {
        // SAFETY: the default action, SIG_IGN, or a handler of one argument.
        assert_ne!(unsafe { libc::signal(libc::SIGQUIT, handler) }, libc::SIG_ERR);
    }

    fn raise() {
        // SAFETY: sends a signal that is blocked or has a handler to this thread.
        assert_eq!(unsafe { libc::raise(libc::SIGQUIT) }, 0);
    }

    /// One test, because the action of a signal belongs to the whole process.
    #[test]
    fn the_signal_is_counted_and_the_handler_stays() {
        let _alone = IN_TEST.lock().unwrap_or_else(PoisonError::into_inner);
        change_mask(libc::SIG_BLOCK);
        sigchain::stand_in(chain);
        let ours = HandlerState::Installed { shared: true };

        let event = EventFd::new().unwrap();
        let shared = Arc::new(SharedState::default());
        let installed = SigQuit::install(event.raw(), &shared).unwrap();
        let seen = count();
        for nth in 1..=100 {
            raise();
            assert_eq!(count(), seen + nth);
        }
        event.wait(-1);
        assert_eq!(sender().pid, std::process::id());

        assert_eq!(check_handler(), ours);
        for nth in 1..=20 {
            set_past_the_chain(libc::SIG_DFL);
            assert_eq!((check_handler(), repairs()[0]), (ours, nth));
        }
        raise();
        assert_eq!(count(), seen + 101);
        for nth in 1..=MAX_REPAIRS + 2 {
            set_past_the_chain(libc::SIG_IGN);
            let state = if nth <= MAX_REPAIRS { ours } else { HandlerState::Ignored };
            assert_eq!((check_handler(), repairs()[1]), (state, nth.min(MAX_REPAIRS)));
        }
        set_past_the_chain(earlier as *const () as libc::sighandler_t);
        assert_eq!(check_handler(), HandlerState::Chained);
        sigchain::put_back();
        change_mask(libc::SIG_BLOCK);
        assert!(set_blocked(true));
        assert_eq!(check_handler(), HandlerState::Blocked);
        set_past_the_chain(libc::SIG_DFL);
        unblock();
        assert!(change_mask(libc::SIG_BLOCK), "nothing is unblocked that would end the process");
        sigchain::put_back();
        unblock();
        assert!(!change_mask(libc::SIG_BLOCK) && repairs()[2] == 1);
        assert!(!set_blocked(false));
        change_mask(libc::SIG_UNBLOCK);

        // What no other thread takes, the calling one does.
        assert!(!is_pending());
        block_here();
        raise();
        assert!(is_pending());
        let seen = count();
        take_pending();
        assert_eq!((is_pending(), count(), sender().pid), (false, seen + 1, std::process::id()));
        take_pending();
        assert_eq!(count(), seen + 1, "there is none any more");
        change_mask(libc::SIG_UNBLOCK);

        // Ours stays in place: with the default action a thread that inherited the mask would end the
        // process.
        assert!(shared.signal_since_ns().is_some());
        set_past_the_chain(libc::SIG_DFL);
        installed.uninstall();
        assert_eq!(check_handler(), HandlerState::NotInstalled);
        assert!(sigchain::in_kernel() == InKernel::Chain && shared.signal_since_ns().is_none());
        assert!(change_mask(libc::SIG_UNBLOCK), "blocked as before");
        let seen = count();
        raise();
        assert!(count() == seen + 1 && shared.signal_since_ns().is_none(), "forwarded at once");
        assert!(sigchain::in_kernel() == InKernel::Chain);

        // An installation gives up what the one before had, but not what a handler is using.
        let (second, third) = (Arc::new(SharedState::default()), Arc::new(SharedState::default()));
        assert_eq!(Arc::strong_count(&shared), 2);
        let installed = SigQuit::install(event.raw(), &second).unwrap();
        assert_eq!((Arc::strong_count(&shared), Arc::strong_count(&second)), (1, 2));
        with_shared(|_| replace_shared(&third));
        assert_eq!((Arc::strong_count(&second), Arc::strong_count(&third)), (2, 2));
        installed.uninstall();
    }

    /// Where a handler jumps to.
    static OUT: AtomicPtr<libc::ucontext_t> = AtomicPtr::new(ptr::null_mut());

    /// A handler past the chain, which passes the signal on to ours. When ours calls it in turn, it leaves by
    /// a jump, as a handler of faults does with `siglongjmp`.
    extern "C" fn jumps(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        static INSIDE: AtomicBool = AtomicBool::new(false);
        if INSIDE.swap(true, Ordering::SeqCst) {
            INSIDE.store(false, Ordering::SeqCst);
            // SAFETY: of the test, which waits in `swapcontext`; nothing on the stack that is left has to be
            // dropped.
            unsafe { libc::setcontext(OUT.load(Ordering::SeqCst)) };
        }
        handler(signal, info, context);
        INSIDE.store(false, Ordering::SeqCst);
    }

    extern "C" fn raises() {
        raise();
    }

    #[test]
    fn a_signal_after_a_handler_that_left_by_a_jump_is_counted() {
        let _alone = IN_TEST.lock().unwrap_or_else(PoisonError::into_inner);
        let found = sigchain::user_action();
        // SAFETY: plain data, for which zeros are valid; `jumps` takes three arguments.
        let action = unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = jumps as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO;
            action
        };
        sigchain::set_user_action(&action);
        let was_blocked = change_mask(libc::SIG_UNBLOCK);
        let mut stack = vec![0_u8; 256 << 10];
        let seen = count();
        for nth in 1..=2 {
            // SAFETY: plain data, for which zeros are valid.
            let [mut inside, mut out]: [libc::ucontext_t; 2] =
                unsafe { [MaybeUninit::zeroed().assume_init(), MaybeUninit::zeroed().assume_init()] };
            OUT.store(&raw mut out, Ordering::SeqCst);
            // SAFETY: `raises` runs on `stack`, which is large enough for a signal's frame. It ends, or is
            // left, before both contexts do; either leads to `out`, which is right behind this call.
            unsafe {
                assert_eq!(libc::getcontext(&raw mut inside), 0);
                inside.uc_stack.ss_sp = stack.as_mut_ptr().cast();
                inside.uc_stack.ss_size = stack.len();
                inside.uc_link = &raw mut out;
                libc::makecontext(&raw mut inside, raises, 0);
                assert_eq!(libc::swapcontext(&raw mut out, &raw const inside), 0);
            }
            assert_eq!(count(), seen + nth);
        }
        if was_blocked {
            change_mask(libc::SIG_BLOCK);
        }
        sigchain::set_user_action(&found);
        HANDLING.store(0, Ordering::SeqCst);
    }
}
