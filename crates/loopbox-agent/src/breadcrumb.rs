//! A breadcrumb of the app, as Java passes it on.

use crate::install;
use crate::jni::string::Text;
use jni::sys;
use loopbox_format::model::Uptime;

/// `Native.breadcrumb`: keeps a breadcrumb with this name that was left at `at_ns`, uptime. The name is read
/// onto the stack, because an app may leave thousands of breadcrumbs in a second.
///
/// # Safety
/// Called by the VM: `env` is the calling thread's, and `name` null or a string.
pub unsafe extern "system" fn breadcrumb(
    env: *mut sys::JNIEnv,
    _: sys::jclass,
    name: sys::jstring,
    at_ns: sys::jlong,
) {
    // SAFETY: the VM's promise.
    let name = unsafe { Text::read(env, name) };
    install::breadcrumb(name.as_str(), Uptime(at_ns.cast_unsigned()));
}
