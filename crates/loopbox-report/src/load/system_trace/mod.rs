//! Reading ART's own trace of an ANR: the text that `ApplicationExitInfo.getTraceInputStream` hands out.
//!
//! The text is as hostile as the rest of the file: lines that mean nothing are stepped over, lists are
//! bounded, texts sanitised.

mod instant;
mod line;
mod merge;
mod native;
mod unpack;

pub(super) use line::{Line, read as read_line};
pub(super) use merge::complete;
pub(crate) use unpack::unpack;

use super::limits;
use super::stack_frames::FrameCollector;
use crate::model::sanitize::sanitize;
use crate::model::{Issue, LockAction, NativeStack, SystemTrace, TraceLine, TraceLock, TraceThread};
use line::Header;
use loopbox_format::model::{PackedTrace, Uptime};
use std::collections::HashMap;

/// The trace of a report that has one. What cannot be unpacked is added to the issues.
pub(super) fn read(
    packed: &PackedTrace,
    frames: &mut FrameCollector<'_>,
    issues: &mut Vec<Issue>,
) -> Option<SystemTrace> {
    if packed.gzip.is_empty() {
        return None;
    }
    let (text, issue) = unpack(packed);
    issues.extend(issue);
    Some(parse(&text, frames))
}

/// Which part of the trace a line is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Lines that the system wrote before, between and after the parts of processes.
    Between,
    /// Threads with their stacks.
    Threads,
    /// The list of kernel functions that the threads sleep in.
    Channels,
    /// A part of another process, in a trace of several.
    OtherProcess,
}

fn parse(text: &str, frames: &mut FrameCollector<'_>) -> SystemTrace {
    let mut trace = SystemTrace::default();
    let mut channels: Vec<(u32, &str)> = Vec::new();
    let mut thread: Option<TraceThread> = None;
    let (mut part, mut begun, mut ended) = (Part::Between, 0, 0);
    for text in text.lines() {
        let line = line::read(text, thread.is_some());
        if part == Part::OtherProcess && !matches!(line, Line::Begin(..) | Line::Channels(..) | Line::End) {
            continue;
        }
        match line {
            Line::Field(name, value) => field(&mut trace, name, value),
            Line::Asked(pid, uptime_ms) if trace.pid.is_none_or(|known| known == pid) => {
                trace.asked_ns = uptime_ms.checked_mul(1_000_000).map(Uptime);
            }
            Line::Begin(pid, at) | Line::Channels(pid, at) => {
                finish(&mut trace, thread.take(), begun);
                if trace.pid.is_some_and(|known| known != pid) {
                    part = Part::OtherProcess;
                    continue;
                }
                let is_list = matches!(line, Line::Channels(..));
                part = if is_list { Part::Channels } else { Part::Threads };
                begun += 1;
                trace.pid = Some(pid);
                if trace.written_at.is_empty() {
                    trace.written_at = sanitize(at, limits::NAME_CHARS);
                }
            }
            Line::End => {
                finish(&mut trace, thread.take(), begun);
                ended += u32::from(matches!(part, Part::Threads | Part::Channels));
                part = Part::Between;
            }
            Line::Threads => trace.of_art = true,
            Line::Channel(tid, channel) if part == Part::Channels && channels.len() < limits::THREADS => {
                channels.push((tid, channel));
            }
            Line::Thread(header) => finish(&mut trace, thread.replace(begin(&header)), begun),
            Line::Blank => finish(&mut trace, thread.take(), begun),
            line => {
                if let Some(thread) = &mut thread {
                    add(thread, line, frames);
                }
            }
        }
    }
    finish(&mut trace, thread, begun);
    trace.complete = begun > 0 && begun == ended;
    // A dump of ART's that was cut in front of its threads, and pastes of them, have no such line.
    trace.of_art |= trace.threads.iter().any(|thread| !thread.state.is_empty());
    for (tid, channel) in channels {
        add_channel(&mut trace, tid, channel);
    }
    join_locks(&mut trace.threads);
    trace
}

fn field(trace: &mut SystemTrace, name: &str, value: &str) {
    let value = sanitize(value, limits::LINE_CHARS);
    match name {
        "Subject" if trace.subject.is_empty() => trace.subject = value,
        _ if trace.fields.len() < limits::TRACE_FIELDS && trace.field(name).is_none() => {
            trace.fields.push((name.to_owned(), value));
        }
        _ => {}
    }
}

/// Adds the kernel function that a thread sleeps in. If the trace does not have the thread yet, the thread is
/// added.
fn add_channel(trace: &mut SystemTrace, tid: u32, channel: &str) {
    let wchan = sanitize(channel, limits::NAME_CHARS);
    if let Some(thread) = trace.threads.iter_mut().find(|thread| thread.sys_tid == Some(tid)) {
        thread.wchan = wchan;
    } else {
        // The list has no names: main is the thread with the number of the process.
        let name = if trace.pid == Some(tid) { "main".to_owned() } else { format!("sysTid={tid}") };
        let thread = TraceThread { name, sys_tid: Some(tid), wchan, ..TraceThread::default() };
        finish(trace, Some(thread), 1);
    }
}

/// Completes the waits for a monitor for which the trace names no holder. The holder is the thread that has
/// locked the same object. None is added when no thread or several threads have locked such an object, or
/// when this thread is the waiting thread itself.
fn join_locks(threads: &mut [TraceThread]) {
    let mut holders: HashMap<(u64, String), Option<u32>> = HashMap::new();
    for thread in threads.iter() {
        for lock in thread.locks().filter(|lock| lock.action == LockAction::Holds) {
            let Some(id) = lock.id else { continue };
            let holder = holders.entry((id, lock.object.clone())).or_insert(thread.tid);
            // Identity hashes are not unique.
            *holder = holder.filter(|known| Some(*known) == thread.tid);
        }
    }
    for thread in threads {
        let own = thread.tid;
        let locks = thread.stack.iter_mut().filter_map(|line| match line {
            TraceLine::Lock(lock) => Some(lock),
            _ => None,
        });
        for lock in locks.filter(|lock| lock.action == LockAction::Wants && lock.holder.is_none()) {
            let same = lock.id.and_then(|id| *holders.get(&(id, lock.object.clone()))?);
            lock.holder = same.filter(|holder| Some(*holder) != own);
        }
    }
}

fn begin(header: &Header<'_>) -> TraceThread {
    TraceThread {
        name: sanitize(header.name, limits::NAME_CHARS),
        daemon: header.daemon,
        tid: header.tid,
        sys_tid: header.sys_tid,
        state: sanitize(header.state, limits::NAME_CHARS),
        ..TraceThread::default()
    }
}

/// Adds a thread to the trace. If an earlier part of the trace has the same thread, only the stacks that are
/// missing there are added. `part` is the number of the part that the thread is in.
fn finish(trace: &mut SystemTrace, thread: Option<TraceThread>, part: u32) {
    let Some(thread) = thread else { return };
    let is_same = |known: &&mut TraceThread| known.sys_tid.is_some() && known.sys_tid == thread.sys_tid;
    if let Some(known) = trace.threads.iter_mut().find(|known| part > 1 && is_same(known)) {
        if known.stack.is_empty() {
            known.stack = thread.stack;
        }
        known.native = known.native.take().or(thread.native);
        return;
    }
    if trace.threads.len() < limits::THREADS {
        trace.threads.push(thread);
    } else {
        trace.left_out = trace.left_out.saturating_add(1);
    }
}

fn add(thread: &mut TraceThread, line: Line<'_>, frames: &mut FrameCollector<'_>) {
    if let Line::Attributes(attributes) = line {
        read_attributes(thread, attributes);
        return;
    }
    if thread.stack.len() >= limits::STACK_DEPTH {
        return;
    }
    let line = match line {
        Line::Java(frame) => {
            TraceLine::Java(frames.named(frame.class, frame.method, frame.file, frame.line, frame.kind))
        }
        Line::Lock(lock) => TraceLine::Lock(TraceLock {
            action: lock.action,
            object: sanitize(&lock.object(), limits::NAME_CHARS),
            id: lock.id,
            holder: lock.holder,
        }),
        Line::Native(text) => {
            let empty = || NativeStack { captured_ns: Uptime::ZERO, frames: Vec::new(), modules: Vec::new() };
            native::add(thread.native.get_or_insert_with(empty), text);
            TraceLine::Text(sanitize(text, limits::LINE_CHARS))
        }
        Line::Note(text) => TraceLine::Text(sanitize(text, limits::LINE_CHARS)),
        _ => return,
    };
    thread.stack.push(line);
}

/// Reads the attributes of a line `sysTid=12345 nice=-10 cgrp=top-app …` or `state=S schedstat=( 1 2 3 )
/// utm=…`. The first number of `schedstat` is the time on a processor in nanoseconds.
fn read_attributes(thread: &mut TraceThread, attributes: &str) {
    let after = |key: &str| attributes.split_once(key).map(|(_, after)| after.trim_start());
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok();
    if let Some(tid) = after("sysTid=").and_then(number).and_then(|tid| u32::try_from(tid).ok()) {
        thread.sys_tid = Some(tid);
    }
    if let Some(state) = attributes.strip_prefix("state=").and_then(|state| state.bytes().next()) {
        thread.kernel_state = Some(state);
    }
    if let Some(ran) = after("schedstat=(").and_then(number) {
        thread.cpu_ns = Some(ran);
    }
}

#[cfg(test)]
mod moment_tests;
#[cfg(test)]
mod tests;
