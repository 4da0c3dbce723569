//! `Looper.sObserver` through JNI from a thread without a Java frame, which the platform's hidden-API check trusts
//! (`jni_internal.cc`, Android 10 and newer): the second try, only with the app's consent.

use crate::java;
use jni::errors::Result;
use jni::ids::JStaticFieldID;
use jni::objects::{JClass, JObject};
use jni::refs::Global;
use jni::signature::JavaType;
use jni::{Env, JValue, jni_sig, jni_str};

type Answer<T> = std::result::Result<T, String>;

/// The current observer; null when there is none. The inner error says why it cannot be had.
pub(crate) fn read<'local>(env: &mut Env<'local>) -> Result<Answer<JObject<'local>>> {
    let found = on_a_fresh_thread(|env| {
        let (looper, field) = field(env)?;
        // SAFETY: the field was just found in this class, with this type.
        let value = unsafe { env.get_static_field_unchecked(looper, field, JavaType::Object) }?;
        env.new_global_ref(value.l()?)
    });
    match found {
        Ok(global) => Ok(Ok(env.new_local_ref(&global)?)),
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Sets the observer; null for none.
pub(crate) fn write(env: &mut Env<'_>, observer: &JObject<'_>) -> Result<Answer<()>> {
    let observer: Global<JObject<'static>> = env.new_global_ref(observer)?;
    Ok(on_a_fresh_thread(move |env| {
        let (looper, field) = field(env)?;
        // SAFETY: the field was just found in this class; the value implements its type (Java made sure) or is
        // null.
        unsafe { env.set_static_field_unchecked(looper, field, JValue::Object(&observer)) }
    }))
}

fn field(env: &mut Env<'_>) -> Result<(&'static Global<JClass<'static>>, JStaticFieldID)> {
    let java = java::get().ok_or(jni::errors::Error::UninitializedJavaVM)?;
    let field = env.get_static_field_id(
        &java.looper,
        jni_str!("sObserver"),
        jni_sig!("Landroid/os/Looper$Observer;"),
    )?;
    Ok((&java.looper, field))
}

/// Runs `body` on a thread that is attached for it and has never run Java code.
fn on_a_fresh_thread<T: Send>(body: impl FnOnce(&mut Env<'_>) -> Result<T> + Send) -> Answer<T> {
    let java = java::get().ok_or("the library is not loaded")?;
    let run = || {
        // The attachment clears what the look-up threw and hands it over as an error.
        java.vm.attach_current_thread(|env| body(env)).map_err(|error| error.to_string())
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("loopbox-observer".to_owned()).spawn_scoped(scope, run);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err("the thread failed".to_owned()),
            Err(error) => Err(format!("no thread: {error}")),
        }
    })
}
