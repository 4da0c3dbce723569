//! A comparison as text for a terminal. Lines have ANSI styles; strip them for plain text.

use super::{ChangeKind, Comparison, Side};
use crate::cluster::rate::Unit;
use crate::model::plural::plural;
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;

const QUIET: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const NAME: Style = AnsiColor::Cyan.on_default();

/// The groups that changed, and the number of those that did not.
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    let c = comparison;
    let side = |side: &Side| {
        let reports = plural(side.reports, "report");
        if c.unit.0 == Unit::Reports {
            format!("{} ({reports})", side.name)
        } else {
            format!("{} ({reports}, {} {})", side.name, side.of, c.unit)
        }
    };
    let _ = writeln!(out, "{STRONG}{} → {}{STRONG:#}", side(&c.before), side(&c.after));
    let verdict = if c.failed { BAD } else { GOOD };
    let _ = writeln!(out, "{verdict}{}{verdict:#}", c.verdict());
    let _ = writeln!(
        out,
        "{QUIET}affected of 1,000 {}, with 95 % intervals; changes for all groups at once{QUIET:#}",
        c.unit
    );
    for change in c.groups.iter().filter(|change| change.change != ChangeKind::Same) {
        let style = match change.change {
            _ if change.fails => BAD,
            ChangeKind::Gone | ChangeKind::Better => GOOD,
            _ => STRONG,
        };
        let doubt =
            if change.certain || change.change == ChangeKind::Incomparable { "" } else { ", may be chance" };
        let _ = writeln!(
            out,
            "\n{style}{}{style:#}{doubt}  {NAME}{}{NAME:#}  {}  {QUIET}[{}]{QUIET:#}",
            change.change.as_str(),
            change.title,
            change.cause,
            change.id
        );
        let _ = writeln!(
            out,
            "     {} → {}, difference {}",
            change.before.text(),
            change.after.text(),
            change.difference.text()
        );
        let _ = writeln!(out, "     open  {}", change.open);
    }
    let count = |kind| c.groups.iter().filter(|change| change.change == kind).count() as u64;
    let same = count(ChangeKind::Same);
    if same > 0 {
        let _ = writeln!(out, "\n{QUIET}the same, as far as is known: {}{QUIET:#}", plural(same, "group"));
    }
    if count(ChangeKind::Incomparable) > 0 {
        let _ = writeln!(out, "\nobfuscated names cannot be compared: --mapping deobfuscates them");
    }
    out
}
