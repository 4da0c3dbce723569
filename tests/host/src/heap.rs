//! The native half of `scenario.Heap`: what this process has taken from malloc.

use jni::EnvUnowned;
use jni::jni_str;
use jni::objects::JClass;
use jni::sys::jlong;

extern "system" fn malloc_bytes(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    // SAFETY: takes nothing and returns plain numbers.
    let info = unsafe { libc::mallinfo2() };
    (info.uordblks + info.hblkhd) as jlong
}

/// Registers it, if the app has that class.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let class = jni_str!("scenario/Heap");
    if env.find_class(class).is_err() {
        env.exception_clear();
        return Ok(());
    }
    let methods = [(jni_str!("mallocBytes"), jni_str!("()J"), malloc_bytes as *mut std::ffi::c_void)];
    crate::natives::register_class(env, class, &methods)
}
