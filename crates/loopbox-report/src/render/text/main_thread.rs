//! What the kernel reported of the main thread, and its native stack.

use super::layout::{Options, heading, line};
use super::style::{NAME, QUIET, paint};
use crate::model::SourceFunction;
use crate::model::time::{format_ms, format_relative};
use crate::render::json::{MainThreadView, NativeStackView, ProgressView, ReportView};
use std::fmt::Write;

/// How many native frames are shown without `--full`.
const SHORT: usize = 12;

pub(super) fn write(out: &mut String, view: &ReportView, options: Options) {
    let Some(main) = &view.main_thread else { return };
    let wait = main.wait.as_ref().map_or("unknown", |wait| &wait.text);
    heading(out, "MAIN THREAD", &format!("{wait}, as the kernel says"));
    line(out, format!("  {}", state(main)));
    if let Some(progress) = &main.progress {
        line(out, format!("  {}", progress_text(progress)));
    }
    match &main.native {
        Some(stack) => write_stack(out, stack, if options.full { usize::MAX } else { SHORT }),
        None => line(out, paint(QUIET, "  no native stack: no SIGQUIT stopped the main thread")),
    }
}

/// The native stack with everything that symbols have, as `loopbox symbolize` prints it.
pub(super) fn write_symbolized(out: &mut String, view: &ReportView) {
    let native = view.main_thread.as_ref().and_then(|main| main.native.as_ref());
    if let Some(stack) = native {
        write_stack(out, stack, usize::MAX);
    }
}

fn state(main: &MainThreadView) -> String {
    let mut state = format!("at {}: {}", format_relative(main.captured_at_ms), main.doing);
    if let Some(call) = &main.system_call {
        let name = match (call.name, call.number) {
            (Some(name), _) => name.to_owned(),
            (None, Some(number)) => format!("system call {number}"),
            (None, None) => "an unknown system call".to_owned(),
        };
        let arguments: Vec<&str> =
            call.arguments.iter().map(|value| value.as_deref().unwrap_or("?")).collect();
        let _ = write!(state, ", in {name}({})", arguments.join(", "));
    }
    if !main.wchan.is_empty() {
        let _ = write!(state, ", sleeps in {}", main.wchan);
    }
    state
}

fn progress_text(progress: &ProgressView) -> String {
    let known = |ms: Option<f64>| ms.map_or_else(|| "an unknown time".to_owned(), format_ms);
    format!(
        "in the next {} it ran {}, waited {} for a processor, had {} page faults, {} of them from disk",
        format_ms(progress.over_ms),
        known(progress.ran_ms),
        known(progress.waited_ms),
        progress.minor_faults.saturating_add(progress.major_faults),
        progress.major_faults
    )
}

fn write_stack(out: &mut String, stack: &NativeStackView, limit: usize) {
    line(out, format!("  native stack at {}, innermost frame first:", format_relative(stack.captured_at_ms)));
    for frame in stack.frames.iter().take(limit) {
        let note = if frame.source == "link" { "  (link register)" } else { "" };
        line(out, format!("    {}{}", frame.text, paint(QUIET, note)));
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
