//! The load of the main thread in the time that can matter to an ANR.

use crate::model::Analysis;
use crate::model::time::share;
use loopbox_format::model::{RecordKind, Uptime};

/// The part of the history that can matter to an ANR: twice the shortest time-out (5 s for input), because
/// the message that missed its time-out may itself have started late.
pub(super) const WINDOW_NS: u64 = 10_000_000_000;

/// The load of main within [`WINDOW_NS`] before the running message, or before the dump when none runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    /// The part of the [`WINDOW_NS`] that the history covers, without the times in which messages may have
    /// run unseen.
    pub(super) span_ns: u64,
    /// The time in messages.
    pub(super) work_ns: u64,
    /// The time between messages.
    pub(super) idle_ns: u64,
    /// The CPU time in idle records, where it was read: native callbacks and idle handlers run there.
    pub(super) idle_cpu_ns: u64,
    /// The part of the idle records whose CPU time was not read.
    pub(super) idle_unread_ns: u64,
    /// The time in which messages may have run unseen.
    pub(super) unseen_ns: u64,
    /// The number of messages.
    pub(super) messages: u64,
}

/// Sums up the load within [`WINDOW_NS`] before `end_ns`. Of a record that started earlier, only the part
/// within this time counts.
pub(super) fn load(a: &Analysis, end_ns: Uptime) -> Load {
    let from = end_ns.minus(WINDOW_NS);
    let mut load = Load::default();
    for record in &a.history {
        let (start, end) = (record.start_ns, record.start_ns.plus(record.wall_ns));
        let inside = end.min(end_ns).since(start.max(from));
        if inside == 0 {
            continue;
        }
        if record.kind == RecordKind::Unseen {
            load.unseen_ns = load.unseen_ns.saturating_add(inside);
            continue;
        }
        let part = share(inside, record.wall_ns).min(1.0);
        let of = |ns: u64| (ns as f64 * part) as u64;
        load.span_ns = load.span_ns.saturating_add(inside);
        load.work_ns = load.work_ns.saturating_add(of(record.work_ns.min(record.wall_ns)));
        load.idle_ns = load.idle_ns.saturating_add(of(record.idle_ns.min(record.wall_ns)));
        load.messages += u64::from(record.count);
        if record.kind == RecordKind::Idle {
            match record.cpu_ns {
                Some(cpu) => load.idle_cpu_ns = load.idle_cpu_ns.saturating_add(of(cpu)),
                None => load.idle_unread_ns = load.idle_unread_ns.saturating_add(inside),
            }
        }
    }
    load
}
