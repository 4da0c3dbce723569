//! What the main thread was doing when the report was written.

use super::{Message, Token, Uptime};
use bincode::{Decode, Encode};

/// What the main thread was doing at the dump.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
#[non_exhaustive]
pub enum MainState {
    /// The recorder had not seen a message yet, the app had paused it, or this part of the file is damaged.
    #[default]
    Unknown,
    /// It ran no message, and nothing shows that it did anything except wait for one.
    Idle {
        /// Since when, uptime.
        since_ns: Uptime,
    },
    /// The main thread ran a message.
    Running(Running),
    /// It ran no message, and did not wait for one.
    Outside(Outside),
}

/// What kept the main thread from its queue outside of messages: input, a callback of a file descriptor, an
/// idle handler.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Outside {
    /// The token of its stack tree, if there is one. It is [`Token::outside_before`] of the message that
    /// follows.
    pub token: Token,
    /// When the last message ended, uptime. Where no hook reports messages, it is when the main thread was
    /// last seen waiting for one. What runs outside of messages began then or later.
    pub after_ns: Uptime,
    /// When the work outside of messages began, uptime; `None` when that is unknown.
    pub start_ns: Option<Uptime>,
    /// The instant for which the report describes the main thread, uptime.
    pub as_of_ns: Uptime,
    /// CPU time of the main thread since `after_ns`; `None` when it could not be read.
    pub cpu_ns: Option<u64>,
}

impl Outside {
    /// How long the work outside of messages had run at `as_of_ns`. When its start is unknown, this is the
    /// time since the last message, which is at least as long.
    pub fn age_ns(&self) -> u64 {
        self.as_of_ns.since(self.start_ns.unwrap_or(self.after_ns))
    }
}

/// The message that was running at the dump.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Running {
    /// Its token.
    pub token: Token,
    /// When its dispatch began, uptime.
    pub start_ns: Uptime,
    /// The instant for which the report describes the message, uptime.
    pub as_of_ns: Uptime,
    /// CPU time of the main thread since the dispatch began; `None` when it could not be read.
    pub cpu_ns: Option<u64>,
    /// Nested `Looper.loop()` calls: 1 for an ordinary message.
    pub depth: u32,
    /// Its name; `None` when no source had one.
    pub message: Option<Message>,
}

impl Running {
    /// How long the message had run.
    pub fn age_ns(&self) -> u64 {
        self.as_of_ns.since(self.start_ns)
    }
}
