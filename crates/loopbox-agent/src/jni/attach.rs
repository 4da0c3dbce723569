//! Threads of the recorder that are attached to the VM.

use super::env::Env;
use crate::sys::{log, memory, thread};
use jni::{JavaVM, sys};
use std::ffi::{CStr, c_void};

/// Starts a thread that is attached to the VM for its whole life, as a daemon: it never keeps the VM from
/// ending.
///
/// # Errors
/// When the system cannot create a thread.
pub(crate) fn spawn(
    vm: &JavaVM,
    name: &'static CStr,
    body: impl FnOnce(&mut Env<'_>) + Send + 'static,
) -> std::io::Result<()> {
    spawn_boxed(vm, name, Box::new(body))
}

fn spawn_boxed(
    vm: &JavaVM,
    name: &'static CStr,
    body: Box<dyn FnOnce(&mut Env<'_>) + Send>,
) -> std::io::Result<()> {
    // The new thread would lack it, too, and the VM ends the process then.
    if memory::is_short() {
        return Err(std::io::ErrorKind::OutOfMemory.into());
    }
    let vm = vm.clone();
    let attached = move || {
        if with_env(&vm, name, body).is_none() {
            log::warn(&format!("{}: the VM does not accept this thread", name.to_str().unwrap_or_default()));
        }
    };
    thread::start(name, 512 << 10, Box::new(attached))
}

/// Attaches the calling thread as a daemon for the time of `body`; `None` when the VM refuses. The jni crate
/// attaches no daemons.
pub(crate) fn with_env<T>(vm: &JavaVM, name: &CStr, body: impl FnOnce(&mut Env<'_>) -> T) -> Option<T> {
    let mut arguments = sys::JavaVMAttachArgs {
        version: sys::JNI_VERSION_1_6,
        name: name.as_ptr().cast_mut(),
        group: std::ptr::null_mut(),
    };
    let raw = vm.get_raw();
    let mut env: *mut c_void = std::ptr::null_mut();
    // SAFETY: the VM outlives this library; the arguments live across the call, which copies them.
    let code = unsafe {
        ((**raw).v1_4.AttachCurrentThreadAsDaemon)(raw, &raw mut env, (&raw mut arguments).cast::<c_void>())
    };
    if code != sys::JNI_OK {
        return None;
    }
    // SAFETY: the environment of this thread, which stays attached until the next statement but one.
    let mut env = unsafe { Env::from_raw(env.cast()) };
    let done = body(&mut env);
    detach(vm);
    Some(done)
}

fn detach(vm: &JavaVM) {
    let raw = vm.get_raw();
    // SAFETY: the VM outlives this library, and this thread does not use its environment any more.
    unsafe { ((**raw).v1_1.DetachCurrentThread)(raw) };
}
