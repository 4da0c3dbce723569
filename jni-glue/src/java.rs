//! What we call in Java: every class, method and field, looked up once at load.

use crate::raw::{self, Failure, Forever};
use jni::ids::{JFieldID, JStaticMethodID};
use jni::objects::JClass;
use jni::{Env, JavaVM, jni_sig, jni_str};
use std::sync::OnceLock;

/// Handles that are valid for as long as the library is loaded.
pub(crate) struct Java {
    pub(crate) vm: JavaVM,
    pub(crate) native: Forever<JClass<'static>>,
    pub(crate) native_discover: JStaticMethodID,
    pub(crate) native_walk: JStaticMethodID,
    pub(crate) loopbox: Forever<JClass<'static>>,
    pub(crate) loopbox_running_line: JStaticMethodID,
    pub(crate) loopbox_on_report: JStaticMethodID,
    pub(crate) pending: Forever<JClass<'static>>,
    pub(crate) pending_collect: JStaticMethodID,
    pub(crate) pending_lines: JFieldID,
    pub(crate) pending_dropped: JFieldID,
    pub(crate) pending_failure: JFieldID,
    pub(crate) pending_walked: JFieldID,
    pub(crate) asked: Forever<JClass<'static>>,
    pub(crate) asked_state: JStaticMethodID,
    pub(crate) asked_not_responding: JStaticMethodID,
    pub(crate) asked_exit: JStaticMethodID,
    pub(crate) main_stack: Forever<JClass<'static>>,
    pub(crate) main_stack_take: JStaticMethodID,
    pub(crate) looper: Forever<JClass<'static>>,
}

static JAVA: OnceLock<Java> = OnceLock::new();

/// The handles; `None` before the library is loaded, which no caller of ours can see.
pub(crate) fn get() -> Option<&'static Java> {
    JAVA.get()
}

/// Looks everything up. In `JNI_OnLoad`, where the app's class loader is in force.
pub(crate) fn look_up(env: &mut Env<'_>) -> Result<&'static Java, Failure> {
    let native = raw::class(env, jni_str!("io/loopbox/Native"))?;
    let loopbox = raw::class(env, jni_str!("io/loopbox/Loopbox"))?;
    let pending = raw::class(env, jni_str!("io/loopbox/PendingDump"))?;
    let asked = raw::class(env, jni_str!("io/loopbox/Asked"))?;
    let main_stack = raw::class(env, jni_str!("io/loopbox/MainStack"))?;
    let looper = raw::class(env, jni_str!("android/os/Looper"))?;
    let nothing = jni_sig!("()V");
    let text = jni_sig!("()Ljava/lang/String;");
    let report = jni_sig!("(Ljava/lang/String;Ljava/lang/String;)V");
    let collect = jni_sig!("(ZIIJ)Lio/loopbox/PendingDump;");
    let exit = jni_sig!("(Ljava/lang/String;IJ)Ljava/lang/String;");
    let java = Java {
        vm: env.get_java_vm()?,
        native_discover: raw::static_method(env, (&native, jni_str!("discover")), &nothing)?,
        native_walk: raw::static_method(env, (&native, jni_str!("walk")), &nothing)?,
        loopbox_running_line: raw::static_method(env, (&loopbox, jni_str!("runningLine")), &text)?,
        loopbox_on_report: raw::static_method(env, (&loopbox, jni_str!("onReport")), &report)?,
        pending_collect: raw::static_method(env, (&pending, jni_str!("collect")), &collect)?,
        pending_lines: raw::field(env, (&pending, jni_str!("lines")), &jni_sig!("[Ljava/lang/String;"))?,
        pending_dropped: raw::field(env, (&pending, jni_str!("dropped")), &jni_sig!("I"))?,
        pending_failure: raw::field(env, (&pending, jni_str!("failure")), &jni_sig!("Ljava/lang/String;"))?,
        pending_walked: raw::field(env, (&pending, jni_str!("walked")), &jni_sig!("Z"))?,
        asked_state: raw::static_method(env, (&asked, jni_str!("state")), &jni_sig!("()I"))?,
        asked_not_responding: raw::static_method(env, (&asked, jni_str!("notResponding")), &text)?,
        asked_exit: raw::static_method(env, (&asked, jni_str!("exit")), &exit)?,
        asked,
        main_stack_take: raw::static_method(env, (&main_stack, jni_str!("take")), &text)?,
        main_stack,
        native,
        loopbox,
        pending,
        looper,
    };
    Ok(JAVA.get_or_init(|| java))
}
