//! The history: one line per record, and one for each message that is kept by name and each breadcrumb.

use super::current::before_install;
use super::layout::{heading, line};
use super::style::{BAD, NAME, QUIET, WARN, paint, wall_time};
use crate::model::plural::plural;
use crate::model::time::{format_ns, format_relative, ms, ms_between};
use crate::model::{Analysis, at_most};
use loopbox_format::model::{Breadcrumb, Detail, End, Record, RecordKind, Uptime};
use std::fmt::Write as _;
use std::iter::Peekable;
use std::slice::Iter;

/// A wake-up of the sampler thread that is at least this late is highlighted: the thread did not get a CPU,
/// so the system is starved.
const LATE_NS: u64 = 300_000_000;
const UNSEEN: &str = "unseen: another library had taken the hook out, or the app had paused the recorder";

pub(super) fn write(out: &mut String, a: &Analysis) {
    if a.is_trace_alone() {
        return;
    }
    if a.history.is_empty() {
        heading(out, "HISTORY", "no record");
        write_breadcrumbs(out, a, &mut a.breadcrumbs.iter().peekable(), Uptime::MAX);
        return;
    }
    let records = plural(a.history.len() as u64, "record");
    heading(out, "HISTORY", &format!("{records} over {}, oldest first", format_ns(a.history_span_ns())));
    let titles = format!(
        "{:>7} {:>12} {:>13} {:>8} {:>8} {:>8} {:>8} {:>6}",
        "record", "start", "clock (UTC)", "wall", "idle", "cpu", "late", "count"
    );
    line(out, paint(QUIET, titles));
    let mut breadcrumbs = a.breadcrumbs.iter().peekable();
    for record in &a.history {
        write_breadcrumbs(out, a, &mut breadcrumbs, record.start_ns);
        write_record(out, a, record, &mut breadcrumbs);
    }
    write_breadcrumbs(out, a, &mut breadcrumbs, Uptime::MAX);
}

/// Writes the breadcrumbs that were left before an instant and are not written yet.
fn write_breadcrumbs(
    out: &mut String,
    a: &Analysis,
    left: &mut Peekable<Iter<'_, Breadcrumb>>,
    until: Uptime,
) {
    while let Some(Breadcrumb { at_ns, name }) = left.next_if(|next| next.at_ns < until) {
        let at = format_relative(ms_between(*at_ns, a.dump_ns));
        let clock = a.wall_clock().time_of_day(*at_ns);
        let what = paint(NAME, format!("breadcrumb: {name}"));
        line(out, format!("{:>7} {at:>12} {:>13} {:>8}  {what}", "", clock.as_deref().unwrap_or("?"), ""));
    }
}

fn write_record(
    out: &mut String,
    a: &Analysis,
    r: &Record,
    breadcrumbs: &mut Peekable<Iter<'_, Breadcrumb>>,
) {
    let wall = format!("{:>8}", format_ns(r.wall_ns));
    let wall = match r.kind {
        RecordKind::Single => paint(wall_time(ms(r.wall_ns)), wall),
        RecordKind::Idle | RecordKind::Frozen | RecordKind::Unseen => paint(QUIET, wall),
        _ => wall,
    };
    let late = match r.checktime_late_ns {
        Some(ns) if ns >= LATE_NS => paint(BAD, format!("{:>8}", format_ns(ns))),
        Some(ns) => format!("{:>8}", format_ns(ns)),
        None => format!("{:>8}", ""),
    };
    let what = match r.kind {
        RecordKind::Group => {
            let slowest = r.slowest.as_ref().map(|slowest| {
                let bound = if at_most(r, slowest) { "at most " } else { "" };
                format!(", slowest {bound}{}", format_ns(slowest.wall_ns))
            });
            let open = if r.closed { "" } else { ", still open" };
            format!("messages from #{}{}{open}", r.first_token, slowest.unwrap_or_default())
        }
        RecordKind::Single => {
            r.details.first().map_or_else(|| format!("#{}", r.first_token), |detail| one_message(a, detail))
        }
        RecordKind::Idle => paint(QUIET, "idle, or busy outside of messages"),
        RecordKind::Outside => "busy outside of messages".to_string(),
        RecordKind::Frozen => paint(WARN, "idle for over a minute, frozen process or device asleep"),
        RecordKind::Unseen => paint(WARN, UNSEEN),
        _ => "unknown".to_string(),
    };
    let cpu = r.cpu_ns.map_or_else(|| "?".into(), format_ns);
    line(
        out,
        format!(
            "{:>7} {:>12} {:>13} {wall} {:>8} {:>8} {late} {:>6}  {what}",
            r.seq,
            format_relative(ms_between(r.start_ns, a.dump_ns)),
            a.wall_clock().time_of_day(r.start_ns).as_deref().unwrap_or("?"),
            if ms(r.idle_ns) > 0.0 { format_ns(r.idle_ns) } else { String::new() },
            if ms(r.work_ns) > 0.0 { cpu } else { String::new() },
            r.count,
        ),
    );
    for detail in r.details.iter().skip(usize::from(r.kind == RecordKind::Single)) {
        write_breadcrumbs(out, a, breadcrumbs, detail.start_ns);
        let wall = paint(wall_time(ms(detail.wall_ns)), format!("{:>8}", format_ns(detail.wall_ns)));
        let at = format_relative(ms_between(detail.start_ns, a.dump_ns));
        line(out, format!("{:>7} {at:>12} {:>13} {wall}  {}", "", "", one_message(a, detail)));
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

fn one_message(a: &Analysis, detail: &Detail) -> String {
    let name = detail.message.as_ref().map(|message| paint(NAME, a.message_title(detail.token, message)));
    let mut text = format!("#{} {}", detail.token, name.unwrap_or_else(|| "unnamed".into()));
    if let Some(wait_ns) = detail.wait_ns {
        let _ = write!(text, ", waited {}", format_ns(wait_ns));
    }
    match detail.end {
        End::Threw => text += &paint(WARN, ", threw an exception"),
        End::Missed => text += &paint(WARN, ", at most so long: its end was not seen"),
        _ => {}
    }
    let before_ns = a.before_install_ns(detail.start_ns, detail.wall_ns);
    if ms(before_ns) > 0.0 {
        let _ = write!(text, ", {}", before_install(before_ns));
    }
    if a.tree(detail.token).is_some() {
        text += " [stacks]";
    }
    text
}
