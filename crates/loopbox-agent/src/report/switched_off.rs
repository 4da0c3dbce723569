//! The end of a recording that another process of the app has switched off.

use crate::anr::sigquit;
use crate::jni::env::Env;
use crate::jni::raw::Failure;
use crate::jni::{call, class_cache};
use crate::session::Session;
use crate::sys::log;

/// How often Java is asked again after a failure.
const AGAIN_MS: i32 = 1_000;

/// Has Java end the recording, and waits for that. Nothing is written meanwhile. On the worker.
pub(super) fn end(env: &mut Env<'_>, session: &Session) {
    while !session.shared.stopped() {
        if let Some(classes) = class_cache::get() {
            // SAFETY: looked up in this class with this signature: no arguments, no result.
            let called = unsafe { call::void(env, (&classes.calls, classes.calls_switched_off), &[]) };
            if let Err(Failure(why)) = called {
                log::warn(&why);
            }
        }
        session.wait_for_work(AGAIN_MS);
        sigquit::forward_waiting();
    }
}
