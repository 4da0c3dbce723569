//! What a crash handler of another library may call.

use loopbox_store::RingReader;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The ring of the recording in progress; null while there is none.
static RING: AtomicPtr<RingReader> = AtomicPtr::new(ptr::null_mut());
/// How many handlers use it right now.
static USERS: AtomicU32 = AtomicU32::new(0);

/// Notes in the ring that the process dies of `signal`, 0 for a death without one. The next launch makes a report of
/// what the ring holds and says so in it.
///
/// Async-signal-safe: atomics, and on kernels before 4.14 `getpid`. Does nothing while nothing records.
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "exported by its name, not by this crate")]
pub extern "C" fn loopbox_mark_crash(signal: libc::c_int) {
    USERS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: null, or a Box that `forget` does not drop before it has seen `USERS` at 0 with `RING` at null.
    if let Some(ring) = unsafe { RING.load(Ordering::SeqCst).as_ref() } {
        ring.mark_crash(signal);
    }
    USERS.fetch_sub(1, Ordering::SeqCst);
}

/// Crashes are noted in this ring from now on.
pub(crate) fn remember(ring: RingReader) {
    forget();
    RING.store(Box::into_raw(Box::new(ring)), Ordering::SeqCst);
}

/// Crashes are not noted any more.
pub(crate) fn forget() {
    let ring = RING.swap(ptr::null_mut(), Ordering::SeqCst);
    if ring.is_null() {
        return;
    }
    // A handler needs no time worth mentioning; one that was interrupted for good is the end of the process, too.
    for _ in 0..1_000 {
        if USERS.load(Ordering::SeqCst) == 0 {
            // SAFETY: it came from `Box::into_raw` in `remember`. Handlers that begin now see null, and none that saw
            // it is left.
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
    use loopbox_store::{CrashMark, Identity, Ring, RingOptions};

    #[test]
    fn a_crash_is_noted_in_the_ring_of_the_recording_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let identity = Identity::of_this_process(ClockPair::default());
        let Ring { reader, .. } = Ring::create(&RingOptions::new(folder.path(), identity));
        loopbox_mark_crash(6);
        assert_eq!(reader.snapshot(0).crash, None);
        remember(reader.clone());
        loopbox_mark_crash(11);
        assert_eq!(reader.snapshot(0).crash, Some(CrashMark { signal: 11 }));
        forget();
        loopbox_mark_crash(6);
        assert_eq!(reader.snapshot(0).crash, Some(CrashMark { signal: 11 }));
    }
}
