//! The mark that a crash handler of another library leaves in the ring.

use loopbox_store::RingReader;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The ring of the recording in progress; null while there is none.
static RING: AtomicPtr<RingReader> = AtomicPtr::new(ptr::null_mut());
/// How many crash handlers are using the ring now.
static USERS: AtomicU32 = AtomicU32::new(0);

/// Notes in the ring that the process dies of `signal`. See `loopbox_mark_crash` of the library.
pub fn mark_crash(signal: libc::c_int) {
    USERS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: null, or a Box that `clear_ring` does not drop before it has seen `USERS` at 0 with `RING` at
    // null.
    if let Some(ring) = unsafe { RING.load(Ordering::SeqCst).as_ref() } {
        ring.mark_crash(signal);
    }
    USERS.fetch_sub(1, Ordering::SeqCst);
}

/// From now on crashes are noted in this ring.
pub(crate) fn set_ring(ring: RingReader) {
    clear_ring();
    RING.store(Box::into_raw(Box::new(ring)), Ordering::SeqCst);
}

/// From now on crashes are not noted.
pub(crate) fn clear_ring() {
    let ring = RING.swap(ptr::null_mut(), Ordering::SeqCst);
    if ring.is_null() {
        return;
    }
    // A handler needs no time worth mentioning; one that never returns means the end of the process.
    for _ in 0..1_000 {
        if USERS.load(Ordering::SeqCst) == 0 {
            // SAFETY: it came from `Box::into_raw` in `set_ring`. Handlers that start now see null, and none
            // that saw the ring is still running.
            drop(unsafe { Box::from_raw(ring) });
            return;
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::ClockPair;
    use loopbox_format::model::Uptime;
    use loopbox_store::{CrashMark, Identity, Ring, RingOptions};

    #[test]
    fn a_crash_is_noted_in_the_ring_of_the_recording_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let identity = Identity::of_this_process(ClockPair::default());
        let Ring { reader, .. } = Ring::create(&RingOptions::new(folder.path(), identity));
        mark_crash(6);
        assert_eq!(reader.snapshot(Uptime::ZERO).crash, None);
        set_ring(reader.clone());
        mark_crash(11);
        assert_eq!(reader.snapshot(Uptime::ZERO).crash, Some(CrashMark { signal: 11 }));
        clear_ring();
        mark_crash(6);
        assert_eq!(reader.snapshot(Uptime::ZERO).crash, Some(CrashMark { signal: 11 }));
    }
}
