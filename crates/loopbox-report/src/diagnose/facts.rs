//! The facts that rules read, computed once.

use super::load::{Load, WINDOW_NS, load};
use super::not_idle::NotIdle;
use super::slow_message::SlowMessage;
use super::traced_main::TracedMain;
use super::unseen::Unseen;
use super::wait_kind::WaitProfile;
use crate::model::{Analysis, MainWaitKind};
use loopbox_format::model::{End, MainState, Record, RecordKind, Token, Uptime, own_ns};

const SECOND: u64 = 1_000_000_000;

/// The shortest ANR time-out.
pub(super) const INPUT_TIMEOUT_NS: u64 = 5 * SECOND;

#[derive(Debug, Clone)]
pub(super) struct Facts<'a> {
    pub(super) analysis: &'a Analysis,
    /// The uptime of the moment that the report describes.
    pub(super) now_ns: Uptime,
    running: Option<SlowMessage<'a>>,
    /// What main was doing at the dump according to its stacks, when the recorder took main for idle or did
    /// not know what it was doing.
    seen: Option<SlowMessage<'a>>,
    /// The main thread as the system's trace shows it, if that trace is of the moment of the report.
    pub(super) trace: Option<TracedMain<'a>>,
    /// Whether main waited for its next message at the dump: according to the queue, main's stack, or the
    /// kernel; `None` when none of them is known.
    pub(super) waits: Option<bool>,
    /// The evidence that main was not idle, although it is reported as idle.
    pub(super) not_idle: Option<NotIdle<'a>>,
    /// The slow messages that ended within [`WINDOW_NS`] before the dump, newest first.
    past: Vec<SlowMessage<'a>>,
    /// The longest message that ended within [`WINDOW_NS`] before the dump, slow or not.
    pub(super) longest_past: Option<SlowMessage<'a>>,
    pub(super) load: Load,
    /// The longest wake-up latency of the sampler thread within [`WINDOW_NS`] before the dump; `None` when
    /// none was measured.
    pub(super) wakeup_latency_ns: Option<u64>,
    /// The number of records within [`WINDOW_NS`] before the dump whose wake-up latency is 300 ms or more.
    pub(super) late_records: usize,
    /// The message in focus.
    focus: Option<SlowMessage<'a>>,
    /// The times within the message in focus in which no stack was taken.
    pub(super) unseen: Unseen,
    /// What the stacks of the message in focus show.
    pub(super) profile: Option<WaitProfile>,
}

/// A message that took at least this long may be the cause of an ANR.
const MIN_SLOW_NS: u64 = SECOND / 2;
/// How many earlier messages are examined: the longest ones.
const MAX_PAST: usize = 8;

impl<'a> Facts<'a> {
    pub(super) fn new(a: &'a Analysis) -> Self {
        let running = SlowMessage::at_dump(a);
        let now_ns = match &a.main {
            MainState::Running(running) => running.as_of_ns,
            MainState::Outside(outside) => outside.as_of_ns,
            _ => a.dump_ns,
        };
        let window_end_ns = running.map_or(now_ns, |r| r.start_ns);
        let mut past = past(a, now_ns);
        let longest_past = past.iter().copied().max_by_key(|slow| slow.wall_ns);
        past.retain(|slow| slow.wall_ns >= MIN_SLOW_NS);
        past.sort_by_key(|slow| std::cmp::Reverse(slow.wall_ns));
        past.truncate(MAX_PAST);
        past.sort_by_key(|slow| std::cmp::Reverse(slow.end_ns()));
        let mut facts = Self {
            analysis: a,
            now_ns,
            running,
            seen: None,
            trace: TracedMain::of(a),
            waits: waits(a),
            not_idle: None,
            longest_past,
            past,
            load: load(a, window_end_ns),
            wakeup_latency_ns: None,
            late_records: 0,
            focus: None,
            unseen: Unseen::default(),
            profile: None,
        };
        for record in
            a.history.iter().filter(|record| ends_in_window(record.start_ns, record.wall_ns, now_ns))
        {
            facts.wakeup_latency_ns = facts.wakeup_latency_ns.max(record.checktime_late_ns);
            facts.late_records += usize::from(record.checktime_late_ns >= Some(300_000_000));
        }
        facts.not_idle = NotIdle::of(a, facts.load, now_ns, facts.waits);
        let seen = facts.not_idle.as_ref().filter(|found| found.is_seen());
        facts.seen = seen.map(|found| found.message(a, now_ns, facts.idle_for_ns()));
        let primary = match (facts.at_dump(), facts.longest_past) {
            (Some(running), Some(past)) if past.wall_ns > running.wall_ns => Some(past),
            (Some(running), _) => Some(running),
            (None, past) => past,
        };
        facts.set_focus(primary);
        facts
    }

    /// The same facts, with the message `slow` in focus.
    pub(super) fn of(&self, slow: SlowMessage<'a>) -> Self {
        let mut facts = self.clone();
        facts.set_focus(Some(slow));
        facts
    }

    fn set_focus(&mut self, focus: Option<SlowMessage<'a>>) {
        let a = self.analysis;
        self.focus = focus;
        self.unseen = focus.map_or_else(Unseen::default, |slow| Unseen::of(a, slow));
        let tree = focus.and_then(|slow| slow.tree);
        self.profile = tree.map(|tree| WaitProfile::new(tree, &self.unseen.gaps(), &a.frames));
    }

    /// The messages that may be the cause: what runs now, and the slow messages that ended within
    /// [`WINDOW_NS`] before the dump, newest first.
    pub(super) fn candidates(&self) -> Vec<SlowMessage<'a>> {
        self.at_dump().into_iter().chain(self.past.iter().copied()).collect()
    }

    /// The slow messages that ended within [`WINDOW_NS`] before the dump, newest first.
    pub(super) fn past(&self) -> &[SlowMessage<'a>] {
        &self.past
    }

    /// Whether a message is the one in focus.
    pub(super) fn is_focus(&self, slow: SlowMessage<'_>) -> bool {
        self.focus.is_some_and(|focus| (focus.token, focus.running) == (slow.token, slow.running))
    }

    /// The running message, slow or not, or what ran outside of messages.
    pub(super) fn running(&self) -> Option<SlowMessage<'a>> {
        self.running
    }

    /// What main was doing at the dump: according to the recorder, or else to its stacks.
    pub(super) fn at_dump(&self) -> Option<SlowMessage<'a>> {
        self.running.or(self.seen)
    }

    /// How long main had been idle, as the recorder says.
    pub(super) fn idle_for_ns(&self) -> Option<u64> {
        match &self.analysis.main {
            MainState::Idle { since_ns } => Some(self.now_ns.since(*since_ns)),
            _ => None,
        }
    }

    /// How long main had been idle, if nothing in the report contradicts that.
    pub(super) fn free_for_ns(&self) -> Option<u64> {
        self.idle_for_ns().filter(|_| self.not_idle.is_none())
    }

    /// Whether main is known to have been free for at least `ns` nanoseconds.
    pub(super) fn was_free_for(&self, ns: u64) -> bool {
        self.free_for_ns().is_some_and(|free| free >= ns)
    }

    /// The reason to lower the confidence when the history before the report is incomplete: an earlier
    /// message may have taken longer. `None` when it is complete.
    pub(super) fn unknown_history(&self) -> Option<String> {
        // Nothing can have run before the first message.
        let seen = self.not_idle.as_ref().and_then(|found| found.stacks.map(|(tree, _)| tree.token));
        let first = self.running.map(|running| running.token).or(seen).map(Token::message) == Some(Token(1));
        (self.analysis.history.is_empty() && !first).then(|| "what ran before is not known".into())
    }

    /// A reason for less confidence: what main did at the dump is not known.
    pub(super) fn unknown_main(&self) -> Option<String> {
        let unknown = matches!(self.analysis.main, MainState::Unknown);
        unknown.then(|| "what main did at the dump is not known".into())
    }

    /// Whether a record ends within [`WINDOW_NS`] before the dump.
    pub(super) fn is_in_window(&self, record: &Record) -> bool {
        ends_in_window(record.start_ns, record.wall_ns, self.now_ns)
    }

    /// The message in focus. [`Self::new`] chooses what runs at the dump, or the longest earlier message if
    /// that one took longer. If nothing runs at the dump, it chooses the longest earlier message. `None` when
    /// there is no such message either. [`Self::of`] puts another message in focus.
    pub(super) fn primary_message(&self) -> Option<SlowMessage<'a>> {
        self.focus
    }

    /// The wall time of the longest message: the running one, or one that ended within [`WINDOW_NS`] before
    /// the dump. `None` when none is known.
    pub(super) fn longest_ns(&self) -> Option<u64> {
        [self.running, self.longest_past].into_iter().flatten().map(|slow| slow.wall_ns).max()
    }

    /// How strongly a slow message explains an ANR at the time of the dump, by the length of the message and
    /// by how long ago it ended. The rules that find out why the message was slow start from this score.
    pub(super) fn score(&self, slow: SlowMessage<'_>) -> f64 {
        if slow.running { self.score_running(slow) } else { self.score_past(slow) }
    }

    fn score_running(&self, slow: SlowMessage<'_>) -> f64 {
        // Of a time in which the process did not run nothing is the message's own.
        let ran_ns = slow.certain_ns.saturating_sub(Unseen::of(self.analysis, slow).frozen_ns);
        let by_age: f64 = match ran_ns {
            // The system took its trace because it did not respond, and does not say for how long.
            _ if self.analysis.is_trace_alone() => 0.66,
            age if age >= INPUT_TIMEOUT_NS / 10 * 9 => 0.88,
            age if age >= 2 * SECOND => 0.75,
            age if age >= SECOND => 0.6,
            // It is unknown since when, and it may have been for long.
            _ if slow.wall_ns >= 2 * SECOND && slow.wall_ns > slow.certain_ns => 0.5,
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
        let since = self.now_ns.since(past.end_ns());
        let free_since = self.was_free_for(SECOND);
        // A newer one of its size was nearer to the instant of the report.
        let newer = self.past.iter().any(|other| {
            other.end_ns() > past.end_ns() && other.wall_ns >= SECOND && other.wall_ns >= past.wall_ns / 2
        });
        by_length
            - if longer_now { 0.3 } else { 0.0 }
            - if since > INPUT_TIMEOUT_NS { 0.25 } else { 0.0 }
            - if free_since { 0.2 } else { 0.0 }
            - if newer { 0.1 } else { 0.0 }
    }
}

/// Whether main was waiting for its next message at the dump.
fn waits(a: &Analysis) -> Option<bool> {
    let since_ns = match &a.main {
        MainState::Idle { since_ns } => *since_ns,
        _ => Uptime::ZERO,
    };
    let by_stack = || a.stacks_outside_since(since_ns)?.outside_place(&a.frames).map(|place| place.waits_now);
    let by_kernel = || match a.main_wait()?.kind {
        MainWaitKind::Looper => Some(true),
        MainWaitKind::Unknown | MainWaitKind::Cpu | MainWaitKind::Runs | MainWaitKind::Stopped => None,
        _ => Some(false),
    };
    match &a.main {
        MainState::Running(_) | MainState::Outside(_) => a.queue.polling,
        _ => a.queue.polling.or_else(by_stack).or_else(by_kernel),
    }
}

fn ends_in_window(start_ns: Uptime, wall_ns: u64, now_ns: Uptime) -> bool {
    start_ns.plus(wall_ns) >= now_ns.minus(WINDOW_NS)
}

/// The messages that ended within [`WINDOW_NS`] before the dump, as far as their length is known.
fn past(a: &Analysis, now_ns: Uptime) -> Vec<SlowMessage<'_>> {
    let recorded = a.history.iter().flat_map(|record| {
        let own_record = record.kind == RecordKind::Single && record.count == 1;
        let cpu_ns = record.cpu_ns.filter(|_| own_record);
        let past = move |token, start_ns, wall_ns| SlowMessage {
            cpu_ns,
            ..SlowMessage::past(a, token, start_ns, wall_ns)
        };
        let named = record.details.iter().map(move |d| {
            // A loop inside of it may have taken the most of it. What it took itself is put at its end.
            let own_ns = own_ns(&a.history, d);
            SlowMessage {
                end_unseen: d.end == End::Missed || own_ns < d.wall_ns,
                message: d.message.as_ref(),
                ..past(d.token, d.start_ns.plus(d.wall_ns - own_ns), own_ns)
            }
        });
        // The slowest message may not be kept by name: then its length is known, and its place in the group
        // is not.
        let unnamed = record
            .slowest
            .filter(|slowest| !record.details.iter().any(|d| d.token == slowest.token))
            .map(|slowest| past(slowest.token, record.start_ns, slowest.wall_ns));
        named.chain(unnamed)
    });
    // What ran outside of messages is known by its stacks alone.
    let current = a.current_token();
    let outside = a.trees.iter().filter_map(|tree| {
        let finished = tree.token.is_outside() && Some(tree.token) != current;
        let busy_ns = tree.outside_place(&a.frames).filter(|_| finished)?.busy_ns;
        Some(SlowMessage::past(a, tree.token, *tree.sample_ns.first()?, busy_ns))
    });
    let slow = recorded.chain(outside);
    slow.filter(|s| ends_in_window(s.start_ns, s.wall_ns, now_ns)).collect()
}
