//! The message that was running at the dump.

use super::layout::{Options, heading, line};
use super::stacks;
use super::style::{self, QUIET, paint};
use crate::model::time::{format_ms, format_relative};
use crate::render::json::{CurrentView, ReportView};

pub(super) fn write(out: &mut String, view: &ReportView, options: Options) {
    match &view.current {
        CurrentView::Unknown => {
            heading(out, "NOW", "unknown: the recorder had seen no message, or the file lost this part");
        }
        CurrentView::Idle { for_ms } => {
            heading(out, "NOW", &format!("no message was running, for {}", format_ms(*for_ms)));
        }
        CurrentView::Running { token, at_ms, age_ms, cpu_ms, depth, message, .. } => {
            let cpu = match cpu_ms {
                Some(cpu) if *age_ms > 0.0 => {
                    format!(", cpu {} ({:.0} %)", format_ms(*cpu), 100.0 * cpu / age_ms)
                }
                Some(cpu) => format!(", cpu {}", format_ms(*cpu)),
                None => ", cpu unknown".into(),
            };
            let age = paint(style::wall_time(*age_ms), format_ms(*age_ms));
            heading(
                out,
                "NOW",
                &format!("message #{token} running for {age}{cpu}, since {}", format_relative(*at_ms)),
            );
            match message {
                Some(m) => line(out, format!("  {}  (named by {})", paint(style::NAME, &m.text), m.named_by)),
                None => line(out, "  the hook knows its name only after it ends; see its stacks"),
            }
            if *depth > 1 {
                line(out, format!("  inside {} nested Looper.loop() calls", depth - 1));
            }
            match view.trees.iter().rfind(|tree| tree.token == *token) {
                Some(tree) => stacks::write(out, view, tree, options),
                None => line(out, paint(QUIET, "  no stack of the message was sampled")),
            }
        }
    }
}
