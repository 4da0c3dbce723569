//! What the main thread publishes for the other threads, and how they wake each other.

use crate::session::copies::Copies;
use crate::session::hook_trust::HookTrust;
use crate::session::main_state::MainState;
use crate::session::pace::Pace;
use crate::session::sampler_work::SamplerWork;
use crate::session::stops::Stops;
use crate::sys::clock;
use crate::sys::wake::{ANYONE, futex_wait, futex_wake};
use loopbox_format::model::{Token, Uptime};
use loopbox_recorder::Activity;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};

/// The bits of `parked` that say which threads sleep.
const SAMPLER: u32 = 1;
const STALL_MONITOR: u32 = 2;
/// The one bit of `parked` that is not about a sleeping thread: a request that the main thread unblock
/// SIGQUIT at its next message.
const UNBLOCK: u32 = 4;

/// After this time, in ns, every store of another thread is visible. A processor delays a store by some
/// hundred ns at most. When the kernel takes a thread off its processor, it makes all stores of the thread
/// visible.
const SETTLED_NS: u64 = 1_000_000;

/// What threads share: one part for each pair of threads that communicate, and the words on which the sampler
/// and the stall monitor sleep. Each action that wakes one of them is a method here.
#[derive(Debug, Default)]
pub struct SharedState {
    pub(crate) main: MainState,
    pub(crate) hook: HookTrust,
    pub(crate) sampler: SamplerWork,
    pub(crate) pace: Pace,
    pub(crate) stops: Stops,
    pub(crate) copies: Copies,
    /// Bits: which threads sleep without a deadline, and whether the main thread should unblock SIGQUIT.
    parked: AtomicU32,
    /// Changes when another thread wants something: the sampler and the stall monitor sleep on it.
    wake: AtomicU32,
    /// Whether all threads should end.
    stop: AtomicBool,
    /// Whether the worker should check the hook's place and the queue's front.
    rest_check: AtomicBool,
    /// Whether the app has paused the recorder: what the main thread does is not known then.
    paused: AtomicBool,
    /// Whether the app is in the background.
    background: AtomicBool,
    /// Whether a debugger was attached when the worker last checked.
    debugged: AtomicBool,
    /// The arrival time of the oldest SIGQUIT that has not been forwarded to ART's Signal Catcher yet;
    /// uptime, 0 for none.
    signal_ns: AtomicU64,
}

impl SharedState {
    /// Publishes that a message runs, and wakes the threads that sleep until a message runs. Main thread
    /// only. Returns whether the main thread should unblock SIGQUIT now.
    pub fn running(&self, token: Token, start_ns: Uptime) -> bool {
        self.main.now.set(token.0, start_ns.0);
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
        // A thread that sleeps to its own deadline is not disturbed.
        futex_wake(&self.wake, parked);
        parked & UNBLOCK != 0
    }

    /// Has the main thread unblock SIGQUIT at the start of the next message.
    pub(crate) fn request_unblock(&self) {
        self.parked.fetch_or(UNBLOCK, Ordering::Relaxed);
    }

    /// Publishes that the main thread has been busy outside of messages since `since_ns`, under this token.
    /// [`Token::NONE`] means that the main thread is not busy outside of messages any more. Stall monitor
    /// only.
    pub(crate) fn set_outside(&self, token: Token, since_ns: Uptime) {
        self.hook.found_unhooked.store(self.hook.may_miss_messages(), Ordering::SeqCst);
        self.main.outside.set(token.0, since_ns.0);
        futex_wake(&self.wake, SAMPLER);
    }

    /// Sleeps until a message starts, or something else is wanted. Sampler only.
    pub(crate) fn park(&self) {
        self.park_as(
            SAMPLER,
            |shared| shared.main.runs_no_message(),
            |wake, until_ns| {
                // The thread that finds something outside of messages stores it before it wakes this one.
                let busy = Token(self.main.outside.first()) == self.main.token();
                if !busy && self.may_sleep() && !self.sampler.is_off() {
                    futex_wait(&self.wake, wake, SAMPLER, until_ns);
                }
            },
        );
    }

    /// Sleeps until a message starts. `checked` is the main thread's token when the monitor last checked the
    /// main thread between messages. Returns at once when the token has changed: a message has started since
    /// that check, and may be over already. Also returns at once when messages may start without waking this
    /// thread, except while the recorder is paused. Stall monitor only.
    pub(crate) fn park_stall_monitor(&self, checked: Token) {
        self.park_as(
            STALL_MONITOR,
            |shared| {
                shared.main.token() == checked && (shared.is_paused() || !shared.hook.may_miss_messages())
            },
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

    /// Sleeps until the app resumes the recorder, or something else is wanted. Sampler only.
    pub(crate) fn sleep_while_paused(&self) {
        let wake = self.wake.load(Ordering::SeqCst);
        if self.may_sleep() && !self.sampler.is_off() && self.is_paused() {
            futex_wait(&self.wake, wake, SAMPLER, None);
        }
    }

    /// Sleeps until sampling is switched on, or something else is wanted. Sampler only.
    pub(crate) fn pause(&self) {
        let wake = self.wake.load(Ordering::SeqCst);
        if self.may_sleep() && self.sampler.is_off() {
            futex_wait(&self.wake, wake, SAMPLER, None);
        }
    }

    fn may_sleep(&self) -> bool {
        !self.stopped()
            && !self.sampler.query_waits.load(Ordering::SeqCst)
            && self.sampler.open_order().is_none()
    }

    /// Sleeps until this uptime at most. Sampler only.
    pub(crate) fn sleep_until(&self, deadline_ns: Uptime) {
        let wake = self.wake.load(Ordering::SeqCst);
        if self.may_sleep() && !self.sampler.is_off() {
            futex_wait(&self.wake, wake, SAMPLER, Some(deadline_ns));
        }
    }

    /// Sleeps until this uptime at most. Stall monitor only.
    pub(crate) fn stall_monitor_sleep(&self, deadline_ns: Uptime) {
        let wake = self.wake.load(Ordering::SeqCst);
        if !self.stopped() {
            futex_wait(&self.wake, wake, STALL_MONITOR, Some(deadline_ns));
        }
    }

    /// Switches sampling off and on while the session runs.
    pub(crate) fn switch(&self, on: bool) {
        self.sampler.off.store(!on, Ordering::SeqCst);
        futex_wake(&self.wake, SAMPLER);
    }

    /// Sets whether the app has paused the recorder. When this call ends a pause, messages may have run
    /// unseen until `now_ns`.
    pub(crate) fn set_paused(&self, paused: bool, now_ns: Uptime) {
        if !paused && self.is_paused() {
            // Before the pause is over for the others: the time of it is idle at no instant.
            self.main.set_unseen(now_ns);
        }
        self.paused.store(paused, Ordering::SeqCst);
        // Without a hook no message does that.
        futex_wake(&self.wake, ANYONE);
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst)
    }

    /// What the main thread does, as far as the recorder watches the main thread. Must not be called while
    /// the main thread is stopped.
    pub(crate) fn activity(&self) -> Activity {
        match self.main.activity() {
            // Maybe in the middle of a message: the main thread takes the hook out when it comes to it.
            _ if self.is_paused() => Activity::Paused,
            activity => activity,
        }
    }

    /// Sets whether the hook is in its place; false also when that is not known. While it is false, the stall
    /// monitor does not park.
    pub(crate) fn set_hooked(&self, hooked: bool) {
        if !self.hook.unhooked.swap(!hooked, Ordering::SeqCst) && !hooked {
            futex_wake(&self.wake, STALL_MONITOR);
        }
    }

    /// Sets the uptime from which the stall monitor relies on the hook again. Until then it does not rely on
    /// the hook, even while the hook is in its place.
    pub(crate) fn rely_on_hook_from(&self, at_ns: Uptime) {
        self.hook.relied_on_from_ns.store(at_ns.0, Ordering::SeqCst);
        futex_wake(&self.wake, STALL_MONITOR);
    }

    /// Has the worker check the hook's place and the queue's front, when it is woken next. Stall
    /// monitor only.
    pub(crate) fn ask_for_rest_check(&self) {
        self.rest_check.store(true, Ordering::SeqCst);
    }

    /// Whether the worker should check the hook's place and the queue's front; resets the request. Worker
    /// only.
    pub(crate) fn take_rest_check(&self) -> bool {
        self.rest_check.swap(false, Ordering::SeqCst)
    }

    /// Sets whether the app is in the background.
    pub(crate) fn set_background(&self, background: bool) {
        self.background.store(background, Ordering::Relaxed);
    }

    /// Whether the app is known to be in the background. False while it starts.
    pub(crate) fn in_background(&self) -> bool {
        self.background.load(Ordering::Relaxed)
    }

    /// Sets whether a debugger is attached. Worker only.
    pub(crate) fn set_debugged(&self, debugged: bool) {
        self.debugged.store(debugged, Ordering::Relaxed);
    }

    /// Whether a debugger was attached when the worker last checked.
    pub(crate) fn was_debugged(&self) -> bool {
        self.debugged.load(Ordering::Relaxed)
    }

    /// Ends sampling. A sampler that is stuck in the stop of a thread ends when the stop is over, if it ever
    /// is.
    pub(crate) fn end_sampling(&self) {
        self.sampler.ended.store(true, Ordering::SeqCst);
        self.sampler.answers_queries.store(false, Ordering::SeqCst);
        self.sampler.takes_orders.store(false, Ordering::SeqCst);
        self.stops.wake();
    }

    /// Whether sampling has ended.
    pub(crate) fn sampling_ended(&self) -> bool {
        self.stopped() || self.sampler.ended.load(Ordering::SeqCst)
    }

    /// Wakes the sampler for a question that was written before.
    pub(crate) fn notify_query(&self) {
        self.sampler.query_waits.store(true, Ordering::SeqCst);
        futex_wake(&self.wake, SAMPLER);
    }

    /// Asks the sampler for a stack of whatever the main thread does. Returns the number of the request, or
    /// `None` when there is no sampler to take it. Worker only.
    pub(crate) fn order_stack(&self) -> Option<u32> {
        if !self.sampler.takes_orders() {
            return None;
        }
        let number = self.sampler.ordered.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        futex_wake(&self.wake, SAMPLER);
        Some(number)
    }

    /// Notes that SIGQUIT arrived and the Signal Catcher has to get it. Async-signal-safe.
    pub(crate) fn signal_arrived(&self, now_ns: Uptime) {
        let _ = self.signal_ns.compare_exchange(0, now_ns.0.max(1), Ordering::SeqCst, Ordering::SeqCst);
        futex_wake(&self.wake, STALL_MONITOR);
        self.copies.ask();
    }

    /// Since when a signal waits to be forwarded.
    pub(crate) fn signal_since_ns(&self) -> Option<Uptime> {
        Some(self.signal_ns.load(Ordering::SeqCst)).filter(|&ns| ns != 0).map(Uptime)
    }

    /// Takes the signal that waits to be forwarded, if there is one. If so, the caller has to forward it.
    /// Async-signal-safe.
    pub(crate) fn take_signal(&self) -> bool {
        self.signal_ns.swap(0, Ordering::SeqCst) != 0
    }

    /// Ends all threads.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        futex_wake(&self.wake, ANYONE);
        self.stops.wake();
        self.copies.ask();
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests;
