//! The future: the message queue as it was at the dump.

use super::style::{QUIET, WARN, paint};
use super::{heading, line};
use crate::view::View;

pub(super) fn write(out: &mut String, view: &View) {
    let p = &view.pending;
    let source = match p.source {
        "looper_dump" => "by Looper.dump",
        "messages_field" => "from MessageQueue.mMessages",
        "unavailable" => {
            heading(out, "PENDING", &paint(WARN, format!("unknown: {}", p.why)));
            return;
        }
        _ => "from a source that this program does not know",
    };
    heading(out, "PENDING", source);
    for text in &p.lines {
        line(out, format!("  {text}"));
    }
    if p.lines.is_empty() {
        line(out, paint(QUIET, "  nothing"));
    }
    if p.dropped_lines > 0 {
        line(out, paint(WARN, format!("  {} more lines were not kept", p.dropped_lines)));
    }
}
