//! The stack of the main thread at the dump, as text.

use crate::derive::LastStack;
use crate::model::time::ms_between;
use crate::model::token::Key;
use loopbox_format::model::Uptime;
use schemars::JsonSchema;
use serde::Serialize;

/// The newest stack of what the main thread was doing at the dump.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LastStackView {
    /// The message that it is of.
    token: Key,
    /// When it was taken, relative to the dump.
    at_ms: f64,
    /// Lines of a Java stack trace, the innermost frame first.
    frames: Vec<String>,
}

impl LastStackView {
    pub(super) fn new(stack: LastStack, dump_ns: Uptime) -> Self {
        let at_ms = ms_between(stack.at_ns, dump_ns);
        Self { token: Key(stack.token), at_ms, frames: stack.frames }
    }
}
