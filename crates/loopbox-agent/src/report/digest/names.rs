//! The names of messages in a digest.

use super::line::Line;
use loopbox_format::model::{Message, NamedBy};

pub(super) fn name(message: Option<&Message>, line: &mut Line) {
    let Some(message) = message else {
        line.text("an unnamed message");
        return;
    };
    name_parts(&message.target, &message.callback, message.what, line);
    if matches!(message.named_by, NamedBy::Peek) {
        line.text(" (by peek)");
    }
}

/// Writes the name of a message: the class of its callback, or that of its target with its `what`.
pub(super) fn name_parts(target: &str, callback: &str, what: Option<i32>, line: &mut Line) {
    line.text(if callback.is_empty() { target } else { callback });
    // A posted Runnable's is 0, and means nothing.
    if let Some(what) = what.filter(|&what| what != 0 || callback.is_empty()) {
        line.text(if what < 0 { " what=-" } else { " what=" }).number(what.unsigned_abs().into());
    }
}
