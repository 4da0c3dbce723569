//! The head of main's queue, read after a poll returns and before `next()` takes a message. `next()` takes
//! the head, unless another thread posts or removes a message in between. Only for apps that ask for it: the
//! fields are hidden API, and the app provides access to them.
//!
//! The read takes no lock of the queue, calls no Java method and makes no Java object, with two exceptions.
//! Where a barrier holds back the first messages, a public method shows which ones are asynchronous. The name
//! of a class is read by a call, once for each class.

use crate::jni::string::Text;
use crate::session::class_names::ClassId;
use crate::session::hint::Hint;
use crate::sys::memory;
use jni::sys::{self, JNIEnv, jfieldID, jmethodID, jobject};
use loopbox_format::model::Uptime;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How many classes of targets and callbacks are distinguished; further ones have no name.
const MOST_CLASSES: usize = 128;

/// How many messages after a barrier are read.
const MOST_BEHIND: u32 = 64;

/// The queue, and the members through which its head is read. They are kept for the rest of the process, as
/// are the references to the queue's classes.
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
    /// Global references of classes. Those that come often are before the others.
    classes: Vec<(jobject, ClassId)>,
}

/// The peek of main's queue; main has the same queue for ever. Main thread only.
static PEEK: AtomicPtr<Peek> = AtomicPtr::new(ptr::null_mut());

impl Peek {
    /// The peek; `None` before [`make`](Self::make) has made it.
    ///
    /// # Safety
    /// Must be called on the main thread. No reference that an earlier call has returned may still be in use.
    pub(super) unsafe fn get<'a>() -> Option<&'a mut Self> {
        // SAFETY: null, or a box that is never freed; the caller's promise.
        unsafe { PEEK.load(Ordering::Relaxed).as_mut() }
    }

    /// Makes the peek where there is none. On the main thread.
    ///
    /// # Safety
    /// `raw` is this thread's environment, `queue` is main's `MessageQueue`, and `members` has the six
    /// reflected fields and two methods that `Native.java` lists.
    pub(super) unsafe fn make(raw: *mut JNIEnv, queue: jobject, members: sys::jobjectArray) {
        if !PEEK.load(Ordering::Relaxed).is_null() {
            return;
        }
        let mut fields: [jfieldID; 8] = [ptr::null_mut(); 8];
        // SAFETY: the caller's promise: as many elements, none of them null. Both kinds of ids are pointers.
        unsafe {
            for (at, id) in fields.iter_mut().enumerate() {
                let member = ((**raw).v1_1.GetObjectArrayElement)(raw, members, at as sys::jsize);
                *id = if at < 6 {
                    ((**raw).v1_2.FromReflectedField)(raw, member)
                } else {
                    ((**raw).v1_2.FromReflectedMethod)(raw, member).cast()
                };
            }
            let queue = ((**raw).v1_1.NewGlobalRef)(raw, queue);
            let [head, next, when, target, callback, what, is_asynchronous, name] = fields;
            let (is_asynchronous, name) = (is_asynchronous.cast(), name.cast());
            let classes = Vec::new();
            let made =
                Self { queue, head, next, when, target, callback, what, is_asynchronous, name, classes };
            PEEK.store(Box::into_raw(Box::new(made)), Ordering::Relaxed);
        }
    }

    /// The message that `next()` will take, if it takes one, and when that message was due.
    ///
    /// # Safety
    /// `raw` is this thread's environment, in a native method whose end frees local references, without a
    /// pending exception.
    pub(super) unsafe fn read(&mut self, raw: *mut JNIEnv) -> Option<(Hint, Uptime)> {
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
            let when_ns = Uptime(when_ms.cast_unsigned().wrapping_mul(1_000_000));
            Some((Hint::head(target, callback, what), when_ns))
        }
    }

    /// The first asynchronous message after a barrier.
    ///
    /// # Safety
    /// As for [`read`](Self::read); `barrier` is a `Message`.
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
    /// As for [`read`](Self::read); `object` is an object or null.
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
    /// As for [`read`](Self::read); `class` is a class.
    #[cold]
    unsafe fn add(&mut self, raw: *mut JNIEnv, class: sys::jclass) -> ClassId {
        if self.classes.len() == MOST_CLASSES || memory::is_short() {
            return ClassId::NONE;
        }
        // SAFETY: the caller's promise; a public method without arguments.
        unsafe {
            let name = ((**raw).v1_1.CallObjectMethodA)(raw, class, self.name, ptr::null());
            ((**raw).v1_1.ExceptionClear)(raw);
            let id = class_named(raw, name);
            let kept = ((**raw).v1_1.NewGlobalRef)(raw, class);
            if !kept.is_null() {
                self.classes.push((kept, id));
            }
            id
        }
    }
}

/// The number of the class with this name.
///
/// # Safety
/// As for [`Text::read`].
#[inline(never)]
pub(super) unsafe fn class_named(raw: *mut JNIEnv, name: sys::jstring) -> ClassId {
    // SAFETY: the caller's promise.
    ClassId::of(unsafe { Text::read(raw, name) }.as_str())
}
