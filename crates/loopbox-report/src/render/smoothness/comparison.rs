//! A comparison as text.

use super::text::number;
use crate::smoothness::{Comparison, MetricChange, Verdict};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;

const STRONG: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const PLAIN: Style = Style::new();

/// The comparison as text: the changes on each screen with their verdicts, for at most `limit` screens.
pub fn comparison_text(comparison: &Comparison, limit: usize) -> String {
    let mut out = String::new();
    for scene in comparison.scenes.iter().take(limit.max(1)) {
        let _ = writeln!(
            out,
            "{STRONG}{}{STRONG:#}  {} users or reports against {}",
            scene.scene, scene.base_users, scene.variant_users
        );
        scene.metrics.iter().for_each(|change| line(&mut out, change));
        out.push('\n');
    }
    for unknown in &comparison.unknown {
        let _ = writeln!(out, "{BAD}not known: {unknown}: the reports do not have that figure{BAD:#}");
    }
    for failed in &comparison.failed {
        let _ = writeln!(out, "{BAD}failed: {failed}{BAD:#}");
    }
    out
}

fn line(out: &mut String, change: &MetricChange) {
    let (style, words) = match change.verdict {
        Verdict::Better => (GOOD, "better"),
        Verdict::Worse => (BAD, "worse"),
        Verdict::CannotTell => (PLAIN, "cannot tell"),
    };
    let percent = change.change_percent.map(|percent| format!(" ({percent:+.1} %)")).unwrap_or_default();
    let by = change.change.map(|change| format!("{change:+.2}{percent}")).unwrap_or_default();
    let interval = change
        .interval
        .map(|[low, high]| format!(", 95 % between {low:+.2} and {high:+.2}"))
        .unwrap_or_default();
    let unit = if change.unit.is_empty() { String::new() } else { format!(" {}", change.unit) };
    let _ = writeln!(
        out,
        "  {:<14} {} -> {}{unit}  {by}{interval}  {style}{words}{style:#}",
        change.metric,
        number(change.base),
        number(change.variant)
    );
}
