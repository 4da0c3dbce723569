//! What the main thread was doing at the dump.

use super::layout::{Options, heading, line};
use super::stacks;
use super::style::{self, QUIET, paint};
use crate::model::time::{format_ns, format_relative, ms, ms_between};
use crate::model::{Analysis, token};
use loopbox_format::model::{MainState, Named, NamedBy, Outside, Running, Token};

pub(super) fn write(out: &mut String, a: &Analysis, options: Options) {
    match &a.main {
        MainState::Idle { since_ns } => {
            let idle = format_ns(a.dump_ns.since(*since_ns));
            heading(out, "NOW", &format!("no message was running, for {idle}"));
            if let Some(tree) = a.current_token().and_then(|token| a.tree(token)) {
                line(out, "  main's stacks of that time:");
                stacks::write(out, a, tree, options);
            }
        }
        MainState::Outside(outside) => {
            write_outside(out, a, outside);
            write_stacks(out, a, outside.token, "it", options);
        }
        MainState::Running(running) => {
            write_running(out, a, running);
            write_stacks(out, a, running.token, "the message", options);
        }
        _ if a.is_trace_alone() => heading(out, "NOW", "what ANR TRACE below shows"),
        _ => heading(out, "NOW", "unknown: the recorder had seen no message, or the file lost this part"),
    }
}

fn write_outside(out: &mut String, a: &Analysis, outside: &Outside) {
    let cpu = cpu(outside.cpu_ns, outside.age_ns());
    // Without a start it began after the last message, and its age is the most that it can be.
    let (bound, from) = if outside.start_ns.is_none() { ("at most ", "not before") } else { ("", "since") };
    let age = age(outside.age_ns());
    let title = token::title(outside.token);
    let at = format_relative(ms_between(outside.start_ns.unwrap_or(outside.after_ns), a.dump_ns));
    heading(out, "NOW", &format!("busy {title}, for {bound}{age}{cpu}, {from} {at}"));
    if let Some(place) = a.outside_words(outside.token) {
        line(out, format!("  in {}", paint(style::NAME, place)));
    }
}

fn write_running(out: &mut String, a: &Analysis, running: &Running) {
    let token = running.token;
    let (age, cpu) = (age(running.age_ns()), cpu(running.cpu_ns, running.age_ns()));
    let since = format_relative(ms_between(running.start_ns, a.dump_ns));
    heading(out, "NOW", &format!("message #{token} running for {age}{cpu}, since {since}"));
    match &running.message {
        Some(message) => {
            let name = a.message_title(token, message);
            let by = match message.named_by {
                // The name says it.
                NamedBy::Lifecycle(_) | NamedBy::Peek => String::new(),
                by => format!("  (named by {})", by.name()),
            };
            line(out, format!("  {}{by}", paint(style::NAME, name)));
        }
        None => line(out, "  the hook knows its name only after it ends; see its stacks"),
    }
    let before_ns = a.before_install_ns(running.start_ns, running.age_ns());
    if ms(before_ns) > 0.0 {
        line(out, format!("  {}", before_install(before_ns)));
    }
    if running.depth > 1 {
        line(out, format!("  inside {} nested Looper.loop() calls", running.depth - 1));
    }
}

fn write_stacks(out: &mut String, a: &Analysis, token: Token, of: &str, options: Options) {
    match a.tree(token) {
        Some(tree) => stacks::write(out, a, tree, options),
        None => line(out, paint(QUIET, format!("  no stack of {of} was sampled"))),
    }
}

fn age(ns: u64) -> String {
    paint(style::wall_time(ms(ns)), format_ns(ns))
}

fn cpu(cpu_ns: Option<u64>, age_ns: u64) -> String {
    let age_ms = ms(age_ns);
    match cpu_ns {
        Some(cpu) if age_ms > 0.0 => format!(", cpu {} ({:.0} %)", format_ns(cpu), 100.0 * ms(cpu) / age_ms),
        Some(cpu) => format!(", cpu {}", format_ns(cpu)),
        None => ", cpu unknown".into(),
    }
}

/// The words for the part of a message that has no stacks, because the sampler was not running yet.
pub(super) fn before_install(ns: u64) -> String {
    format!("{} of it before the recorder was installed: no stacks of that part", format_ns(ns))
}
