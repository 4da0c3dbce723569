//! The native methods of `io.loopbox.internal.Native`, registered by hand: methods with `@FastNative` or `@CriticalNative` are not
//! found by name on Android 8 to 11, and a name that a shrinker changed must show when the library is loaded.

use jni::objects::{JClass, JLongArray, JObjectArray, JString};
use jni::strings::JNIStr;
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, NativeMethod, jni_str};
use loopbox_agent::hook::callbacks;
use loopbox_agent::jni::env::Env;
use loopbox_agent::jni::raw::{self, Failure};
use loopbox_agent::jni::{class_cache, entry};
use loopbox_agent::{NUMBERS, Settings, install, sampler_natives};
use loopbox_format::model::Feature;
use std::ffi::c_void;
use std::time::Duration;

/// Looks up the Java classes and registers the native methods.
pub(crate) fn register(env: &mut Env<'_>) -> Result<(), Failure> {
    let classes = class_cache::look_up(env)?;
    let table: [(&JNIStr, &JNIStr, *mut c_void); 26] = [
        (jni_str!("install"), jni_str!("([J[Ljava/lang/String;)Ljava/lang/String;"), install as *mut c_void),
        (jni_str!("uninstall"), jni_str!("()V"), uninstall as *mut c_void),
        (jni_str!("setSampling"), jni_str!("(Z)V"), set_sampling as *mut c_void),
        (jni_str!("setUnseen"), jni_str!("()V"), set_unseen as *mut c_void),
        (jni_str!("setPaused"), jni_str!("(Z)V"), set_paused as *mut c_void),
        (jni_str!("setMonitor"), jni_str!("(JJJ)Z"), set_monitor as *mut c_void),
        (jni_str!("setHook"), jni_str!("(ZLjava/lang/String;)V"), set_hook as *mut c_void),
        (jni_str!("features"), jni_str!("()Ljava/lang/String;"), features as *mut c_void),
        (jni_str!("annotate"), jni_str!("(Ljava/lang/String;Ljava/lang/String;)V"), annotate as *mut c_void),
        (jni_str!("dump"), jni_str!("(Ljava/lang/String;J)Ljava/lang/String;"), dump as *mut c_void),
        (jni_str!("askForDump"), jni_str!("(Ljava/lang/String;J)Z"), ask_for_dump as *mut c_void),
        (jni_str!("begin"), jni_str!("()I"), callbacks::begin as *mut c_void),
        (jni_str!("beginIn"), jni_str!("(I)I"), callbacks::begin_in as *mut c_void),
        (jni_str!("depth"), jni_str!("()I"), callbacks::depth as *mut c_void),
        (jni_str!("begun"), jni_str!("()J"), callbacks::begun_so_far as *mut c_void),
        (jni_str!("adopt"), jni_str!("(IZJ)V"), adopt as *mut c_void),
        (jni_str!("endAdopted"), jni_str!("()V"), callbacks::end_adopted as *mut c_void),
        (jni_str!("beginInput"), jni_str!("()Z"), callbacks::begin_input as *mut c_void),
        (jni_str!("endInput"), jni_str!("(Ljava/lang/String;Z)V"), callbacks::end_input as *mut c_void),
        (jni_str!("end"), jni_str!("(JZ)I"), callbacks::end as *mut c_void),
        (jni_str!("beginCritical"), jni_str!("()I"), callbacks::begin_critical as *mut c_void),
        (jni_str!("endCritical"), jni_str!("(JZ)I"), callbacks::end_critical as *mut c_void),
        (
            jni_str!("describe"),
            jni_str!("(Ljava/lang/String;Ljava/lang/String;I)V"),
            callbacks::describe as *mut c_void,
        ),
        (
            jni_str!("describeLine"),
            jni_str!("(Ljava/lang/String;)V"),
            callbacks::describe_line as *mut c_void,
        ),
        (jni_str!("discover"), jni_str!("()V"), sampler_natives::discover as *mut c_void),
        (jni_str!("walk"), jni_str!("()V"), sampler_natives::walk as *mut c_void),
    ];
    let methods = table.map(|(name, signature, function)| {
        // SAFETY: each function has the C signature of its descriptor: (environment, class, arguments), and for
        // the critical ones the arguments alone.
        unsafe { NativeMethod::from_raw_parts(name, signature, function) }
    });
    // SAFETY: as above.
    unsafe { raw::register(env, &classes.native, &methods) }
}

extern "system" fn install<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    numbers: JLongArray<'local>,
    strings: JObjectArray<'local, JString<'local>>,
) -> JString<'local> {
    entry::enter(env, |env| {
        // SAFETY: a long[] and a String[], as the descriptor says.
        let (numbers, strings) = unsafe { (raw::longs::<NUMBERS>(env, &numbers), raw::texts(env, &strings)) };
        let refusal = if let Some(values) = numbers {
            Settings::read(&values, strings).and_then(|settings| install::install(env, settings)).err()
        } else {
            Some(
                "the Java classes and libloopbox.so are of different versions; take both from the same AAR"
                    .to_owned(),
            )
        };
        refusal.map_or(Ok(JString::null()), |refusal| raw::new_string(env, &refusal))
    })
}

extern "system" fn adopt<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    loops: jint,
    binds: jboolean,
    start_ms: jlong,
) {
    entry::enter(env, |_| {
        install::adopt(u32::try_from(loops).unwrap_or(1), binds, start_ms);
        Ok(())
    });
}

extern "system" fn uninstall<'local>(env: EnvUnowned<'local>, _: JClass<'local>) {
    entry::enter(env, |_| {
        install::uninstall();
        Ok(())
    });
}

extern "system" fn set_sampling<'local>(env: EnvUnowned<'local>, _: JClass<'local>, on: jboolean) {
    entry::enter(env, |_| {
        install::set_sampling(on);
        Ok(())
    });
}

extern "system" fn set_unseen<'local>(env: EnvUnowned<'local>, _: JClass<'local>) {
    entry::enter(env, |_| {
        install::set_unseen();
        Ok(())
    });
}

extern "system" fn set_paused<'local>(env: EnvUnowned<'local>, _: JClass<'local>, paused: jboolean) {
    entry::enter(env, |_| {
        install::set_paused(paused);
        Ok(())
    });
}

extern "system" fn set_monitor<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    level_ms: jlong,
    block_ms: jlong,
    tick_ms: jlong,
) -> jboolean {
    entry::enter(env, |_| {
        let [level, block, tick] = [level_ms, block_ms, tick_ms].map(|ms| u64::try_from(ms).unwrap_or(0));
        Ok(install::set_monitor(level, block, tick))
    })
}

extern "system" fn set_hook<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    on: jboolean,
    detail: JString<'local>,
) {
    entry::enter(env, |env| {
        // SAFETY: a String, as the descriptor says.
        install::set_hook(on, unsafe { raw::text(env, &detail) }.unwrap_or_default());
        Ok(())
    });
}

/// A line for each feature: name, `1` or `0`, detail, with tabs between.
extern "system" fn features<'local>(env: EnvUnowned<'local>, _: JClass<'local>) -> JString<'local> {
    entry::enter(env, |env| {
        let mut lines = String::new();
        for state in install::features() {
            lines.push_str(name(state.feature));
            lines.push_str(if state.on { "\t1\t" } else { "\t0\t" });
            lines.extend(state.detail.chars().map(|c| if c < ' ' { ' ' } else { c }));
            lines.push('\n');
        }
        raw::new_string(env, &lines)
    })
}

/// The feature's name in Java.
fn name(feature: Feature) -> &'static str {
    match feature {
        Feature::Hook => "hook",
        Feature::Sampler => "sampler",
        Feature::Ring => "ring",
        Feature::SigQuit => "sigquit",
        _ => "other",
    }
}

extern "system" fn annotate<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    name: JString<'local>,
    value: JString<'local>,
) {
    entry::enter(env, |env| {
        // SAFETY: Strings, as the descriptor says.
        let (name, value) = unsafe { (raw::text(env, &name), raw::text(env, &value)) };
        install::annotate(&name.unwrap_or_default(), value.as_deref());
        Ok(())
    });
}

extern "system" fn dump<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    reason: JString<'local>,
    timeout_ms: jlong,
) -> JString<'local> {
    entry::enter(env, |env| {
        // SAFETY: a String, as the descriptor says.
        let reason = unsafe { raw::text(env, &reason) }.unwrap_or_default();
        let timeout = Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0));
        match install::dump(reason, timeout) {
            Some(path) => raw::new_string(env, &path.to_string_lossy()),
            None => Ok(JString::null()),
        }
    })
}

extern "system" fn ask_for_dump<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    reason: JString<'local>,
    asked: jlong,
) -> jboolean {
    entry::enter(env, |env| {
        // SAFETY: a String, as the descriptor says.
        let reason = unsafe { raw::text(env, &reason) }.unwrap_or_default();
        Ok(install::ask_for_dump(reason, asked))
    })
}
