//! A Perfetto trace: protocol buffers, for ui.perfetto.dev and trace_processor.
//!
//! The encoder is written by hand, because a trace that is converted and not recorded needs few message
//! types. Field numbers are those of `perfetto_trace.proto`; a test decodes what is written with Perfetto's
//! own schema. Timestamps are uptime on `BUILTIN_CLOCK_MONOTONIC`; the clock snapshot makes this clock the
//! trace's clock and relates it to the time of day.
//!
//! Tracks: the main thread with its messages as slices; under it the sampled stacks (frames as nested slices,
//! and as samples), the history as recorded, the pending queue, the newest display frames (as expected, and
//! as shown), and counters.

mod encode;
mod merge;
mod packets;
mod proto;
mod samples;

pub(super) use encode::encode;
pub use merge::{MergeError, Merged, merge};
pub(super) use packets::Place;
