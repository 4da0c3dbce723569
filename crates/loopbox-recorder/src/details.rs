//! The bounded list of described messages inside a record, in place.

use bincode::Encode;
use bincode::enc::Encoder;
use bincode::error::EncodeError;
use loopbox_format::model::{Component, Detail, End, Token, Uptime};
use loopbox_format::text::BoundedStr;

/// The most messages that one record can keep by name.
///
/// Six messages of 50 ms fill a group of 300 ms. That leaves two for component messages, which are kept
/// however short they are.
pub const MAX_DETAILS: usize = 8;

/// The most bytes kept of a class name.
pub const NAME_BYTES: usize = 96;

/// The largest size, in bytes, of a record as the app encodes it.
///
/// The codec writes a 64-bit number in at most 9 bytes and a 32-bit number in at most 5. An enum variant, an
/// option and the length of a short string take 1 byte each.
pub const MAX_ENCODED_RECORD: usize = {
    let message = 2 * (1 + NAME_BYTES) + 5 + 2 + (1 + 5);
    let detail = 9 + 9 + 9 + 10 + 1 + (1 + message);
    let fixed = 1 + 9 + 9 + 5 + 4 * 9 + 10 + 10 + (1 + 9 + 9) + 5 + 1;
    fixed + 1 + MAX_DETAILS * detail
};

/// A class name in a record, cut to [`NAME_BYTES`].
pub type Name = BoundedStr<NAME_BYTES>;

/// Why a message is kept by name; the weakest reason comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeepReason {
    /// A short frame or short input. There may be more than sixty of them in a second, so they are kept only
    /// where there is room left.
    Frequent,
    /// A component message that was short.
    Component,
    /// The message itself is the reason: it was slow, it threw, or its end was missed.
    Itself,
}

impl KeepReason {
    pub(crate) fn of(detail: &Detail<Name>, detail_ns: u64) -> Self {
        if detail.wall_ns >= detail_ns || detail.end != End::Returned {
            return Self::Itself;
        }
        match detail.message.as_ref().and_then(|message| message.component) {
            Some(Component::Frame | Component::Input) => Self::Frequent,
            _ => Self::Component,
        }
    }
}

/// Described messages in order of their ends, at most [`MAX_DETAILS`], without the heap.
///
/// Serialises exactly as a `Vec` of [`Detail`].
#[derive(Debug, Clone)]
pub struct Details {
    len: usize,
    items: [Detail<Name>; MAX_DETAILS],
}

impl Details {
    pub(crate) const fn new() -> Self {
        const NONE: Detail<Name> = Detail {
            token: Token::NONE,
            start_ns: Uptime::ZERO,
            wall_ns: 0,
            wait_ns: None,
            end: End::Returned,
            message: None,
        };
        Self { len: 0, items: [NONE; MAX_DETAILS] }
    }

    /// The details kept.
    pub fn as_slice(&self) -> &[Detail<Name>] {
        self.items.get(..self.len).unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a detail. The caller has checked that the list has fewer details than configured. Returns false
    /// when the list is full.
    pub(crate) fn push(&mut self, detail: Detail<Name>) -> bool {
        let Some(slot) = self.items.get_mut(self.len) else { return false };
        *slot = detail;
        self.len += 1;
        true
    }

    pub(crate) fn by_token_mut(&mut self, token: Token) -> Option<&mut Detail<Name>> {
        self.items.get_mut(..self.len)?.iter_mut().rev().find(|detail| detail.token == token)
    }

    /// Removes the detail that matters least, if it matters less than the new one. The remaining ones keep
    /// their order. Returns the reason for which the removed detail had been kept; `None` when none was
    /// removed.
    ///
    /// A detail with a weaker reason matters less. Of two details with the reason [`KeepReason::Itself`], the
    /// shorter message matters less, so that the slowest messages of a record are named. For any other
    /// reason, a new detail does not replace one with the same reason: each exchange is written to the ring,
    /// and frames are many.
    pub(crate) fn evict_for(&mut self, new: &Detail<Name>, detail_ns: u64) -> Option<KeepReason> {
        let worth = |detail: &Detail<Name>| (KeepReason::of(detail, detail_ns), detail.wall_ns);
        let (index, (least, wall_ns)) =
            self.as_slice().iter().map(worth).enumerate().min_by_key(|(_, worth)| *worth)?;
        let (reason, new_ns) = worth(new);
        if least > reason || least == reason && (reason != KeepReason::Itself || wall_ns >= new_ns) {
            return None;
        }
        if let Some(tail) = self.items.get_mut(index..self.len) {
            tail.copy_within(1.., 0);
        }
        self.len -= 1;
        Some(least)
    }
}

impl Encode for Details {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.as_slice().encode(encoder)
    }
}
