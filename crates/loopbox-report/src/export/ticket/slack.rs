//! The verdict as the JSON of a Slack webhook: <https://docs.slack.dev/reference/block-kit/blocks>.

use super::about::about;
use super::stacks;
use crate::diagnose::Diagnosis;
use crate::model::Analysis;
use crate::model::anr_words::verdict_summary;
use crate::model::harmless;
use serde_json::{Value, json};

/// What Slack takes of a header, and of the text of a section, in characters.
const MAX_HEADER: usize = 150;
const MAX_SECTION: usize = 3_000;

pub(super) fn message(a: &Analysis, verdict: &Diagnosis) -> Value {
    // Verbatim: without it Slack looks for channels, users and addresses in what is text.
    let mrkdwn = |text: String| json!({"type": "mrkdwn", "text": text, "verbatim": true});
    let section = |text: String| json!({"type": "section", "text": mrkdwn(text)});
    let context = |text: String| json!({"type": "context", "elements": [mrkdwn(text)]});
    let headline = escape(&verdict.headline);
    let mut blocks = vec![
        json!({"type": "header", "text": {"type": "plain_text", "text": cut(&plain(&verdict.headline), MAX_HEADER), "emoji": false}}),
        context(cut(&escape(&about(a).join(" · ")), MAX_SECTION)),
    ];
    let mut lines: Vec<String> =
        verdict.confidence.map(|level| format!("*{} confidence*", level.as_str())).into_iter().collect();
    let anr = verdict_summary(&a.anr);
    if !anr.is_empty() {
        lines.push(format!("ANR: {}", escape(anr)));
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
    let in_block = |lines: &[String]| {
        let lines: Vec<String> = lines.iter().map(|line| in_code(line)).collect();
        format!("```\n{}\n```", cut(&lines.join("\n"), MAX_SECTION - 8))
    };
    let stack = stacks::of_main(a);
    if !stack.is_empty() {
        blocks.push(section(in_block(&stack)));
    }
    if let Some((holder, stack)) = stacks::of_holder(a) {
        blocks.push(context(cut(
            &format!("Thread {}, which main waits for:", escape(&holder.name)),
            MAX_SECTION,
        )));
        blocks.push(section(in_block(&stack)));
    }
    blocks.extend(
        verdict.caveats.iter().map(|caveat| context(cut(&format!("⚠ {}", escape(caveat)), MAX_SECTION))),
    );
    // What notifications show; it is mrkdwn, too.
    json!({"text": headline, "blocks": blocks})
}

/// Text of one line in a text object of either kind. By Slack's own three escapes a link, a user or a channel
/// is text.
fn plain(text: &str) -> String {
    harmless(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// [`plain`] where `mrkdwn` is read. Slack has no escape for what it makes bold, italic, struck out or code;
/// it does that only next to blanks and punctuation, not next to a space of no width.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let text = plain(text);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // A name with underscores stays as it is, to be copied.
        let within_a_name = before.is_alphanumeric() && rest.peek().is_some_and(|c| c.is_alphanumeric());
        match c {
            '_' if within_a_name => out.push(c),
            '*' | '_' | '~' | '`' => out.extend(['\u{200B}', c, '\u{200B}']),
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// [`plain`] between backticks, which have no escape.
fn in_code(text: &str) -> String {
    plain(text).replace('`', "'")
}

fn code(text: &str) -> String {
    format!("`{}`", in_code(text))
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
