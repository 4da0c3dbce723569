//! What Java is given besides reports, while the app runs: messages that took long, and display frames.
//! Levels, files and listeners are Java's.

pub(crate) mod display_frames;
pub(crate) mod frame_stats;
pub(crate) mod long_messages;
