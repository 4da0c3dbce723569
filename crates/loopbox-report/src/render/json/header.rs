//! Which recorder wrote the report, about which process, when and why.

use super::recorder::NamedValueView;
use crate::model::Analysis;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use loopbox_format::model::{DumpReason, Limits};
use schemars::JsonSchema;
use serde::Serialize;

/// Which recorder wrote the report, about which process, when and why.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HeaderView<'a> {
    /// The name and version of the recorder.
    producer: &'a str,
    /// Why the report was written.
    reason: ReasonView<'a>,
    /// When the report was written.
    dumped_at: ClockView,
    /// The process that the report is about.
    process: ProcessView<'a>,
    /// The limits that the recorder was configured with.
    limits: LimitsView,
    /// The time from the start of the history to the dump.
    history_ms: f64,
    /// The annotations that the app has set.
    annotations: Vec<NamedValueView<'a>>,
}

/// Why the report was written.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReasonView<'a> {
    /// What made the recorder write.
    kind: Name<&'a DumpReason>,
    /// The reason that the app gave when it requested the report.
    words: &'a str,
    /// The signal that a crash handler noted, when the report was recovered after a crash.
    crash_signal: Option<i32>,
}

/// An instant on two clocks.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClockView {
    /// The uptime.
    uptime_ms: f64,
    /// The Unix time; null when unknown.
    unix_ms: Option<i64>,
    /// The time in UTC as RFC 3339; null when unknown.
    utc: Option<String>,
}

/// The process that the report is about.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProcessView<'a> {
    /// The process id.
    pid: u32,
    /// The process name.
    name: &'a str,
    /// `Build.VERSION.SDK_INT`.
    api_level: u32,
    /// The ABI of the process.
    abi: &'a str,
    /// The version of the app; empty when unknown.
    app_version: &'a str,
    /// The manufacturer and model of the device; empty when unknown.
    device: &'a str,
    /// When the process started, relative to the dump; null when unknown.
    started_at_ms: Option<f64>,
    /// When the recorder was installed, relative to the dump.
    installed_at_ms: f64,
}

/// The limits that the recorder was configured with.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LimitsView {
    /// The work time at which a group of messages is full.
    group_ms: f64,
    /// The dispatch time from which a message is kept by name.
    detail_ms: f64,
    /// The number of records that the history keeps.
    slots: u32,
    /// The number of messages that a record keeps by name.
    details_per_record: u32,
    /// The age of a message at which stack sampling starts.
    sample_onset_ms: f64,
    /// The interval between two samples; 0: one stack of each message.
    sample_interval_ms: f64,
}

impl<'a> HeaderView<'a> {
    pub(crate) fn new(a: &'a Analysis) -> Self {
        let annotations = a.meta.annotations.iter();
        Self {
            producer: &a.meta.producer,
            reason: ReasonView::new(&a.meta.reason),
            dumped_at: ClockView::new(a),
            process: ProcessView::new(a),
            limits: LimitsView::new(a.meta.limits),
            history_ms: ms(a.history_span_ns()),
            annotations: annotations.map(|(name, value)| NamedValueView { name, value }).collect(),
        }
    }
}

impl<'a> ReasonView<'a> {
    fn new(reason: &'a DumpReason) -> Self {
        let (words, crash_signal) = match reason {
            DumpReason::Requested(words) => (words.as_str(), None),
            DumpReason::Recovered { crash_signal } => ("", *crash_signal),
            _ => ("", None),
        };
        Self { kind: Name(reason), words, crash_signal }
    }
}

impl ClockView {
    fn new(a: &Analysis) -> Self {
        let at = a.meta.dumped_at.uptime_ns;
        let clock = a.wall_clock();
        Self { uptime_ms: ms(at.0), unix_ms: clock.unix_ms(at), utc: clock.rfc3339(at) }
    }
}

impl<'a> ProcessView<'a> {
    fn new(a: &'a Analysis) -> Self {
        let process = &a.meta.process;
        Self {
            pid: process.pid,
            name: &process.name,
            api_level: process.api_level,
            abi: &process.abi,
            app_version: &process.app_version,
            device: &process.device,
            started_at_ms: process.started_ns.map(|at| ms_between(at, a.dump_ns)),
            installed_at_ms: ms_between(process.installed_ns, a.dump_ns),
        }
    }
}

impl LimitsView {
    fn new(limits: Limits) -> Self {
        Self {
            group_ms: ms(limits.group_ns),
            detail_ms: ms(limits.detail_ns),
            slots: limits.slots,
            details_per_record: limits.details_per_record,
            sample_onset_ms: ms(limits.sample_onset_ns),
            sample_interval_ms: ms(limits.sample_interval_ns),
        }
    }
}
