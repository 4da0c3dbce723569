//! The native half of `android.os.MessageQueue`, and the stubs' door to this program.
//!
//! On a device libandroid_runtime and libutils implement these with epoll. Here one eventfd and poll(2) a queue
//! are enough: the same blocking and waking, without file descriptor callbacks.

use anyhow::{Context, Result};
use jni::objects::{JClass, JString};
use jni::strings::JNIStr;
use jni::sys::{JNI_FALSE, JNI_TRUE, jboolean, jint, jlong, jobject};
use jni::{Env, EnvUnowned, NativeMethod, jni_str};
use std::ffi::c_void;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

struct Queue {
    wake: OwnedFd,
    polling: AtomicBool,
}

impl Queue {
    /// # Safety
    /// `handle` came from [`init`] and was not passed to [`destroy`]; `MessageQueue.mPtr` keeps that rule.
    unsafe fn from<'a>(handle: jlong) -> &'a Self {
        // SAFETY: by the caller's promise it is a live Box.
        unsafe { &*(handle as *const Self) }
    }
}

extern "system" fn init(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    // SAFETY: plain system call; the descriptor is owned by the queue from here on.
    let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
    assert!(fd >= 0, "eventfd: {}", std::io::Error::last_os_error());
    // SAFETY: `fd` was just created and nothing else owns it.
    let wake = unsafe { OwnedFd::from_raw_fd(fd) };
    Box::into_raw(Box::new(Queue { wake, polling: AtomicBool::new(false) })) as jlong
}

extern "system" fn destroy(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // SAFETY: MessageQueue.dispose calls this once, with the value of nativeInit, and forgets it.
    drop(unsafe { Box::from_raw(handle as *mut Queue) });
}

extern "system" fn poll_once(_: EnvUnowned<'_>, _: jobject, handle: jlong, timeout_ms: jint) {
    // SAFETY: MessageQueue.next passes its live mPtr.
    let queue = unsafe { Queue::from(handle) };
    let fd = queue.wake.as_raw_fd();
    let mut wait = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    queue.polling.store(true, Ordering::Relaxed);
    // SAFETY: one pollfd, alive across the call.
    let ready = unsafe { libc::poll(&raw mut wait, 1, timeout_ms) };
    queue.polling.store(false, Ordering::Relaxed);
    if ready > 0 {
        let mut count = 0_u64;
        // SAFETY: reads at most the 8 bytes of `count`; a failed read means that nobody woke us.
        unsafe { libc::read(fd, (&raw mut count).cast(), 8) };
    }
}

extern "system" fn wake(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    let one = 1_u64;
    // SAFETY: MessageQueue passes its live mPtr; 8 bytes are read from `one`.
    unsafe { libc::write(Queue::from(handle).wake.as_raw_fd(), (&raw const one).cast(), 8) };
}

extern "system" fn is_polling(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jboolean {
    // SAFETY: MessageQueue passes its live mPtr.
    if unsafe { Queue::from(handle) }.polling.load(Ordering::Relaxed) { JNI_TRUE } else { JNI_FALSE }
}

extern "system" fn set_fd_events(mut env: EnvUnowned<'_>, _: JClass<'_>, _: jlong, _: jint, _: jint) {
    env.with_env(|env| -> jni::errors::Result<()> {
        env.throw_new(
            jni_str!("java/lang/UnsupportedOperationException"),
            jni_str!("no fd callbacks on this testbed"),
        )
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>();
}

extern "system" fn log(mut env: EnvUnowned<'_>, _: JClass<'_>, line: JString<'_>) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let text = if line.is_null() { "null".to_owned() } else { line.try_to_string(env)? };
        // Standard output is for what the app says to the test that runs it: two writers on one pipe would mix their
        // lines. A closed output must not kill the process under test.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
        Ok(())
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>();
}

extern "system" fn gettid(_: EnvUnowned<'_>, _: JClass<'_>) -> jint {
    // SAFETY: plain system call without arguments.
    unsafe { libc::gettid() }
}

/// Registers everything. Must run before the first Looper.
pub(crate) fn register(env: &mut Env<'_>) -> Result<()> {
    let queue: [(&JNIStr, &JNIStr, *mut c_void); 6] = [
        (jni_str!("nativeInit"), jni_str!("()J"), init as *mut c_void),
        (jni_str!("nativeDestroy"), jni_str!("(J)V"), destroy as *mut c_void),
        (jni_str!("nativePollOnce"), jni_str!("(JI)V"), poll_once as *mut c_void),
        (jni_str!("nativeWake"), jni_str!("(J)V"), wake as *mut c_void),
        (jni_str!("nativeIsPolling"), jni_str!("(J)Z"), is_polling as *mut c_void),
        (jni_str!("nativeSetFileDescriptorEvents"), jni_str!("(JII)V"), set_fd_events as *mut c_void),
    ];
    let testbed: [(&JNIStr, &JNIStr, *mut c_void); 2] = [
        (jni_str!("log"), jni_str!("(Ljava/lang/String;)V"), log as *mut c_void),
        (jni_str!("gettid"), jni_str!("()I"), gettid as *mut c_void),
    ];
    register_class(env, jni_str!("android/os/MessageQueue"), &queue)?;
    register_class(env, jni_str!("android/os/BedNative"), &testbed)
}

pub(crate) fn register_class(
    env: &mut Env<'_>,
    class: &JNIStr,
    methods: &[(&JNIStr, &JNIStr, *mut c_void)],
) -> Result<()> {
    let found = env.find_class(class).with_context(|| format!("no class {class}"))?;
    // SAFETY: each function above has the C signature that its Java descriptor stands for.
    let methods: Vec<_> = methods
        .iter()
        .map(|(name, sig, function)| unsafe { NativeMethod::from_raw_parts(name, sig, *function) })
        .collect();
    // SAFETY: as above.
    unsafe { env.register_native_methods(found, &methods) }
        .with_context(|| format!("cannot register natives of {class}"))
}
