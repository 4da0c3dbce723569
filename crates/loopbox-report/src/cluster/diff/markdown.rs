//! A comparison as CommonMark with a table, for a pull request. Texts of reports cannot become markup.

use super::{ChangeKind, Comparison, Side};
use crate::model::plural::plural;
use crate::render::commonmark::escape;
use std::fmt::Write as _;

/// A table of the groups that changed, and the number of those that did not.
pub fn markdown(comparison: &Comparison) -> String {
    let c = comparison;
    let side = |side: &Side| format!("{} ({})", escape(&side.name), plural(side.reports, "report"));
    let mut out = format!("## Hangs: {} → {}\n\n", side(&c.before), side(&c.after));
    let _ = writeln!(out, "**{}**\n", c.verdict());
    let changed: Vec<_> = c.groups.iter().filter(|change| change.change != ChangeKind::Same).collect();
    if !changed.is_empty() {
        out.push_str("| | problem | cause | before | after | difference |\n|---|---|---|---|---|---|\n");
    }
    for change in &changed {
        let mark = if change.fails { "❌ " } else { "" };
        let doubt =
            if change.certain || change.change == ChangeKind::Incomparable { "" } else { ", may be chance" };
        let _ = writeln!(
            out,
            "| {mark}{}{doubt} | {} | {} | {} | {} | {} |",
            change.change.as_str(),
            escape(&change.title),
            escape(&change.cause),
            change.before.text(),
            change.after.text(),
            change.difference.text()
        );
    }
    if !changed.is_empty() {
        let _ = writeln!(
            out,
            "\nAffected of 1,000 {}, with 95 % intervals; differences for all groups at once.",
            c.unit
        );
    }
    let same = c.groups.len() - changed.len();
    if same > 0 {
        let _ = writeln!(out, "\nThe same, as far as is known: {}.", plural(same as u64, "group"));
    }
    out
}
