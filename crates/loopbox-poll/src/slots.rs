//! What the trampolines read.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicUsize};

/// How many there are, each with its own code. The assembly has the same number of them.
pub(crate) const TRAMPOLINES: usize = 4;

/// What is called for the polls of a watched queue, on the thread that polls. Neither function may unwind.
#[derive(Debug)]
pub struct Recorder {
    /// Before the poll: the JNI environment, the time-out in milliseconds as Java has it, and where the
    /// trampoline's frame is. What it returns is given to `returned`.
    pub entered: extern "C" fn(env: *mut c_void, timeout_ms: i32, frame: usize) -> u32,
    /// After the poll. An exception may be pending.
    pub returned: extern "C" fn(env: *mut c_void, of: u32),
}

/// What a trampoline reads. The assembly knows this layout: one is 16 bytes long, and the queue is in the
/// upper half of it. Code of 32 bits reads the queue in two halves. A mix of two values names no queue that
/// is polled meanwhile, since one of the two is 0.
#[repr(C)]
pub(crate) struct Slot {
    /// The function that it calls; 0 until it is claimed, and the same one for good after that.
    pub(crate) original: AtomicUsize,
    /// `MessageQueue.mPtr` of the queue whose polls are recorded; 0 for none. No queue that polls has 0.
    pub(crate) queue: AtomicI64,
}

pub(crate) static SLOTS: [Slot; TRAMPOLINES] =
    [const { Slot { original: AtomicUsize::new(0), queue: AtomicI64::new(0) } }; TRAMPOLINES];

/// Set before the first queue is watched.
pub(crate) static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());
