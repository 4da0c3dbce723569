//! What is known of the running messages, for the poll hook, which sees none of them.

use crate::session::hint::Hint;
use loopbox_format::model::{Token, Uptime};

/// How many nested loops the aggregator distinguishes.
pub(super) const MAX_DEPTH: usize = 8;

/// What is known of a message.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    token: Token,
    pub(crate) hint: Hint,
    /// `Message.when`; zero where that is not known.
    pub(crate) when_ns: Uptime,
}

/// What is known of each message that runs. Main thread only; nothing here allocates.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    of: [Known; MAX_DEPTH],
    /// Whether there may be a hint.
    pub(super) any: bool,
}

impl Hints {
    /// What is known of this message. `depth` counts it and the messages around it.
    #[inline]
    pub(super) fn get(&self, depth: u32, token: Token) -> Known {
        let place = self.of.get((depth as usize).wrapping_sub(1));
        place.filter(|known| known.token == token).copied().unwrap_or_default()
    }

    /// Replaces what is known of this message.
    #[inline]
    pub(super) fn set(&mut self, depth: u32, token: Token, hint: Hint, when_ns: Uptime) {
        if let Some(place) = self.of.get_mut((depth as usize).wrapping_sub(1)) {
            *place = Known { token, hint, when_ns };
            self.any = true;
        }
    }
}
