//! Input: the native half of `android.view.InputChannel` and of `android.view.InputEventReceiver`.
//!
//! Any thread can send events into the system's end of a channel; the app's end is a descriptor in its
//! window's queue (an eventfd here, a socket on a device). As in libinput's consumer, movements are kept
//! until a frame asks for them and are then one event; any other event is delivered at once, after the kept
//! ones.

use anyhow::Result;
use jni::errors::ThrowRuntimeExAndDefault;
use jni::objects::{JClass, JObject};
use jni::refs::Global;
use jni::sys::{JNI_FALSE, JNI_TRUE, jboolean, jint, jlong};
use jni::{Env, EnvUnowned, JValue, jni_sig, jni_str};
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::queue::{Callback, Queue, drain, event_fd, signal};
use crate::registration::register_class;

struct Event {
    java: Global<JObject<'static>>,
    /// Whether the event waits for the next frame, as movements do.
    batches: bool,
}

#[derive(Default)]
struct Sent {
    arrived: VecDeque<Event>,
    /// How many of the sent events the app has not finished yet.
    unfinished: usize,
}

/// The channel between the system and one window.
struct Channel {
    ready: OwnedFd,
    sent: Mutex<Sent>,
    finished: Condvar,
}

impl Channel {
    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, event: Event) {
        let mut sent = self.sent();
        sent.arrived.push_back(event);
        sent.unfinished += 1;
        drop(sent);
        signal(&self.ready);
    }

    fn finish(&self, events: usize) {
        self.sent().unfinished -= events;
        self.finished.notify_all();
    }

    fn await_finished(&self, limit: Duration) -> bool {
        let waited = self.finished.wait_timeout_while(self.sent(), limit, |sent| sent.unfinished > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.unfinished == 0
    }
}

#[derive(Default)]
struct Consumer {
    /// Movements that wait for a frame.
    batch: Vec<Event>,
    /// Whether the app was notified that movements wait.
    is_notified: bool,
    /// For each event that the app works on, by sequence number, how many of the system's events are in it.
    in_progress: HashMap<jint, usize>,
    sequence: jint,
}

/// The app's end of a channel.
struct Receiver {
    queue: Arc<Queue>,
    channel: Arc<Channel>,
    /// A `WeakReference` to the Java half.
    java: Global<JObject<'static>>,
    consumer: Mutex<Consumer>,
}

impl Receiver {
    /// Locks the consumer. The lock must not be held while Java code runs: Java code may finish events, which
    /// takes the same lock.
    fn consumer(&self) -> MutexGuard<'_, Consumer> {
        self.consumer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The Java half, null when it is gone.
    fn java<'local>(&self, env: &mut Env<'local>) -> jni::errors::Result<JObject<'local>> {
        env.call_method(&self.java, jni_str!("get"), jni_sig!("()Ljava/lang/Object;"), &[])?.l()
    }

    /// Passes to the app the events that have arrived, but movements only if a frame asks for them
    /// (`batches`). Returns whether it passed movements on.
    fn consume(&self, env: &mut Env<'_>, java: &JObject<'_>, batches: bool) -> jni::errors::Result<bool> {
        if batches {
            self.consumer().is_notified = false;
        }
        loop {
            let Some(event) = self.channel.sent().arrived.pop_front() else { break };
            if event.batches {
                self.consumer().batch.push(event);
            } else {
                self.dispatch_batch(env, java)?;
                self.dispatch(env, java, &event, 1)?;
            }
        }
        if batches {
            return self.dispatch_batch(env, java);
        }
        let mut consumer = self.consumer();
        if !consumer.batch.is_empty() && !consumer.is_notified {
            consumer.is_notified = true;
            drop(consumer);
            env.call_method(java, jni_str!("dispatchBatchedInputEventPending"), jni_sig!("()V"), &[])?;
        }
        Ok(false)
    }

    /// Passes all waiting movements to the app as one event. Returns whether there were any.
    fn dispatch_batch(&self, env: &mut Env<'_>, java: &JObject<'_>) -> jni::errors::Result<bool> {
        let batch = std::mem::take(&mut self.consumer().batch);
        let Some((first, others)) = batch.split_first() else { return Ok(false) };
        for event in others {
            let add = (jni_str!("addBatch"), jni_sig!("(Landroid/view/MotionEvent;)Z"));
            env.call_method(&first.java, add.0, add.1, &[JValue::Object(event.java.as_obj())])?;
        }
        self.dispatch(env, java, first, batch.len())?;
        Ok(true)
    }

    fn dispatch(
        &self,
        env: &mut Env<'_>,
        java: &JObject<'_>,
        event: &Event,
        of: usize,
    ) -> jni::errors::Result<()> {
        let mut consumer = self.consumer();
        consumer.sequence += 1;
        let sequence = consumer.sequence;
        consumer.in_progress.insert(sequence, of);
        drop(consumer);
        let arguments = [JValue::Int(sequence), JValue::Object(event.java.as_obj())];
        let signature = jni_sig!("(ILandroid/view/InputEvent;)V");
        env.call_method(java, jni_str!("dispatchInputEvent"), signature, &arguments)?;
        Ok(())
    }
}

impl Callback for Receiver {
    fn ready(&self, env: &mut Env<'_>, _: &JObject<'_>, _: u32) -> jni::errors::Result<bool> {
        drain(&self.channel.ready);
        let java = self.java(env)?;
        if !java.is_null() {
            self.consume(env, &java, false)?;
        }
        Ok(true)
    }
}

/// # Safety
/// `handle` came from [`open`], whose reference is never given back.
unsafe fn channel(handle: jlong) -> Arc<Channel> {
    let pointer = handle as *const Channel;
    // SAFETY: by the caller's promise it is alive.
    unsafe {
        Arc::increment_strong_count(pointer);
        Arc::from_raw(pointer)
    }
}

extern "system" fn open(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    let channel = Channel { ready: event_fd(), sent: Mutex::default(), finished: Condvar::new() };
    Arc::into_raw(Arc::new(channel)) as jlong
}

extern "system" fn publish<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    event: JObject<'local>,
    batches: jboolean,
) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let java = env.new_global_ref(event)?;
        // SAFETY: InputChannel passes what nativeOpen returned.
        unsafe { channel(handle) }.publish(Event { java, batches });
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>();
}

extern "system" fn await_finished(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong, ms: jlong) -> jboolean {
    // SAFETY: InputChannel passes what nativeOpen returned.
    let channel = unsafe { channel(handle) };
    let limit = Duration::from_millis(ms.try_into().unwrap_or(0));
    if channel.await_finished(limit) { JNI_TRUE } else { JNI_FALSE }
}

extern "system" fn init<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    java: JObject<'local>,
    input_channel: JObject<'local>,
    message_queue: JObject<'local>,
) -> jlong {
    env.with_env(|env| -> jni::errors::Result<jlong> {
        let queue = Queue::of(env, &message_queue)?;
        let handle = env.get_field(&input_channel, jni_str!("pointer"), jni_sig!("J"))?.j()?;
        // SAFETY: InputChannel keeps there what nativeOpen returned.
        let channel = unsafe { channel(handle) };
        let java = env.new_global_ref(java)?;
        let receiver = Arc::new(Receiver { queue, channel, java, consumer: Mutex::default() });
        let ready = receiver.channel.ready.as_raw_fd();
        receiver.queue.add(ready, libc::EPOLLIN as u32, receiver.clone());
        Ok(Arc::into_raw(receiver) as jlong)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn dispose(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // SAFETY: InputEventReceiver.dispose calls this once, with the value of nativeInit, and forgets it.
    let receiver = unsafe { Arc::from_raw(handle as *const Receiver) };
    receiver.queue.remove(receiver.channel.ready.as_raw_fd());
}

extern "system" fn finish(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong, sequence: jint, _: jboolean) {
    // SAFETY: InputEventReceiver passes what nativeInit returned, until it is disposed of.
    let receiver = unsafe { &*(handle as *const Receiver) };
    let finished = receiver.consumer().in_progress.remove(&sequence);
    receiver.channel.finish(finished.unwrap_or(0));
}

extern "system" fn consume_batched<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    _: jlong,
) -> jboolean {
    env.with_env(|env| -> jni::errors::Result<jboolean> {
        // SAFETY: InputEventReceiver passes what nativeInit returned, until it is disposed of.
        let receiver = unsafe { &*(handle as *const Receiver) };
        let java = receiver.java(env)?;
        let any = !java.is_null() && receiver.consume(env, &java, true)?;
        Ok(if any { JNI_TRUE } else { JNI_FALSE })
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

pub(super) fn register(env: &mut Env<'_>) -> Result<()> {
    let ends = [
        (jni_str!("nativeOpen"), jni_str!("()J"), open as *mut c_void),
        (jni_str!("nativePublish"), jni_str!("(JLandroid/view/InputEvent;Z)V"), publish as *mut c_void),
        (jni_str!("nativeAwaitFinished"), jni_str!("(JJ)Z"), await_finished as *mut c_void),
    ];
    let receiver = [
        (
            jni_str!("nativeInit"),
            jni_str!("(Ljava/lang/ref/WeakReference;Landroid/view/InputChannel;Landroid/os/MessageQueue;)J"),
            init as *mut c_void,
        ),
        (jni_str!("nativeDispose"), jni_str!("(J)V"), dispose as *mut c_void),
        (jni_str!("nativeFinishInputEvent"), jni_str!("(JIZ)V"), finish as *mut c_void),
        (jni_str!("nativeConsumeBatchedInputEvents"), jni_str!("(JJ)Z"), consume_batched as *mut c_void),
    ];
    register_class(env, jni_str!("android/view/InputChannel"), &ends)?;
    register_class(env, jni_str!("android/view/InputEventReceiver"), &receiver)
}
