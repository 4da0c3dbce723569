//! The diagnosis: short at the top of a report, in full for `loopbox diagnose`.

use super::anr;
use super::layout::{heading, line};
use super::style::{BAD, GOOD, HEADING, NAME, QUIET, Style, WARN, paint};
use crate::diagnose::{AccountPart, Confidence, Diagnosis};
use crate::model::time::format_ms;
use crate::model::{Analysis, token};

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

/// Writes where the time went, in one line:
/// `time (message #46, 5.50 s): 80 % frozen or stopped · 20 % on the CPU`.
fn account(out: &mut String, v: &Diagnosis, indent: &str) {
    let Some(account) = &v.account else { return };
    let parts: Vec<String> = account.shown_parts().map(AccountPart::words).collect();
    if parts.is_empty() {
        return;
    }
    let of = token::title(account.token);
    let all = format!("{indent}time ({of}, {}): {}", format_ms(account.wall_ms), parts.join(" · "));
    line(out, paint(QUIET, all));
}

/// Writes the first cause with its evidence, the titles of up to three other causes, and the caveats.
pub(super) fn write_short(out: &mut String, v: &Diagnosis) {
    heading(
        out,
        "VERDICT",
        &format!("{}{}", paint(style(v.confidence), &v.headline), confidence_note(v.confidence)),
    );
    account(out, v, "  ");
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

/// Writes all possible causes.
pub(super) fn write_full(out: &mut String, a: &Analysis, v: &Diagnosis) {
    heading(
        out,
        "VERDICT",
        &format!("{}{}", paint(style(v.confidence), &v.headline), confidence_note(v.confidence)),
    );
    account(out, v, "");
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
        if cause.path.len() > 1 {
            line(out, format!("     on the way: {}", paint(QUIET, cause.path.join(" > "))));
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
