//! The natives that the hooks call for each message, on the main thread: no allocation, no lock, no jni crate.

use crate::main_thread;
use crate::strings::Text;
use jni::sys;
use loopbox_format::looper::dispatch;
use loopbox_format::model::{End, NamedBy};
use loopbox_recorder::{Described, StackMark, Wanted};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `Native.WANTS_NAME` and `Native.DEPTH_SHIFT`.
const WANTS_NAME: sys::jint = 1;
const DEPTH_SHIFT: u32 = 1;

/// What Java is told: whether a name is wanted, and how many messages run.
fn said(wanted: Wanted, depth: u32) -> sys::jint {
    let wants = if wanted == Wanted::Description { WANTS_NAME } else { 0 };
    (depth << DEPTH_SHIFT).cast_signed() | wants
}

fn begun(at: StackMark) -> sys::jint {
    // SAFETY: Java calls on the main thread only, and nothing of ours is on its stack.
    let Some(main) = (unsafe { main_thread::main() }) else { return 0 };
    let begun = main.begin(at);
    said(begun.wanted, main.depth())
}

fn ended(at: StackMark, when_ms: sys::jlong, threw: sys::jboolean) -> sys::jint {
    // SAFETY: as in `begun`.
    let Some(main) = (unsafe { main_thread::main() }) else { return 0 };
    let when_ns = u64::try_from(when_ms).ok().map(|ms| ms.saturating_mul(1_000_000));
    let wanted = main.end(at, when_ns, if threw { End::Threw } else { End::Returned });
    said(wanted, main.depth())
}

pub(crate) extern "system" fn begin(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jint {
    begun(StackMark::here())
}

/// No other message can be running: a mark above all others closes those that seem to.
pub(crate) extern "system" fn begin_anew(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jint {
    begun(StackMark::at(u64::MAX))
}

pub(crate) extern "system" fn end(
    _: *mut sys::JNIEnv,
    _: sys::jclass,
    when_ms: sys::jlong,
    threw: sys::jboolean,
) -> sys::jint {
    ended(StackMark::here(), when_ms, threw)
}

pub(crate) extern "system" fn begin_critical() -> sys::jint {
    begun(StackMark::here())
}

pub(crate) extern "system" fn end_critical(when_ms: sys::jlong, threw: sys::jboolean) -> sys::jint {
    ended(StackMark::here(), when_ms, threw)
}

pub(crate) extern "system" fn describe(
    env: *mut sys::JNIEnv,
    _: sys::jclass,
    target: sys::jstring,
    callback: sys::jstring,
    what: sys::jint,
) {
    // SAFETY: the VM's own environment and references, without a pending exception.
    let (target, callback) = unsafe { (Text::read(env, target), Text::read(env, callback)) };
    name(&Described {
        target: target.as_str(),
        callback: callback.as_str(),
        what,
        named_by: NamedBy::Observer,
    });
}

pub(crate) extern "system" fn describe_line(env: *mut sys::JNIEnv, _: sys::jclass, line: sys::jstring) {
    // SAFETY: as in `describe`.
    let line = unsafe { Text::read(env, line) };
    let line = dispatch(line.as_str());
    name(&Described {
        target: line.target,
        callback: line.callback,
        what: line.what,
        named_by: NamedBy::Printer,
    });
}

/// Not for every message, and it reads text of the app's making: guarded, although nothing in it should panic.
fn name(described: &Described<'_>) {
    let guarded = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as in `begun`.
        if let Some(main) = unsafe { main_thread::main() } {
            main.describe(described);
        }
    }));
    if guarded.is_err() {
        crate::log::warn("naming a message panicked");
    }
}
