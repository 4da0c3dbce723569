//! What the page shows without its script: the report's subject, the verdict, whether it is an ANR and how
//! the process ended, and the stack at the dump as text to copy.

use crate::derive::{self, about_device, last_stack, process_name, reason, written_at};
use crate::diagnose::{Cause, Diagnosis};
use crate::model::anr_words::{exit_reason, known_exit_reason, verdict_summary};
use crate::model::memory_limit::format_bytes;
use crate::model::time::{format_ms, format_ns, ms_between};
use crate::model::{Analysis, token};
use crate::render::escape::{breakable, escape};
use crate::render::stack_text;
use loopbox_format::model::{AnrVerdict, Named};
use std::fmt::Write as _;

/// The header of the page.
pub(super) fn about(a: &Analysis) -> String {
    let (meta, process) = (&a.meta, &a.meta.process);
    let mut out = format!("<h1>{}</h1>\n", escape(process_name(a)));
    let mut line = |text: &str| {
        let _ = writeln!(out, "<p class=\"sub\">{}</p>", escape(text));
    };
    let mut about = about_device(a);
    if process.pid > 0 {
        about.push(format!("pid {}", process.pid));
    }
    line(&about.join(" · "));
    let recorder = match meta.producer.as_str() {
        _ if a.is_trace_alone() => String::new(),
        "" => ", by an unknown recorder".into(),
        producer => format!(", by {producer}"),
    };
    line(&format!("written {}, {}{recorder}", written_at(a), reason(a)));
    if let Some(after_ns) = a.install_after_start_ns() {
        line(&format!("the recorder was installed {} after the process started", format_ns(after_ns)));
    }
    for (name, value) in &meta.annotations {
        line(&format!("{name}: {value}"));
    }
    out
}

/// The verdict with its evidence, and the other possible causes.
pub(super) fn verdict(a: &Analysis, verdict: &Diagnosis) -> String {
    let level = verdict.confidence.map_or("", |level| level.as_str());
    let mut out = format!("<div class=\"card verdict {level}\">\n<h2>{}", escape(&verdict.headline));
    if !level.is_empty() {
        let _ = write!(out, "<span class=\"tag {level}\">{level} confidence</span>");
    }
    out.push_str("</h2>\n");
    account(&mut out, verdict);
    let first = verdict.primary_cause();
    if let Some(cause) = first {
        evidence(&mut out, cause);
    }
    for caveat in &verdict.caveats {
        let _ = writeln!(out, "<p class=\"warn\">⚠ {}</p>", escape(caveat));
    }
    let others = &verdict.causes[usize::from(first.is_some())..];
    if !others.is_empty() {
        let causes = if others.len() > 1 { "causes" } else { "cause" };
        let _ = writeln!(out, "<details><summary>{} more possible {causes}</summary>", others.len());
        for cause in others {
            let level = cause.confidence.as_str();
            let title = escape(&cause.title);
            let _ = writeln!(out, "<h3>{title}<span class=\"tag {level}\">{level}</span></h3>");
            evidence(&mut out, cause);
        }
        out.push_str("</details>\n");
    }
    out.push_str("</div>\n");
    anr(&mut out, a);
    out
}

/// Where the time of the message went, as one bar with its legend.
fn account(out: &mut String, verdict: &Diagnosis) {
    let Some(account) = &verdict.account else { return };
    let (mut bar, mut legend, mut words) = (String::new(), String::new(), Vec::new());
    let mut x = 0.0;
    for part in account.shown_parts() {
        let (class, text) = (part.time_use.name(), part.words());
        let width = part.share * 1e3;
        let _ = write!(
            bar,
            "<rect class=\"use-{class}\" x=\"{x:.0}\" width=\"{width:.0}\" height=\"14\"><title>{}</title></rect>",
            escape(&text)
        );
        let _ = write!(legend, "<li><i class=\"use-{class}\"></i>{}</li>", escape(&text));
        words.push(text);
        x += width;
    }
    if words.is_empty() {
        return;
    }
    let of = format!("Where the {} of {} went", format_ms(account.wall_ms), token::title(account.token));
    let _ = writeln!(
        out,
        "<figure class=\"account\"><figcaption class=\"sub\">{of}</figcaption><svg viewBox=\"0 0 1000 14\" \
         preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{of}: {}\">{bar}</svg><ul class=\"legend\">{legend}</ul></figure>",
        escape(&words.join(", "))
    );
}

fn evidence(out: &mut String, cause: &Cause) {
    list(out, &cause.evidence);
    if let Some(culprit) = &cause.culprit {
        let _ = writeln!(out, "<p>Look at <strong>{}</strong></p>", breakable(culprit));
    }
    if cause.path.len() > 1 {
        let _ = writeln!(out, "<p class=\"sub\">on the way: {}</p>", breakable(&cause.path.join(" > ")));
    }
    if !cause.advice.is_empty() {
        let _ = writeln!(out, "<p class=\"sub\">{}</p>", escape(cause.advice));
    }
    // The script puts a button there, when there are stacks of it.
    if let Some(token) = cause.token {
        let _ = writeln!(out, "<span data-stacks=\"{token}\"></span>");
    }
}

fn list(out: &mut String, lines: &[String]) {
    if !lines.is_empty() {
        let lines: Vec<String> = lines.iter().map(|line| format!("<li>{}</li>", breakable(line))).collect();
        let _ = writeln!(out, "<ul>{}</ul>", lines.concat());
    }
}

/// Writes whether the report is of an ANR, and how the process ended.
fn anr(out: &mut String, a: &Analysis) {
    let (summary, evidence) = (verdict_summary(&a.anr), derive::evidence(a));
    if summary.is_empty() && evidence.is_empty() {
        return;
    }
    let level = match a.anr.verdict {
        AnrVerdict::Confirmed | AnrVerdict::Probable => "high",
        AnrVerdict::Hang => "medium",
        _ => "low",
    };
    let title = if summary.is_empty() { "not decided" } else { summary };
    let _ = writeln!(
        out,
        "<div class=\"card anr\" id=\"anr\">\n<h2>ANR: {title}<span class=\"tag {level}\">{}</span></h2>",
        a.anr.verdict.name()
    );
    list(out, &evidence);
    if let Some(exit) = &a.anr.exit {
        let _ = writeln!(
            out,
            "<dl><dt>process ended by</dt><dd>{}{}</dd><dt>in the system's words</dt><dd>{}</dd></dl>",
            escape(&exit_reason(exit)),
            known_exit_reason(exit).map(|_| format!(" ({})", exit.reason)).unwrap_or_default(),
            escape(if exit.description.is_empty() { "none" } else { &exit.description })
        );
    }
    out.push_str("</div>\n");
}

/// The stack of the main thread at the dump: its native frames, then those of Java, with recursion folded.
/// Empty when the report has neither.
pub(super) fn stack(a: &Analysis) -> String {
    let lines = stack_text(a);
    if lines.is_empty() {
        return String::new();
    }
    let when = last_stack(a).map_or(0.0, |stack| ms_between(a.dump_ns, stack.at_ns));
    let about = if when > 0.05 {
        format!("as of {} before the dump", format_ms(when))
    } else {
        "as of the dump".into()
    };
    format!(
        "<section aria-labelledby=\"stack-title\" id=\"stack-section\">\n<div class=\"bar\"><h2 id=\"stack-title\">Stack of the main \
         thread</h2><span class=\"help\">{about}</span><div class=\"tools\" data-copy=\"stack\"></div></div>\n\
         <pre class=\"card scroll\" id=\"stack\" tabindex=\"0\" role=\"region\" aria-label=\"The stack as text\">{}</pre>\n</section>\n",
        escape(&lines.join("\n"))
    )
}

/// A statistic in readable form: `775 MiB` for a number of bytes, `12.5 %`, `1.25 s`. The unit moves from the
/// name to the value.
pub(super) fn statistic(name: &str, value: &str) -> [String; 2] {
    let Ok(number) = value.trim().parse::<f64>() else { return [name.to_owned(), value.to_owned()] };
    let unit = ["_bytes", "_ns", "_ms", "_percent"].into_iter().find(|unit| name.ends_with(unit));
    let shown = match unit {
        Some("_bytes") => format_bytes(number as u64),
        Some("_ns") if (1.0..50_000.0).contains(&number) => format!("{:.1} µs", number / 1e3),
        Some("_ns") => format_ms(number / 1e6),
        Some("_ms") => format_ms(number),
        Some(_) => format!("{value} %"),
        None => value.to_owned(),
    };
    [name.strip_suffix(unit.unwrap_or_default()).unwrap_or(name).to_owned(), shown]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::diagnose;
    use crate::test_support::ReportBuilder;

    #[test]
    fn the_bar_of_the_account_has_all_of_the_time() {
        let report =
            ReportBuilder::new().running(99, 5_000).with(|report| report.anr.frozen_ns = 4_000_000_000);
        let a = Analysis::new(&report.build());
        let page = verdict(&a, &diagnose(&a));
        for part in [
            "<rect class=\"use-frozen\" x=\"0\" width=\"800\"",
            "<rect class=\"use-on_cpu\" x=\"800\" width=\"200\"",
            "aria-label=\"Where the 5.00 s of message #99 went: 80 % frozen or stopped, 20 % on the CPU\"",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let idle = Analysis::new(&ReportBuilder::new().build());
        assert!(!verdict(&idle, &diagnose(&idle)).contains("<figure"));
    }

    #[test]
    fn figures_have_the_units_of_people() {
        for (name, value, shown, wanted) in [
            ("mem.available_bytes", "812345678", "mem.available", "775 MiB"),
            ("mem.total_bytes", "3823423488", "mem.total", "3.6 GiB"),
            ("mem.swap_free_bytes", "0", "mem.swap_free", "0 bytes"),
            ("main.ran_ns", "1250000000", "main.ran", "1.25 s"),
            ("sampler.longest_stop_ns", "9100", "sampler.longest_stop", "9.1 µs"),
            ("sampler.stopped_ns", "0", "sampler.stopped", "0.0 ms"),
            ("gc.time_ms", "1250", "gc.time", "1.25 s"),
            ("psi.cpu.some_avg10_percent", "12.5", "psi.cpu.some_avg10", "12.5 %"),
            ("process.threads", "41", "process.threads", "41"),
            ("odd_bytes", "many", "odd_bytes", "many"),
        ] {
            assert_eq!(statistic(name, value), [shown, wanted], "{name}");
        }
    }
}
