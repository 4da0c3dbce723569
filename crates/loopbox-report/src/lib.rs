//! Sans-I/O analysis of Loopbox reports: bytes and decoded values in, text out.
//!
//! A decoded file is still hostile. [`Analysis`] bounds, cleans and resolves it once; everything else (the JSON
//! [`View`], the text of `show`, the verdict of `diagnose`, the HTML page, exports) starts from that and can
//! neither panic nor be made to use more than bounded memory and time.
#![forbid(unsafe_code)]

mod analysis;
mod bounds;
mod check;
mod clean;
mod clock;
pub mod cluster;
pub mod diagnose;
pub mod export;
pub mod flame;
mod frame;
pub mod html;
mod merged;
mod names;
mod queue;
pub mod retrace;
pub mod text;
mod tree;
pub mod view;

#[cfg(any(test, feature = "test-support"))]
pub mod test_support;

pub use analysis::{Analysis, Loss};
pub use check::broken_promises;
pub use clock::duration;
pub use frame::{Frame, FrameKind};
pub use merged::{Children, Merged, MergedNode};
pub use queue::{Queue, Waiting};
pub use tree::{Node, Tree};
pub use view::View;
