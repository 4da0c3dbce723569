//! A loaded report: sanitised, bounded and with every index valid.
//!
//! The model is plain data, with functions that derive facts from the data. It knows no limits of the file
//! format and no output format; [`crate::load`] makes it, all other code reads it.

mod analysis;
pub(crate) mod anr_type;
pub(crate) mod anr_words;
pub(crate) mod class_names;
mod frame;
pub(crate) mod framework;
mod identity;
mod kernel_view;
pub(crate) mod lock_kind;
mod locks;
pub(crate) mod loopbox_code;
pub(crate) mod main_wait;
pub(crate) mod memory_limit;
mod merged_tree;
pub(crate) mod message_name;
pub(crate) mod name;
mod outside;
mod pattern;
mod pending_queue;
pub(crate) mod plural;
mod role;
mod sampled_tree;
pub(crate) mod sanitize;
pub(crate) mod several;
pub(crate) mod system_calls;
mod system_trace;
mod threads;
pub(crate) mod time;
pub(crate) mod token;
pub(crate) mod version;

pub(crate) use analysis::at_most;
pub use analysis::{Analysis, Issue};
pub use class_names::{AppPackages, CodeOwner};
pub use frame::{Frame, FrameId, FrameKind, FrameTable};
pub use identity::Identity;
pub(crate) use kernel_view::ThreadState;
pub use kernel_view::{
    MainThread, NativeFrame, NativeFrameSource, NativeModule, NativeStack, Progress, SourceFunction,
    SystemCall, SystemCallSource,
};
pub(crate) use locks::locked_object;
pub use locks::{LockChain, LockHolder, LockSource, LockWait};
pub use main_wait::{MainWait, MainWaitKind};
pub use memory_limit::{ByteLimit, MemoryEvents, MemoryLimit};
pub(crate) use merged_tree::method_ids;
pub use merged_tree::{ChildLists, MergedNode, MergedTree};
pub(crate) use outside::{OutsidePlace, TreePlace};
pub(crate) use pending_queue::Overdue;
pub use pending_queue::{PendingEntry, PendingQueue};
pub(crate) use sampled_tree::{GapSums, SampleGap};
pub use sampled_tree::{SampledNode, SampledTree, StackRun};
pub use sanitize::{harmless, is_hidden};
pub use system_trace::{LockAction, SystemTrace, TraceLine, TraceLock, TraceThread};
pub use threads::{OtherThread, OtherThreads};
pub use time::format_ms;
pub use version::version_code;
