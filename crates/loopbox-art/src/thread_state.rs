//! A thread's state as ART keeps it.

use crate::sys::mem;

/// `kRunnable`: 67 up to ART 12, 0 since.
pub(crate) const RUNNABLE: [u16; 2] = [0, 67];

/// The state half of `tls32_.state_and_flags`, the first word of `art::Thread`. Up to 12 it is a 16-bit
/// number, since 13 the upper 8 of the 16 bits; only equality is used.
pub(crate) fn state_of(thread: usize) -> Option<u16> {
    mem::read::<u32>(thread).map(|word| (word >> 16) as u16)
}

/// `kSuspendRequest`, of all versions, in the other half.
const SUSPEND_REQUEST: u32 = 1;

/// Whether somebody has asked ART to suspend the thread, and has not let it go. False where that cannot be
/// read.
pub(crate) fn is_suspended(thread: usize) -> bool {
    mem::read::<u32>(thread).is_some_and(|word| word & SUSPEND_REQUEST != 0)
}

/// Whether the thread is runnable. Of the calling thread that stays so; another one may change it at any
/// time.
pub(crate) fn runs_java(thread: usize) -> bool {
    state_of(thread).is_some_and(|state| RUNNABLE.contains(&state))
}
