//! The verdict as CommonMark. Texts of the report cannot become markup.

use super::about::about;
use super::stacks;
use crate::diagnose::{Cause, Diagnosis};
use crate::model::Analysis;
use crate::model::anr_words::verdict_summary;
use crate::render::commonmark::{block, code, escape};
use std::fmt::Write as _;

pub(super) fn write(a: &Analysis, verdict: &Diagnosis) -> String {
    let mut out = format!("## {}\n\n", escape(&verdict.headline));
    let confidence = verdict.confidence.map(|level| format!("**{} confidence**", level.as_str()));
    let anr = Some(verdict_summary(&a.anr)).filter(|summary| !summary.is_empty());
    let anr = anr.map(|summary| format!("ANR: {summary}"));
    let about = about(a).into_iter().map(|text| escape(&text));
    let line: Vec<String> = confidence.into_iter().chain(anr).chain(about).collect();
    let _ = writeln!(out, "{}\n", line.join(" · "));
    let first = verdict.primary_cause();
    if let Some(cause) = first {
        write_cause(&mut out, cause);
    }
    for caveat in &verdict.caveats {
        let _ = writeln!(out, "⚠ {}\n", escape(caveat));
    }
    let others = &verdict.causes[usize::from(first.is_some())..];
    if !others.is_empty() {
        out.push_str("### Other possible causes\n\n");
        for cause in others {
            let _ = writeln!(out, "* {} ({})", escape(&cause.title), cause.confidence.as_str());
        }
        out.push('\n');
    }
    let stack = stacks::of_main(a);
    if !stack.is_empty() {
        out.push_str("### Stack of the main thread at the dump\n\n");
        out.push_str(&block(&stack));
    }
    if let Some((holder, stack)) = stacks::of_holder(a) {
        let _ = write!(out, "### Stack of thread {}, which main waits for\n\n", escape(&holder.name));
        out.push_str(&block(&stack));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn write_cause(out: &mut String, cause: &Cause) {
    for line in &cause.evidence {
        let _ = writeln!(out, "* {}", escape(line));
    }
    if !cause.evidence.is_empty() {
        out.push('\n');
    }
    if let Some(culprit) = &cause.culprit {
        let _ = writeln!(out, "Look at {}\n", code(culprit));
    }
    if !cause.advice.is_empty() {
        let _ = writeln!(out, "> {}\n", escape(cause.advice));
    }
}
