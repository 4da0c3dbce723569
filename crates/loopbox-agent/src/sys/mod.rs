//! The operating system: clocks, threads, sleeping and waking, `/proc`, the log. Depends on no other part of
//! the crate.

pub(crate) mod cgroup;
pub(crate) mod clock;
pub(crate) mod descriptors;
#[cfg(debug_assertions)]
pub(crate) mod fault;
pub(crate) mod log;
pub(crate) mod mapped;
pub(crate) mod memory;
pub(crate) mod priority;
pub(crate) mod proc;
pub(crate) mod thread;
#[cfg(any(target_os = "android", test))]
pub(crate) mod thread_keys;
pub(crate) mod wake;
