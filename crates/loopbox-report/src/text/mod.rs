//! A report as text for a terminal.
//!
//! The order is the article's: what was done (history), what is being done (the running message with its stacks),
//! what was to be done next (pending). Lines carry ANSI styles; strip them for plain text.

mod anr;
mod header;
mod history;
mod pending;
mod stacks;
mod style;
mod threads;
mod verdict;

use crate::view::{CurrentView, View};
use style::{HEADING, QUIET, paint};

/// How much to show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Show every node of a stack tree, also those below one per cent, and the trees of earlier messages.
    pub full: bool,
}

/// `loopbox show`: the whole report.
pub fn show(view: &View, options: Options) -> String {
    let mut out = String::new();
    header::write(&mut out, view);
    verdict::write_short(&mut out, &view.verdict);
    anr::write(&mut out, view);
    history::write(&mut out, view);
    current(&mut out, view, options);
    locks(&mut out, view);
    pending::write(&mut out, view, options);
    threads::write(&mut out, view, options);
    other_trees(&mut out, view, options);
    header::write_machine(&mut out, view);
    header::write_damage(&mut out, view);
    out
}

/// `loopbox diagnose`: every possible cause with its evidence.
pub fn diagnosis(view: &View) -> String {
    let mut out = String::new();
    header::write(&mut out, view);
    verdict::write_full(&mut out, view);
    anr::write(&mut out, view);
    out
}

fn line(out: &mut String, text: impl AsRef<str>) {
    out.push_str(text.as_ref().trim_end());
    out.push('\n');
}

fn heading(out: &mut String, name: &str, rest: &str) {
    out.push('\n');
    line(out, format!("{}  {}", paint(HEADING, name), rest));
}

fn current(out: &mut String, view: &View, options: Options) {
    use crate::clock::{duration, relative};
    match &view.current {
        CurrentView::Unknown => {
            heading(out, "NOW", "unknown: the recorder had seen no message, or this part is lost");
        }
        CurrentView::Idle { for_ms } => {
            heading(out, "NOW", &format!("no message was running, for {}", duration(*for_ms)));
        }
        CurrentView::Running { token, at_ms, age_ms, cpu_ms, depth, message, .. } => {
            let cpu = match cpu_ms {
                Some(cpu) if *age_ms > 0.0 => {
                    format!(", cpu {} ({:.0} %)", duration(*cpu), 100.0 * cpu / age_ms)
                }
                Some(cpu) => format!(", cpu {}", duration(*cpu)),
                None => ", cpu unknown".into(),
            };
            let age = paint(style::of_wall(*age_ms), duration(*age_ms));
            heading(
                out,
                "NOW",
                &format!("message #{token} running for {age}{cpu}, since {}", relative(*at_ms)),
            );
            match message {
                Some(m) => line(out, format!("  {}  (named by {})", paint(style::NAME, &m.text), m.named_by)),
                None => line(out, "  its name is not known to the hook before it ends; the stacks tell"),
            }
            if *depth > 1 {
                line(out, format!("  inside {} nested Looper.loop() calls", depth - 1));
            }
            match view.trees.iter().rfind(|tree| tree.token == *token) {
                Some(tree) => stacks::write(out, view, tree, options),
                None => line(out, paint(QUIET, "  no stack of it was sampled")),
            }
        }
    }
}

fn locks(out: &mut String, view: &View) {
    if view.locks.waits.is_empty() {
        return;
    }
    let circle = if view.locks.deadlock { paint(style::BAD, "a deadlock") } else { "who holds what".into() };
    heading(out, "LOCKS", &circle);
    let mut waiter = "main".to_string();
    for wait in &view.locks.waits {
        let Some(holder) = &wait.holder else {
            line(out, format!("  {waiter} waits for {}, which nobody holds", wait.object));
            continue;
        };
        let name = paint(style::NAME, &holder.name);
        line(out, format!("  {waiter} waits for {}, held by {name} (tid {})", wait.object, holder.tid));
        for frame in &holder.stack {
            line(out, format!("      at {frame}"));
        }
        waiter.clone_from(&holder.name);
    }
}

fn other_trees(out: &mut String, view: &View, options: Options) {
    let running = match &view.current {
        CurrentView::Running { token, .. } => Some(*token),
        _ => None,
    };
    let others: Vec<_> = view.trees.iter().filter(|tree| Some(tree.token) != running).collect();
    if others.is_empty() {
        return;
    }
    let hint = if options.full { "" } else { ", heaviest path each (all of them with --full)" };
    heading(out, "EARLIER STACKS", &format!("{} messages{hint}", others.len()));
    for tree in others {
        line(out, format!("  message #{}, {}", tree.token, crate::clock::relative(tree.at_ms)));
        if options.full {
            stacks::write(out, view, tree, options);
        } else {
            stacks::write_hot_path(out, view, tree);
        }
    }
}

#[cfg(test)]
mod text_test;
