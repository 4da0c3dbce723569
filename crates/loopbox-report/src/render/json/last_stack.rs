//! The stack of the main thread at the dump, as text.

use crate::derive::LastStack;
use crate::model::time::ms_between;
use crate::model::token::Key;
use loopbox_format::model::Uptime;

json_object! {
    /// The newest stack of what the main thread was doing at the dump.
    pub(super) struct LastStackView(stack: LastStack, dump_ns: Uptime) {
        /// The message whose stack this is.
        token: Key = Key(stack.token),
        /// When the stack was taken, relative to the dump.
        at_ms: f64 = ms_between(stack.at_ns, dump_ns),
        /// Lines of a Java stack trace, the innermost frame first.
        frames: Vec<String> = stack.frames,
    }
}
