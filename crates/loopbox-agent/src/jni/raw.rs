//! Lookups and strings on JNI's plain function table; the module `call` has calls and fields.
//!
//! The jni crate's own versions distinguish every possible exception by loading its class through the app's
//! class loader. That is exact, but it is 40 KB of code in each app. Here an exception is cleared, and its
//! `toString` is the error: the same text, which is all that a log or a report can show.

use super::env::Env;
use jni::ids::{JFieldID, JStaticMethodID};
use jni::objects::{JClass, JObject, JString};
use jni::refs::Reference as _;
use jni::strings::JNIStr;
use jni::{JavaVM, sys};
use std::ffi::{CStr, CString};
use std::ops::Deref;

/// Why a call into Java failed, as text.
#[derive(Debug)]
pub struct Failure(pub String);

type Result<T> = std::result::Result<T, Failure>;

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A global reference that is never released: its holder lives as long as the library. The jni crate's type
/// can be dropped by any thread, and so includes code that attaches a thread.
pub struct Forever<T>(T);

// SAFETY: a global reference is the same in every thread (JNI specification, "Global and Local References").
unsafe impl<T> Send for Forever<T> {}
// SAFETY: as above; the VM's functions for it are safe to call from several threads.
unsafe impl<T> Sync for Forever<T> {}

impl<T> Deref for Forever<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The class and the name of a method or field.
type Member<'a> = (&'a JClass<'static>, &'a JNIStr);

/// The VM of an environment.
pub fn java_vm(env: &mut Env<'_>) -> Result<JavaVM> {
    let raw = env.get_raw();
    let mut vm = std::ptr::null_mut();
    // SAFETY: this thread's environment; the VM's own structure, which lives as long as the process.
    let code = unsafe { ((**raw).v1_1.GetJavaVM)(raw, &raw mut vm) };
    if code != sys::JNI_OK || vm.is_null() {
        return Err(failure(env));
    }
    // SAFETY: not null, and Android's VM has every version of JNI up to 1.6.
    Ok(unsafe { JavaVM::from_raw(vm) })
}

/// Finds a class through the loader of the calling Java method, or of the library in `JNI_OnLoad`.
pub fn class(env: &mut Env<'_>, name: &JNIStr) -> Result<Forever<JClass<'static>>> {
    let raw = env.get_raw();
    // SAFETY: the name ends with a null byte; no exception is pending, as for every call of the jni crate.
    // The local reference is deleted, the global one is owned by the value made of it alone.
    let class = unsafe {
        let local = ((**raw).v1_1.FindClass)(raw, name.as_ptr());
        let global = ((**raw).v1_1.NewGlobalRef)(raw, local);
        ((**raw).v1_1.DeleteLocalRef)(raw, local);
        JClass::global_kind_from_raw(global)
    };
    if class.is_null() { Err(failure(env)) } else { Ok(Forever(class)) }
}

/// Finds a static method. Its signature is passed as plain text; the jni crate's type for signatures would
/// add a table of the signature's parts.
pub fn static_method(
    env: &mut Env<'_>,
    (class, name): Member<'_>,
    signature: &JNIStr,
) -> Result<JStaticMethodID> {
    let raw = env.get_raw();
    // SAFETY: a live class, and two texts that end with a null byte.
    let id =
        unsafe { ((**raw).v1_1.GetStaticMethodID)(raw, class.as_raw(), name.as_ptr(), signature.as_ptr()) };
    // SAFETY: an id that the VM just gave for a static method; its class stays loaded.
    if id.is_null() { Err(failure(env)) } else { Ok(unsafe { JStaticMethodID::from_raw(id) }) }
}

/// Finds a field of an object.
pub fn field(env: &mut Env<'_>, (class, name): Member<'_>, signature: &JNIStr) -> Result<JFieldID> {
    let raw = env.get_raw();
    // SAFETY: a live class, and two texts that end with a null byte.
    let id = unsafe { ((**raw).v1_1.GetFieldID)(raw, class.as_raw(), name.as_ptr(), signature.as_ptr()) };
    // SAFETY: an id that the VM just gave for a field; its class stays loaded.
    if id.is_null() { Err(failure(env)) } else { Ok(unsafe { JFieldID::from_raw(id) }) }
}

/// Registers native methods.
///
/// # Safety
/// Names and descriptors end with a null byte, and each function has the C signature that its descriptor
/// says.
pub unsafe fn register(
    env: &mut Env<'_>,
    class: &JClass<'static>,
    methods: &[sys::JNINativeMethod],
) -> Result<()> {
    let (raw, count) = (env.get_raw(), methods.len() as sys::jint);
    // SAFETY: a live class, and what the caller promises of the methods.
    let code = unsafe { ((**raw).v1_1.RegisterNatives)(raw, class.as_raw(), methods.as_ptr(), count) };
    if code == sys::JNI_OK { Ok(()) } else { Err(failure(env)) }
}

/// A Java string of any text.
pub fn new_string<'local>(env: &mut Env<'local>, text: &str) -> Result<JString<'local>> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let raw = env.get_raw();
    // SAFETY: the units live across the call, which copies them.
    let string = unsafe { ((**raw).v1_1.NewString)(raw, units.as_ptr(), units.len() as sys::jsize) };
    if string.is_null() {
        return Err(failure(env));
    }
    // SAFETY: a new local reference to a string, owned by this value alone.
    Ok(unsafe { env.string(string) })
}

/// The text of a Java string; `None` for null. Unpaired surrogates become replacement characters.
///
/// # Safety
/// `string` is null or a `java.lang.String`.
pub unsafe fn text(env: &Env<'_>, string: &JObject<'_>) -> Option<String> {
    if string.is_null() {
        return None;
    }
    let raw = env.get_raw();
    // SAFETY: a live string by the caller's promise; the region is the string and has the buffer's length.
    let units = unsafe {
        let mut units = vec![0_u16; ((**raw).v1_1.GetStringLength)(raw, string.as_raw()).max(0) as usize];
        ((**raw).v1_2.GetStringRegion)(
            raw,
            string.as_raw(),
            0,
            units.len() as sys::jsize,
            units.as_mut_ptr(),
        );
        units
    };
    Some(String::from_utf16_lossy(&units))
}

/// The texts of an array of strings; null strings are empty.
///
/// # Safety
/// `array` is null or a `java.lang.String[]`.
pub unsafe fn texts(env: &mut Env<'_>, array: &JObject<'_>) -> Vec<String> {
    if array.is_null() {
        return Vec::new();
    }
    let raw = env.get_raw();
    // SAFETY: a live array by the caller's promise, asked for elements that it has.
    unsafe {
        let len = ((**raw).v1_1.GetArrayLength)(raw, array.as_raw());
        let element = |at| {
            let string = env.object(((**raw).v1_1.GetObjectArrayElement)(raw, array.as_raw(), at));
            let text = text(env, &string).unwrap_or_default();
            ((**raw).v1_1.DeleteLocalRef)(raw, string.into_raw());
            text
        };
        (0..len).map(element).collect()
    }
}

/// The elements of an array that has exactly `N` of them; `None` for null or another length.
///
/// # Safety
/// `array` is null or a `long[]`.
pub unsafe fn longs<const N: usize>(env: &Env<'_>, array: &JObject<'_>) -> Option<[i64; N]> {
    let raw = env.get_raw();
    let mut values = [0; N];
    // SAFETY: a live array by the caller's promise, asked for the elements that it has.
    unsafe {
        if array.is_null() || ((**raw).v1_1.GetArrayLength)(raw, array.as_raw()) as usize != N {
            return None;
        }
        ((**raw).v1_1.GetLongArrayRegion)(raw, array.as_raw(), 0, N as sys::jsize, values.as_mut_ptr());
    }
    Some(values)
}

/// A Java `long[]` with these elements.
pub fn new_longs<'local>(env: &mut Env<'local>, values: &[i64]) -> Result<JObject<'local>> {
    let raw = env.get_raw();
    let count = values.len() as sys::jsize;
    // SAFETY: this thread's environment; the region is the array's own, as long as `values`.
    unsafe {
        let array = ((**raw).v1_1.NewLongArray)(raw, count);
        if array.is_null() {
            return Err(failure(env));
        }
        ((**raw).v1_1.SetLongArrayRegion)(raw, array, 0, count, values.as_ptr());
        Ok(env.object(array))
    }
}

/// Leaves an `UnsatisfiedLinkError` pending, with the ASCII part of `why`. Returns whether it did.
pub fn throw_link_error(env: &Env<'_>, why: &str) -> bool {
    let raw = env.get_raw();
    let Ok(why) = CString::new(why.chars().filter(|c| (' '..='~').contains(c)).collect::<String>()) else {
        return false;
    };
    // SAFETY: two texts that end with a null byte; no exception is pending.
    unsafe {
        let class = ((**raw).v1_1.FindClass)(raw, c"java/lang/UnsatisfiedLinkError".as_ptr());
        !class.is_null() && ((**raw).v1_1.ThrowNew)(raw, class, why.as_ptr()) == sys::JNI_OK
    }
}

/// Clears the pending exception and returns the result of its `toString`, or its class name when that throws.
pub fn exception(env: &mut Env<'_>) -> Option<String> {
    let raw = env.get_raw();
    // SAFETY: these may be called with an exception pending, which the second takes away.
    let thrown = unsafe {
        let thrown = ((**raw).v1_1.ExceptionOccurred)(raw);
        ((**raw).v1_1.ExceptionClear)(raw);
        env.object(thrown)
    };
    if thrown.is_null() {
        return None;
    }
    // SAFETY: every object has a class, and an object of class Class has `getName`.
    let class = unsafe { env.object(((**raw).v1_1.GetObjectClass)(raw, thrown.as_raw())) };
    let text = call_for_text(env, &thrown, c"toString").or_else(|| call_for_text(env, &class, c"getName"));
    Some(text.unwrap_or_else(|| "a Java exception (neither toString nor getName worked)".to_owned()))
}

/// Calls a public method of `object` that takes no arguments and returns a String; `None` for null or an
/// exception, which is cleared.
fn call_for_text(env: &mut Env<'_>, object: &JObject<'_>, name: &CStr) -> Option<String> {
    const SIGNATURE: &CStr = c"()Ljava/lang/String;";
    let raw = env.get_raw();
    // SAFETY: a live object; a method that it does not have leaves an exception and is not called.
    unsafe {
        let class = env.object(((**raw).v1_1.GetObjectClass)(raw, object.as_raw()));
        let method = ((**raw).v1_1.GetMethodID)(raw, class.as_raw(), name.as_ptr(), SIGNATURE.as_ptr());
        let mut result = std::ptr::null_mut();
        if !method.is_null() {
            result = ((**raw).v1_1.CallObjectMethodA)(raw, object.as_raw(), method, std::ptr::null());
        }
        let threw = ((**raw).v1_2.ExceptionCheck)(raw);
        if threw {
            ((**raw).v1_1.ExceptionClear)(raw);
        }
        let result = env.object(if threw { std::ptr::null_mut() } else { result });
        text(env, &result)
    }
}

/// The reason why a call failed: the pending exception, which is cleared.
pub fn failure(env: &mut Env<'_>) -> Failure {
    Failure(
        exception(env)
            .unwrap_or_else(|| "the call into the VM failed, and no Java exception is pending".to_owned()),
    )
}
