//! The records of the message history.

use super::message::MessageView;
use crate::model::name::Name;
use crate::model::time::{ms, ms_between};
use crate::model::token::Key;
use crate::model::{Analysis, at_most};
use loopbox_format::model::{Detail, End, Record, RecordKind};
use schemars::JsonSchema;
use serde::Serialize;

/// One record of the history.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RecordView<'a> {
    /// The number of the record.
    seq: u64,
    /// What the record stands for.
    kind: Name<RecordKind>,
    /// When it started, relative to the dump.
    at_ms: f64,
    /// When it started, as time of day in UTC.
    clock: Option<String>,
    /// The number of its first message.
    first_token: Key,
    /// The number of its messages.
    count: u32,
    /// Its wall time.
    wall_ms: f64,
    /// The part spent in messages.
    work_ms: f64,
    /// The part spent between messages.
    idle_ms: f64,
    /// The CPU time of the main thread; null when unknown.
    cpu_ms: Option<f64>,
    /// The longest wake-up latency of the sampler thread; null when the thread did not sleep.
    checktime_late_ms: Option<f64>,
    /// The slowest message; null when there is none.
    slowest: Option<SlowestView>,
    /// The messages that are kept by name.
    details: Vec<DetailView<'a>>,
    /// The number of slow messages that the record had no room to keep by name.
    dropped_details: u32,
    /// False for the group that was not closed at the dump.
    closed: bool,
}

/// The slowest message of a record.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SlowestView {
    /// The number of the message.
    token: Key,
    /// Its dispatch time.
    wall_ms: f64,
    /// Whether it took at most that long: its end was not seen.
    at_most: bool,
}

impl<'a> RecordView<'a> {
    pub(crate) fn new(a: &'a Analysis, record: &'a Record) -> Self {
        Self {
            seq: record.seq,
            kind: Name(record.kind),
            at_ms: ms_between(record.start_ns, a.dump_ns),
            clock: a.wall_clock().time_of_day(record.start_ns),
            first_token: Key(record.first_token),
            count: record.count,
            wall_ms: ms(record.wall_ns),
            work_ms: ms(record.work_ns),
            idle_ms: ms(record.idle_ns),
            cpu_ms: record.cpu_ns.map(ms),
            checktime_late_ms: record.checktime_late_ns.map(ms),
            slowest: record.slowest.map(|slowest| SlowestView {
                token: Key(slowest.token),
                wall_ms: ms(slowest.wall_ns),
                at_most: at_most(record, &slowest),
            }),
            details: record.details.iter().map(|detail| DetailView::new(a, detail)).collect(),
            dropped_details: record.dropped_details,
            closed: record.closed,
        }
    }
}

/// A message that is kept by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DetailView<'a> {
    /// The number of the message.
    token: Key,
    /// When its dispatch started, relative to the dump.
    at_ms: f64,
    /// Its dispatch time.
    wall_ms: f64,
    /// Whether it took at most that long: its end was not seen.
    at_most: bool,
    /// The part of it before the recorder was installed: there are no stacks of that part.
    before_install_ms: f64,
    /// How late it was dispatched after its `when`; `None` when unknown.
    wait_ms: Option<f64>,
    /// How the dispatch ended.
    end: Name<End>,
    /// What identifies the message; `None` when the hook does not know.
    message: Option<MessageView<'a>>,
    /// Whether the report has a stack tree of the message.
    has_tree: bool,
}

impl<'a> DetailView<'a> {
    fn new(a: &'a Analysis, detail: &'a Detail) -> Self {
        Self {
            token: Key(detail.token),
            at_ms: ms_between(detail.start_ns, a.dump_ns),
            wall_ms: ms(detail.wall_ns),
            at_most: detail.end == End::Missed,
            before_install_ms: ms(a.before_install_ns(detail.start_ns, detail.wall_ns)),
            wait_ms: detail.wait_ns.map(ms),
            end: Name(detail.end),
            message: detail.message.as_ref().map(|m| MessageView::of(a, detail.token, m)),
            has_tree: a.tree(detail.token).is_some(),
        }
    }
}
