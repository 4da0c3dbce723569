//! Which code stops all threads of the process through the runtime.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use crate::model::framework::Role;
use crate::model::{FrameId, FrameTable, OtherThread};

/// What makes the runtime stop the other threads.
pub(super) enum Suspender<'a> {
    Thread {
        thread: &'a OtherThread,
        /// The method that stops the other threads.
        at: FrameId,
        /// The app's method that called `at`, or else a method of a library in the app.
        culprit: Option<FrameId>,
    },
    /// A debugger was attached. It stops all threads when its user wants that.
    Debugger,
}

impl<'a> Suspender<'a> {
    /// The suspender at the dump. It stops threads that run Java code; threads that wait are not affected.
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

    /// What the suspender does: `thread leaks is in VMDebug.dumpHprofData`.
    pub(super) fn words(&self, frames: &FrameTable) -> String {
        match self {
            Self::Thread { thread, at, .. } => {
                format!("thread {} is in {}", thread.name, frames[*at].short())
            }
            Self::Debugger => "a debugger was attached".into(),
        }
    }
}
