//! From a decoded file to a [`crate::Analysis`]: texts are sanitised, lists bounded, references resolved and
//! checked.

mod analysis;
pub(crate) mod identity;
mod invariants;
mod joined;
mod kernel_view;
pub(crate) mod limits;
mod parked;
mod pending_queue;
pub(crate) mod sampled_tree;
mod sections;
pub(crate) mod stack_frames;
pub(crate) mod system_trace;
pub(crate) mod trace_file;

pub use identity::{ReportId, is_retraced};
pub use invariants::invariant_violations;
pub use trace_file::{ProcessTrace, TraceFile, text_of};

#[cfg(test)]
mod sampled_tree_tests;
