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
        /// What the record stands for.
        kind: Name<RecordKind> = Name(record.kind),
        /// When it started, relative to the dump.
        at_ms: f64 = ms_between(record.start_ns, a.dump_ns),
        /// When it started, as time of day in UTC.
        clock: Option<String> = a.wall_clock().time_of_day(record.start_ns),
        /// The number of its first message.
        first_token: Key = Key(record.first_token),
        /// The number of its messages.
        count: u32 = record.count,
        /// Its wall time.
        wall_ms: f64 = ms(record.wall_ns),
        /// The part spent in messages.
        work_ms: f64 = ms(record.work_ns),
        /// The part spent between messages.
        idle_ms: f64 = ms(record.idle_ns),
        /// The CPU time of the main thread; null when unknown.
        cpu_ms: Option<f64> = record.cpu_ns.map(ms),
        /// The longest wake-up latency of the sampler thread; null when the thread did not sleep.
        checktime_late_ms: Option<f64> = record.checktime_late_ns.map(ms),
        /// The slowest message; null when there is none.
        slowest: Option<SlowestView> = record.slowest.map(|slowest| SlowestView::new(record, slowest)),
        /// The messages that are kept by name.
        details: Vec<DetailView<'a>> =
            record.details.iter().map(|detail| DetailView::new(a, detail)).collect(),
        /// The number of slow messages that the record had no room to keep by name.
        dropped_details: u32 = record.dropped_details,
        /// False for the group that was not closed at the dump.
        closed: bool = record.closed,
    }
}

json_object! {
    /// The slowest message of a record.
    pub(crate) struct SlowestView(record: &Record, slowest: Slowest) {
        /// The number of the message.
        token: Key = Key(slowest.token),
        /// Its dispatch time.
        wall_ms: f64 = ms(slowest.wall_ns),
        /// Whether it took at most that long: its end was not seen.
        at_most: bool = at_most(record, &slowest),
    }
}

json_object! {
    /// A message that is kept by name.
    pub(crate) struct DetailView<'a>(a: &'a Analysis, detail: &'a Detail) {
        /// The number of the message.
        token: Key = Key(detail.token),
        /// When its dispatch started, relative to the dump.
        at_ms: f64 = ms_between(detail.start_ns, a.dump_ns),
        /// Its dispatch time.
        wall_ms: f64 = ms(detail.wall_ns),
        /// Whether it took at most that long: its end was not seen.
        at_most: bool = detail.end == End::Missed,
        /// The part of it before the recorder was installed: there are no stacks of that part.
        before_install_ms: f64 = ms(a.before_install_ns(detail.start_ns, detail.wall_ns)),
        /// How late it was dispatched after its `when`; `None` when unknown.
        wait_ms: Option<f64> = detail.wait_ns.map(ms),
        /// How the dispatch ended.
        end: Name<End> = Name(detail.end),
        /// What identifies the message; `None` when the hook does not know.
        message: Option<MessageView<'a>> =
            detail.message.as_ref().map(|m| MessageView::new(a, Some(detail.token), m)),
        /// Whether the report has a stack tree of the message.
        has_tree: bool = a.tree(detail.token).is_some(),
    }
}
