//! What the kernel reported of the main thread, and its native stack.

use super::layout::{Options, heading, line};
use super::style::{NAME, QUIET, paint};
use crate::derive::tombstone_line;
use crate::model::system_calls::system_call;
use crate::model::time::{format_ns, format_relative, ms_between};
use crate::model::{
    Analysis, MainThread, NativeFrameSource, NativeStack, Progress, SourceFunction, ThreadState,
};
use loopbox_format::model::Named;
use std::fmt::Write;

/// How many native frames are shown without `--full`.
const SHORT: usize = 12;

pub(super) fn write(out: &mut String, a: &Analysis, options: Options) {
    let Some(main) = &a.main_thread else { return };
    let wait = a.main_wait().map_or_else(|| "unknown".to_owned(), |wait| wait.text);
    heading(out, "MAIN THREAD", &format!("{wait}, as the kernel says"));
    line(out, format!("  {}", state(a, main)));
    if let Some(progress) = &main.progress {
        line(out, format!("  {}", progress_text(progress)));
    }
    match &main.native {
        Some(stack) => write_stack(out, a, stack, if options.full { usize::MAX } else { SHORT }),
        None => line(out, paint(QUIET, "  no native stack: no SIGQUIT stopped the main thread")),
    }
}

/// Writes all frames of the native stack, with the names from symbols, as `loopbox symbolize` prints them.
pub(super) fn write_symbolized(out: &mut String, a: &Analysis) {
    let native = a.main_thread.as_ref().and_then(|main| main.native.as_ref());
    if let Some(stack) = native {
        write_stack(out, a, stack, usize::MAX);
    }
}

fn state(a: &Analysis, main: &MainThread) -> String {
    let at = format_relative(ms_between(main.captured_ns, a.dump_ns));
    let mut state = format!("at {at}: {}", ThreadState::of(main.state).name());
    if let Some(call) = &main.system_call {
        let name = match call.number {
            Some(number) => system_call(&a.meta.process.abi, number)
                .map_or_else(|| format!("system call {number}"), |(name, _)| name.to_owned()),
            None => "an unknown system call".to_owned(),
        };
        let hex = |value: &Option<u64>| value.map_or_else(|| "?".to_owned(), |value| format!("{value:#x}"));
        let arguments: Vec<String> = call.arguments.iter().map(hex).collect();
        let _ = write!(state, ", in {name}({})", arguments.join(", "));
    }
    if !main.wchan.is_empty() {
        let _ = write!(state, ", sleeps in {}", main.wchan);
    }
    state
}

fn progress_text(progress: &Progress) -> String {
    let known = |ns: Option<u64>| ns.map_or_else(|| "an unknown time".to_owned(), format_ns);
    format!(
        "in the next {} it ran {}, waited {} for a processor, had {} page faults, {} of them from disk",
        format_ns(progress.over_ns),
        known(progress.ran_ns),
        known(progress.waited_ns),
        progress.minor_faults.saturating_add(progress.major_faults),
        progress.major_faults
    )
}

fn write_stack(out: &mut String, a: &Analysis, stack: &NativeStack, limit: usize) {
    let at = format_relative(ms_between(stack.captured_ns, a.dump_ns));
    line(out, format!("  native stack at {at}, innermost frame first:"));
    for (number, frame) in stack.frames.iter().enumerate().take(limit) {
        let note = if frame.source == Some(NativeFrameSource::Link) { "  (link register)" } else { "" };
        line(out, format!("    {}{}", tombstone_line(stack, number, frame), paint(QUIET, note)));
        for function in &frame.functions {
            line(out, format!("         {}", source_line(function)));
        }
    }
    if stack.frames.len() > limit {
        line(out, paint(QUIET, format!("    and {} more (all with --full)", stack.frames.len() - limit)));
    }
}

fn source_line(function: &SourceFunction) -> String {
    let place = match (&function.file, function.line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        (Some(file), None) => format!(" in {file}"),
        _ => String::new(),
    };
    let inlined = if function.inlined { " (inlined)" } else { "" };
    format!("{}{place}{}", paint(NAME, &function.name), paint(QUIET, inlined))
}
