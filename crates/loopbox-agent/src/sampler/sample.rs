//! What the sampler passes to the worker, and the queue between them.

use crate::session::symbols::Stack;
use loopbox_format::model::{StackSource, Token, Uptime};
use ringbuf::traits::Split;
use ringbuf::{CachingCons, CachingProd, HeapRb};
use std::sync::Arc;

/// How many samples wait for the worker at most.
const CAPACITY: usize = 64;

/// A stack on its way to the worker.
#[derive(Clone, Copy)]
pub(crate) struct StackSample {
    pub(crate) token: Token,
    pub(crate) start_ns: Uptime,
    pub(crate) at_ns: Uptime,
    /// How long the main thread was suspended for it.
    pub(crate) stop_ns: u64,
    pub(crate) interval_ns: u64,
    /// Samples of this message that were due before this one and not taken.
    pub(crate) missed: u32,
    /// CPU time of the main thread when it was taken.
    pub(crate) cpu_ns: Option<u64>,
    /// How it was taken.
    pub(crate) source: StackSource,
    /// The generation of the symbol table that the numbers in `stack` belong to.
    pub(crate) generation: u32,
    pub(crate) stack: Stack,
}

/// The sampler's end of the queue.
pub(crate) type SampleSender = CachingProd<Arc<HeapRb<StackSample>>>;

/// The worker's end of the queue.
pub(crate) type SampleReceiver = CachingCons<Arc<HeapRb<StackSample>>>;

/// An empty queue.
pub(crate) fn queue() -> (SampleSender, SampleReceiver) {
    HeapRb::new(CAPACITY).split()
}
