//! Which recorder wrote the report, about which process, when and why.

use super::recorder::NamedValueView;
use crate::model::name::Name;
use crate::model::time::{WallClock, ms, ms_between};
use crate::model::{Analysis, Identity};
use loopbox_format::model::{DumpReason, Limits, Process, Uptime};

json_object! {
    /// Which recorder wrote the report, about which process, when and why.
    pub(crate) struct HeaderView<'a>(a: &'a Analysis) {
        /// The name and version of the recorder.
        producer: &'a str = &a.meta.producer,
        /// Why the report was written.
        reason: ReasonView<'a> = ReasonView::new(&a.meta.reason),
        /// When the report was written.
        dumped_at: ClockView = ClockView::new(a.wall_clock(), a.meta.dumped_at.uptime_ns),
        /// The process that the report is about.
        process: ProcessView<'a> = ProcessView::new(&a.meta.process, a.dump_ns, !a.is_trace_alone()),
        /// The limits that the recorder was configured with.
        limits: LimitsView = LimitsView::new(a.meta.limits),
        /// The time from the start of the history to the dump.
        history_ms: f64 = ms(a.history_span_ns()),
        /// A hash of what was recorded. It is the same in each copy of the report, retraced or not, and with
        /// every version of this tool.
        id: &'a str = &a.identity.report_id,
        /// The id of R8's mapping of the build; empty when nothing names it.
        mapping_id: &'a str = &a.identity.mapping_id,
        /// The name and version of the program that diagnosed the report.
        analyzer: &'static str = Identity::ANALYZER,
        /// The version of the code that groups reports by problem.
        signature: u32 = Identity::SIGNATURE,
        /// The annotations that the app has set.
        annotations: Vec<NamedValueView<'a>> =
            a.meta.annotations.iter().map(|(name, value)| NamedValueView::new(name, value)).collect(),
    }
}

json_object! {
    /// Why the report was written.
    pub(crate) struct ReasonView<'a>(reason: &'a DumpReason) {
        /// What made the recorder write the report.
        kind: Name<&'a DumpReason> = Name(reason),
        /// The reason that the app gave when it requested the report; empty for other reports.
        words: &'a str = match reason {
            DumpReason::Requested(words) => words,
            _ => "",
        },
        /// The signal that a crash handler noted, when the report was recovered after a crash.
        crash_signal: Option<i32> = match reason {
            DumpReason::Recovered { crash_signal } => *crash_signal,
            _ => None,
        },
    }
}

json_object! {
    /// An instant on two clocks.
    pub(crate) struct ClockView(clock: WallClock, at: Uptime) {
        /// The uptime.
        uptime_ms: f64 = ms(at.0),
        /// The Unix time; null when unknown.
        unix_ms: Option<i64> = clock.unix_ms(at),
        /// The time in UTC as RFC 3339; null when unknown.
        utc: Option<String> = clock.rfc3339(at),
    }
}

json_object! {
    /// The process that the report is about.
    pub(crate) struct ProcessView<'a>(process: &'a Process, dump_ns: Uptime, recorded: bool) {
        /// The process id.
        pid: u32 = process.pid,
        /// The process name.
        name: &'a str = &process.name,
        /// `Build.VERSION.SDK_INT`.
        api_level: u32 = process.api_level,
        /// The ABI of the process.
        abi: &'a str = &process.abi,
        /// The version of the app; empty when unknown.
        app_version: &'a str = &process.app_version,
        /// The manufacturer and model of the device; for a report that is only an ANR trace, its brand and
        /// code name. Empty when unknown.
        device: &'a str = &process.device,
        /// When the process started, relative to the dump; null when unknown.
        started_at_ms: Option<f64> = process.started_ns.map(|at| ms_between(at, dump_ns)),
        /// When the recorder was installed, relative to the dump; null when the report is from no recorder.
        installed_at_ms: Option<f64> = recorded.then(|| ms_between(process.installed_ns, dump_ns)),
    }
}

json_object! {
    /// The limits that the recorder was configured with.
    pub(crate) struct LimitsView(limits: Limits) {
        /// The work time at which a group of messages is full.
        group_ms: f64 = ms(limits.group_ns),
        /// The dispatch time from which a message is kept by name.
        detail_ms: f64 = ms(limits.detail_ns),
        /// The number of records that the history keeps.
        slots: u32 = limits.slots,
        /// The number of messages that a record keeps by name.
        details_per_record: u32 = limits.details_per_record,
        /// The age of a message at which stack sampling starts.
        sample_onset_ms: f64 = ms(limits.sample_onset_ns),
        /// The interval between two samples; 0 means one stack of each message.
        sample_interval_ms: f64 = ms(limits.sample_interval_ns),
    }
}
