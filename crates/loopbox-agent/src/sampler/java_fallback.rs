//! Takes stacks where the native sampler does not work: with `Thread.getStackTrace`, less often, and only
//! where that call gives the main thread long enough to stop.

use crate::jni::env::Env;
use crate::jni::{call, class_cache, raw};
use crate::session::symbols::{SharedSymbols, Stack};
use loopbox_recorder::Sampling;

/// The fallback's interval is this many times that of the native sampler.
const GENTLER: u64 = 10;
const MIN_INTERVAL_NS: u64 = 100_000_000;

/// Whether the fallback may be used in this process.
pub(crate) fn is_safe() -> bool {
    class_cache::get()
        .is_some_and(|classes| loopbox_art::get_stack_trace_waits_long_enough(classes.vm_of_art()))
}

/// The schedule of this fallback.
pub(crate) fn sampling(native: &Sampling) -> Sampling {
    let interval_ns = native.interval_ns.saturating_mul(GENTLER).max(MIN_INTERVAL_NS);
    Sampling { interval_ns, onset_ns: native.onset_ns.max(interval_ns), ..native.clone() }
}

/// Takes a stack; `None` when Java threw.
pub(crate) fn take_stack(env: &mut Env<'_>, symbols: &SharedSymbols) -> Option<Stack> {
    let classes = class_cache::get()?;
    let text = call::with_frame(env, |env| {
        // SAFETY: looked up in this class with this signature: no arguments, a String.
        let text = unsafe { call::object(env, (&classes.main_stack, classes.main_stack_take), &[]) }?;
        // SAFETY: a String, as the method's type says.
        Ok(unsafe { raw::text(env, &text) })
    });
    text.ok().flatten().map(|text| symbols.locate_lines(&text))
}
