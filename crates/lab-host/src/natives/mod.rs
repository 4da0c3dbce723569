//! The native half of the framework's classes on a testbed, and of the substitutes for other classes.
//!
//! On a device libandroid_runtime, libutils, SurfaceFlinger and the input dispatcher are behind these
//! classes. Here each has one module: `queue` waits with epoll, `vsync` and `input` are descriptors in a
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
