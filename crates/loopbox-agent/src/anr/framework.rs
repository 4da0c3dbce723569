//! What the Android framework reports about this process and those before it, by `io.loopbox.internal.FrameworkQueries`. For the
//! worker: the answers come from another process.

use crate::jni::class_cache;
use crate::jni::raw::{self, Failure};
use crate::sys::log;
use jni::ids::JStaticMethodID;
use jni::signature::{JavaType, Primitive};
use jni::sys::jvalue;
use jni::{DEFAULT_LOCAL_FRAME_CAPACITY, Env, JValueOwned};
use loopbox_format::model::{ProcessExit, Report};

/// Bits of `FrameworkQueries.state`.
const AVAILABLE: i32 = 1;
const DEBUGGED: i32 = 2;

/// Whether the framework can be queried at all.
pub(crate) fn is_available(env: &mut Env<'_>) -> bool {
    state(env) & AVAILABLE != 0
}

/// Whether a Java debugger is attached.
pub(crate) fn is_debugged(env: &mut Env<'_>) -> bool {
    state(env) & DEBUGGED != 0
}

/// The system's text when it reports that this process does not respond.
pub(crate) fn not_responding(env: &mut Env<'_>) -> Option<String> {
    let classes = class_cache::get()?;
    text(env, classes.queries_not_responding, None, &[])
}

/// How a process ended, by the system.
pub(crate) struct ProcessEnd {
    pub(crate) exit: ProcessExit,
    /// The signal that ended it, where the reason is that one did; otherwise the exit code.
    pub(crate) status: i32,
}

/// How the process of a recovered report ended.
pub(crate) fn exit(env: &mut Env<'_>, report: &Report) -> Option<ProcessEnd> {
    let classes = class_cache::get()?;
    let meta = &report.meta;
    let numbers =
        [jvalue { i: meta.process.pid.cast_signed() }, jvalue { j: meta.dumped_at.unix_ms.cast_signed() }];
    let answer = text(env, classes.queries_exit, Some(&meta.process.name), &numbers)?;
    let mut lines = answer.splitn(4, '\n');
    let reason = lines.next()?.parse().ok()?;
    let status = lines.next()?.parse().ok()?;
    let unix_ms = lines.next()?.parse().ok()?;
    let description = lines.next()?.to_owned();
    Some(ProcessEnd { exit: ProcessExit { reason, description, unix_ms }, status })
}

fn state(env: &mut Env<'_>) -> i32 {
    let Some(classes) = class_cache::get() else { return 0 };
    let number = JavaType::Primitive(Primitive::Int);
    // SAFETY: looked up in this class with this signature: no arguments, an int.
    let state =
        unsafe { env.call_static_method_unchecked(&*classes.queries, classes.queries_state, number, &[]) };
    state.and_then(JValueOwned::i).unwrap_or_else(|_| {
        let Failure(why) = raw::failure(env);
        log::warn(&["a query to the Android framework failed: ", &why].concat());
        0
    })
}

/// Calls a method of `FrameworkQueries` that returns a text or null: with `first` before the other arguments.
fn text(
    env: &mut Env<'_>,
    method: JStaticMethodID,
    first: Option<&str>,
    others: &[jvalue],
) -> Option<String> {
    let classes = class_cache::get()?;
    let answer = env.with_local_frame(DEFAULT_LOCAL_FRAME_CAPACITY, |env| {
        let first = first.map(|first| raw::new_string(env, first)).transpose()?;
        let mut arguments: Vec<jvalue> = first.iter().map(|first| jvalue { l: first.as_raw() }).collect();
        arguments.extend_from_slice(others);
        // SAFETY: looked up in this class; the callers above pass what their method's signature says.
        let text = unsafe {
            env.call_static_method_unchecked(&*classes.queries, method, JavaType::Object, &arguments)
        }?
        .l()?;
        // SAFETY: null or a String, as the method's signature says.
        Ok::<_, Failure>(unsafe { raw::text(env, &text) })
    });
    answer.unwrap_or_else(|error| {
        let why = raw::exception(env).unwrap_or(error.0);
        log::warn(&["a query to the Android framework failed: ", &why].concat());
        None
    })
}
