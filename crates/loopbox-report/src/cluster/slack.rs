//! The groups as the message of a Slack webhook.

use super::summary::{Group, Summary};
use super::text::{causes, days};
use crate::model::plural::plural;
use crate::render::json_text;
use crate::render::slack_text::{MAX_BLOCKS, code, context, escape, header, section};
use serde_json::json;

/// The number of blocks that are not groups: the header, the line below it, and the last line.
const OTHER_BLOCKS: usize = 3;

/// The JSON of a webhook message, with at most `limit` groups; `None` where there is no group to write about.
///
/// # Errors
/// When it cannot be written as JSON, which does not happen.
pub fn slack(summary: &Summary, limit: usize) -> serde_json::Result<Option<String>> {
    if summary.groups.is_empty() {
        return Ok(None);
    }
    let shown = summary.groups.len().min(limit).min(MAX_BLOCKS - OTHER_BLOCKS);
    let new = if summary.known.is_some() { "new problem" } else { "problem" };
    let title = plural(summary.groups.len() as u64, new);
    let mut blocks = vec![header(&title), context(&escape(&summary.headline()))];
    blocks.extend(summary.groups.iter().take(shown).map(|group| section(&of_group(summary, group))));
    if summary.groups.len() > shown {
        blocks.push(context(&format!("{} not in this message", summary.groups.len() - shown)));
    }
    let first = summary.groups.first().map(|group| escape(group.title())).unwrap_or_default();
    json_text(&json!({"text": format!("{title}: {first}"), "blocks": blocks})).map(Some)
}

fn of_group(summary: &Summary, group: &Group) -> String {
    let mut lines = vec![format!("*{}*", code(group.title()))];
    let counts = [group.amount.in_words(), format!("{:.1} %", 100.0 * group.share), group.counts()];
    let known: Vec<String> =
        counts.into_iter().filter(|count| !count.is_empty()).chain(summary.rate_in_words(group)).collect();
    lines.push(escape(&known.join(" · ")));
    lines.push(escape(&format!("cause {}", causes(group))));
    if let Some((first, last)) = days(group) {
        lines.push(if first == last { format!("seen {first}") } else { format!("seen {first} to {last}") });
    }
    lines.push(escape(&group.representative.headline));
    lines.push(format!("open {}", code(&group.representative.path)));
    lines.join("\n")
}
