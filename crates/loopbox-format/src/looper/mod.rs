//! What the framework's Looper prints, and the names of its messages.
//!
//! Used by the app, which names messages with it, and by the host tools, which read queues. The text may be
//! influenced by the app (`Handler.toString()` and `Runnable.toString()` can be overridden), so nothing is
//! assumed about it: what does not parse is opaque, never an error, never a panic.
//!
//! * [`dispatch`] reads the line that Looper prints when a dispatch begins.
//! * [`component`] recognises the framework's own component messages, [`activity_thread`] names them, and
//!   [`component_of_stack`] identifies them by a stack.
//! * [`parse_queue`] reads the lines of `Looper.dump`, [`without_object`] removes user data from one;
//!   [`head_barrier`] and [`flood`] are what the app itself reports of a queue.

mod activity_thread;
mod component;
mod dispatch;
mod duration;
mod line;
mod queue;
mod queue_causes;
mod stack;

pub use activity_thread::{AnrClass, ComponentMessage, Timeout, activity_thread, component_anr_class};
pub use component::component;
pub use dispatch::{CUSTOM, Dispatch, class_name, dispatch};
pub use duration::duration_ms;
pub use line::without_object;
pub use queue::{Implementation, Pending, PendingBody, Queue, QueueSummary, parse_queue, summarize_queue};
pub use queue_causes::{Flood, HeadBarrier, flood, head_barrier};
pub use stack::{StackComponent, component_of_stack, is_dispatch};
