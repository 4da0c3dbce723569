//! Decides when the sampler thread sleeps, parks and takes a stack.

use crate::{Sampling, widened_interval};
use loopbox_format::model::{Token, Uptime};

const MS: u64 = 1_000_000;
const HOUR_MS: u64 = 3_600_000;
const HOUR_US: u64 = HOUR_MS * 1_000;
/// After main was idle for this long, the sampler parks, and the start of the next message must wake it. So
/// the main thread makes at most one wake-up call for each tenth of a second of silence. In the background
/// the sampler parks at once, because messages are rare there.
const PARK_AFTER_NS: u64 = 100 * MS;
/// After this many consecutive checks that found no message old enough to be sampled, the thread checks half
/// as often, until it finds such a message or parks. The limit is reached in an unbroken run of short
/// messages, for example while the app scrolls.
///
/// While the trees of short messages are kept, the thread does not check less often, and also checks an idle
/// main thread once per onset. Otherwise the samples of short messages would begin too late. While these
/// trees are not kept, the thread does not check an idle main thread again before it parks.
const BUSY_CHECKS: u32 = 10;
const SHORT_TREE: u64 = 4;
/// Waking later than this means that the process was frozen or the device slept, not that the machine is
/// busy.
const FROZEN_LATE_NS: u64 = 10_000 * MS;
/// Consecutive late wake-ups until the machine counts as starved.
const LATE_STRIKES: u32 = 3;
/// Consecutive punctual wake-ups until one step of back-off is undone.
const CALM_STEPS: u32 = 32;
/// Back-off doubles the interval at most this many times.
const MAX_BACKOFF: u32 = 4;
/// Failed suspensions in a row until the message is given up.
const MAX_FAILURES: u32 = 3;
/// Nothing is sampled for this long after a second message in a row was given up. After each further one the
/// time is [`GIVEN_UP_FACTOR`] times as long, up to [`GIVEN_UP_MAX_NS`].
const GIVEN_UP_NS: u64 = 10_000 * MS;
const GIVEN_UP_FACTOR: u64 = 6;
const GIVEN_UP_MAX_NS: u64 = 3_600_000 * MS;
/// While an unsampled message runs, the schedule is asked at least this often.
const UNSAMPLED_NS: u64 = 500 * MS;

/// What the main thread does, as the sampler reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// No message runs, since this time.
    Idle {
        /// When the thread became idle, uptime. In most cases that is the end of the last message.
        since_ns: Uptime,
    },
    /// A message runs.
    Running {
        /// Its token.
        token: Token,
        /// When its dispatch began.
        start_ns: Uptime,
    },
    /// No message runs, and the thread does not wait for one either: it works outside of messages.
    Outside {
        /// The token of this work.
        token: Token,
        /// When this work was first seen, uptime. If it was found because a display frame was overdue: when
        /// the last message ended.
        since_ns: Uptime,
    },
    /// Not known: the app has paused the recorder.
    Paused,
}

impl Activity {
    /// What runs, and since when; `None` for an idle thread, and while the recorder is paused.
    pub fn running(self) -> Option<(Token, Uptime)> {
        match self {
            Self::Idle { .. } | Self::Paused => None,
            Self::Running { token, start_ns } => Some((token, start_ns)),
            Self::Outside { token, since_ns } => Some((token, since_ns)),
        }
    }
}

/// What the sampler thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// Sleep until the start of a message wakes it.
    Park,
    /// Sleep until the app resumes the recorder.
    Pause,
    /// Sleep until this uptime, then ask again. Waking early is harmless.
    SleepUntil(Uptime),
    /// Take a stack now and report with [`Schedule::taken`].
    Sample {
        /// The message to sample. If another message runs when the stack is taken, the stack must be
        /// discarded ([`Taken::Gone`]).
        token: Token,
        /// The interval in effect, which is kept with the stack.
        interval_ns: u64,
    },
}

/// The result of taking a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// A stack was taken.
    Stack {
        /// The longest time for which the main thread may have been stopped: from the request on.
        stop_ns: u64,
    },
    /// No stop was requested, because a check forbade it: for example, the main thread could not stop soon,
    /// ART was writing a trace, or memory was short.
    Unstoppable,
    /// There is no stack. Another message ran by then, or none, or the frames of the stack could not be
    /// numbered.
    Gone,
    /// The main thread could not be suspended in time.
    Failed,
}

/// The sampler's policy: a state machine without clock or thread.
///
/// The loop around it is: read the time and what the main thread does, ask [`Schedule::next`], take that
/// step, and after a [`Step::Sample`] call [`Schedule::taken`].
///
/// * A message is sampled at its start + onset + n * interval, for n = 0, 1, 2 and so on, where the onset is
///   [`Sampling::onset_ns`]. These deadlines are absolute, so lateness does not add up. A deadline that has
///   passed counts as missed and is not made up for.
/// * While display frames come, the onset is that of [`Schedule::set_jank_onset`].
/// * With [`Sampling::once`], a message is left alone once a stack of it was taken.
/// * A long message may be found after its onset. If the check before found main idle, the message is at most
///   a tenth of a second old when it is found. In a run of short messages, it is at most twice the onset old.
/// * The interval doubles as a message uses up its tree's samples ([`widened_interval`]), or when the tree's
///   builder asks for it ([`Schedule::advise`]); it is wider in the background.
/// * It doubles, up to sixteen times as wide, when the thread wakes late three times in a row (the machine is
///   starved, and the sampler must not add to it) or a stop took long; it recovers in steps.
/// * A message during which suspending failed three times in a row is given up.
/// * While the recorder is paused nothing is checked, whatever the main thread does.
/// * Stops are paid from a budget of [`Sampling::stop_budget_per_hour_ns`] that refills steadily. An empty
///   budget stretches the interval to what the refill affords, so that even then a hang leaves some stacks.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// The onset in effect. `usual_onset_ns` is the one without display frames.
    onset_ns: u64,
    usual_onset_ns: u64,
    base_interval_ns: u64,
    once: bool,
    samples_per_tree: u32,
    slow_stop_ns: u64,
    background_factor: u32,
    budget_per_hour_ns: u64,

    background: bool,
    paused: bool,
    /// The current message and its start. The token alone does not identify the message: when a beginning is
    /// retracted, the next message gets the same token.
    message: (Token, Uptime),
    due_ns: Uptime,
    samples: u32,
    /// The number of consecutive checks that found no message old enough to be sampled. It begins again from
    /// 0 when the thread parks.
    fruitless: u32,
    keeps_short_trees: bool,
    usually_keeps_short_trees: bool,
    missed: u32,
    advised_ns: u64,

    asked_ns: Option<Uptime>,
    worst_late_ns: Option<u64>,
    late_strikes: u32,
    calm: u32,
    backoff: u32,
    frozen: u32,

    budget_left_ns: u64,
    budget_at_ns: Option<Uptime>,
    usual_stop_ns: u64,
    failures: u32,
    /// Whether the message was given up.
    is_given_up: bool,
    /// How many messages were given up since the last stack. `given_up` counts them since the schedule was
    /// created.
    given_up_in_a_row: u32,
    given_up: u32,
    /// Nothing is sampled before this uptime.
    resumes_ns: Uptime,
}

impl Schedule {
    /// A schedule for a process whose main thread has not been seen yet.
    pub fn new(sampling: &Sampling) -> Self {
        let kept_from_ns = sampling.interval_ns.saturating_mul(u64::from(sampling.min_samples));
        let keeps_short_trees = sampling.once || kept_from_ns < sampling.onset_ns.saturating_mul(SHORT_TREE);
        Self {
            onset_ns: sampling.onset_ns,
            usual_onset_ns: sampling.onset_ns,
            base_interval_ns: sampling.interval_ns,
            once: sampling.once,
            samples_per_tree: sampling.samples_per_tree,
            slow_stop_ns: sampling.slow_stop_ns,
            background_factor: sampling.background_factor.max(1),
            budget_per_hour_ns: sampling.stop_budget_per_hour_ns,
            background: false,
            paused: false,
            message: (Token::NONE, Uptime::ZERO),
            due_ns: Uptime::ZERO,
            samples: 0,
            fruitless: 0,
            keeps_short_trees,
            usually_keeps_short_trees: keeps_short_trees,
            missed: 0,
            advised_ns: 0,
            asked_ns: None,
            worst_late_ns: None,
            late_strikes: 0,
            calm: 0,
            backoff: 0,
            frozen: 0,
            budget_left_ns: sampling.stop_budget_per_hour_ns,
            budget_at_ns: None,
            usual_stop_ns: MS / 10,
            failures: 0,
            is_given_up: false,
            given_up_in_a_row: 0,
            given_up: 0,
            resumes_ns: Uptime::ZERO,
        }
    }

    /// Sets the age from which messages are sampled while display frames come; `None` when no more frames
    /// come. The age is for messages that begin after this call. While frames come, the trees of short
    /// messages are kept. Sampling never begins later than without frames.
    pub fn set_jank_onset(&mut self, onset_ns: Option<u64>) {
        self.onset_ns = onset_ns.unwrap_or(u64::MAX).min(self.usual_onset_ns);
        self.keeps_short_trees = onset_ns.is_some() || self.usually_keeps_short_trees;
    }

    /// The step to take at this instant.
    pub fn next(&mut self, now_ns: Uptime, activity: Activity) -> Step {
        let asked_ns = self.note_lateness(now_ns);
        let (token, start_ns) = match activity {
            Activity::Paused => {
                self.paused = true;
                return Step::Pause;
            }
            Activity::Idle { since_ns } => return self.idle(now_ns, since_ns),
            Activity::Running { token, start_ns } | Activity::Outside { token, since_ns: start_ns } => {
                (token, start_ns)
            }
        };
        if self.message != (token, start_ns) {
            self.message = (token, start_ns);
            self.is_given_up = false;
            self.due_ns = start_ns.plus(self.onset_ns);
            self.samples = 0;
            self.missed = 0;
            self.advised_ns = 0;
        }
        if std::mem::take(&mut self.paused) {
            // What was due during the pause is not missed.
            self.due_ns = self.due_ns.max(now_ns);
        }
        if self.is_given_up || now_ns < self.resumes_ns {
            // Its deadlines are not missed ones: nothing is expected of it.
            self.due_ns = self.due_ns.max(now_ns);
            return self.sleep_until(now_ns.plus(UNSAMPLED_NS));
        }
        if self.once && self.samples > 0 {
            // The next message is found before it is old enough.
            return self.sleep_until(now_ns.plus(self.onset_ns));
        }
        if let Some(asked_ns) = asked_ns.filter(|&asked_ns| asked_ns >= self.due_ns) {
            // What was due before this check was missed.
            let (interval, unwanted_ns) = (self.interval_ns(), asked_ns.since(self.due_ns));
            self.due_ns = self.due_ns.plus(unwanted_ns / interval * interval);
        }
        if now_ns < self.due_ns {
            let fresh = now_ns.since(start_ns) < self.onset_ns;
            let next_check_ns = if fresh { self.next_check_ns(now_ns) } else { Uptime::ZERO };
            return self.sleep_until(self.due_ns.max(next_check_ns));
        }
        self.fruitless = 0;
        self.skip_passed_deadlines(now_ns);
        if let Some(affordable_ns) = self.wait_for_budget(now_ns) {
            self.missed = self.missed.saturating_add(1);
            self.due_ns = affordable_ns;
            return self.sleep_until(affordable_ns);
        }
        Step::Sample { token, interval_ns: self.interval_ns() }
    }

    fn idle(&mut self, now_ns: Uptime, since_ns: Uptime) -> Step {
        if self.message.0.is_outside() {
            // What comes next may be another one that no hook saw, with the same number.
            self.message = (Token::NONE, Uptime::ZERO);
        }
        let park_ns = if self.background { since_ns } else { since_ns.plus(PARK_AFTER_NS) };
        if now_ns >= park_ns {
            self.fruitless = 0;
            return Step::Park;
        }
        self.fruitless = self.fruitless.saturating_add(1);
        let onset_ns = if self.keeps_short_trees { self.onset_ns } else { u64::MAX };
        self.sleep_until(park_ns.min(now_ns.plus(onset_ns)))
    }

    /// Counts a check that found nothing to sample. Returns when the next check is due at the earliest; zero
    /// when it may be made at any time.
    fn next_check_ns(&mut self, now_ns: Uptime) -> Uptime {
        self.fruitless = self.fruitless.saturating_add(1);
        if self.checks_rarely() { now_ns.plus(self.onset_ns.saturating_mul(2)) } else { Uptime::ZERO }
    }

    fn checks_rarely(&self) -> bool {
        self.fruitless >= BUSY_CHECKS && !self.keeps_short_trees
    }

    /// Takes the result of the stack that [`Step::Sample`] requested; `now_ns` is the time after it.
    pub fn taken(&mut self, now_ns: Uptime, taken: Taken) {
        match taken {
            Taken::Stack { stop_ns } => {
                self.samples = self.samples.saturating_add(1);
                self.failures = 0;
                self.given_up_in_a_row = 0;
                self.budget_left_ns = self.budget_left_ns.saturating_sub(stop_ns);
                self.usual_stop_ns = self.usual_stop_ns.saturating_mul(7).saturating_add(stop_ns) / 8;
                if stop_ns > self.slow_stop_ns {
                    self.back_off(1);
                }
            }
            Taken::Gone => {}
            Taken::Unstoppable => self.missed = self.missed.saturating_add(1),
            Taken::Failed => {
                self.missed = self.missed.saturating_add(1);
                self.failures += 1;
                self.back_off(2);
                if self.failures >= MAX_FAILURES {
                    self.give_up(now_ns);
                }
            }
        }
        let interval = self.interval_ns();
        self.due_ns = self.due_ns.plus(interval);
        if self.due_ns <= now_ns {
            // Taking the stack took longer than the interval: go on at the next deadline to come.
            let passed = now_ns.since(self.due_ns) / interval + 1;
            self.missed = self.missed.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
            self.due_ns = self.due_ns.plus(passed.saturating_mul(interval));
        }
    }

    /// Gives up the current message: it is not sampled any more, but the next one is. If that fails, too, the
    /// reason why ART cannot stop the main thread may last, so attempts become less and less frequent.
    fn give_up(&mut self, now_ns: Uptime) {
        self.failures = 0;
        self.is_given_up = true;
        self.given_up = self.given_up.saturating_add(1);
        self.given_up_in_a_row = self.given_up_in_a_row.saturating_add(1);
        if let Some(earlier) = self.given_up_in_a_row.checked_sub(2) {
            let pause_ns = GIVEN_UP_NS.saturating_mul(GIVEN_UP_FACTOR.saturating_pow(earlier));
            self.resumes_ns = now_ns.plus(pause_ns.min(GIVEN_UP_MAX_NS));
        }
    }

    /// How many messages were given up because the main thread could not be suspended.
    pub fn given_up(&self) -> u32 {
        self.given_up
    }

    /// The interval in effect for the current message.
    pub fn interval_ns(&self) -> u64 {
        let widened = widened_interval(self.base_interval_ns, self.samples, self.samples_per_tree);
        let factor = u64::from(if self.background { self.background_factor } else { 1 }) << self.backoff;
        self.base_interval_ns.saturating_mul(factor).max(widened).max(self.advised_ns)
    }

    /// The tree of this message asks for a wider interval. Advice for another message is ignored.
    pub fn advise(&mut self, token: Token, interval_ns: u64) {
        if token == self.message.0 {
            self.advised_ns = interval_ns;
        }
    }

    /// Sets whether the app is in the background.
    pub fn set_background(&mut self, background: bool) {
        self.background = background;
    }

    /// Forgets until when the thread wanted to sleep. To be called when the thread did something other than
    /// the last [`Step`]: then how late it wakes says nothing about the machine.
    pub fn reset_lateness(&mut self) {
        self.asked_ns = None;
    }

    /// The worst lateness since the previous call; `None` when the thread did not sleep to a deadline.
    pub fn take_late_ns(&mut self) -> Option<u64> {
        self.worst_late_ns.take()
    }

    /// Samples of the current message that were due but not taken since the previous call.
    pub fn take_missed(&mut self) -> u32 {
        let missed = std::mem::take(&mut self.missed);
        // Of one stack that comes late none is missing.
        if self.once { 0 } else { missed }
    }

    /// How often the process was found to have been frozen (or the device asleep).
    pub fn frozen(&self) -> u32 {
        self.frozen
    }

    fn sleep_until(&mut self, deadline_ns: Uptime) -> Step {
        self.asked_ns = Some(deadline_ns);
        Step::SleepUntil(deadline_ns)
    }

    /// Notes how late the thread woke. Returns the time at which it wanted to wake, if it slept until then.
    fn note_lateness(&mut self, now_ns: Uptime) -> Option<Uptime> {
        let asked_ns = self.asked_ns.take().filter(|&asked_ns| asked_ns <= now_ns)?;
        let late = now_ns - asked_ns;
        if late >= FROZEN_LATE_NS {
            self.frozen = self.frozen.saturating_add(1);
            self.late_strikes = 0;
            return Some(asked_ns);
        }
        self.worst_late_ns = self.worst_late_ns.max(Some(late));
        if late >= self.base_interval_ns {
            self.calm = 0;
            self.late_strikes += 1;
            if self.late_strikes >= LATE_STRIKES {
                self.late_strikes = 0;
                self.back_off(1);
            }
        } else {
            self.late_strikes = 0;
            self.calm += 1;
            if self.calm >= CALM_STEPS {
                self.calm = 0;
                self.backoff = self.backoff.saturating_sub(1);
            }
        }
        Some(asked_ns)
    }

    fn back_off(&mut self, steps: u32) {
        self.calm = 0;
        self.backoff = (self.backoff + steps).min(MAX_BACKOFF);
    }

    /// Of the deadlines that have passed, keeps only the last one. The earlier ones are skipped and count as
    /// missed.
    fn skip_passed_deadlines(&mut self, now_ns: Uptime) {
        let interval = self.interval_ns();
        let passed = now_ns.since(self.due_ns) / interval;
        self.missed = self.missed.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
        self.due_ns = self.due_ns.plus(passed.saturating_mul(interval));
    }

    /// Refills the budget. When the budget is still too small for a usual stop, returns the time until which
    /// to wait: at most an hour from now.
    fn wait_for_budget(&mut self, now_ns: Uptime) -> Option<Uptime> {
        // In microseconds, all products fit into 64 bits: a division of 128 bits is 800 bytes of code.
        let budget_us = self.budget_per_hour_ns / 1_000;
        let at = self.budget_at_ns.unwrap_or(now_ns);
        let since_us = now_ns.since(at) / 1_000;
        let refill = since_us.min(HOUR_US).saturating_mul(budget_us) / HOUR_MS;
        // What is left of a microsecond counts the next time.
        self.budget_at_ns = Some(at.plus(since_us * 1_000));
        self.budget_left_ns = self.budget_left_ns.saturating_add(refill).min(self.budget_per_hour_ns);
        let lacking = self.usual_stop_ns.saturating_sub(self.budget_left_ns);
        if lacking == 0 {
            return None;
        }
        // A budget that can never hold a stop is tried once an hour.
        let wait_us = lacking.saturating_mul(HOUR_MS).checked_div(budget_us).unwrap_or(HOUR_US);
        Some(now_ns.plus(wait_us.clamp(1, HOUR_US) * 1_000))
    }
}
