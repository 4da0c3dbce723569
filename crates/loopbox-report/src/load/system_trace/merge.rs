//! Completing a report with what ART's trace of the same moment knows: locks and their holders, threads,
//! native frames.
//!
//! What the recorder saw itself has priority; the trace adds what is missing. A trace of another moment adds
//! nothing: a lock that was held a minute later explains no hang.

use super::instant;
use crate::load::limits;
use crate::model::framework::Role;
use crate::model::several::may_be_same;
use crate::model::time::format_ms;
use crate::model::{
    Analysis, Frame, FrameId, LockAction, LockChain, LockHolder, LockSource, LockWait, MainThread,
    OtherThread, SystemTrace, TraceThread,
};
use chrono::{DateTime, NaiveDateTime};
use loopbox_format::model::{MainState, Uptime};
use std::collections::HashMap;

/// How far apart the report and its trace may be. The system takes its traces one after the other, for twenty
/// seconds at most, and a frozen app writes its trace late.
const NEAR_MS: u64 = 60_000;
/// How far apart the report and its trace may be when the report has no stack. Then only the time shows
/// whether main was in the same message. The limit is 5 s because no time-out of the system is shorter: when
/// the system takes a trace after a time-out, main has been stuck for at least 5 s.
const CLOSE_MS: u64 = 5_000;
/// The offsets of all time zones are multiples of this.
const QUARTER_MS: i64 = 15 * 60_000;
/// No time zone is further away from UTC than this, even with offsets of quarters of an hour.
const FARTHEST_ZONE_MS: u64 = 15 * 3_600_000;

/// Completes a report with its trace, if the trace is of the moment of the report.
pub(in crate::load) fn complete(a: &mut Analysis) {
    let Some(mut trace) = a.system_trace.take() else { return };
    trace.apart = apart(&trace, a);
    if trace.apart.is_none() {
        instant::complete(a, &trace);
        locks(a, &trace);
        threads(a, &trace);
        native(a, &trace);
    }
    a.system_trace = Some(trace);
}

/// Why a trace is not of the moment of the report; `None` when it is.
fn apart(trace: &SystemTrace, a: &Analysis) -> Option<String> {
    let Some(main) = trace.main() else { return Some("it does not show the main thread".into()) };
    if a.is_trace_alone() {
        return None;
    }
    let ours = a.meta.process.pid;
    if let Some(pid) = trace.pid.filter(|pid| *pid != ours && ours != 0) {
        return Some(format!("it is of another process ({pid})"));
    }
    if let Some(late) = late_ms(trace, a).filter(|late| late.unsigned_abs() > NEAR_MS) {
        let when = if late > 0 { "after" } else { "before" };
        return Some(format!("it was written {} {when} the report", format_ms(late.unsigned_abs() as f64)));
    }
    match a.last_stack() {
        Some(own) => in_other_code(a, &own, main),
        None => without_own_stack(trace, main, a),
    }
}

/// Why the trace is not used, when it shows main in another message than the report does. The app's outermost
/// method on main's stack stays the same while a message runs, so the two stacks are compared by it. `None`
/// when both may have the same outermost method, or when one of them has no method of the app.
fn in_other_code(a: &Analysis, own: &[FrameId], main: &TraceThread) -> Option<String> {
    let outermost = |stack: &[FrameId]| stack.iter().map(|&id| &a.frames[id]).find(|frame| frame.is_of_app());
    let ours = outermost(own)?;
    let theirs = outermost(&main.java())?;
    (!may_be_same(ours, theirs)).then(|| {
        format!("main was in other code by then ({}, not {})", Frame::short(theirs), Frame::short(ours))
    })
}

/// Why the trace is not used, where the report has no stack of main that could be compared. In that case only
/// the time or the queue can show that the trace is of another moment. `None` when the trace is used.
fn without_own_stack(trace: &SystemTrace, main: &TraceThread, a: &Analysis) -> Option<String> {
    const NO_STACK: &str = "the report has no stack of main to compare";
    let Some(late) = late_ms(trace, a) else {
        return Some(format!("when it was written is not known, and {NO_STACK}"));
    };
    if late.unsigned_abs() > CLOSE_MS {
        let when = if late > 0 { "after" } else { "before" };
        return Some(format!(
            "it was written {} {when} the report, and {NO_STACK}",
            format_ms(late.unsigned_abs() as f64)
        ));
    }
    let stack = main.java();
    let waits = stack.last().map(|&top| a.frames[top].role() == Some(Role::Poll))?;
    match &a.main {
        MainState::Running(_) | MainState::Outside(_) if waits => {
            Some("main waited for its next message by then".into())
        }
        MainState::Idle { .. } if !waits && a.queue.polling == Some(true) => {
            let top = stack.last().map(|&top| a.frames[top].short()).unwrap_or_default();
            Some(format!("main waited for its next message at the report, and was in {top} by then"))
        }
        _ => None,
    }
}

/// How much later than the report the trace was written, in milliseconds; negative when it was written
/// before. `None` when that is not known.
fn late_ms(trace: &SystemTrace, a: &Analysis) -> Option<i64> {
    if let Some(asked_ns) = trace.asked_ns {
        return Some((asked_ns.0 / 1_000_000) as i64 - (a.dump_ns.0 / 1_000_000) as i64);
    }
    let dumped_ms = a.wall_clock().unix_ms(a.dump_ns)?;
    if let Ok(written) = DateTime::parse_from_str(&trace.written_at, "%Y-%m-%d %H:%M:%S%.f%z") {
        return Some(written.timestamp_millis().saturating_sub(dumped_ms));
    }
    // Before Android 12 without a zone: then the minutes have to do.
    let written = NaiveDateTime::parse_from_str(&trace.written_at, "%Y-%m-%d %H:%M:%S%.f").ok()?;
    let late = written.and_utc().timestamp_millis().saturating_sub(dumped_ms);
    if late.unsigned_abs() > FARTHEST_ZONE_MS {
        return Some(late);
    }
    let rest = late.rem_euclid(QUARTER_MS);
    Some(if rest > QUARTER_MS / 2 { rest - QUARTER_MS } else { rest })
}

/// When the trace was written, in uptime, as exactly as is known.
fn written_ns(a: &Analysis, trace: &SystemTrace) -> Uptime {
    trace.asked_ns.unwrap_or(a.dump_ns)
}

/// Takes the chain of locks from the trace if the recorder followed none, or if only the trace knows a
/// holder. If main waits for another thread to end, the recorder's chain stays, and the locks that this other
/// thread waits for are added.
fn locks(a: &mut Analysis, trace: &SystemTrace) {
    if a.locks.source == LockSource::Join {
        // A trace does not say for whose end a thread waits. It says what the awaited thread waits for.
        let joined = a.locks.waits.first().and_then(|wait| wait.holder.as_ref()?.tid);
        let thread = trace.threads.iter().find(|thread| joined.is_some() && thread.sys_tid == joined);
        let seen = trace.main().and_then(|main| main.tid).into_iter().collect();
        let wants = |thread: &&TraceThread| {
            thread.waits().is_some_and(|lock| lock.action == LockAction::Wants && lock.holder.is_some())
        };
        let (waits, deadlock) = chain(trace, thread.filter(wants), seen);
        a.locks.waits.extend(waits);
        a.locks.deadlock = deadlock;
        return;
    }
    let (waits, deadlock) = chain(trace, trace.main(), Vec::new());
    let names_holder = |waits: &[LockWait]| waits.first().is_some_and(|wait| wait.holder.is_some());
    let ours = &a.locks.waits;
    if !waits.is_empty() && (ours.is_empty() || !names_holder(ours) && names_holder(&waits)) {
        a.locks =
            LockChain { captured_ns: written_ns(a, trace), waits, deadlock, source: LockSource::SystemTrace };
    }
}

/// The chain of locks that begins with a thread: the lock that this thread waits for, the lock that its
/// holder waits for, and so on. The second value is whether the chain leads back to one of its threads, or to
/// a thread in `seen`.
fn chain<'t>(
    trace: &'t SystemTrace,
    mut thread: Option<&'t TraceThread>,
    mut seen: Vec<u32>,
) -> (Vec<LockWait>, bool) {
    let mut waits = Vec::new();
    while let Some(waiter) = thread
        && waits.len() < limits::LOCK_WAITS
        && let Some(lock) = waiter.waits()
    {
        seen.extend(waiter.tid);
        let holder = match (lock.action, lock.holder) {
            // It was released in this moment: no thread keeps this one waiting.
            (LockAction::Wants, None) => break,
            (LockAction::Wants, holder) => holder,
            _ => None,
        };
        thread = holder.and_then(|holder| trace.thread(holder));
        let named = holder.map(|holder| thread.map_or_else(|| unseen(holder), lock_holder));
        waits.push(LockWait { object: lock.object.clone(), holder: named });
        if holder.is_some_and(|holder| seen.contains(&holder)) {
            return (waits, true);
        }
    }
    (waits, false)
}

fn lock_holder(thread: &TraceThread) -> LockHolder {
    LockHolder { name: thread.name.clone(), tid: thread.sys_tid, stack: thread.java() }
}

/// A holder that is not listed in a truncated trace: only its number is known.
fn unseen(tid: u32) -> LockHolder {
    LockHolder { name: format!("{tid} (not in the trace)"), tid: None, stack: Vec::new() }
}

/// Adds threads that the recorder did not read, stacks that it did not take, and the full names of threads
/// whose names the kernel has cut.
fn threads(a: &mut Analysis, trace: &SystemTrace) {
    let written_ns = written_ns(a, trace);
    let all = &mut a.threads;
    if all.threads.is_empty() {
        all.captured_ns = written_ns;
    }
    let known: HashMap<u32, usize> =
        all.threads.iter().enumerate().filter_map(|(at, thread)| Some((thread.tid?, at))).collect();
    let main = trace.main();
    for (at, traced) in trace.threads.iter().enumerate().filter(|(_, traced)| Some(*traced) != main) {
        let tid = traced.sys_tid;
        let known = tid.and_then(|tid| known.get(&tid));
        if let Some(thread) = known.and_then(|&at| all.threads.get_mut(at)) {
            thread.trace = Some(at);
            if is_cut(&thread.name, &traced.name) {
                thread.name.clone_from(&traced.name);
            }
            let java = traced.java();
            if thread.stack.as_ref().is_none_or(Vec::is_empty) && !java.is_empty() {
                thread.stack = Some(java);
            }
        } else if all.threads.len() < limits::THREADS {
            all.left_out = all.left_out.saturating_sub(1);
            all.threads.push(OtherThread {
                name: traced.name.clone(),
                tid,
                // ART had stopped it by then, so the kernel's state means nothing.
                state: None,
                cpu_ns: traced.cpu_ns,
                stack: Some(traced.java()),
                trace: Some(at),
            });
        }
    }
    all.threads.sort_by_key(|thread| thread.stack.as_ref().is_none_or(Vec::is_empty));
}

/// Whether `name` may be `whole` after the kernel cut it: then it is the end or the beginning of `whole`.
fn is_cut(name: &str, whole: &str) -> bool {
    name.len() >= 15 && whole.len() > name.len() && (whole.ends_with(name) || whole.starts_with(name))
}

/// Adds main's native frames if no signal of ours captured them. If the recorder did not ask the kernel about
/// main, also adds main's state and the kernel function that main slept in.
fn native(a: &mut Analysis, trace: &SystemTrace) {
    let Some(main) = trace.main() else { return };
    let captured_ns = written_ns(a, trace);
    let mut native = main.native.clone().filter(|native| !native.frames.is_empty());
    if let Some(native) = &mut native {
        native.captured_ns = captured_ns;
    }
    match &mut a.main_thread {
        Some(ours) => ours.native = ours.native.take().or(native),
        None if native.is_none() && main.wchan.is_empty() => {}
        None => {
            a.main_thread = Some(MainThread {
                captured_ns,
                state: main.kernel_state,
                wchan: main.wchan.clone(),
                system_call: None,
                progress: None,
                native,
            });
        }
    }
}
