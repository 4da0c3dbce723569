//! The main thread's part: what the hooks on its Looper call for each message.

pub mod callbacks;
pub mod main_thread;
