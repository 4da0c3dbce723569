//! Reading ART's own trace of an ANR: the text that `ApplicationExitInfo.getTraceInputStream` hands out.
//!
//! The text is as hostile as the rest of the file: lines that mean nothing are stepped over, lists are bounded, texts sanitised.

mod line;
mod merge;
mod native;
mod unpack;

pub(super) use merge::complete;
pub(crate) use unpack::unpack;

use super::frames::FrameCollector;
use super::limits;
use crate::model::sanitize::sanitize;
use crate::model::{Issue, NativeStack, SystemTrace, TraceLine, TraceLock, TraceThread};
use line::{Header, Line};
use loopbox_format::model::{PackedTrace, Uptime};

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

fn parse(text: &str, frames: &mut FrameCollector<'_>) -> SystemTrace {
    let mut trace = SystemTrace::default();
    let mut thread: Option<TraceThread> = None;
    for text in text.lines() {
        match line::read(text, thread.is_some()) {
            Line::Subject(subject) if trace.subject.is_empty() => {
                trace.subject = sanitize(subject, limits::LINE_CHARS);
            }
            Line::Asked(uptime_ms) => trace.asked_ns = uptime_ms.checked_mul(1_000_000).map(Uptime),
            Line::Begin(pid, at) => {
                // What another process wrote, in a trace of several.
                if trace.pid.is_some() {
                    break;
                }
                trace.pid = Some(pid);
                trace.written_at = sanitize(at, limits::NAME_CHARS);
            }
            Line::End => {
                trace.complete = true;
                break;
            }
            Line::Thread(header) => finish(&mut trace, thread.replace(begin(&header))),
            Line::Blank => finish(&mut trace, thread.take()),
            line => {
                if let Some(thread) = &mut thread {
                    add(thread, line, frames);
                }
            }
        }
    }
    finish(&mut trace, thread);
    trace
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

fn finish(trace: &mut SystemTrace, thread: Option<TraceThread>) {
    let Some(thread) = thread else { return };
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

/// `sysTid=12345 nice=-10 cgrp=top-app …`, `state=S schedstat=( 1 2 3 ) utm=…`: nanoseconds on a processor come first.
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
mod tests;
