#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::indexing_slicing
    )
)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicUsize, Ordering};

/// Whether there are trampolines for this machine.
pub const SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// How many there are, each with a code of its own. The assembly has the same number of them.
const TRAMPOLINES: usize = 4;

/// What is called for the polls of a watched queue, on the thread that polls. Neither function may unwind.
#[derive(Debug)]
pub struct Recorder {
    /// Before the poll: the JNI environment, the time-out in milliseconds as Java has it, and where the
    /// trampoline's frame is. What it returns is given to `returned`.
    pub entered: extern "C" fn(env: *mut c_void, timeout_ms: i32, frame: usize) -> u32,
    /// After the poll. An exception may be pending.
    pub returned: extern "C" fn(env: *mut c_void, of: u32),
}

/// What a trampoline reads. The assembly knows this layout: two words of 64 bits.
#[repr(C)]
struct Slot {
    /// The function that it calls; 0 until it is claimed, and the same one for good after that.
    original: AtomicUsize,
    /// `MessageQueue.mPtr` of the queue whose polls are recorded; 0 for none. No queue that polls has 0.
    queue: AtomicI64,
}

static SLOTS: [Slot; TRAMPOLINES] =
    [const { Slot { original: AtomicUsize::new(0), queue: AtomicI64::new(0) } }; TRAMPOLINES];

/// Set before the first queue is watched.
static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());

/// A function with the signature of `nativePollOnce`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trampoline(usize);

impl Trampoline {
    /// The trampoline that calls `original`: the one that did so before, or one that was not used yet. `None`
    /// when all are in use, and on machines that there is none for. Main thread only.
    pub fn claim(original: usize, recorder: &'static Recorder) -> Option<Self> {
        if !SUPPORTED || original == 0 || Self::at(original).is_some() {
            return None;
        }
        RECORDER.store(std::ptr::from_ref(recorder).cast_mut(), Ordering::Release);
        let calls = |wanted| SLOTS.iter().position(|slot| slot.original.load(Ordering::Relaxed) == wanted);
        let index = calls(original).or_else(|| calls(0))?;
        SLOTS.get(index)?.original.store(original, Ordering::Release);
        Some(Self(index))
    }

    /// The trampoline whose code begins at this address.
    pub fn at(address: usize) -> Option<Self> {
        Self::all().find(|trampoline| address != 0 && trampoline.address() == address)
    }

    /// All of them, claimed or not.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TRAMPOLINES).map(Self)
    }

    /// What it calls; `None` before it was claimed.
    pub fn original(self) -> Option<usize> {
        Some(SLOTS.get(self.0)?.original.load(Ordering::Acquire)).filter(|&original| original != 0)
    }

    /// Whether it calls the recorder.
    pub fn is_watching(self) -> bool {
        SLOTS.get(self.0).is_some_and(|slot| slot.queue.load(Ordering::Acquire) != 0)
    }

    /// Where its code begins; 0 on machines that there is none for.
    pub fn address(self) -> usize {
        address_of(self.0)
    }

    /// Calls the recorder for the polls of the queue with this `MessageQueue.mPtr`, from the next one on.
    pub fn watch(self, queue: i64) {
        if let Some(slot) = SLOTS.get(self.0) {
            slot.queue.store(queue, Ordering::Release);
        }
    }

    /// Only passes on from now on. A poll that is under way still calls the recorder when it returns. Any
    /// thread.
    pub fn rest(self) {
        self.watch(0);
    }
}

/// Called by the trampolines.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
extern "C" fn entered(env: *mut c_void, timeout_ms: i32, frame: usize) -> u32 {
    // SAFETY: null, or a recorder that lives for good.
    let recorder = unsafe { RECORDER.load(Ordering::Acquire).as_ref() };
    recorder.map_or(0, |recorder| (recorder.entered)(env, timeout_ms, frame))
}

/// Called by the trampolines.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
extern "C" fn returned(env: *mut c_void, of: u32) {
    // SAFETY: as in `entered`.
    if let Some(recorder) = unsafe { RECORDER.load(Ordering::Acquire).as_ref() } {
        (recorder.returned)(env, of);
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn address_of(index: usize) -> usize {
    unsafe extern "C" {
        fn loopbox_poll_0();
        fn loopbox_poll_1();
        fn loopbox_poll_2();
        fn loopbox_poll_3();
    }
    let all: [unsafe extern "C" fn(); TRAMPOLINES] =
        [loopbox_poll_0, loopbox_poll_1, loopbox_poll_2, loopbox_poll_3];
    all.get(index).map_or(0, |function| *function as usize)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn address_of(_: usize) -> usize {
    0
}
