//! What a report is about, the past and the present.

use super::MessageView;
use crate::analysis::Analysis;
use crate::clock::{ms, ms_between};
use loopbox_format::model::{Detail, DumpReason, End, Feature, FeatureState, MainState, Record, RecordKind};
use serde::Serialize;

/// Who wrote the report, when, why, about which process.
#[derive(Debug, Clone, Serialize)]
pub struct ReportView {
    /// Name and version of the writing library.
    pub producer: String,
    /// Why it was written.
    pub reason: ReasonView,
    /// When it was written.
    pub dumped_at: ClockView,
    /// The process.
    pub process: ProcessView,
    /// The limits that the recorder worked under.
    pub limits: LimitsView,
    /// How far back the history reaches.
    pub history_ms: f64,
    /// What the app said about itself.
    pub annotations: Vec<FigureView>,
}

/// Why the report was written.
#[derive(Debug, Clone, Serialize)]
pub struct ReasonView {
    /// `sigquit`, `hang`, `requested` or `recovered`.
    pub kind: &'static str,
    /// For a requested one, the app's own words.
    pub words: String,
    /// For a recovered one, the signal that a crash handler noted.
    pub crash_signal: Option<i32>,
}

/// An instant on all clocks.
#[derive(Debug, Clone, Serialize)]
pub struct ClockView {
    /// Uptime.
    pub uptime_ms: f64,
    /// Unix time; `None` when unknown.
    pub unix_ms: Option<i64>,
    /// RFC 3339 in UTC; `None` when unknown.
    pub utc: Option<String>,
}

/// The process that the report is about.
#[derive(Debug, Clone, Serialize)]
pub struct ProcessView {
    /// Process id.
    pub pid: u32,
    /// Process name.
    pub name: String,
    /// `Build.VERSION.SDK_INT`.
    pub api_level: u32,
    /// ABI of the running code.
    pub abi: String,
    /// The app's version; empty when unknown.
    pub app_version: String,
    /// Manufacturer and model; empty when unknown.
    pub device: String,
    /// When the recorder was installed, relative to the dump.
    pub installed_at_ms: f64,
}

/// The limits that the recorder worked under.
#[derive(Debug, Clone, Serialize)]
pub struct LimitsView {
    /// Work at which a group is full.
    pub group_ms: f64,
    /// Dispatch time from which on a message is kept by name.
    pub detail_ms: f64,
    /// Records that the history keeps.
    pub slots: u32,
    /// Messages that a record keeps by name.
    pub details_per_record: u32,
    /// Age of a message at which stack sampling begins.
    pub sample_onset_ms: f64,
    /// Time between two stacks.
    pub sample_interval_ms: f64,
}

impl ReportView {
    pub(crate) fn new(a: &Analysis) -> Self {
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
                uptime_ms: ms(at),
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
                installed_at_ms: ms_between(meta.process.installed_ns, a.zero_ns),
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
                .map(|(name, value)| FigureView { name: name.clone(), value: value.clone() })
                .collect(),
        }
    }
}

/// One entry of the history.
#[derive(Debug, Clone, Serialize)]
pub struct RecordView {
    /// Its number.
    pub seq: u64,
    /// `group`, `single`, `idle` or `frozen`.
    pub kind: &'static str,
    /// When it began, relative to the dump.
    pub at_ms: f64,
    /// When it began, time of day in UTC.
    pub clock: Option<String>,
    /// Number of its first message.
    pub first_token: u64,
    /// How many messages it covers.
    pub count: u32,
    /// Its length.
    pub wall_ms: f64,
    /// The part spent in messages.
    pub work_ms: f64,
    /// The part spent between messages.
    pub idle_ms: f64,
    /// CPU time of the main thread; `None` when unknown.
    pub cpu_ms: Option<f64>,
    /// How late the sampler thread woke at worst; `None` when it did not sleep.
    pub checktime_late_ms: Option<f64>,
    /// The slowest message; `None` when there is none.
    pub slowest: Option<SlowestView>,
    /// Messages kept by name.
    pub details: Vec<DetailView>,
    /// How many more deserved a name but found no room.
    pub dropped_details: u32,
    /// False for the group still open at the dump.
    pub closed: bool,
}

/// The slowest message of a record.
#[derive(Debug, Clone, Serialize)]
pub struct SlowestView {
    /// Its number.
    pub token: u64,
    /// How long it took.
    pub wall_ms: f64,
}

impl RecordView {
    pub(crate) fn new(a: &Analysis, record: &Record) -> Self {
        Self {
            seq: record.seq,
            kind: match record.kind {
                RecordKind::Group => "group",
                RecordKind::Single => "single",
                RecordKind::Idle => "idle",
                RecordKind::Frozen => "frozen",
                _ => "unknown",
            },
            at_ms: ms_between(record.start_ns, a.zero_ns),
            clock: a.wall_clock().time_of_day(record.start_ns),
            first_token: record.first_token,
            count: record.count,
            wall_ms: ms(record.wall_ns),
            work_ms: ms(record.work_ns),
            idle_ms: ms(record.idle_ns),
            cpu_ms: record.cpu_ns.map(ms),
            checktime_late_ms: record.checktime_late_ns.map(ms),
            slowest: (record.slowest.wall_ns > 0)
                .then(|| SlowestView { token: record.slowest.token, wall_ms: ms(record.slowest.wall_ns) }),
            details: record.details.iter().map(|detail| DetailView::new(a, detail)).collect(),
            dropped_details: record.dropped_details,
            closed: record.closed,
        }
    }
}

/// A message kept by name.
#[derive(Debug, Clone, Serialize)]
pub struct DetailView {
    /// Its number.
    pub token: u64,
    /// When its dispatch began, relative to the dump.
    pub at_ms: f64,
    /// How long its dispatch took.
    pub wall_ms: f64,
    /// How long it waited past its `when`; `None` when unknown.
    pub wait_ms: Option<f64>,
    /// `returned`, `threw` or `missed`.
    pub end: &'static str,
    /// Its name; `None` when the hook could not give one.
    pub message: Option<MessageView>,
    /// Whether the report has its stack tree.
    pub has_tree: bool,
}

impl DetailView {
    fn new(a: &Analysis, detail: &Detail) -> Self {
        Self {
            token: detail.token,
            at_ms: ms_between(detail.start_ns, a.zero_ns),
            wall_ms: ms(detail.wall_ns),
            wait_ms: detail.wait_ns.map(ms),
            end: match detail.end {
                End::Returned => "returned",
                End::Threw => "threw",
                End::Missed => "missed",
                _ => "unknown",
            },
            message: detail.message.as_ref().map(|m| MessageView::new(m, a.meta.process.api_level)),
            has_tree: a.tree(detail.token).is_some(),
        }
    }
}

/// What the main thread was doing at the dump.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CurrentView {
    /// Nothing is known.
    Unknown,
    /// It ran no message.
    Idle {
        /// For how long.
        for_ms: f64,
    },
    /// It ran a message.
    Running {
        /// Its number.
        token: u64,
        /// When its dispatch began, relative to the dump.
        at_ms: f64,
        /// How long it had run.
        age_ms: f64,
        /// CPU time of the main thread since; `None` when unknown.
        cpu_ms: Option<f64>,
        /// Nested `Looper.loop()` calls: 1 for an ordinary message.
        depth: u32,
        /// Its name; `None` when nothing could give one.
        message: Option<MessageView>,
        /// Whether the report has its stack tree.
        has_tree: bool,
    },
}

impl CurrentView {
    pub(crate) fn new(a: &Analysis) -> Self {
        match &a.main {
            MainState::Idle { since_ns } => Self::Idle { for_ms: ms(a.zero_ns.saturating_sub(*since_ns)) },
            MainState::Running(running) => Self::Running {
                token: running.token,
                at_ms: ms_between(running.start_ns, a.zero_ns),
                age_ms: ms(running.age_ns()),
                cpu_ms: running.cpu_ns.map(ms),
                depth: running.depth,
                message: running.message.as_ref().map(|m| MessageView::new(m, a.meta.process.api_level)),
                has_tree: a.tree(running.token).is_some(),
            },
            _ => Self::Unknown,
        }
    }
}

/// A part of the recorder.
#[derive(Debug, Clone, Serialize)]
pub struct FeatureView {
    /// `hook`, `sampler`, `ring` or `sigquit`.
    pub name: &'static str,
    /// Whether it was working.
    pub on: bool,
    /// How it works, or why it does not.
    pub detail: String,
}

impl FeatureView {
    pub(crate) fn new(state: &FeatureState) -> Self {
        Self {
            name: match state.feature {
                Feature::Hook => "hook",
                Feature::Sampler => "sampler",
                Feature::Ring => "ring",
                Feature::SigQuit => "sigquit",
                _ => "unknown",
            },
            on: state.on,
            detail: state.detail.clone(),
        }
    }
}

/// One figure of the process or the machine, or one annotation of the app.
#[derive(Debug, Clone, Serialize)]
pub struct FigureView {
    /// For a figure, a dotted name with its unit at the end.
    pub name: String,
    /// The value as text.
    pub value: String,
}
