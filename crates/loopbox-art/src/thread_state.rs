//! A thread's state as ART keeps it.

use crate::sys::mem;

/// `kRunnable`: 67 up to ART 12, 0 since ART 13.
pub(crate) const RUNNABLE: [u16; 2] = [0, 67];

/// The thread's state: the upper half of `tls32_.state_and_flags`, the first word of `art::Thread`. Up to ART
/// 12 the state takes all 16 bits of this half, since ART 13 its upper 8 bits. So compare the result only for
/// equality.
pub(crate) fn state_of(thread: usize) -> Option<u16> {
    mem::read::<u32>(thread).map(|word| (word >> 16) as u16)
}

/// The flag `kSuspendRequest`, the same in all versions. It is in the half of `state_and_flags` that does not
/// hold the state.
const SUSPEND_REQUEST: u32 = 1;

/// Whether ART was asked to suspend the thread and has not resumed it. False when that cannot be read.
pub(crate) fn is_suspended(thread: usize) -> bool {
    mem::read::<u32>(thread).is_some_and(|word| word & SUSPEND_REQUEST != 0)
}

/// Whether the thread is runnable. The answer stays true only for the calling thread; another thread may
/// change its state at any time.
pub(crate) fn runs_java(thread: usize) -> bool {
    state_of(thread).is_some_and(|state| RUNNABLE.contains(&state))
}
