//! A thread's environment of JNI.
//!
//! The jni crate's environment includes a guard that can attach threads, and calls that identify an exception
//! by looking up its class. That is 30 KB in each app for things that this library does itself or does not
//! need.

use jni::objects::{JObject, JString};
use jni::refs::Reference as _;
use jni::{EnvUnowned, sys};
use loopbox_art::JniEnv;
use std::marker::PhantomData;

/// The environment of the calling thread, for as long as its local references last. Stays on this thread.
#[derive(Debug)]
pub struct Env<'local> {
    raw: *mut sys::JNIEnv,
    references: PhantomData<&'local ()>,
}

impl<'local> Env<'local> {
    /// The environment of a native method.
    pub fn of_native(env: &EnvUnowned<'local>) -> Self {
        Self { raw: env.as_raw(), references: PhantomData }
    }

    /// The environment of a thread that is attached.
    ///
    /// # Safety
    /// `raw` is the calling thread's environment, and the thread stays attached for at least `'local`.
    pub unsafe fn from_raw(raw: *mut sys::JNIEnv) -> Self {
        Self { raw, references: PhantomData }
    }

    /// The pointer that JNI's functions take.
    pub fn get_raw(&self) -> *mut sys::JNIEnv {
        self.raw
    }

    /// The pointer that JNI's functions take, in the type that the sampler's library uses.
    pub(crate) fn of_art(&self) -> JniEnv {
        // SAFETY: the calling thread's; the value stays on the thread, as this one does.
        unsafe { JniEnv::from_raw(self.raw.cast()) }
    }

    /// An object from a reference that JNI returned, which may be null.
    ///
    /// # Safety
    /// `reference` is null, or a new local reference that nothing else owns.
    pub unsafe fn object(&self, reference: sys::jobject) -> JObject<'local> {
        // SAFETY: the caller's promise.
        unsafe { JObject::kind_from_raw(reference) }
    }

    /// A string from a reference that JNI returned, which may be null.
    ///
    /// # Safety
    /// `reference` is null, or a new local reference to a `java.lang.String` that nothing else owns.
    pub unsafe fn string(&self, reference: sys::jstring) -> JString<'local> {
        // SAFETY: the caller's promise.
        unsafe { JString::kind_from_raw(reference) }
    }

    /// Forgets a pending exception.
    pub(crate) fn exception_clear(&self) {
        // SAFETY: this thread's environment; allowed with an exception pending, and without one.
        unsafe { ((**self.raw).v1_1.ExceptionClear)(self.raw) };
    }
}
