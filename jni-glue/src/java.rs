//! What we call in Java: every class, method and field, looked up once at load.

use jni::errors::Result;
use jni::ids::{JFieldID, JStaticMethodID};
use jni::objects::JClass;
use jni::refs::Global;
use jni::{Env, JavaVM, jni_sig, jni_str};
use std::sync::OnceLock;

/// Handles that are valid for as long as the library is loaded.
pub(crate) struct Java {
    pub(crate) vm: JavaVM,
    pub(crate) native: Global<JClass<'static>>,
    pub(crate) native_discover: JStaticMethodID,
    pub(crate) native_walk: JStaticMethodID,
    pub(crate) loopbox: Global<JClass<'static>>,
    pub(crate) loopbox_running_line: JStaticMethodID,
    pub(crate) loopbox_on_report: JStaticMethodID,
    pub(crate) pending: Global<JClass<'static>>,
    pub(crate) pending_collect: JStaticMethodID,
    pub(crate) pending_lines: JFieldID,
    pub(crate) pending_dropped: JFieldID,
    pub(crate) pending_failure: JFieldID,
    pub(crate) pending_walked: JFieldID,
    pub(crate) looper: Global<JClass<'static>>,
}

static JAVA: OnceLock<Java> = OnceLock::new();

/// The handles; `None` before the library is loaded, which no caller of ours can see.
pub(crate) fn get() -> Option<&'static Java> {
    JAVA.get()
}

/// Looks everything up. In `JNI_OnLoad`, where the app's class loader is in force.
pub(crate) fn look_up(env: &mut Env<'_>) -> Result<&'static Java> {
    let native = env.find_class(jni_str!("io/loopbox/Native"))?;
    let loopbox = env.find_class(jni_str!("io/loopbox/Loopbox"))?;
    let pending = env.find_class(jni_str!("io/loopbox/PendingDump"))?;
    let looper = env.find_class(jni_str!("android/os/Looper"))?;
    let java = Java {
        vm: env.get_java_vm()?,
        native_discover: env.get_static_method_id(&native, jni_str!("discover"), jni_sig!("()V"))?,
        native_walk: env.get_static_method_id(&native, jni_str!("walk"), jni_sig!("()V"))?,
        loopbox_running_line: env.get_static_method_id(
            &loopbox,
            jni_str!("runningLine"),
            jni_sig!("()Ljava/lang/String;"),
        )?,
        loopbox_on_report: env.get_static_method_id(
            &loopbox,
            jni_str!("onReport"),
            jni_sig!("(Ljava/lang/String;Ljava/lang/String;)V"),
        )?,
        pending_collect: env.get_static_method_id(
            &pending,
            jni_str!("collect"),
            jni_sig!("(ZIIJ)Lio/loopbox/PendingDump;"),
        )?,
        pending_lines: env.get_field_id(&pending, jni_str!("lines"), jni_sig!("[Ljava/lang/String;"))?,
        pending_dropped: env.get_field_id(&pending, jni_str!("dropped"), jni_sig!("I"))?,
        pending_failure: env.get_field_id(&pending, jni_str!("failure"), jni_sig!("Ljava/lang/String;"))?,
        pending_walked: env.get_field_id(&pending, jni_str!("walked"), jni_sig!("Z"))?,
        native: env.new_global_ref(native)?,
        loopbox: env.new_global_ref(loopbox)?,
        pending: env.new_global_ref(pending)?,
        looper: env.new_global_ref(looper)?,
    };
    Ok(JAVA.get_or_init(|| java))
}
