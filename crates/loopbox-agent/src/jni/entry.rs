//! The way from Java into fallible code: no error and no exception goes back. A panic ends the process (`panic =
//! "abort"` in what ships), so code that runs here must not panic; lints at the crate's root deny the usual ways.

use super::raw::{self, Failure};
use crate::sys::log;
use jni::errors::Error;
use jni::{Env, EnvUnowned, Outcome};

/// Runs `body` for a native method; a failure is logged and the method returns its default.
pub fn enter<'local, T: Default>(
    mut env: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Failure>,
) -> T {
    let logged = |env: &mut Env<'local>| {
        let result = body(env).unwrap_or_else(|failure| {
            let why = raw::exception(env).unwrap_or(failure.0);
            log::warn(&["a native method failed: ", &why].concat());
            T::default()
        });
        Ok::<T, Error>(result)
    };
    match env.with_env_no_catch(logged).into_outcome() {
        Outcome::Ok(result) => result,
        // Neither an error nor a caught panic comes out of the closure above.
        _ => T::default(),
    }
}
