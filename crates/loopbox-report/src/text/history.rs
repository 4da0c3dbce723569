//! The past: one line a record, one more for each message kept by name.

use super::style::{BAD, NAME, QUIET, WARN, of_wall, paint};
use super::{heading, line};
use crate::clock::{duration, relative};
use crate::view::{DetailView, RecordView, View};
use std::fmt::Write as _;

/// A thread that wakes this late was kept off the CPU: a machine in trouble (the article's peers call 750 ms of a
/// 300 ms period a severe delay).
const LATE_MS: f64 = 300.0;

pub(super) fn write(out: &mut String, view: &View) {
    if view.history.is_empty() {
        heading(out, "HISTORY", "no record");
        return;
    }
    let rest =
        format!("{} records over {}, oldest first", view.history.len(), duration(view.report.history_ms));
    heading(out, "HISTORY", &rest);
    let titles = format!(
        "{:>7} {:>12} {:>13} {:>8} {:>8} {:>8} {:>8} {:>6}",
        "record", "start", "clock (UTC)", "wall", "idle", "cpu", "late", "count"
    );
    line(out, paint(QUIET, titles));
    for record in &view.history {
        write_record(out, record);
    }
}

fn write_record(out: &mut String, r: &RecordView) {
    let optional = |ms: Option<f64>| ms.map_or_else(|| "?".into(), duration);
    let single = r.kind == "single";
    let wall = format!("{:>8}", duration(r.wall_ms));
    let wall = match r.kind {
        "single" => paint(of_wall(r.wall_ms), wall),
        "idle" | "frozen" => paint(QUIET, wall),
        _ => wall,
    };
    let late = match r.checktime_late_ms {
        Some(ms) if ms >= LATE_MS => paint(BAD, format!("{:>8}", duration(ms))),
        Some(ms) => format!("{:>8}", duration(ms)),
        None => format!("{:>8}", ""),
    };
    let what = match r.kind {
        "group" => {
            let slowest = r.slowest.as_ref().map(|s| format!(", slowest {}", duration(s.wall_ms)));
            let open = if r.closed { "" } else { ", still open" };
            format!("messages from #{}{}{open}", r.first_token, slowest.unwrap_or_default())
        }
        "single" => r.details.first().map_or_else(|| format!("#{}", r.first_token), one_message),
        "idle" => paint(QUIET, "idle, or busy outside of messages"),
        "frozen" => paint(WARN, "frozen process or device asleep"),
        other => other.to_string(),
    };
    line(
        out,
        format!(
            "{:>7} {:>12} {:>13} {wall} {:>8} {:>8} {late} {:>6}  {what}",
            r.seq,
            relative(r.at_ms),
            r.clock.as_deref().unwrap_or("?"),
            if r.idle_ms > 0.0 { duration(r.idle_ms) } else { String::new() },
            if r.work_ms > 0.0 { optional(r.cpu_ms) } else { String::new() },
            r.count,
        ),
    );
    for detail in r.details.iter().skip(usize::from(single)) {
        let wall = paint(of_wall(detail.wall_ms), format!("{:>8}", duration(detail.wall_ms)));
        line(
            out,
            format!("{:>7} {:>12} {:>13} {wall}  {}", "", relative(detail.at_ms), "", one_message(detail)),
        );
    }
    if r.dropped_details > 0 {
        line(out, format!("{:>43}  {} more would have had a name, without room", "", r.dropped_details));
    }
}

fn one_message(d: &DetailView) -> String {
    let name = d.message.as_ref().map_or_else(|| "unnamed".into(), |m| paint(NAME, &m.text));
    let mut text = format!("#{} {name}", d.token);
    if let Some(wait) = d.wait_ms {
        let _ = write!(text, ", waited {}", duration(wait));
    }
    match d.end {
        "threw" => text += &paint(WARN, ", threw an exception"),
        "missed" => text += &paint(WARN, ", its end was not seen"),
        _ => {}
    }
    if d.has_tree {
        text += " [stacks]";
    }
    text
}
