//! What several renderers show of a report, computed once: texts and figures that the model does not contain.

mod about;
mod evidence;
mod last_stack;
mod native_frame;
mod reason;
mod threads;

pub(crate) use about::{about_device, process_name};
pub(crate) use evidence::evidence;
pub(crate) use last_stack::{LastStack, last_stack};
pub(crate) use native_frame::tombstone_line;
pub(crate) use reason::{after_boot, reason, written_at};
pub(crate) use threads::{activity, java_stack, stack_lines, trace_lines};
