//! The natives that the hooks call for each message, on the main thread: no allocation, no lock, no jni crate.

use crate::main_thread::{self, Main};
use crate::strings::Text;
use jni::sys;
use loopbox_format::looper::dispatch;
use loopbox_format::model::{End, NamedBy};
use loopbox_recorder::{Described, StackMark, Wanted};
use std::panic::{AssertUnwindSafe, catch_unwind};

// As in `Native.java`.
const WANTS_NAME: sys::jint = 1;
const DEPTH_SHIFT: u32 = 1;
const IN_DOUBT: sys::jint = -1;
const ELSEWHERE: sys::jint = -2;

/// What Java is told: whether a name is wanted, and how many messages run.
fn said(wanted: Wanted, depth: u32) -> sys::jint {
    let wants = if wanted == Wanted::Description { WANTS_NAME } else { 0 };
    (depth << DEPTH_SHIFT).cast_signed() | wants
}

fn on_begin(at: StackMark) -> sys::jint {
    // SAFETY: nothing else of ours is on this thread's stack.
    let Some(main) = (unsafe { main_thread::main() }) else { return ELSEWHERE };
    if main.aggregator.depth() > main.nested {
        return IN_DOUBT;
    }
    begun_at(main, at)
}

fn begun_at(main: &mut Main, at: StackMark) -> sys::jint {
    main.begun += 1;
    let begun = main.aggregator.begin(at);
    let depth = main.aggregator.depth();
    if let Some(mark) = main.marks.get_mut((depth as usize).wrapping_sub(1)) {
        *mark = at;
    }
    said(begun.wanted, depth)
}

fn on_end(at: StackMark, when_ms: sys::jlong, threw: sys::jboolean) -> sys::jint {
    // SAFETY: as in `on_begin`.
    let Some(main) = (unsafe { main_thread::main() }) else { return ELSEWHERE };
    let when_ns = u64::try_from(when_ms).ok().map(|ms| ms.saturating_mul(1_000_000));
    let wanted = main.aggregator.end(at, when_ns, if threw { End::Threw } else { End::Returned });
    let depth = main.aggregator.depth();
    main.nested = main.nested.min(depth);
    said(wanted, depth)
}

pub(crate) extern "system" fn begin(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jint {
    on_begin(StackMark::here())
}

pub(crate) extern "system" fn end(
    _: *mut sys::JNIEnv,
    _: sys::jclass,
    when_ms: sys::jlong,
    threw: sys::jboolean,
) -> sys::jint {
    on_end(StackMark::here(), when_ms, threw)
}

pub(crate) extern "system" fn begin_critical() -> sys::jint {
    on_begin(StackMark::here())
}

pub(crate) extern "system" fn end_critical(when_ms: sys::jlong, threw: sys::jboolean) -> sys::jint {
    on_end(StackMark::here(), when_ms, threw)
}

/// Java has counted the loops on the stack: all but the innermost one run a message.
pub(crate) extern "system" fn begin_in(_: *mut sys::JNIEnv, _: sys::jclass, loops: sys::jint) -> sys::jint {
    // SAFETY: as in `on_begin`.
    let Some(main) = (unsafe { main_thread::main() }) else { return ELSEWHERE };
    let running = u32::try_from(loops).unwrap_or(0).saturating_sub(1);
    main.nested = running.min(main.aggregator.depth());
    let first_lost = main.marks.get(running as usize).filter(|_| running < main.aggregator.depth());
    // A message that begins where a lost one began closes that one and those inside of it. In the outermost loop all
    // are lost, and the new one may begin anywhere: a mark above all others.
    let at = match first_lost {
        Some(_) if running == 0 => StackMark::at(u64::MAX),
        Some(&lost) => lost,
        None => StackMark::here(),
    };
    begun_at(main, at)
}

pub(crate) extern "system" fn depth(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jint {
    // SAFETY: as in `on_begin`.
    (unsafe { main_thread::main() }).map_or(ELSEWHERE, |main| main.aggregator.depth().cast_signed())
}

pub(crate) extern "system" fn begun(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jlong {
    // SAFETY: as in `on_begin`.
    (unsafe { main_thread::main() }).map_or(0, |main| main.begun.cast_signed())
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
        // SAFETY: as in `on_begin`.
        if let Some(main) = unsafe { main_thread::main() } {
            main.aggregator.describe(described);
        }
    }));
    if guarded.is_err() {
        crate::log::warn("naming a message panicked");
    }
}
