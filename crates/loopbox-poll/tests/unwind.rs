//! The trampoline's frame is on the native stack of every idle main thread: unwinders must get past it.

use std::backtrace::Backtrace;
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use loopbox_poll::{Recorder, Trampoline};

type Poll = extern "C" fn(*mut c_void, *mut c_void, i64, i32);

/// The stack from which the poll was called.
static BACKTRACE: Mutex<String> = Mutex::new(String::new());
/// The frames of the poll and of its caller, found by frame pointers.
static CHAIN: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static FRAME: AtomicUsize = AtomicUsize::new(0);

extern "C" fn polls(_: *mut c_void, _: *mut c_void, _: i64, _: i32) {
    *BACKTRACE.lock().unwrap() = Backtrace::force_capture().to_string();
}

extern "C" fn entered(_: *mut c_void, _: i32, frame: usize) -> u32 {
    FRAME.store(frame, Ordering::Relaxed);
    // SAFETY: the frame's first two words are the caller's frame pointer and the return address.
    let [caller, _return_address] = unsafe { *(frame as *const [usize; 2]) };
    *CHAIN.lock().unwrap() = vec![frame, caller];
    0
}

extern "C" fn returned(_: *mut c_void, _: u32) {}

static RECORDER: Recorder = Recorder { entered, returned };

#[inline(never)]
fn the_loop_around(poll: impl Fn()) {
    poll();
    std::hint::black_box(());
}

/// The unwinder is the system's own (`_Unwind_Backtrace`), which goes by unwind information alone.
#[test]
fn an_unwinder_passes_through_each_trampoline() {
    let mut claimed = Vec::new();
    // Each is claimed once by a different function; what is called is the same.
    let first = Trampoline::claim(polls as *const c_void as usize, &RECORDER).unwrap();
    claimed.push(first);
    let mut below = first;
    for queue in 1..=4 {
        below.watch(queue);
        let here = 0_u8;
        // SAFETY: a trampoline has the signature of what it calls.
        let poll: Poll = unsafe { std::mem::transmute(below.address()) };
        let none = std::ptr::null_mut();
        the_loop_around(|| poll(none, none, queue, 0));
        below.rest();
        let text = BACKTRACE.lock().unwrap().clone();
        let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("no {name} in {text}"));
        let name = format!("loopbox_poll_{}", queue - 1);
        assert!(at(": polls\n") < at(&name) && at(&name) < at("the_loop_around"), "{text}");
        assert_eq!(text.matches("unwind::wraps").count(), queue as usize - 1, "{text}");
        assert!(text[at("the_loop_around")..].contains("an_unwinder_passes"), "{text}");
        let frame = FRAME.load(Ordering::Relaxed);
        assert!(std::ptr::from_ref(&here).addr() - frame < 64 << 10, "on this thread's stack");
        if queue < 4 {
            // Another library between two of our trampolines.
            let at = queue as usize - 1;
            WRAPPED[at].store(below.address(), Ordering::Relaxed);
            below = Trampoline::claim(WRAPPERS[at] as *const c_void as usize, &RECORDER).unwrap();
            assert!(!claimed.contains(&below));
            claimed.push(below);
        }
    }
}

/// The trampolines that the functions below call.
static WRAPPED: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
/// The functions of three simulated libraries. Each passes a poll on to the trampoline that was there before.
static WRAPPERS: [Poll; 3] = [wraps::<0>, wraps::<1>, wraps::<2>];

extern "C" fn wraps<const N: usize>(env: *mut c_void, object: *mut c_void, queue: i64, timeout_ms: i32) {
    // SAFETY: the address of a trampoline, which has the signature of what it calls.
    let poll: Poll = unsafe { std::mem::transmute(WRAPPED[N].load(Ordering::Relaxed)) };
    poll(env, object, queue, timeout_ms);
    std::hint::black_box(N);
}
