//! The handler that another library of the app has set for SIGQUIT, and how it is called: as the kernel would
//! call it, with its mask and its flags, and only while its code is there.
//!
//! A library that is unloaded may leave its handler set. That does no harm while the signal is blocked in
//! every thread, as ART blocks it; but the recorder unblocks it. So the code at the handler's address is
//! checked before each call: it must be executable memory, and from the same file as when the handler was
//! first seen. When the check is not possible, the handler is not called for this signal, because a call of
//! code that is gone ends the app. The check is repeated at the next signal.

use super::sigchain;
use crate::sys::mapped::{self, Origin};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::{io, ptr};

static NOTED: Noted = Noted::new();
/// How often a handler was not called because its code is gone.
static GONE: AtomicU32 = AtomicU32::new(0);
/// How often a handler was not called because the kernel did not say whether its code is there.
static UNKNOWN: AtomicU32 = AtomicU32::new(0);

/// The handler that was found, and where its code came from: a seqlock with one writer, read in signal
/// handlers.
struct Noted {
    /// Odd while the rest changes.
    version: AtomicU32,
    handler: AtomicUsize,
    origin: [AtomicU64; 3],
}

impl Noted {
    const fn new() -> Self {
        Self {
            version: AtomicU32::new(0),
            handler: AtomicUsize::new(0),
            origin: [const { AtomicU64::new(0) }; 3],
        }
    }

    /// Notes a handler and where its code came from. Must be called by one thread at a time.
    fn set(&self, handler: usize, origin: Origin) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.handler.store(handler, Ordering::Relaxed);
        for (word, value) in self.origin.iter().zip([origin.device, origin.inode, origin.position]) {
            word.store(value, Ordering::Relaxed);
        }
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// Where the code of this handler came from; `None` when another handler was noted, and while the note
    /// changes.
    fn of(&self, handler: usize) -> Option<Origin> {
        let version = self.version.load(Ordering::Acquire);
        let same = self.handler.load(Ordering::Relaxed) == handler;
        let [device, inode, position] = [0, 1, 2].map(|at| self.origin.get(at));
        let value = |word: Option<&AtomicU64>| word.map_or(0, |word| word.load(Ordering::Relaxed));
        let origin = Origin { device: value(device), inode: value(inode), position: value(position) };
        fence(Ordering::Acquire);
        let whole = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        (same && whole).then_some(origin)
    }
}

fn is_function(handler: usize) -> bool {
    !matches!(handler, libc::SIG_DFL | libc::SIG_IGN)
}

/// Reads which handler is set now, and notes where the code of a new one came from. By one thread at a time;
/// reads a file for a new handler, so not on the main thread. Returns whether a handler is set.
pub(super) fn note() -> bool {
    let handler = sigchain::user_action().sa_sigaction;
    if is_function(handler)
        && NOTED.of(handler).is_none()
        && let Ok(Some(origin)) = mapped::code_at(handler)
    {
        NOTED.set(handler, origin);
    }
    is_function(handler)
}

/// How often a handler was not called because its code is gone.
pub(super) fn gone() -> u32 {
    GONE.load(Ordering::Relaxed)
}

/// How often a handler was not called because the kernel did not say whether its code is there.
pub(super) fn unknown() -> u32 {
    UNKNOWN.load(Ordering::Relaxed)
}

/// Calls the handler that is set now, if there is one. Async-signal-safe if that handler is.
///
/// # Safety
/// Call it in a handler of `signal`; the other parameters are that handler's other arguments.
pub(super) unsafe fn call(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let action = sigchain::user_action();
    // By default the signal ends a process; ART's processes block it instead, so that the default never
    // applied.
    if !is_function(action.sa_sigaction) {
        return;
    }
    if !may_call(action.sa_sigaction, &mapped::code_at(action.sa_sigaction)) {
        return;
    }
    if action.sa_flags & libc::SA_RESETHAND != 0 {
        let spent = libc::sigaction {
            sa_sigaction: libc::SIG_DFL,
            sa_flags: action.sa_flags & !libc::SA_SIGINFO,
            ..action
        };
        sigchain::set_user_action(&spent);
    }
    // SAFETY: passed on; the code is there, and the library that has set it says by its flags which arguments
    // it takes.
    unsafe { call_masked(&action, signal, info, context) };
}

/// Whether a handler may be called: whether its code is certainly still there. `found` is what
/// [`mapped::code_at`] found at its address. Counts the handlers that may not be called.
fn may_call(handler: usize, found: &io::Result<Option<Origin>>) -> bool {
    let count = match found {
        // One that was set since the last check is only known to be code.
        Ok(Some(found)) if NOTED.of(handler).is_none_or(|noted| *found == noted) => return true,
        Ok(_) => &GONE,
        Err(_) => &UNKNOWN,
    };
    count.fetch_add(1, Ordering::Relaxed);
    false
}

/// # Safety
/// `action` contains a handler function. The function's code is mapped, and the function takes the arguments
/// that the flags of `action` announce. The other parameters are the arguments of the signal handler that
/// runs now.
unsafe fn call_masked(
    action: &libc::sigaction,
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    let deferred = if action.sa_flags & libc::SA_NODEFER == 0 { 1 << (signal - 1) } else { 0 };
    // What the kernel adds to the interrupted thread's mask. Ours is wider.
    // SAFETY: a handler's own third argument.
    let interrupted = unsafe { interrupted_mask(context) };
    let ours = set_mask(interrupted.unwrap_or(0) | first_signals(&action.sa_mask) | deferred);
    let function = action.sa_sigaction;
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
    set_mask(ours);
}

/// The signals that the kernel knows, from a C library's set. That set may have room for more or for fewer.
fn first_signals(set: &libc::sigset_t) -> u64 {
    let mut signals = 0_u64;
    let len = size_of::<libc::sigset_t>().min(size_of::<u64>());
    // SAFETY: both have that many bytes; a set is an array of bits, the lowest first.
    unsafe { ptr::copy_nonoverlapping((&raw const *set).cast::<u8>(), (&raw mut signals).cast::<u8>(), len) };
    signals
}

/// Sets the calling thread's mask, and returns what it was.
fn set_mask(mask: u64) -> u64 {
    let mut before = 0_u64;
    // SAFETY: both sets have the kernel's size.
    unsafe {
        let (mask, before) = (&raw const mask, &raw mut before);
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, mask, before, size_of::<u64>());
    }
    before
}

/// The position of the interrupted thread's mask in a context: after the flags, the link and the alternative
/// stack, and on all processors except arm64 also after the registers, whose size no kernel may change
/// (`asm/ucontext.h`, `asm-generic/ucontext.h`).
const MASK_AT: usize = {
    let head = 2 * size_of::<usize>() + size_of::<libc::stack_t>();
    head + if cfg!(target_arch = "x86_64") {
        256
    } else if cfg!(target_arch = "x86") {
        88
    } else if cfg!(target_arch = "arm") {
        84
    } else {
        0
    }
};

/// # Safety
/// `context` is null or the third argument of a signal handler.
unsafe fn interrupted_mask(context: *mut libc::c_void) -> Option<u64> {
    let mut mask = 0_u64;
    if context.is_null() {
        return None;
    }
    // SAFETY: by the caller's promise the kernel's own structure, which has eight bytes there.
    unsafe {
        let from = context.cast::<u8>().add(MASK_AT);
        ptr::copy_nonoverlapping(from, (&raw mut mask).cast::<u8>(), size_of::<u64>());
    }
    Some(mask)
}

#[cfg(test)]
mod tests {
    use super::super::sigquit;
    use super::*;
    use std::mem::{MaybeUninit, offset_of};
    use std::sync::PoisonError;

    const QUIT: u64 = 1 << (libc::SIGQUIT - 1);
    const USR2: u64 = 1 << (libc::SIGUSR2 - 1);
    const HUP: u64 = 1 << (libc::SIGHUP - 1);

    static CALLS: AtomicU32 = AtomicU32::new(0);
    static MASK: AtomicU64 = AtomicU64::new(0);
    static AFTER: AtomicU64 = AtomicU64::new(0);

    extern "C" fn one(signal: libc::c_int) {
        assert_eq!(signal, libc::SIGQUIT);
        let mask = set_mask(0);
        set_mask(mask);
        MASK.store(mask, Ordering::SeqCst);
        CALLS.fetch_add(1, Ordering::SeqCst);
    }

    extern "C" fn three(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the kernel's own.
        assert_eq!(unsafe { (*info).si_pid() }.cast_unsigned(), std::process::id());
        one(signal);
    }

    fn action(handler: usize, flags: libc::c_int, mask: u64) -> libc::sigaction {
        // SAFETY: plain data, for which zeros are valid; a set has room for eight bytes here.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handler;
            action.sa_flags = flags;
            (&raw mut action.sa_mask).cast::<u64>().write(mask);
            action
        }
    }

    static ACTION: std::sync::Mutex<Option<libc::sigaction>> = std::sync::Mutex::new(None);

    /// Takes the place of our handler, with the same mask.
    extern "C" fn first(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let action = ACTION.lock().unwrap().unwrap();
        let before = set_mask(u64::MAX);
        // SAFETY: in a handler, with its arguments; the action is one of this test.
        unsafe { call_masked(&action, signal, info, context) };
        AFTER.store(set_mask(before), Ordering::SeqCst);
    }

    /// The mask that this action's handler ran with, when a real signal interrupted a thread with the mask
    /// `thread`.
    fn seen(thread: u64, called: &libc::sigaction) -> u64 {
        *ACTION.lock().unwrap() = Some(*called);
        sigchain::set_user_action(&action(first as *const () as usize, libc::SA_SIGINFO, 0));
        let before = set_mask(thread);
        let calls = CALLS.load(Ordering::SeqCst);
        // SAFETY: sends a signal that has a handler to this thread.
        assert_eq!(unsafe { libc::raise(libc::SIGQUIT) }, 0);
        assert_eq!(set_mask(before), thread);
        assert_eq!(CALLS.load(Ordering::SeqCst), calls + 1);
        // The kernel blocks no signal that cannot be blocked.
        let never = (1 << (libc::SIGKILL - 1)) | (1 << (libc::SIGSTOP - 1));
        assert_eq!(AFTER.load(Ordering::SeqCst), !never);
        MASK.load(Ordering::SeqCst)
    }

    #[test]
    fn another_librarys_handler_runs_with_the_mask_and_the_flags_that_it_asked_for() {
        let _alone = sigquit::IN_TEST.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(MASK_AT, offset_of!(libc::ucontext_t, uc_sigmask));
        let found = sigchain::user_action();
        let (one, three) = (one as *const () as usize, three as *const () as usize);
        assert_eq!(seen(HUP, &action(one, 0, 0)), HUP | QUIT);
        assert_eq!(seen(0, &action(one, 0, USR2)), USR2 | QUIT);
        assert_eq!(seen(HUP, &action(three, libc::SA_SIGINFO, USR2)), HUP | USR2 | QUIT);
        assert_eq!(seen(0, &action(three, libc::SA_SIGINFO | libc::SA_NODEFER, 0)), 0);

        // Once, if that is what it asked for.
        let calls = CALLS.load(Ordering::SeqCst);
        sigchain::set_user_action(&action(one, libc::SA_RESETHAND, 0));
        for _ in 0..3 {
            // SAFETY: as if in a handler; its only argument is used.
            unsafe { call(libc::SIGQUIT, ptr::null_mut(), ptr::null_mut()) };
        }
        assert_eq!(CALLS.load(Ordering::SeqCst), calls + 1);
        assert_eq!(sigchain::user_action().sa_sigaction, libc::SIG_DFL);
        sigchain::set_user_action(&found);
    }

    #[test]
    fn code_that_is_gone_or_another_librarys_is_not_called() {
        let _alone = sigquit::IN_TEST.lock().unwrap_or_else(PoisonError::into_inner);
        let found = sigchain::user_action();
        let before = (gone(), unknown());
        let calls = CALLS.load(Ordering::SeqCst);
        let at = one as *const () as usize;
        let quit = || {
            // SAFETY: as if in a handler; its only argument is used.
            unsafe { call(libc::SIGQUIT, ptr::null_mut(), ptr::null_mut()) };
            (CALLS.load(Ordering::SeqCst) - calls, gone() - before.0)
        };
        sigchain::set_user_action(&action(at, 0, 0));
        assert_eq!(quit(), (1, 0), "not noted yet");
        assert!(note());
        assert_eq!(quit(), (2, 0));
        // As if it had been set by another library that lay there.
        let here = mapped::code_at(at).unwrap().unwrap();
        NOTED.set(at, Origin { inode: here.inode + 1, ..here });
        assert_eq!(quit(), (2, 1));
        NOTED.set(at, here);
        assert_eq!(quit(), (3, 1));
        // Nothing says that it is gone, and it is called as soon as it is known to be there.
        assert!(!may_call(at, &Err(io::Error::from_raw_os_error(libc::ENOMEM))));
        assert_eq!((quit(), unknown() - before.1), ((4, 1), 1));
        sigchain::set_user_action(&action(libc::SIG_IGN, 0, 0));
        assert!(!note());
        assert_eq!(quit(), (4, 1));
        for data in [0x1000, (&raw const CALLS) as usize] {
            assert!(!may_call(data, &mapped::code_at(data)));
        }
        assert_eq!(gone() - before.0, 3);
        sigchain::set_user_action(&found);
    }
}
