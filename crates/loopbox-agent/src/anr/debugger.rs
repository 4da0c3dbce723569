//! Whether a debugger is attached. It stops the app for any time, so no message hangs meanwhile.

use super::framework;
use crate::jni::env::Env;
use crate::session::Session;
use crate::sys::proc;

/// Whether a debugger is attached, a native one or one of Java. Notes it for the next process, if this one is
/// killed at a breakpoint: while Java's debugger stops the app, nobody can be asked. For the worker only.
pub(crate) fn is_attached(env: &mut Env<'_>, session: &Session) -> bool {
    let attached = proc::is_traced() || framework::is_debugged(env);
    session.shared.set_debugged(attached);
    attached
}
