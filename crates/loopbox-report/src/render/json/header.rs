//! Which recorder wrote the report, about which process, when and why.

use super::recorder::NamedValueView;
use crate::model::Analysis;
use crate::model::time::{ms, ms_between};
use loopbox_format::model::DumpReason;
use serde::Serialize;

/// Which recorder wrote the report, about which process, when and why.
#[derive(Debug, Clone, Serialize)]
pub struct HeaderView {
    /// The name and version of the recorder.
    pub producer: String,
    /// Why the report was written.
    pub reason: ReasonView,
    /// When the report was written.
    pub dumped_at: ClockView,
    /// The process that the report is about.
    pub process: ProcessView,
    /// The limits that the recorder was configured with.
    pub limits: LimitsView,
    /// The time from the start of the history to the dump.
    pub history_ms: f64,
    /// The annotations that the app has set.
    pub annotations: Vec<NamedValueView>,
}

/// Why the report was written.
#[derive(Debug, Clone, Serialize)]
pub struct ReasonView {
    /// `sigquit`, `hang`, `requested` or `recovered`.
    pub kind: &'static str,
    /// The reason that the app gave when it requested the report.
    pub words: String,
    /// The signal that a crash handler noted, when the report was recovered after a crash.
    pub crash_signal: Option<i32>,
}

/// An instant on two clocks.
#[derive(Debug, Clone, Serialize)]
pub struct ClockView {
    /// The uptime.
    pub uptime_ms: f64,
    /// The Unix time; `None` when unknown.
    pub unix_ms: Option<i64>,
    /// The time in UTC as RFC 3339; `None` when unknown.
    pub utc: Option<String>,
}

/// The process that the report is about.
#[derive(Debug, Clone, Serialize)]
pub struct ProcessView {
    /// The process id.
    pub pid: u32,
    /// The process name.
    pub name: String,
    /// `Build.VERSION.SDK_INT`.
    pub api_level: u32,
    /// The ABI of the process.
    pub abi: String,
    /// The version of the app; empty when unknown.
    pub app_version: String,
    /// The manufacturer and model of the device; empty when unknown.
    pub device: String,
    /// When the process started, relative to the dump; `None` when unknown.
    pub started_at_ms: Option<f64>,
    /// When the recorder was installed, relative to the dump.
    pub installed_at_ms: f64,
}

/// The limits that the recorder was configured with.
#[derive(Debug, Clone, Serialize)]
pub struct LimitsView {
    /// The work time at which a group of messages is full.
    pub group_ms: f64,
    /// The dispatch time from which a message is kept by name.
    pub detail_ms: f64,
    /// The number of records that the history keeps.
    pub slots: u32,
    /// The number of messages that a record keeps by name.
    pub details_per_record: u32,
    /// The age of a message at which stack sampling starts.
    pub sample_onset_ms: f64,
    /// The interval between two samples.
    pub sample_interval_ms: f64,
}

impl HeaderView {
    pub(super) fn new(a: &Analysis) -> Self {
        let (meta, limits) = (&a.meta, a.meta.limits);
        let reason = |kind, words: &str, crash_signal| ReasonView { kind, words: words.into(), crash_signal };
        let reason = match &meta.reason {
            DumpReason::SigQuit => reason("sigquit", "", None),
            DumpReason::Hang => reason("hang", "", None),
            DumpReason::Requested(words) => reason("requested", words, None),
            DumpReason::Recovered { crash_signal } => reason("recovered", "", *crash_signal),
            _ => reason("unknown", "", None),
        };
        let at = meta.dumped_at.uptime_ns;
        Self {
            producer: meta.producer.clone(),
            reason,
            dumped_at: ClockView {
                uptime_ms: ms(at.0),
                unix_ms: a.wall_clock().unix_ms(at),
                utc: a.wall_clock().rfc3339(at),
            },
            process: ProcessView {
                pid: meta.process.pid,
                name: meta.process.name.clone(),
                api_level: meta.process.api_level,
                abi: meta.process.abi.clone(),
                app_version: meta.process.app_version.clone(),
                device: meta.process.device.clone(),
                started_at_ms: meta.process.started_ns.map(|at| ms_between(at, a.dump_ns)),
                installed_at_ms: ms_between(meta.process.installed_ns, a.dump_ns),
            },
            limits: LimitsView {
                group_ms: ms(limits.group_ns),
                detail_ms: ms(limits.detail_ns),
                slots: limits.slots,
                details_per_record: limits.details_per_record,
                sample_onset_ms: ms(limits.sample_onset_ns),
                sample_interval_ms: ms(limits.sample_interval_ns),
            },
            history_ms: ms(a.history_span_ns()),
            annotations: meta
                .annotations
                .iter()
                .map(|(name, value)| NamedValueView { name: name.clone(), value: value.clone() })
                .collect(),
        }
    }
}
