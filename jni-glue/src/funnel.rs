//! The one way from Java into fallible code: no panic, no error and no exception goes back.

use crate::log;
use crate::raw::{self, Failure};
use jni::errors::Error;
use jni::{Env, EnvUnowned, Outcome};

/// Runs `body` for a native method; what goes wrong is logged and the method returns its default.
pub(crate) fn enter<'local, T: Default>(
    mut env: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Failure>,
) -> T {
    let guarded = |env: &mut Env<'local>| {
        let done = body(env).unwrap_or_else(|failure| {
            let why = raw::exception(env).unwrap_or(failure.0);
            log::warn(&format!("a native method failed: {why}"));
            T::default()
        });
        Ok::<T, Error>(done)
    };
    if let Outcome::Ok(done) = env.with_env(guarded).into_outcome() {
        return done;
    }
    log::warn("a native method panicked");
    let _ = env.with_env(|env| Ok::<_, Error>(raw::exception(env).is_some())).into_outcome();
    T::default()
}
