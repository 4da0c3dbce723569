//! `Looper.sObserver` through JNI from a thread without a Java frame, which the platform's hidden-API check trusts
//! (`jni_internal.cc`, Android 10 and newer): the second try, only with the app's consent.

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{attach, call, class_cache};
use jni::ids::JStaticFieldID;
use jni::objects::{JClass, JObject};
use jni::{jni_sig, jni_str};

type Answer<T> = Result<T, Failure>;

/// The current observer; null when there is none.
///
/// # Errors
/// Why the field cannot be read.
pub fn read<'local>(env: &mut Env<'local>) -> Answer<JObject<'local>> {
    let found = on_a_fresh_thread(|env| {
        let (looper, field) = field(env)?;
        // SAFETY: the field was just found in this class, with this type.
        let value = unsafe { call::static_object(env, looper, field) };
        Ok(raw::global(env, &value))
    })?;
    let observer = raw::local(env, &found);
    raw::release(env, found);
    Ok(observer)
}

/// Sets the observer; null for none.
///
/// # Errors
/// Why the field cannot be written.
pub fn write(env: &mut Env<'_>, observer: &JObject<'_>) -> Answer<()> {
    let observer = raw::global(env, observer);
    let written = on_a_fresh_thread(|env| {
        let (looper, field) = field(env)?;
        // SAFETY: the field was just found in this class; the value implements its type (Java made sure) or is
        // null.
        unsafe { call::set_static_object(env, looper, field, &observer) };
        Ok(())
    });
    raw::release(env, observer);
    written
}

fn field(env: &mut Env<'_>) -> Answer<(&'static JClass<'static>, JStaticFieldID)> {
    let java = class_cache::get().ok_or_else(|| Failure(class_cache::NOT_LOADED.to_owned()))?;
    let signature = jni_sig!("Landroid/os/Looper$Observer;");
    Ok((&java.looper, raw::static_field(env, (&java.looper, jni_str!("sObserver")), &signature)?))
}

/// Runs `body` on a thread that is attached for it and has never run Java code.
fn on_a_fresh_thread<T: Send>(body: impl FnOnce(&mut Env<'_>) -> Answer<T> + Send) -> Answer<T> {
    let java = class_cache::get().ok_or_else(|| Failure(class_cache::NOT_LOADED.to_owned()))?;
    let refused = || Failure("the VM refused to attach a thread".to_owned());
    let name = "loopbox-observer";
    let run = || attach::with_env(&java.vm, name, body).unwrap_or_else(|| Err(refused()));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, run);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Failure("the thread that was to access the field ended early".to_owned())),
            Err(error) => Err(Failure(format!("cannot create a thread: {error}"))),
        }
    })
}
