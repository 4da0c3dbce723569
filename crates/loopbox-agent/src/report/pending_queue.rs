//! The pending messages of the main thread's queue, in the lines of `Looper.dump`, and the statistics that
//! Java reads with them.

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{call, class_cache};
use crate::session::settings::Settings;
use crate::sys::clock;
use jni::sys::jvalue;
use loopbox_format::looper::without_object;
use loopbox_format::model::{Pending, PendingSource, Statistic, Uptime};
use loopbox_recorder::Front;

/// Reads the queue without its lock, in bounded time. Not for the main thread.
pub(crate) fn capture(env: &mut Env<'_>, settings: &Settings) -> (Pending, Vec<Statistic>) {
    let captured_ns = clock::now_ns();
    match call::with_frame(env, |env| collect(env, settings)) {
        Ok(Found { statistics, lines, dropped_lines, walked, failure }) => {
            let source = match failure {
                Some(failure) if lines.is_empty() => PendingSource::Unavailable(failure),
                _ if walked => PendingSource::MessagesField,
                _ => PendingSource::LooperDump,
            };
            let lines =
                lines
                    .into_iter()
                    .map(|line| {
                        if settings.pending.keep_objects { line } else { without_object(&line).into_owned() }
                    })
                    .collect();
            (Pending { source, captured_ns, lines, dropped_lines }, pairs(statistics))
        }
        Err(Failure(why)) => {
            let source = PendingSource::Unavailable(why);
            (Pending { source, captured_ns, ..Pending::default() }, Vec::new())
        }
    }
}

/// The first entry of the queue; `None` where that is not known. Not for the main thread.
pub(super) fn front(env: &mut Env<'_>, settings: &Settings) -> Option<Front> {
    /// The value for an overdue message, as in `QueueWalk.java`.
    const OVERDUE: i64 = -1;
    if !settings.pending.walk {
        return None;
    }
    let classes = class_cache::get()?;
    let found = call::with_frame(env, |env| {
        let arguments = [jvalue { j: settings.pending.ms }];
        // SAFETY: the method was looked up in this class with this signature: (long) to a long[].
        let found = unsafe { call::object(env, (&classes.pending, classes.pending_front), &arguments) }?;
        // SAFETY: a long[], as the method's type says, or null.
        Ok(unsafe { raw::longs::<2>(env, &found) })
    });
    let [what, due_ms] = found.ok()??;
    let due_ns =
        u64::try_from(due_ms).ok().filter(|&ms| ms > 0).map(|ms| Uptime(ms.saturating_mul(1_000_000)));
    match (u32::try_from(what), due_ns) {
        (Ok(token), due_ns) => Some(Front::Barrier { token, due_ns }),
        (_, Some(due_ns)) if what == OVERDUE => Some(Front::Overdue(due_ns)),
        _ => Some(Front::Free),
    }
}

/// Removes the statistics of the lock that main was parked for, and of the thread that it waited for. Java
/// read them (`RuntimeStatistics.java`) when main was in another message, or may have been.
pub(super) fn forget_waits(statistics: &mut Vec<Statistic>) {
    let is_wait = |name: &str| name.starts_with("parked.") || name.starts_with("joined.");
    statistics.retain(|statistic| !is_wait(&statistic.name));
}

/// Makes statistics of a list in which names and values alternate.
fn pairs(statistics: Vec<String>) -> Vec<Statistic> {
    let mut statistics = statistics.into_iter();
    std::iter::from_fn(|| Some(Statistic { name: statistics.next()?, value: statistics.next()? })).collect()
}

struct Found {
    statistics: Vec<String>,
    lines: Vec<String>,
    dropped_lines: u32,
    walked: bool,
    failure: Option<String>,
}

fn collect(env: &mut Env<'_>, settings: &Settings) -> Result<Found, Failure> {
    let classes = class_cache::get().ok_or_else(|| Failure(class_cache::NOT_LOADED.to_owned()))?;
    let limits = &settings.pending;
    let arguments = [
        jvalue { z: settings.redact_threads },
        jvalue { z: limits.walk },
        jvalue { z: limits.keep_objects },
        jvalue { i: limits.lines },
        jvalue { i: limits.bytes },
        jvalue { j: limits.ms },
    ];
    // SAFETY: the method was looked up in this class with this signature: (boolean, boolean, boolean, int,
    // int, long) to an object.
    let dump = unsafe { call::object(env, (&classes.pending, classes.pending_collect), &arguments) }?;
    if dump.is_null() {
        return Err(Failure("PendingQueue.collect returned null".to_owned()));
    }
    // SAFETY: not null, and the fields were looked up in this object's class with these types.
    let (statistics, lines, failure, dropped, walked) = unsafe {
        (
            call::object_field(env, &dump, classes.pending_statistics),
            call::object_field(env, &dump, classes.pending_lines),
            call::object_field(env, &dump, classes.pending_failure),
            call::int_field(env, &dump, classes.pending_dropped),
            call::boolean_field(env, &dump, classes.pending_walked),
        )
    };
    // SAFETY: a String and two String[], as the fields' types say.
    let (failure, lines, statistics) =
        unsafe { (raw::text(env, &failure), raw::texts(env, &lines), raw::texts(env, &statistics)) };
    Ok(Found { statistics, lines, dropped_lines: u32::try_from(dropped).unwrap_or(0), walked, failure })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_waited_for_is_left_out_and_the_rest_of_what_java_reads_stays() {
        let names =
            ["heap.used_bytes", "parked.1.for", "parked.at_ns", "gc.count", "joined.tid", "joined.at_ns"];
        let named = |name: &&str| Statistic { name: (*name).to_owned(), value: "1".to_owned() };
        let mut statistics: Vec<Statistic> = names.iter().map(named).collect();
        forget_waits(&mut statistics);
        let left: Vec<_> = statistics.iter().map(|statistic| statistic.name.as_str()).collect();
        assert_eq!(left, ["heap.used_bytes", "gc.count"]);
    }
}
