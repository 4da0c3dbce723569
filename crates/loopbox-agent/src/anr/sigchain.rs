//! ART's signal chain (libsigchain), which stands between the app's libraries and the kernel's signal
//! actions.
//!
//! `app_process` has it in its global group, so every library of the app finds the chain's `sigaction` and
//! `signal` before the C library's. For a signal that is claimed, these two functions only store what a
//! library sets. The kernel keeps the chain's own handler, which calls the *special handler* first. So
//! another library can at no moment change what the kernel does with the signal. ART claims SIGSEGV that way
//! since Android 8.
//!
//! Source: `sigchainlib/sigchain.cc` of Android 8.0, 9, 10, 11, 12, and of a version newer than 14. Before
//! Android 8 the chain has no `AddSpecialSignalHandlerFn`, and a library that sets the default action changes
//! it in the kernel. So there the signal is not claimed.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A special handler. It returns true when it has handled the signal; then no other handler is called.
pub(super) type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) -> bool;

/// `SigchainAction`.
#[repr(C)]
struct SpecialAction {
    handler: Handler,
    /// The signal mask while the handler runs.
    mask: libc::sigset_t,
    flags: u64,
}

/// `SIGCHAIN_ALLOW_NORETURN`: the chain does not record that our handler runs, so our handler need not
/// return. Our handler calls the app's handlers, and such a handler may leave by a jump. It runs as it would
/// without our handler.
const ALLOW_NORETURN: u64 = 1;

/// The functions that the chain exports.
#[derive(Clone, Copy)]
struct Chain {
    /// `AddSpecialSignalHandlerFn`: copies the action, and claims the signal. Aborts when there is no room
    /// for it: a signal has room for two.
    add: unsafe extern "C" fn(libc::c_int, *const SpecialAction),
    /// `EnsureFrontOfChain`: sets the chain's handler in the kernel again. The action that the kernel had
    /// before becomes the app's action.
    ensure_front: unsafe extern "C" fn(libc::c_int),
}

/// The chain in which the signal is claimed, or why the signal is not claimed.
static CLAIMED: OnceLock<Result<Chain, Unclaimed>> = OnceLock::new();
/// The chain's own handler, as the kernel has it; 0 while the signal is not claimed.
static FRONT: AtomicUsize = AtomicUsize::new(0);

/// Why the signal is not claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unclaimed {
    /// The process has no signal chain with the functions that are needed. Android has such a chain since
    /// version 8.
    Missing,
    /// Another library has claimed the signal. The chain has room for two handlers of a signal, and does not
    /// show whether both places are used.
    Taken,
    /// SIGQUIT was claimed, but the check after that failed: the chain does not keep its handler in the
    /// kernel, or the kernel does not report its handler. So a library could still replace that handler.
    Bypassed,
}

impl Display for Unclaimed {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Missing => "ART has no signal chain that keeps a handler in place (Android 8 has)",
            Self::Taken => "another library has claimed SIGQUIT in ART's signal chain",
            Self::Bypassed => "ART's signal chain does not keep a handler in place",
        })
    }
}

impl Error for Unclaimed {}

/// How the kernel delivers the signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InKernel {
    /// The kernel calls the chain's handler, or does not report which handler it calls.
    Chain,
    Default,
    Ignored,
    /// The kernel calls a handler that was set past the chain.
    Other,
}

/// Claims SIGQUIT for `handler`. The claim cannot be undone: that would leave the signal without a handler.
/// The first call decides; later calls return the same result. Takes the linker's lock.
///
/// # Errors
/// When a library of the app could still replace the handler in the kernel. The signal must not be unblocked
/// then.
pub(super) fn claim(handler: Handler) -> Result<(), Unclaimed> {
    CLAIMED.get_or_init(|| claim_in(find()?, handler)).map(|_| ())
}

/// Whether the signal is claimed for our handler.
pub(super) fn is_claimed() -> bool {
    FRONT.load(Ordering::SeqCst) != 0
}

fn claim_in(chain: Chain, handler: Handler) -> Result<Chain, Unclaimed> {
    let (before, set) = (kernel_handler(), user_action());
    // Where the two differ the signal is claimed: a third special handler would be the end of the process.
    if before != Some(set.sa_sigaction) {
        return Err(Unclaimed::Taken);
    }
    let action = SpecialAction { handler, mask: all_but_faults(), flags: ALLOW_NORETURN };
    // SAFETY: `find` found a function of this name, and so of this type; it copies the action. There is room:
    // nobody has claimed the signal.
    unsafe { (chain.add)(libc::SIGQUIT, &raw const action) };
    // What any library may do from now on, done once: to set an action, the one that is set already.
    let front = kernel_handler().filter(|front| !matches!(*front, libc::SIG_DFL | libc::SIG_IGN));
    let kept = user_action().sa_sigaction == set.sa_sigaction;
    set_user_action(&set);
    match front {
        Some(front) if kept && front != set.sa_sigaction && kernel_handler() == Some(front) => {
            FRONT.store(front, Ordering::SeqCst);
            Ok(chain)
        }
        _ => Err(Unclaimed::Bypassed),
    }
}

fn find() -> Result<Chain, Unclaimed> {
    let symbol = |name: &std::ffi::CStr| {
        // SAFETY: a C string that lives across the call.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        (!found.is_null()).then_some(found).ok_or(Unclaimed::Missing)
    };
    let (add, ensure_front) = (symbol(c"AddSpecialSignalHandlerFn")?, symbol(c"EnsureFrontOfChain")?);
    // SAFETY: since Android 8, the first version that has both names, these are their types (`sigchain.h`).
    unsafe {
        Ok(Chain {
            add: std::mem::transmute::<
                *mut libc::c_void,
                unsafe extern "C" fn(libc::c_int, *const SpecialAction),
            >(add),
            ensure_front: std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(libc::c_int)>(
                ensure_front,
            ),
        })
    }
}

/// What the kernel does with the signal now. Async-signal-safe. To be called only when the signal is claimed.
pub(super) fn in_kernel() -> InKernel {
    match kernel_handler() {
        Some(libc::SIG_DFL) => InKernel::Default,
        Some(libc::SIG_IGN) => InKernel::Ignored,
        Some(handler) if handler != FRONT.load(Ordering::SeqCst) => InKernel::Other,
        _ => InKernel::Chain,
    }
}

/// Gives the kernel the chain's handler again.
pub(super) fn put_back() {
    if let Some(Ok(chain)) = CLAIMED.get() {
        // SAFETY: `find` found a function of this name, and so of this type.
        unsafe { (chain.ensure_front)(libc::SIGQUIT) };
    }
}

/// The action that a library of the app has set last. Async-signal-safe: the chain reads a variable.
pub(super) fn user_action() -> libc::sigaction {
    // Zeros are the default action, for a chain that does nothing at all (`SkipAddSignalHandler`).
    // SAFETY: plain data, for which zeros are valid; nothing is changed, and there is room for the result.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        libc::sigaction(libc::SIGQUIT, ptr::null(), &raw mut action);
        action
    }
}

/// Sets the action that the chain keeps for the app. Async-signal-safe while the signal is claimed, because
/// the chain then only writes a variable.
pub(super) fn set_user_action(action: &libc::sigaction) {
    // SAFETY: an action that another library has set, or the default one.
    unsafe { libc::sigaction(libc::SIGQUIT, action, ptr::null_mut()) };
}

/// The handler that the kernel has, read without the chain. `None` where the kernel refuses to report it.
fn kernel_handler() -> Option<libc::sighandler_t> {
    // More than a `struct sigaction` of any kernel, which begins with the handler.
    let mut action = [0_u64; 8];
    // SAFETY: nothing is changed; there is room for the result; the kernel's sets have eight bytes.
    let failed = unsafe {
        let action = action.as_mut_ptr();
        libc::syscall(libc::SYS_rt_sigaction, libc::SIGQUIT, ptr::null::<u64>(), action, size_of::<u64>())
    };
    let [handler, ..] = action;
    (failed == 0).then_some(handler as libc::sighandler_t)
}

/// The mask that ART's own special handlers have: all signals except those of faults, because a fault cannot
/// wait until the handler returns. Signals that the interrupted thread had blocked stay blocked.
fn all_but_faults() -> libc::sigset_t {
    const FAULTS: [libc::c_int; 5] = [libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV];
    let faults = FAULTS.iter().fold(0_u32, |set, signal| set | 1 << (signal - 1));
    let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: a set is an array of bits, of 32 or more, and a byte of ones is valid for any of them.
    unsafe {
        ptr::write_bytes(mask.as_mut_ptr(), 0xff, 1);
        *mask.as_mut_ptr().cast::<u32>() &= !faults;
        mask.assume_init()
    }
}

/// Replaces the chain, which a process of unit tests does not have: sets the kernel's action to `handler`,
/// and restores it on request.
#[cfg(test)]
pub(super) fn stand_in(handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void)) {
    unsafe extern "C" fn add(_: libc::c_int, _: *const SpecialAction) {}
    unsafe extern "C" fn ensure_front(signal: libc::c_int) {
        // SAFETY: plain data, for which zeros are valid; the handler is the one that was passed.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = FRONT.load(Ordering::SeqCst);
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
            assert_eq!(libc::sigaction(signal, &raw const action, ptr::null_mut()), 0);
        }
    }
    let _ = CLAIMED.set(Ok(Chain { add, ensure_front }));
    FRONT.store(handler as *const () as usize, Ordering::SeqCst);
    put_back();
}

#[cfg(test)]
mod tests {
    use super::super::sigquit;
    use super::*;
    use std::sync::PoisonError;

    extern "C" fn handler(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) -> bool {
        true
    }

    extern "C" fn front(_: libc::c_int) {}

    /// Simulates [`Chain::add`] where libraries bypass the chain, because they find the C library's functions
    /// before the chain's. Checks the action's mask, and sets a handler in the kernel only.
    unsafe extern "C" fn add(signal: libc::c_int, action: *const SpecialAction) {
        // SAFETY: the caller's own action; `front` is a handler.
        unsafe {
            let faults = *(&raw const (*action).mask).cast::<u32>();
            assert_eq!(faults & 1 << (libc::SIGSEGV - 1), 0, "a fault cannot wait");
            assert_ne!(faults & 1 << (libc::SIGUSR1 - 1), 0, "what is blocked stays so");
            assert_ne!(libc::signal(signal, front as *const () as libc::sighandler_t), libc::SIG_ERR);
        }
    }

    unsafe extern "C" fn ensure_front(_: libc::c_int) {}

    #[test]
    fn a_chain_that_an_action_gets_past_is_noticed() {
        let _alone = sigquit::IN_TEST.lock().unwrap_or_else(PoisonError::into_inner);
        let before = user_action();
        let result = claim_in(Chain { add, ensure_front }, handler).map(|_| ());
        assert_eq!(result, Err(Unclaimed::Bypassed));
        set_user_action(&before);
    }
}
