//! What the other threads were doing, and the lines of their stacks.

use crate::model::{
    Analysis, FrameId, LockAction, OtherThread, SystemTrace, ThreadState, TraceLine, TraceLock, TraceThread,
};
use loopbox_format::model::Named;

/// What the thread was doing: from the kernel, or else from ART's trace.
pub(crate) fn activity<'a>(a: &'a Analysis, thread: &OtherThread) -> &'a str {
    match (ThreadState::of(thread.state), a.traced(thread)) {
        (ThreadState::Unknown, Some(trace)) if !trace.state.is_empty() => &trace.state,
        (state, _) => state.name(),
    }
}

/// A stack as lines of a Java stack trace, the innermost first.
pub(crate) fn java_stack(a: &Analysis, stack: &[FrameId]) -> Vec<String> {
    stack.iter().rev().map(|&frame| a.frames[frame].full()).collect()
}

/// The thread's stack, innermost first: from ART's trace, which has native frames and locks, or else from the
/// recorder.
pub(crate) fn stack_lines(a: &Analysis, thread: &OtherThread) -> Vec<String> {
    let traced = a.system_trace.as_ref().zip(a.traced(thread));
    let traced = traced.map(|(trace, thread)| trace_lines(a, trace, thread)).unwrap_or_default();
    if !traced.is_empty() {
        return traced;
    }
    let stack = thread.stack.as_deref().unwrap_or_default();
    java_stack(a, stack).into_iter().map(|frame| format!("at {frame}")).collect()
}

/// The stack of a thread as ART's trace shows it.
pub(crate) fn trace_lines(a: &Analysis, trace: &SystemTrace, thread: &TraceThread) -> Vec<String> {
    let lines = thread.stack.iter().map(|line| match line {
        TraceLine::Java(frame) => format!("at {}", a.frames[*frame].full()),
        TraceLine::Lock(lock) => lock_line(trace, lock),
        TraceLine::Text(text) => text.clone(),
    });
    lines.collect()
}

/// The line of a lock: `- waiting to lock a java.lang.Object <0x0d3b5c8a>, held by sync (thread 23)`.
fn lock_line(trace: &SystemTrace, lock: &TraceLock) -> String {
    let action = match lock.action {
        LockAction::Holds => "locked",
        LockAction::Wants => "waiting to lock",
        LockAction::WaitsOn => "waiting on",
        LockAction::SleepsOn => "sleeping on",
    };
    let id = lock.id.map(|id| format!(" <{id:#010x}>")).unwrap_or_default();
    let holder = lock.holder.map(|tid| match trace.thread(tid) {
        Some(thread) => format!(", held by {} (thread {tid})", thread.name),
        None => format!(", held by thread {tid}"),
    });
    format!("- {action} {}{id}{}", lock.object, holder.unwrap_or_default())
}
