//! The main thread's part: what the hooks on its Looper call for each message, and its frame callback for
//! each frame.

pub mod callbacks;
pub mod display_frames;
pub(crate) mod frame_events;
pub(crate) mod hints;
pub mod main_thread;
pub(crate) mod peek;
pub mod poll;
