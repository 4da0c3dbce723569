//! Makes records from the starts and ends of messages. Rules 1 to 3 below are Qimao's, made exact; rules 4
//! and 5 are about the time between messages.
//!
//! # What goes where
//!
//! Main-thread time is cut into *slices*. A slice is time in one message without interruption: the whole
//! dispatch of an ordinary message, or a part of one that runs a nested `Looper.loop()`.
//!
//! 1. A slice shorter than [`Config::group_ns`] adds to the open group. The group is full, and ends there,
//!    when its work reaches `group_ns`.
//! 2. A record keeps by name those messages that end in it and took at least [`Config::detail_ns`], threw, or
//!    lost their ends. It also keeps component messages, however short they are, because the hook names them
//!    without a request. If there is no room for all, short component messages give way to the others. A
//!    short frame or short input takes only room that is left.
//! 3. A slice of at least `group_ns` ends the open group as it is. The slice is a separate record, with the
//!    token of its message.
//! 4. A gap between messages shorter than `group_ns` counts as idle time of the group that it lies in. A gap
//!    of `group_ns` or more ends the open group and is a record: *idle*, or *frozen* when longer than
//!    [`Config::frozen_ns`], or *unseen* when the hook was found to have been taken out meanwhile, or the app
//!    had paused the recorder.
//! 5. A gap of [`Config::detail_ns`] or more is work if the thread is known not to have rested in it, unless
//!    rule 4 calls it *frozen* or *unseen*. Such a gap is work of the open group. But if it has `group_ns` or
//!    more, or no group is open, it is a record: *outside* of messages.
//!
//! A record begins with its first slice or gap and ends with its last. So `wall == work + idle` holds
//! exactly, records are in order of time, and they do not overlap. Between two neighbours lies at most one
//! short gap that belongs to neither: the time from the end of the first to the start of the second.
//!
//! # Nesting
//!
//! A message that runs a nested loop is the *outer* message of those that the loop dispatches, the *inner*
//! ones. Messages are counted in order of their tokens: the outer message in the record of its first slice,
//! the inner ones after it. The work of an inner message does not count for the outer one. Between two inner
//! messages the nested loop waits for work. That time is a gap, as between any two messages, and so is all
//! time after [`Aggregator::rests`] until the next start or end.
//!
//! The outer message has two slices. The first slice begins with the message. It ends at the first inner
//! message or the first rest, whichever comes first. The second slice begins when the last inner message
//! ends, and it ends with the outer message. If the Looper has rested in that time, there is no second slice:
//! the time is a gap. The detail of the outer message is in the record in which the message ends. The detail
//! has the time of the whole dispatch. If the second slice is a separate record (rule 3), that record has the
//! message's token and a count of 0.
//!
//! The module `nesting` decides which messages run inside each other, and which have lost their ends. The
//! module [`adopted`] handles the message that recording begins in.
//!
//! An outer message is *suspended* while the loop inside of it waits or runs others. No hook sees the outer
//! message go on when an inner one has ended. So after each inner message the thread counts as
//! [idle](Environment::idle), as between any two messages.
//!
//! # When a record is handed over
//!
//! A full record waits for the description of its last message. It is handed over at [`Aggregator::describe`]
//! or at the next event. Until then it is visible as the open record.

pub mod adopted;
mod cpu;
mod nesting;
mod outside;
mod record;
mod retract;

use crate::details::KeepReason;
use crate::{Config, Details, Environment, Keep, MAX_DETAILS, Name, StackPointer};
use cpu::share_of_cpu;
use loopbox_format::looper;
use loopbox_format::model::{
    Component, Detail, End, Message, NamedBy, Record, RecordKind, Slowest, Token, Uptime,
};
use nesting::Nesting;

/// Whether the hook should now call [`Aggregator::describe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Wanted {
    /// No description is needed. If the hook describes the message nevertheless, the description is used for
    /// a component message only.
    Nothing,
    /// The message is kept in a record and should have a name.
    Description,
}

/// What [`Aggregator::begin`] returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Begun {
    /// The number of the message that begins, from 1 without gaps.
    pub token: Token,
    /// Whether the message *before*, whose end was missed, should be described: the Printer hook still has
    /// the line of it.
    pub wanted: Wanted,
}

/// The name of a message, as found by the hook.
#[derive(Debug, Clone, Copy)]
pub struct Described<'a> {
    /// Class name of the target Handler.
    pub target: &'a str,
    /// Class name of the callback; empty when there is none.
    pub callback: &'a str,
    /// `Message.what`; `None` when the source does not have it.
    pub what: Option<i32>,
    /// Which source it comes from.
    pub named_by: NamedBy,
}

/// A message that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    /// Its token; [`Token::NONE`] before the first one has ended.
    pub token: Token,
    /// How long the message ran. If it ran a loop: how long it ran after the last message of that loop.
    pub ran_ns: u64,
    /// When it ended.
    pub end_ns: Uptime,
}

/// The message that the next [`Aggregator::describe`] names. `kept`: whether the open record has the
/// message's detail.
#[derive(Debug, Clone, Copy)]
struct Last {
    detail: Detail<Name>,
    kept: bool,
}

/// The message that began last, with what is needed to retract it.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    token: Token,
    /// The aggregator's `cursor_ns` just before the message began: all earlier time was accounted for.
    cursor_ns: Option<Uptime>,
    /// Whether the record that was closed last is the record of the idle time just before this message.
    closed_rest: bool,
}

/// Turns the starts and ends of messages into records; see the [module's rules](self).
///
/// Owned by one thread. No method allocates, blocks or panics, whatever the order of calls.
#[derive(Debug)]
pub struct Aggregator<H> {
    environment: H,
    group_ns: u64,
    detail_ns: u64,
    frozen_ns: u64,
    details_per_record: usize,
    keep: Keep,
    nesting: Nesting,
    /// Whether the Looper has begun to wait since the last start or end.
    rests: bool,
    next_token: Token,
    /// The last message that the `count` of a record includes. A new group begins with the message after it.
    counted: Token,
    /// The time up to which everything is accounted for; `None` before the first message.
    cursor_ns: Option<Uptime>,
    /// The record being filled; meaningful while `is_open`.
    open: Record<Details>,
    is_open: bool,
    /// Whether the open record is complete and waits for a description.
    full: bool,
    /// Whether the details of the open record differ from what the environment was given last.
    details_changed: bool,
    last: Option<Last>,
    ended: Ended,
    /// CPU time at the end of the last record.
    cpu_base_ns: Option<u64>,
    /// Whether recording began in [`BIND_APPLICATION`].
    began_in_bind: bool,
    /// The message that began last. [`Self::retract`] may withdraw its beginning. `None` when a message, or
    /// the recording, has ended since.
    beginning: Option<Beginning>,
    /// When the thread's last work ended.
    rest_ns: Uptime,
    /// Whether the *idle* record that was closed last can still become longer. It was closed because a
    /// message seemed to begin. That beginning was retracted, so the idle time goes on. While this is true,
    /// `open` has the content of that record.
    rests_on: bool,
}

impl<H: Environment> Aggregator<H> {
    /// An aggregator without history. Must be called on the recorded thread, whose CPU clock it reads.
    pub fn new(config: &Config, environment: H) -> Self {
        let cpu_base_ns = environment.thread_cpu_ns();
        Self {
            environment,
            group_ns: config.group_ns,
            detail_ns: config.detail_ns,
            frozen_ns: config.frozen_ns,
            details_per_record: (config.details_per_record as usize).min(MAX_DETAILS),
            keep: config.keep,
            nesting: Nesting::default(),
            rests: false,
            next_token: Token::FIRST,
            counted: Token::NONE,
            cursor_ns: None,
            open: Record {
                kind: RecordKind::Group,
                seq: 0,
                first_token: Token::NONE,
                count: 0,
                start_ns: Uptime::ZERO,
                wall_ns: 0,
                work_ns: 0,
                idle_ns: 0,
                cpu_ns: None,
                checktime_late_ns: None,
                slowest: None,
                details: Details::new(),
                dropped_details: 0,
                closed: false,
            },
            is_open: false,
            full: false,
            details_changed: false,
            last: None,
            ended: Ended::default(),
            cpu_base_ns,
            began_in_bind: false,
            beginning: None,
            rests_on: false,
            rest_ns: Uptime::ZERO,
        }
    }

    /// The environment that this aggregator uses.
    pub fn environment(&self) -> &H {
        &self.environment
    }

    /// The environment that this aggregator uses.
    pub fn environment_mut(&mut self) -> &mut H {
        &mut self.environment
    }

    /// How many messages are running inside each other.
    pub fn depth(&self) -> u32 {
        self.nesting.depth()
    }

    /// The innermost running message.
    pub fn running(&self) -> Option<Token> {
        self.nesting.top().map(|message| message.token)
    }

    /// The message that ended last.
    pub fn ended(&self) -> Ended {
        self.ended
    }

    /// A message's dispatch begins; `at` is where the hook runs on the stack.
    #[inline]
    pub fn begin(&mut self, at: StackPointer) -> Begun {
        self.begin_after(at, at, false)
    }

    /// A message's dispatch begins, and the thread has not rested since the previous one ended: meanwhile it
    /// worked outside of messages.
    #[inline]
    pub fn begin_after_work(&mut self, at: StackPointer) -> Begun {
        self.begin_after(at, at, true)
    }

    /// A message's dispatch begins in the outermost loop: whatever ran before has ended.
    pub fn begin_outermost(&mut self, at: StackPointer) -> Begun {
        self.begin_after(at, StackPointer::BELOW_ALL, false)
    }

    fn begin_after(&mut self, at: StackPointer, left_before: StackPointer, worked: bool) -> Begun {
        self.settle();
        let now = self.now();
        let wanted = self.miss_all_left_before(left_before, now);
        let mut cursor_ns = self.cursor_ns;
        self.rests = false;
        match self.nesting.enter() {
            Some(outer) => {
                self.account_slice(outer, now);
                cursor_ns = Some(now);
                self.rest_ns = now;
                self.publish();
            }
            None if worked && self.work_outside(now) => {
                cursor_ns = Some(now);
                self.settle();
            }
            None => self.gap(now),
        }
        let token = self.next_token;
        self.next_token = token.next();
        self.nesting.push(token, now, at);
        self.cursor_ns = Some(now);
        self.note_beginning(token, cursor_ns);
        self.environment.running(token, now, self.nesting.depth());
        Begun { token, wanted }
    }

    /// The Looper is about to wait for a message. If a message still counts as running, it runs a loop
    /// itself, or its end was missed. In both cases the thread is idle from now on.
    pub fn rests(&mut self) {
        let depth = self.nesting.depth();
        if depth == 0 || self.rests {
            return;
        }
        self.settle();
        self.rests = true;
        // Later ones are idle since the last inner end.
        if let Some(outer) = self.nesting.enter() {
            let now = self.now();
            self.account_slice(outer, now);
            self.publish();
            self.cursor_ns = Some(now);
            self.rest_ns = now;
            self.environment.idle(self.next_token, now, depth);
        }
    }

    /// Whether the dispatch that ends at this stack pointer is that of an outer message. If so, the innermost
    /// message has lost its end and is closed as [`End::Missed`]. That message may be described until this
    /// method or [`end`](Self::end) is called again.
    pub fn miss_inner(&mut self, at: StackPointer) -> bool {
        self.settle();
        let inner = self.nesting.depth_of_end(at).is_some_and(|ending| self.nesting.depth() > ending);
        if inner {
            let now = self.now();
            let _ = self.leave(now, None, End::Missed);
        }
        inner
    }

    /// A message's dispatch has ended. `when_ns` is `Message.when` as uptime, `None` when the hook does not
    /// know it; 0 marks a message that was put at the front of the queue and had no due time.
    ///
    /// An end without a start (the hook was set while the message ran) is ignored.
    pub fn end(&mut self, at: StackPointer, when_ns: Option<Uptime>, end: End) -> Wanted {
        self.settle();
        let now = self.now();
        let Some(ending) = self.nesting.depth_of_end(at) else { return Wanted::Nothing };
        while self.nesting.depth() > ending {
            let _ = self.leave(now, None, End::Missed);
        }
        let wanted = self.leave(now, when_ns, end);
        self.rests = false;
        self.environment.idle(self.next_token, now, self.nesting.depth());
        wanted
    }

    /// Names the message of the previous event: the one that ended, or the one whose missed end `begin`
    /// reported. Accepted once. Does nothing when there is no message to name, or when the message is neither
    /// kept nor a component message.
    pub fn describe(&mut self, described: &Described<'_>) {
        let Some(last) = self.last.take() else { return };
        if let Some(message) = self.message(described) {
            if last.kept {
                if let Some(detail) = self.open.details.by_token_mut(last.detail.token) {
                    detail.message = Some(message);
                    self.details_changed = true;
                }
            } else if message.component.is_some() {
                self.keep_detail(Detail { message: Some(message), ..last.detail });
            }
            if !self.full {
                self.publish();
            }
        }
        self.settle();
    }

    /// The part of a message's name that is kept. With [`Keep::ComponentsOnly`](crate::Keep::ComponentsOnly),
    /// only a component message has one, without the app's own class names.
    fn message(&self, described: &Described<'_>) -> Option<Message<Name>> {
        // A component's message with a class of the app for its target.
        let of_app = match described.named_by {
            NamedBy::Window => Some(Component::Input),
            NamedBy::Lifecycle(_) => Some(Component::ActivityThread),
            _ => None,
        };
        let component = of_app.or_else(|| looper::component(described.target, described.callback));
        let named = self.keep == Keep::Names;
        (component.is_some() || named).then(|| Message {
            target: Name::new(if of_app.is_some() && !named { "" } else { described.target }),
            callback: Name::new(described.callback),
            what: described.what,
            component,
            named_by: described.named_by,
        })
    }

    /// Closes the open record as the last one; messages that still run are forgotten. Recording may continue
    /// afterwards.
    pub fn finish(&mut self) {
        self.settle();
        if self.is_open {
            let (cpu, late) = self.read_at_record_end();
            self.open.cpu_ns = share_of_cpu(cpu, self.open.wall_ns, 0);
            self.open.checktime_late_ns = late;
            self.close();
        }
        self.nesting.clear();
        self.beginning = None;
        self.rests_on = false;
        self.rests = false;
        self.counted = self.next_token.previous();
        self.cursor_ns = None;
    }

    fn now(&self) -> Uptime {
        self.environment.now_ns().max(self.cursor_ns.unwrap_or(Uptime::ZERO))
    }

    /// Closes the messages that cannot be running any more, given that another one begins at this stack
    /// pointer.
    fn miss_all_left_before(&mut self, at: StackPointer, now: Uptime) -> Wanted {
        let mut innermost = None;
        while self.nesting.is_left_before(at) {
            if self.nesting.is_adopted() {
                // With its name, which closes the record: a description could only be of another one.
                self.leave_adopted(now);
                return Wanted::Nothing;
            }
            let wanted = self.leave(now, None, End::Missed);
            if innermost.is_none() {
                innermost = Some((wanted, self.last));
            }
        }
        let Some((wanted, last)) = innermost else { return Wanted::Nothing };
        // The hook still has the line of the innermost one only.
        self.last = last;
        wanted
    }

    /// Ends the innermost message: accounts for its last slice, and keeps a detail when it qualifies.
    fn leave(&mut self, now: Uptime, when_ns: Option<Uptime>, end: End) -> Wanted {
        let Some(dispatch) = self.nesting.pop() else { return Wanted::Nothing };
        self.beginning = None;
        // Its cursor may be later: a part of the rest may have a record already.
        let end_ns = if self.rests && end == End::Missed { self.rest_ns } else { now };
        let now = if self.rests { self.end_of_rest(now, end) } else { now };
        let ran_ns = now.since(self.cursor_ns.unwrap_or(now));
        let alone = self.account_slice(dispatch.token, now);
        self.cursor_ns = Some(now);
        let detail = Detail {
            token: dispatch.token,
            start_ns: dispatch.start_ns,
            wall_ns: end_ns.since(dispatch.start_ns),
            wait_ns: when_ns.filter(|&when| when != Uptime::ZERO).map(|when| dispatch.start_ns.since(when)),
            end,
            message: None,
        };
        self.ended = Ended { token: detail.token, ran_ns, end_ns };
        self.rest_ns = end_ns;
        let deserves = alone || detail.wall_ns >= self.detail_ns || end != End::Returned;
        let kept = deserves && self.keep_detail(detail);
        self.last = (kept || !deserves).then_some(Last { detail, kept });
        self.publish();
        if kept { Wanted::Description } else { Wanted::Nothing }
    }

    /// Called when a message ends and the Looper has rested since the last start or end. Returns when the
    /// last slice of the message ends. If the end of the message was missed, the message ended before the
    /// rest, so its last slice ends at `cursor_ns`. Otherwise the message ran a loop, and the loop was left
    /// at an unknown time after the rest. Then the time until `now` is a gap, and the last slice ends at
    /// `now`.
    fn end_of_rest(&mut self, now: Uptime, end: End) -> Uptime {
        if end == End::Missed {
            return self.cursor_ns.unwrap_or(now);
        }
        self.gap(now);
        self.cursor_ns = Some(now);
        now
    }

    /// Accounts for the time from the cursor until `now` as work of this message. Returns whether this slice
    /// is a separate record.
    fn account_slice(&mut self, token: Token, now: Uptime) -> bool {
        let start = self.cursor_ns.unwrap_or(now);
        let work = now.since(start);
        let first_time = token > self.counted;
        if work == 0 && !first_time && self.is_open {
            // An outer message that ends in the same instant as an inner one whose end was missed: nothing to
            // add, and the record may still wait for the inner one's name.
            return false;
        }
        self.settle();
        let alone = work >= self.group_ns;
        if alone {
            self.split(RecordKind::Single, start, now);
            self.open.first_token = token;
        } else if !self.is_open {
            self.open_record(RecordKind::Group, start);
        }
        if first_time {
            self.counted = token;
            self.open.count = self.open.count.saturating_add(1);
        }
        if self.open.slowest.is_none_or(|slowest| work > slowest.wall_ns) {
            self.open.slowest = Some(Slowest { token, wall_ns: work });
        }
        self.add_work(work, now);
        alone
    }

    /// Adds work that ends now to the open record, which may become full.
    fn add_work(&mut self, work: u64, now: Uptime) {
        self.open.work_ns = self.open.work_ns.saturating_add(work);
        self.open.wall_ns = now.since(self.open.start_ns);
        self.open.idle_ns = self.open.wall_ns.saturating_sub(self.open.work_ns);
        if !self.full && self.open.work_ns >= self.group_ns {
            let (cpu, late) = self.read_at_record_end();
            self.open.cpu_ns = share_of_cpu(cpu, self.open.wall_ns, 0);
            self.open.checktime_late_ns = late;
            self.full = true;
        }
    }

    /// Accounts for the time before a message that begins while no other one is working.
    fn gap(&mut self, now: Uptime) {
        let Some(start) = self.cursor_ns else { return };
        if self.rest_on(start, now) {
            return;
        }
        let gap = now.since(start);
        if gap < self.group_ns {
            return;
        }
        self.settle();
        self.split(self.kind_of_rest(start, now), start, now);
        self.open.wall_ns = gap;
        self.open.idle_ns = gap;
        self.settle();
    }

    fn kind_of_rest(&self, start: Uptime, now: Uptime) -> RecordKind {
        match self.environment.unseen_since(start) {
            true => RecordKind::Unseen,
            false if now.since(start) > self.frozen_ns => RecordKind::Frozen,
            false => RecordKind::Idle,
        }
    }

    /// Adds a detail. When there is no room, it replaces one that matters less. What is left out is counted,
    /// unless it is a short frame or short input.
    fn keep_detail(&mut self, detail: Detail<Name>) -> bool {
        let details = &mut self.open.details;
        if details.len() >= self.details_per_record {
            let worth = KeepReason::of(&detail, self.detail_ns);
            let evicted = details.evict_for(&detail, self.detail_ns);
            if evicted.unwrap_or(worth) > KeepReason::Frequent {
                self.open.dropped_details = self.open.dropped_details.saturating_add(1);
            }
            if evicted.is_none() {
                return false;
            }
        }
        self.details_changed = true;
        details.push(detail)
    }
}
