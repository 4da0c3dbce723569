//! The display: the native half of `android.view.DisplayEventReceiver` and of `android.view.TestVsync`.
//!
//! It has a fixed grid of refreshes on `CLOCK_MONOTONIC`, or follows a script of frame times. Each receiver
//! that asked for a refresh is notified of it through a descriptor, as by SurfaceFlinger. The descriptor is a
//! timerfd here, and a socket on a device.

use anyhow::{Result, bail};
use jni::errors::ThrowRuntimeExAndDefault;
use jni::objects::{JClass, JLongArray, JObject};
use jni::refs::Global;
use jni::strings::JNIStr;
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned, JValue, jni_sig, jni_str};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::queue::{Callback, Queue, drain, owned};
use crate::registration::{register_class, register_those_there};

const NS_PER_S: i64 = 1_000_000_000;
const NS_AT_60_HZ: i64 = 16_666_667;

/// The only display.
static DISPLAY: Mutex<Display> = Mutex::new(Display::new());

struct Display {
    /// The time of the refresh with the number `count`. The times of later refreshes are counted from it.
    base_ns: Option<i64>,
    count: i64,
    period_ns: i64,
    /// Frame times that are used before those of the grid.
    script: VecDeque<i64>,
    /// How often a refresh was asked for.
    scheduled: i64,
}

/// A refresh that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tick {
    /// The frame time that the app is notified of.
    time_ns: i64,
    /// When the app is notified.
    due_ns: i64,
    count: i64,
}

impl Display {
    const fn new() -> Self {
        Self { base_ns: None, count: 0, period_ns: NS_AT_60_HZ, script: VecDeque::new(), scheduled: 0 }
    }

    /// Moves the base to the last refresh before `now_ns`, and returns the time of that refresh.
    fn advance(&mut self, now_ns: i64) -> i64 {
        let base_ns = *self.base_ns.get_or_insert(now_ns);
        let passed = (now_ns - base_ns).max(0) / self.period_ns;
        self.count += passed;
        let last_ns = base_ns + passed * self.period_ns;
        self.base_ns = Some(last_ns);
        last_ns
    }

    /// The tick for an app that asks for a refresh at `now_ns`: from the script or, when that is used up, the
    /// next one of the grid.
    fn schedule(&mut self, now_ns: i64) -> Tick {
        self.scheduled += 1;
        let next_ns = self.advance(now_ns) + self.period_ns;
        let count = self.count + 1;
        match self.script.pop_front() {
            Some(time_ns) => Tick { time_ns, due_ns: now_ns, count },
            None => Tick { time_ns: next_ns, due_ns: next_ns, count },
        }
    }

    /// Sets the interval of refreshes. The new interval counts from the next refresh on, whose time stays the
    /// same.
    fn set_period(&mut self, now_ns: i64, period_ns: i64) {
        self.base_ns = Some(self.advance(now_ns) + self.period_ns);
        self.count += 1;
        self.period_ns = period_ns;
    }
}

fn display() -> MutexGuard<'static, Display> {
    DISPLAY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn uptime_ns() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64 * NS_PER_S as u64 + now.tv_nsec as u64) as i64
}

/// The native half of one receiver.
struct Receiver {
    queue: Arc<Queue>,
    /// A `WeakReference` to the Java half.
    java: Global<JObject<'static>>,
    timer: OwnedFd,
    asked_for: Mutex<Option<Tick>>,
}

impl Receiver {
    fn asked_for(&self) -> MutexGuard<'_, Option<Tick>> {
        self.asked_for.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn schedule(&self) {
        let mut asked_for = self.asked_for();
        // A refresh that has come and was not delivered yet is skipped, as libgui does: "drain all pending
        // events".
        if asked_for.is_some() && !drain(&self.timer) {
            return;
        }
        let tick = display().schedule(uptime_ns());
        *asked_for = Some(tick);
        let due = libc::timespec {
            tv_sec: (tick.due_ns / NS_PER_S) as libc::time_t,
            tv_nsec: (tick.due_ns % NS_PER_S) as libc::c_long,
        };
        let once = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: due };
        let timer = self.timer.as_raw_fd();
        // SAFETY: the time lives across the call; the old one is not asked for.
        unsafe { libc::timerfd_settime(timer, libc::TFD_TIMER_ABSTIME, &raw const once, ptr::null_mut()) };
    }
}

impl Callback for Receiver {
    fn ready(&self, env: &mut Env<'_>, _: &JObject<'_>, _: u32) -> jni::errors::Result<bool> {
        if !drain(&self.timer) {
            return Ok(true);
        }
        let Some(tick) = self.asked_for().take() else { return Ok(true) };
        let java =
            env.call_method(&self.java, jni_str!("get"), jni_sig!("()Ljava/lang/Object;"), &[])?.l()?;
        if !java.is_null() {
            dispatch(env, &java, tick)?;
        }
        Ok(true)
    }
}

/// The parameters of `DisplayEventReceiver.dispatchVsync`, which depend on the API level.
#[derive(Debug, Clone, Copy)]
enum Dispatch {
    /// API 21 to 28: the time, the display's number, the frame's number.
    Number,
    /// API 29, 30 and 34 on: the time, the display's identity, the frame's number.
    Identity,
    /// API 31 and 32: as [`Self::Identity`], and three numbers of one timeline.
    Timeline,
    /// API 33: as [`Self::Identity`], and an object that holds several timelines.
    Timelines,
}

/// The parameters that this testbed's `dispatchVsync` has.
static DISPATCH: OnceLock<Dispatch> = OnceLock::new();

const RECEIVER: &JNIStr = jni_str!("android/view/DisplayEventReceiver");
const EVENT_DATA: &JNIStr = jni_str!("android/view/DisplayEventReceiver$VsyncEventData");

fn find_dispatch(env: &mut Env<'_>) -> Result<Dispatch> {
    let all = [
        (Dispatch::Number, jni_sig!("(JII)V")),
        (Dispatch::Identity, jni_sig!("(JJI)V")),
        (Dispatch::Timeline, jni_sig!("(JJIJJJ)V")),
        (Dispatch::Timelines, jni_sig!("(JJILandroid/view/DisplayEventReceiver$VsyncEventData;)V")),
    ];
    for (dispatch, signature) in all {
        if env.get_method_id(RECEIVER, jni_str!("dispatchVsync"), signature).is_ok() {
            return Ok(dispatch);
        }
        env.exception_clear();
    }
    bail!("DisplayEventReceiver.dispatchVsync is called in another way than this program knows")
}

fn dispatch(env: &mut Env<'_>, java: &JObject<'_>, tick: Tick) -> jni::errors::Result<()> {
    let name = jni_str!("dispatchVsync");
    let (time, count) = (JValue::Long(tick.time_ns), JValue::Int(tick.count as jint));
    let identity = JValue::Long(0);
    match DISPATCH.get().copied().unwrap_or(Dispatch::Identity) {
        Dispatch::Number => {
            env.call_method(java, name, jni_sig!("(JII)V"), &[time, JValue::Int(0), count])?
        }
        Dispatch::Identity => env.call_method(java, name, jni_sig!("(JJI)V"), &[time, identity, count])?,
        Dispatch::Timeline => {
            let period_ns = display().period_ns;
            let (deadline, interval) = (JValue::Long(tick.time_ns + period_ns), JValue::Long(period_ns));
            let arguments = [time, identity, count, JValue::Long(tick.count), deadline, interval];
            env.call_method(java, name, jni_sig!("(JJIJJJ)V"), &arguments)?
        }
        Dispatch::Timelines => {
            let data = env.new_object(EVENT_DATA, jni_sig!("()V"), &[])?;
            let signature = jni_sig!("(JJILandroid/view/DisplayEventReceiver$VsyncEventData;)V");
            env.call_method(java, name, signature, &[time, identity, count, JValue::Object(&data)])?
        }
    };
    Ok(())
}

/// Makes the native half of a receiver, and returns its handle. `receiver` is the Java half itself (API 21,
/// 22) or a `WeakReference` to it.
fn init(mut env: EnvUnowned<'_>, receiver: JObject<'_>, message_queue: JObject<'_>) -> jlong {
    env.with_env(|env| -> jni::errors::Result<jlong> {
        let reference = jni_str!("java/lang/ref/WeakReference");
        let class = env.find_class(reference)?;
        let java = if env.is_instance_of(&receiver, &class)? {
            receiver
        } else {
            env.new_object(&class, jni_sig!("(Ljava/lang/Object;)V"), &[JValue::Object(&receiver)])?
        };
        let queue = Queue::of(env, &message_queue)?;
        // SAFETY: plain system call.
        let timer =
            unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) };
        let receiver = Arc::new(Receiver {
            java: env.new_global_ref(java)?,
            timer: owned(timer, "timerfd_create"),
            asked_for: Mutex::new(None),
            queue,
        });
        receiver.queue.add(receiver.timer.as_raw_fd(), libc::EPOLLIN as u32, receiver.clone());
        Ok(Arc::into_raw(receiver) as jlong)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn init_queue<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    receiver: JObject<'local>,
    message_queue: JObject<'local>,
) -> jlong {
    init(env, receiver, message_queue)
}

extern "system" fn init_source<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    receiver: JObject<'local>,
    message_queue: JObject<'local>,
    _: jint,
) -> jlong {
    init(env, receiver, message_queue)
}

extern "system" fn init_source_and_events<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    receiver: JObject<'local>,
    message_queue: JObject<'local>,
    _: jint,
    _: jint,
) -> jlong {
    init(env, receiver, message_queue)
}

extern "system" fn init_data_source_events_and_layer<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    receiver: JObject<'local>,
    data: JObject<'local>,
    message_queue: JObject<'local>,
    _: jint,
    _: jint,
    _: jlong,
) -> jlong {
    fill(&mut env, &data);
    init(env, receiver, message_queue)
}

extern "system" fn init_data_events_and_layer<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    receiver: JObject<'local>,
    data: JObject<'local>,
    message_queue: JObject<'local>,
    _: jint,
    _: jlong,
) -> jlong {
    fill(&mut env, &data);
    init(env, receiver, message_queue)
}

/// Fills in the data of a refresh. From API 34 on the data are in a Java object, to which `reference` is a
/// weak reference. The object's single timeline stays as created, without a time.
fn fill<'local>(env: &mut EnvUnowned<'local>, reference: &JObject<'local>) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let data = env.call_method(reference, jni_str!("get"), jni_sig!("()Ljava/lang/Object;"), &[])?.l()?;
        let interval = JValue::Long(display().period_ns);
        env.set_field(&data, jni_str!("frameInterval"), jni_sig!("J"), interval)?;
        env.set_field(&data, jni_str!("frameTimelinesLength"), jni_sig!("I"), JValue::Int(1))
    })
    .resolve::<ThrowRuntimeExAndDefault>();
}

/// Called by `NativeAllocationRegistry`, by its address, when the Java half is gone.
extern "C" fn finalize(handle: *mut c_void) {
    // SAFETY: the registry calls this once, with the value of nativeInit.
    let receiver = unsafe { Arc::from_raw(handle as *const Receiver) };
    receiver.queue.remove(receiver.timer.as_raw_fd());
}

extern "system" fn finalizer(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    finalize as *const () as jlong
}

extern "system" fn latest<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    _: jlong,
) -> JObject<'local> {
    env.with_env(|env| env.new_object(EVENT_DATA, jni_sig!("()V"), &[])).resolve::<ThrowRuntimeExAndDefault>()
}

extern "system" fn dispose(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // SAFETY: DisplayEventReceiver.dispose calls this once, with the value of nativeInit, and forgets it.
    let receiver = unsafe { Arc::from_raw(handle as *const Receiver) };
    receiver.queue.remove(receiver.timer.as_raw_fd());
}

extern "system" fn schedule_vsync(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // SAFETY: DisplayEventReceiver passes what nativeInit returned, until it is disposed of.
    unsafe { &*(handle as *const Receiver) }.schedule();
}

extern "system" fn set_period(_: EnvUnowned<'_>, _: JClass<'_>, period_ns: jlong) {
    display().set_period(uptime_ns(), period_ns);
}

extern "system" fn period(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    display().period_ns
}

extern "system" fn scheduled(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    display().scheduled
}

extern "system" fn set_script<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    frame_times: JLongArray<'local>,
) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let mut times = vec![0; frame_times.len(env)?];
        frame_times.get_region(env, 0, &mut times)?;
        display().script = times.into();
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>();
}

pub(super) fn register(env: &mut Env<'_>) -> Result<()> {
    let init = jni_str!("nativeInit");
    let receiver = [
        (
            init,
            jni_str!("(Landroid/view/DisplayEventReceiver;Landroid/os/MessageQueue;)J"),
            init_queue as *mut c_void,
        ),
        (
            init,
            jni_str!("(Ljava/lang/ref/WeakReference;Landroid/os/MessageQueue;)J"),
            init_queue as *mut c_void,
        ),
        (
            init,
            jni_str!("(Ljava/lang/ref/WeakReference;Landroid/os/MessageQueue;I)J"),
            init_source as *mut c_void,
        ),
        (
            init,
            jni_str!("(Ljava/lang/ref/WeakReference;Landroid/os/MessageQueue;II)J"),
            init_source_and_events as *mut c_void,
        ),
        (
            init,
            jni_str!(
                "(Ljava/lang/ref/WeakReference;Ljava/lang/ref/WeakReference;Landroid/os/MessageQueue;IIJ)J"
            ),
            init_data_source_events_and_layer as *mut c_void,
        ),
        (
            init,
            jni_str!(
                "(Ljava/lang/ref/WeakReference;Ljava/lang/ref/WeakReference;Landroid/os/MessageQueue;IJ)J"
            ),
            init_data_events_and_layer as *mut c_void,
        ),
        (jni_str!("nativeDispose"), jni_str!("(J)V"), dispose as *mut c_void),
        (jni_str!("nativeGetDisplayEventReceiverFinalizer"), jni_str!("()J"), finalizer as *mut c_void),
        (
            jni_str!("nativeGetLatestVsyncEventData"),
            jni_str!("(J)Landroid/view/DisplayEventReceiver$VsyncEventData;"),
            latest as *mut c_void,
        ),
        (jni_str!("nativeScheduleVsync"), jni_str!("(J)V"), schedule_vsync as *mut c_void),
    ];
    let test = [
        (jni_str!("setPeriodNanos"), jni_str!("(J)V"), set_period as *mut c_void),
        (jni_str!("periodNanos"), jni_str!("()J"), period as *mut c_void),
        (jni_str!("scheduled"), jni_str!("()J"), scheduled as *mut c_void),
        (jni_str!("setScript"), jni_str!("([J)V"), set_script as *mut c_void),
    ];
    register_those_there(env, RECEIVER, &receiver)?;
    let found = find_dispatch(env)?;
    DISPATCH.get_or_init(|| found);
    register_class(env, jni_str!("android/view/TestVsync"), &test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_lie_on_one_grid_and_change_their_period_at_the_next_one() {
        let mut display = Display::new();
        display.period_ns = 10;
        assert_eq!(display.schedule(100), Tick { time_ns: 110, due_ns: 110, count: 1 });
        assert_eq!(display.schedule(109), Tick { time_ns: 110, due_ns: 110, count: 1 });
        assert_eq!(display.schedule(137), Tick { time_ns: 140, due_ns: 140, count: 4 });
        display.set_period(138, 4);
        assert_eq!(display.schedule(139), Tick { time_ns: 144, due_ns: 144, count: 5 });
        assert_eq!(display.schedule(150), Tick { time_ns: 152, due_ns: 152, count: 7 });
        assert_eq!(display.scheduled, 5);
    }

    #[test]
    fn a_script_is_delivered_at_once_and_the_grid_goes_on_behind_it() {
        let mut display = Display::new();
        display.period_ns = 10;
        display.script = VecDeque::from([7, 31]);
        assert_eq!(display.schedule(100), Tick { time_ns: 7, due_ns: 100, count: 1 });
        assert_eq!(display.schedule(125), Tick { time_ns: 31, due_ns: 125, count: 3 });
        assert_eq!(display.schedule(126), Tick { time_ns: 130, due_ns: 130, count: 3 });
    }
}
