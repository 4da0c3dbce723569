use super::Message;
use serde::{Deserialize, Serialize};

/// What the main thread was doing at the dump.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum MainState {
    /// The recorder had not seen a message yet, or this part of the file is damaged.
    #[default]
    Unknown,
    /// It ran no message: it waited for one, or ran native callbacks and idle handlers.
    Idle {
        /// Since when, uptime.
        since_ns: u64,
    },
    /// It ran a message.
    Running(Running),
}

/// The message that was running at the dump.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its number.
    pub token: u64,
    /// When its dispatch began, uptime.
    pub start_ns: u64,
    /// The instant that the report speaks of, uptime.
    pub as_of_ns: u64,
    /// CPU time of the main thread since the dispatch began; `None` when it could not be read.
    pub cpu_ns: Option<u64>,
    /// Nested `Looper.loop()` calls: 1 for an ordinary message.
    pub depth: u32,
    /// Its name; `None` when nothing could give one.
    pub message: Option<Message>,
}

impl Running {
    /// How long the message had run.
    pub fn age_ns(&self) -> u64 {
        self.as_of_ns.saturating_sub(self.start_ns)
    }
}
