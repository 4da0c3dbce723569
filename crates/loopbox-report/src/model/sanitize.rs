//! Makes text from a file safe to show. Each output format adds its own rules: HTML in
//! [`escape`](crate::render::escape), CommonMark, Slack, JSON and collapsed stacks in their writers.

use loopbox_format::text::CUT_MARK;

/// At most `max` characters of `text`, without any that a terminal, a log or a browser would act on.
///
/// Tabs and line breaks become a space; other control characters (escape sequences) and characters that
/// reorder the text around them become `�`. A text that was cut ends in `…`.
pub(crate) fn sanitize(text: &str, max: usize) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.by_ref().take(max).map(sanitize_char).collect();
    if chars.next().is_some() {
        out.pop();
        out.push(CUT_MARK);
    }
    out
}

/// Foreign text (the name of a file, a message of the system), safe for a line on a terminal, whatever its
/// length.
pub fn harmless(text: &str) -> String {
    text.chars().map(sanitize_char).collect()
}

pub(crate) fn sanitize_char(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => ' ',
        c if is_hidden(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Whether a character is not shown but interpreted: by a terminal, by text layout, or by an XML parser.
pub fn is_hidden(c: char) -> bool {
    let is_bidirectional =
        matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    // Line and paragraph separators, the byte order mark, marks of annotations.
    let is_layout = matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}');
    // U+FFFE and U+FFFF of each plane are no characters, and the first two not allowed in XML.
    c.is_control() || is_bidirectional || is_layout || u32::from(c) & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitize_removes_escape_sequences_and_bidirectional_overrides() {
        assert_eq!(sanitize("a\u{1b}[31mb\nc\u{202E}d", 100), "a\u{FFFD}[31mb c\u{FFFD}d");
        assert_eq!(harmless("\u{200F}x\u{9b}y\u{FFFF}\r\n"), "\u{FFFD}x\u{FFFD}y\u{FFFD}  ");
    }

    #[test]
    fn sanitize_cuts_by_characters_and_marks_the_cut() {
        assert_eq!(sanitize("éééé", 4), "éééé");
        assert_eq!(sanitize("ééééé", 4), "ééé…");
    }
}
