//! Text of reports in Slack messages: it mentions no user or channel, and is not formatted.
//! <https://docs.slack.dev/reference/block-kit/blocks> has the limits.

use crate::model::harmless;
use serde_json::{Value, json};

/// The most characters that Slack accepts in a header.
pub(crate) const MAX_HEADER: usize = 150;
/// How many characters a section's text may have.
pub(crate) const MAX_SECTION: usize = 3_000;
/// The most blocks that Slack accepts in a message.
pub(crate) const MAX_BLOCKS: usize = 50;

/// A header block: a line in bold.
pub(crate) fn header(text: &str) -> Value {
    let text = cut(&plain(text), MAX_HEADER);
    json!({"type": "header", "text": {"type": "plain_text", "text": text, "emoji": false}})
}

/// A section block: a paragraph of escaped text.
pub(crate) fn section(text: &str) -> Value {
    json!({"type": "section", "text": mrkdwn(text)})
}

/// A context block: a paragraph of escaped text in small letters.
pub(crate) fn context(text: &str) -> Value {
    json!({"type": "context", "elements": [mrkdwn(text)]})
}

/// Text marked as verbatim: otherwise Slack finds channels, users and addresses in plain text.
fn mrkdwn(text: &str) -> Value {
    json!({"type": "mrkdwn", "text": cut(text, MAX_SECTION), "verbatim": true})
}

/// A line of text for a text object of Slack, of either type: `plain_text` or `mrkdwn`. `&`, `<` and `>` are
/// escaped, so Slack shows `<...>` as text, not as a link or a mention of a user or channel.
pub(crate) fn plain(text: &str) -> String {
    harmless(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// [`plain`] for a place where `mrkdwn` is read. Slack has no escape for the marks of bold, italic,
/// struck-out text and code. It interprets them only next to blanks and punctuation, and not next to a
/// zero-width space.
pub(crate) fn escape(text: &str) -> String {
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

/// [`plain`] for a place between backticks. Slack has no escape for a backtick, so each becomes `'`.
pub(crate) fn in_code(text: &str) -> String {
    plain(text).replace('`', "'")
}

/// A text as a span of code: [`in_code`] between backticks.
pub(crate) fn code(text: &str) -> String {
    format!("`{}`", in_code(text))
}

/// The start of a text, at most `max` characters of it. An escape is not cut in two.
pub(crate) fn cut(text: &str, max: usize) -> String {
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
