//! What this process allocates with malloc: the native half of `scenario.Heap`, and a count of allocations by
//! thread.

use crate::exhausted;
use jni::EnvUnowned;
use jni::jni_str;
use jni::objects::{JClass, JString};
use jni::sys::jlong;
use std::cell::Cell;
use std::ffi::{CString, c_void};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    count();
    if exhausted::refuses(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe { __libc_malloc(size) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(number: usize, size: usize) -> *mut c_void {
    count();
    if exhausted::refuses(number.saturating_mul(size)) {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe { __libc_calloc(number, size) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    count();
    if exhausted::refuses(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe { __libc_realloc(block, size) }
}

extern "system" fn malloc_bytes(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    // SAFETY: takes nothing and returns plain numbers.
    let info = unsafe { libc::mallinfo2() };
    (info.uordblks + info.hblkhd) as jlong
}

extern "system" fn allocations(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    ALLOCATIONS.get() as jlong
}

/// How many bytes the recorder's library, loaded from this path, has allocated on the heap; 0 where the
/// library does not count them.
extern "system" fn recorder_bytes<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    recorder: JString<'local>,
) -> jlong {
    env.with_env(|env| -> jni::errors::Result<jlong> {
        let path = CString::new(recorder.try_to_string(env)?).unwrap_or_default();
        // SAFETY: C strings that live across the calls; a build that counts has a function of that name and
        // type.
        let live = unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
            assert!(!library.is_null(), "the recorder is not loaded");
            let live = libc::dlsym(library, c"loopbox_live_heap".as_ptr());
            if live.is_null() {
                return Ok(0);
            }
            std::mem::transmute::<*mut c_void, extern "C" fn() -> usize>(live)
        };
        Ok(live() as jlong)
    })
    .resolve::<jni::errors::LogErrorAndDefault>()
}

/// Registers the natives of `scenario.Heap`, if the app has that class.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let methods = [
        (jni_str!("mallocBytes"), jni_str!("()J"), malloc_bytes as *mut c_void),
        (jni_str!("recorderBytes"), jni_str!("(Ljava/lang/String;)J"), recorder_bytes as *mut c_void),
        (jni_str!("allocations"), jni_str!("()J"), allocations as *mut c_void),
    ];
    crate::registration::register_if_there(env, jni_str!("scenario/Heap"), &methods)
}
