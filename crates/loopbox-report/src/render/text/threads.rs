//! The other threads of the process.

use super::layout::{Options, heading, line};
use super::style::{NAME, QUIET, paint};
use crate::derive::{activity, stack_lines};
use crate::model::time::format_ns;
use crate::model::{Analysis, OtherThread};

/// How many frames of a stack are shown without `--full`.
const SHORT: usize = 3;

pub(super) fn write(out: &mut String, a: &Analysis, options: Options) {
    let all = &a.threads;
    if all.threads.is_empty() {
        return;
    }
    let count = all.threads.len() + all.left_out as usize;
    let hint = if options.full { "" } else { ", the top of their stacks (whole with --full)" };
    heading(out, "OTHER THREADS", &format!("{count}{hint}"));
    let has_java = |thread: &&OtherThread| thread.stack.as_ref().is_some_and(|stack| !stack.is_empty());
    let is_shown = |thread: &&OtherThread| has_java(thread) || options.full && a.traced(thread).is_some();
    for thread in all.threads.iter().filter(is_shown) {
        let cpu = thread.cpu_ns.map(|ns| format!(", cpu {}", format_ns(ns))).unwrap_or_default();
        let tid = thread.tid.map(|tid| format!(" (tid {tid})")).unwrap_or_default();
        line(out, format!("  {}{tid} {}{cpu}", paint(NAME, &thread.name), activity(a, thread)));
        let lines = stack_lines(a, thread);
        let shown = if options.full { lines.len() } else { lines.len().min(SHORT) };
        for text in &lines[..shown] {
            line(out, format!("      {text}"));
        }
        if shown < lines.len() {
            line(out, paint(QUIET, format!("      and {} more", lines.len() - shown)));
        }
    }
    let others: Vec<&str> =
        all.threads.iter().filter(|thread| !is_shown(thread)).map(|thread| thread.name.as_str()).collect();
    if !others.is_empty() {
        line(out, paint(QUIET, format!("  without a Java stack: {}", others.join(", "))));
    }
    if all.left_out > 0 {
        line(out, paint(QUIET, format!("  {} more are not in the report", all.left_out)));
    }
}
