//! Single words that are stored one by one: the sampler's fuse, the last sign of life, a crash handler's note.
//!
//! Each is complete in one store, so that it can be written from anywhere, a signal handler included.

use crate::sync::{AtomicU64, Ordering, load_le, store_le};

const FUSE_OPEN: u64 = 0xA5;
const FUSE_CLOSED: u64 = 0x5A;
const FUSE_STATE_BITS: u32 = 8;
const CRASH_MARK: u64 = 0x4C42_5843; // "LBXC", in the high half of the word

/// Whether the process ended while the sampler had its main thread suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FuseState {
    /// The sampler never suspended the main thread.
    #[default]
    Unused,
    /// The last suspension was over.
    Closed {
        /// How many suspensions there were.
        suspensions: u64,
    },
    /// The process ended inside a suspension: sampling is suspect, and stays off until someone decides otherwise.
    Open {
        /// How many suspensions there were, this one included.
        suspensions: u64,
    },
    /// The word holds something that the sampler never writes.
    Damaged,
}

impl FuseState {
    pub(crate) fn from_word(word: u64) -> Self {
        let suspensions = word >> FUSE_STATE_BITS;
        match word & 0xFF {
            _ if word == 0 => Self::Unused,
            FUSE_OPEN => Self::Open { suspensions },
            FUSE_CLOSED => Self::Closed { suspensions },
            _ => Self::Damaged,
        }
    }
}

/// Opens the fuse: the next thing that the calling thread does is to suspend another one.
pub(crate) fn open_fuse(word: &AtomicU64, suspensions: u64) {
    store_le(word, suspensions << FUSE_STATE_BITS | FUSE_OPEN, Ordering::SeqCst);
}

/// Closes the fuse: the other thread runs again.
pub(crate) fn close_fuse(word: &AtomicU64, suspensions: u64) {
    store_le(word, suspensions << FUSE_STATE_BITS | FUSE_CLOSED, Ordering::SeqCst);
}

/// What a crash handler noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashMark {
    /// The signal; 0 for a crash of another kind (an uncaught Java exception, say).
    pub signal: i32,
}

impl CrashMark {
    pub(crate) fn to_word(self) -> u64 {
        CRASH_MARK << 32 | u64::from(self.signal as u32)
    }

    pub(crate) fn from_word(word: u64) -> Option<Self> {
        (word >> 32 == CRASH_MARK).then_some(Self { signal: word as u32 as i32 })
    }
}

/// Moves the last sign of life forward.
pub(crate) fn beat(word: &AtomicU64, uptime_ns: u64) {
    if load_le(word, Ordering::Relaxed) < uptime_ns {
        store_le(word, uptime_ns, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_fuse_tells_inside_from_outside() {
        let word = AtomicU64::new(0);
        let state = || FuseState::from_word(load_le(&word, Ordering::Relaxed));
        assert_eq!(state(), FuseState::Unused);
        open_fuse(&word, 1);
        assert_eq!(state(), FuseState::Open { suspensions: 1 });
        close_fuse(&word, 1);
        assert_eq!(state(), FuseState::Closed { suspensions: 1 });
        assert_eq!(FuseState::from_word(0x1234), FuseState::Damaged);
    }

    #[test]
    fn a_crash_mark_is_read_back_and_noise_is_not_one() {
        let mark = CrashMark { signal: -6 };
        assert_eq!(CrashMark::from_word(mark.to_word()), Some(mark));
        assert_eq!(CrashMark::from_word(0), None);
        assert_eq!(CrashMark::from_word(11), None);
    }

    #[test]
    fn life_signs_do_not_go_back() {
        let word = AtomicU64::new(0);
        beat(&word, 7);
        beat(&word, 3);
        assert_eq!(load_le(&word, Ordering::Relaxed), 7);
    }
}
