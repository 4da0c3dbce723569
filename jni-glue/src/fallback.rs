//! Stacks where the native sampler does not work: `Thread.getStackTrace`, less often, and only where that call gives
//! the main thread long enough to stop.

use crate::java;
use crate::raw;
use crate::stacks::{Names, Stack};
use jni::errors::Error;
use jni::signature::JavaType;
use jni::{DEFAULT_LOCAL_FRAME_CAPACITY, Env};
use loopbox_recorder::{GENTLER, Sampling};

const SHORTEST_NS: u64 = 100_000_000;

/// Whether it may be used in this process.
pub(crate) fn is_safe() -> bool {
    java::get().is_some_and(|java| loopbox_art::get_stack_trace_is_patient(java.vm.get_raw().cast()))
}

/// The schedule that it works by.
pub(crate) fn sampling(native: &Sampling) -> Sampling {
    let interval_ns = native.interval_ns.saturating_mul(u64::from(GENTLER)).max(SHORTEST_NS);
    Sampling { interval_ns, onset_ns: native.onset_ns.max(interval_ns), ..native.clone() }
}

/// Takes a stack; `None` when Java threw.
pub(crate) fn take(env: &mut Env<'_>, names: &Names) -> Option<(Stack, u32)> {
    let java = java::get()?;
    let text = env.with_local_frame(DEFAULT_LOCAL_FRAME_CAPACITY, |env| {
        // SAFETY: looked up in this class with this signature: no arguments, a String.
        let text = unsafe {
            env.call_static_method_unchecked(&*java.main_stack, java.main_stack_take, JavaType::Object, &[])
        }?
        .l()?;
        // SAFETY: a String, as the method's type says.
        Ok::<_, Error>(unsafe { raw::text(env, &text) })
    });
    if text.is_err() {
        raw::exception(env);
    }
    text.ok().flatten().map(|text| names.locate_lines(&text))
}
