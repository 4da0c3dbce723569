//! The system's warnings of an ANR, as the worker uses them.
//!
//! The system sends a warning to each process of the app, once for each listener. The warning does not say
//! which process it is about. So it concerns this process only while the main thread of this process is late.
//! Until then the warning waits, because main may get late before the time-out is over.

use crate::session::Session;
use crate::sys::clock;
use loopbox_format::model::{AnrWarning, Uptime};
use loopbox_recorder::Front;

/// A message of at least this age leaves a report if its process is killed.
const LATE_NS: u64 = 1_000_000_000;
/// How many warnings that concern this process are kept: as many as the ring has room for. When there are
/// more, the oldest are dropped.
const MAX_KEPT: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Warned {
    /// Warnings that do not concern this process so far: since they came, main has not been late in the sense
    /// of [`is_late`].
    waiting: Vec<AnrWarning>,
    /// Warnings that concern this process: main was late after they came and before they were over. Oldest
    /// first.
    concerns: Vec<AnrWarning>,
}

impl Warned {
    /// Takes the warnings that came; true when there was one.
    pub(super) fn take(&mut self, session: &Session) -> bool {
        let new = session.warnings.take();
        let came = !new.is_empty();
        self.waiting.extend(new);
        came
    }

    /// Drops the warnings that are over from those that do not concern this process so far. Returns whether
    /// one is left: it will concern this process if main gets late.
    pub(super) fn waits(&mut self, now_ns: Uptime) -> bool {
        self.waiting.retain(|warning| !warning.is_over(now_ns));
        !self.waiting.is_empty()
    }

    /// Records that main is late, so the waiting warnings concern this process. They move to the end of
    /// [`Warned::concerns`], which keeps the newest warnings only. Returns how many of the moved warnings
    /// were kept.
    pub(super) fn is_late(&mut self, now_ns: Uptime) -> usize {
        self.forget(now_ns);
        let new = self.waiting.len();
        self.concerns.append(&mut self.waiting);
        let before = self.concerns.len().saturating_sub(MAX_KEPT);
        self.concerns.drain(..before);
        new.min(MAX_KEPT)
    }

    /// The warnings that belong into a report now.
    pub(super) fn concerns(&mut self, now_ns: Uptime) -> &[AnrWarning] {
        self.forget(now_ns);
        &self.concerns
    }

    fn forget(&mut self, now_ns: Uptime) {
        self.concerns.retain(|warning| !warning.is_over(now_ns));
    }
}

/// Whether the main thread's work has run for at least [`LATE_NS`] by now, or a message in its queue has been
/// due for that long.
pub(super) fn is_late(session: &Session, front: Option<Front>) -> bool {
    let now_ns = clock::now_ns();
    let due_ns = match front {
        Some(Front::Overdue(due_ns)) => Some(due_ns),
        Some(Front::Barrier { due_ns, .. }) => due_ns,
        Some(Front::Free) | None => None,
    };
    let message = session.stall.snapshot().at(now_ns, session.shared.main.activity(), None).message();
    message.ran_ns >= LATE_NS || due_ns.is_some_and(|due_ns| now_ns.since(due_ns) >= LATE_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(id: i32, at_s: u64) -> AnrWarning {
        let at_ns = Uptime(at_s * 1_000_000_000);
        AnrWarning { at_ns, id, kind: 5, consumed_ms: 10_000, timeout_ms: 20_000 }
    }

    fn ids(warnings: &[AnrWarning]) -> Vec<i32> {
        warnings.iter().map(|warning| warning.id).collect()
    }

    #[test]
    fn warning_waits_until_main_is_late_or_time_out_is_over() {
        let s = |at_s: u64| Uptime(at_s * 1_000_000_000);
        let mut warned = Warned { waiting: vec![warning(1, 0), warning(2, 20)], ..Warned::default() };
        assert!(warned.waits(s(30)) && warned.concerns(s(30)).is_empty());
        assert!(warned.waits(s(31)), "the second one's time-out is not over");
        assert_eq!(warned.is_late(s(31)), 1);
        assert_eq!(ids(warned.concerns(s(31))), [2], "the first one was of another process");
        assert!(!warned.waits(s(31)) && warned.is_late(s(32)) == 0);
        assert_eq!(ids(warned.concerns(s(51))), [0; 0], "and has not come true");
    }

    #[test]
    fn newest_warnings_are_kept() {
        let mut warned = Warned { waiting: (0..6).map(|id| warning(id, 0)).collect(), ..Warned::default() };
        assert_eq!(warned.is_late(Uptime(1)), MAX_KEPT);
        assert_eq!(ids(warned.concerns(Uptime(1))), [2, 3, 4, 5]);
    }
}
