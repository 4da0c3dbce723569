//! The functions that the assembly calls, and the addresses at which its code begins.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use crate::slots::{RECORDER, TRAMPOLINES};

/// Whether there are trampolines for this machine.
pub const SUPPORTED: bool = true;

/// Passes the entry of a poll on to the recorder, and returns the recorder's result; 0 without a recorder.
/// Called by the trampolines.
pub(crate) extern "C" fn entered(env: *mut c_void, timeout_ms: i32, frame: usize) -> u32 {
    // SAFETY: null, or a recorder that lives for good.
    let recorder = unsafe { RECORDER.load(Ordering::Acquire).as_ref() };
    recorder.map_or(0, |recorder| (recorder.entered)(env, timeout_ms, frame))
}

/// Passes the return of a poll on to the recorder. Called by the trampolines.
pub(crate) extern "C" fn returned(env: *mut c_void, of: u32) {
    // SAFETY: as in `entered`.
    if let Some(recorder) = unsafe { RECORDER.load(Ordering::Acquire).as_ref() } {
        (recorder.returned)(env, of);
    }
}

pub(crate) fn address_of(index: usize) -> usize {
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
