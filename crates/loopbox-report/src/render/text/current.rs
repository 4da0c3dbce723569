//! What the main thread was doing at the dump.

use super::layout::{Options, heading, line};
use super::stacks;
use super::style::{self, QUIET, paint};
use crate::model::time::{format_ms, format_relative};
use crate::model::token;
use crate::render::json::{CurrentView, ReportView};

pub(super) fn write(out: &mut String, view: &ReportView, options: Options) {
    match &view.current {
        CurrentView::Unknown => {
            heading(out, "NOW", "unknown: the recorder had seen no message, or the file lost this part");
        }
        CurrentView::Idle { for_ms, token } => {
            heading(out, "NOW", &format!("no message was running, for {}", format_ms(*for_ms)));
            if let Some(tree) = view.trees.iter().rfind(|tree| Some(tree.token) == *token) {
                line(out, "  main's stacks of that time:");
                stacks::write(out, view, tree, options);
            }
        }
        CurrentView::Outside { token, at_ms, age_ms, at_most, cpu_ms, place, .. } => {
            let cpu = cpu(*cpu_ms, *age_ms);
            let bound = if *at_most { "at most " } else { "" };
            let age = paint(style::wall_time(*age_ms), format_ms(*age_ms));
            let title = token::title(*token);
            let from = if *at_most { "not before" } else { "since" };
            let at = format_relative(*at_ms);
            heading(out, "NOW", &format!("busy {title}, for {bound}{age}{cpu}, {from} {at}"));
            if let Some(place) = place {
                line(out, format!("  in {}", paint(style::NAME, place)));
            }
            match view.trees.iter().rfind(|tree| tree.token == *token) {
                Some(tree) => stacks::write(out, view, tree, options),
                None => line(out, paint(QUIET, "  no stack of it was sampled")),
            }
        }
        CurrentView::Running { token, at_ms, age_ms, before_install_ms, cpu_ms, depth, message, .. } => {
            let cpu = cpu(*cpu_ms, *age_ms);
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
            if *before_install_ms > 0.0 {
                line(out, format!("  {}", before_install(*before_install_ms)));
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

fn cpu(cpu_ms: Option<f64>, age_ms: f64) -> String {
    match cpu_ms {
        Some(cpu) if age_ms > 0.0 => format!(", cpu {} ({:.0} %)", format_ms(cpu), 100.0 * cpu / age_ms),
        Some(cpu) => format!(", cpu {}", format_ms(cpu)),
        None => ", cpu unknown".into(),
    }
}

/// That a part of a message has no stacks, because the sampler was not there yet.
pub(super) fn before_install(ms: f64) -> String {
    format!("{} of it before the recorder was installed: no stacks of that part", format_ms(ms))
}
