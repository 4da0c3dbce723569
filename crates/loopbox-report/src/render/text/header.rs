//! What the report is about, and the state of the recorder, the system and the file.

use super::layout::{heading, line};
use super::style::{BAD, GOOD, HEADING, QUIET, WARN, paint};
use crate::model::plural::plural;
use crate::model::time::{format_ms, format_relative};
use crate::render::json::{CurrentView, ReportView};

pub(super) fn write(out: &mut String, view: &ReportView) {
    let r = &view.report;
    let p = &r.process;
    let mut about = vec![paint(HEADING, if p.name.is_empty() { "unknown process" } else { &p.name })];
    about.extend([&p.app_version, &p.device].into_iter().filter(|s| !s.is_empty()).cloned());
    if p.api_level > 0 {
        about.push(format!("API {}", p.api_level));
    }
    if !p.abi.is_empty() {
        about.push(p.abi.clone());
    }
    if p.pid > 0 {
        about.push(format!("pid {}", p.pid));
    }
    line(out, about.join(", "));
    let why = match (r.reason.kind, r.reason.crash_signal) {
        ("sigquit", _) => "on SIGQUIT (the system's ANR signal)".to_string(),
        ("hang", _) if matches!(view.current, CurrentView::Outside { .. }) => {
            "because main was busy outside of messages for longer than the hang threshold".into()
        }
        ("hang", _) if matches!(view.current, CurrentView::Idle { .. } | CurrentView::Unknown) => {
            "because main slept for longer than the hang threshold while messages were due".into()
        }
        ("hang", _) => "because a message ran longer than the hang threshold".into(),
        ("requested", _) if r.reason.words.is_empty() => "on the app's request".into(),
        ("requested", _) => format!("on the app's request: {}", r.reason.words),
        ("recovered", Some(signal)) => format!("recovered after the process died of signal {signal}"),
        ("recovered", None) => "recovered after the process was gone".into(),
        _ => "for a reason unknown to this version of loopbox".into(),
    };
    let at = r.dumped_at.utc.as_deref().unwrap_or("at an unknown time");
    let uptime = format_ms(r.dumped_at.uptime_ms);
    line(out, format!("written {at}, {uptime} after boot, {why}"));
    let recorder = if r.producer.is_empty() { "an unknown recorder" } else { &r.producer };
    let after_start = p
        .started_at_ms
        .filter(|started| *started <= p.installed_at_ms)
        .map(|started| format!(", {} after the process started", format_ms(p.installed_at_ms - started)));
    let after_start = after_start.unwrap_or_default();
    let installed = format_relative(p.installed_at_ms);
    line(out, paint(QUIET, format!("by {recorder}, installed at {installed}{after_start}")));
    for note in &r.annotations {
        line(out, format!("{}: {}", note.name, note.value));
    }
    let off: Vec<_> = view.features.iter().filter(|f| !f.on).collect();
    for feature in off {
        line(out, format!("{} {} is off: {}", paint(WARN, "!"), feature.name, feature.detail));
    }
    if !view.lost.is_empty() {
        let lost = "not all of the ring could be recovered: what is missing is listed at the end";
        line(out, format!("{} {lost}", paint(WARN, "!")));
    }
    if !view.damage.is_empty() {
        let places = plural(view.damage.len() as u64, "place");
        line(out, format!("{} the file is damaged in {places}, listed at the end", paint(BAD, "!")));
    }
}

pub(super) fn write_recorder(out: &mut String, view: &ReportView) {
    if !view.features.is_empty() {
        heading(out, "RECORDER", "");
        for f in &view.features {
            let state = if f.on { paint(GOOD, "on ") } else { paint(WARN, "off") };
            line(out, format!("  {:<8} {state}  {}", f.name, f.detail));
        }
    }
    if !view.statistics.is_empty() {
        heading(out, "MACHINE", "statistics at the dump");
        let width = view.statistics.iter().map(|f| f.name.chars().count()).max().unwrap_or(0).min(40);
        for f in &view.statistics {
            line(out, format!("  {:<width$}  {}", f.name, f.value));
        }
    }
}

pub(super) fn write_damage(out: &mut String, view: &ReportView) {
    if !view.lost.is_empty() {
        heading(out, "LOST", "what could not be recovered of the ring that this report was made from");
        for what in &view.lost {
            line(out, format!("  {what}"));
        }
    }
    if view.damage.is_empty() {
        return;
    }
    heading(out, "DAMAGE", "what could not be read; everything else in the report is intact");
    for issue in &view.damage {
        match issue.offset {
            Some(offset) => line(out, format!("  offset {offset}: {}", issue.what)),
            None => line(out, format!("  {}", issue.what)),
        }
    }
}
