//! Single words that are stored one by one: the sampler's fuse, the last sign of life, the interruption of
//! the running message, a crash handler's mark, and the wall clock.
//!
//! Each is complete after one store, so that any code can write it, even a signal handler.

use crate::sync::{AtomicU64, Word};
use loopbox_format::model::{ClockPair, Token, Uptime};

const FUSE_TAG: u64 = 0x5A;
const CLOCK_TAG: u64 = 0xC7;
const MS: u64 = 1_000_000;
const CRASH_MARK: u64 = 0x4C42_5843; // "LBXC", in the high half of the word

/// Whether the process ended in the middle of something dangerous that the sampler did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FuseState {
    /// The sampler never began anything dangerous.
    #[default]
    Unused,
    /// Nothing dangerous was in progress when the process ended.
    Closed,
    /// The process ended in the middle of something dangerous.
    Open {
        /// The phase, by the sampler's own numbers (`loopbox_art::Phase`).
        phase: u8,
        /// When the phase began, uptime. The ring keeps whole milliseconds of it.
        since_ns: Uptime,
    },
    /// The word holds something that the sampler never writes.
    Damaged,
}

impl FuseState {
    pub(crate) fn from_word(word: u64) -> Self {
        let [tag, phase, ..] = word.to_le_bytes();
        let since_ns = (word >> 16).saturating_mul(MS);
        match phase {
            _ if word == 0 => Self::Unused,
            _ if u64::from(tag) != FUSE_TAG => Self::Damaged,
            0 => Self::Closed,
            phase => Self::Open { phase, since_ns: Uptime(since_ns) },
        }
    }
}

/// Records that a phase begins at the uptime `now_ns`; phase 0 means that nothing dangerous is in progress.
/// One thread at a time.
///
/// Later instructions of this thread cannot take effect before the store: the processor retires instructions
/// in order, and the effects of retired ones survive the end of the process.
pub(crate) fn set_fuse(word: &AtomicU64, phase: u8, now_ns: Uptime) {
    word.set_release(fuse_word(phase, now_ns));
}

pub(crate) fn fuse_word(phase: u8, now_ns: Uptime) -> u64 {
    // 48 bits of milliseconds are 8,900 years.
    (now_ns.0 / MS) << 16 | u64::from(phase) << 8 | FUSE_TAG
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

/// What has interrupted the running message, or the work outside of messages. The interrupted time is part of
/// the age of the message or the work, but it is no sign of a hang.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interruption {
    /// How long the whole process did not run: it was frozen by the system, or stopped. The ring keeps whole
    /// milliseconds of it.
    pub frozen_ns: u64,
    /// Whether a debugger was attached, which stops the app at breakpoints for any time.
    pub debugged: bool,
}

impl Interruption {
    const DEBUGGED: u64 = 1 << 31;
    const MAX_MS: u64 = Self::DEBUGGED - 1;

    /// The word of the mark for the message, or the work outside of messages, with this token. 0 when nothing
    /// interrupted it.
    pub(crate) fn to_word(self, token: Token) -> u64 {
        let ms = (self.frozen_ns / MS).min(Self::MAX_MS);
        let word = ms | if self.debugged { Self::DEBUGGED } else { 0 };
        if word == 0 { 0 } else { Self::half(token) << 32 | word }
    }

    /// What interrupted the message, or the work outside of messages, with this token. `word` is the word of
    /// the mark. The result is empty when the mark is about another token.
    pub(crate) fn from_word(word: u64, token: Token) -> Self {
        if word >> 32 != Self::half(token) {
            return Self::default();
        }
        Self { frozen_ns: (word & Self::MAX_MS) * MS, debugged: word & Self::DEBUGGED != 0 }
    }

    /// The part of a token that the mark's word has in its high half: the low 31 bits of the message's
    /// number. Bit 31 is set for work outside of messages.
    fn half(token: Token) -> u64 {
        token.message().0 & Self::MAX_MS | if token.is_outside() { 1 << 31 } else { 0 }
    }
}

/// Moves the last sign of life forward; it never goes back, whichever thread writes first.
pub(crate) fn heartbeat(word: &AtomicU64, uptime_ns: Uptime) {
    word.raise(uptime_ns.0);
}

/// One instant on both clocks, as one word: the Unix time at which the uptime would have been 0, in
/// milliseconds with a sign. 0 when the Unix time is not known.
pub(crate) fn clock_word(clocks: ClockPair) -> u64 {
    let at_zero_ms = clocks.unix_ms.wrapping_sub(clocks.uptime_ns.0 / MS);
    if clocks.unix_ms == 0 { 0 } else { at_zero_ms << 8 | CLOCK_TAG }
}

/// Converts an uptime into Unix time in milliseconds. `word` is a word of [`clock_word`] for another instant.
/// 0 when that word has no Unix time. The result is right if the device was in no deep sleep between the two
/// instants and its wall clock was not set.
pub(crate) fn unix_ms(word: u64, uptime_ns: Uptime) -> u64 {
    let at_zero_ms = word.cast_signed() >> 8;
    let unix_ms = at_zero_ms.saturating_add_unsigned(uptime_ns.0 / MS).max(0).cast_unsigned();
    if word & 0xFF == CLOCK_TAG { unix_ms } else { 0 }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_fuse_distinguishes_inside_from_outside() {
        let word = AtomicU64::new(0);
        let state = || FuseState::from_word(word.get());
        assert_eq!(state(), FuseState::Unused);
        set_fuse(&word, 2, Uptime(7_999_999));
        assert_eq!(state(), FuseState::Open { phase: 2, since_ns: Uptime(7_000_000) });
        set_fuse(&word, 3, Uptime::MAX);
        assert_eq!(state(), FuseState::Open { phase: 3, since_ns: Uptime(u64::MAX / MS * MS) });
        set_fuse(&word, 0, Uptime(9_000_000));
        assert_eq!(state(), FuseState::Closed);
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
    fn a_clock_word_gives_the_wall_clock_time_of_other_instants() {
        let pair = |uptime_ms, unix_ms| ClockPair { uptime_ns: Uptime(uptime_ms * MS), unix_ms };
        let word = clock_word(pair(5_000, 1_700_000_000_000));
        assert_eq!(unix_ms(word, Uptime(5_000 * MS)), 1_700_000_000_000);
        assert_eq!(unix_ms(word, Uptime(4_000 * MS)), 1_699_999_999_000);
        assert_eq!(unix_ms(word, Uptime(7_000 * MS)), 1_700_000_002_000);
        // A phone whose clock has begun at 1970.
        let word = clock_word(pair(9_000, 1));
        assert_eq!([9_000, 9_999, 1_000].map(|ms| unix_ms(word, Uptime(ms * MS))), [1, 1_000, 0]);
    }

    #[test]
    fn a_clock_word_that_says_nothing_gives_no_time() {
        assert_eq!(clock_word(ClockPair { uptime_ns: Uptime(5), unix_ms: 0 }), 0);
        for word in [0, 0x1234, u64::MAX] {
            assert_eq!(unix_ms(word, Uptime(7_000 * MS)), 0);
        }
        // What nobody writes.
        assert_eq!(unix_ms(1 << 63 | CLOCK_TAG, Uptime::MAX), 0);
    }

    #[test]
    fn an_interruption_is_of_one_message_alone() {
        let message = Token(7);
        let outside = Token::outside_before(message);
        let frozen = Interruption { frozen_ns: 61_500 * MS, debugged: false };
        let debugged = Interruption { frozen_ns: 0, debugged: true };
        for (interruption, token) in [(frozen, message), (frozen, outside), (debugged, message)] {
            let word = interruption.to_word(token);
            assert_eq!(Interruption::from_word(word, token), interruption);
            for other in
                [Token(8), Token::outside_before(Token(8)), if token == message { outside } else { message }]
            {
                assert_eq!(Interruption::from_word(word, other), Interruption::default(), "{other:?}");
            }
        }
        assert_eq!(Interruption::default().to_word(message), 0);
        assert_eq!(Interruption::from_word(0, message), Interruption::default());
        let forever = Interruption { frozen_ns: u64::MAX, debugged: true };
        let read = Interruption::from_word(forever.to_word(message), message);
        assert!(read.debugged && read.frozen_ns > 24 * 86_400 * 1_000 * MS, "{read:?}");
    }

    #[test]
    fn life_signs_do_not_go_back() {
        let word = AtomicU64::new(0);
        heartbeat(&word, Uptime(7));
        heartbeat(&word, Uptime(3));
        assert_eq!(word.get(), 7);
    }
}
