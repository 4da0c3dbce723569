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
    let whose = if trace.of_art { "ART's own" } else { "the system's, because ART did not answer" };
    heading(out, "ANR TRACE", &format!("{whose}, of {threads}{at}"));
    if !trace.subject.is_empty() {
        line(out, format!("  {}", trace.subject));
    }
    for (name, value) in &trace.fields {
        line(out, paint(QUIET, format!("  {name}: {value}")));
    }
    // A paste of threads alone has neither beginning nor end.
    if !trace.complete && trace.pid.is_some() {
        line(out, format!("  {} its end is missing", paint(WARN, "!")));
    }
    if let Some(why) = &trace.apart {
        line(out, format!("  {} it is left aside: {why}", paint(WARN, "!")));
    }
    let Some(main) = trace.main() else { return };
    let wchan = if main.wchan.is_empty() { String::new() } else { format!(", sleeps in {}", main.wchan) };
    line(out, format!("  main {}{wchan}", main.state));
    let lines = trace_lines(a, trace, main);
    let shown = if options.full { lines.len() } else { lines.len().min(SHORT) };
    for text in &lines[..shown] {
        line(out, format!("      {text}"));
    }
    if shown < lines.len() {
        line(out, paint(QUIET, format!("      and {} more (all with --full)", lines.len() - shown)));
    }
}
