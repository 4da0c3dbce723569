//! The messages that wait in the main queue, as lines.

use super::Uptime;
use bincode::{Decode, Encode};

/// Where the pending messages were read from.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum PendingSource {
    /// The public `Looper.dump(Printer, String)`.
    LooperDump,
    /// The linked list behind `MessageQueue.mMessages`, by reflection.
    MessagesField,
    /// The messages could be read neither from `Looper.dump` nor from the linked list, or the file does not
    /// have them. The text is the reason.
    Unavailable(String),
}

/// The message queue as the framework printed it.
///
/// The app keeps lines, bounded in number and length. Host tools interpret them (overdue times, floods,
/// leaked barriers), because a grammar for a newer Android can be added there later.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Pending {
    /// Where the lines come from.
    pub source: PendingSource,
    /// When the lines were read, uptime. The `when` of a line is relative to it.
    pub captured_ns: Uptime,
    /// The lines that were printed, one entry for each; an entry may contain line breaks.
    pub lines: Vec<String>,
    /// How many more lines were printed than kept.
    pub dropped_lines: u32,
}

impl Default for Pending {
    fn default() -> Self {
        Self {
            source: PendingSource::Unavailable("not in this file".into()),
            captured_ns: Uptime::ZERO,
            lines: Vec::new(),
            dropped_lines: 0,
        }
    }
}
