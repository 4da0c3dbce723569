//! What the main thread publishes for the other threads, and how they wake each other.

use super::hint::Hint;
use crate::sys::clock;
use crate::sys::wake::{ANYONE, futex_wait, futex_wake};
use loopbox_format::model::{Token, Uptime};
use loopbox_recorder::Activity;
use loopbox_store::Pair;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};

/// Bits of `parked`, and as whom the threads sleep.
const SAMPLER: u32 = 1;
const STALL_MONITOR: u32 = 2;
/// No thread sleeps because of this one: the main thread is to unblock SIGQUIT at the next message.
const UNBLOCK: u32 = 4;

/// After this time every store of another thread is visible: processors hold them back for some hundred ns at
/// most, and the kernel, when it takes a thread off its processor, makes them visible.
const SETTLED_NS: u64 = 1_000_000;

/// Written by the main thread for each message, read by the sampler and the worker.
#[derive(Debug)]
pub struct SharedState {
    /// The running message and its start; or, while none runs, the number of what runs outside of messages
    /// now, if anything does ([`Token::outside_before`] the next one), and the end of the last one.
    now: Pair,
    /// What the stall monitor found to run outside of messages, and since when it was seen; 0 for nothing
    /// yet. It holds while `now` has that number.
    outside: Pair,
    /// Between which messages others were around a loop, in which main waits or which it has left, and how
    /// many.
    around: Pair,
    /// A message, and what is known of it without its object.
    hint: Pair,
    /// Which threads sleep without a deadline, and what else the main thread is to do, by bits.
    parked: AtomicU32,
    wake: AtomicU32,
    stop: AtomicBool,
    /// The app has switched sampling off.
    off: AtomicBool,
    /// The worker is to look at the hook's place and at the queue's front.
    look: AtomicBool,
    /// No hook reports messages, or it is not known that one does: none wakes a thread that parks.
    unhooked: AtomicBool,
    /// The hook had been displaced shortly before, and may be again: not relied on until then, uptime.
    relied_on_from_ns: AtomicU64,
    /// What was found outside of messages was found while no hook was relied on.
    found_unhooked: AtomicBool,
    /// The app has paused the recorder: what the main thread does is not known.
    paused: AtomicBool,
    /// Nobody sees the app.
    background: AtomicBool,
    /// The sampler has ended, or must end when it returns.
    ended: AtomicBool,
    /// The sampler can answer questions about other threads.
    answers_queries: AtomicBool,
    /// There is a question about other threads.
    query_waits: AtomicBool,
    /// The sampler takes stacks that are asked for.
    takes_orders: AtomicBool,
    /// How many stacks were asked for, and how many of these orders are done.
    ordered: AtomicU32,
    done: AtomicU32,
    /// Wakes the dead-man thread.
    deadman: AtomicU32,
    /// The dead-man thread sleeps until a thread is stopped again.
    deadman_rests: AtomicBool,
    /// How often a thread was asked to stop, and let go: odd while one is stopped.
    stops: AtomicU32,
    /// How often a copy of the ring was asked for; wakes the thread that makes it.
    copies: AtomicU32,
    /// When the oldest SIGQUIT arrived that ART's Signal Catcher has not got yet, uptime; 0 for none.
    signal_ns: AtomicU64,
    /// When the hook was last found taken out, uptime; 0 for never.
    unseen_ns: AtomicU64,
    /// How late the sampler woke at worst, plus one; 0 when it did not sleep.
    late_ns: AtomicU64,
    /// A message, and the interval that its tree asks for.
    advice: Pair,
    /// The age from which on a message is sampled while display frames come; 0 while none do.
    jank_onset_ns: AtomicU64,
}

impl Default for SharedState {
    /// No message has run yet.
    fn default() -> Self {
        let now = Pair::default();
        now.set(Token::outside_before(Token::FIRST).0, 0);
        Self {
            now,
            outside: Pair::default(),
            around: Pair::default(),
            hint: Pair::default(),
            parked: AtomicU32::default(),
            wake: AtomicU32::default(),
            stop: AtomicBool::default(),
            off: AtomicBool::default(),
            look: AtomicBool::default(),
            unhooked: AtomicBool::default(),
            relied_on_from_ns: AtomicU64::default(),
            found_unhooked: AtomicBool::default(),
            paused: AtomicBool::default(),
            background: AtomicBool::default(),
            ended: AtomicBool::default(),
            answers_queries: AtomicBool::default(),
            query_waits: AtomicBool::default(),
            takes_orders: AtomicBool::default(),
            ordered: AtomicU32::default(),
            done: AtomicU32::default(),
            deadman: AtomicU32::default(),
            deadman_rests: AtomicBool::default(),
            stops: AtomicU32::default(),
            copies: AtomicU32::default(),
            signal_ns: AtomicU64::default(),
            unseen_ns: AtomicU64::default(),
            late_ns: AtomicU64::default(),
            advice: Pair::default(),
            jank_onset_ns: AtomicU64::default(),
        }
    }
}

impl SharedState {
    /// A message runs. Main thread only. Returns whether the main thread is to unblock SIGQUIT now.
    pub fn running(&self, token: Token, start_ns: Uptime) -> bool {
        self.now.set(token.0, start_ns.0);
        // In this order in the code. The processor may still load before other threads see the message;
        // `park` waits for that, because a fence here would be the most expensive instruction of the whole
        // hook.
        compiler_fence(Ordering::SeqCst);
        let parked = self.parked.load(Ordering::Relaxed);
        parked != 0 && self.wake_parked()
    }

    #[cold]
    fn wake_parked(&self) -> bool {
        let parked = self.parked.swap(0, Ordering::Relaxed);
        // Who sleeps to a deadline of its own is not disturbed.
        futex_wake(&self.wake, parked);
        parked & UNBLOCK != 0
    }

    /// Has the main thread unblock SIGQUIT at the start of the next message.
    pub(crate) fn request_unblock(&self) {
        self.parked.fetch_or(UNBLOCK, Ordering::Relaxed);
    }

    /// No message runs, the next one will have the number `next`. Main thread only, or, without a hook, stall
    /// monitor only.
    pub fn idle(&self, next: Token, since_ns: Uptime) {
        self.now.set(Token::outside_before(next).0, since_ns.0);
    }

    /// Until the message `next` begins, that many others are around a loop, or were. Main thread only, before
    /// [`idle`](Self::idle).
    pub(crate) fn set_around(&self, next: Token, messages: u32) {
        self.around.set(Token::outside_before(next).0, messages.into());
    }

    /// How many messages may go on while the main thread has this number between messages, because they were
    /// around a loop then.
    pub(crate) fn around(&self, between: Token) -> u64 {
        let (of, messages) = self.around.get();
        if of == between.0 { messages } else { 0 }
    }

    /// This is known of the message that runs. Main thread only.
    #[inline]
    pub(crate) fn set_hint(&self, token: Token, hint: Hint) {
        self.hint.set(token.0, hint.to_bits());
    }

    /// What is known of this message. Not to be called while the main thread is stopped.
    pub(crate) fn hint(&self, token: Token) -> Hint {
        let (of, hint) = self.hint.get();
        if of == token.0 { Hint::from_bits(hint) } else { Hint::default() }
    }

    /// What the main thread does. Not to be called while it is stopped.
    pub(crate) fn activity(&self) -> Activity {
        let (now, start_ns) = self.now.get();
        let token = Token(now);
        if !token.is_outside() {
            return Activity::Running { token, start_ns: Uptime(start_ns) };
        }
        match self.outside.get() {
            (found, since_ns) if found == now => Activity::Outside { token, since_ns: Uptime(since_ns) },
            _ => Activity::Idle { since_ns: Uptime(start_ns) },
        }
    }

    /// The running message, or, while none runs, the number of what may run outside of messages. May be
    /// called while the main thread is stopped.
    pub(crate) fn token(&self) -> Token {
        Token(self.now.first())
    }

    /// While no message runs: the number of what may run outside of messages, and the end of the last
    /// message, 0 before the first one.
    pub(crate) fn between_messages(&self) -> Option<(Token, Uptime)> {
        let (token, since_ns) = self.now.get();
        Some((Token(token), Uptime(since_ns))).filter(|(token, _)| token.is_outside())
    }

    fn runs_no_message(&self) -> bool {
        self.token().is_outside()
    }

    /// Something with this number runs outside of messages, or, with 0, nothing does any more. Stall monitor
    /// only.
    pub(crate) fn set_outside(&self, token: Token, since_ns: Uptime) {
        self.found_unhooked.store(self.may_miss_messages(), Ordering::SeqCst);
        self.outside.set(token.0, since_ns.0);
        futex_wake(&self.wake, SAMPLER);
    }

    /// Sleeps until a message starts, or something else is wanted. Sampler only.
    pub(crate) fn park(&self) {
        self.park_as(SAMPLER, Self::runs_no_message, |wake, until_ns| {
            // The thread that finds something outside of messages stores it before it wakes this one.
            let busy = Token(self.outside.first()) == self.token();
            if !busy && self.may_sleep() && !self.is_off() {
                futex_wait(&self.wake, wake, SAMPLER, until_ns);
            }
        });
    }

    /// Sleeps until a message starts, or returns at once when one has started since the main thread had this
    /// number between messages: the message may be over, and has not been looked at. Nor does it sleep while
    /// no message need wake it. Stall monitor only.
    pub(crate) fn park_stall_monitor(&self, looked_at: Token) {
        self.park_as(
            STALL_MONITOR,
            |shared| shared.token() == looked_at && (shared.is_paused() || !shared.may_miss_messages()),
            |wake, until_ns| {
                if !self.stopped() && self.signal_since_ns().is_none() {
                    futex_wait(&self.wake, wake, STALL_MONITOR, until_ns);
                }
            },
        );
    }

    fn park_as(&self, bit: u32, rests: impl Fn(&Self) -> bool, sleep: impl Fn(u32, Option<Uptime>)) {
        let wake = self.wake.load(Ordering::SeqCst);
        self.parked.fetch_or(bit, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        // Briefly first: a message whose start did not see yet that this thread parks is visible when this is
        // over.
        let deadlines = [Some(clock::now_ns().plus(SETTLED_NS)), None];
        for deadline_ns in deadlines {
            if rests(self) {
                sleep(wake, deadline_ns);
            }
        }
        self.parked.fetch_and(!bit, Ordering::Relaxed);
    }

    /// Wakes the sampler and the stall monitor.
    pub(crate) fn wake_all(&self) {
        futex_wake(&self.wake, ANYONE);
    }

    /// Sleeps until sampling is switched on, or something else is wanted. Sampler only.
    pub(crate) fn pause(&self) {
        let wake = self.wake.load(Ordering::SeqCst);
        if self.may_sleep() && self.is_off() {
            futex_wait(&self.wake, wake, SAMPLER, None);
        }
    }

    fn may_sleep(&self) -> bool {
        !self.stopped() && !self.query_waits.load(Ordering::SeqCst) && self.open_order().is_none()
    }

    /// A thread is about to be stopped, and the dead-man thread looks until the answer is dropped. Sampler
    /// only.
    pub(crate) fn begin_stop(&self) -> Stop<'_> {
        self.stops.fetch_add(1, Ordering::SeqCst);
        if self.deadman_rests.swap(false, Ordering::SeqCst) {
            futex_wake(&self.deadman, ANYONE);
        }
        Stop(self)
    }

    /// Sleeps until this uptime; or, when no thread was stopped since the last call, until one is. `stops` is
    /// kept from call to call. Dead-man thread only.
    pub(crate) fn deadman_sleep(&self, until_ns: Uptime, stops: &mut u32) {
        let word = self.deadman.load(Ordering::SeqCst);
        let before = std::mem::replace(stops, self.stops.load(Ordering::SeqCst));
        let mut rests = before == *stops && before.is_multiple_of(2);
        if rests {
            // Set before the second look: a stop that it does not see sees this.
            self.deadman_rests.store(true, Ordering::SeqCst);
            rests = self.stops.load(Ordering::SeqCst) == before;
        }
        if !self.sampling_ended() {
            futex_wait(&self.deadman, word, ANYONE, (!rests).then_some(until_ns));
        }
    }

    /// Switches sampling off and on while the session runs.
    pub(crate) fn switch(&self, on: bool) {
        self.off.store(!on, Ordering::SeqCst);
        futex_wake(&self.wake, SAMPLER);
    }

    /// Sets whether the app has paused the recorder.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::SeqCst);
        // Without a hook no message does that.
        futex_wake(&self.wake, ANYONE);
    }

    /// Sets whether the hook is in its place. While it is not, or may not be, the stall monitor does not
    /// park.
    pub(crate) fn set_hooked(&self, hooked: bool) {
        if !self.unhooked.swap(!hooked, Ordering::SeqCst) && !hooked {
            futex_wake(&self.wake, STALL_MONITOR);
        }
    }

    /// Has the stall monitor not rely on the hook until this uptime, wherever it is.
    pub(crate) fn rely_on_hook_from(&self, at_ns: Uptime) {
        self.relied_on_from_ns.store(at_ns.0, Ordering::SeqCst);
        futex_wake(&self.wake, STALL_MONITOR);
    }

    /// Whether messages may begin that no hook reports.
    pub(crate) fn may_miss_messages(&self) -> bool {
        let from_ns = self.relied_on_from_ns.load(Ordering::SeqCst);
        self.unhooked.load(Ordering::SeqCst) || from_ns != 0 && clock::now_ns() < Uptime(from_ns)
    }

    /// Whether that was so when the main thread was found busy outside of messages. What it does is the same
    /// until it is found at rest, whatever becomes of the hook.
    pub(crate) fn was_found_unhooked(&self) -> bool {
        self.found_unhooked.load(Ordering::SeqCst)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst)
    }

    /// Has the worker look at the hook's place and at the queue's front, when it is woken next. Stall
    /// monitor only.
    pub(crate) fn ask_for_look(&self) {
        self.look.store(true, Ordering::SeqCst);
    }

    /// Whether it is to look; resets that. Worker only.
    pub(crate) fn take_look(&self) -> bool {
        self.look.swap(false, Ordering::SeqCst)
    }

    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::SeqCst)
    }

    /// Sets whether the app is in the background.
    pub(crate) fn set_background(&self, background: bool) {
        self.background.store(background, Ordering::Relaxed);
    }

    /// Whether the app is in the background, as far as that is known: not while it starts.
    pub(crate) fn in_background(&self) -> bool {
        self.background.load(Ordering::Relaxed)
    }

    /// The sampler has ended, or is not trusted any more: then it ends when it returns, if it does.
    pub(crate) fn end_sampling(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.answers_queries.store(false, Ordering::SeqCst);
        self.takes_orders.store(false, Ordering::SeqCst);
        futex_wake(&self.deadman, ANYONE);
    }

    /// Whether sampling is over.
    pub(crate) fn sampling_ended(&self) -> bool {
        self.stopped() || self.ended.load(Ordering::SeqCst)
    }

    /// Sets whether questions about other threads are answered. Sampler only.
    pub(crate) fn set_answers_queries(&self, answers: bool) {
        self.answers_queries.store(answers && !self.ended.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Whether questions about other threads are answered.
    pub(crate) fn answers_queries(&self) -> bool {
        self.answers_queries.load(Ordering::SeqCst)
    }

    /// Wakes the sampler for a question that was written before.
    pub(crate) fn notify_query(&self) {
        self.query_waits.store(true, Ordering::SeqCst);
        futex_wake(&self.wake, SAMPLER);
    }

    /// Whether there is a question; resets it. Sampler only.
    pub(crate) fn take_query(&self) -> bool {
        self.query_waits.swap(false, Ordering::SeqCst)
    }

    /// Sets whether stacks are taken that are asked for. Sampler only.
    pub(crate) fn set_takes_orders(&self, takes: bool) {
        self.takes_orders.store(takes && !self.ended.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Whether the sampler takes stacks.
    pub(crate) fn takes_orders(&self) -> bool {
        self.takes_orders.load(Ordering::SeqCst)
    }

    /// Asks the sampler for a stack of whatever the main thread does; the number of the order, or `None` when
    /// there is no sampler to take it. Worker only.
    pub(crate) fn order_stack(&self) -> Option<u32> {
        if !self.takes_orders() {
            return None;
        }
        let number = self.ordered.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        futex_wake(&self.wake, SAMPLER);
        Some(number)
    }

    /// The order that is not done yet. Sampler only.
    pub(crate) fn open_order(&self) -> Option<u32> {
        let number = self.ordered.load(Ordering::SeqCst);
        (number != self.done.load(Ordering::SeqCst)).then_some(number)
    }

    /// This order is done: its stack is in the queue, or there is none. Sampler only.
    pub(crate) fn finish_order(&self, number: u32) {
        self.done.store(number, Ordering::SeqCst);
    }

    /// Whether this order is done, or never will be.
    pub(crate) fn is_done(&self, number: u32) -> bool {
        self.done.load(Ordering::SeqCst) == number || !self.takes_orders()
    }

    /// Sleeps until this uptime at most. Stall monitor only.
    pub(crate) fn stall_monitor_sleep(&self, deadline_ns: Uptime) {
        let wake = self.wake.load(Ordering::SeqCst);
        if !self.stopped() {
            futex_wait(&self.wake, wake, STALL_MONITOR, Some(deadline_ns));
        }
    }

    /// Sleeps until this uptime at most. Sampler only.
    pub(crate) fn sleep_until(&self, deadline_ns: Uptime) {
        let wake = self.wake.load(Ordering::SeqCst);
        if self.may_sleep() && !self.is_off() {
            futex_wait(&self.wake, wake, SAMPLER, Some(deadline_ns));
        }
    }

    /// Asks for a copy of the ring in its file. Async-signal-safe.
    pub(crate) fn ask_for_copy(&self) {
        futex_wake(&self.copies, ANYONE);
    }

    /// How often a copy was asked for.
    pub(crate) fn copies_asked(&self) -> u32 {
        self.copies.load(Ordering::SeqCst)
    }

    /// Sleeps until a copy is asked for, unless one was since this many. For the thread that makes them.
    pub(crate) fn wait_for_copy(&self, asked: u32) {
        if !self.stopped() {
            futex_wait(&self.copies, asked, ANYONE, None);
        }
    }

    /// Whether a thread is stopped, or about to be. Async-signal-safe.
    pub(crate) fn is_stopping(&self) -> bool {
        !self.stops.load(Ordering::SeqCst).is_multiple_of(2)
    }

    /// SIGQUIT arrived, and the Signal Catcher has to get it. Async-signal-safe.
    pub(crate) fn signal_arrived(&self, now_ns: Uptime) {
        let _ = self.signal_ns.compare_exchange(0, now_ns.0.max(1), Ordering::SeqCst, Ordering::SeqCst);
        futex_wake(&self.wake, STALL_MONITOR);
        self.ask_for_copy();
    }

    /// Since when a signal waits to be forwarded.
    pub(crate) fn signal_since_ns(&self) -> Option<Uptime> {
        Some(self.signal_ns.load(Ordering::SeqCst)).filter(|&ns| ns != 0).map(Uptime)
    }

    /// Whether a signal waits to be forwarded; the caller has to do it. Async-signal-safe.
    pub(crate) fn take_signal(&self) -> bool {
        self.signal_ns.swap(0, Ordering::SeqCst) != 0
    }

    /// Ends all threads.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        futex_wake(&self.wake, ANYONE);
        futex_wake(&self.deadman, ANYONE);
        futex_wake(&self.copies, ANYONE);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Messages may have run unseen, from the last one that was seen until now.
    pub(crate) fn set_unseen(&self, now_ns: Uptime) {
        self.unseen_ns.store(now_ns.0, Ordering::Relaxed);
    }

    /// Whether they may have after this uptime.
    pub fn unseen_since(&self, since_ns: Uptime) -> bool {
        let unseen_ns = self.unseen_ns.load(Ordering::Relaxed);
        unseen_ns != 0 && unseen_ns >= since_ns.0
    }

    /// Until when they may have after this uptime; `None` when there is no sign that any has.
    pub(crate) fn unseen_until(&self, since_ns: Uptime) -> Option<Uptime> {
        let unseen_ns = Uptime(self.unseen_ns.load(Ordering::Relaxed));
        (unseen_ns > since_ns).then_some(unseen_ns)
    }

    /// The sampler woke this much too late.
    pub(crate) fn record_late(&self, late_ns: u64) {
        self.late_ns.fetch_max(late_ns.saturating_add(1), Ordering::Relaxed);
    }

    /// The worst lateness since the last call. Only a load while there is none, so cheap for the main thread.
    pub fn take_late_ns(&self) -> Option<u64> {
        if self.late_ns.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.late_ns.swap(0, Ordering::Relaxed).checked_sub(1)
    }

    /// The interval at which this message is to be sampled from now on. Worker only.
    pub(crate) fn advise(&self, token: Token, interval_ns: u64) {
        self.advice.set(token.0, interval_ns);
    }

    /// Messages are to be sampled from this age on, because frames come that they may hold up; 0 when none do
    /// any more.
    pub(crate) fn set_jank_onset(&self, onset_ns: u64) {
        self.jank_onset_ns.store(onset_ns, Ordering::Relaxed);
    }

    /// The age at which messages may hold up frames; `None` while no frames come.
    pub(crate) fn jank_onset_ns(&self) -> Option<u64> {
        Some(self.jank_onset_ns.load(Ordering::Relaxed)).filter(|&ns| ns != 0)
    }

    /// The last advice: for which message, and the interval.
    pub(crate) fn advice(&self) -> (Token, u64) {
        let (token, interval_ns) = self.advice.get();
        (Token(token), interval_ns)
    }
}

/// A thread is stopped, or nearly.
pub(crate) struct Stop<'a>(&'a SharedState);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stops.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
