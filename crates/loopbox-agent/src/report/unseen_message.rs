//! A message that the hook did not report, on the main thread's stack: another library has taken the hook's place. An idle
//! main thread notices that by itself; a main thread that is never idle has to be notified.

use crate::jni::env::Env;
use crate::jni::raw::Failure;
use crate::jni::{call, class_cache};
use crate::sys::log;
use loopbox_format::model::{Location, LocationId, Symbols};

/// Whether a stack shows the dispatch of a message by the innermost `Looper.loop`. Top frame first.
pub(super) fn is_on(symbols: &Symbols, stack: &[LocationId]) -> bool {
    let mut called = "";
    for &location in stack {
        let Some(&Location::Frame { method, .. }) = symbols.location(location) else {
            called = "";
            continue;
        };
        let Some(method) = symbols.method(method) else { return false };
        // The latter since Android 12.
        if method.class == "android.os.Looper" && matches!(method.name.as_str(), "loop" | "loopOnce") {
            return called == "dispatchMessage";
        }
        called = &method.name;
    }
    false
}

/// Has Java put the hook back.
pub(super) fn put_hook_back(env: &mut Env<'_>) {
    let Some(classes) = class_cache::get() else { return };
    // SAFETY: looked up in this class with this signature: no arguments, no result.
    let called = unsafe { call::void(env, (&classes.calls, classes.calls_message_unseen), &[]) };
    if let Err(Failure(why)) = called {
        log::warn(&why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::used_symbols::tests::symbols;

    #[test]
    fn only_a_dispatch_by_the_innermost_loop_is_a_message() {
        const LOOP: &str = "android.os.Looper.loop";
        const ONCE: &str = "android.os.Looper.loopOnce";
        const DISPATCH: &str = "android.os.Handler.dispatchMessage";
        const NEXT: &str = "android.os.MessageQueue.next";
        for (top_first, found) in [
            (&["a.Cart.total", "a.H.handleMessage", DISPATCH, LOOP, "a.Main.main"][..], true),
            (&["android.os.Looper.myLooper", "a.H.dispatchMessage", ONCE, LOOP], true),
            (&["a.Idle.queueIdle", NEXT, LOOP], false),
            (&["a.View.onTouch", "android.os.MessageQueue.nativePollOnce", NEXT, LOOP], false),
            // Its start may be on the way to the hook.
            (&["a.Printer.println", LOOP], false),
            // An idle handler's own loop, which waits.
            (&[NEXT, LOOP, "a.Idle.queueIdle", NEXT, LOOP], false),
            (&[NEXT, LOOP, "a.H.handleMessage", DISPATCH, LOOP], false),
            (&["a.Cart.total", DISPATCH, "a.Main.main"], false),
            (&[], false),
        ] {
            let stack: Vec<LocationId> = (0..top_first.len() as u32).map(LocationId).collect();
            assert_eq!(is_on(&symbols(top_first), &stack), found, "{top_first:?}");
        }
    }
}
