//! What the main thread did between two polls of its queue.
//!
//! `MessageQueue.next()` polls before it takes each message; its first poll does not wait. Between the return
//! of a poll and the entry of the next one the thread ran one message, the idle handlers, or nothing:
//!
//! * The next poll waits (its time-out is not 0): the queue had nothing that was due. Nothing was run.
//!   Until a poll that waits is entered, the thread has not rested since the last message: it worked, in the
//!   callbacks of descriptors that a poll calls, or in idle handlers.
//! * An idle handler was called meanwhile: the idle handlers were run. The next poll does not wait then.
//! * A callback of a file descriptor threw inside of the poll: `next()` was left. Nothing was run.
//! * Else a message was run.
//!
//! A loop inside of a message, of an idle handler or of a descriptor's callback polls from deeper in the
//! stack. If the address of the poll's frame differs from that of the last poll, the depth of the Java stack
//! shows which loop the poll belongs to. The address alone does not: compiled and interpreted frames of one
//! method differ in size, and a loop that was left by an exception reports nothing.

use crate::StackPointer;

/// The most loops that are distinguished: one less than in the aggregator, where the message that recording
/// began in takes a place, too.
const MAX_LOOPS: usize = 7;

/// What the Java stack shows of a poll and its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollStack {
    /// The number of Java frames from `nativePollOnce` outwards.
    pub frames: u32,
    /// If the poll is inside of an idle handler, the [`frames`](Self::frames) of the loop that called the
    /// handler; else 0.
    pub idle_of: u32,
    /// How many `Looper.loop()` are on the stack.
    pub loops: u32,
}

/// The events that follow from the polls.
pub trait Dispatches {
    /// A message may begin: the next poll of this loop shows whether one did. `at` is the place of the poll;
    /// `worked`: the thread has not rested since the previous message ended.
    fn begin(&mut self, at: StackPointer, worked: bool);

    /// The thread is about to rest, and has not rested since the previous message ended.
    fn rest(&mut self);

    /// The innermost message has ended. This also confirms that it was one: [`begin`](Self::begin) only says
    /// that a message may begin.
    fn end(&mut self);

    /// What began last was no message.
    fn retract(&mut self);

    /// The end of the innermost message was missed. Either the loop that ran the message was left without
    /// another poll, for example by an exception. Or the hook may have missed polls.
    fn lose(&mut self);

    /// The message that recording began in has ended.
    fn end_adopted(&mut self);
}

/// A loop on the main thread's stack.
#[derive(Debug, Clone, Copy, Default)]
struct Loop {
    /// The stack pointer of the loop's last poll.
    at: StackPointer,
    frames: u32,
    /// Whether the loop's last poll has returned, and what the loop has run since then, if anything, has not
    /// ended.
    open: bool,
    /// Whether a poll that waits was entered since the last message. True before the first message.
    waited: bool,
}

/// Identifies the loop whose poll is in progress, until the poll returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PollLoop(u32);

impl PollLoop {
    /// The value for a poll that is not recorded.
    pub const NONE: Self = Self(0);

    /// As a number of 32 bits.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The inverse of [`to_bits`](Self::to_bits).
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

/// The loops of the main thread, derived from their polls. Owned by that thread; nothing here allocates or
/// panics.
#[derive(Debug)]
pub struct PollRules {
    loops: [Loop; MAX_LOOPS],
    depth: usize,
    /// How many loops were on the stack when recording began inside of a message. `None` once that message
    /// has ended.
    adopted_in: Option<u32>,
    /// Distinguishes this recording from earlier ones: a [`PollLoop`] with another number is of a poll that
    /// was entered before this recording began.
    generation: u32,
}

impl PollRules {
    /// The state before the first poll. `generation` is a different number for each recording.
    pub fn new(generation: u32) -> Self {
        Self { loops: [Loop::default(); MAX_LOOPS], depth: 0, adopted_in: None, generation }
    }

    /// Recording has begun inside of a message, with this number of loops on the stack.
    pub fn adopt(&mut self, loops: u32) {
        self.adopted_in = Some(loops);
    }

    /// The message that recording began in is known to have ended.
    pub fn forget_adopted(&mut self) {
        self.adopted_in = None;
    }

    /// Whether a poll at `at` is known to belong to the innermost loop. If not, [`entered`](Self::entered)
    /// needs the stack.
    #[inline]
    pub fn knows(&self, at: StackPointer) -> bool {
        self.top().is_some_and(|top| top.at == at)
    }

    /// A poll is entered. `stack` is needed only where [`knows`](Self::knows) is false; it is also `None`
    /// when the stack could not be read.
    #[inline]
    pub fn entered(
        &mut self,
        at: StackPointer,
        timeout_ms: i32,
        stack: Option<PollStack>,
        dispatches: &mut impl Dispatches,
    ) -> PollLoop {
        if !self.knows(at) {
            self.find_loop(at, stack, dispatches);
        }
        let depth = self.depth as u32;
        let generation = self.generation;
        let Some(top) = self.top_mut().filter(|top| top.at == at) else { return PollLoop::NONE };
        match (std::mem::take(&mut top.open), timeout_ms) {
            (true, 0) => {
                top.waited = false;
                dispatches.end();
            }
            (true, _) => dispatches.retract(),
            (false, _) => {}
        }
        if timeout_ms != 0 && !std::mem::replace(&mut top.waited, true) {
            dispatches.rest();
        }
        PollLoop(generation << 8 | depth)
    }

    /// The poll of this loop has returned. `threw`: an exception is pending.
    #[inline]
    pub fn returned(&mut self, of: PollLoop, threw: bool, dispatches: &mut impl Dispatches) {
        let PollLoop(bits) = of;
        let depth = (bits & 0xff) as usize;
        if bits >> 8 != self.generation & 0xff_ffff || depth == 0 || depth > self.depth {
            return;
        }
        while self.depth > depth {
            // A loop inside of a descriptor's callback was left.
            self.leave(dispatches);
        }
        if let Some(top) = self.top_mut().filter(|_| !threw) {
            top.open = true;
            dispatches.begin(top.at, !top.waited);
        }
    }

    /// An idle handler is called. `at` is the place of the call on the stack. The handler runs instead of a
    /// message. So what began when the last poll returned was no message, and is retracted. `missed` is
    /// whether polls may have been missed. If so, what began may have been a message, and counts as one whose
    /// end was missed.
    pub fn idle(&mut self, at: StackPointer, missed: bool, dispatches: &mut impl Dispatches) {
        while self.depth > 1 && self.top().is_some_and(|top| top.at.is_inside(at)) {
            self.leave(dispatches);
        }
        if let Some(top) = self.top_mut()
            && std::mem::take(&mut top.open)
        {
            if missed { dispatches.lose() } else { dispatches.retract() }
        }
    }

    fn top(&self) -> Option<&Loop> {
        self.loops.get(self.depth.checked_sub(1)?)
    }

    fn top_mut(&mut self) -> Option<&mut Loop> {
        self.loops.get_mut(self.depth.checked_sub(1)?)
    }

    /// Removes the innermost loop, which is not on the stack any more.
    fn leave(&mut self, dispatches: &mut impl Dispatches) {
        let open = self.top().is_some_and(|top| top.open);
        self.depth = self.depth.saturating_sub(1);
        if open {
            dispatches.lose();
        }
    }

    /// Makes the loop that polls here the innermost one.
    #[cold]
    fn find_loop(&mut self, at: StackPointer, stack: Option<PollStack>, dispatches: &mut impl Dispatches) {
        let Some(stack) = stack else {
            // Taken for the loop that was the innermost one.
            match self.top_mut() {
                Some(top) => top.at = at,
                None => self.push(Loop { at, frames: 0, open: false, waited: true }),
            }
            return;
        };
        if self.adopted_in.is_some_and(|loops| stack.loops <= loops) {
            while self.depth > 0 {
                self.leave(dispatches);
            }
            self.adopted_in = None;
            dispatches.end_adopted();
        }
        while self.top().is_some_and(|top| top.frames > stack.frames) {
            self.leave(dispatches);
        }
        match self.top_mut() {
            Some(top) if top.frames == stack.frames => top.at = at,
            Some(top) => {
                // The handlers of an idle queue run in no message.
                if stack.idle_of == top.frames && std::mem::take(&mut top.open) {
                    dispatches.retract();
                }
                self.push(Loop { at, frames: stack.frames, open: false, waited: true });
            }
            None => self.push(Loop { at, frames: stack.frames, open: false, waited: true }),
        }
    }

    /// Adds the innermost loop. Loops beyond the limit are not distinguished: their polls belong to no loop.
    fn push(&mut self, innermost: Loop) {
        if let Some(place) = self.loops.get_mut(self.depth) {
            *place = innermost;
            self.depth += 1;
        }
    }
}

#[cfg(test)]
mod tests;
