//! The diagnosis: short at the top of a report, in full for `loopbox diagnose`.

use super::anr;
use super::layout::{heading, line};
use super::style::{BAD, GOOD, HEADING, NAME, QUIET, Style, WARN, paint};
use crate::diagnose::{Confidence, Diagnosis};
use crate::model::Analysis;

fn style(confidence: Option<Confidence>) -> Style {
    match confidence {
        Some(Confidence::High) => BAD,
        Some(Confidence::Medium) => WARN,
        _ => HEADING,
    }
}

fn confidence_note(confidence: Option<Confidence>) -> String {
    confidence.map(|c| format!("  ({} confidence)", c.as_str())).unwrap_or_default()
}

/// The first cause with its evidence, and the names of the others.
pub(super) fn write_short(out: &mut String, v: &Diagnosis) {
    heading(
        out,
        "VERDICT",
        &format!("{}{}", paint(style(v.confidence), &v.headline), confidence_note(v.confidence)),
    );
    if let Some(first) = v.causes.first().filter(|_| v.confidence.is_some()) {
        for evidence in &first.evidence {
            line(out, format!("  - {evidence}"));
        }
    }
    let others = v.causes.iter().skip(usize::from(v.confidence.is_some()));
    for other in others.take(3) {
        line(out, paint(QUIET, format!("  also possible ({}): {}", other.confidence.as_str(), other.title)));
    }
    for caveat in &v.caveats {
        line(out, format!("  {} {caveat}", paint(WARN, "!")));
    }
}

/// All possible causes.
pub(super) fn write_full(out: &mut String, a: &Analysis, v: &Diagnosis) {
    heading(
        out,
        "VERDICT",
        &format!("{}{}", paint(style(v.confidence), &v.headline), confidence_note(v.confidence)),
    );
    for (i, cause) in v.causes.iter().enumerate() {
        out.push('\n');
        let rule = paint(NAME, cause.rule);
        let confidence = paint(style(Some(cause.confidence)), cause.confidence.as_str());
        line(out, format!("{}. {}  [{rule}, {confidence}, score {:.2}]", i + 1, cause.title, cause.score));
        for evidence in &cause.evidence {
            line(out, format!("     - {evidence}"));
        }
        if let Some(culprit) = &cause.culprit {
            line(out, format!("     look at: {}", paint(HEADING, culprit)));
        }
        if !cause.advice.is_empty() {
            line(out, format!("     {}", paint(GOOD, cause.advice)));
        }
    }
    anr::write(out, a);
    if !v.caveats.is_empty() {
        heading(out, "CAVEATS", "");
        for caveat in &v.caveats {
            line(out, format!("  {} {caveat}", paint(WARN, "!")));
        }
    }
}
