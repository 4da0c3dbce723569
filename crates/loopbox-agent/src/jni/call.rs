//! Calls of Java methods, and reads of Java fields, on JNI's plain function table; [`raw`] says why. An
//! exception is cleared, and its text becomes the error.

use super::raw::{self, Failure};
use crate::jni::env::Env;
use crate::sys::memory;
use jni::ids::{JFieldID, JStaticMethodID};
use jni::objects::{JClass, JObject};
use jni::sys::{JNI_OK, jint, jvalue};

type Result<T> = std::result::Result<T, Failure>;

/// A static method, and the class that it was looked up in.
type Method<'a> = (&'a JClass<'static>, JStaticMethodID);

/// The error of a call that is not made because memory is short.
pub(crate) const NO_MEMORY: &str = "memory is short";

fn unless_short() -> Result<()> {
    if memory::is_short() { Err(Failure(NO_MEMORY.to_owned())) } else { Ok(()) }
}

/// How many local references a JNI local frame has room for; more are no error.
const FRAME: jint = 16;

/// Runs `body` and releases the local references that it made.
///
/// Nothing is called while memory is short: the VM ends the process when it gets no memory for itself.
pub(crate) fn with_frame<T>(env: &mut Env<'_>, body: impl FnOnce(&mut Env<'_>) -> Result<T>) -> Result<T> {
    unless_short()?;
    let raw = env.get_raw();
    // SAFETY: this thread's environment, without a pending exception.
    if unsafe { ((**raw).v1_2.PushLocalFrame)(raw, FRAME) } != JNI_OK {
        return Err(raw::failure(env));
    }
    let result = body(env);
    // SAFETY: the frame pushed above. `body` takes any lifetime of references, so its result holds none of
    // the frame's.
    unsafe { ((**raw).v1_2.PopLocalFrame)(raw, std::ptr::null_mut()) };
    result
}

/// Calls a method that returns nothing.
///
/// # Safety
/// The arguments are what the method's signature says.
pub(crate) unsafe fn void(
    env: &mut Env<'_>,
    (class, method): Method<'_>,
    arguments: &[jvalue],
) -> Result<()> {
    unless_short()?;
    let raw = env.get_raw();
    // SAFETY: a live class and a method of it; the caller's promise.
    unsafe {
        ((**raw).v1_1.CallStaticVoidMethodA)(raw, class.as_raw(), method.into_raw(), arguments.as_ptr());
    }
    unless_thrown(env, ())
}

/// Calls a method that returns an `int`.
///
/// # Safety
/// The arguments are what the method's signature says.
pub(crate) unsafe fn int(
    env: &mut Env<'_>,
    (class, method): Method<'_>,
    arguments: &[jvalue],
) -> Result<jint> {
    unless_short()?;
    let raw = env.get_raw();
    // SAFETY: a live class and a method of it; the caller's promise.
    let number = unsafe {
        ((**raw).v1_1.CallStaticIntMethodA)(raw, class.as_raw(), method.into_raw(), arguments.as_ptr())
    };
    unless_thrown(env, number)
}

/// Calls a method that returns an object, or null.
///
/// # Safety
/// The arguments are what the method's signature says.
pub(crate) unsafe fn object<'local>(
    env: &mut Env<'local>,
    (class, method): Method<'_>,
    arguments: &[jvalue],
) -> Result<JObject<'local>> {
    let raw = env.get_raw();
    // SAFETY: a live class and a method of it; the caller's promise. The new local reference has one owner.
    let object = unsafe {
        let object = ((**raw).v1_1.CallStaticObjectMethodA)(
            raw,
            class.as_raw(),
            method.into_raw(),
            arguments.as_ptr(),
        );
        env.object(object)
    };
    unless_thrown(env, object)
}

/// The object in a field, or null.
///
/// # Safety
/// `object` is not null, and its class has this field, of an object's type.
pub(crate) unsafe fn object_field<'local>(
    env: &Env<'local>,
    object: &JObject<'_>,
    field: JFieldID,
) -> JObject<'local> {
    let raw = env.get_raw();
    // SAFETY: the caller's promise. The new local reference has one owner.
    unsafe { env.object(((**raw).v1_1.GetObjectField)(raw, object.as_raw(), field.into_raw())) }
}

/// The value of an `int` field.
///
/// # Safety
/// `object` is not null, and its class has this field, of this type.
pub(crate) unsafe fn int_field(env: &Env<'_>, object: &JObject<'_>, field: JFieldID) -> jint {
    let raw = env.get_raw();
    // SAFETY: the caller's promise.
    unsafe { ((**raw).v1_1.GetIntField)(raw, object.as_raw(), field.into_raw()) }
}

/// The value of a `boolean` field.
///
/// # Safety
/// `object` is not null, and its class has this field, of this type.
pub(crate) unsafe fn boolean_field(env: &Env<'_>, object: &JObject<'_>, field: JFieldID) -> bool {
    let raw = env.get_raw();
    // SAFETY: the caller's promise.
    unsafe { ((**raw).v1_1.GetBooleanField)(raw, object.as_raw(), field.into_raw()) }
}

fn unless_thrown<T>(env: &mut Env<'_>, result: T) -> Result<T> {
    raw::exception(env).map_or(Ok(result), |why| Err(Failure(why)))
}
