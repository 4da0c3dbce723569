//! The pending messages of the main thread's queue, as `Looper.dump` prints them.

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{call, class_cache};
use crate::session::settings::PendingLimits;
use crate::sys::clock;
use jni::sys::jvalue;
use loopbox_format::looper::without_object;
use loopbox_format::model::{Pending, PendingSource};

/// Prints the queue on a Java thread of its own and keeps the lines that arrive in time. Not for the main thread.
pub(crate) fn capture(env: &mut Env<'_>, limits: &PendingLimits) -> Pending {
    let captured_ns = clock::now_ns();
    match call::with_frame(env, |env| collect(env, limits)) {
        Ok(Found { lines, dropped_lines, walked, failure }) => {
            let source = match failure {
                Some(failure) if lines.is_empty() => PendingSource::Unavailable(failure),
                _ if walked => PendingSource::MessagesField,
                _ => PendingSource::LooperDump,
            };
            let lines = lines
                .into_iter()
                .map(|line| if limits.keep_objects { line } else { without_object(&line).into_owned() })
                .collect();
            Pending { source, captured_ns, lines, dropped_lines }
        }
        Err(Failure(why)) => {
            Pending { source: PendingSource::Unavailable(why), captured_ns, ..Pending::default() }
        }
    }
}

struct Found {
    lines: Vec<String>,
    dropped_lines: u32,
    walked: bool,
    failure: Option<String>,
}

fn collect(env: &mut Env<'_>, limits: &PendingLimits) -> Result<Found, Failure> {
    let classes = class_cache::get().ok_or_else(|| Failure(class_cache::NOT_LOADED.to_owned()))?;
    let arguments = [
        jvalue { z: limits.walk },
        jvalue { i: limits.lines },
        jvalue { i: limits.bytes },
        jvalue { j: limits.ms },
    ];
    // SAFETY: the method was looked up in this class with this signature: (boolean, int, int, long) to an object.
    let dump = unsafe { call::object(env, (&classes.pending, classes.pending_collect), &arguments) }?;
    if dump.is_null() {
        return Err(Failure("PendingDump.collect returned null".to_owned()));
    }
    // SAFETY: not null, and the fields were looked up in this object's class with these types.
    let (lines, failure, dropped, walked) = unsafe {
        (
            call::object_field(env, &dump, classes.pending_lines),
            call::object_field(env, &dump, classes.pending_failure),
            call::int_field(env, &dump, classes.pending_dropped),
            call::boolean_field(env, &dump, classes.pending_walked),
        )
    };
    // SAFETY: a String and a String[], as the fields' types say.
    let (failure, lines) = unsafe { (raw::text(env, &failure), raw::texts(env, &lines)) };
    Ok(Found { lines, dropped_lines: u32::try_from(dropped).unwrap_or(0), walked, failure })
}
