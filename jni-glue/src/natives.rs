//! The native methods of `io.loopbox.internal.recording.Native`, registered explicitly: methods with
//! `@FastNative` or `@CriticalNative` are not found by name on Android 8 to 11, and a name that a shrinker
//! changed must be detected when the library is loaded.

use jni::EnvUnowned;
use jni::objects::{JClass, JLongArray, JObject, JObjectArray, JString};
use jni::sys::{JNINativeMethod, jboolean, jint, jlong};
use loopbox_agent::hook::{callbacks, display_frames, poll};
use loopbox_agent::jni::env::Env;
use loopbox_agent::jni::raw::{self, Failure};
use loopbox_agent::jni::{class_cache, entry};
use loopbox_agent::{InstallError, NUMBERS, Settings, install, own_natives};
use loopbox_format::model::{Feature, Named};
use loopbox_frames::METRICS;
use std::ffi::c_void;
use std::time::Duration;

/// All names and descriptors as one text, each ended by a null byte, and the functions. A table of pointers
/// to texts would be three times as large, and the phone's linker would have to relocate it at each start of
/// the app.
macro_rules! natives {
    ($($name:literal $descriptor:literal $function:expr,)*) => {
        (concat!($($name, "\0", $descriptor, "\0"),*), [$($function as *mut c_void),*])
    };
}

/// Looks up the Java classes and registers the native methods.
pub(crate) fn register(env: &mut Env<'_>) -> Result<(), Failure> {
    let classes = class_cache::look_up(env)?;
    let (texts, functions) = natives![
        "install" "([J[Ljava/lang/String;)Ljava/lang/String;" install,
        "uninstall" "()V" uninstall,
        "awaitEnd" "(J)V" await_end,
        "leave" "()V" leave,
        "setSampling" "(Z)V" set_sampling,
        "setUnseen" "()V" set_unseen,
        "doubtHook" "()V" doubt_hook,
        "ranAtRest" "()I" ran_at_rest,
        "setPaused" "(Z)V" set_paused,
        "setBackground" "(Z)V" set_background,
        "setMonitor" "(JJJ)Z" set_monitor,
        "setHook" "(ZLjava/lang/String;)V" set_hook,
        "features" "()Ljava/lang/String;" features,
        "annotate" "(Ljava/lang/String;Ljava/lang/String;)Z" annotate,
        "breadcrumb" "(Ljava/lang/String;J)V" own_natives::breadcrumb,
        "dump" "(Ljava/lang/String;JZ)Ljava/lang/String;" dump,
        "askForDump" "(Ljava/lang/String;JZ)Z" ask_for_dump,
        "begin" "()I" callbacks::begin,
        "beginIn" "(I)I" callbacks::begin_in,
        "depth" "()I" callbacks::depth,
        "begun" "()J" callbacks::begun_so_far,
        "adopt" "(IZJ)V" adopt,
        "endAdopted" "()V" callbacks::end_adopted,
        "pollIn" "(Landroid/os/MessageQueue;)Ljava/lang/String;" poll_in,
        "pollPeek" "(Landroid/os/MessageQueue;[Ljava/lang/reflect/Member;)V" poll::peek,
        "pollOut" "(Landroid/os/MessageQueue;)V" poll_out,
        "pollThere" "()J" poll::there,
        "pollIdle" "()V" poll::idle,
        "inActivity" "(Ljava/lang/String;I)V" poll::in_activity,
        "rests" "()V" callbacks::rests,
        "beginInput" "()Z" callbacks::begin_input,
        "endInput" "(Ljava/lang/String;Z)V" callbacks::end_input,
        "end" "(JZ)I" callbacks::end,
        "beginCritical" "()I" callbacks::begin_critical,
        "endCritical" "(JZ)I" callbacks::end_critical,
        "describe" "(Ljava/lang/String;Ljava/lang/String;I)V" callbacks::describe,
        "describeLine" "(Ljava/lang/String;)V" callbacks::describe_line,
        "frame" "(J)Z" display_frames::frame,
        "frameCritical" "(J)Z" display_frames::frame_critical,
        "scrolled" "(J)Z" display_frames::scrolled,
        "animate" "(Z)Z" display_frames::animate,
        "stopFrames" "()V" display_frames::stop_frames,
        "touch" "(IF)V" display_frames::touch,
        "frameScene" "(Ljava/lang/String;)V" display_frames::frame_scene,
        "refreshRate" "(F)V" display_frames::refresh_rate,
        "setFrames" "(IZLjava/lang/String;)V" set_frames,
        "stages" "([J)V" stages,
        "jankType" "(JI)V" jank_type,
        "frameStats" "(Z)Ljava/lang/String;" frame_stats,
        "warnOfAnr" "(IIJJ)V" warn_of_anr,
        "discover" "()V" own_natives::discover,
        "walk" "()V" own_natives::walk,
        "joined" "([Ljava/lang/Thread;)J" own_natives::joined,
    ];
    let mut texts = texts.split_inclusive('\0').map(|text| text.as_ptr().cast_mut().cast());
    let methods = functions.map(|function| JNINativeMethod {
        name: texts.next().unwrap_or_default(),
        signature: texts.next().unwrap_or_default(),
        fnPtr: function,
    });
    // SAFETY: two texts for each function, which end with a null byte; and each function has the C signature
    // of its descriptor: (environment, class, arguments), and for the critical ones the arguments alone.
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
        let installed = numbers
            .ok_or(InstallError::OtherVersion)
            .and_then(|numbers| Settings::read(&numbers, strings))
            .and_then(|settings| install::install(env, settings));
        match installed {
            Ok(()) => Ok(JString::null()),
            Err(error) => raw::new_string(env, &error.to_string()),
        }
    })
}

extern "system" fn poll_in<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    queue: JObject<'local>,
) -> JString<'local> {
    entry::enter(env, |env| {
        // SAFETY: a MessageQueue, as the descriptor says; Java passes none that is null.
        match unsafe { poll::put_in(env, &queue) } {
            Ok(()) => Ok(JString::null()),
            Err(why) => raw::new_string(env, &why),
        }
    })
}

extern "system" fn poll_out<'local>(env: EnvUnowned<'local>, _: JClass<'local>, queue: JObject<'local>) {
    entry::enter(env, |env| {
        // SAFETY: as in `poll_in`.
        unsafe { poll::take_out(env, &queue) };
        Ok(())
    });
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

extern "system" fn await_end<'local>(env: EnvUnowned<'local>, _: JClass<'local>, most_ms: jlong) {
    entry::enter(env, |_| {
        install::wait_until_ended(Duration::from_millis(u64::try_from(most_ms).unwrap_or(0)));
        Ok(())
    });
}

extern "system" fn leave<'local>(env: EnvUnowned<'local>, _: JClass<'local>) {
    entry::enter(env, |_| {
        install::leave();
        Ok(())
    });
}

extern "system" fn set_sampling<'local>(env: EnvUnowned<'local>, _: JClass<'local>, on: jboolean) {
    entry::enter(env, |_| {
        install::set_sampling(on);
        Ok(())
    });
}

extern "system" fn set_background<'local>(env: EnvUnowned<'local>, _: JClass<'local>, background: jboolean) {
    entry::enter(env, |_| {
        install::set_background(background);
        Ok(())
    });
}

extern "system" fn set_unseen<'local>(env: EnvUnowned<'local>, _: JClass<'local>) {
    entry::enter(env, |_| {
        install::set_unseen();
        Ok(())
    });
}

extern "system" fn doubt_hook<'local>(env: EnvUnowned<'local>, _: JClass<'local>) {
    entry::enter(env, |_| {
        install::doubt_hook();
        Ok(())
    });
}

extern "system" fn ran_at_rest<'local>(env: EnvUnowned<'local>, _: JClass<'local>) -> jint {
    entry::enter(env, |_| Ok(install::ran_at_rest().map_or(-1, jint::from)))
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

extern "system" fn set_frames<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    which: jint,
    on: jboolean,
    detail: JString<'local>,
) {
    entry::enter(env, |env| {
        // As in `Native.java`.
        let feature = match which {
            0 => Feature::Frames,
            1 => Feature::Stages,
            2 => Feature::Touch,
            _ => Feature::Janks,
        };
        // SAFETY: a String, as the descriptor says.
        install::set_frames(feature, on, unsafe { raw::text(env, &detail) }.unwrap_or_default());
        Ok(())
    });
}

/// Takes one `FrameMetrics` as an array. Its values come first, each at the index that its constant in
/// `FrameMetrics` has. Then come the window and the number of reports that were lost before this one.
extern "system" fn stages<'local>(env: EnvUnowned<'local>, _: JClass<'local>, values: JLongArray<'local>) {
    entry::enter(env, |env| {
        // SAFETY: a long[], as the descriptor says.
        let values = unsafe { raw::longs::<{ METRICS + 2 }>(env, &values) };
        if let Some((metrics, [window, lost])) = values.as_ref().and_then(|all| all.split_first_chunk()) {
            install::stages(metrics, window.cast_unsigned(), u32::try_from(*lost).unwrap_or(0));
        }
        Ok(())
    });
}

/// Takes the bits of `JankData` for the frame of this vsync: which side made the frame late.
extern "system" fn jank_type<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    vsync_id: jlong,
    janks: jint,
) {
    entry::enter(env, |_| {
        install::jank_type(vsync_id.cast_unsigned(), janks.cast_unsigned());
        Ok(())
    });
}

extern "system" fn warn_of_anr<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    id: jint,
    kind: jint,
    consumed_ms: jlong,
    timeout_ms: jlong,
) {
    entry::enter(env, |_| {
        let [consumed, timeout] = [consumed_ms, timeout_ms].map(|ms| u64::try_from(ms).unwrap_or(0));
        install::warn_of_anr(id, kind, consumed, timeout);
        Ok(())
    });
}

extern "system" fn frame_stats<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    forgets: jboolean,
) -> JString<'local> {
    entry::enter(env, |env| match install::frame_stats(forgets) {
        Some(lines) => raw::new_string(env, &lines),
        None => Ok(JString::null()),
    })
}

/// A line for each feature: name, `1` or `0`, detail, with tabs between.
extern "system" fn features<'local>(env: EnvUnowned<'local>, _: JClass<'local>) -> JString<'local> {
    entry::enter(env, |env| {
        let mut lines = String::new();
        for state in install::features() {
            lines.push_str(state.feature.name());
            lines.push_str(if state.on { "\t1\t" } else { "\t0\t" });
            lines.extend(state.detail.chars().map(|c| if c < ' ' { ' ' } else { c }));
            lines.push('\n');
        }
        let refused = install::refused_requests();
        if refused > 0 {
            lines.push_str(&["requests\t1\t", &refused.to_string(), " reports refused\n"].concat());
        }
        raw::new_string(env, &lines)
    })
}

extern "system" fn annotate<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    name: JString<'local>,
    value: JString<'local>,
) -> jboolean {
    entry::enter(env, |env| {
        // SAFETY: Strings, as the descriptor says.
        let (name, value) = unsafe { (raw::text(env, &name), raw::text(env, &value)) };
        Ok(install::annotate(&name.unwrap_or_default(), value.as_deref()))
    })
}

extern "system" fn dump<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
    reason: JString<'local>,
    timeout_ms: jlong,
    in_listener: jboolean,
) -> JString<'local> {
    entry::enter(env, |env| {
        // SAFETY: a String, as the descriptor says.
        let reason = unsafe { raw::text(env, &reason) }.unwrap_or_default();
        let timeout = Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0));
        match install::dump(reason, timeout, in_listener) {
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
    in_listener: jboolean,
) -> jboolean {
    entry::enter(env, |env| {
        // SAFETY: a String, as the descriptor says.
        let reason = unsafe { raw::text(env, &reason) }.unwrap_or_default();
        Ok(install::ask_for_dump(reason, asked, in_listener))
    })
}
