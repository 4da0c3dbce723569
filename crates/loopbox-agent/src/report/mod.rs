//! Reports: what goes into them, when they are written, and who is notified.

mod collector;
pub(crate) mod crash_mark;
mod digest;
mod ended_names;
mod file;
mod jank_trees;
mod kernel_view;
mod lifecycle;
pub(crate) mod listener;
mod meta;
mod outside;
mod pending_queue;
mod previous_runs;
mod process_stats;
pub(crate) mod ring_file;
mod running_message;
mod start_mark;
mod suspects_counts;
mod suspicion;
mod switched_off;
mod thread_query;
mod unseen_message;
mod used_symbols;
mod warned;
pub(crate) mod worker;
