//! `libloopbox_inhouse.so`: `Looper.sObserver` through JNI from a thread without a Java frame, which the
//! platform's hidden-API check trusts (`jni_internal.cc`, Android 10 and newer). It is a separate library, so
//! that the one for stores contains nothing of it.
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

use jni::sys::{JNI_OK, JNI_VERSION_1_6, JNIEnv, JavaVM, JavaVMAttachArgs, jclass, jfieldID, jobject};
use libc::{pthread_create, pthread_join};
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// A pointer that another thread may use.
struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

// SAFETY: only made of the VM and of global references, which are the same in every thread (JNI
// specification, "Global and Local References").
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    /// The pointer. This is a method, so that a closure captures the whole value and not the pointer.
    fn get(self) -> *mut T {
        self.0
    }
}

/// `NativeThreadAccess.get`: the observer, or null for none; throws when it cannot be read.
///
/// # Safety
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_io_loopbox_inhouse_NativeThreadAccess_get(
    env: *mut JNIEnv,
    _: jclass,
) -> jobject {
    // SAFETY: the environment of the calling thread; the field is read on the thread whose environment it is.
    let found = on_a_fresh_thread(env, |env| unsafe {
        let (looper, field) = field(env)?;
        let local = ((**env).v1_1.GetStaticObjectField)(env, looper, field);
        Some(Shared(((**env).v1_1.NewGlobalRef)(env, local)))
    });
    // SAFETY: a global reference or null, owned here alone.
    unsafe {
        let Some(global) = found.flatten() else { return refuse(env) };
        let local = ((**env).v1_2.NewLocalRef)(env, global.get());
        ((**env).v1_1.DeleteGlobalRef)(env, global.get());
        local
    }
}

/// `NativeThreadAccess.set`; throws when it cannot be set.
///
/// # Safety
/// Called by the VM, with an object of the field's type or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_io_loopbox_inhouse_NativeThreadAccess_set(
    env: *mut JNIEnv,
    _: jclass,
    observer: jobject,
) {
    // SAFETY: the environment of the calling thread, and a live reference or null.
    let observer = Shared(unsafe { ((**env).v1_1.NewGlobalRef)(env, observer) });
    // SAFETY: the field is written on the thread whose environment it is, with a global reference to its
    // type.
    let written = on_a_fresh_thread(env, move |env| unsafe {
        let (looper, field) = field(env)?;
        ((**env).v1_1.SetStaticObjectField)(env, looper, field, observer.get());
        Some(())
    });
    // SAFETY: owned here alone.
    unsafe { ((**env).v1_1.DeleteGlobalRef)(env, observer.get()) };
    if written.flatten().is_none() {
        // SAFETY: as above.
        unsafe { refuse(env) };
    }
}

/// The class `Looper` and its field `sObserver`, or `None`; no exception stays pending.
///
/// # Safety
/// The environment is the calling thread's.
unsafe fn field(env: *mut JNIEnv) -> Option<(jclass, jfieldID)> {
    // SAFETY: by the caller's promise; all texts end with a null byte, and a class is asked for a field only
    // when it is there.
    unsafe {
        let looper = ((**env).v1_1.FindClass)(env, c"android/os/Looper".as_ptr());
        let id = if looper.is_null() {
            ptr::null_mut()
        } else {
            let (name, kind) = (c"sObserver".as_ptr(), c"Landroid/os/Looper$Observer;".as_ptr());
            ((**env).v1_1.GetStaticFieldID)(env, looper, name, kind)
        };
        if id.is_null() {
            ((**env).v1_1.ExceptionClear)(env);
            return None;
        }
        Some((looper, id))
    }
}

/// Throws an exception in Java, and returns null, which the caller returns to Java.
///
/// # Safety
/// The environment is the calling thread's, without a pending exception.
unsafe fn refuse(env: *mut JNIEnv) -> jobject {
    const WHY: &CStr = c"Looper.sObserver, from a native thread";
    // SAFETY: by the caller's promise; two texts that end with a null byte.
    unsafe {
        let class = ((**env).v1_1.FindClass)(env, c"java/lang/NoSuchFieldException".as_ptr());
        if !class.is_null() {
            ((**env).v1_1.ThrowNew)(env, class, WHY.as_ptr());
        }
    }
    ptr::null_mut()
}

/// Runs `body` on a new thread that has never run Java code and is attached for this call; `None` when no
/// such thread can be had. The C library starts the thread, because Rust's standard library would take one of
/// the process's few pthread keys for it.
fn on_a_fresh_thread<T: Send>(env: *mut JNIEnv, body: impl FnOnce(*mut JNIEnv) -> T + Send) -> Option<T> {
    let mut vm: *mut JavaVM = ptr::null_mut();
    // SAFETY: the environment of the calling thread, in a native method.
    if unsafe { ((**env).v1_1.GetJavaVM)(env, &raw mut vm) } != JNI_OK {
        return None;
    }
    let (mut body, mut result) = (Some(body), None);
    let mut run = || result = body.take().and_then(|body| attached(vm, body));
    let mut call: &mut dyn FnMut() = &mut run;
    let mut thread = MaybeUninit::uninit();
    // SAFETY: `call` outlives the thread, which is joined before it is used again here; what `body` captures
    // may be used by another thread, as the bounds say.
    unsafe {
        let created = pthread_create(thread.as_mut_ptr(), ptr::null(), start, (&raw mut call).cast());
        if created != 0 || pthread_join(thread.assume_init(), ptr::null_mut()) != 0 {
            return None;
        }
    }
    result
}

/// The body of the thread.
extern "C" fn start(call: *mut c_void) -> *mut c_void {
    // SAFETY: made of this type in `on_a_fresh_thread`, which waits for the end of this thread.
    unsafe { (*call.cast::<&mut dyn FnMut()>())() };
    ptr::null_mut()
}

/// Runs `body` with this thread attached; `None` when the VM refuses it.
fn attached<T>(vm: *mut JavaVM, body: impl FnOnce(*mut JNIEnv) -> T) -> Option<T> {
    let mut name = *b"loopbox-observer\0";
    let mut arguments =
        JavaVMAttachArgs { version: JNI_VERSION_1_6, name: name.as_mut_ptr().cast(), group: ptr::null_mut() };
    let mut env: *mut c_void = ptr::null_mut();
    // SAFETY: a thread that is not attached yet; the name outlives the call.
    if unsafe { ((**vm).v1_1.AttachCurrentThread)(vm, &raw mut env, (&raw mut arguments).cast()) } != JNI_OK {
        return None;
    }
    let result = body(env.cast());
    // SAFETY: attached above, with no Java frame on its stack.
    unsafe { ((**vm).v1_1.DetachCurrentThread)(vm) };
    Some(result)
}
