//! The thread whose end the main thread waits for, as Java asks for it.

use crate::install;
use jni::sys;
use loopbox_art::JniEnv;

/// `Native.joined`: finds the thread whose end main waits for. Called by the thread that reads what only Java
/// knows. `@FastNative`, because Java objects are read, which is safe only in a runnable thread.
///
/// The lower half of the result is the found thread's index in `threads`. The upper half is its id in the
/// kernel, or 0 when that is not known. The result is negative when there is no such thread.
///
/// # Safety
/// Called by the VM: `env` is the calling thread's.
pub unsafe extern "system" fn joined(
    env: *mut sys::JNIEnv,
    _: sys::jclass,
    threads: sys::jobjectArray,
) -> sys::jlong {
    // SAFETY: the VM's promise.
    let env = unsafe { JniEnv::from_raw(env.cast()) };
    let found = install::joined(env, threads as usize);
    found.map_or(-1, |found| i64::from(found.index) | i64::from(found.tid.unwrap_or(0)) << 32)
}
