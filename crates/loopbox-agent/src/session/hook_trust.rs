//! Whether the hook reports each message, and what was found while it did not.

use crate::sys::clock;
use loopbox_format::model::Uptime;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct HookTrust {
    /// Whether no hook reports messages, or it is unknown whether one does: then no message wakes a thread
    /// that parks.
    pub(super) unhooked: AtomicBool,
    /// The hook is relied on again from this uptime: it was displaced shortly before, and may be displaced
    /// again.
    pub(super) relied_on_from_ns: AtomicU64,
    /// The stall monitor stores the result of [`HookTrust::may_miss_messages`] here when it finds something
    /// that runs outside of messages, and again when it finds that this has ended.
    pub(super) found_unhooked: AtomicBool,
}

impl HookTrust {
    /// Whether messages may begin that no hook reports.
    pub(crate) fn may_miss_messages(&self) -> bool {
        let from_ns = self.relied_on_from_ns.load(Ordering::SeqCst);
        self.unhooked.load(Ordering::SeqCst) || from_ns != 0 && clock::now_ns() < Uptime(from_ns)
    }

    /// Whether the hook might have missed messages at the moment when the main thread was found busy outside
    /// of messages. The answer stays the same until the stall monitor finds that this work has ended, even if
    /// the hook is put back or displaced meanwhile.
    pub(crate) fn was_found_unhooked(&self) -> bool {
        self.found_unhooked.load(Ordering::SeqCst)
    }
}
