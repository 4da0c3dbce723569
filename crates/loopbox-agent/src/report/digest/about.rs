//! The lines of the summary after its eighth line. They have what an app needs whose own code sends reports
//! to a service.

use super::line::Line;
use loopbox_format::model::{Anr, AnrWarning, Location, LocationId, MainState, Report};
use loopbox_format::problem::{of_report, subject, written_at};
use loopbox_format::stacks;
use loopbox_format::text::number;

/// The index of the line with the duration.
pub(super) const DURATION: usize = 9;

/// Room for a class and a method; crash services show less.
const TITLE_BYTES: usize = 256;
/// At most `FRAMES` frames of the stack are written, and none after the first `STACK_BYTES` bytes: the reader
/// accepts a summary of 32 KiB.
const FRAMES: usize = 128;
const STACK_BYTES: usize = 12 << 10;

/// Writes, in this order: the app's version, the message's duration in ms, the fingerprint, the title, the
/// annotations, the stack (a line for each frame, the innermost first), and the system's warnings.
pub(super) fn write(report: &Report, text: &mut Line) {
    let subject = subject(&report.main, &report.history, written_at(report));
    text.text(&report.meta.process.app_version).end();
    text.number(subject.map_or(0, |subject| subject.took_ns) / 1_000_000).end();
    let signature = of_report(report);
    text.text(&signature.id()).end();
    let mut title = Line::default();
    title.text(match (signature.title(), &report.main) {
        ("", MainState::Idle { .. }) => "main idle",
        ("", _) => "main unknown",
        (title, _) => title,
    });
    text.raw(&title.within(TITLE_BYTES)).end();
    for (nth, (name, value)) in report.meta.annotations.iter().enumerate() {
        if nth > 0 {
            text.tab();
        }
        text.text(name).tab().text(value);
    }
    let most = text.0.len() + STACK_BYTES;
    let tree = subject.and_then(|subject| report.trees.iter().rev().find(|tree| tree.token == subject.token));
    let stack = tree.and_then(|tree| stacks::stacks(tree).ok()?.last()).unwrap_or_default();
    for &location in stack.iter().rev().take(FRAMES) {
        let before = text.0.len();
        frame(report, location, text);
        if text.0.len() > most {
            text.0.truncate(before);
            break;
        }
    }
    write_warnings(&report.anr_warnings, text);
}

/// How a line of the system's warnings begins. The line has more parts than the line of a frame.
const WARNING: &str = "anr_warning\t";

/// The number of the first line after the annotations.
const FIRST_FRAME: usize = 13;

pub(super) fn is_warning(nth: usize, line: &str) -> bool {
    nth >= FIRST_FRAME && line.starts_with(WARNING)
}

/// Writes a line for each warning: id, type, how much of the time-out had passed, and the time-out, both in
/// milliseconds.
pub(super) fn write_warnings(warnings: &[AnrWarning], text: &mut Line) {
    for AnrWarning { id, kind, consumed_ms, timeout_ms, .. } in warnings {
        text.end().raw(WARNING).raw(&id.to_string()).tab().raw(&kind.to_string());
        text.tab().number(*consumed_ms).tab().number(*timeout_ms);
    }
}

/// Writes class, method, file and line of a frame. For code without lines the line is the dex pc, as in
/// Android's own traces; for a native method it is -2.
fn frame(report: &Report, location: LocationId, text: &mut Line) {
    let Some(&Location::Frame { method, dex_pc, line }) = report.symbols.location(location) else { return };
    let Some(method) = report.symbols.method(method) else { return };
    text.end().text(&method.class).tab().text(&method.name).tab().text(&method.source_file).tab();
    match line.or(dex_pc) {
        Some(line) => text.number(line.into()),
        None => text.text("-2"),
    };
}

/// Writes the message's duration in milliseconds: the duration in `line` or, if the message has ended by now,
/// its whole duration, whichever is longer.
pub(super) fn update_duration<'l>(line: &str, anr: &Anr, text: &'l mut Line) -> &'l mut Line {
    let known: u64 = number(line).unwrap_or(0);
    text.number(known.max(anr.ended_after_ns.unwrap_or(0) / 1_000_000))
}
