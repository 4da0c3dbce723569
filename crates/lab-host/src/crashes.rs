//! The native halves of `com.othersdk.Crashes`, a crash reporter, and of `com.othersdk.Tracer`, a debugger.

use jni::objects::{JClass, JString};
use jni::{EnvUnowned, jni_str};
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The address of the recorder's function `loopbox_mark_crash`. It is found before any crash, because `dlsym`
/// is not async-signal-safe.
static MARK: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handler(signal: libc::c_int) {
    let mark = MARK.load(Ordering::SeqCst);
    if mark != 0 {
        // SAFETY: found by `install` under the name of a function of this type.
        let mark = unsafe { std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(mark) };
        mark(signal);
    }
    // SAFETY: the signal kills the process when this handler returns and the instruction runs again.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

extern "system" fn install<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    recorder: JString<'local>,
) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let mark = door(&recorder.try_to_string(env)?, c"loopbox_mark_crash");
        MARK.store(mark as usize, Ordering::SeqCst);
        // SAFETY: all structures are filled in before use.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK;
            assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const action, ptr::null_mut()), 0);
        }
        Ok(())
    })
    .resolve::<jni::errors::LogErrorAndDefault>();
}

/// The address of the function `name` in the recorder's library at the path `recorder`, which must be loaded.
fn door(recorder: &str, name: &CStr) -> *mut libc::c_void {
    let path = CString::new(recorder).unwrap_or_default();
    // SAFETY: C strings that live across the calls.
    let found = unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        assert!(!library.is_null(), "the recorder is not loaded");
        libc::dlsym(library, name.as_ptr())
    };
    assert!(!found.is_null(), "the recorder has no {}", name.to_string_lossy());
    found
}

type Listener = extern "C" fn(*const libc::c_char, *const libc::c_char, *const libc::c_char);

extern "C" fn on_report(path: *const libc::c_char, reason: *const libc::c_char, digest: *const libc::c_char) {
    // SAFETY: the recorder promises C strings that are good until this returns.
    let [path, reason, digest] =
        [path, reason, digest].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    println!("SCRIPT native {path} {reason} {digest}");
}

extern "C" fn on_first_file(
    path: *const libc::c_char,
    reason: *const libc::c_char,
    digest: *const libc::c_char,
) {
    // SAFETY: as above.
    let [path, reason, digest] =
        [path, reason, digest].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    println!("SCRIPT first native {path} {reason} {digest}");
}

extern "system" fn listen<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, recorder: JString<'local>) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let recorder = recorder.try_to_string(env)?;
        let listeners: [(&CStr, Listener); 2] =
            [(c"loopbox_on_first_file", on_first_file), (c"loopbox_on_report", on_report)];
        for (name, listener) in listeners {
            let door = door(&recorder, name);
            // SAFETY: found under the name of a function of this type.
            let set =
                unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn(Option<Listener>)>(door) };
            set(Some(listener));
        }
        Ok(())
    })
    .resolve::<jni::errors::LogErrorAndDefault>();
}

extern "system" fn crash(_: EnvUnowned<'_>, _: JClass<'_>) {
    let nowhere = std::hint::black_box(16_usize) as *mut u32;
    // SAFETY: none; the page is not mapped, and the signal for that is what the caller wants.
    unsafe { nowhere.write_volatile(1) };
}

/// Forks a process that traces the calling thread until the thread ends. The tracer lets the thread run, and
/// passes all of its signals on to it.
extern "system" fn attach(_: EnvUnowned<'_>, _: JClass<'_>) {
    let mut ready = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe(ready.as_mut_ptr()) }, 0);
    let [read_end, write_end] = ready;
    // SAFETY: lets any process trace this one, where that needs a word.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
    // SAFETY: no arguments; the child calls only what is async-signal-safe.
    let traced = unsafe { libc::gettid() };
    // SAFETY: as above.
    match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        // SAFETY: plain system calls on numbers and locals.
        0 => unsafe {
            let attached = libc::ptrace(libc::PTRACE_SEIZE, traced, 0, 0);
            let said = u8::from(attached == 0);
            libc::write(write_end, (&raw const said).cast(), 1);
            let mut status = 0;
            while libc::waitpid(traced, &raw mut status, libc::__WALL) == traced && libc::WIFSTOPPED(status) {
                libc::ptrace(libc::PTRACE_CONT, traced, 0, libc::WSTOPSIG(status));
            }
            libc::_exit(0);
        },
        _ => {
            let mut said = 0_u8;
            // SAFETY: one byte into a local.
            unsafe { libc::read(read_end, (&raw mut said).cast(), 1) };
            assert_eq!(said, 1, "tracing is not allowed here");
        }
    }
}

/// Registers the natives of both classes, if the app has them.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let crashes = [
        (jni_str!("install"), jni_str!("(Ljava/lang/String;)V"), install as *mut std::ffi::c_void),
        (jni_str!("listen"), jni_str!("(Ljava/lang/String;)V"), listen as *mut std::ffi::c_void),
        (jni_str!("crash"), jni_str!("()V"), crash as *mut std::ffi::c_void),
    ];
    let tracer = [(jni_str!("attach"), jni_str!("()V"), attach as *mut std::ffi::c_void)];
    crate::registration::register_if_there(env, jni_str!("com/othersdk/Crashes"), &crashes)?;
    crate::registration::register_if_there(env, jni_str!("com/othersdk/Tracer"), &tracer)
}
