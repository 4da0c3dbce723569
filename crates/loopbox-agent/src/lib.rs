//! The recorder inside an app: it joins what the other crates decide to what a process has. The main Looper's hooks call
//! in through JNI, the sampler thread suspends and walks the main thread, the worker thread symbolizes, merges and writes.
//! The app comes first: nothing here throws into Java, and nothing here makes the main thread wait for another thread.
//!
//! * `hook`: what runs on the main thread for each message.
//! * `session`: the data that the threads of a recording share.
//! * `sampler`: stacks of the main thread, thread dumps, and the dead-man's switch.
//! * `anr`: SIGQUIT and where it finds the main thread, the stall monitor, the evidence for an ANR.
//! * `report`: the worker thread, and all that goes into a report.
//! * `jni`: calls into the VM; `sys`: calls into the operating system.
//! * `install`: the one place that wires these and starts their threads.
//!
//! A folder knows only those below it: `install`, `report` and `hook`, `sampler` and `anr`, `session`, `jni`, `sys`.
//! The crate is made for `libloopbox.so` (`jni-glue`), which exports it, and for the benchmark of the hook.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::indexing_slicing
    )
)]

mod anr;
pub mod hook;
pub mod install;
pub mod jni;
mod report;
mod sampler;
mod session;
mod sys;

pub use report::crash_mark::mark_crash;
pub use report::listener::{Listener, set_listener};
pub use session::settings::{NUMBERS, Settings};
pub use session::shared_state::SharedState;

/// The native methods that the sampler calls through Java.
pub mod sampler_natives {
    pub use crate::sampler::suspended_call::{discover, walk};
}
