//! Whether the end of a process in the middle of a dangerous step counts against the sampler.
//!
//! Most ends do not: an ANR usually ends with a kill while the sampler samples. If the system reports how the
//! process ended, that decides. If it does not, one such end may be chance, but not two.

use crate::anr::framework::ProcessEnd;
use loopbox_art::Phase;
use loopbox_format::model::ProcessExit;
use loopbox_store::{CrashMark, Suspicion};

/// The sampler stops the main thread for some ten microseconds. When it has held main for this long, the
/// sampler is the cause of the hang.
const HELD_NS: u64 = 1_000_000_000;

/// What is known about the end of a process.
pub(super) struct End<'a> {
    /// What the sampler was doing, see [`Phase`].
    pub(super) phase: u8,
    /// How long the sampler had been in this phase, at least.
    pub(super) open_ns: u64,
    /// How the process ended, as the system reports it.
    pub(super) system: Option<&'a ProcessEnd>,
    /// What the app's crash handler has noted.
    pub(super) crash: Option<CrashMark>,
}

impl End<'_> {
    /// How this end counts against the sampler; `None` when it does not.
    pub(super) fn suspicion(&self) -> Option<Suspicion> {
        // In the other phases main runs, and a page that the disk does not have may make any of them last.
        let holds_main = matches!(Phase::from_mark(u32::from(self.phase)), Some(Phase::Walk | Phase::Resume));
        let crashed = self.crash.is_some_and(|crash| is_fault(crash.signal))
            || self.system.is_some_and(|end| {
                end.exit.reason == ProcessExit::CRASH_NATIVE
                    || end.exit.reason == ProcessExit::SIGNALED && is_fault(end.status)
            });
        if crashed || holds_main && self.open_ns >= HELD_NS {
            return Some(Suspicion::Certain);
        }
        // ART takes its time to stop a thread that computes, and a thread that computes for long is an ANR.
        // Of a stop that has lasted it is written whether that was it; of one that had just begun
        // (`Phase::Stop`) it is not.
        let waits_for_art = self.phase == Phase::Suspend as u8;
        (self.system.is_none() && !waits_for_art).then_some(Suspicion::Strike)
    }
}

/// Whether a signal means a fault in the process, and not that another process ended it.
fn is_fault(signal: i32) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGABRT | libc::SIGBUS | libc::SIGILL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW_MEMORY: i32 = 3;

    fn dangerous() -> impl Iterator<Item = Phase> {
        Phase::ALL.into_iter().filter(|phase| *phase != Phase::Idle)
    }

    fn of(phase: Phase, open_ms: u64, system: Option<(i32, i32)>, crash: Option<i32>) -> Option<Suspicion> {
        let system = system.map(|(reason, status)| ProcessEnd {
            exit: ProcessExit { reason, description: String::new(), unix_ms: 1 },
            status,
            anr: None,
        });
        let crash = crash.map(|signal| CrashMark { signal });
        let open_ns = open_ms * 1_000_000;
        End { phase: phase as u8, open_ns, system: system.as_ref(), crash }.suspicion()
    }

    #[test]
    fn an_ordinary_kill_does_not_count_where_the_system_reports_it() {
        for phase in dangerous() {
            for end in [
                (ProcessExit::ANR, 0),
                (LOW_MEMORY, 0),
                (ProcessExit::SIGNALED, libc::SIGKILL),
                (ProcessExit::SIGNALED, libc::SIGQUIT),
            ] {
                assert_eq!(of(phase, 999, Some(end), None), None, "{phase:?} {end:?}");
            }
        }
        assert_eq!(of(Phase::Suspend, 8_000, Some((ProcessExit::ANR, 0)), None), None, "ART was slow");
    }

    #[test]
    fn a_native_crash_is_the_samplers() {
        let certain = Some(Suspicion::Certain);
        for phase in dangerous() {
            assert_eq!(of(phase, 0, Some((ProcessExit::CRASH_NATIVE, 0)), None), certain, "{phase:?}");
            assert_eq!(of(phase, 0, Some((ProcessExit::SIGNALED, libc::SIGSEGV)), None), certain);
            assert_eq!(of(phase, 0, None, Some(libc::SIGABRT)), certain, "{phase:?}");
        }
        assert_eq!(of(Phase::Walk, 0, Some((ProcessExit::ANR, 0)), Some(0)), None, "an uncaught exception");
    }

    #[test]
    fn a_stop_of_a_second_is_what_hung_however_it_ended() {
        for phase in [Phase::Walk, Phase::Resume] {
            assert_eq!(of(phase, 1_000, Some((ProcessExit::ANR, 0)), None), Some(Suspicion::Certain));
            assert_eq!(of(phase, 1_000, None, None), Some(Suspicion::Certain));
        }
    }

    #[test]
    fn a_step_that_lasts_while_main_runs_is_not_what_hung() {
        for phase in [Phase::WarmUp, Phase::LockOwner, Phase::Other, Phase::SelfCheck] {
            assert_eq!(of(phase, 5_000, Some((ProcessExit::ANR, 0)), None), None, "{phase:?}");
            assert_eq!(of(phase, 5_000, None, None), Some(Suspicion::Strike), "{phase:?}");
        }
    }

    #[test]
    fn an_unknown_end_is_a_strike_unless_art_was_only_asked() {
        assert_eq!(of(Phase::Suspend, 9_000, None, None), None);
        for phase in dangerous().filter(|phase| *phase != Phase::Suspend) {
            assert_eq!(of(phase, 999, None, None), Some(Suspicion::Strike));
        }
        // One that lasts is not left at that: the file says which it is.
        assert_eq!(of(Phase::Stop, 9_000, Some((ProcessExit::ANR, 0)), None), None);
    }
}
