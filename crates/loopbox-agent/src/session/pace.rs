//! How often messages are to be sampled, and how late the sampler was.

use loopbox_format::model::Token;
use loopbox_store::Pair;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// A message, and the interval that its tree asks for.
    advice: Pair,
    /// The age from which a message is sampled while display frames come; 0 while none come.
    jank_onset_ns: AtomicU64,
    /// The sampler's worst delay at waking since [`Pace::take_late_ns`], in ns, plus one. 0 means that the
    /// sampler has not slept since then.
    late_ns: AtomicU64,
}

impl Pace {
    /// Sets the interval at which this message is sampled from now on. Worker only.
    pub(crate) fn advise(&self, token: Token, interval_ns: u64) {
        self.advice.set(token.0, interval_ns);
    }

    /// The last advice: for which message, and the interval.
    pub(crate) fn advice(&self) -> (Token, u64) {
        let (token, interval_ns) = self.advice.get();
        (Token(token), interval_ns)
    }

    /// Sets the age from which messages are sampled because they may delay frames; 0 when no frames come any
    /// more.
    pub(crate) fn set_jank_onset(&self, onset_ns: u64) {
        self.jank_onset_ns.store(onset_ns, Ordering::Relaxed);
    }

    /// The age from which messages may delay frames; `None` while no frames come.
    pub(crate) fn jank_onset_ns(&self) -> Option<u64> {
        Some(self.jank_onset_ns.load(Ordering::Relaxed)).filter(|&ns| ns != 0)
    }

    /// Notes that the sampler woke this much too late.
    pub(crate) fn record_late(&self, late_ns: u64) {
        self.late_ns.fetch_max(late_ns.saturating_add(1), Ordering::Relaxed);
    }

    /// The sampler's worst delay at waking since the previous call of this function, in ns. `None` when the
    /// sampler has not slept since then. A call that returns `None` costs one load, which is cheap enough for
    /// the main thread.
    pub(crate) fn take_late_ns(&self) -> Option<u64> {
        if self.late_ns.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.late_ns.swap(0, Ordering::Relaxed).checked_sub(1)
    }
}
