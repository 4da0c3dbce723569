//! The native half of `android.os.MessageQueue`, built like libutils' Looper: an epoll set with an eventfd
//! for waking and any number of other descriptors, whose callbacks run inside of `nativePollOnce`.

use anyhow::Result;
use jni::errors::ThrowRuntimeExAndDefault;
use jni::objects::{JClass, JObject};
use jni::sys::{JNI_FALSE, JNI_TRUE, jboolean, jint, jlong};
use jni::{Env, EnvUnowned, JValue, jni_sig, jni_str};
use std::collections::HashMap;
use std::ffi::c_void;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::registration::register_those_there;

/// How many descriptors one wait reports at most; the same number as in libutils.
const EVENTS: usize = 16;

// MessageQueue.OnFileDescriptorEventListener.
const EVENT_INPUT: jint = 1;
const EVENT_OUTPUT: jint = 2;
const EVENT_ERROR: jint = 4;

/// What is done when a descriptor of a queue is ready.
pub(super) trait Callback: Send + Sync {
    /// Called on the queue's thread, inside of `nativePollOnce`; `events` are epoll's. Returns whether the
    /// descriptor stays in the set.
    ///
    /// # Errors
    /// A Java exception, which `nativePollOnce` throws after all other callbacks had their turn.
    fn ready(&self, env: &mut Env<'_>, queue: &JObject<'_>, events: u32) -> jni::errors::Result<bool>;

    /// Whether the descriptor stays in the set when Java threw.
    fn stays_after_exception(&self) -> bool {
        true
    }
}

/// The native half of one queue. `MessageQueue.mPtr` holds one reference to it, and so does each receiver of
/// events.
pub(super) struct Queue {
    set: OwnedFd,
    wake: OwnedFd,
    polling: AtomicBool,
    callbacks: Mutex<HashMap<RawFd, Arc<dyn Callback>>>,
}

/// An eventfd that wakes the threads that wait for it.
pub(super) fn event_fd() -> OwnedFd {
    // SAFETY: plain system call.
    owned(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) }, "eventfd")
}

/// Takes ownership of the descriptor that a system call has just returned.
pub(super) fn owned(fd: RawFd, call: &str) -> OwnedFd {
    assert!(fd >= 0, "{call}: {}", Error::last_os_error());
    // SAFETY: the caller got `fd` from a call that opens a descriptor, and gives it away here.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Makes an eventfd ready.
pub(super) fn signal(fd: &OwnedFd) {
    let one = 1_u64;
    // SAFETY: 8 bytes are read from `one`.
    unsafe { libc::write(fd.as_raw_fd(), (&raw const one).cast(), 8) };
}

/// Reads, and so resets, the count of an eventfd or timerfd; `false` when it was not ready.
pub(super) fn drain(fd: &OwnedFd) -> bool {
    let mut count = 0_u64;
    // SAFETY: at most the 8 bytes of `count` are written.
    unsafe { libc::read(fd.as_raw_fd(), (&raw mut count).cast(), 8) == 8 }
}

impl Queue {
    fn new() -> Self {
        // SAFETY: plain system call.
        let set = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }, "epoll_create1");
        let queue = Self {
            set,
            wake: event_fd(),
            polling: AtomicBool::new(false),
            callbacks: Mutex::new(HashMap::new()),
        };
        queue.watch(queue.wake.as_raw_fd(), libc::EPOLL_CTL_ADD, libc::EPOLLIN as u32);
        queue
    }

    /// The native queue of a `MessageQueue`.
    pub(super) fn of(env: &mut Env<'_>, message_queue: &JObject<'_>) -> jni::errors::Result<Arc<Self>> {
        let handle = env.get_field(message_queue, jni_str!("mPtr"), jni_sig!("J"))?.j()?;
        let pointer = handle as *const Self;
        // SAFETY: mPtr holds a reference until nativeDestroy, which MessageQueue calls when nothing refers to
        // the queue.
        unsafe {
            Arc::increment_strong_count(pointer);
            Ok(Arc::from_raw(pointer))
        }
    }

    /// # Safety
    /// `handle` came from [`init`] and was not passed to [`destroy`]; `MessageQueue.mPtr` keeps that rule.
    unsafe fn from<'a>(handle: jlong) -> &'a Self {
        // SAFETY: by the caller's promise a reference is held.
        unsafe { &*(handle as *const Self) }
    }

    fn callbacks(&self) -> std::sync::MutexGuard<'_, HashMap<RawFd, Arc<dyn Callback>>> {
        self.callbacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, fd: RawFd, operation: libc::c_int, events: u32) {
        let mut event = libc::epoll_event { events, u64: fd as u64 };
        // SAFETY: one event, alive across the call; what is not in the set is refused by the kernel.
        unsafe { libc::epoll_ctl(self.set.as_raw_fd(), operation, fd, &raw mut event) };
    }

    /// From now on `callback` is called whenever `fd` is ready for `events`. It replaces an earlier callback
    /// of `fd`.
    pub(super) fn add(&self, fd: RawFd, events: u32, callback: Arc<dyn Callback>) {
        self.callbacks().insert(fd, callback);
        // A number that was closed and opened again is not in the set any more, whatever the table says.
        self.watch(fd, libc::EPOLL_CTL_ADD, events);
        self.watch(fd, libc::EPOLL_CTL_MOD, events);
    }

    /// Takes a descriptor out of the set.
    pub(super) fn remove(&self, fd: RawFd) {
        self.callbacks().remove(&fd);
        self.watch(fd, libc::EPOLL_CTL_DEL, 0);
    }

    fn poll_once(
        &self,
        env: &mut Env<'_>,
        message_queue: &JObject<'_>,
        timeout_ms: jint,
    ) -> jni::errors::Result<()> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        self.polling.store(true, Ordering::Relaxed);
        // SAFETY: room for as many events as it says, alive across the call.
        let ready = unsafe {
            libc::epoll_wait(self.set.as_raw_fd(), events.as_mut_ptr(), EVENTS as libc::c_int, timeout_ms)
        };
        self.polling.store(false, Ordering::Relaxed);
        let mut thrown = None;
        // A signal makes it -1: MessageQueue checks what there is to do and polls again.
        for event in events.iter().take(ready.max(0) as usize) {
            let (fd, events) = (event.u64 as RawFd, event.events);
            if fd == self.wake.as_raw_fd() {
                drain(&self.wake);
                continue;
            }
            let callback = self.callbacks().get(&fd).cloned();
            // It may have been removed by the one before it.
            let Some(callback) = callback else { continue };
            match callback.ready(env, message_queue, events) {
                Ok(true) => {}
                Ok(false) => self.remove(fd),
                Err(error) => match env.exception_occurred() {
                    Some(exception) => {
                        env.exception_clear();
                        thrown = Some(exception);
                        if !callback.stays_after_exception() {
                            self.remove(fd);
                        }
                    }
                    None => return Err(error),
                },
            }
        }
        thrown.map_or(Ok(()), |exception| env.throw(exception))
    }
}

/// A listener of `MessageQueue.addOnFileDescriptorEventListener`.
struct Listener {
    fd: RawFd,
    watched: jint,
}

impl Callback for Listener {
    fn ready(&self, env: &mut Env<'_>, queue: &JObject<'_>, events: u32) -> jni::errors::Result<bool> {
        let is = |flags: libc::c_int| events & flags as u32 != 0;
        let mut said = if is(libc::EPOLLIN) { EVENT_INPUT } else { 0 };
        if is(libc::EPOLLOUT) {
            said |= EVENT_OUTPUT;
        }
        if is(libc::EPOLLERR | libc::EPOLLHUP) {
            said |= EVENT_ERROR;
        }
        let arguments = [JValue::Int(self.fd), JValue::Int(said)];
        let wanted =
            env.call_method(queue, jni_str!("dispatchEvents"), jni_sig!("(II)I"), &arguments)?.i()?;
        if wanted != 0 && wanted != self.watched {
            Queue::of(env, queue)?.listen(self.fd, wanted);
        }
        Ok(wanted != 0)
    }

    /// A descriptor does not stay after its callback threw: android_os_MessageQueue.cpp (10.0.0_r36) then
    /// uses the call's result, 0, as the events that the listener wants.
    fn stays_after_exception(&self) -> bool {
        false
    }
}

impl Queue {
    fn listen(&self, fd: RawFd, wanted: jint) {
        let mut events = if wanted & EVENT_INPUT != 0 { libc::EPOLLIN } else { 0 };
        if wanted & EVENT_OUTPUT != 0 {
            events |= libc::EPOLLOUT;
        }
        self.add(fd, events as u32, Arc::new(Listener { fd, watched: wanted }));
    }
}

extern "system" fn init(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    Arc::into_raw(Arc::new(Queue::new())) as jlong
}

extern "system" fn destroy(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // SAFETY: MessageQueue.dispose calls this once, with the value of nativeInit, and forgets it.
    drop(unsafe { Arc::from_raw(handle as *const Queue) });
}

extern "system" fn poll_once<'local>(
    mut env: EnvUnowned<'local>,
    message_queue: JObject<'local>,
    handle: jlong,
    timeout_ms: jint,
) {
    // SAFETY: MessageQueue.next passes its live mPtr.
    let queue = unsafe { Queue::from(handle) };
    env.with_env(|env| queue.poll_once(env, &message_queue, timeout_ms))
        .resolve::<ThrowRuntimeExAndDefault>();
}

/// The address of the function that is registered for `nativePollOnce`.
pub(crate) fn poll_once_address() -> usize {
    poll_once as *const () as usize
}

extern "system" fn wake(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // SAFETY: MessageQueue passes its live mPtr.
    signal(&unsafe { Queue::from(handle) }.wake);
}

extern "system" fn is_polling(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jboolean {
    // SAFETY: MessageQueue passes its live mPtr.
    if unsafe { Queue::from(handle) }.polling.load(Ordering::Relaxed) { JNI_TRUE } else { JNI_FALSE }
}

extern "system" fn set_fd_events(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong, fd: jint, events: jint) {
    // SAFETY: MessageQueue passes its live mPtr.
    let queue = unsafe { Queue::from(handle) };
    if events == 0 {
        queue.remove(fd);
    } else {
        queue.listen(fd, events);
    }
}

pub(super) fn register(env: &mut Env<'_>) -> Result<()> {
    let methods = [
        (jni_str!("nativeInit"), jni_str!("()J"), init as *mut c_void),
        (jni_str!("nativeDestroy"), jni_str!("(J)V"), destroy as *mut c_void),
        (jni_str!("nativePollOnce"), jni_str!("(JI)V"), poll_once as *mut c_void),
        (jni_str!("nativeWake"), jni_str!("(J)V"), wake as *mut c_void),
        // As API 21 and 22 call it.
        (jni_str!("nativeIsIdling"), jni_str!("(J)Z"), is_polling as *mut c_void),
        (jni_str!("nativeIsPolling"), jni_str!("(J)Z"), is_polling as *mut c_void),
        (jni_str!("nativeSetFileDescriptorEvents"), jni_str!("(JII)V"), set_fd_events as *mut c_void),
    ];
    register_those_there(env, jni_str!("android/os/MessageQueue"), &methods)
}
