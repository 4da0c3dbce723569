//! The records of the message history.

use super::message::MessageView;
use crate::model::Analysis;
use crate::model::time::{ms, ms_between};
use crate::model::token;
use loopbox_format::model::{Detail, End, Record, RecordKind, Token};
use serde::Serialize;

/// One record of the history.
#[derive(Debug, Clone, Serialize)]
pub struct RecordView {
    /// The number of the record.
    pub seq: u64,
    /// `group`, `single`, `idle` or `frozen`.
    pub kind: &'static str,
    /// When it started, relative to the dump.
    pub at_ms: f64,
    /// When it started, as time of day in UTC.
    pub clock: Option<String>,
    /// The number of its first message.
    #[serde(serialize_with = "token::serialize")]
    pub first_token: Token,
    /// The number of its messages.
    pub count: u32,
    /// Its wall time.
    pub wall_ms: f64,
    /// The part spent in messages.
    pub work_ms: f64,
    /// The part spent between messages.
    pub idle_ms: f64,
    /// The CPU time of the main thread; `None` when unknown.
    pub cpu_ms: Option<f64>,
    /// The longest wake-up latency of the sampler thread; `None` when the thread did not sleep.
    pub checktime_late_ms: Option<f64>,
    /// The slowest message; `None` when there is none.
    pub slowest: Option<SlowestView>,
    /// The messages that are kept by name.
    pub details: Vec<DetailView>,
    /// The number of slow messages that the record had no room to keep by name.
    pub dropped_details: u32,
    /// False for the group that was not closed at the dump.
    pub closed: bool,
}

/// The slowest message of a record.
#[derive(Debug, Clone, Serialize)]
pub struct SlowestView {
    /// The number of the message.
    #[serde(serialize_with = "token::serialize")]
    pub token: Token,
    /// Its dispatch time.
    pub wall_ms: f64,
    /// Whether it took at most that long: its end was not seen.
    pub at_most: bool,
}

impl RecordView {
    pub(super) fn new(a: &Analysis, record: &Record) -> Self {
        Self {
            seq: record.seq,
            kind: match record.kind {
                RecordKind::Group => "group",
                RecordKind::Single => "single",
                RecordKind::Idle => "idle",
                RecordKind::Frozen => "frozen",
                RecordKind::Unseen => "unseen",
                _ => "unknown",
            },
            at_ms: ms_between(record.start_ns, a.dump_ns),
            clock: a.wall_clock().time_of_day(record.start_ns),
            first_token: record.first_token,
            count: record.count,
            wall_ms: ms(record.wall_ns),
            work_ms: ms(record.work_ns),
            idle_ms: ms(record.idle_ns),
            cpu_ms: record.cpu_ns.map(ms),
            checktime_late_ms: record.checktime_late_ns.map(ms),
            slowest: record.slowest.map(|slowest| SlowestView {
                token: slowest.token,
                wall_ms: ms(slowest.wall_ns),
                at_most: record
                    .details
                    .iter()
                    .any(|detail| detail.token == slowest.token && detail.end == End::Missed),
            }),
            details: record.details.iter().map(|detail| DetailView::new(a, detail)).collect(),
            dropped_details: record.dropped_details,
            closed: record.closed,
        }
    }
}

/// A message that is kept by name.
#[derive(Debug, Clone, Serialize)]
pub struct DetailView {
    /// The number of the message.
    #[serde(serialize_with = "token::serialize")]
    pub token: Token,
    /// When its dispatch started, relative to the dump.
    pub at_ms: f64,
    /// Its dispatch time.
    pub wall_ms: f64,
    /// Whether it took at most that long: its end was not seen.
    pub at_most: bool,
    /// The part of it before the recorder was installed: there are no stacks of that part.
    pub before_install_ms: f64,
    /// How late it was dispatched after its `when`; `None` when unknown.
    pub wait_ms: Option<f64>,
    /// How the dispatch ended: `returned`, `threw` or `missed`.
    pub end: &'static str,
    /// What identifies the message; `None` when the hook does not know.
    pub message: Option<MessageView>,
    /// Whether the report has a stack tree of the message.
    pub has_tree: bool,
}

impl DetailView {
    fn new(a: &Analysis, detail: &Detail) -> Self {
        Self {
            token: detail.token,
            at_ms: ms_between(detail.start_ns, a.dump_ns),
            wall_ms: ms(detail.wall_ns),
            at_most: detail.end == End::Missed,
            before_install_ms: ms(a.before_install_ns(detail.start_ns, detail.wall_ns)),
            wait_ms: detail.wait_ns.map(ms),
            end: match detail.end {
                End::Returned => "returned",
                End::Threw => "threw",
                End::Missed => "missed",
                _ => "unknown",
            },
            message: detail.message.as_ref().map(|m| MessageView::of(a, detail.token, m)),
            has_tree: a.tree(detail.token).is_some(),
        }
    }
}
