//! Takes stacks where the native sampler does not work: with `Thread.getStackTrace`, less often, and only
//! where that call gives the main thread long enough to stop.
//!
//! ART ends the process when the thread does not stop in that time. So Java is not asked while main may not
//! come to a safepoint: while it waits for a page or for a processor, or may be frozen.

use crate::anr::signal_catcher;
use crate::jni::env::Env;
use crate::jni::{call, class_cache, raw};
use crate::session::Session;
use crate::session::symbols::{SharedSymbols, Stack};
use crate::sys::{clock, proc};
use loopbox_recorder::Sampling;
use std::time::Duration;

/// The fallback's interval is this many times that of the native sampler.
const GENTLER: u64 = 10;
const MIN_INTERVAL_NS: u64 = 100_000_000;

/// How often main's state is checked until it is one in which Java may be asked, and how long to wait in
/// between: a tenth of a second in all. Most waits for the disk, or for a processor, are shorter.
const CHECKS: u32 = 20;
const CHECK_PAUSE: Duration = Duration::from_millis(5);

/// Whether the fallback may be used in this process.
pub(crate) fn is_safe() -> bool {
    class_cache::get()
        .is_some_and(|classes| loopbox_art::get_stack_trace_waits_long_enough(classes.vm_of_art()))
}

/// Whether Java may be asked for the main thread's stack now. Waits for a tenth of a second at most for main
/// to be where it can stop.
pub(crate) fn may_ask(session: &Session) -> bool {
    let shared = &session.shared;
    // A process that is frozen in the middle of the call is ended by the call's time-out when it thaws. One
    // that never had an Activity does not count as in the background.
    let may_be_frozen = shared.in_background() || cfg!(target_os = "android") && proc::may_be_frozen();
    shared.sampler.may_stop_threads()
        && !may_be_frozen
        && is_safe()
        && stops_soon(session)
        && !signal_catcher::is_tracing()
}

/// Whether main reaches a safepoint soon. A main thread in native code counts as stopped already. Only the
/// native sampler's [`Art`](loopbox_art::Art) shows whether main is in native code, so that is known only
/// where discovery has succeeded.
fn stops_soon(session: &Session) -> bool {
    let ran_ns = || clock::thread_cpu_of(session.main_cpu?);
    let before = ran_ns();
    for check in 0..CHECKS {
        if check > 0 {
            std::thread::sleep(CHECK_PAUSE);
        }
        let in_native = session.art.get().is_some_and(|art| !art.main_runs_java());
        if in_native || stops_in(proc::main_stat().map(|stat| stat.state), before, ran_ns()) {
            return true;
        }
    }
    false
}

/// Whether main comes to a safepoint soon, by the kernel's state of the thread. If main is runnable, it must
/// also have a processor: its CPU time must have grown since the check began, from `before_ns` to `now_ns`.
/// False when a value that is needed is not known.
fn stops_in(state: Option<u8>, before_ns: Option<u64>, now_ns: Option<u64>) -> bool {
    match state {
        Some(b'S') => true,
        Some(b'R') => before_ns.zip(now_ns).is_some_and(|(before_ns, now_ns)| now_ns > before_ns),
        // In an uninterruptible wait, or stopped, or not known.
        _ => false,
    }
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

#[cfg(test)]
mod tests {
    use super::stops_in;

    #[test]
    fn java_is_asked_only_where_main_is_known_to_stop_soon() {
        assert!(stops_in(Some(b'S'), None, None));
        assert!(stops_in(Some(b'R'), Some(5), Some(6)));
        for (state, before_ns, now_ns, why) in [
            (Some(b'D'), Some(5), Some(6), "it waits for a page"),
            (Some(b'R'), Some(5), Some(5), "it has no processor"),
            (Some(b'R'), None, Some(5), "not known whether it has one"),
            (Some(b'T'), Some(5), Some(6), "it is stopped"),
            (Some(b't'), Some(5), Some(6), "a debugger has it"),
            (None, Some(5), Some(6), "nothing is known"),
        ] {
            assert!(!stops_in(state, before_ns, now_ns), "{why}");
        }
    }
}
