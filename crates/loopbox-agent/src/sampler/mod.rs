//! The sampler: the thread that suspends the main thread for a stack, and other threads for a thread dump.

mod deadman;
mod discovery;
pub(crate) mod java_fallback;
pub(crate) mod sample;
mod stoppable;
pub(crate) mod suspended_call;
mod symbolizer;
pub(crate) mod thread;
mod thread_dump;
