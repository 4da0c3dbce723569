//! The native half of the framework's classes on a testbed, and of the substitutes for other classes.
//!
//! On a device the native half is in libandroid_runtime and libutils, and behind it are SurfaceFlinger and
//! the input dispatcher. Here the module `queue` waits with epoll, `vsync` and `input` add descriptors to a
//! queue's set, and through `log` the fake services call this program.

mod input;
mod log;
mod queue;
mod vsync;

pub(crate) use queue::poll_once_address;

use anyhow::Result;
use jni::Env;

/// Registers everything. Must run before the first Looper.
pub(crate) fn register(env: &mut Env<'_>) -> Result<()> {
    log::register(env)?;
    queue::register(env)?;
    vsync::register(env)?;
    input::register(env)
}
