//! `libloopbox.so`: the part of the recorder that an app loads.
//!
//! It joins what the other crates decide to what a process has: the main Looper's hooks call in through JNI, the
//! sampler thread stops and walks the main thread, the worker thread names, merges and writes. The app comes first:
//! nothing here throws into Java, panics across the boundary, or blocks the main thread.
//!
//! * `natives`, `hot`: what Java calls; `java`: what we call in Java.
//! * `session`: one recording from install to uninstall, and its parts: `main_thread`, `sampler`, `worker`, `sigquit`.
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

mod attach;
mod clock;
mod config;
mod crash;
mod digest;
mod earlier;
mod fallback;
#[cfg(debug_assertions)]
mod fault;
mod features;
mod figures;
mod framework;
mod funnel;
mod guard;
mod hang;
mod hot;
mod java;
mod listener;
mod log;
mod main_thread;
mod natives;
mod notes;
mod observer;
mod others;
mod pending;
mod raw;
mod report;
mod sampler;
mod session;
mod shared;
mod sigquit;
mod stacks;
mod strings;
mod wake;
mod watch;
mod worker;

use jni::sys;
use std::ffi::c_void;

/// Called by the VM when the app loads the library. Every class, method and field that is needed later is looked
/// up here, so that what a shrinker took away shows now: as an exception out of `System.loadLibrary` that names it.
/// For a result that says "not loaded" ART would throw one of its own, without a word of ours.
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
    // SAFETY: this thread's environment, in a native method's frame.
    let env = unsafe { jni::EnvUnowned::from_raw(env.cast()) };
    let told = funnel::enter(env, |env| {
        Ok(natives::register(env)
            .map_or_else(|raw::Failure(why)| raw::throw_link_error(env, &why), |()| true))
    });
    if told { sys::JNI_VERSION_1_6 } else { sys::JNI_ERR }
}
