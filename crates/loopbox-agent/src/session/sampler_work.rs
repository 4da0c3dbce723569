//! What the other threads want from the sampler: answers about threads, and stacks.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

#[derive(Debug, Default)]
pub(crate) struct SamplerWork {
    /// Whether the app has switched sampling off.
    pub(super) off: AtomicBool,
    /// Whether sampling has ended. A sampler that is stuck in the call that suspends a thread ends as soon as
    /// that call returns.
    pub(super) ended: AtomicBool,
    /// Whether no thread may be stopped any more, not even by ART itself.
    forbids_stops: AtomicBool,
    /// Whether the sampler can answer questions about other threads.
    pub(super) answers_queries: AtomicBool,
    /// Whether there is a question about other threads.
    pub(super) query_waits: AtomicBool,
    /// Whether the sampler takes requested stacks.
    pub(super) takes_orders: AtomicBool,
    /// How many stacks were asked for.
    pub(super) ordered: AtomicU32,
    /// How many of the requested stacks are done. A stack is done when it is in the queue, or could not be
    /// taken.
    done: AtomicU32,
}

impl SamplerWork {
    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::SeqCst)
    }

    /// Forbids from now on that threads are stopped. Called when a stop has harmed this process, or has
    /// harmed an earlier process of the app.
    pub(crate) fn forbid_stops(&self) {
        self.forbids_stops.store(true, Ordering::SeqCst);
    }

    pub(crate) fn may_stop_threads(&self) -> bool {
        !self.forbids_stops.load(Ordering::SeqCst)
    }

    /// Sets whether questions about other threads are answered. Sampler only.
    pub(crate) fn set_answers_queries(&self, answers: bool) {
        self.answers_queries.store(answers && !self.ended.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Whether questions about other threads are answered.
    pub(crate) fn answers_queries(&self) -> bool {
        self.answers_queries.load(Ordering::SeqCst)
    }

    /// Whether there is a question; resets it. Sampler only.
    pub(crate) fn take_query(&self) -> bool {
        self.query_waits.swap(false, Ordering::SeqCst)
    }

    /// Sets whether requested stacks are taken. Sampler only.
    pub(crate) fn set_takes_orders(&self, takes: bool) {
        self.takes_orders.store(takes && !self.ended.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Whether the sampler takes requested stacks.
    pub(crate) fn takes_orders(&self) -> bool {
        self.takes_orders.load(Ordering::SeqCst)
    }

    /// The number of the requested stack that is not done yet; `None` when all are done. Sampler only.
    pub(crate) fn open_order(&self) -> Option<u32> {
        let number = self.ordered.load(Ordering::SeqCst);
        (number != self.done.load(Ordering::SeqCst)).then_some(number)
    }

    /// Notes that the requested stack `number` is done: it is in the queue, or could not be taken. Sampler
    /// only.
    pub(crate) fn finish_order(&self, number: u32) {
        self.done.store(number, Ordering::SeqCst);
    }

    /// Whether the requested stack `number` is done, or never will be.
    pub(crate) fn is_done(&self, number: u32) -> bool {
        self.done.load(Ordering::SeqCst) == number || !self.takes_orders()
    }
}
