//! ART's own trace of the ANR: what it is about, and the main thread in it.

use super::layout::{Options, heading, line};
use super::style::{QUIET, WARN, paint};
use crate::model::plural::plural;
use crate::render::json::ReportView;

/// How many lines of the main thread are shown without `--full`.
const SHORT: usize = 8;

pub(super) fn write(out: &mut String, view: &ReportView, options: Options) {
    let Some(trace) = &view.system_trace else { return };
    let threads = plural((trace.threads as u64).saturating_add(u64::from(trace.left_out)), "thread");
    let at = if trace.written_at.is_empty() {
        String::new()
    } else {
        format!(", written at {}", trace.written_at)
    };
    heading(out, "ANR TRACE", &format!("ART's own, of {threads}{at}"));
    if !trace.subject.is_empty() {
        line(out, format!("  {}", trace.subject));
    }
    if !trace.complete {
        line(out, format!("  {} its end is missing", paint(WARN, "!")));
    }
    if let Some(why) = &trace.apart {
        line(out, format!("  {} it is left aside: {why}", paint(WARN, "!")));
    }
    let Some(main) = &trace.main else { return };
    line(out, format!("  main {}", main.state));
    let shown = if options.full { main.lines.len() } else { main.lines.len().min(SHORT) };
    for text in &main.lines[..shown] {
        line(out, format!("      {text}"));
    }
    if shown < main.lines.len() {
        line(out, paint(QUIET, format!("      and {} more (all with --full)", main.lines.len() - shown)));
    }
}
