//! A process without free memory, as at a limit of the address space. While this lasts, malloc and related
//! functions, mmap and pthread_create fail. At first they fail for large blocks only and a moment later for
//! small ones, too, as when the free parts of the heap are used. The native half of `scenario.Exhausted`.

use jni::EnvUnowned;
use jni::jni_str;
use jni::objects::JClass;
use jni::sys::{jint, jlong};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The value of [`WHOSE`] while no request for memory is refused. `Exhausted.java` has the same numbers.
const NOBODY: i32 = 0;
/// The value of [`WHOSE`] that selects the recorder's threads. A thread is recognised by its name. The value
/// 1 selects all threads.
const RECORDER: i32 = 2;

static WHOSE: AtomicI32 = AtomicI32::new(NOBODY);
/// A block of this size and more gets separate pages.
const LARGE: usize = 64 << 10;
/// Small blocks stay available for this time after the first large one was refused, so that a call into ART
/// that is under way can return. ART ends the process when ART itself is refused a block, whoever called it.
const SMALL_LAST: Duration = Duration::from_millis(100);
/// The longest wait for a thread to request a large block, which is then refused. After the wait, small
/// blocks stay available for [`SMALL_LAST`]. Then they are refused, too, even if no large block was
/// requested.
const UNASKED: Duration = Duration::from_millis(400);
/// Whether small blocks are refused, too.
static ALL: AtomicBool = AtomicBool::new(false);
/// How often a request for memory was refused.
static REFUSED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether the thread is the recorder's: 0 while that is not known, then 1 for no and 2 for yes.
    static IS_RECORDER: Cell<u8> = const { Cell::new(0) };
}

fn is_recorder() -> bool {
    if IS_RECORDER.get() == 0 {
        let mut name = [0_u8; 16];
        // SAFETY: the name of the calling thread goes into a local that is large enough.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        IS_RECORDER.set(if name.starts_with(b"loopbox-") && !name.starts_with(b"lab-host") { 2 } else { 1 });
    }
    IS_RECORDER.get() == 2
}

/// Whether the calling thread is refused a block of this size now. If it is, sets `errno` to `ENOMEM` and
/// counts the refusal.
pub(crate) fn refuses(size: usize) -> bool {
    let whose = WHOSE.load(Ordering::Relaxed);
    if whose == NOBODY || size < LARGE && !ALL.load(Ordering::Relaxed) {
        return false;
    }
    let refuses = whose != RECORDER || is_recorder();
    if refuses {
        REFUSED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the calling thread's own errno.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
    }
    refuses
}

unsafe extern "C" {
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    if refuses(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe { __libc_memalign(alignment, size) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { memalign(alignment, size) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(block: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    // SAFETY: the caller's promise.
    let found = unsafe { memalign(alignment, size) };
    if found.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's promise.
    unsafe { *block = found };
    0
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: isize,
) -> *mut c_void {
    if refuses(len) {
        return libc::MAP_FAILED;
    }
    // SAFETY: the caller's promise.
    unsafe { map(address, len, protection, flags, file, offset as i64) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    if refuses(len) {
        return libc::MAP_FAILED;
    }
    // SAFETY: the caller's promise.
    unsafe { map(address, len, protection, flags, file, offset) }
}

/// Calls the kernel's mmap, without the C library. With 32-bit words the offset is passed in units of 4 KiB.
///
/// # Safety
/// As the C library's `mmap64`.
unsafe fn map(
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    #[cfg(target_pointer_width = "64")]
    let (call, offset) = (libc::SYS_mmap, offset);
    #[cfg(target_pointer_width = "32")]
    let (call, offset) = (libc::SYS_mmap2, (offset >> 12) as isize);
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(call, address, len, protection, flags, file, offset) as *mut c_void }
}

type Create = unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void, *mut c_void) -> c_int;

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut c_void,
    attributes: *const c_void,
    start: *mut c_void,
    argument: *mut c_void,
) -> c_int {
    if refuses(LARGE) {
        return libc::EAGAIN;
    }
    // SAFETY: the name ends with a null byte.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr().cast::<c_char>()) };
    // SAFETY: the C library's function of this name, which every process has.
    unsafe { std::mem::transmute::<*mut c_void, Create>(next)(thread, attributes, start, argument) }
}

/// Refuses memory for `ms` milliseconds to the threads that `whose` selects.
extern "system" fn exhaust(_: EnvUnowned<'_>, _: JClass<'_>, whose: jint, ms: jlong) {
    let over = Duration::from_millis(ms.unsigned_abs());
    // The thread is there before there is nothing left for one.
    std::thread::spawn(move || {
        let (begun, before) = (Instant::now(), REFUSED.load(Ordering::Relaxed));
        WHOSE.store(whose, Ordering::SeqCst);
        while REFUSED.load(Ordering::Relaxed) == before && begun.elapsed() < UNASKED {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(SMALL_LAST);
        ALL.store(true, Ordering::SeqCst);
        std::thread::sleep(over.saturating_sub(begun.elapsed()));
        WHOSE.store(NOBODY, Ordering::SeqCst);
        ALL.store(false, Ordering::SeqCst);
    });
}

extern "system" fn refused(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    REFUSED.load(Ordering::Relaxed) as jlong
}

/// Registers the native of `scenario.Exhausted`, if the app has that class.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let methods = [
        (jni_str!("exhaust"), jni_str!("(IJ)V"), exhaust as *mut c_void),
        (jni_str!("refused"), jni_str!("()J"), refused as *mut c_void),
    ];
    crate::registration::register_if_there(env, jni_str!("scenario/Exhausted"), &methods)
}
