//! The history: one line per record, and one for each message that is kept by name.

use super::current::before_install;
use super::layout::{heading, line};
use super::style::{BAD, NAME, QUIET, WARN, paint, wall_time};
use crate::model::plural::plural;
use crate::model::time::{format_ms, format_relative};
use crate::render::json::{DetailView, RecordView, ReportView};
use std::fmt::Write as _;

/// From this wake-up latency on the sampler thread was kept off the CPU: the system is starved.
const LATE_MS: f64 = 300.0;

pub(super) fn write(out: &mut String, view: &ReportView) {
    if view.history.is_empty() {
        heading(out, "HISTORY", "no record");
        return;
    }
    let records = if view.history.len() == 1 { "record" } else { "records" };
    let rest =
        format!("{} {records} over {}, oldest first", view.history.len(), format_ms(view.report.history_ms));
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
    let optional = |ms: Option<f64>| ms.map_or_else(|| "?".into(), format_ms);
    let single = r.kind == "single";
    let wall = format!("{:>8}", format_ms(r.wall_ms));
    let wall = match r.kind {
        "single" => paint(wall_time(r.wall_ms), wall),
        "idle" | "frozen" | "unseen" => paint(QUIET, wall),
        _ => wall,
    };
    let late = match r.checktime_late_ms {
        Some(ms) if ms >= LATE_MS => paint(BAD, format!("{:>8}", format_ms(ms))),
        Some(ms) => format!("{:>8}", format_ms(ms)),
        None => format!("{:>8}", ""),
    };
    let what = match r.kind {
        "group" => {
            let slowest = r.slowest.as_ref().map(|s| {
                let bound = if s.at_most { "at most " } else { "" };
                format!(", slowest {bound}{}", format_ms(s.wall_ms))
            });
            let open = if r.closed { "" } else { ", still open" };
            format!("messages from #{}{}{open}", r.first_token, slowest.unwrap_or_default())
        }
        "single" => r.details.first().map_or_else(|| format!("#{}", r.first_token), one_message),
        "idle" => paint(QUIET, "idle, or busy outside of messages"),
        "frozen" => paint(WARN, "frozen process or device asleep"),
        "unseen" => paint(WARN, "unseen: another library had taken the hook out"),
        other => other.to_string(),
    };
    line(
        out,
        format!(
            "{:>7} {:>12} {:>13} {wall} {:>8} {:>8} {late} {:>6}  {what}",
            r.seq,
            format_relative(r.at_ms),
            r.clock.as_deref().unwrap_or("?"),
            if r.idle_ms > 0.0 { format_ms(r.idle_ms) } else { String::new() },
            if r.work_ms > 0.0 { optional(r.cpu_ms) } else { String::new() },
            r.count,
        ),
    );
    for detail in r.details.iter().skip(usize::from(single)) {
        let wall = paint(wall_time(detail.wall_ms), format!("{:>8}", format_ms(detail.wall_ms)));
        line(
            out,
            format!(
                "{:>7} {:>12} {:>13} {wall}  {}",
                "",
                format_relative(detail.at_ms),
                "",
                one_message(detail)
            ),
        );
    }
    if r.dropped_details > 0 {
        line(
            out,
            format!(
                "{:>43}  not kept by name: {}",
                "",
                plural(r.dropped_details.into(), "more slow message")
            ),
        );
    }
}

fn one_message(d: &DetailView) -> String {
    let name = d.message.as_ref().map_or_else(|| "unnamed".into(), |m| paint(NAME, &m.text));
    let mut text = format!("#{} {name}", d.token);
    if let Some(wait) = d.wait_ms {
        let _ = write!(text, ", waited {}", format_ms(wait));
    }
    match d.end {
        "threw" => text += &paint(WARN, ", threw an exception"),
        "missed" => text += &paint(WARN, ", at most so long: its end was not seen"),
        _ => {}
    }
    if d.before_install_ms > 0.0 {
        let _ = write!(text, ", {}", before_install(d.before_install_ms));
    }
    if d.has_tree {
        text += " [stacks]";
    }
    text
}
