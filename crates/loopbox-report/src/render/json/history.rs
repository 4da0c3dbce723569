//! The records of the message history.

use super::message::MessageView;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use crate::model::token::Key;
use crate::model::{Analysis, at_most};
use loopbox_format::model::{Detail, End, Record, RecordKind, Slowest};

json_object! {
    /// One record of the history.
    pub(crate) struct RecordView<'a>(a: &'a Analysis, record: &'a Record) {
        /// The number of the record.
        seq: u64 = record.seq,
        /// What kind of time the record covers.
        kind: Name<RecordKind> = Name(record.kind),
        /// When the record started, relative to the dump.
        at_ms: f64 = ms_between(record.start_ns, a.dump_ns),
        /// When the record started, as time of day in UTC.
        clock: Option<String> = a.wall_clock().time_of_day(record.start_ns),
        /// The number of the record's first message.
        first_token: Key = Key(record.first_token),
        /// The number of messages in the record.
        count: u32 = record.count,
        /// The wall time of the record.
        wall_ms: f64 = ms(record.wall_ns),
        /// The part of `wall_ms` that was spent in messages.
        work_ms: f64 = ms(record.work_ns),
        /// The part of `wall_ms` that was spent between messages.
        idle_ms: f64 = ms(record.idle_ns),
        /// The CPU time of the main thread during the record; null when unknown.
        cpu_ms: Option<f64> = record.cpu_ns.map(ms),
        /// The longest wake-up latency of the sampler thread; null when the thread did not sleep.
        checktime_late_ms: Option<f64> = record.checktime_late_ns.map(ms),
        /// The slowest message of the record; null when there is none.
        slowest: Option<SlowestView> = record.slowest.map(|slowest| SlowestView::new(record, slowest)),
        /// The messages that are kept by name.
        details: Vec<DetailView<'a>> =
            record.details.iter().map(|detail| DetailView::new(a, detail)).collect(),
        /// The number of slow messages that the record had no room to keep by name.
        dropped_details: u32 = record.dropped_details,
        /// Whether the record was closed; false for the group that was still open at the dump.
        closed: bool = record.closed,
    }
}

json_object! {
    /// The slowest message of a record.
    pub(crate) struct SlowestView(record: &Record, slowest: Slowest) {
        /// The number of the message.
        token: Key = Key(slowest.token),
        /// How long the dispatch of the message took.
        wall_ms: f64 = ms(slowest.wall_ns),
        /// Whether `wall_ms` is an upper limit, because the end of the message was not seen.
        at_most: bool = at_most(record, &slowest),
    }
}

json_object! {
    /// A message that is kept by name.
    pub(crate) struct DetailView<'a>(a: &'a Analysis, detail: &'a Detail) {
        /// The number of the message.
        token: Key = Key(detail.token),
        /// When the dispatch of the message started, relative to the dump.
        at_ms: f64 = ms_between(detail.start_ns, a.dump_ns),
        /// How long the dispatch of the message took.
        wall_ms: f64 = ms(detail.wall_ns),
        /// Whether `wall_ms` is an upper limit, because the end of the message was not seen.
        at_most: bool = detail.end == End::Missed,
        /// The part of `wall_ms` before the recorder was installed: there are no stacks of that part.
        before_install_ms: f64 = ms(a.before_install_ns(detail.start_ns, detail.wall_ns)),
        /// How late the message was dispatched after its `when`; null when unknown.
        wait_ms: Option<f64> = detail.wait_ns.map(ms),
        /// How the dispatch ended.
        end: Name<End> = Name(detail.end),
        /// What identifies the message; null when the hook does not know.
        message: Option<MessageView<'a>> =
            detail.message.as_ref().map(|m| MessageView::new(a, Some(detail.token), m)),
        /// Whether the report has a stack tree of the message.
        has_tree: bool = a.tree(detail.token).is_some(),
    }
}
