//! The report's subject, and the state of the recorder, the system and the file.

use super::layout::{heading, line};
use super::style::{BAD, GOOD, HEADING, QUIET, WARN, paint};
use crate::derive::{about_device, after_boot, process_name, reason, written_at};
use crate::model::Analysis;
use crate::model::plural::plural;
use crate::model::time::{format_ns, format_relative, ms_between};
use loopbox_format::model::Named;

pub(super) fn write(out: &mut String, a: &Analysis) {
    let (meta, process) = (&a.meta, &a.meta.process);
    let mut about = vec![paint(HEADING, process_name(a))];
    about.extend(about_device(a));
    if process.pid > 0 {
        about.push(format!("pid {}", process.pid));
    }
    line(out, about.join(", "));
    line(out, format!("written {}{}, {}", written_at(a), after_boot(a), reason(a)));
    if !a.is_trace_alone() {
        write_producer(out, a);
    }
    for (name, value) in &meta.annotations {
        line(out, format!("{name}: {value}"));
    }
    for state in a.features.iter().filter(|state| !state.on) {
        line(out, format!("{} {} is off: {}", paint(WARN, "!"), state.feature.name(), state.detail));
    }
    if !a.lost.is_empty() {
        let lost = "not all of the ring could be recovered: what is missing is listed at the end";
        line(out, format!("{} {lost}", paint(WARN, "!")));
    }
    if !a.issues.is_empty() {
        let places = plural(a.issues.len() as u64, "place");
        line(out, format!("{} the file is damaged in {places}, listed at the end", paint(BAD, "!")));
    }
}

fn write_producer(out: &mut String, a: &Analysis) {
    let meta = &a.meta;
    let recorder = if meta.producer.is_empty() { "an unknown recorder" } else { &meta.producer };
    let after_start = a.install_after_start_ns();
    let after_start =
        after_start.map(|ns| format!(", {} after the process started", format_ns(ns))).unwrap_or_default();
    let installed = format_relative(ms_between(meta.process.installed_ns, a.dump_ns));
    line(out, paint(QUIET, format!("by {recorder}, installed at {installed}{after_start}")));
}

pub(super) fn write_recorder(out: &mut String, a: &Analysis) {
    if !a.features.is_empty() {
        heading(out, "RECORDER", "");
        for f in &a.features {
            let state = if f.on { paint(GOOD, "on ") } else { paint(WARN, "off") };
            line(out, format!("  {:<8} {state}  {}", f.feature.name(), f.detail));
        }
    }
    if !a.statistics.is_empty() {
        heading(out, "MACHINE", "statistics at the dump");
        let width = a.statistics.iter().map(|f| f.name.chars().count()).max().unwrap_or(0).min(40);
        for f in &a.statistics {
            line(out, format!("  {:<width$}  {}", f.name, f.value));
        }
    }
}

pub(super) fn write_damage(out: &mut String, a: &Analysis) {
    if !a.lost.is_empty() {
        heading(out, "LOST", "what could not be recovered of the ring that this report was made from");
        for what in &a.lost {
            line(out, format!("  {what}"));
        }
    }
    if a.issues.is_empty() {
        return;
    }
    heading(out, "DAMAGE", "what could not be read; everything else in the report is intact");
    for issue in &a.issues {
        match issue.offset {
            Some(offset) => line(out, format!("  offset {offset}: {}", issue.what)),
            None => line(out, format!("  {}", issue.what)),
        }
    }
}
