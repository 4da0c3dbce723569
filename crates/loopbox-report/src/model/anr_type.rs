//! What kind of ANR it was, by the number of API 37 or by the texts of older systems.

use super::Analysis;
use loopbox_format::model::{AnrWarning, ProcessExit, SystemWord};
use std::borrow::Cow;

/// What the system waited for when it called the ANR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnrType {
    /// `AnrTypes.ANR_TYPE_*`; `None` for a kind that has no number.
    number: Option<i32>,
    /// The text in brackets at the beginning of `ApplicationExitInfo.getDescription`.
    prefix: &'static str,
    /// A part of the system's reason on any API level. The first row whose part is in the reason decides.
    reason: &'static str,
    /// What the system waited for, in words for a reader.
    words: &'static str,
}

const fn row(
    number: Option<i32>,
    prefix: &'static str,
    reason: &'static str,
    words: &'static str,
) -> AnrType {
    AnrType { number, prefix, reason, words }
}

/// The types of ANR, from `AnrTypes`, `ApplicationExitInfo.subreasonToString` and the reasons of
/// `TimeoutRecord`, `ActiveServices`, `JobServiceContext`, `ContentProviderHelper` and
/// `ActivityManagerService`, all of API 37; older levels have the same reasons.
const TYPES: [AnrType; 16] = [
    row(
        Some(1),
        "INPUT DISPATCHING TIMEOUT NO FOCUSED WINDOW ANR",
        "does not have a focused window",
        "input that found no focused window",
    ),
    row(Some(2), "INPUT DISPATCHING TIMEOUT ANR", "Input dispatching timed out", "input to a window"),
    row(Some(3), "BROADCAST OF INTENT ANR", "Broadcast of ", "a broadcast receiver"),
    row(
        Some(4),
        "START FOREGROUND SERVICE ANR",
        "did not then call Service.startForeground()",
        "startForeground of a service",
    ),
    row(Some(5), "EXECUTING SERVICE ANR", "executing service ", "executing a service"),
    row(
        Some(6),
        "CONTENT PROVIDER NOT RESPONDING ANR",
        "ContentProvider not responding",
        "a content provider",
    ),
    row(Some(7), "APP TRIGGERED ANR", "", "an ANR that an app has reported"),
    row(
        Some(8),
        "FOREGROUND SHORT SERVICE TIMEOUT ANR",
        "FOREGROUND_SERVICE_TYPE_SHORT_SERVICE did not stop",
        "the end of a short foreground service",
    ),
    row(Some(9), "JOB SERVICE START ANR", "No response to onStartJob", "the start of a job"),
    row(Some(10), "BIND APPLICATION ANR", "failed to complete startup", "the start of the process"),
    row(
        None,
        "FOREGROUND SERVICE TIMEOUT ANR",
        "A foreground service of type",
        "the end of a foreground service",
    ),
    row(None, "GPU HANG ANR", "", "the GPU"),
    row(None, "JOB SERVICE BIND ANR", "Timed out while trying to bind", "binding to a job's service"),
    row(
        None,
        "JOB SERVICE NOTIFICATION NOT PROVIDED ANR",
        "required notification not provided",
        "a job's notification",
    ),
    row(None, "JOB SERVICE STOP ANR", "No response to onStopJob", "the stop of a job"),
    row(None, "SYSTEM SERVER WATCHDOG TIMEOUT ANR", "", "the system's watchdog"),
];

impl AnrType {
    /// The type, by the system's text for an ANR: its description of the process's end, or its report of a
    /// living process.
    pub(crate) fn of_text(text: &str) -> Option<&'static Self> {
        let by_prefix = prefix(text).and_then(|found| TYPES.iter().find(|known| known.prefix == found));
        let fits = |known: &&Self| !known.reason.is_empty() && text.contains(known.reason);
        by_prefix.or_else(|| TYPES.iter().find(fits))
    }
}

/// The text in brackets at the start of a description: `EXECUTING SERVICE ANR` of `[EXECUTING SERVICE ANR] bg
/// anr`.
fn prefix(description: &str) -> Option<&str> {
    Some(description.strip_prefix('[')?.split_once(']')?.0)
}

/// A description without the text in brackets at its start.
pub(crate) fn without_prefix(description: &str) -> &str {
    match prefix(description) {
        Some(found) => description.get(found.len() + 2..).unwrap_or_default().trim_start(),
        None => description,
    }
}

/// The meaning of this number in `AnrTypes`. For a number that is newer than this program, the number itself.
pub(crate) fn words_of(number: i32) -> Cow<'static, str> {
    match TYPES.iter().find(|known| known.number == Some(number)) {
        Some(known) => known.words.into(),
        None if number == 0 => "something else".into(),
        None => format!("type {number}").into(),
    }
}

/// What the system reports of the ANR.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnrCall {
    /// What the system waited for.
    pub(crate) words: Cow<'static, str>,
    /// The system's time-out; `None` when the system does not report it.
    pub(crate) timeout_ms: Option<u64>,
    /// Whether the system has only warned of the ANR.
    pub(crate) is_warning: bool,
}

/// What the system reports of the ANR. The sources, the surest one first: the number in its record of the
/// process's end, the description in that record, its report while the process lived, its last warning.
pub(crate) fn anr_call(a: &Analysis) -> Option<AnrCall> {
    let by_number = |number, timeout_ms, is_warning| AnrCall {
        words: words_of(number),
        timeout_ms: Some(timeout_ms),
        is_warning,
    };
    if let Some(info) = a.anr_info {
        return Some(by_number(info.kind, info.timeout_ms, false));
    }
    let ended = a.anr.exit.as_ref().filter(|exit| exit.reason == ProcessExit::ANR);
    let reported = match &a.anr.system {
        Some(SystemWord::NotResponding(words)) => Some(words.as_str()),
        _ => None,
    };
    let texts = ended.map(|exit| exit.description.as_str()).into_iter().chain(reported);
    if let Some(known) = texts.into_iter().find_map(AnrType::of_text) {
        let same = |warning: &&AnrWarning| known.number == Some(warning.kind);
        let timeout_ms = a.anr_warnings.iter().rev().find(same).map(|warning| warning.timeout_ms);
        return Some(AnrCall { words: known.words.into(), timeout_ms, is_warning: false });
    }
    let warning = a.anr_warnings.last()?;
    Some(by_number(warning.kind, warning.timeout_ms, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;
    use loopbox_format::model::{AnrInfo, Uptime};

    fn words(text: &str) -> &'static str {
        AnrType::of_text(text).map_or("", |known| known.words)
    }

    #[test]
    fn type_is_read_from_prefix_and_from_reasons_of_older_levels() {
        for (text, expected) in [
            ("[EXECUTING SERVICE ANR] bg anr", "executing a service"),
            ("[INPUT DISPATCHING TIMEOUT ANR] user request after error: Input", "input to a window"),
            (
                "user request after error: Input dispatching timed out (a.B is not responding)",
                "input to a window",
            ),
            (
                "Input dispatching timed out (Application does not have a focused window)",
                "input that found no focused window",
            ),
            ("user request after error: executing service com.example/.Sync", "executing a service"),
            ("Broadcast of Intent { act=x }", "a broadcast receiver"),
            (
                "Context.startForegroundService() did not then call Service.startForeground(): ServiceRecord",
                "startForeground of a service",
            ),
            ("Process ProcessRecord{1} failed to complete startup", "the start of the process"),
            ("[A NEWER ANR] Broadcast of Intent { act=x }", "a broadcast receiver"),
            ("[A NEWER ANR] bg anr", ""),
            ("bg anr", ""),
            ("[unfinished", ""),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn number_that_is_newer_is_printed() {
        assert_eq!((words_of(5), words_of(0)), ("executing a service".into(), "something else".into()));
        assert_eq!((words_of(11), words_of(-1)), ("type 11".into(), "type -1".into()));
    }

    #[test]
    fn prefix_is_taken_off_a_description() {
        assert_eq!(without_prefix("[OOM KILL] MemoryLimiter:AnonSwap"), "MemoryLimiter:AnonSwap");
        assert_eq!((without_prefix("bg anr"), without_prefix("[OOM KILL]")), ("bg anr", ""));
    }

    /// The arguments of `call` are the sources, the surest one first: the system's record of the process's
    /// end, the description in that record, the report while the process lived, and a warning. The first
    /// source that has the type decides.
    #[test]
    fn surest_source_of_the_type_counts() {
        let call = |info: Option<AnrInfo>, ended: &str, reported: &str, warned: Option<i32>| {
            let decoded = ReportBuilder::new().with(|report| {
                report.anr_info = info;
                let exit = ProcessExit { reason: ProcessExit::ANR, description: ended.into(), unix_ms: 1 };
                report.anr.exit = (!ended.is_empty()).then_some(exit);
                report.anr.system =
                    (!reported.is_empty()).then(|| SystemWord::NotResponding(reported.into()));
                let warning =
                    |kind| AnrWarning { at_ns: Uptime(1), id: 1, kind, consumed_ms: 1, timeout_ms: 9_000 };
                report.anr_warnings = warned.map(warning).into_iter().collect();
            });
            anr_call(&Analysis::new(&decoded.build())).map(|call| (call.words.into_owned(), call.timeout_ms))
        };
        let info = Some(AnrInfo { id: 1, kind: 3, timeout_ms: 10_000, user_perceptible: true });
        let broadcast = "a broadcast receiver".to_owned();
        assert_eq!(call(info, "executing service x", "", Some(1)), Some((broadcast.clone(), Some(10_000))));
        assert_eq!(
            call(None, "Broadcast of x", "executing service x", Some(1)),
            Some((broadcast.clone(), None))
        );
        assert_eq!(call(None, "bg anr", "Broadcast of x", Some(3)), Some((broadcast, Some(9_000))));
        assert_eq!(call(None, "bg anr", "", Some(12)), Some(("type 12".into(), Some(9_000))));
        assert_eq!(call(None, "bg anr", "", None), None);
    }
}
