//! The one way from Java into fallible code: no panic, no error and no exception goes back.

use crate::log;
use jni::errors::{Error, ErrorPolicy};
use jni::{Env, EnvUnowned};
use std::any::Any;

/// Runs `body` for a native method; what goes wrong is logged and the method returns its default.
pub(crate) fn enter<'local, T: Default>(
    mut env: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Error>,
) -> T {
    env.with_env(body).resolve::<LogAndDefault>()
}

struct LogAndDefault;

impl<T: Default> ErrorPolicy<T, Error> for LogAndDefault {
    type Captures<'unowned_env_local: 'native_method, 'native_method> = ();

    fn on_error<'unowned_env_local: 'native_method, 'native_method>(
        env: &mut Env<'unowned_env_local>,
        (): &mut (),
        error: Error,
    ) -> jni::errors::Result<T> {
        env.exception_clear();
        log::warn(&format!("a native method failed: {error}"));
        Ok(T::default())
    }

    fn on_panic<'unowned_env_local: 'native_method, 'native_method>(
        env: &mut Env<'unowned_env_local>,
        (): &mut (),
        _payload: Box<dyn Any + Send + 'static>,
    ) -> jni::errors::Result<T> {
        env.exception_clear();
        log::warn("a native method panicked");
        Ok(T::default())
    }
}
