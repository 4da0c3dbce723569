//! Making text from a file safe to show.

use loopbox_format::text::CUT_MARK;

/// At most `max` characters of `text`, without any that a terminal, a log or a browser would act on.
///
/// Tabs and line breaks become a space; other control characters (escape sequences) and characters that reorder the
/// text around them become `�`. A text that was cut ends in `…`.
pub(crate) fn sanitize(text: &str, max: usize) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.by_ref().take(max).map(sanitize_char).collect();
    if chars.next().is_some() {
        out.pop();
        out.push(CUT_MARK);
    }
    out
}

fn sanitize_char(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        // Bidirectional overrides and isolates, line and paragraph separators, the byte order mark.
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' => {
            char::REPLACEMENT_CHARACTER
        }
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitize_removes_escape_sequences_and_bidirectional_overrides() {
        assert_eq!(sanitize("a\u{1b}[31mb\nc\u{202E}d", 100), "a\u{FFFD}[31mb c\u{FFFD}d");
    }

    #[test]
    fn sanitize_cuts_by_characters_and_marks_the_cut() {
        assert_eq!(sanitize("éééé", 4), "éééé");
        assert_eq!(sanitize("ééééé", 4), "ééé…");
    }
}
