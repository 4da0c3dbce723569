//! The native half of `com.othersdk.Signals`: how another library in the same app handles SIGQUIT.

use jni::objects::{JClass, JString};
use jni::sys::{jboolean, jint};
use jni::{EnvUnowned, jni_str};
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);
static PASS_ON: AtomicBool = AtomicBool::new(false);
static FOUND: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());
/// `LIBRARY` is the library that was loaded, and `ITS_HANDLER` is the handler that this library set.
static LIBRARY: AtomicPtr<libc::c_void> = AtomicPtr::new(ptr::null_mut());
static ITS_HANDLER: AtomicUsize = AtomicUsize::new(0);

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

fn action(handler: libc::sighandler_t, flags: libc::c_int) -> libc::sigaction {
    // SAFETY: plain data, for which zeros are valid.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    action
}

extern "system" fn install(_: EnvUnowned<'_>, _: JClass<'_>, pass_on: jboolean) {
    PASS_ON.store(pass_on, Ordering::SeqCst);
    let ours = action(handler as *const () as libc::sighandler_t, libc::SA_SIGINFO | libc::SA_RESTART);
    let mut found = MaybeUninit::uninit();
    let mut set = MaybeUninit::uninit();
    // SAFETY: all structures have room and are filled in before use; the handler is async-signal-safe.
    unsafe {
        assert_eq!(libc::sigaction(libc::SIGQUIT, &raw const ours, found.as_mut_ptr()), 0);
        FOUND.store(Box::into_raw(Box::new(found.assume_init())), Ordering::SeqCst);
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGQUIT);
        assert_eq!(libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut()), 0);
    }
}

/// `NOTIFIER` is the eventfd that the dumper's handler writes to. `FOUND_MASK` is the signal mask from before
/// the dumper was installed. `DUMPS` counts the dumps.
static NOTIFIER: AtomicI32 = AtomicI32::new(-1);
static FOUND_MASK: AtomicPtr<libc::sigset_t> = AtomicPtr::new(ptr::null_mut());
static DUMPS: AtomicU32 = AtomicU32::new(0);

extern "C" fn notify(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    COUNT.fetch_add(1, Ordering::SeqCst);
    let one = 1_u64;
    // SAFETY: an eventfd takes eight bytes.
    unsafe { libc::write(NOTIFIER.load(Ordering::SeqCst), (&raw const one).cast(), 8) };
}

/// The id of ART's Signal Catcher.
fn signal_catcher() -> Option<libc::pid_t> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let is_it = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm"))
            .is_ok_and(|name| name.trim_end() == "Signal Catcher")
    };
    tasks.flatten().find(is_it)?.file_name().to_str()?.parse().ok()
}

/// The same as xCrash 3.0.0 (`xcc_signal_trace_register`, `xc_trace_dumper`): unblocks the signal on the main
/// thread, and sets a handler that blocks all signals and wakes a thread. That thread passes the signal on to
/// the Signal Catcher.
extern "system" fn install_dumper(_: EnvUnowned<'_>, _: JClass<'_>) {
    let mut set = MaybeUninit::uninit();
    let mut mask = MaybeUninit::uninit();
    let mut found = MaybeUninit::uninit();
    let mut ours = action(notify as *const () as libc::sighandler_t, libc::SA_RESTART | libc::SA_SIGINFO);
    // SAFETY: all structures have room and are filled in before use; the handler is async-signal-safe.
    unsafe {
        NOTIFIER.store(libc::eventfd(0, libc::EFD_CLOEXEC), Ordering::SeqCst);
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGQUIT);
        assert_eq!(libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), mask.as_mut_ptr()), 0);
        libc::sigfillset(&raw mut ours.sa_mask);
        assert_eq!(libc::sigaction(libc::SIGQUIT, &raw const ours, found.as_mut_ptr()), 0);
        FOUND_MASK.store(Box::into_raw(Box::new(mask.assume_init())), Ordering::SeqCst);
        FOUND.store(Box::into_raw(Box::new(found.assume_init())), Ordering::SeqCst);
    }
    std::thread::spawn(|| {
        let mut count = 0_u64;
        // SAFETY: room for the eight bytes of an eventfd.
        while unsafe { libc::read(NOTIFIER.load(Ordering::SeqCst), (&raw mut count).cast(), 8) } == 8 {
            DUMPS.fetch_add(1, Ordering::SeqCst);
            if let Some(catcher) = signal_catcher() {
                // SAFETY: no pointers; a thread of this process.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), catcher, libc::SIGQUIT) };
            }
        }
    });
}

/// Removes the dumper as xCrash does (`xcc_signal_trace_unregister`): restores the mask and the action that
/// were found.
extern "system" fn remove_dumper(_: EnvUnowned<'_>, _: JClass<'_>) {
    // SAFETY: null, or leaked by `install_dumper` and never changed.
    unsafe {
        let (mask, found) = (FOUND_MASK.load(Ordering::SeqCst), FOUND.load(Ordering::SeqCst));
        assert!(!mask.is_null() && !found.is_null());
        assert_eq!(libc::pthread_sigmask(libc::SIG_SETMASK, mask, ptr::null_mut()), 0);
        assert_eq!(libc::sigaction(libc::SIGQUIT, found, ptr::null_mut()), 0);
    }
}

extern "system" fn dumps(_: EnvUnowned<'_>, _: JClass<'_>) -> jint {
    DUMPS.load(Ordering::SeqCst).cast_signed()
}

/// Sets a handler with the C library's `sigaction`, which is found by `dlsym`. So the call bypasses ART's
/// signal chain. The handler does not pass the signal on.
extern "system" fn install_past_the_chain(_: EnvUnowned<'_>, _: JClass<'_>) {
    type Sigaction =
        unsafe extern "C" fn(libc::c_int, *const libc::sigaction, *mut libc::sigaction) -> libc::c_int;
    PASS_ON.store(false, Ordering::SeqCst);
    let ours = action(handler as *const () as libc::sighandler_t, libc::SA_SIGINFO | libc::SA_RESTART);
    // SAFETY: the C library's function of this name has this type; an action whose handler is
    // async-signal-safe.
    unsafe {
        let library = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        assert!(!library.is_null());
        let symbol = libc::dlsym(library, c"sigaction".as_ptr());
        assert!(!symbol.is_null());
        let set = std::mem::transmute::<*mut libc::c_void, Sigaction>(symbol);
        assert_eq!(set(libc::SIGQUIT, &raw const ours, ptr::null_mut()), 0);
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

/// Sets the action for SIGQUIT that `what` selects: one of the constants of `com.othersdk.Signals`. Changes
/// no signal mask. So main's mask stays as it is, as when a library sets an action on a thread other than
/// main.
extern "system" fn set(_: EnvUnowned<'_>, _: JClass<'_>, what: jint) {
    let new = match what {
        0 => action(libc::SIG_DFL, 0),
        1 => action(libc::SIG_IGN, 0),
        2 => action(handler as *const () as libc::sighandler_t, libc::SA_SIGINFO | libc::SA_RESTART),
        _ => action(handler as *const () as libc::sighandler_t, libc::SA_SIGINFO | libc::SA_RESETHAND),
    };
    // SAFETY: an action whose handler is async-signal-safe.
    assert_eq!(unsafe { libc::sigaction(libc::SIGQUIT, &raw const new, ptr::null_mut()) }, 0);
}

/// Sets the default action or SIG_IGN by a system call, which no other library notices.
extern "system" fn set_by_system_call(_: EnvUnowned<'_>, _: JClass<'_>, what: jint) {
    let action = [what as u64, 0, 0, 0];
    // SAFETY: the kernel's structure, which begins with the action; no handler, no flags, an empty mask of
    // eight bytes.
    let failed = unsafe {
        let (action, nowhere) = (action.as_ptr(), ptr::null_mut::<u64>());
        libc::syscall(libc::SYS_rt_sigaction, libc::SIGQUIT, action, nowhere, size_of::<u64>())
    };
    assert_eq!(failed, 0);
}

/// Registers for the signal in ART's signal chain, as a debugger or a native bridge (a translator of another
/// processor's code) may.
extern "system" fn claim(_: EnvUnowned<'_>, _: JClass<'_>) {
    extern "C" fn not_mine(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) -> bool {
        false
    }
    /// `SigchainAction`.
    #[repr(C)]
    struct Action {
        handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) -> bool,
        mask: libc::sigset_t,
        flags: u64,
    }
    // SAFETY: the function of this name has this type, and copies the action; no signal is in the mask.
    unsafe {
        let add = libc::dlsym(libc::RTLD_DEFAULT, c"AddSpecialSignalHandlerFn".as_ptr());
        assert!(!add.is_null());
        let add =
            std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(libc::c_int, *const Action)>(add);
        let action = Action { handler: not_mine, mask: MaybeUninit::zeroed().assume_init(), flags: 0 };
        add(libc::SIGQUIT, &raw const action);
    }
}

extern "system" fn raise(_: EnvUnowned<'_>, _: JClass<'_>) {
    // SAFETY: no pointers. To the calling thread, whatever its mask is.
    assert_eq!(unsafe { libc::raise(libc::SIGQUIT) }, 0);
}

/// Opens a library, which sets a handler when it is loaded.
extern "system" fn load<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, path: JString<'local>) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let path = CString::new(path.try_to_string(env)?).unwrap_or_default();
        // SAFETY: a C string; the test's own library.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null(), "no library {path:?}");
        LIBRARY.store(library, Ordering::SeqCst);
        let mut set = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: filled in by the call.
        let handler = unsafe {
            assert_eq!(libc::sigaction(libc::SIGQUIT, ptr::null(), set.as_mut_ptr()), 0);
            set.assume_init().sa_sigaction
        };
        assert!(handler > libc::SIG_IGN);
        ITS_HANDLER.store(handler, Ordering::SeqCst);
        Ok(())
    })
    .resolve::<jni::errors::LogErrorAndDefault>();
}

/// Unloads the library. Its handler stays set.
extern "system" fn unload(_: EnvUnowned<'_>, _: JClass<'_>) {
    // SAFETY: opened by `load`, and nothing of it runs.
    assert_eq!(unsafe { libc::dlclose(LIBRARY.load(Ordering::SeqCst)) }, 0);
    let page = ITS_HANDLER.load(Ordering::SeqCst) & !4095;
    let mut core = 0_u8;
    // SAFETY: asks whether the page is mapped; room for its answer.
    let mapped = unsafe { libc::mincore(page as *mut libc::c_void, 1, &raw mut core) };
    assert_eq!(mapped, -1, "the library is still there");
}

/// Maps a file as executable at the address of the unloaded library's handler. This simulates another library
/// that the linker loads at the same address.
extern "system" fn load_over<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, path: JString<'local>) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let path = CString::new(path.try_to_string(env)?).unwrap_or_default();
        let page = ITS_HANDLER.load(Ordering::SeqCst) & !4095;
        const RIGHTS: libc::c_int = libc::PROT_READ | libc::PROT_EXEC;
        const HERE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: a C string; the page is mapped only where nothing is.
        let mapped = unsafe {
            let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            libc::mmap(page as *mut libc::c_void, 4096, RIGHTS, HERE, fd, 0)
        };
        assert_eq!(mapped as usize, page, "{}", std::io::Error::last_os_error());
        Ok(())
    })
    .resolve::<jni::errors::LogErrorAndDefault>();
}

extern "system" fn count(_: EnvUnowned<'_>, _: JClass<'_>) -> jint {
    COUNT.load(Ordering::SeqCst).cast_signed()
}

/// Registers the natives of `com.othersdk.Signals`, if the app has that class.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let methods = [
        (jni_str!("install"), jni_str!("(Z)V"), install as *mut std::ffi::c_void),
        (jni_str!("installDumper"), jni_str!("()V"), install_dumper as *mut std::ffi::c_void),
        (jni_str!("removeDumper"), jni_str!("()V"), remove_dumper as *mut std::ffi::c_void),
        (jni_str!("dumps"), jni_str!("()I"), dumps as *mut std::ffi::c_void),
        (jni_str!("installPastTheChain"), jni_str!("()V"), install_past_the_chain as *mut std::ffi::c_void),
        (jni_str!("remove"), jni_str!("()V"), remove as *mut std::ffi::c_void),
        (jni_str!("block"), jni_str!("()V"), block as *mut std::ffi::c_void),
        (jni_str!("set"), jni_str!("(I)V"), set as *mut std::ffi::c_void),
        (jni_str!("setBySystemCall"), jni_str!("(I)V"), set_by_system_call as *mut std::ffi::c_void),
        (jni_str!("claim"), jni_str!("()V"), claim as *mut std::ffi::c_void),
        (jni_str!("raise"), jni_str!("()V"), raise as *mut std::ffi::c_void),
        (jni_str!("load"), jni_str!("(Ljava/lang/String;)V"), load as *mut std::ffi::c_void),
        (jni_str!("unload"), jni_str!("()V"), unload as *mut std::ffi::c_void),
        (jni_str!("loadOver"), jni_str!("(Ljava/lang/String;)V"), load_over as *mut std::ffi::c_void),
        (jni_str!("count"), jni_str!("()I"), count as *mut std::ffi::c_void),
    ];
    crate::registration::register_if_there(env, jni_str!("com/othersdk/Signals"), &methods)
}
