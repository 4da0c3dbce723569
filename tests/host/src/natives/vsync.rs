//! The display: the native half of `android.view.DisplayEventReceiver` and of `android.view.TestVsync`.
//!
//! It has a fixed grid of refreshes on `CLOCK_MONOTONIC`, or follows a script of frame times. As from SurfaceFlinger, a
//! refresh goes to each receiver that asked for it, by a descriptor (a timerfd here, a socket there).

use anyhow::Result;
use jni::errors::ThrowRuntimeExAndDefault;
use jni::objects::{JClass, JLongArray, JObject};
use jni::refs::Global;
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned, JValue, jni_sig, jni_str};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::queue::{Callback, Queue, drain, owned};
use crate::registration::register_class;

const NS_PER_S: i64 = 1_000_000_000;
const NS_AT_60_HZ: i64 = 16_666_667;

/// The only display.
static DISPLAY: Mutex<Display> = Mutex::new(Display::new());

struct Display {
    /// A refresh, and its number.
    base_ns: Option<i64>,
    count: i64,
    period_ns: i64,
    /// Frame times to hand out before the grid's.
    script: VecDeque<i64>,
    /// How often a refresh was asked for.
    scheduled: i64,
}

/// A refresh that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tick {
    /// What the app is notified of.
    time_ns: i64,
    /// When it is notified.
    due_ns: i64,
    count: i64,
}

impl Display {
    const fn new() -> Self {
        Self { base_ns: None, count: 0, period_ns: NS_AT_60_HZ, script: VecDeque::new(), scheduled: 0 }
    }

    /// Moves the base to the last refresh before `now_ns`.
    fn advance(&mut self, now_ns: i64) -> i64 {
        let base_ns = *self.base_ns.get_or_insert(now_ns);
        let passed = (now_ns - base_ns).max(0) / self.period_ns;
        self.count += passed;
        let last_ns = base_ns + passed * self.period_ns;
        self.base_ns = Some(last_ns);
        last_ns
    }

    /// The next refresh after `now_ns`.
    fn schedule(&mut self, now_ns: i64) -> Tick {
        self.scheduled += 1;
        let next_ns = self.advance(now_ns) + self.period_ns;
        let count = self.count + 1;
        match self.script.pop_front() {
            Some(time_ns) => Tick { time_ns, due_ns: now_ns, count },
            None => Tick { time_ns: next_ns, due_ns: next_ns, count },
        }
    }

    /// The next refresh comes when it would have; from then on they come as often as this says.
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
    now.tv_sec * NS_PER_S + now.tv_nsec
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
        // A refresh that has come and was not delivered yet is skipped, as libgui does: "drain all pending events".
        if asked_for.is_some() && !drain(&self.timer) {
            return;
        }
        let tick = display().schedule(uptime_ns());
        *asked_for = Some(tick);
        let due = libc::timespec { tv_sec: tick.due_ns / NS_PER_S, tv_nsec: tick.due_ns % NS_PER_S };
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
            let arguments = [JValue::Long(tick.time_ns), JValue::Long(0), JValue::Int(tick.count as jint)];
            env.call_method(&java, jni_str!("dispatchVsync"), jni_sig!("(JJI)V"), &arguments)?;
        }
        Ok(true)
    }
}

extern "system" fn init<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    java: JObject<'local>,
    message_queue: JObject<'local>,
    _: jint,
    _: jint,
) -> jlong {
    env.with_env(|env| -> jni::errors::Result<jlong> {
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
    let receiver = [
        (
            jni_str!("nativeInit"),
            jni_str!("(Ljava/lang/ref/WeakReference;Landroid/os/MessageQueue;II)J"),
            init as *mut c_void,
        ),
        (jni_str!("nativeDispose"), jni_str!("(J)V"), dispose as *mut c_void),
        (jni_str!("nativeScheduleVsync"), jni_str!("(J)V"), schedule_vsync as *mut c_void),
    ];
    let test = [
        (jni_str!("setPeriodNanos"), jni_str!("(J)V"), set_period as *mut c_void),
        (jni_str!("periodNanos"), jni_str!("()J"), period as *mut c_void),
        (jni_str!("scheduled"), jni_str!("()J"), scheduled as *mut c_void),
        (jni_str!("setScript"), jni_str!("([J)V"), set_script as *mut c_void),
    ];
    register_class(env, jni_str!("android/view/DisplayEventReceiver"), &receiver)?;
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
