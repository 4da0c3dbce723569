//! The native methods of `android.os.BedNative`. The testbed's substitutes for Android's framework classes
//! call this program through them.

use anyhow::Result;
use jni::objects::{JClass, JString};
use jni::sys::jint;
use jni::{Env, EnvUnowned, jni_str};
use std::ffi::c_void;
use std::io::Write;

use crate::registration::register_class;

extern "system" fn log(mut env: EnvUnowned<'_>, _: JClass<'_>, line: JString<'_>) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let text = if line.is_null() { "null".to_owned() } else { line.try_to_string(env)? };
        // Standard output is for what the app prints for the test that runs it: two writers on one pipe would
        // mix their lines. A closed output must not kill the process under test.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
        Ok(())
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>();
}

extern "system" fn gettid(_: EnvUnowned<'_>, _: JClass<'_>) -> jint {
    // SAFETY: plain system call without arguments.
    unsafe { libc::gettid() }
}

pub(super) fn register(env: &mut Env<'_>) -> Result<()> {
    let methods = [
        (jni_str!("log"), jni_str!("(Ljava/lang/String;)V"), log as *mut c_void),
        (jni_str!("gettid"), jni_str!("()I"), gettid as *mut c_void),
    ];
    register_class(env, jni_str!("android/os/BedNative"), &methods)
}
