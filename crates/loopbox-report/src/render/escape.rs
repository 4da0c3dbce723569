//! Text in HTML and XML: escaped, and with places at which a long name may go on in the next line.

use crate::model::sanitize::is_hidden;

/// Text for an element or a quoted attribute. Characters that are interpreted and not shown, for example
/// marks that reverse the text direction, become `�`; XML does not allow most of them.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if is_hidden(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// [`escape`], with a place to break the line after each dot within a name and before its bracket, so that a
/// narrow screen does not cut `Cart.total(Cart.java:88)` in the middle of a word.
pub fn breakable(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    while let Some(at) = rest.find(['.', '(']) {
        let (before, from) = rest.split_at(at);
        let mut after = from.chars();
        let mark = after.next();
        out.push_str(&escape(before));
        match mark {
            Some('(') if before.ends_with(char::is_alphanumeric) => out.push_str("<wbr>("),
            Some('.') if after.next().is_some_and(char::is_alphabetic) => out.push_str(".<wbr>"),
            Some(mark) => out.push(mark),
            None => {}
        }
        rest = &from[1..];
    }
    out.push_str(&escape(rest));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_break_between_their_parts_and_numbers_do_not() {
        assert_eq!(
            breakable("a.b.Cart.total(Cart.java:88)"),
            "a.<wbr>b.<wbr>Cart.<wbr>total<wbr>(Cart.<wbr>java:88)"
        );
        assert_eq!(breakable("1.14 s of 5.2.1, main waits (futex)."), "1.14 s of 5.2.1, main waits (futex).");
        assert_eq!(breakable("<b>.x(&"), "&lt;b&gt;.<wbr>x<wbr>(&amp;");
        assert_eq!(escape("a\n\u{202E}b\u{1b}\u{FFFE}"), "a\n\u{FFFD}b\u{FFFD}\u{FFFD}");
    }
}
