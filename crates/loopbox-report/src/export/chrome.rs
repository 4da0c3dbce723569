//! The Trace Event Format of chrome://tracing: a JSON object with complete (`X`), counter (`C`), instant
//! (`i`) and metadata (`M`) events. The frames of stacks are pairs of begin and end events (`B`, `E`),
//! because an importer may nest complete events with the same start and end in either order. Times are
//! microseconds of uptime.
//!
//! Source: "Trace Event Format", Google, 2016 (the document that chrome://tracing and Perfetto refer to).

use super::slice::Slice;
use super::timeline::{Step, Timeline, walk};
use crate::model::token::Key;
use crate::model::{Analysis, FrameId};
use crate::render::write_json;
use loopbox_format::model::Uptime;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Thread ids inside the trace. The main thread's id is the process id, as on Linux; the other ids are rows
/// of the viewer.
struct Rows {
    pid: u32,
    stacks: u32,
    history: u32,
    pending: u32,
    expected: u32,
    actual: u32,
}

pub(crate) fn write(a: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let pid = a.meta.process.pid;
    let rows = Rows {
        pid,
        stacks: pid.wrapping_add(1),
        history: pid.wrapping_add(2),
        pending: pid.wrapping_add(3),
        expected: pid.wrapping_add(4),
        actual: pid.wrapping_add(5),
    };
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"otherData\":")?;
    let other = json!({ "producer": a.meta.producer, "clock": "CLOCK_MONOTONIC", "app_version": a.meta.process.app_version,
        "device": a.meta.process.device, "api_level": a.meta.process.api_level });
    write_json(&mut *out, &other)?;
    out.write_all(b",\"traceEvents\":[\n")?;
    let mut first = true;
    for_each_event(a, &rows, |event| {
        if !std::mem::take(&mut first) {
            out.write_all(b",\n")?;
        }
        write_json(&mut *out, &event).map_err(io::Error::from)
    })?;
    out.write_all(b"\n]}\n")
}

fn for_each_event(
    a: &Analysis,
    rows: &Rows,
    mut emit: impl FnMut(Value) -> io::Result<()>,
) -> io::Result<()> {
    let meta = |name: &str, tid: u32, args: Value| json!({ "ph": "M", "name": name, "pid": rows.pid, "tid": tid, "args": args });
    emit(meta("process_name", rows.pid, json!({ "name": a.meta.process.name })))?;
    let names = [
        (rows.pid, "main: messages"),
        (rows.stacks, "main: stacks"),
        (rows.history, "main: history"),
        (rows.pending, "main: pending"),
        (rows.expected, "frames: expected"),
        (rows.actual, "frames: actual"),
    ];
    let timeline = Timeline::new(a);
    let shown = if timeline.frames.actual.is_empty() { 4 } else { names.len() };
    for (order, (tid, name)) in names.into_iter().take(shown).enumerate() {
        emit(meta("thread_name", tid, json!({ "name": name })))?;
        emit(meta("thread_sort_index", tid, json!({ "sort_index": order })))?;
    }
    let slice = |tid: u32, category: &str, slice: &Slice| {
        json!({ "ph": "X", "cat": category, "name": slice.name, "pid": rows.pid, "tid": tid, "ts": us(slice.start_ns.0),
            "dur": us(slice.end_ns - slice.start_ns), "args": facts(&slice.facts) })
    };
    for record in &timeline.records {
        emit(slice(rows.history, "history", record))?;
    }
    for message in &timeline.messages {
        emit(slice(rows.pid, "message", message))?;
    }
    for pending in &timeline.pending {
        emit(slice(rows.pending, "pending", pending))?;
    }
    for (row, frames) in [(rows.expected, &timeline.frames.expected), (rows.actual, &timeline.frames.actual)]
    {
        for frame in frames {
            emit(slice(row, "frame", frame))?;
        }
    }
    for breadcrumb in &a.breadcrumbs {
        emit(json!({ "ph": "i", "s": "t", "cat": "breadcrumb", "name": breadcrumb.name, "pid": rows.pid,
            "tid": rows.pid, "ts": us(breadcrumb.at_ns.0) }))?;
    }
    for counter in &timeline.counters {
        for &(at, value) in &counter.values {
            emit(
                json!({ "ph": "C", "name": counter.name, "pid": rows.pid, "ts": us(at.0), "args": { counter.unit: value } }),
            )?;
        }
    }
    stacks(a, rows, &mut emit)?;
    let statistics: Map<String, Value> = a
        .statistics
        .iter()
        .map(|statistic| (statistic.name.clone(), statistic.value.as_str().into()))
        .collect();
    emit(
        json!({ "ph": "i", "s": "p", "name": "dump", "pid": rows.pid, "tid": rows.pid, "ts": us(a.dump_ns.0), "args": statistics }),
    )
}

fn stacks(a: &Analysis, rows: &Rows, emit: &mut impl FnMut(Value) -> io::Result<()>) -> io::Result<()> {
    let mut not_before = Uptime::ZERO;
    for tree in &a.trees {
        let mut open: Vec<FrameId> = Vec::new();
        let mut result = Ok(());
        walk(tree, not_before, |at, step| {
            let (phase, frame) = match step {
                Step::Start(frame) => {
                    open.push(frame);
                    ("B", Some(frame))
                }
                Step::End => ("E", open.pop()),
            };
            let Some(frame) = frame.map(|frame| &a.frames[frame]).filter(|_| result.is_ok()) else { return };
            let mut event = json!({ "ph": phase, "cat": "stack", "name": frame.qualified(), "pid": rows.pid,
                "tid": rows.stacks, "ts": us(at.0) });
            if phase == "B" {
                event["args"] = json!({ "place": frame.place(), "token": Key(tree.token) });
            }
            result = emit(event);
        });
        result?;
        not_before = not_before.max(tree.sample_ns.last().copied().unwrap_or_default());
    }
    Ok(())
}

fn facts(facts: &[(&'static str, String)]) -> Map<String, Value> {
    facts.iter().map(|(name, value)| ((*name).to_string(), value.as_str().into())).collect()
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}
