//! The stack of the main thread at the dump.

use crate::model::{Analysis, Frame};
use loopbox_format::model::{Token, Uptime};

/// The newest stack of what the main thread was doing at the dump.
pub(crate) struct LastStack {
    /// The message whose stack this is.
    pub(crate) token: Token,
    /// When the stack was taken, in uptime.
    pub(crate) at_ns: Uptime,
    /// The frames as Java prints them, the innermost first.
    pub(crate) frames: Vec<String>,
}

/// The newest stack of what main was doing; `None` when no such stack was taken.
pub(crate) fn last_stack(a: &Analysis) -> Option<LastStack> {
    let tree = a.tree(a.current_token()?)?;
    let last = tree.stack_runs().pop()?;
    let at_ns = *tree.sample_ns.get(last.end.saturating_sub(1) as usize)?;
    let frames = tree.stack(last.top).into_iter().rev().map(|frame| Frame::full(&a.frames[frame]));
    Some(LastStack { token: tree.token, at_ns, frames: frames.collect() })
}
