//! Why a report was written.

use crate::model::Analysis;
use loopbox_format::model::{DumpReason, MainState};

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
        _ => "for a reason unknown to this version of loopbox".into(),
    }
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
