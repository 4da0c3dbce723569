//! Writes texts of a report into CommonMark so that they are displayed unchanged.

use crate::model::sanitize::harmless;

/// A zero-width space. It prevents a tool from interpreting the characters around it. GitHub, GitLab and
/// others search for users, issues and addresses after CommonMark was processed, when escapes are gone.
const APART: &str = "&#8203;";

/// Text that is shown literally, in one line: no markup, no link, no mention of a user or an issue.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = harmless(text);
    // Blanks before it could make it a block of code.
    let text = text.trim();
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        // What a line may begin a list or a heading with.
        let begins_a_block = match c {
            '-' | '+' | '=' => at == 0,
            '.' | ')' => {
                let is_number = at > 0 && text[..at].bytes().all(|byte| byte.is_ascii_digit());
                is_number && (rest.is_empty() || rest.starts_with(' '))
            }
            _ => false,
        };
        match c {
            '@' => out.extend(["@", APART]),
            '#' => {
                out.push_str("\\#");
                out.push_str(if rest.starts_with(|c: char| c.is_ascii_digit()) { APART } else { "" });
            }
            ':' if rest.starts_with("//") => out.extend([":", APART]),
            '.' if ends_in_www(&text[..at]) => out.extend([APART, "."]),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '!' => out.extend(['\\', c]),
            c if begins_a_block => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

fn ends_in_www(text: &str) -> bool {
    text.len() >= 3 && text.as_bytes()[text.len() - 3..].eq_ignore_ascii_case(b"www")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A span of code in one line, fenced with more backticks than the text has in a row.
pub(crate) fn code(text: &str) -> String {
    let text = harmless(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A block of code of these lines, fenced with more backticks than a line has in a row.
pub(crate) fn block(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| harmless(line)).collect();
    let text = lines.join("\n");
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    /// The text that a page shows of the markdown, and whether the page has nothing else.
    fn shown(markdown: &str) -> (String, bool) {
        let mut text = String::new();
        let is_text = Parser::new_ext(markdown, Options::all()).all(|event| match event {
            Event::Text(part) => {
                text.push_str(&part);
                true
            }
            Event::Start(Tag::Paragraph) | Event::End(pulldown_cmark::TagEnd::Paragraph) => true,
            _ => false,
        });
        (text, is_text)
    }

    #[test]
    fn text_is_text_and_calls_nobody() {
        for (text, wanted) in [
            (
                "<!channel> *b* _i_ [x](y) `c` ~~d~~ a|b &amp; !",
                "<!channel> *b* _i_ [x](y) `c` ~~d~~ a|b &amp; !",
            ),
            ("# a", "# a"),
            ("- a", "- a"),
            ("+ a", "+ a"),
            ("=== a", "=== a"),
            ("12. a", "12. a"),
            ("3) a", "3) a"),
            ("    a\nb", "a b"),
            ("> a", "> a"),
            ("@all a@b.c", "@\u{200B}all a@\u{200B}b.c"),
            ("message #46, #x", "message #\u{200B}46, #x"),
            ("http://a.b www.c.d", "http:\u{200B}//a.b www\u{200B}.c.d"),
            ("a.B.<init>(C.java:9) \u{202E}", "a.B.<init>(C.java:9) \u{FFFD}"),
        ] {
            assert_eq!(shown(&escape(text)), (wanted.to_owned(), true), "{}", escape(text));
        }
    }

    #[test]
    fn code_stays_within_its_fence() {
        assert_eq!(code("a\n```b"), "```` a ```b ````");
        assert_eq!(block(&["a\r\n````".into(), "b".into()]), "`````text\na  ````\nb\n`````\n");
    }
}
