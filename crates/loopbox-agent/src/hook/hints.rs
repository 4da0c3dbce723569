//! What is known of the messages that run, for the poll hook, which sees none of them.

use super::main_thread::{MAX_DEPTH, MainEnvironment};
use crate::session::hint::Hint;
use loopbox_format::model::Token;
use loopbox_recorder::Aggregator;

/// A hint of each message that runs. Main thread only; nothing here allocates.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    of: [Option<(Token, Hint)>; MAX_DEPTH],
    /// There may be one.
    any: bool,
}

impl Hints {
    /// What is known of the innermost message that runs.
    #[inline]
    pub(crate) fn running(&self, aggregator: &Aggregator<MainEnvironment>) -> Option<Hint> {
        if !self.any {
            return None;
        }
        let running = aggregator.running()?;
        let (of, hint) = (*self.of.get((aggregator.depth() as usize).checked_sub(1)?)?)?;
        (of == running).then_some(hint)
    }

    /// Replaces it, and has the other threads know it.
    #[inline]
    pub(crate) fn set(&mut self, aggregator: &Aggregator<MainEnvironment>, hint: Option<Hint>) {
        if let Some(running) = aggregator.running()
            && let Some(place) = self.of.get_mut((aggregator.depth() as usize).wrapping_sub(1))
        {
            *place = hint.map(|hint| (running, hint));
            self.any = true;
            aggregator.environment().hint(running, hint);
        }
    }

    /// Nothing is known of it.
    #[inline]
    pub(crate) fn forget(&mut self, aggregator: &Aggregator<MainEnvironment>) {
        if self.any {
            self.set(aggregator, None);
        }
    }
}
