//! `libloopbox.so`: the library that an app loads. This crate has the exported functions and the table of
//! native methods; the recorder itself is `loopbox-agent`.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::indexing_slicing
    )
)]

#[cfg(debug_assertions)]
mod live_heap;
mod natives;

use jni::sys;
use loopbox_agent::jni::{entry, raw};
use loopbox_agent::{Listener, mark_crash, set_first_listener, set_listener};
use std::ffi::{c_int, c_void};

/// The system's allocator, with a reserve behind it: a failed allocation must not end the app. In builds for
/// tests `live_heap` is the allocator: it counts bytes and passes every call on to this one.
#[cfg(not(debug_assertions))]
#[global_allocator]
static MEMORY: loopbox_agent::Memory = loopbox_agent::Memory;

/// Called by the VM when the app loads the library. Every class, method and field that is needed later is
/// looked up here, so that a name that a shrinker removed is detected now: by an exception from
/// `System.loadLibrary` that names it. If this only returned "not loaded", ART would throw another exception,
/// which does not name it.
///
/// # Safety
/// `vm` is the VM that loads this library.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnLoad(vm: *mut sys::JavaVM, _reserved: *mut c_void) -> sys::jint {
    if vm.is_null() {
        return sys::JNI_ERR;
    }
    let mut env: *mut c_void = std::ptr::null_mut();
    // SAFETY: the VM passes itself, and the thread that loads a library is attached.
    let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &raw mut env, sys::JNI_VERSION_1_6) };
    if code != sys::JNI_OK {
        return code;
    }
    #[cfg(target_os = "android")]
    if !loopbox_agent::reserve_thread_key() {
        // SAFETY: this thread's environment, and no exception is pending.
        unsafe { throw_no_thread_key(env.cast()) };
        return sys::JNI_VERSION_1_6;
    }
    // SAFETY: this thread's environment, in a native method's frame.
    let env = unsafe { jni::EnvUnowned::from_raw(env.cast()) };
    let loaded_or_thrown = entry::enter(env, |env| {
        Ok(natives::register(env)
            .map_or_else(|raw::Failure(why)| raw::throw_link_error(env, &why), |()| true))
    });
    if loaded_or_thrown { sys::JNI_VERSION_1_6 } else { sys::JNI_ERR }
}

/// Throws an `UnsatisfiedLinkError`, because the process has no pthread key left. Without a key there are no
/// thread-local variables, which everything else here needs, the jni crate included.
///
/// # Safety
/// `env` is the calling thread's environment, without a pending exception.
#[cfg(target_os = "android")]
unsafe fn throw_no_thread_key(env: *mut sys::JNIEnv) {
    const WHY: &std::ffi::CStr = c"the process has no pthread key left (PTHREAD_KEYS_MAX)";
    // SAFETY: the caller's promise; two texts that end with a null byte.
    unsafe {
        let class = ((**env).v1_1.FindClass)(env, c"java/lang/UnsatisfiedLinkError".as_ptr());
        if !class.is_null() {
            ((**env).v1_1.ThrowNew)(env, class, WHY.as_ptr());
        }
    }
}

/// For the crash handlers of other libraries: notes in the ring that the process dies of `signal`, or without
/// a signal when that is 0. The next launch makes a report of the ring. The report contains the signal.
///
/// Async-signal-safe: atomics, two `pwrite` and `getrlimit`, and on kernels before 4.14 `getpid`. Does
/// nothing while nothing records.
#[unsafe(no_mangle)]
pub extern "C" fn loopbox_mark_crash(signal: c_int) {
    mark_crash(signal);
}

/// Makes the recorder call `listener` for each report, after Java's listeners: with the path of the file, the
/// reason, and the digest of at most 900 bytes, all UTF-8 and ended by a zero byte, valid until `listener`
/// returns. It is called on a thread for listeners, when the report is complete. Null removes the listener; a
/// call that has begun may then still be under way.
///
/// May be called at any time, also before the recorder is installed, which is the way to learn of reports
/// about earlier processes.
#[unsafe(no_mangle)]
pub extern "C" fn loopbox_on_report(listener: Option<Listener>) {
    set_listener(listener);
}

/// Like `loopbox_on_report`, but calls `listener` as soon as the report has a file. `loopbox_on_report` is
/// called with that file again when it has more content: the pending queue, locks and other threads.
#[unsafe(no_mangle)]
pub extern "C" fn loopbox_on_first_file(listener: Option<Listener>) {
    set_first_listener(listener);
}
