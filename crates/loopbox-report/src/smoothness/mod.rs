//! Display frames: the figures of one report, of a fleet, and of two fleets compared.
//!
//! `loopbox-frames` defines each figure, and `docs/frames.md` explains it. The records of several reports can
//! be summed, so each report is added and then dropped. The memory that this needs depends on the number of
//! screens and users, not of frames.

mod collect;
mod compare;
mod fail_if;
mod gestures;
mod janks;
mod once;
mod scene;

pub use collect::{Smoothness, SmoothnessView};
pub use compare::{Comparison, MetricChange, SceneComparison, Verdict, compare};
pub use fail_if::{FailIf, FailIfError};
pub use gestures::{GestureView, GesturesView, OrdinalView};
pub use janks::JankView;
pub(crate) use janks::{message_token, tree_token};
pub use once::{FrameProcess, FramesOnce, FramesSeen};
pub(crate) use scene::name as scene_name;
pub use scene::{
    BucketView, FpsValuesView, FrameCauseView, LevelView, RateView, SceneView, ScrollView, StageTimeView,
    WindowsView,
};

#[cfg(test)]
mod tests;
