//! Writing texts of a report into CommonMark, so that they stay what they are.

/// Text that stays what it is: no markup, no link, no mention of a user.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // It would call a user, and has no escape that all tools know.
            '@' => out.push_str("&#64;"),
            '\n' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!' => {
                out.extend(['\\', c]);
            }
            _ => out.push(c),
        }
    }
    out
}

/// The most backticks that stand next to each other.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A span of code, fenced with more backticks than it has.
pub(crate) fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A block of code, fenced with more backticks than it has.
pub(crate) fn block(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}
