//! The Java classes, methods and fields that native code calls: looked up once, when the library is loaded.

use super::env::Env;
use super::raw::{self, Failure, Forever};
use jni::ids::{JFieldID, JStaticMethodID};
use jni::objects::JClass;
use jni::{JavaVM, jni_str};
use loopbox_art::JavaVm;
use std::sync::OnceLock;

/// The result of a call before the library is loaded; no caller can observe it.
pub(crate) const NOT_LOADED: &str = "the library is not loaded";

/// Handles that are valid for as long as the library is loaded.
pub struct ClassCache {
    pub(crate) vm: JavaVM,
    /// `io.loopbox.internal.recording.Native`.
    pub native: Forever<JClass<'static>>,
    pub(crate) native_discover: JStaticMethodID,
    pub(crate) native_walk: JStaticMethodID,
    pub(crate) calls: Forever<JClass<'static>>,
    pub(crate) calls_running_line: JStaticMethodID,
    pub(crate) calls_message_unseen: JStaticMethodID,
    pub(crate) calls_check_hook: JStaticMethodID,
    pub(crate) calls_poll_stack: JStaticMethodID,
    pub(crate) calls_switched_off: JStaticMethodID,
    pub(crate) calls_on_report: JStaticMethodID,
    pub(crate) calls_on_frames: JStaticMethodID,
    pub(crate) calls_on_monitor: JStaticMethodID,
    pub(crate) pending: Forever<JClass<'static>>,
    pub(crate) pending_collect: JStaticMethodID,
    pub(crate) pending_front: JStaticMethodID,
    pub(crate) pending_statistics: JFieldID,
    pub(crate) pending_lines: JFieldID,
    pub(crate) pending_dropped: JFieldID,
    pub(crate) pending_failure: JFieldID,
    pub(crate) pending_walked: JFieldID,
    pub(crate) queries: Forever<JClass<'static>>,
    pub(crate) queries_state: JStaticMethodID,
    pub(crate) queries_not_responding: JStaticMethodID,
    pub(crate) queries_exit: JStaticMethodID,
    pub(crate) main_stack: Forever<JClass<'static>>,
    pub(crate) main_stack_take: JStaticMethodID,
}

impl ClassCache {
    /// The VM in the type that the sampler's library uses.
    pub(crate) fn vm_of_art(&self) -> JavaVm {
        // SAFETY: this process's, which stays.
        unsafe { JavaVm::from_raw(self.vm.get_raw().cast()) }
    }
}

static CACHE: OnceLock<ClassCache> = OnceLock::new();

/// The handles; `None` before the library is loaded, which no caller can observe.
pub(crate) fn get() -> Option<&'static ClassCache> {
    CACHE.get()
}

/// Resolves everything. To be called in `JNI_OnLoad`, where the app's class loader is in force.
///
/// # Errors
/// The first class, method or field that is missing.
pub fn look_up(env: &mut Env<'_>) -> Result<&'static ClassCache, Failure> {
    let native = raw::class(env, jni_str!("io/loopbox/internal/recording/Native"))?;
    let calls = raw::class(env, jni_str!("io/loopbox/internal/NativeCalls"))?;
    let pending = raw::class(env, jni_str!("io/loopbox/internal/report/PendingQueue"))?;
    let queries = raw::class(env, jni_str!("io/loopbox/internal/report/FrameworkQueries"))?;
    let main_stack = raw::class(env, jni_str!("io/loopbox/internal/report/MainStack"))?;
    let nothing = jni_str!("()V");
    let text = jni_str!("()Ljava/lang/String;");
    let texts = jni_str!("[Ljava/lang/String;");
    let report = jni_str!("(Ljava/lang/String;J)V");
    let frames = jni_str!("(I[JLjava/lang/String;)V");
    let lines = jni_str!("(Ljava/lang/String;)V");
    let collect = jni_str!("(ZZZIIJ)Lio/loopbox/internal/report/PendingQueue;");
    let exit = jni_str!("(Ljava/lang/String;Ljava/lang/String;IJ)Ljava/lang/String;");
    let cache = ClassCache {
        vm: raw::java_vm(env)?,
        native_discover: raw::static_method(env, (&native, jni_str!("discover")), nothing)?,
        native_walk: raw::static_method(env, (&native, jni_str!("walk")), nothing)?,
        calls_running_line: raw::static_method(env, (&calls, jni_str!("runningLine")), text)?,
        calls_message_unseen: raw::static_method(env, (&calls, jni_str!("messageUnseen")), nothing)?,
        calls_check_hook: raw::static_method(env, (&calls, jni_str!("checkHook")), jni_str!("(Z)V"))?,
        calls_poll_stack: raw::static_method(env, (&calls, jni_str!("pollStack")), jni_str!("()I"))?,
        calls_switched_off: raw::static_method(env, (&calls, jni_str!("switchedOff")), nothing)?,
        calls_on_report: raw::static_method(env, (&calls, jni_str!("onReport")), report)?,
        calls_on_frames: raw::static_method(env, (&calls, jni_str!("onFrames")), frames)?,
        calls_on_monitor: raw::static_method(env, (&calls, jni_str!("onMonitor")), lines)?,
        pending_collect: raw::static_method(env, (&pending, jni_str!("collect")), collect)?,
        pending_front: raw::static_method(env, (&pending, jni_str!("front")), jni_str!("(J)[J"))?,
        pending_statistics: raw::field(env, (&pending, jni_str!("statistics")), texts)?,
        pending_lines: raw::field(env, (&pending, jni_str!("lines")), texts)?,
        pending_dropped: raw::field(env, (&pending, jni_str!("dropped")), jni_str!("I"))?,
        pending_failure: raw::field(env, (&pending, jni_str!("failure")), jni_str!("Ljava/lang/String;"))?,
        pending_walked: raw::field(env, (&pending, jni_str!("walked")), jni_str!("Z"))?,
        queries_state: raw::static_method(env, (&queries, jni_str!("state")), jni_str!("()I"))?,
        queries_not_responding: raw::static_method(env, (&queries, jni_str!("notResponding")), text)?,
        queries_exit: raw::static_method(env, (&queries, jni_str!("exit")), exit)?,
        queries,
        main_stack_take: raw::static_method(env, (&main_stack, jni_str!("take")), text)?,
        main_stack,
        native,
        calls,
        pending,
    };
    Ok(CACHE.get_or_init(|| cache))
}
