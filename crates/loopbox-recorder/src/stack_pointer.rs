//! The position on the main thread's stack at which the hook was called.

/// The place on the thread's stack at which a hook was called. It distinguishes a message inside of a nested
/// `Looper.loop()` from one that follows a message whose end was not reported.
///
/// When a message begins while an earlier one has not ended, there are two cases. Either the earlier message
/// runs a nested loop: then the stack is deeper than at its start. Or the earlier message was left by an
/// exception that was not reported (with the Printer hook any exception, with the Observer hook an `Error`):
/// then the stack is not deeper. Looper reports neither case. All supported ABIs grow their stacks towards
/// lower addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StackPointer(u64);

/// Two pointers that differ by no more than this are on the same level. The smallest nested loop (at least
/// three frames of compiled code) differs by more.
const SAME_LEVEL_BYTES: u64 = 64;

impl StackPointer {
    /// The place is not known. When a message starts at an unknown place while an earlier one has not ended,
    /// the end of the earlier one counts as lost.
    pub const UNKNOWN: Self = Self(0);

    /// The pointer of a message whose start was not seen. It is the highest address, and stacks grow
    /// downwards, so each other pointer belongs to a call inside of this message.
    pub(crate) const BELOW_ALL: Self = Self(u64::MAX);

    /// The pointer for this address of the thread's stack.
    pub const fn at(address: u64) -> Self {
        Self(address)
    }

    /// The address of a local variable in the calling function.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the pointer must lie in the caller's frame")]
    pub fn here() -> Self {
        let probe = 0_u8;
        Self(std::ptr::from_ref(std::hint::black_box(&probe)).addr() as u64)
    }

    /// Whether this pointer is deeper in the stack than `outer`, so that what ran at `outer` is still
    /// running.
    pub(crate) fn is_inside(self, outer: Self) -> bool {
        self.0 != 0 && self.0.saturating_add(SAME_LEVEL_BYTES) < outer.0
    }

    /// This pointer moved by a signed number of bytes.
    pub(crate) fn shifted(self, bytes: i64) -> Self {
        if self.0 == 0 { self } else { Self(self.0.saturating_add_signed(bytes)) }
    }

    /// The signed distance from `other` to this pointer; `None` when one of them is unknown.
    pub(crate) fn distance_from(self, other: Self) -> Option<i64> {
        (self.0 != 0 && other.0 != 0).then(|| self.0.wrapping_sub(other.0) as i64)
    }
}
