//! The native half of `phone.NativeWait`: places in native code where a thread waits or works until it is let go.

use jni::objects::{JClass, JString};
use jni::{EnvUnowned, jni_str};
use std::ffi::c_void;
use std::fs::File;
use std::hint::spin_loop;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// How long one sleep is; only at its end a thread finds that it may go.
const SLEEP: Duration = Duration::from_millis(50);

/// 1 once the thread may go on.
static RELEASED: AtomicU32 = AtomicU32::new(0);

fn released() -> bool {
    RELEASED.load(Ordering::Acquire) == 1
}

extern "system" fn hold(_: EnvUnowned<'_>, _: JClass<'_>) {
    RELEASED.store(0, Ordering::Release);
}

extern "system" fn release(_: EnvUnowned<'_>, _: JClass<'_>) {
    RELEASED.store(1, Ordering::Release);
    // SAFETY: a static word; whoever waits for it is woken.
    unsafe { libc::syscall(libc::SYS_futex, RELEASED.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

extern "system" fn futex(_: EnvUnowned<'_>, _: JClass<'_>) {
    while !released() {
        let forever = std::ptr::null::<libc::timespec>();
        // SAFETY: a static word; returns when it is not 0, when it is woken, or for a signal.
        unsafe { libc::syscall(libc::SYS_futex, RELEASED.as_ptr(), libc::FUTEX_WAIT, 0, forever) };
    }
}

extern "system" fn nanosleep(_: EnvUnowned<'_>, _: JClass<'_>) {
    while !released() {
        sleep(SLEEP);
    }
}

extern "system" fn spin(_: EnvUnowned<'_>, _: JClass<'_>) {
    while !released() {
        spin_loop();
    }
}

extern "system" fn fsync<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, file: JString<'local>) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let path = file.try_to_string(env)?;
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&path)?;
            while !released() {
                file.seek(SeekFrom::Start(0))?;
                file.write_all(&[0; 4096])?;
                file.sync_all()?;
            }
            Ok(())
        };
        if let Err(error) = write() {
            env.throw_new(
                jni_str!("java/lang/IllegalStateException"),
                jni::strings::JNIString::from(format!("{path}: {error}")),
            )?;
        }
        Ok(())
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>();
}

/// Registers them, if the app has that class.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let methods = [
        (jni_str!("hold"), jni_str!("()V"), hold as *mut c_void),
        (jni_str!("release"), jni_str!("()V"), release as *mut c_void),
        (jni_str!("futex"), jni_str!("()V"), futex as *mut c_void),
        (jni_str!("nanosleep"), jni_str!("()V"), nanosleep as *mut c_void),
        (jni_str!("spin"), jni_str!("()V"), spin as *mut c_void),
        (jni_str!("fsync"), jni_str!("(Ljava/lang/String;)V"), fsync as *mut c_void),
    ];
    crate::natives::register_if_there(env, jni_str!("phone/NativeWait"), &methods)
}
