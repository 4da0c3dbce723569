//! What the rules look at, computed once.

use super::waits::Profile;
use crate::Analysis;
use crate::clock::{duration, ms};
use crate::tree::Tree;
use crate::view::MessageView;
use loopbox_format::model::{MainState, Message, RecordKind};

const SECOND: u64 = 1_000_000_000;

/// The past that can matter to an ANR: twice the shortest time-out (5 s for input), because the message that was
/// waited for may itself have begun late.
pub(crate) const WINDOW_NS: u64 = 10 * SECOND;
/// The shortest ANR time-out.
pub(crate) const INPUT_TIMEOUT_NS: u64 = 5 * SECOND;

/// A duration in words.
pub(crate) fn said(ns: u64) -> String {
    duration(ms(ns))
}

/// `part / whole`, 0 when there is no whole.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A share in words.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A message that took long, running or past.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slow<'a> {
    pub(crate) token: u64,
    pub(crate) start_ns: u64,
    pub(crate) wall_ns: u64,
    /// CPU time of main during it; only known for the running one and for one with a record of its own.
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) running: bool,
    pub(crate) message: Option<&'a Message>,
    pub(crate) tree: Option<&'a Tree>,
}

impl Slow<'_> {
    /// How much of it main spent on the CPU, at most 1.
    pub(crate) fn cpu_share(&self) -> Option<f64> {
        self.cpu_ns.filter(|_| self.wall_ns > 0).map(|cpu| share(cpu, self.wall_ns).min(1.0))
    }

    pub(crate) fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.wall_ns)
    }

    /// `message #46 (com.example.Checkout$1 on android.os.Handler)`.
    pub(crate) fn name(&self, api_level: u32) -> String {
        match self.message {
            Some(message) => {
                format!("message #{} ({})", self.token, MessageView::new(message, api_level).text)
            }
            None => format!("message #{}", self.token),
        }
    }
}

/// What main did in the window before the dump, the running message apart.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Busy {
    /// How much of the window the history covers.
    pub(crate) span_ns: u64,
    /// Time in messages.
    pub(crate) work_ns: u64,
    /// Time between messages.
    pub(crate) idle_ns: u64,
    /// CPU time in idle records: native callbacks and idle handlers run there.
    pub(crate) idle_cpu_ns: u64,
    /// How many messages.
    pub(crate) messages: u64,
}

pub(crate) struct Facts<'a> {
    pub(crate) a: &'a Analysis,
    /// The instant that the report speaks of.
    pub(crate) now_ns: u64,
    running: Option<Slow<'a>>,
    /// The longest earlier message that ended inside the window.
    pub(crate) past: Option<Slow<'a>>,
    pub(crate) busy: Busy,
    /// How late the sampler woke at worst inside the window, and in how many records it was 300 ms or more.
    pub(crate) late_ns: u64,
    pub(crate) late_records: usize,
    /// Where the time of the message that matters most went.
    pub(crate) profile: Option<Profile>,
}

impl<'a> Facts<'a> {
    /// `Build.VERSION.SDK_INT` of the device.
    pub(crate) fn api_level(&self) -> u32 {
        self.a.meta.process.api_level
    }

    pub(crate) fn new(a: &'a Analysis) -> Self {
        let running = a.running().map(|r| Slow {
            token: r.token,
            start_ns: r.start_ns,
            wall_ns: r.age_ns(),
            cpu_ns: r.cpu_ns,
            running: true,
            message: r.message.as_ref(),
            tree: a.tree(r.token),
        });
        let now_ns = a.running().map_or(a.zero_ns, |r| r.as_of_ns);
        let begin_ns = running.map_or(now_ns, |r| r.start_ns);
        let mut facts = Self {
            a,
            now_ns,
            running,
            past: longest_past(a, now_ns),
            busy: busy(a, begin_ns),
            late_ns: 0,
            late_records: 0,
            profile: None,
        };
        for record in a.history.iter().filter(|r| ends_in_window(r.start_ns, r.wall_ns, now_ns)) {
            let late = record.checktime_late_ns.unwrap_or(0);
            facts.late_ns = facts.late_ns.max(late);
            facts.late_records += usize::from(late >= 300_000_000);
        }
        facts.profile = facts.focus().and_then(|slow| slow.tree).map(|tree| Profile::new(tree, &a.frames));
        facts
    }

    /// The running message, however young.
    pub(crate) fn running(&self) -> Option<Slow<'a>> {
        self.running
    }

    /// How long main had been running no message.
    pub(crate) fn idle_for_ns(&self) -> Option<u64> {
        match &self.a.main {
            MainState::Idle { since_ns } => Some(self.now_ns.saturating_sub(*since_ns)),
            _ => None,
        }
    }

    /// The message whose stacks say most: the running one, unless an earlier one took longer.
    pub(crate) fn focus(&self) -> Option<Slow<'a>> {
        match (self.running, self.past) {
            (Some(running), Some(past)) if past.wall_ns > running.wall_ns => Some(past),
            (Some(running), _) => Some(running),
            (None, past) => past,
        }
    }

    /// How strongly a message of this length and age explains an ANR at the dump; the rules that say why it was
    /// slow build on it.
    pub(crate) fn blame(&self, slow: Slow<'_>) -> f64 {
        if slow.running { self.blame_running(slow) } else { self.blame_past(slow) }
    }

    fn blame_running(&self, slow: Slow<'_>) -> f64 {
        let by_age: f64 = match slow.wall_ns {
            age if age >= INPUT_TIMEOUT_NS / 10 * 9 => 0.88,
            age if age >= 2 * SECOND => 0.75,
            age if age >= SECOND => 0.6,
            age if age >= SECOND / 2 => 0.32,
            _ => 0.0,
        };
        let longer_past = self.past.is_some_and(|past| past.wall_ns > slow.wall_ns);
        by_age - if longer_past { 0.15 } else { 0.0 }
    }

    fn blame_past(&self, past: Slow<'_>) -> f64 {
        let by_length: f64 = match past.wall_ns {
            wall if wall >= 4 * SECOND => 0.85,
            wall if wall >= 2 * SECOND => 0.75,
            wall if wall >= SECOND => 0.55,
            wall if wall >= SECOND / 2 => 0.32,
            _ => 0.0,
        };
        let longer_now = self.running.is_some_and(|running| running.wall_ns >= past.wall_ns);
        // Main was free in between: what waited for the past message has been served since.
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

fn longest_past(a: &Analysis, now_ns: u64) -> Option<Slow<'_>> {
    let slow = a.history.iter().flat_map(|record| {
        let own_record = record.kind == RecordKind::Single && record.count == 1;
        let named = record.details.iter().map(move |d| Slow {
            token: d.token,
            start_ns: d.start_ns,
            wall_ns: d.wall_ns,
            cpu_ns: record.cpu_ns.filter(|_| own_record),
            running: false,
            message: d.message.as_ref(),
            tree: a.tree(d.token),
        });
        // A message without a detail is still known by its length; where in the group it lay is not.
        let unnamed = (record.slowest.wall_ns > 0
            && !record.details.iter().any(|d| d.token == record.slowest.token))
        .then(|| Slow {
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

/// Sums up the window that ends at `end_ns`; a record that began before it counts with the part inside.
fn busy(a: &Analysis, end_ns: u64) -> Busy {
    let from = end_ns.saturating_sub(WINDOW_NS);
    let mut busy = Busy::default();
    for record in &a.history {
        let (start, end) = (record.start_ns, record.start_ns.saturating_add(record.wall_ns));
        let inside = end.min(end_ns).saturating_sub(start.max(from));
        if inside == 0 {
            continue;
        }
        let part = share(inside, record.wall_ns).min(1.0);
        let of = |ns: u64| (ns as f64 * part) as u64;
        busy.span_ns = busy.span_ns.saturating_add(inside);
        busy.work_ns = busy.work_ns.saturating_add(of(record.work_ns.min(record.wall_ns)));
        busy.idle_ns = busy.idle_ns.saturating_add(of(record.idle_ns.min(record.wall_ns)));
        busy.messages += u64::from(record.count);
        if record.kind == RecordKind::Idle {
            busy.idle_cpu_ns = busy.idle_cpu_ns.saturating_add(of(record.cpu_ns.unwrap_or(0)));
        }
    }
    busy
}
