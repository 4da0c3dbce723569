//! Registers functions of this program as natives of a Java class.

use anyhow::{Context, Result, ensure};
use jni::objects::JString;
use jni::strings::JNIStr;
use jni::{Env, JValue, NativeMethod, jni_sig, jni_str};
use std::ffi::c_void;

/// A Java method's name, its descriptor, and its native function.
pub(crate) type Native = (&'static JNIStr, &'static JNIStr, *mut c_void);

pub(crate) fn register_class(env: &mut Env<'_>, class: &JNIStr, methods: &[Native]) -> Result<()> {
    let found = env.find_class(class).with_context(|| format!("no class {class}"))?;
    // SAFETY: each function of this program's tables has the C signature that its Java descriptor stands for.
    let methods: Vec<_> = methods
        .iter()
        .map(|(name, sig, function)| unsafe { NativeMethod::from_raw_parts(name, sig, *function) })
        .collect();
    // SAFETY: as above.
    unsafe { env.register_native_methods(found, &methods) }
        .with_context(|| format!("cannot register natives of {class}"))
}

/// Registers those natives that the class declares. Which ones it declares depends on the API level.
///
/// # Errors
/// When it has none of them.
pub(crate) fn register_those_there(env: &mut Env<'_>, class: &JNIStr, methods: &[Native]) -> Result<()> {
    let found = env.find_class(class).with_context(|| format!("no class {class}"))?;
    let natives = env
        .call_static_method(
            jni_str!("android/os/BedNative"),
            jni_str!("nativesOf"),
            jni_sig!((owner: java.lang.Class) -> JString),
            &[JValue::Object(&found)],
        )?
        .l()?;
    let natives = env.cast_local::<JString<'_>>(natives)?.to_string();
    // Asked first: the runtime prints all of a class when it is to register what the class has not.
    let is_there =
        |(name, signature, _): &&Native| natives.lines().any(|line| line == format!("{name}{signature}"));
    let there: Vec<Native> = methods.iter().filter(is_there).copied().collect();
    ensure!(!there.is_empty(), "{class} has none of the natives that this program knows");
    register_class(env, class, &there)
}

/// Registers natives of a class that only some apps have.
pub(crate) fn register_if_there(env: &mut Env<'_>, class: &JNIStr, methods: &[Native]) -> Result<()> {
    if env.find_class(class).is_err() {
        env.exception_clear();
        return Ok(());
    }
    register_class(env, class, methods)
}
