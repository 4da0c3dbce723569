//! Whether a debugger is attached. A debugger can stop the app for any length of time, so no message counts
//! as a hang while one is attached.

use super::framework;
use crate::jni::env::Env;
use crate::session::Session;
use crate::sys::proc;

/// Whether a debugger is attached, a native one or a Java one. For the worker only.
///
/// Also stores the result where the next process can read it, in case this process is killed at a breakpoint.
/// While a Java debugger stops the app, no query of the framework can run.
pub(crate) fn is_attached(env: &mut Env<'_>, session: &Session) -> bool {
    let attached = proc::is_traced() || framework::is_debugged(env);
    session.shared.set_debugged(attached);
    attached
}
