//! Numbers of messages, and of what runs outside of messages.

use bincode::{Decode, Encode};
use std::fmt;
use std::str::FromStr;

/// How the text for something outside of messages begins.
const AFTER: &str = "after-";

/// Identifies a message: the n-th since the recorder was installed, from 1 without gaps. What runs outside of
/// messages has a token as well, made of the token of the message that follows.
///
/// Tokens of messages are in order of time, and so are those of what runs outside of messages. A token of one
/// kind cannot be compared with one of the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
#[must_use]
pub struct Token(pub u64);

impl Token {
    /// No message: the token of stacks that belong to none.
    pub const NONE: Self = Self(0);
    /// The token of the first message.
    pub const FIRST: Self = Self(1);
    /// The bit in tokens of what runs outside of messages.
    const OUTSIDE: u64 = 1 << 63;

    /// The token of what runs outside of messages before this message.
    pub const fn outside_before(next: Self) -> Self {
        Self(Self::OUTSIDE | next.0)
    }

    /// Whether it is a token of what ran outside of messages.
    pub const fn is_outside(self) -> bool {
        self.0 & Self::OUTSIDE != 0
    }

    /// For the token of a message, that token itself. For the token of what runs outside of messages, the
    /// token of the message that follows.
    pub const fn message(self) -> Self {
        Self(self.0 & !Self::OUTSIDE)
    }

    /// The token of the message that comes `messages` after this one.
    pub const fn plus(self, messages: u64) -> Self {
        Self(self.0.saturating_add(messages))
    }

    /// How many messages after `earlier` this one comes; 0 when it is not later.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The token of the message after this one.
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// The token of the message before this one, or before what ran outside of messages; [`NONE`](Self::NONE)
    /// before the first.
    pub const fn previous(self) -> Self {
        Self(self.message().0.saturating_sub(1))
    }
}

/// `46`, or `after-45` for what ran outside of messages after message 45. The host tools name stacks by this
/// text.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_outside() { write!(f, "{AFTER}{}", self.previous().0) } else { write!(f, "{}", self.0) }
    }
}

/// Neither the number of a message nor `after-N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoToken;

impl fmt::Display for NoToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is neither the number of a message nor after-N")
    }
}

impl core::error::Error for NoToken {}

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for Token {
    type Err = NoToken;

    fn from_str(text: &str) -> Result<Self, NoToken> {
        let outside = text.strip_prefix(AFTER);
        let number = Self(outside.unwrap_or(text).parse().map_err(|_| NoToken)?);
        match outside {
            _ if number.next().is_outside() => Err(NoToken),
            Some(_) => Ok(Self::outside_before(number.next())),
            None => Ok(number),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_of_messages_lies_between_two() {
        let (before, after) = (Token(45), Token(46));
        let outside = Token::outside_before(after);
        assert!(outside.is_outside() && !after.is_outside() && !Token::NONE.is_outside());
        assert_eq!((outside.previous(), outside.message()), (before, after));
        assert_eq!((after.previous(), before.next(), before.plus(3)), (before, after, Token(48)));
        assert_eq!((after.since(before), before.since(after)), (1, 0));
        assert_eq!(Token::outside_before(Token::FIRST).previous(), Token::NONE);
    }

    #[test]
    fn the_text_of_what_is_outside_has_the_message_before_it() {
        let outside = Token::outside_before(Token(46));
        assert_eq!(format!("{} {outside} {outside:?}", Token(46)), "46 after-45 Token(after-45)");
        assert_eq!(("46".parse(), "after-45".parse()), (Ok(Token(46)), Ok(outside)));
        assert_eq!("after-0".parse(), Ok(Token::outside_before(Token::FIRST)));
        for text in [
            "",
            "after-",
            "after--1",
            "-1",
            "x",
            "9223372036854775807",
            "9223372036854775854",
            "18446744073709551615",
            "after-9223372036854775854",
        ] {
            assert_eq!(text.parse::<Token>(), Err(NoToken), "{text}");
        }
    }
}
