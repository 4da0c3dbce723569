//! Which messages run inside each other, derived from the places on the main thread's stack at which their
//! starts and ends were reported.
//!
//! # Lost ends
//!
//! An `Error`, and with the Printer hook any exception, leaves a message without an end. The next event shows
//! which message that was: see [`StackPointer`]. Such a message is closed at that event as `End::Missed`; its
//! time is then an upper bound.

use crate::StackPointer;
use loopbox_format::model::{Token, Uptime};

/// How many messages that run inside each other are distinguished: one for each nested `Looper.loop()`.
const MAX_DEPTH: usize = 8;

/// A message whose dispatch has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dispatch {
    pub(super) token: Token,
    pub(super) start_ns: Uptime,
    pointer: StackPointer,
    /// Whether the message has run a nested Looper loop.
    nested: bool,
}

/// The running messages, outermost first.
#[derive(Debug)]
pub(super) struct Nesting {
    dispatches: [Dispatch; MAX_DEPTH],
    depth: usize,
    /// The distance from the stack pointer of a message's end to that of its start. The two pointers differ,
    /// because the hooks for starts and for ends have frames of different size. The distance is added to the
    /// pointer of an end before that pointer is compared with the pointers of starts.
    end_shift: i64,
}

impl Default for Nesting {
    fn default() -> Self {
        const NONE: Dispatch = Dispatch {
            token: Token::NONE,
            start_ns: Uptime::ZERO,
            pointer: StackPointer::UNKNOWN,
            nested: false,
        };
        Self { dispatches: [NONE; MAX_DEPTH], depth: 0, end_shift: 0 }
    }
}

impl Nesting {
    /// How many messages are running.
    pub(super) fn depth(&self) -> u32 {
        self.depth as u32
    }

    /// The innermost message; `None` when no message runs.
    pub(super) fn top(&self) -> Option<Dispatch> {
        self.dispatches.get(self.depth.checked_sub(1)?).copied()
    }

    /// Notes that a loop inside of the innermost message runs another message, or waits. Returns the token of
    /// the innermost message the first time that this is noted for it, and `None` later.
    pub(super) fn enter(&mut self) -> Option<Token> {
        let outer = self.dispatches.get_mut(self.depth.checked_sub(1)?)?;
        (!std::mem::replace(&mut outer.nested, true)).then_some(outer.token)
    }

    /// Adds the message that begins, as the innermost one.
    pub(super) fn push(&mut self, token: Token, start_ns: Uptime, pointer: StackPointer) {
        if let Some(dispatch) = self.dispatches.get_mut(self.depth) {
            *dispatch = Dispatch { token, start_ns, pointer, nested: false };
            self.depth += 1;
        }
    }

    /// Takes the innermost message away.
    pub(super) fn pop(&mut self) -> Option<Dispatch> {
        let top = self.top()?;
        self.depth -= 1;
        Some(top)
    }

    /// Removes all messages.
    pub(super) fn clear(&mut self) {
        self.depth = 0;
    }

    /// Whether the innermost message is one whose start no hook saw.
    pub(super) fn is_adopted(&self) -> bool {
        self.top().is_some_and(|top| top.pointer == StackPointer::BELOW_ALL)
    }

    /// Whether the innermost message must be removed before another message begins at this stack pointer:
    /// because the innermost message cannot be running any more, or to make room.
    pub(super) fn is_left_before(&self, at: StackPointer) -> bool {
        self.top().is_some_and(|top| !at.is_inside(top.pointer) || self.depth == MAX_DEPTH)
    }

    /// Finds the message whose end is at this stack pointer: the one whose start was nearest on the stack.
    /// Returns its depth, 1 for the outermost; the messages inside of it have lost their ends.
    pub(super) fn depth_of_end(&mut self, at: StackPointer) -> Option<u32> {
        let running = self.dispatches.get(..self.depth)?;
        if let [only] = running {
            if let Some(shift) = only.pointer.distance_from(at) {
                self.end_shift = shift;
            }
            return Some(1);
        }
        let at = at.shifted(self.end_shift);
        let distance = |dispatch: &Dispatch| dispatch.pointer.distance_from(at).map_or(0, i64::unsigned_abs);
        // The last of equals: without pointers, the innermost.
        let ending = (0..running.len()).rev().min_by_key(|&index| running.get(index).map(distance));
        ending.map(|index| index as u32 + 1)
    }
}
