//! The ANR judgement in words.

use loopbox_format::model::{Anr, AnrVerdict};

/// Names of `ApplicationExitInfo.REASON_*`, by their numbers (API 30 to 34).
const REASONS: [&str; 17] = [
    "unknown",
    "exit of its own",
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
];

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

/// What `ApplicationExitInfo` calls the end of a process.
pub(crate) fn exit_reason(number: i32) -> &'static str {
    usize::try_from(number).ok().and_then(|at| REASONS.get(at)).copied().unwrap_or("unknown reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_reason_of_a_later_api_level_is_unknown() {
        assert_eq!(
            (exit_reason(6), exit_reason(-1), exit_reason(99)),
            ("ANR", "unknown reason", "unknown reason")
        );
    }
}
