//! Text from a file made safe to show.

use loopbox_format::text::CUT_MARK;

/// At most `max` characters of `text`, without anything that a terminal, a log or a browser would act on.
///
/// Control characters (escape sequences, line breaks) and characters that reorder the text around them become
/// `�`, tabs and line breaks a space; a cut is marked with `…`.
pub(crate) fn clean(text: &str, max: usize) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.by_ref().take(max).map(harmless).collect();
    if chars.next().is_some() {
        out.pop();
        out.push(CUT_MARK);
    }
    out
}

fn harmless(c: char) -> char {
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
    fn escape_sequences_and_overrides_lose_their_power() {
        assert_eq!(clean("a\u{1b}[31mb\nc\u{202E}d", 100), "a\u{FFFD}[31mb c\u{FFFD}d");
    }

    #[test]
    fn cuts_by_characters_and_marks_it() {
        assert_eq!(clean("éééé", 4), "éééé");
        assert_eq!(clean("ééééé", 4), "ééé…");
    }
}
