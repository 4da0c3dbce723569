//! Tokens as readers see them.

use loopbox_format::model::Token;
use serde::{Serialize, Serializer};

/// `message #46`, or `outside of messages, after #45`.
pub(crate) fn title(token: Token) -> String {
    match token.previous() {
        _ if !token.is_outside() => format!("message #{token}"),
        Token::NONE => "outside of messages, before the first".into(),
        before => format!("outside of messages, after #{before}"),
    }
}

/// A message's number as JSON, and a text for what has none: JavaScript has no integers of its size.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(crate) fn serialize<S: Serializer>(token: &Token, to: S) -> Result<S::Ok, S::Error> {
    if token.is_outside() { to.collect_str(token) } else { to.serialize_u64(token.0) }
}

/// [`serialize`] for a value in the making.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key(pub(crate) Token);

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, to)
    }
}

/// [`serialize`] of a token that may be missing.
#[expect(clippy::ref_option, reason = "serde's signature")]
pub(crate) fn serialize_option<S: Serializer>(token: &Option<Token>, to: S) -> Result<S::Ok, S::Error> {
    match token {
        Some(token) => serialize(token, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_has_no_number_is_identified_by_the_message_before_it() {
        let outside = Token::outside_before(Token(46));
        assert_eq!(title(Token(46)), "message #46");
        assert_eq!(title(outside), "outside of messages, after #45");
        assert_eq!(title(Token::outside_before(Token::FIRST)), "outside of messages, before the first");
        assert_eq!((json!(Key(Token(46))), json!(Key(outside))), (json!(46), json!("after-45")));
    }
}
