//! The sums as text. Lines have ANSI styles; strip them for plain text.

use crate::view::{Group, Phase, StackGroup, View};
use anstyle::{AnsiColor, Style};
use loopbox_report::harmless;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const QUIET: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const NAME: Style = AnsiColor::Cyan.on_default();
/// This many frames of a stack are shown.
const FRAMES: usize = 6;

/// The sums, with at most `limit` rows of each table.
pub fn text(view: &View, limit: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{STRONG}{}{STRONG:#}", headline(view));
    table(&mut out, "DAYS", &view.days, usize::MAX);
    table(&mut out, "SCENES", &view.scenes, limit);
    table(&mut out, "MESSAGES", &view.messages, limit);
    stacks(&mut out, &view.stacks, limit);
    around(&mut out, view);
    out
}

/// The headline: `7 stalls, 4.31 s in all, longest 731 ms, 43 frames dropped; 2 processes; 1 line cut off`.
pub(crate) fn headline(view: &View) -> String {
    let mut line = format!(
        "{}, {} in all, longest {}{}",
        plural(view.stalls, "stall"),
        time(view.ms),
        time(view.longest_ms),
        dropped(view.dropped_frames)
    );
    let _ = write!(line, "; {}", plural(view.processes, "process"));
    if view.users > 0 {
        let _ = write!(line, ", {}", plural(view.users, "user"));
    }
    for (lines, what) in [(view.cut_lines, "cut off"), (view.lost_lines, "lost in the app")] {
        if lines > 0 {
            let _ = write!(line, "; {} {what}", plural(lines, "line"));
        }
    }
    line
}

fn table(out: &mut String, title: &str, groups: &[Group], limit: usize) {
    if groups.iter().all(|group| group.name.is_empty()) {
        return;
    }
    let _ = writeln!(out, "\n{STRONG}{title}{STRONG:#}");
    for group in groups.iter().take(limit) {
        let _ = writeln!(
            out,
            "  {:>9} in {:<11} longest {:>8}, {}{}  {NAME}{}{NAME:#}",
            time(group.ms),
            plural(group.stalls, "stall"),
            time(group.longest_ms),
            levels(&group.levels),
            dropped(group.dropped_frames),
            name(&group.name)
        );
    }
    more(out, groups.len(), limit);
}

fn stacks(out: &mut String, stacks: &[StackGroup], limit: usize) {
    let _ = writeln!(out, "\n{STRONG}STACKS{STRONG:#}  by their share of the stalls' time");
    for stack in stacks.iter().take(limit) {
        let _ = writeln!(
            out,
            "  {:>9} in {:<11} {NAME}{}{NAME:#}",
            time(stack.ms),
            plural(stack.stalls, "stall"),
            culprit(stack)
        );
        for frame in stack.frames.iter().take(FRAMES) {
            let _ = writeln!(out, "             {QUIET}{}{QUIET:#}", harmless(frame));
        }
    }
    more(out, stacks.len(), limit);
}

/// The name of a group of stacks.
pub(crate) fn culprit(stack: &StackGroup) -> String {
    match (stack.method.as_str(), &stack.waits_in) {
        ("", _) => "(no stack)".to_owned(),
        (method, None) => harmless(method),
        (method, Some(top)) => format!("{}, in {}", harmless(method), harmless(top)),
    }
}

fn more(out: &mut String, all: usize, limit: usize) {
    if all > limit {
        let _ = writeln!(out, "  {QUIET}and {} more{QUIET:#}", all - limit);
    }
}

fn around(out: &mut String, view: &View) {
    let _ = writeln!(out, "\n{STRONG}AROUND STALLS{STRONG:#}  averages");
    for (when, phase) in phases(view) {
        let values: Vec<String> =
            values(phase).into_iter().map(|(what, value)| format!("{what} {value}")).collect();
        if !values.is_empty() {
            let _ = writeln!(
                out,
                "  {when:<7} {}  {QUIET}({}){QUIET:#}",
                values.join(", "),
                plural(phase.stalls, "stall")
            );
        }
    }
}

/// The phases with their names.
pub(crate) fn phases(view: &View) -> [(&'static str, &Phase); 3] {
    [("before", &view.around.before), ("during", &view.around.during), ("after", &view.around.after)]
}

/// What is known of a phase, in words.
pub(crate) fn values(phase: &Phase) -> Vec<(&'static str, String)> {
    let percent = |value: Option<f64>| value.map(|value| format!("{value:.1} %"));
    let all = [
        ("process", percent(phase.proc_cpu)),
        ("system", percent(phase.sys_cpu)),
        ("free memory", phase.free_mb.map(|mb| format!("{mb:.0} MiB"))),
        ("cpu pressure", percent(phase.psi_cpu)),
        ("memory pressure", percent(phase.psi_memory)),
        ("io pressure", percent(phase.psi_io)),
    ];
    all.into_iter().filter_map(|(what, value)| Some((what, value?))).collect()
}

/// How many stalls each level has: `1 of level 1, 2 of level 2`.
pub(crate) fn levels(levels: &BTreeMap<u32, u64>) -> String {
    let parts: Vec<String> =
        levels.iter().map(|(level, stalls)| format!("{stalls} of level {level}")).collect();
    parts.join(", ")
}

/// How many frames were dropped: `, 43 frames dropped`. Empty for 0 frames.
pub(crate) fn dropped(frames: u64) -> String {
    if frames == 0 { String::new() } else { format!(", {} dropped", plural(frames, "frame")) }
}

/// A group's name as it may be shown.
pub(crate) fn name(name: &str) -> String {
    if name.is_empty() { "(not given)".to_owned() } else { harmless(name) }
}

pub(crate) fn time(ms: f64) -> String {
    if ms < 1_000.0 { format!("{ms:.0} ms") } else { format!("{:.2} s", ms / 1_000.0) }
}

pub(crate) fn plural(count: u64, what: &str) -> String {
    let end = match (count, what.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {what}{end}")
}
