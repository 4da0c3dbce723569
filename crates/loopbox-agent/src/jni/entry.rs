//! The way from Java into fallible code: no error and no exception goes back. A panic ends the process
//! (`panic = "abort"` in what ships), so code that runs here must not panic; lints at the crate's root deny
//! the usual ways.

use super::env::Env;
use super::raw::{self, Failure};
use crate::sys::log;
use jni::EnvUnowned;

/// Runs `body` for a native method; a failure is logged and the method returns its default.
pub fn enter<'local, T: Default>(
    env: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Failure>,
) -> T {
    let mut env = Env::of_native(&env);
    body(&mut env).unwrap_or_else(|failure| {
        let why = raw::exception(&mut env).unwrap_or(failure.0);
        log::warn(&["a native method failed: ", &why].concat());
        T::default()
    })
}
