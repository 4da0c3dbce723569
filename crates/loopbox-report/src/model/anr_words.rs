//! The ANR verdict in words.

use super::anr_type::without_prefix;
use loopbox_format::model::{Anr, AnrVerdict, ProcessExit};
use std::borrow::Cow;

/// Names of `ApplicationExitInfo.REASON_*`, by their numbers: those of API 34, and the last one, which API
/// 37.2 added.
const REASONS: [&str; 18] = [
    "unknown",
    "exit by itself",
    "signal",
    "low memory",
    "crash",
    "native crash",
    "ANR",
    "initialization failure",
    "permission change",
    "excessive resource usage",
    "user request",
    "user stopped",
    "dependency died",
    "other",
    "freezer",
    "package state change",
    "package updated",
    MEMORY_LIMITER,
];

const MEMORY_LIMITER: &str = "memory limiter";

/// `ApplicationExitInfo.REASON_OTHER`.
const OTHER: i32 = 13;

/// The verdict as the answer to "is this an ANR?"; empty when the recorder did not classify the hang.
pub(crate) fn verdict_summary(anr: &Anr) -> &'static str {
    match (anr.verdict, anr.ended_after_ns) {
        (AnrVerdict::Confirmed, _) => "yes, the system reports one",
        (AnrVerdict::Probable, _) => "probably: the system sent its signal while the main thread was busy",
        (AnrVerdict::Hang, Some(_)) => "a hang that ended; the system has not reported an ANR",
        (AnrVerdict::Hang, None) => "a hang; the system has not reported an ANR",
        (AnrVerdict::Responsive, _) => "no sign of one",
        _ => "",
    }
}

/// What `ApplicationExitInfo` calls the end of a process; none for a reason that is newer than this program.
pub(crate) fn known_exit_reason(exit: &ProcessExit) -> Option<&'static str> {
    // API 37 and 37.1 have it among the others.
    if exit.reason == OTHER && without_prefix(&exit.description).starts_with("MemoryLimiter:") {
        return Some(MEMORY_LIMITER);
    }
    usize::try_from(exit.reason).ok().and_then(|at| REASONS.get(at)).copied()
}

/// The name from [`known_exit_reason`], or else the number.
pub(crate) fn exit_reason(exit: &ProcessExit) -> Cow<'static, str> {
    known_exit_reason(exit).map_or_else(|| format!("reason {}", exit.reason).into(), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(reason: i32, description: &str) -> String {
        exit_reason(&ProcessExit { reason, description: description.into(), unix_ms: 0 }).into_owned()
    }

    #[test]
    fn an_exit_reason_that_is_newer_is_a_number() {
        assert_eq!(
            (name(6, ""), name(-1, ""), name(99, "")),
            ("ANR".into(), "reason -1".into(), "reason 99".into())
        );
    }

    #[test]
    fn the_memory_limiter_has_a_name_before_it_has_a_number() {
        assert_eq!(
            (name(17, ""), name(13, "MemoryLimiter:AnonSwap")),
            (MEMORY_LIMITER.into(), MEMORY_LIMITER.into())
        );
        assert_eq!(name(13, "[OOM KILL] MemoryLimiter:AnonSwap"), MEMORY_LIMITER);
        assert_eq!(name(13, "by the MemoryLimiter:"), "other");
    }
}
