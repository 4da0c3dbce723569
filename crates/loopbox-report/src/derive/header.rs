//! The words of a report's header: why and when the report was written, and about which process.

use crate::model::Analysis;
use crate::model::time::format_ns;
use loopbox_format::model::{DumpReason, MainState, Uptime};

/// Why the report was written: `because a message ran longer than the hang threshold`.
pub(crate) fn reason(a: &Analysis) -> String {
    match (&a.meta.reason, &a.main) {
        (DumpReason::SigQuit, _) => "on SIGQUIT (the system's ANR signal)".into(),
        (DumpReason::Hang, MainState::Outside(_)) => {
            "because main was busy outside of messages for longer than the hang threshold".into()
        }
        (DumpReason::Hang, MainState::Running(_)) => {
            "because a message ran longer than the hang threshold".into()
        }
        (DumpReason::Hang, _) => {
            "because main slept for longer than the hang threshold while messages were due".into()
        }
        (DumpReason::Requested(words), _) if words.is_empty() => "on the app's request".into(),
        (DumpReason::Requested(words), _) => format!("on the app's request: {words}"),
        (DumpReason::Recovered { crash_signal: Some(signal) }, _) => {
            format!("recovered after the process died of signal {signal}")
        }
        (DumpReason::Recovered { crash_signal: None }, _) => "recovered after the process was gone".into(),
        (DumpReason::SystemTrace, _) => "by the system: its own trace, and no report of a recorder".into(),
        _ => "for a reason unknown to this version of loopbox".into(),
    }
}

/// When the report was written, by the wall clock. When that is not known, the time in the system's trace:
/// local time without a zone.
pub(crate) fn written_at(a: &Analysis) -> String {
    let known = a.wall_clock().rfc3339(a.meta.dumped_at.uptime_ns);
    let of_trace = || {
        let trace = a.system_trace.as_ref().filter(|_| a.is_trace_alone())?;
        (!trace.written_at.is_empty()).then(|| format!("{} (local time)", trace.written_at))
    };
    known.or_else(of_trace).unwrap_or_else(|| "at an unknown time".into())
}

/// The time since boot, in words; empty where it is not known.
pub(crate) fn after_boot(a: &Analysis) -> String {
    let uptime_ns = a.meta.dumped_at.uptime_ns;
    let is_known = !a.is_trace_alone() || uptime_ns > Uptime::ZERO;
    if is_known { format!(", {} after boot", format_ns(uptime_ns.0)) } else { String::new() }
}

/// The name of the process, or that it is unknown.
pub(crate) fn process_name(a: &Analysis) -> &str {
    if a.meta.process.name.is_empty() { "unknown process" } else { &a.meta.process.name }
}

/// The version of the app, the device, the API level and the ABI, as far as they are known.
pub(crate) fn about_device(a: &Analysis) -> Vec<String> {
    let process = &a.meta.process;
    let api = if process.api_level > 0 { format!("API {}", process.api_level) } else { String::new() };
    let texts = [process.app_version.clone(), process.device.clone(), api, process.abi.clone()];
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;

    #[test]
    fn reason_names_what_main_did() {
        let hang = ReportBuilder::new().with(|report| report.meta.reason = DumpReason::Hang);
        let said = |report: ReportBuilder| reason(&Analysis::new(&report.build()));
        assert!(said(hang.outside(6_000, true)).contains("busy outside of messages"));
        let hang = || ReportBuilder::new().with(|report| report.meta.reason = DumpReason::Hang);
        assert!(said(hang().running(1, 6_000)).contains("a message ran"));
        assert!(said(hang().idle_at_dump(6_000)).contains("main slept"));
    }
}
