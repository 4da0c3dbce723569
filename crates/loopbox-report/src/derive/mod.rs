//! What several renderers show of a report, computed once: texts and figures that the model does not contain.

mod evidence;
mod header;
mod last_stack;
mod native_frame;
mod threads;

pub(crate) use evidence::evidence;
pub(crate) use header::{about_device, after_boot, process_name, reason, written_at};
pub(crate) use last_stack::{LastStack, last_stack};
pub(crate) use native_frame::tombstone_line;
pub(crate) use threads::{activity, java_stack, stack_lines, trace_lines};
