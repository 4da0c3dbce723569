//! What the sampler passes to the worker, and the queue between them.

use crate::session::symbols::Stack;
use loopbox_format::model::{StackSource, Token, Uptime};
use loopbox_recorder::Sample;
use ringbuf::traits::Split;
use ringbuf::{CachingCons, CachingProd, HeapRb};
use std::sync::Arc;

/// How many samples wait for the worker at most.
const CAPACITY: usize = 64;

/// A sample on its way to the worker, with the message that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct QueuedSample {
    pub(crate) token: Token,
    /// When the message began.
    pub(crate) start_ns: Uptime,
    /// How many samples of this message were due before this one and not taken.
    pub(crate) missed: u32,
    /// CPU time of the main thread when the sample was taken.
    pub(crate) cpu_ns: Option<u64>,
    /// How the sample was taken.
    pub(crate) source: StackSource,
    pub(crate) sample: Sample<Stack>,
}

/// The sampler's end of the queue.
pub(crate) type SampleSender = CachingProd<Arc<HeapRb<QueuedSample>>>;

/// The worker's end of the queue.
pub(crate) type SampleReceiver = CachingCons<Arc<HeapRb<QueuedSample>>>;

/// An empty queue.
pub(crate) fn queue() -> (SampleSender, SampleReceiver) {
    HeapRb::new(CAPACITY).split()
}
