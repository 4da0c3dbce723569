//! Who stops all threads of the process through the runtime.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use crate::model::framework::Role;
use crate::model::{FrameId, FrameTable, OtherThread};

/// A thread that has the runtime stop the others.
pub(super) struct Suspender<'a> {
    pub(super) thread: &'a OtherThread,
    /// The method that does it.
    at: FrameId,
    /// Its method of the app's, or of what the app ships.
    pub(super) culprit: Option<FrameId>,
}

impl<'a> Suspender<'a> {
    /// The one at the dump. It stops who runs code of Java, and nobody who waits.
    pub(super) fn of(facts: &Facts<'a>, slow: SlowMessage<'_>) -> Option<Self> {
        let frames = &facts.analysis.frames;
        let threads = facts.analysis.threads.threads.iter().filter(|_| slow.running);
        let mut found = threads.filter_map(|thread| {
            let stack = thread.stack.as_deref()?;
            let at = *stack.iter().find(|&&id| frames[id].role() == Some(Role::SuspendsAll))?;
            let culprit = frames.first_own(stack.iter().rev(), |id| *id).copied();
            Some(Self { thread, at, culprit })
        });
        found.next()
    }

    /// What it does: `thread leaks is in VMDebug.dumpHprofData`.
    pub(super) fn words(&self, frames: &FrameTable) -> String {
        format!("thread {} is in {}", self.thread.name, frames[self.at].short())
    }
}
