//! What contradicts a main thread that is reported as idle.
//!
//! "No message runs" is only what the hook saw. Input, callbacks and idle handlers run outside of messages,
//! and a hook that another library has displaced sees no message.

use super::load::{Load, WINDOW_NS};
use super::slow_message::SlowMessage;
use crate::model::time::{format_ns, percent, share};
use crate::model::{Analysis, SampledTree, TreePlace};
use loopbox_format::model::{Feature, FeatureState, MainState, Token, Uptime};

/// A message that has been due for at least this long is evidence that main is not idle. An idle main thread
/// takes a due message sooner.
const OVERDUE_NS: u64 = 1_000_000_000;
/// The limit that replaces `OVERDUE_NS` when the queue shows that the Looper does not wait for messages.
const OVERDUE_AND_AWAKE_NS: u64 = 100_000_000;
/// This much time in stacks that do not wait cannot be chance.
const BUSY_NS: u64 = 500_000_000;

/// Evidence that main was not idle, though the recorder saw no message.
#[derive(Debug, Clone)]
pub(super) struct NotIdle<'a> {
    /// The evidence, in words.
    pub(super) evidence: Vec<String>,
    /// For how long main was certainly not idle; 0 when the hook's state is the only evidence.
    pub(super) certain_ns: u64,
    /// The stacks of the time in which main was not idle, and the place that they are in.
    pub(super) stacks: Option<(&'a SampledTree, TreePlace)>,
    /// Whether main was busy at the dump.
    pub(super) now: bool,
}

impl<'a> NotIdle<'a> {
    /// Collects the evidence; `None` when there is none.
    ///
    /// `waits` is whether main waited for its next message at the dump, if that is known.
    pub(super) fn of(a: &'a Analysis, load: Load, now_ns: Uptime, waits: Option<bool>) -> Option<Self> {
        let mut found = Self { evidence: Vec::new(), certain_ns: 0, stacks: None, now: false };
        let since_ns = match &a.main {
            MainState::Idle { since_ns } => Some(*since_ns),
            MainState::Unknown => Some(unknown_since_ns(a)),
            _ => None,
        };
        if let Some(since_ns) = since_ns {
            found.stacks(a, since_ns);
            found.queue(a, now_ns.since(since_ns), waits);
        } else {
            found.before_the_message(a, now_ns.minus(WINDOW_NS));
        }
        let cpu = share(load.idle_cpu_ns, load.idle_ns);
        if load.idle_cpu_ns >= BUSY_NS && cpu >= 0.2 {
            let (idle, cpu) = (format_ns(load.idle_ns), percent(cpu));
            found
                .evidence
                .push(format!("between messages, {idle} in all, main used the CPU for {cpu} of the time"));
        }
        if load.unseen_ns > 0 {
            let unseen = format_ns(load.unseen_ns);
            found.evidence.push(format!("messages may have run unseen for {unseen} of the time before"));
        }
        if let Some(hook) = blind_hook(a) {
            found.evidence.push(format!("the hook may have missed messages: {}", why_off(hook)));
        }
        (!found.evidence.is_empty()).then_some(found)
    }

    /// Whether the stacks show main's work at the dump.
    pub(super) fn is_seen(&self) -> bool {
        self.stacks.is_some_and(|(_, place)| !place.waits_now)
    }

    /// What main was doing, as a running message. `idle_ns` is how long main had been idle according to the
    /// recorder.
    pub(super) fn message(&self, a: &'a Analysis, now_ns: Uptime, idle_ns: Option<u64>) -> SlowMessage<'a> {
        let idle_ns = idle_ns.unwrap_or(self.certain_ns);
        let mut slow = SlowMessage {
            running: true,
            certain_ns: self.certain_ns.min(idle_ns),
            ..SlowMessage::past(a, Token::NONE, now_ns.minus(idle_ns), idle_ns)
        };
        if let Some((tree, place)) = self.stacks {
            (slow.token, slow.tree, slow.place) = (tree.token, Some(tree), Some(place.place));
        }
        slow
    }

    /// Adds the evidence that main was not idle before the message that runs at the dump.
    fn before_the_message(&mut self, a: &Analysis, since_ns: Uptime) {
        let stacks = a.stacks_outside_since(since_ns);
        if let Some(place) = stacks.and_then(|tree| tree.outside_place(&a.frames))
            && place.busy_ns >= BUSY_NS
        {
            let busy = format_ns(place.busy_ns);
            self.evidence.push(format!("the stacks show main at work outside of messages for {busy}"));
        }
        let overdue_ns = a.queue.overdue_head(a.dump_ns).certain_ns().filter(|ns| *ns >= OVERDUE_NS);
        if let Some(overdue) = overdue_ns.map(format_ns) {
            self.evidence.push(format!("the first message of the queue has been due for {overdue}"));
        }
    }

    fn stacks(&mut self, a: &'a Analysis, since_ns: Uptime) {
        let Some(tree) = a.stacks_outside_since(since_ns) else { return };
        let Some(place) = tree.outside_place(&a.frames) else { return };
        if place.waits_now && place.busy_ns < BUSY_NS {
            return;
        }
        self.evidence.push(if place.waits_now {
            format!("the stacks show main at work for {} of that time", format_ns(place.busy_ns))
        } else {
            "main's stack is not in nativePollOnce, where an idle main thread waits".into()
        });
        self.certain_ns = self.certain_ns.max(place.busy_ns);
        self.stacks = Some((tree, place));
        self.now |= !place.waits_now;
    }

    fn queue(&mut self, a: &Analysis, idle_ns: u64, waits: Option<bool>) {
        let awake = a.queue.polling == Some(false);
        let least_ns = if awake { OVERDUE_AND_AWAKE_NS } else { OVERDUE_NS };
        let overdue_ns = a.queue.overdue_head(a.dump_ns).certain_ns().filter(|ns| *ns >= least_ns);
        let Some(overdue_ns) = overdue_ns else { return };
        let word = if awake { ", and the Looper did not wait for one" } else { "" };
        let overdue = format_ns(overdue_ns);
        self.evidence.push(format!("the first message of the queue has been due for {overdue}{word}"));
        // While the Looper waits it is a wake-up that is missing, not main. That it does not wait has to be
        // known.
        if waits == Some(false) {
            self.certain_ns = self.certain_ns.max(overdue_ns.min(idle_ns));
            self.now = true;
        }
    }
}

/// The end of the last record, or else the time of installation: main's state is unknown from then on.
fn unknown_since_ns(a: &Analysis) -> Uptime {
    let last = a.history.last().map(|record| record.start_ns.plus(record.wall_ns));
    last.unwrap_or(a.meta.process.installed_ns)
}

/// The hook, when it cannot have seen all messages: it is off, or another library has taken its place.
pub(super) fn blind_hook(a: &Analysis) -> Option<&FeatureState> {
    let hook = a.features.iter().find(|state| state.feature == Feature::Hook)?;
    (!hook.on || hook.detail.contains("displaced")).then_some(hook)
}

/// Whether the app has configured the recorder without a hook.
pub(super) fn wants_no_hook(a: &Analysis) -> bool {
    blind_hook(a).is_some_and(|hook| !hook.on && hook.detail.starts_with("none"))
}

/// Why a feature is off.
pub(super) fn why_off(state: &FeatureState) -> &str {
    if state.detail.is_empty() { "no reason is given" } else { &state.detail }
}
