//! Tokens in the form that readers see.

use loopbox_format::model::Token;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// The token in words: `message #46`, or `outside of messages, after #45`.
pub(crate) fn title(token: Token) -> String {
    match token.previous() {
        _ if !token.is_outside() => format!("message #{token}"),
        Token::NONE => "outside of messages, before the first".into(),
        before => format!("outside of messages, after #{before}"),
    }
}

/// A message's number in JSON. For what ran outside of messages it is a text, `after-45`, because JavaScript
/// has no integers of that size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) Token);

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_outside() { to.collect_str(&self.0) } else { to.serialize_u64(self.0.0) }
    }
}

impl JsonSchema for Key {
    fn schema_name() -> Cow<'static, str> {
        "token".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The number of a message; `after-45` for what ran outside of messages after number 45.",
            "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^after-[0-9]+$" }],
        })
    }
}

/// [`Key`] of a token that may be missing.
#[expect(clippy::ref_option, reason = "serde's signature")]
pub(crate) fn serialize_option<S: Serializer>(token: &Option<Token>, to: S) -> Result<S::Ok, S::Error> {
    token.map(Key).serialize(to)
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
