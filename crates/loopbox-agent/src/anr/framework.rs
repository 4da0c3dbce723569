//! What the Android framework reports about this process and earlier ones, through
//! `io.loopbox.internal.report.FrameworkQueries`. For the worker only: the answers come from another process.

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{call, class_cache};
use crate::sys::log;
use jni::ids::JStaticMethodID;
use jni::sys::jvalue;
use loopbox_format::model::{AnrInfo, ProcessExit, Report};
use loopbox_format::text::{number, signed};

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

/// The system's text, when it reports that this process does not respond. `None` when it does not report
/// that.
///
/// # Errors
/// When the system could not be asked: then it is unknown whether the process responds.
pub(crate) fn not_responding(env: &mut Env<'_>) -> Result<Option<String>, Failure> {
    let classes = class_cache::get().ok_or_else(|| Failure(class_cache::NOT_LOADED.to_owned()))?;
    text(env, classes.queries_not_responding, &[], &[])
}

/// How a process ended, as the system reports it.
pub(crate) struct ProcessEnd {
    pub(crate) exit: ProcessExit,
    /// The signal that ended the process, when a signal did; otherwise the exit code.
    pub(crate) status: i32,
    /// Details of the ANR that ended the process, when one did.
    pub(crate) anr: Option<AnrInfo>,
}

/// How the process of a recovered report ended.
pub(crate) fn exit(env: &mut Env<'_>, report: &Report) -> Option<ProcessEnd> {
    let classes = class_cache::get()?;
    let meta = &report.meta;
    let numbers =
        [jvalue { i: meta.process.pid.cast_signed() }, jvalue { j: meta.dumped_at.unix_ms.cast_signed() }];
    let mut warned = String::new();
    for warning in &report.anr_warnings {
        warned = [&warned, &warning.id.to_string(), " ", &warning.kind.to_string(), " "].concat();
    }
    let answer = text(env, classes.queries_exit, &[&meta.process.name, &warned], &numbers).ok()??;
    let mut lines = answer.splitn(5, '\n');
    let reason = signed(lines.next()?)?;
    let status = signed(lines.next()?)?;
    let unix_ms = number(lines.next()?)?;
    let anr = anr_info(lines.next()?);
    let description = lines.next()?.to_owned();
    Some(ProcessEnd { exit: ProcessExit { reason, description, unix_ms }, status, anr })
}

/// Id, type, time-out in milliseconds, and whether the user could notice the ANR. `None` where the system
/// does not report it.
fn anr_info(line: &str) -> Option<AnrInfo> {
    let mut parts = line.split(' ');
    let id = signed(parts.next()?)?;
    let kind = signed(parts.next()?)?;
    let timeout_ms = number(parts.next()?)?;
    Some(AnrInfo { id, kind, timeout_ms, user_perceptible: parts.next()? == "1" })
}

/// Logs a failure, unless the reason is that memory is short: then every query fails, twice a second.
fn log_failure(why: &str) {
    if why != call::NO_MEMORY {
        log::warn(&["a query to the Android framework failed: ", why].concat());
    }
}

fn state(env: &mut Env<'_>) -> i32 {
    let Some(classes) = class_cache::get() else { return 0 };
    // SAFETY: looked up in this class with this signature: no arguments, an int.
    let state = unsafe { call::int(env, (&classes.queries, classes.queries_state), &[]) };
    state.unwrap_or_else(|Failure(why)| {
        log_failure(&why);
        0
    })
}

/// Calls a method of `FrameworkQueries` that returns a text or null. Its arguments are `texts`, then
/// `others`. A failure is logged.
fn text(
    env: &mut Env<'_>,
    method: JStaticMethodID,
    texts: &[&str],
    others: &[jvalue],
) -> Result<Option<String>, Failure> {
    let classes = class_cache::get().ok_or_else(|| Failure(class_cache::NOT_LOADED.to_owned()))?;
    let answer = call::with_frame(env, |env| {
        let mut arguments = Vec::new();
        for text in texts {
            // Its handle is the frame's, which outlives the call.
            arguments.push(jvalue { l: raw::new_string(env, text)?.as_raw() });
        }
        arguments.extend_from_slice(others);
        // SAFETY: looked up in this class; the callers above pass what their method's signature says.
        let text = unsafe { call::object(env, (&classes.queries, method), &arguments) }?;
        // SAFETY: null or a String, as the method's signature says.
        Ok(unsafe { raw::text(env, &text) })
    });
    answer.inspect_err(|Failure(why)| {
        log_failure(why);
    })
}
