//! The verdict as the JSON of a Slack webhook: <https://docs.slack.dev/reference/block-kit/blocks>.

use super::about::about;
use crate::render::json::ReportView;
use crate::render::stack_text;
use serde_json::{Value, json};

/// What Slack takes of a header, and of the text of a section, in characters.
const MAX_HEADER: usize = 150;
const MAX_SECTION: usize = 3_000;

pub(super) fn message(view: &ReportView) -> Value {
    let verdict = &view.verdict;
    let section = |text: String| json!({"type": "section", "text": {"type": "mrkdwn", "text": text}});
    let context = |text: String| json!({"type": "context", "elements": [{"type": "mrkdwn", "text": text}]});
    let mut blocks = vec![
        json!({"type": "header", "text": {"type": "plain_text", "text": cut(&verdict.headline, MAX_HEADER), "emoji": false}}),
        context(cut(&escape(&about(view).join(" · ")), MAX_SECTION)),
    ];
    let mut lines: Vec<String> =
        verdict.confidence.map(|level| format!("*{} confidence*", level.as_str())).into_iter().collect();
    if !view.anr.summary.is_empty() {
        lines.push(format!("ANR: {}", view.anr.summary));
    }
    if let Some(cause) = verdict.primary_cause() {
        lines.extend(cause.evidence.iter().map(|line| format!("• {}", escape(line))));
        lines.extend(cause.culprit.iter().map(|culprit| format!("Look at {}", code(culprit))));
        if !cause.advice.is_empty() {
            lines.push(format!("_{}_", escape(cause.advice)));
        }
    }
    if !lines.is_empty() {
        blocks.push(section(cut(&lines.join("\n"), MAX_SECTION)));
    }
    let stack = stack_text(view).join("\n");
    if !stack.is_empty() {
        let stack = cut(&escape(&stack).replace('`', "'"), MAX_SECTION - 8);
        blocks.push(section(format!("```\n{stack}\n```")));
    }
    blocks.extend(
        verdict.caveats.iter().map(|caveat| context(cut(&format!("⚠ {}", escape(caveat)), MAX_SECTION))),
    );
    json!({"text": verdict.headline, "blocks": blocks})
}

/// Slack's own three escapes: what would be a link, a user or a channel otherwise is text.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn code(text: &str) -> String {
    format!("`{}`", escape(text).replace('`', "'"))
}

/// The start of a text; an escape is not cut in two.
fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut head: String = text.chars().take(max - 1).collect();
    if let Some(at) = head.rfind('&')
        && !head[at..].contains(';')
    {
        head.truncate(at);
    }
    head + "…"
}
