//! Threads of our own that Java knows.

use crate::log;
use jni::{Env, JavaVM, sys};
use std::ffi::{CString, c_void};

/// Starts a thread that is attached to the VM for its life, as a daemon: it never keeps the VM from ending.
///
/// # Errors
/// When the system has no thread for us.
pub(crate) fn spawn(
    vm: &JavaVM,
    name: &'static str,
    body: impl FnOnce(&mut Env<'_>) + Send + 'static,
) -> std::io::Result<()> {
    let vm = vm.clone();
    std::thread::Builder::new().name(name.to_owned()).stack_size(512 << 10).spawn(move || {
        if !attach_daemon(&vm, name) {
            log::warn(&format!("{name}: the VM does not accept this thread"));
            return;
        }
        let run = vm.attach_current_thread(|env| -> jni::errors::Result<()> {
            body(env);
            Ok(())
        });
        if let Err(error) = run {
            log::warn(&format!("{name}: ended by {error}"));
        }
        detach(&vm);
    })?;
    Ok(())
}

/// The jni crate attaches no daemons; once attached, it takes the thread as it is.
fn attach_daemon(vm: &JavaVM, name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    let mut arguments = sys::JavaVMAttachArgs {
        version: sys::JNI_VERSION_1_6,
        name: name.as_ptr().cast_mut(),
        group: std::ptr::null_mut(),
    };
    let raw = vm.get_raw();
    let mut env: *mut c_void = std::ptr::null_mut();
    // SAFETY: the VM outlives this library; name and arguments live across the call, which copies them.
    let code = unsafe {
        ((**raw).v1_4.AttachCurrentThreadAsDaemon)(raw, &raw mut env, (&raw mut arguments).cast::<c_void>())
    };
    code == sys::JNI_OK
}

fn detach(vm: &JavaVM) {
    let raw = vm.get_raw();
    // SAFETY: the VM outlives this library, and nothing of this thread uses its environment any more.
    unsafe { ((**raw).v1_1.DetachCurrentThread)(raw) };
}
