//! The pending messages of the main thread's queue, as `Looper.dump` prints them.

use crate::jni::class_cache;
use crate::jni::raw::{self, Failure};
use crate::session::settings::PendingLimits;
use crate::sys::clock;
use jni::errors::Error;
use jni::signature::{JavaType, Primitive};
use jni::sys::jvalue;
use jni::{DEFAULT_LOCAL_FRAME_CAPACITY, Env};
use loopbox_format::looper::without_object;
use loopbox_format::model::{Pending, PendingSource};

/// Prints the queue on a Java thread of its own and keeps the lines that arrive in time. Not for the main thread.
pub(crate) fn capture(env: &mut Env<'_>, limits: &PendingLimits) -> Pending {
    let captured_ns = clock::now_ns();
    let found = env.with_local_frame(DEFAULT_LOCAL_FRAME_CAPACITY, |env| collect(env, limits));
    match found {
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
        Err(error) => {
            let source = PendingSource::Unavailable(raw::exception(env).unwrap_or(error.0));
            Pending { source, captured_ns, ..Pending::default() }
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
    let classes = class_cache::get().ok_or(Error::UninitializedJavaVM)?;
    let arguments = [
        jvalue { z: limits.walk },
        jvalue { i: limits.lines },
        jvalue { i: limits.bytes },
        jvalue { j: limits.ms },
    ];
    // SAFETY: the method was looked up in this class with this signature: (boolean, int, int, long) to an object.
    let dump = unsafe {
        env.call_static_method_unchecked(
            &*classes.pending,
            classes.pending_collect,
            JavaType::Object,
            &arguments,
        )
    }?
    .l()?;
    if dump.is_null() {
        return Err(Error::NullPtr("PendingDump").into());
    }
    // SAFETY: the fields read here and below were looked up in this object's class with these types.
    let lines = unsafe { env.get_field_unchecked(&dump, classes.pending_lines, JavaType::Array) }?.l()?;
    let dropped = JavaType::Primitive(Primitive::Int);
    // SAFETY: see above.
    let dropped = unsafe { env.get_field_unchecked(&dump, classes.pending_dropped, dropped) }?.i()?;
    let walked = JavaType::Primitive(Primitive::Boolean);
    // SAFETY: see above.
    let walked = unsafe { env.get_field_unchecked(&dump, classes.pending_walked, walked) }?.z()?;
    // SAFETY: see above.
    let failure =
        unsafe { env.get_field_unchecked(&dump, classes.pending_failure, JavaType::Object) }?.l()?;
    // SAFETY: a String and a String[], as the fields' types say.
    let (failure, lines) = unsafe { (raw::text(env, &failure), raw::texts(env, &lines)) };
    Ok(Found { lines, dropped_lines: u32::try_from(dropped).unwrap_or(0), walked, failure })
}
