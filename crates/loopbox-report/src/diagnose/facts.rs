//! The facts that rules read, computed once.

use super::wait_kind::WaitProfile;
use crate::model::message_name::message_name;
use crate::model::time::share;
use crate::model::{Analysis, SampledTree};
use loopbox_format::model::{MainState, Message, RecordKind};

const SECOND: u64 = 1_000_000_000;

/// The part of the history that can matter to an ANR: twice the shortest time-out (5 s for input), because the message
/// that missed its time-out may itself have started late.
pub(super) const WINDOW_NS: u64 = 10 * SECOND;
/// The shortest ANR time-out.
pub(super) const INPUT_TIMEOUT_NS: u64 = 5 * SECOND;

/// A slow message, running or past.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlowMessage<'a> {
    pub(super) token: u64,
    pub(super) start_ns: u64,
    pub(super) wall_ns: u64,
    /// The CPU time of main during the message; known for the running message and for one that is its own record.
    pub(super) cpu_ns: Option<u64>,
    pub(super) running: bool,
    pub(super) message: Option<&'a Message>,
    pub(super) tree: Option<&'a SampledTree>,
}

impl SlowMessage<'_> {
    /// The part of the message that main spent on the CPU, at most 1.
    pub(super) fn cpu_share(&self) -> Option<f64> {
        self.cpu_ns.filter(|_| self.wall_ns > 0).map(|cpu| share(cpu, self.wall_ns).min(1.0))
    }

    pub(super) fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.wall_ns)
    }

    /// `message #46 (com.example.Checkout$1 on android.os.Handler)`.
    pub(super) fn name(&self, api_level: u32) -> String {
        match self.message {
            Some(message) => {
                format!("message #{} ({})", self.token, message_name(message, api_level))
            }
            None => format!("message #{}", self.token),
        }
    }
}

/// The load of main in the window before the dump, without the running message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    /// The part of the window that the history covers, without what ran unseen.
    pub(super) span_ns: u64,
    /// The time in messages.
    pub(super) work_ns: u64,
    /// The time between messages.
    pub(super) idle_ns: u64,
    /// The CPU time in idle records: native callbacks and idle handlers run there.
    pub(super) idle_cpu_ns: u64,
    /// The number of messages.
    pub(super) messages: u64,
}

pub(super) struct Facts<'a> {
    pub(super) analysis: &'a Analysis,
    /// The uptime that the report describes.
    pub(super) now_ns: u64,
    running: Option<SlowMessage<'a>>,
    /// The longest earlier message that ended inside the window.
    pub(super) longest_past: Option<SlowMessage<'a>>,
    pub(super) load: Load,
    /// The longest wake-up latency of the sampler thread inside the window.
    pub(super) wakeup_latency_ns: u64,
    /// The records of the window with a wake-up latency of 300 ms or more.
    pub(super) late_records: usize,
    /// Where the time of the primary message went.
    pub(super) profile: Option<WaitProfile>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(a: &'a Analysis) -> Self {
        let running = a.running().map(|r| SlowMessage {
            token: r.token,
            start_ns: r.start_ns,
            wall_ns: r.age_ns(),
            cpu_ns: r.cpu_ns,
            running: true,
            message: r.message.as_ref(),
            tree: a.tree(r.token),
        });
        let now_ns = a.running().map_or(a.dump_ns, |r| r.as_of_ns);
        let window_end_ns = running.map_or(now_ns, |r| r.start_ns);
        let mut facts = Self {
            analysis: a,
            now_ns,
            running,
            longest_past: longest_past(a, now_ns),
            load: load(a, window_end_ns),
            wakeup_latency_ns: 0,
            late_records: 0,
            profile: None,
        };
        for record in a.history.iter().filter(|r| ends_in_window(r.start_ns, r.wall_ns, now_ns)) {
            let late = record.checktime_late_ns.unwrap_or(0);
            facts.wakeup_latency_ns = facts.wakeup_latency_ns.max(late);
            facts.late_records += usize::from(late >= 300_000_000);
        }
        facts.profile =
            facts.primary_message().and_then(|slow| slow.tree).map(|tree| WaitProfile::new(tree, &a.frames));
        facts
    }

    /// The running message, slow or not.
    pub(super) fn running(&self) -> Option<SlowMessage<'a>> {
        self.running
    }

    /// How long main had been idle.
    pub(super) fn idle_for_ns(&self) -> Option<u64> {
        match &self.analysis.main {
            MainState::Idle { since_ns } => Some(self.now_ns.saturating_sub(*since_ns)),
            _ => None,
        }
    }

    /// The message that the diagnosis is about first: the running one, unless an earlier one took longer.
    pub(super) fn primary_message(&self) -> Option<SlowMessage<'a>> {
        match (self.running, self.longest_past) {
            (Some(running), Some(past)) if past.wall_ns > running.wall_ns => Some(past),
            (Some(running), _) => Some(running),
            (None, past) => past,
        }
    }

    /// How strongly a message of this length and age explains an ANR at the dump. The rules that find out why the
    /// message was slow start from this score.
    pub(super) fn score(&self, slow: SlowMessage<'_>) -> f64 {
        if slow.running { self.score_running(slow) } else { self.score_past(slow) }
    }

    fn score_running(&self, slow: SlowMessage<'_>) -> f64 {
        let by_age: f64 = match slow.wall_ns {
            age if age >= INPUT_TIMEOUT_NS / 10 * 9 => 0.88,
            age if age >= 2 * SECOND => 0.75,
            age if age >= SECOND => 0.6,
            age if age >= SECOND / 2 => 0.32,
            _ => 0.0,
        };
        let longer_past = self.longest_past.is_some_and(|past| past.wall_ns > slow.wall_ns);
        by_age - if longer_past { 0.15 } else { 0.0 }
    }

    fn score_past(&self, past: SlowMessage<'_>) -> f64 {
        let by_length: f64 = match past.wall_ns {
            wall if wall >= 4 * SECOND => 0.85,
            wall if wall >= 2 * SECOND => 0.75,
            wall if wall >= SECOND => 0.55,
            wall if wall >= SECOND / 2 => 0.32,
            _ => 0.0,
        };
        let longer_now = self.running.is_some_and(|running| running.wall_ns >= past.wall_ns);
        // Main was idle in between: what waited for the past message has been handled since.
        let since = self.now_ns.saturating_sub(past.end_ns());
        let free_since = self.idle_for_ns().unwrap_or(0) >= SECOND;
        by_length
            - if longer_now { 0.3 } else { 0.0 }
            - if since > INPUT_TIMEOUT_NS { 0.25 } else { 0.0 }
            - if free_since { 0.2 } else { 0.0 }
    }
}

fn ends_in_window(start_ns: u64, wall_ns: u64, now_ns: u64) -> bool {
    start_ns.saturating_add(wall_ns) >= now_ns.saturating_sub(WINDOW_NS)
}

fn longest_past(a: &Analysis, now_ns: u64) -> Option<SlowMessage<'_>> {
    let slow = a.history.iter().flat_map(|record| {
        let own_record = record.kind == RecordKind::Single && record.count == 1;
        let named = record.details.iter().map(move |d| SlowMessage {
            token: d.token,
            start_ns: d.start_ns,
            wall_ns: d.wall_ns,
            cpu_ns: record.cpu_ns.filter(|_| own_record),
            running: false,
            message: d.message.as_ref(),
            tree: a.tree(d.token),
        });
        // The slowest message may not be kept by name: then its length is known, and its place in the group is not.
        let unnamed = (record.slowest.wall_ns > 0
            && !record.details.iter().any(|d| d.token == record.slowest.token))
        .then(|| SlowMessage {
            token: record.slowest.token,
            start_ns: record.start_ns,
            wall_ns: record.slowest.wall_ns,
            cpu_ns: record.cpu_ns.filter(|_| own_record),
            running: false,
            message: None,
            tree: a.tree(record.slowest.token),
        });
        named.chain(unnamed)
    });
    slow.filter(|s| ends_in_window(s.start_ns, s.wall_ns, now_ns)).max_by_key(|s| s.wall_ns)
}

/// Sums up the window that ends at `end_ns`; a record that started before the window counts with its part inside.
fn load(a: &Analysis, end_ns: u64) -> Load {
    let from = end_ns.saturating_sub(WINDOW_NS);
    let mut load = Load::default();
    for record in &a.history {
        let (start, end) = (record.start_ns, record.start_ns.saturating_add(record.wall_ns));
        let inside = end.min(end_ns).saturating_sub(start.max(from));
        if inside == 0 || record.kind == RecordKind::Unseen {
            continue;
        }
        let part = share(inside, record.wall_ns).min(1.0);
        let of = |ns: u64| (ns as f64 * part) as u64;
        load.span_ns = load.span_ns.saturating_add(inside);
        load.work_ns = load.work_ns.saturating_add(of(record.work_ns.min(record.wall_ns)));
        load.idle_ns = load.idle_ns.saturating_add(of(record.idle_ns.min(record.wall_ns)));
        load.messages += u64::from(record.count);
        if record.kind == RecordKind::Idle {
            load.idle_cpu_ns = load.idle_cpu_ns.saturating_add(of(record.cpu_ns.unwrap_or(0)));
        }
    }
    load
}
