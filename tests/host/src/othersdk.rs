//! The native half of `com.othersdk.Signals`: what another library in the same app does with SIGQUIT.

use jni::objects::JClass;
use jni::sys::{jboolean, jint};
use jni::{EnvUnowned, jni_str};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);
static PASS_ON: AtomicBool = AtomicBool::new(false);
static FOUND: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    COUNT.fetch_add(1, Ordering::SeqCst);
    // SAFETY: null, or leaked by `install` and never changed.
    let Some(found) = (unsafe { FOUND.load(Ordering::SeqCst).as_ref() }) else { return };
    let takes_three = found.sa_flags & libc::SA_SIGINFO != 0;
    if PASS_ON.load(Ordering::SeqCst) && takes_three && found.sa_sigaction > libc::SIG_IGN {
        type Full = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: with SA_SIGINFO the field holds a handler of three arguments.
        let next = unsafe { std::mem::transmute::<libc::sighandler_t, Full>(found.sa_sigaction) };
        next(signal, info, context);
    }
}

extern "system" fn install(_: EnvUnowned<'_>, _: JClass<'_>, pass_on: jboolean) {
    PASS_ON.store(pass_on, Ordering::SeqCst);
    let mut found = MaybeUninit::uninit();
    let mut set = MaybeUninit::uninit();
    // SAFETY: all structures have room and are filled in before use; the handler is async-signal-safe.
    unsafe {
        let mut ours: libc::sigaction = MaybeUninit::zeroed().assume_init();
        ours.sa_sigaction = handler as *const () as libc::sighandler_t;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGQUIT, &raw const ours, found.as_mut_ptr()), 0);
        FOUND.store(Box::into_raw(Box::new(found.assume_init())), Ordering::SeqCst);
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGQUIT);
        assert_eq!(libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut()), 0);
    }
}

extern "system" fn remove(_: EnvUnowned<'_>, _: JClass<'_>) {
    // SAFETY: null, or leaked by `install` and never changed.
    if let Some(found) = unsafe { FOUND.load(Ordering::SeqCst).as_ref() } {
        // SAFETY: the action was in force for this signal.
        assert_eq!(unsafe { libc::sigaction(libc::SIGQUIT, found, ptr::null_mut()) }, 0);
    }
}

extern "system" fn block(_: EnvUnowned<'_>, _: JClass<'_>) {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set has room and is filled in before use.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGQUIT);
        assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut()), 0);
    }
}

extern "system" fn count(_: EnvUnowned<'_>, _: JClass<'_>) -> jint {
    COUNT.load(Ordering::SeqCst).cast_signed()
}

/// Registers them, if the app has that class.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let methods = [
        (jni_str!("install"), jni_str!("(Z)V"), install as *mut std::ffi::c_void),
        (jni_str!("remove"), jni_str!("()V"), remove as *mut std::ffi::c_void),
        (jni_str!("block"), jni_str!("()V"), block as *mut std::ffi::c_void),
        (jni_str!("count"), jni_str!("()I"), count as *mut std::ffi::c_void),
    ];
    crate::registration::register_if_there(env, jni_str!("com/othersdk/Signals"), &methods)
}
