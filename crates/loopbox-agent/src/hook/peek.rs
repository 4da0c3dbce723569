//! The head of main's queue, read between the return of a poll and the moment in which `next()` takes a
//! message: it is that one, unless another thread posts or removes one in between. For who asks for it: the
//! fields are hidden API, and come from who brings them.
//!
//! Without the queue's lock, and without a call or an object for a message, but where a barrier holds the
//! first ones back: then a public method says which are asynchronous. A class is asked for its name once.

use crate::jni::class_cache;
use crate::jni::env::Env;
use crate::jni::string::Text;
use crate::session::class_names::ClassId;
use crate::session::hint::Hint;
use crate::sys::memory;
use jni::objects::{JObject, JObjectArray};
use jni::sys::{self, JNIEnv, jfieldID, jmethodID, jobject};
use loopbox_format::model::Uptime;
use std::ptr;

/// The classes of targets and callbacks that are known apart; the names of more are not.
const MOST_CLASSES: usize = 128;

/// How many messages behind a barrier are read.
const MOST_BEHIND: u32 = 64;

/// The queue and the fields behind its head.
#[derive(Debug)]
pub(crate) struct Peek {
    queue: jobject,
    head: jfieldID,
    next: jfieldID,
    when: jfieldID,
    target: jfieldID,
    callback: jfieldID,
    what: jfieldID,
    is_asynchronous: jmethodID,
    name: jmethodID,
    /// Global references of classes, those that come often before the others.
    classes: Vec<(jobject, ClassId)>,
}

/// What is at the head of the queue, and when it was due.
pub(super) type Head = (Hint, Option<Uptime>);

impl Peek {
    /// Of this queue.
    ///
    /// # Errors
    /// Why there is none, in words of the report.
    ///
    /// # Safety
    /// A `MessageQueue`, and fields as `QueueAccess` says them, of these classes and types.
    pub(super) unsafe fn new(
        env: &mut Env<'_>,
        queue: &JObject<'_>,
        fields: &JObjectArray<'_>,
    ) -> Result<Self, String> {
        let raw = env.get_raw();
        // SAFETY: this thread's environment without a pending exception; the caller's promise: five elements.
        // Names end with a null byte. A look-up that fails leaves an exception, which is cleared before the
        // next call.
        unsafe {
            let ids: [jfieldID; 5] = std::array::from_fn(|at| {
                let field = ((**raw).v1_1.GetObjectArrayElement)(raw, fields.as_raw(), at as sys::jsize);
                ((**raw).v1_2.FromReflectedField)(raw, field)
            });
            let message = ((**raw).v1_1.FindClass)(raw, c"android/os/Message".as_ptr());
            let class = ((**raw).v1_1.FindClass)(raw, c"java/lang/Class".as_ptr());
            let what = ((**raw).v1_1.GetFieldID)(raw, message, c"what".as_ptr(), c"I".as_ptr());
            let is_asynchronous =
                ((**raw).v1_1.GetMethodID)(raw, message, c"isAsynchronous".as_ptr(), c"()Z".as_ptr());
            let text = c"()Ljava/lang/String;";
            let name = ((**raw).v1_1.GetMethodID)(raw, class, c"getName".as_ptr(), text.as_ptr());
            let queue = ((**raw).v1_1.NewGlobalRef)(raw, queue.as_raw());
            env.exception_clear();
            let [head, next, when, target, callback] = ids;
            let found = ids.iter().all(|id| !id.is_null());
            if !found || what.is_null() || is_asynchronous.is_null() || name.is_null() || queue.is_null() {
                return Err("a member of Message cannot be found".to_owned());
            }
            let classes = Vec::with_capacity(MOST_CLASSES);
            Ok(Self { queue, head, next, when, target, callback, what, is_asynchronous, name, classes })
        }
    }

    /// What `next()` will take, if it takes one.
    ///
    /// # Safety
    /// This thread's environment, in a native method whose end frees local references, without a pending
    /// exception.
    pub(super) unsafe fn read(&mut self, raw: *mut JNIEnv) -> Option<Head> {
        // SAFETY: the caller's promise; the objects are of the classes that the fields are of. What another
        // thread recycles meanwhile stays an object of its class.
        unsafe {
            let object = |of, field| ((**raw).v1_1.GetObjectField)(raw, of, field);
            let mut message = object(self.queue, self.head);
            if message.is_null() {
                return None;
            }
            let mut target = object(message, self.target);
            if target.is_null() {
                message = self.behind_barrier(raw, message)?;
                target = object(message, self.target);
            }
            let callback = object(message, self.callback);
            let what = ((**raw).v1_1.GetIntField)(raw, message, self.what);
            let when_ms = ((**raw).v1_1.GetLongField)(raw, message, self.when);
            let (target, callback) = (self.class_of(raw, target), self.class_of(raw, callback));
            if target == ClassId::NONE && callback == ClassId::NONE {
                // It was recycled, or its class is one too many.
                return None;
            }
            let when_ns = u64::try_from(when_ms).ok().map(|ms| Uptime(ms.saturating_mul(1_000_000)));
            Some((Hint::Head(target, callback, what), when_ns))
        }
    }

    /// The first asynchronous message behind a barrier.
    ///
    /// # Safety
    /// As for [`read`](Self::read); a `Message`.
    #[cold]
    unsafe fn behind_barrier(&self, raw: *mut JNIEnv, barrier: jobject) -> Option<jobject> {
        let mut message = barrier;
        for _ in 0..MOST_BEHIND {
            // SAFETY: the caller's promise; a public method without arguments that throws nothing.
            unsafe {
                let next = ((**raw).v1_1.GetObjectField)(raw, message, self.next);
                ((**raw).v1_1.DeleteLocalRef)(raw, message);
                if next.is_null() {
                    return None;
                }
                message = next;
                if ((**raw).v1_1.CallBooleanMethodA)(raw, message, self.is_asynchronous, ptr::null()) {
                    return Some(message);
                }
            }
        }
        None
    }

    /// # Safety
    /// As for [`read`](Self::read); an object or null.
    unsafe fn class_of(&mut self, raw: *mut JNIEnv, object: jobject) -> ClassId {
        if object.is_null() {
            return ClassId::NONE;
        }
        // SAFETY: the caller's promise; the others are global references.
        unsafe {
            let class = ((**raw).v1_1.GetObjectClass)(raw, object);
            let is_it = |known: &(jobject, ClassId)| ((**raw).v1_1.IsSameObject)(raw, known.0, class);
            if let Some(at) = self.classes.iter().position(is_it) {
                let id = self.classes.get(at).map_or(ClassId::NONE, |known| known.1);
                // What comes often gets to the front.
                self.classes.swap(at, at / 2);
                return id;
            }
            self.add(raw, class)
        }
    }

    /// # Safety
    /// As for [`read`](Self::read); a class.
    #[cold]
    unsafe fn add(&mut self, raw: *mut JNIEnv, class: sys::jclass) -> ClassId {
        if self.classes.len() == MOST_CLASSES || memory::is_short() {
            return ClassId::NONE;
        }
        // SAFETY: the caller's promise; a public method without arguments.
        unsafe {
            let name = ((**raw).v1_1.CallObjectMethodA)(raw, class, self.name, ptr::null());
            ((**raw).v1_1.ExceptionClear)(raw);
            let id = ClassId::of(Text::read(raw, name).as_str());
            let kept = ((**raw).v1_1.NewGlobalRef)(raw, class);
            if !kept.is_null() {
                self.classes.push((kept, id));
            }
            id
        }
    }
}

/// On the main thread, whoever has ended the recording.
impl Drop for Peek {
    fn drop(&mut self) {
        let Some(classes) = class_cache::get() else { return };
        let vm = classes.vm.get_raw();
        let mut env = ptr::null_mut();
        // SAFETY: this process's VM, which stays; the environment is this thread's, and the global references
        // are owned by nothing else.
        unsafe {
            if ((**vm).v1_2.GetEnv)(vm, &raw mut env, sys::JNI_VERSION_1_6) != sys::JNI_OK {
                return;
            }
            let raw: *mut JNIEnv = env.cast();
            for kept in self.classes.iter().map(|known| known.0).chain([self.queue]) {
                ((**raw).v1_1.DeleteGlobalRef)(raw, kept);
            }
        }
    }
}
