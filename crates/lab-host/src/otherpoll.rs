//! The native half of `com.othersdk.PollWrapper`: what another library does with
//! `MessageQueue.nativePollOnce`.

use crate::natives;
use jni::jni_str;
use jni::sys::{JNI_OK, JNIEnv, JNINativeMethod, jboolean, jclass, jint, jlong, jobject};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

type Poll = extern "system" fn(*mut JNIEnv, jobject, jlong, jint);

/// How many words at the beginning of an `ArtMethod` are searched.
const WORDS: usize = 6;

/// The position of the native function's address in the method's `ArtMethod`.
static AT: AtomicUsize = AtomicUsize::new(0);
/// The function that was there before the wrapper.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicU32 = AtomicU32::new(0);

extern "system" fn wrapper(env: *mut JNIEnv, queue: jobject, handle: jlong, timeout_ms: jint) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `wrap` has stored a function that the VM called as this method.
    let before = unsafe { std::mem::transmute::<usize, Poll>(BEFORE.load(Ordering::SeqCst)) };
    before(env, queue, handle, timeout_ms);
}

/// Finds where the `ArtMethod` of `nativePollOnce` keeps the address of the native function. That function
/// must still be the one of this program.
extern "system" fn find(env: *mut JNIEnv, _: jclass, method: jobject) {
    // SAFETY: a live reflected method; on these runtimes its id is the address of its `ArtMethod`, which is
    // larger than this.
    let words = unsafe {
        let id = ((**env).v1_2.FromReflectedMethod)(env, method);
        std::slice::from_raw_parts(id.cast::<usize>(), WORDS)
    };
    let found = words.iter().find(|&&word| word == natives::poll_once_address());
    AT.store(ptr::from_ref(found.expect("the poll is not this program's")).addr(), Ordering::SeqCst);
}

fn there() -> usize {
    // SAFETY: found by `find`; methods stay where they are.
    unsafe { ptr::with_exposed_provenance::<usize>(AT.load(Ordering::SeqCst)).read_volatile() }
}

fn set(env: *mut JNIEnv, function: usize) {
    let (name, signature) = (c"nativePollOnce".as_ptr().cast_mut(), c"(JI)V".as_ptr().cast_mut());
    let function = ptr::with_exposed_provenance_mut::<c_void>(function);
    let method = JNINativeMethod { name, signature, fnPtr: function };
    // SAFETY: a class that is there, and a function of the method's signature.
    let code = unsafe {
        let class = ((**env).v1_1.FindClass)(env, c"android/os/MessageQueue".as_ptr());
        ((**env).v1_1.RegisterNatives)(env, class, &raw const method, 1)
    };
    assert_eq!(code, JNI_OK);
}

extern "system" fn wrap(env: *mut JNIEnv, _: jclass) {
    BEFORE.store(there(), Ordering::SeqCst);
    set(env, wrapper as *const () as usize);
}

extern "system" fn restore(env: *mut JNIEnv, _: jclass) {
    set(env, BEFORE.load(Ordering::SeqCst));
}

extern "system" fn restore_first(env: *mut JNIEnv, _: jclass) {
    set(env, natives::poll_once_address());
}

/// Replaces the native function of `nativePollOnce` by generated code that only jumps to the replaced
/// function. The code is in memory without a file, as with libraries that rewrite code.
extern "system" fn jump(env: *mut JNIEnv, _: jclass) {
    #[cfg(target_arch = "x86_64")]
    let (code, address_at): (&[u8], usize) = (&[0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0], 2);
    #[cfg(target_arch = "aarch64")]
    let (code, address_at): (&[u8], usize) =
        (&[0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6, 0, 0, 0, 0, 0, 0, 0, 0], 8);
    #[cfg(target_arch = "x86")]
    let (code, address_at): (&[u8], usize) = (&[0xb8, 0, 0, 0, 0, 0xff, 0xe0], 1);
    #[cfg(target_arch = "arm")]
    let (code, address_at): (&[u8], usize) = (&[0x04, 0xf0, 0x1f, 0xe5, 0, 0, 0, 0], 4);
    let mut code = code.to_vec();
    code[address_at..address_at + size_of::<usize>()].copy_from_slice(&there().to_le_bytes());
    // SAFETY: a separate page, filled before it may be executed.
    let page = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let page = libc::mmap(ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        ptr::copy_nonoverlapping(code.as_ptr(), page.cast(), code.len());
        assert_eq!(libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_EXEC), 0);
        page
    };
    set(env, page.expose_provenance());
}

extern "system" fn is_there(_: *mut JNIEnv, _: jclass) -> jboolean {
    there() == wrapper as *const () as usize
}

extern "system" fn is_first(_: *mut JNIEnv, _: jclass) -> jboolean {
    there() == natives::poll_once_address()
}

extern "system" fn calls(_: *mut JNIEnv, _: jclass) -> jint {
    CALLS.load(Ordering::Relaxed).cast_signed()
}

/// Registers the natives of `com.othersdk.PollWrapper`, if the app has that class.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let none = jni_str!("()V");
    let methods = [
        (jni_str!("find"), jni_str!("(Ljava/lang/reflect/Method;)V"), find as *mut c_void),
        (jni_str!("wrap"), none, wrap as *mut c_void),
        (jni_str!("restore"), none, restore as *mut c_void),
        (jni_str!("restoreFirst"), none, restore_first as *mut c_void),
        (jni_str!("jump"), none, jump as *mut c_void),
        (jni_str!("isThere"), jni_str!("()Z"), is_there as *mut c_void),
        (jni_str!("isFirst"), jni_str!("()Z"), is_first as *mut c_void),
        (jni_str!("calls"), jni_str!("()I"), calls as *mut c_void),
    ];
    crate::registration::register_if_there(env, jni_str!("com/othersdk/PollWrapper"), &methods)
}
