//! What the framework's Looper prints, and what its messages are called.
//!
//! Shared by the app, which names messages by it, and by the host tools, which read queues. Everything here
//! takes text that app code may have had a hand in (`Handler.toString()` and `Runnable.toString()` can be
//! overridden), so nothing is required of it: what does not parse is opaque, never an error, never a panic.
//!
//! * [`dispatch`] reads the line that Looper prints when a dispatch begins.
//! * [`component`] recognises the framework's own component messages, [`activity_thread`] names them, and
//!   [`component_of_stack`] identifies them by a stack.
//! * [`parse_queue`] reads the lines of `Looper.dump`, [`without_object`] takes user data out of one;
//!   [`head_barrier`] and [`flood`] are what the app itself says of a queue.

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
