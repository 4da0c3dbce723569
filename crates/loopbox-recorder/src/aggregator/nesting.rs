//! Which messages run inside each other, by where on the main thread's stack their begins and ends were told.
//!
//! # Lost ends
//!
//! An `Error`, and with the Printer hook any exception, leaves a message without an end. The next event tells:
//! see [`StackMark`]. Such a message is closed at that event as `End::Missed`; its time is then an upper bound.

use crate::StackMark;

/// How many nested `Looper.loop()` are told apart.
const MAX_DEPTH: usize = 8;

/// A message whose dispatch has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) token: u64,
    pub(super) start_ns: u64,
    mark: StackMark,
    /// A nested loop has run in it.
    nested: bool,
}

/// The running messages, outermost first.
#[derive(Debug)]
pub(super) struct Nesting {
    frames: [Frame; MAX_DEPTH],
    depth: usize,
    /// What to add to the mark of an end to compare it with marks of begins: the two hooks differ in frame size.
    end_shift: i64,
}

impl Default for Nesting {
    fn default() -> Self {
        const NO_FRAME: Frame = Frame { token: 0, start_ns: 0, mark: StackMark::UNKNOWN, nested: false };
        Self { frames: [NO_FRAME; MAX_DEPTH], depth: 0, end_shift: 0 }
    }
}

impl Nesting {
    /// How many messages run.
    pub(super) fn depth(&self) -> u32 {
        self.depth as u32
    }

    /// The innermost message.
    pub(super) fn top(&self) -> Option<Frame> {
        self.frames.get(self.depth.checked_sub(1)?).copied()
    }

    /// A message begins inside of the innermost one. Its number, when no other message has begun in it before.
    pub(super) fn enter(&mut self) -> Option<u64> {
        let outer = self.frames.get_mut(self.depth.checked_sub(1)?)?;
        (!std::mem::replace(&mut outer.nested, true)).then_some(outer.token)
    }

    /// Adds the message that begins, as the innermost one.
    pub(super) fn push(&mut self, token: u64, start_ns: u64, mark: StackMark) {
        if let Some(frame) = self.frames.get_mut(self.depth) {
            *frame = Frame { token, start_ns, mark, nested: false };
            self.depth += 1;
        }
    }

    /// Takes the innermost message away.
    pub(super) fn pop(&mut self) -> Option<Frame> {
        let top = self.top()?;
        self.depth -= 1;
        Some(top)
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.depth = 0;
    }

    /// Whether the innermost message is one whose begin nobody saw.
    pub(super) fn is_adopted(&self) -> bool {
        self.top().is_some_and(|top| top.mark == StackMark::BELOW_ALL)
    }

    /// Whether the innermost message cannot be running any more when another one begins at this mark, or must make room
    /// for it.
    pub(super) fn is_left_before(&self, at: StackMark) -> bool {
        self.top().is_some_and(|top| !at.is_inside(top.mark) || self.depth == MAX_DEPTH)
    }

    /// How many messages run until that one is over whose end is at this mark: those inside of it have lost theirs. It is
    /// the one whose begin was nearest on the stack.
    pub(super) fn depth_of_end(&mut self, at: StackMark) -> Option<u32> {
        let running = self.frames.get(..self.depth)?;
        if let [only] = running {
            if let Some(shift) = only.mark.distance_from(at) {
                self.end_shift = shift;
            }
            return Some(1);
        }
        let at = at.shifted(self.end_shift);
        let distance = |frame: &Frame| frame.mark.distance_from(at).map_or(0, i64::unsigned_abs);
        // The last of equals: without marks, the innermost.
        let ending = (0..running.len()).rev().min_by_key(|&index| running.get(index).map(distance));
        ending.map(|index| index as u32 + 1)
    }
}
