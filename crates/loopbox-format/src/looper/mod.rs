//! What the framework's Looper prints, and what its messages are called.
//!
//! Shared by the app, which names messages by it, and by the desk, which reads queues. Everything here takes text
//! that app code may have had a hand in (`Handler.toString()` and `Runnable.toString()` can be overridden), so
//! nothing is required of it: what does not parse is opaque, never an error, never a panic.

mod component;

pub use component::component;
