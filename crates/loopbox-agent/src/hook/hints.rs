//! What is known of the messages that run, for the poll hook, which sees none of them.

use super::peek::Head;
use crate::session::hint::Hint;
use loopbox_format::model::{Token, Uptime};

/// How many nested loops the aggregator distinguishes.
pub(super) const MAX_DEPTH: usize = 8;

/// What is known of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    token: Token,
    pub(crate) hint: Hint,
    /// `Message.when`, where that is known.
    pub(crate) when_ns: Option<Uptime>,
}

/// What is known of each message that runs. Main thread only; nothing here allocates.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    of: [Option<Known>; MAX_DEPTH],
    /// There may be something.
    pub(super) any: bool,
}

impl Hints {
    /// What is known of this message, which is inside of as many others but one.
    #[inline]
    pub(super) fn get(&self, depth: u32, token: Token) -> Option<Known> {
        let known = (*self.of.get((depth as usize).checked_sub(1)?)?)?;
        (known.token == token).then_some(known)
    }

    /// Replaces it.
    #[inline]
    pub(super) fn set(&mut self, depth: u32, token: Token, known: Option<Head>) {
        if let Some(place) = self.of.get_mut((depth as usize).wrapping_sub(1)) {
            *place = known.map(|(hint, when_ns)| Known { token, hint, when_ns });
            self.any = true;
        }
    }
}
