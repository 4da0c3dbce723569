//! What the trampolines read.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicUsize};

/// The number of trampolines, each with separate code. The assembly has the same number.
pub(crate) const TRAMPOLINES: usize = 4;

/// The functions called for polls of a watched queue, on the polling thread. Neither may unwind.
#[derive(Debug)]
pub struct Recorder {
    /// Called before the poll with the JNI environment, the time-out in milliseconds as Java passes it, and
    /// the address of the trampoline's frame. Its result is passed to `returned`.
    pub entered: extern "C" fn(env: *mut c_void, timeout_ms: i32, frame: usize) -> u32,
    /// Called after the poll. An exception may be pending.
    pub returned: extern "C" fn(env: *mut c_void, of: u32),
}

/// What a trampoline reads. The assembly depends on this layout: a slot has 16 bytes, and the queue is in the
/// upper half. 32-bit code reads the queue in two halves. When the value changes between the two reads, the
/// code gets half of the old value and half of the new one. The old or the new value is always 0, so such a
/// mix is one of the two, or equals no queue.
#[repr(C)]
pub(crate) struct Slot {
    /// The function that the trampoline calls; 0 until the trampoline is claimed, and unchanged after that.
    pub(crate) original: AtomicUsize,
    /// `MessageQueue.mPtr` of the queue whose polls are recorded; 0 for none. No queue that polls has the
    /// value 0.
    pub(crate) queue: AtomicI64,
}

pub(crate) static SLOTS: [Slot; TRAMPOLINES] =
    [const { Slot { original: AtomicUsize::new(0), queue: AtomicI64::new(0) } }; TRAMPOLINES];

/// The recorder that the trampolines call. It is set before the first queue is watched.
pub(crate) static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());
