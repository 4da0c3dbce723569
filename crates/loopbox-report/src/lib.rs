#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod cluster;
mod derive;
pub mod diagnose;
pub mod export;
mod load;
mod model;
mod render;
pub mod retrace;
pub mod schema;
pub mod smoothness;

#[cfg(any(test, feature = "test-support"))]
pub mod test_causes;
#[cfg(any(test, feature = "test-support"))]
pub mod test_frames;
#[cfg(any(test, feature = "test-support"))]
pub mod test_support;

pub use load::{ProcessTrace, ReportId, TraceFile, invariant_violations, is_retraced, text_of};
pub use model::name::Name;
pub use model::{
    Analysis, AppPackages, ByteLimit, ChildLists, CodeOwner, Frame, FrameId, FrameKind, FrameTable, Identity,
    Issue, LockAction, LockChain, LockHolder, LockSource, LockWait, MainThread, MainWait, MainWaitKind,
    MemoryEvents, MemoryLimit, MergedNode, MergedTree, NativeFrame, NativeFrameSource, NativeModule,
    NativeStack, OtherThread, OtherThreads, PendingEntry, PendingQueue, Progress, SampledNode, SampledTree,
    SourceFunction, StackRun, SystemCall, SystemCallSource, SystemTrace, TraceLine, TraceLock, TraceThread,
    format_ms, version_code,
};
pub use model::{harmless, is_hidden};
pub use render::escape::{breakable, escape};
pub use render::{flame, html, json, json_text, smoothness as smoothness_views, text};
