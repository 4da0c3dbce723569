//! Who stops all threads of the process through the runtime.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use crate::model::framework::Role;
use crate::model::{FrameId, FrameTable, OtherThread};

/// Who has the runtime stop the others.
pub(super) enum Suspender<'a> {
    Thread {
        thread: &'a OtherThread,
        /// The method that does it.
        at: FrameId,
        /// Its method of the app's, or of what the app ships.
        culprit: Option<FrameId>,
    },
    /// A debugger was attached, which stops all where a person wants it to.
    Debugger,
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
            Some(Self::Thread { thread, at, culprit })
        });
        // Unlike a thread in such a call, a debugger need not do anything: without main's CPU time it is not
        // known whether main stood still.
        let debugged = facts.analysis.anr.debugged && slow.running && slow.cpu_ns.is_some();
        found.next().or_else(|| debugged.then_some(Self::Debugger))
    }

    /// What it does: `thread leaks is in VMDebug.dumpHprofData`.
    pub(super) fn words(&self, frames: &FrameTable) -> String {
        match self {
            Self::Thread { thread, at, .. } => {
                format!("thread {} is in {}", thread.name, frames[*at].short())
            }
            Self::Debugger => "a debugger was attached".into(),
        }
    }
}
