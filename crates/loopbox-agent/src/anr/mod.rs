//! Hangs and ANRs: SIGQUIT, the stall monitor, and the evidence that makes a hang an ANR.

pub(crate) mod debugger;
pub(crate) mod evidence;
pub(crate) mod framework;
mod handler_feature;
pub(crate) mod interrupted_call;
pub(crate) mod native_stack;
mod other_handler;
mod sigchain;
pub(crate) mod signal_catcher;
pub(crate) mod sigquit;
pub(crate) mod stall_monitor;
pub(crate) mod tracker;

pub(crate) use handler_feature::{HANDLED, update_handler_feature};
