#![doc = include_str!("../README.md")]
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
mod breadcrumb;
mod error;
pub mod hook;
pub mod install;
pub mod jni;
mod joined;
mod monitor;
mod report;
mod sampler;
mod session;
mod sys;

pub use error::InstallError;
pub use report::crash_mark::mark_crash;
pub use report::listener::{Listener, set_first_listener, set_listener};
pub use session::numbers::NUMBERS;
pub use session::settings::Settings;
pub use session::shared_state::SharedState;
pub use sys::memory::Memory;

/// Takes the one pthread key that this library needs, when it is loaded and before anything else. False when
/// the process has none left: nothing here can be used then.
#[cfg(target_os = "android")]
pub fn reserve_thread_key() -> bool {
    sys::thread_keys::reserve()
}

/// Native methods that are implemented here completely: those of the library's own threads, and the app's
/// breadcrumbs.
pub mod own_natives {
    pub use crate::breadcrumb::breadcrumb;
    pub use crate::joined::joined;
    pub use crate::sampler::suspended_call::{discover, walk};
}
