//! ART's own trace of the ANR: what it is about, and the main thread in it.

use super::layout::{Options, heading, line};
use super::style::{QUIET, WARN, paint};
use crate::derive::trace_lines;
use crate::model::Analysis;
use crate::model::plural::plural;

/// How many lines of the main thread are shown without `--full`.
const SHORT: usize = 8;

pub(super) fn write(out: &mut String, a: &Analysis, options: Options) {
    let Some(trace) = &a.system_trace else { return };
    let threads = plural((trace.threads.len() as u64).saturating_add(u64::from(trace.left_out)), "thread");
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
    let Some(main) = trace.main() else { return };
    line(out, format!("  main {}", main.state));
    let lines = trace_lines(a, trace, main);
    let shown = if options.full { lines.len() } else { lines.len().min(SHORT) };
    for text in &lines[..shown] {
        line(out, format!("      {text}"));
    }
    if shown < lines.len() {
        line(out, paint(QUIET, format!("      and {} more (all with --full)", lines.len() - shown)));
    }
}
