//! The numbers of messages, and of what ran between two of them, as readers see them.

use loopbox_format::model::Outside;
use serde::{Serialize, Serializer};

/// What the key of something outside of messages begins with: `after-45`.
const AFTER: &str = "after-";

/// The message that ended before something that ran outside of messages; 0 before the first.
pub(crate) fn message_before(token: u64) -> u64 {
    (token ^ Outside::token_before(0)).saturating_sub(1)
}

/// `message #46`, or `outside of messages, after #45`.
pub(crate) fn title(token: u64) -> String {
    match message_before(token) {
        _ if !Outside::is_outside(token) => format!("message #{token}"),
        0 => "outside of messages, before the first".into(),
        before => format!("outside of messages, after #{before}"),
    }
}

/// `46`, or `after-45`: how the command line and JSON name what stacks are of.
pub(crate) fn key(token: u64) -> String {
    if Outside::is_outside(token) { format!("{AFTER}{}", message_before(token)) } else { token.to_string() }
}

/// Reads a key: the number of a message, or `after-45` for what ran outside of messages after message 45.
///
/// # Errors
/// When it is neither.
pub fn parse_token(text: &str) -> Result<u64, String> {
    let (outside, number) = match text.strip_prefix(AFTER) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    match number.parse::<u64>() {
        Ok(before) if outside && !Outside::is_outside(before) => Ok(Outside::token_before(before + 1)),
        Ok(token) if !outside && !Outside::is_outside(token) => Ok(token),
        _ => Err("it is neither the number of a message nor after-N".into()),
    }
}

/// A message's number as JSON, and a text for what has none: JavaScript has no integers of its size.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(crate) fn serialize<S: Serializer>(token: &u64, to: S) -> Result<S::Ok, S::Error> {
    if Outside::is_outside(*token) { to.serialize_str(&key(*token)) } else { to.serialize_u64(*token) }
}

/// [`serialize`] for a value in the making.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key(pub(crate) u64);

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, to)
    }
}

/// [`serialize`] of a number that may be missing.
#[expect(clippy::ref_option, reason = "serde's signature")]
pub(crate) fn serialize_option<S: Serializer>(token: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    match token {
        Some(token) => serialize(token, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_number_is_identified_by_the_message_before_it() {
        let outside = Outside::token_before(46);
        assert_eq!((title(46), key(46)), ("message #46".into(), "46".into()));
        assert_eq!(
            (title(outside), key(outside)),
            ("outside of messages, after #45".into(), "after-45".into())
        );
        assert_eq!(title(Outside::token_before(1)), "outside of messages, before the first");
        assert_eq!((parse_token("46"), parse_token("after-45")), (Ok(46), Ok(outside)));
        for text in ["", "after-", "after--1", "-1", "x", "9223372036854775854", "after-9223372036854775854"]
        {
            assert!(parse_token(text).is_err(), "{text}");
        }
    }
}
