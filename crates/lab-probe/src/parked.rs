//! Samples the main thread while it holds a lock that the whole process needs, and is parked.
//!
//! A thread that allocates, or loads or looks up a library, between suspend and resume would wait here for
//! the stopped main thread for ever.

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use jni::objects::{JClass, JString};
use jni::sys::jboolean;
use jni::{Env, EnvUnowned, jni_sig, jni_str};

use crate::{answer, hop, suspend};

const SAMPLES: u32 = 200;
const TRIES: u32 = 3000;
/// The size of an allocation in bytes. It is too large for malloc's thread cache, and too small for a
/// separate mapping. malloc takes no lock for either of those.
const BLOCK: usize = 70_000;

static MAIN: AtomicU32 = AtomicU32::new(0);
static READY: AtomicBool = AtomicBool::new(false);
static PARKED: AtomicBool = AtomicBool::new(false);
static RELEASE: AtomicBool = AtomicBool::new(false);
static DONE: AtomicBool = AtomicBool::new(false);
static TAKEN: AtomicU32 = AtomicU32::new(0);
/// Incremented when the checker should try the lock. When the checker has got it, it stores this number in
/// [`GOT`].
static ASKED: AtomicU32 = AtomicU32::new(0);
static GOT: AtomicU32 = AtomicU32::new(0);

fn nap() {
    // Nothing but a system call: this runs in a signal handler too.
    std::thread::sleep(Duration::from_micros(200));
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        nap();
    }
}

fn park() {
    PARKED.store(true, Ordering::Release);
    wait_for(&RELEASE);
    PARKED.store(false, Ordering::Release);
}

/// `static native String parked(boolean loader)`: called on the main thread; returns how often the main
/// thread was sampled while it was parked in the lock of the dynamic loader or of malloc.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_probe_Probe_parked<'local>(
    env: EnvUnowned<'local>,
    class: JClass<'local>,
    loader: jboolean,
) -> JString<'local> {
    answer(env, |env| {
        for flag in [&READY, &PARKED, &RELEASE, &DONE] {
            flag.store(false, Ordering::Release);
        }
        TAKEN.store(0, Ordering::Release);
        // SAFETY: the handler only sleeps and touches atomics.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut());
        }
        // SAFETY: takes no argument.
        MAIN.store(unsafe { libc::gettid() } as u32, Ordering::Release);
        let asked = ASKED.load(Ordering::Acquire);
        let checker = std::thread::spawn(move || check(loader, asked));
        let vm = env.get_java_vm()?;
        let class = env.new_global_ref(&class)?;
        let walk = env.get_static_method_id(&class, jni_str!("walk"), jni_sig!(() -> ()))?;
        let body = move |env: &mut Env<'_>| -> jni::errors::Result<()> {
            // Once before, so that names and buffers are there.
            let mut sample = || suspend(env).and_then(|s| hop(env, &class, walk, Some(s), false));
            drop(sample());
            READY.store(true, Ordering::Release);
            if held(loader) {
                for _ in 0..SAMPLES {
                    TAKEN.fetch_add(u32::from(sample().is_ok()), Ordering::Relaxed);
                }
            }
            DONE.store(true, Ordering::Release);
            RELEASE.store(true, Ordering::Release);
            Ok(())
        };
        std::thread::spawn(move || vm.attach_current_thread(body));
        wait_for(&READY);
        if loader {
            inside_loader();
        } else {
            inside_malloc();
        }
        // The next run must not meet this one's checker.
        let _ = checker.join();
        env.new_string(format!("{} of {SAMPLES}", TAKEN.load(Ordering::Relaxed)))
    })
}

/// Waits until main is parked while it holds the lock; returns whether that succeeded.
fn held(loader: bool) -> bool {
    for _ in 0..TRIES {
        if !loader {
            // SAFETY: a signal to a thread of this process; the handler is set before anybody gets here.
            unsafe {
                libc::syscall(libc::SYS_tgkill, libc::getpid(), MAIN.load(Ordering::Acquire), libc::SIGUSR2);
            }
        }
        wait_for(&PARKED);
        let asked = ASKED.fetch_add(1, Ordering::AcqRel) + 1;
        let end = Instant::now() + Duration::from_millis(30);
        while Instant::now() < end && GOT.load(Ordering::Acquire) != asked {
            nap();
        }
        if GOT.load(Ordering::Acquire) != asked {
            return true; // the checker waits for the lock
        }
        RELEASE.store(true, Ordering::Release);
        while PARKED.load(Ordering::Acquire) {
            nap();
        }
        RELEASE.store(false, Ordering::Release);
    }
    false
}

/// Takes the lock and releases it, each time that [`ASKED`] changes; then stores the value of [`ASKED`] in
/// [`GOT`]. `seen` is the last value that was handled.
fn check(loader: bool, mut seen: u32) {
    while !DONE.load(Ordering::Acquire) {
        let asked = ASKED.load(Ordering::Acquire);
        if asked == seen {
            nap();
            continue;
        }
        seen = asked;
        // SAFETY: plain calls; what is allocated is freed, the callback takes nothing.
        unsafe {
            if loader {
                libc::dl_iterate_phdr(Some(visit), std::ptr::null_mut());
            } else {
                libc::free(black_box(libc::malloc(BLOCK)));
            }
        }
        GOT.store(asked, Ordering::Release);
    }
}

unsafe extern "C" fn visit(_: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    1
}

unsafe extern "C" fn park_inside(_: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    park();
    1
}

/// Parks in a callback of the loader, which runs with the loader's lock held.
fn inside_loader() {
    // SAFETY: the callback takes nothing from its arguments.
    unsafe { libc::dl_iterate_phdr(Some(park_inside), std::ptr::null_mut()) };
}

extern "C" fn on_signal(_: c_int) {
    park();
}

/// Allocates in an endless loop; a signal parks the thread wherever it is, often inside of malloc's lock.
fn inside_malloc() {
    // SAFETY: blocks are freed once. The options make each call grow or shrink the heap, a system call with
    // the lock held: that is where the signal finds the thread most often.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 0);
        libc::mallopt(libc::M_TOP_PAD, 0);
        while !DONE.load(Ordering::Acquire) {
            libc::free(black_box(libc::malloc(BLOCK)));
        }
    }
}
