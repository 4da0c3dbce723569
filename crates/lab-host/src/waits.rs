//! The native half of `phone.NativeWait`, of `scenario.NoSafepoint`, and of the platform classes that
//! `causes` imitates: native code in which a thread waits or works until it is released.

use jni::objects::{JClass, JObject, JString};
use jni::sys::{jboolean, jint};
use jni::{EnvUnowned, jni_str};
use std::ffi::c_void;
use std::fs::File;
use std::hint::spin_loop;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Length of one sleep. A thread checks only after a sleep whether it may continue.
const SLEEP: Duration = Duration::from_millis(50);

/// 1 when the thread may continue.
static RELEASED: AtomicU32 = AtomicU32::new(0);

/// Whether a thread has entered [`fast_spin`].
static SPINNING: AtomicBool = AtomicBool::new(false);

fn released() -> bool {
    RELEASED.load(Ordering::Acquire) == 1
}

extern "system" fn hold(_: EnvUnowned<'_>, _: JClass<'_>) {
    RELEASED.store(0, Ordering::Release);
}

extern "system" fn release(_: EnvUnowned<'_>, _: JClass<'_>) {
    RELEASED.store(1, Ordering::Release);
    // SAFETY: a static word; threads that wait for it are woken.
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

/// A fast native method: for ART the thread runs Java code. It spins for `ms` milliseconds, or until the file
/// `gate` exists.
extern "system" fn fast_spin<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    ms: jint,
    gate: JString<'local>,
) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let gate = PathBuf::from(gate.try_to_string(env)?);
        let end = Instant::now() + Duration::from_millis(u64::try_from(ms).expect("a time"));
        SPINNING.store(true, Ordering::Release);
        // Here, because main may be stopped before it could say so.
        println!("SCRIPT spinning");
        while Instant::now() < end && !gate.exists() {
            spin_loop();
        }
        Ok(())
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>();
}

extern "system" fn is_spinning(_: EnvUnowned<'_>, _: JClass<'_>) -> jboolean {
    SPINNING.load(Ordering::Acquire)
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

/// The child of a `vfork`: it shares its parent's memory, and the parent waits until it ends.
extern "C" fn child(_: *mut c_void) -> libc::c_int {
    // SAFETY: no pointers. A parent that is killed takes this process with it.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    while !released() {
        // SAFETY: as in `futex`.
        unsafe { libc::syscall(libc::SYS_futex, RELEASED.as_ptr(), libc::FUTEX_WAIT, 0, 0_usize) };
    }
    0
}

/// Waits for a child as `vfork` does. This wait is in state D, and no signal but SIGKILL interrupts it.
extern "system" fn vfork(_: EnvUnowned<'_>, _: JClass<'_>) {
    let mut stack = vec![0_u128; 4096];
    let top = stack.as_mut_ptr_range().end;
    const LIKE_VFORK: libc::c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the child has its own stack, which lives until this thread goes on, and calls the kernel
    // only.
    let child = unsafe { libc::clone(child, top.cast(), LIKE_VFORK, std::ptr::null_mut()) };
    assert!(child > 0, "cannot vfork: {}", std::io::Error::last_os_error());
    // SAFETY: a child of this thread; its status is not asked for.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
}

/// The request `BINDER_WRITE_READ`, and the size of its argument in bytes.
const BINDER_CALL: (libc::c_ulong, usize) = (0xc030_6201, 48);

/// Makes the `ioctl` of a binder call on the file. As libbinder does, it repeats the call when a signal has
/// interrupted it.
extern "system" fn ioctl<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, file: JString<'local>) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let path = file.try_to_string(env)?;
        let call = || -> std::io::Result<()> {
            let file = File::open(&path)?;
            let mut argument = [0_u8; BINDER_CALL.1];
            while !released() {
                // SAFETY: the argument is as long as the request's number says.
                let result = unsafe { libc::ioctl(file.as_raw_fd(), BINDER_CALL.0, argument.as_mut_ptr()) };
                let error = std::io::Error::last_os_error();
                if result < 0 && error.kind() != std::io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            Ok(())
        };
        if let Err(error) = call() {
            env.throw_new(
                jni_str!("java/lang/IllegalStateException"),
                jni::strings::JNIString::from(format!("{path}: {error}")),
            )?;
        }
        Ok(())
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>();
}

/// Waits like a binder call that the other process does not answer.
extern "system" fn transact(
    _: EnvUnowned<'_>,
    _: JObject<'_>,
    _code: jint,
    _data: JObject<'_>,
    _reply: JObject<'_>,
    _flags: jint,
) -> jboolean {
    let (mut here, _there) = UnixStream::pair().expect("two ends");
    let mut answer = [0; 1];
    // A signal ends a read, and no wait for an answer.
    while !matches!(here.read(&mut answer), Ok(1..)) {}
    true
}

/// Sleeps repeatedly, as SQLite does while another process has locked the file.
extern "system" fn execute_for_cursor_window(env: EnvUnowned<'_>, class: JClass<'_>, _sql: JString<'_>) {
    nanosleep(env, class);
}

/// Registers the natives of this module, if the app has their classes.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let methods = [
        (jni_str!("hold"), jni_str!("()V"), hold as *mut c_void),
        (jni_str!("release"), jni_str!("()V"), release as *mut c_void),
        (jni_str!("futex"), jni_str!("()V"), futex as *mut c_void),
        (jni_str!("nanosleep"), jni_str!("()V"), nanosleep as *mut c_void),
        (jni_str!("spin"), jni_str!("()V"), spin as *mut c_void),
        (jni_str!("vfork"), jni_str!("()V"), vfork as *mut c_void),
        (jni_str!("ioctl"), jni_str!("(Ljava/lang/String;)V"), ioctl as *mut c_void),
        (jni_str!("fsync"), jni_str!("(Ljava/lang/String;)V"), fsync as *mut c_void),
    ];
    crate::registration::register_if_there(env, jni_str!("phone/NativeWait"), &methods)?;
    let methods = [
        (jni_str!("spin"), jni_str!("(ILjava/lang/String;)V"), fast_spin as *mut c_void),
        (jni_str!("isSpinning"), jni_str!("()Z"), is_spinning as *mut c_void),
    ];
    crate::registration::register_if_there(env, jni_str!("scenario/NoSafepoint"), &methods)?;
    let methods = [(jni_str!("configure"), jni_str!("()V"), futex as *mut c_void)];
    crate::registration::register_if_there(env, jni_str!("causes/Platform$Codec"), &methods)?;
    let signature = jni_str!("(ILandroid/os/Parcel;Landroid/os/Parcel;I)Z");
    let methods = [(jni_str!("transactNative"), signature, transact as *mut c_void)];
    crate::registration::register_if_there(env, jni_str!("android/os/BinderProxy"), &methods)?;
    let method = execute_for_cursor_window as *mut c_void;
    let methods = [(jni_str!("nativeExecuteForCursorWindow"), jni_str!("(Ljava/lang/String;)V"), method)];
    crate::registration::register_if_there(
        env,
        jni_str!("android/database/sqlite/SQLiteConnection"),
        &methods,
    )
}
