#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::indexing_slicing
    )
)]

mod cadence;
mod cause;
mod delay;
mod display_frame;
mod gestures;
pub mod histogram;
mod interval;
mod jank;
mod levels;
mod live;
pub mod matrix;
mod merge;
mod packed;
pub mod rates;
mod recorder;
mod scene;
mod scenes;
mod stages;
mod windows;

pub use cadence::{Cadence, Tick};
pub use cause::{default_threshold_ns, main_cause};
pub use delay::{MainPart, frames_delay_ns};
pub use display_frame::{DisplayFrame, FROZEN_NS};
pub use gestures::Gestures;
pub use interval::{IntervalDetector, RefreshInterval};
pub use jank::{MainThreadTime, is_jank, place};
pub use levels::{SKIPPED_FRAMES, is_skipped_warning, level, unscaled_level};
pub use live::{Live, LiveValue};
pub use merge::{MergedRate, MergedScene, MergedScroll};
pub use packed::PackedEvent;
pub use recorder::{FrameEvent, FrameRecorder, Heard, OwnMessage, SeenFrame, SeenMessage, StallFrames};
pub use scene::SceneStats;
pub use scenes::{SceneId, Scenes};
pub use stages::{Duplicates, METRICS, Rejected, StageReport};
pub use windows::{JankWindow, JankWindows};
