//! The stack of the main thread at the dump, as text.

use crate::model::time::ms_between;
use crate::model::{Analysis, Frame, token};
use loopbox_format::model::Token;
use serde::Serialize;

/// The newest stack of what the main thread was doing at the dump.
#[derive(Debug, Clone, Serialize)]
pub struct LastStackView {
    /// The message that it is of.
    #[serde(serialize_with = "token::serialize")]
    pub token: Token,
    /// When it was taken, relative to the dump.
    pub at_ms: f64,
    /// The frames as Java prints them, the innermost first.
    pub frames: Vec<String>,
}

impl LastStackView {
    pub(super) fn new(a: &Analysis) -> Option<Self> {
        let tree = a.tree(a.current_token()?)?;
        let last = tree.stack_runs().pop()?;
        let at_ns = tree.sample_ns.get(last.end.saturating_sub(1) as usize)?;
        let frames = tree.stack(last.top).into_iter().rev().map(|frame| Frame::full(&a.frames[frame]));
        Some(Self { token: tree.token, at_ms: ms_between(*at_ns, a.dump_ns), frames: frames.collect() })
    }
}
