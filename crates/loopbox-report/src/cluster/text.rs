//! The result of clustering as text for a terminal. Lines have ANSI styles; strip them for plain text.

use super::amount::Amount;
use super::cardinality::NameCount;
use super::summary::{Group, Summary};
use crate::model::plural::plural;
use crate::model::sanitize::sanitize;
use crate::model::time::day;
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;

const QUIET: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const NAME: Style = AnsiColor::Cyan.on_default();

/// The summary as text, with at most `limit` groups.
pub fn text(summary: &Summary, limit: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{STRONG}{}{STRONG:#}", summary.headline());
    for (i, group) in summary.groups.iter().take(limit).enumerate() {
        out.push('\n');
        write_group(&mut out, i + 1, group, summary.rate_in_words(group));
    }
    if summary.groups.len() > limit {
        let mut rest = Amount::default();
        summary.groups[limit..].iter().for_each(|group| rest.add(&group.amount));
        let groups = plural((summary.groups.len() - limit) as u64, "more group");
        let _ = writeln!(out, "\n{QUIET}{groups} with {} (--limit){QUIET:#}", rest.in_words());
    }
    if summary.beyond > 0 {
        let _ = writeln!(out, "\nin no group, because there are too many groups: {} of them", summary.beyond);
    }
    if !summary.recorder.is_empty() {
        let _ = writeln!(out, "\nrecorder, in {}:", plural(summary.amount.reports, "report"));
        for part in &summary.recorder {
            let _ = writeln!(
                out,
                "  {:<9} off in {}: {}",
                part.name.as_str(),
                part.reports,
                part.reasons_in_words()
            );
        }
    }
    out
}

fn write_group(out: &mut String, rank: usize, group: &Group, rate: Option<String>) {
    let share = 100.0 * group.share;
    let _ = writeln!(
        out,
        "{STRONG}{rank:>3}. {} ({share:.1} %){STRONG:#}  {QUIET}[{}]{QUIET:#}  {}",
        group.amount.in_words(),
        group.id,
        group.counts()
    );
    let _ = writeln!(out, "     {NAME}{}{NAME:#}  {}", group.title(), causes(group));
    if group.frames.len() > 1 {
        let _ = writeln!(out, "     path      {}", group.frames.join(" > "));
    }
    if let Some(rate) = rate {
        let _ = writeln!(out, "     rate      {rate}");
    }
    for (what, named) in [
        ("messages", &group.top_messages),
        ("ANR", &group.anr_verdicts),
        ("versions", &group.top_versions),
        ("devices", &group.top_devices),
    ] {
        if !named.is_empty() {
            let _ = writeln!(out, "     {what:<9} {}", list(named, group.amount.counted()));
        }
    }
    if let Some((first, last)) = days(group) {
        let seen = if first == last { first } else { format!("{first} to {last}") };
        let _ = writeln!(out, "     seen      {seen}");
    }
    if !group.obfuscated_version.is_empty() {
        let _ = writeln!(out, "     names are obfuscated; --mapping deobfuscates them and joins versions");
    }
    let _ = writeln!(out, "     open      {}", sanitize(&group.representative.path, usize::MAX));
    let _ = writeln!(out, "               {}", group.representative.headline);
}

/// The rules of a group's causes; with the share of each if there are several: `lock (70 %), sleep (30 %)`.
pub(super) fn causes(group: &Group) -> String {
    match group.top_causes.as_slice() {
        [only] => only.name.clone(),
        several => list(several, group.amount.counted()),
    }
}

/// The names, each with its share in `of` reports: `5.2.1 (70 %), 5.2.0 (30 %)`.
fn list(named: &[NameCount], of: u64) -> String {
    let one = |n: &NameCount| format!("{} ({:.0} %)", n.name, 100.0 * n.reports as f64 / of.max(1) as f64);
    named.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The days of the first and the last report, UTC.
pub(super) fn days(group: &Group) -> Option<(String, String)> {
    Some((day(group.first_ms?)?, day(group.last_ms?)?))
}
