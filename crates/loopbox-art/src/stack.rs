//! Stacks as sampled: method pointers and dex pcs, nothing resolved.

use std::num::NonZeroUsize;

/// Number of frames that a [`RawStack`] can hold. 128 frames hold 98 % of the stacks of real apps completely.
pub const MAX_FRAMES: usize = 128;
/// Frames kept from the top of a stack that is deeper than [`MAX_FRAMES`].
const TOP: usize = 96;
/// Frames kept from the bottom of a stack that is deeper than [`MAX_FRAMES`], so that trees of such stacks
/// still begin at their root.
const BOTTOM: usize = MAX_FRAMES - TOP;

/// The address of an `ArtMethod`. It identifies the method within this process, and is compared and looked
/// up, not dereferenced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodRef(pub NonZeroUsize);

/// A frame of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The method.
    pub method: MethodRef,
    /// Position in the method's dex code, in 16-bit units. In a native method it is [`Frame::NO_DEX_PC`].
    pub dex_pc: u32,
}

impl Frame {
    /// The dex pc of a frame that has none (`dex::kDexNoIndex`).
    pub const NO_DEX_PC: u32 = u32::MAX;
}

/// One sampled stack. Plain data of fixed size, so that it can be filled while a thread is stopped.
#[derive(Clone, Copy)]
pub struct RawStack {
    methods: [usize; MAX_FRAMES],
    dex_pcs: [u32; MAX_FRAMES],
    depth: u32,
    unfinished: bool,
}

impl RawStack {
    /// No frames.
    pub const fn new() -> RawStack {
        RawStack { methods: [0; MAX_FRAMES], dex_pcs: [0; MAX_FRAMES], depth: 0, unfinished: false }
    }

    /// Removes all frames.
    pub fn clear(&mut self) {
        self.depth = 0;
        self.unfinished = false;
    }

    /// How many frames the real stack has, kept or not. It has at least this many if
    /// [`unfinished`](Self::unfinished).
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Frames kept.
    pub fn len(&self) -> usize {
        (self.depth as usize).min(MAX_FRAMES)
    }

    /// Whether there is no frame (a thread that runs no Java code).
    pub fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Frames left out between the kept top and the kept bottom.
    pub fn truncated(&self) -> u32 {
        self.depth.saturating_sub(MAX_FRAMES as u32)
    }

    /// Position in [`frames`](Self::frames) before which frames were left out.
    pub fn gap_at(&self) -> Option<usize> {
        (self.truncated() > 0).then_some(TOP)
    }

    /// Whether the walk ended at its limit, so that the last frame kept is not the bottom of the stack.
    pub fn unfinished(&self) -> bool {
        self.unfinished
    }

    /// The frames kept, top (innermost call) first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = Frame> + '_ {
        let of = |(method, dex_pc): (&usize, &u32)| {
            NonZeroUsize::new(*method).map(|m| Frame { method: MethodRef(m), dex_pc: *dex_pc })
        };
        let len = self.len();
        self.methods.iter().take(len).zip(self.dex_pcs.iter().take(len)).filter_map(of)
    }

    /// Adds the next outer frame. No allocation, no panic: runs while the thread is stopped.
    #[inline]
    pub fn push(&mut self, method: usize, dex_pc: u32) {
        let n = self.depth as usize;
        // Past the capacity the bottom part is a ring, put in order by `finish`.
        let at = if n < MAX_FRAMES { n } else { TOP + (n - TOP) % BOTTOM };
        if let (Some(m), Some(pc)) = (self.methods.get_mut(at), self.dex_pcs.get_mut(at)) {
            *m = method;
            *pc = dex_pc;
            self.depth += 1;
        }
    }

    /// Ends the walk: puts the bottom frames in order. `unfinished`: the walk ended at its limit.
    pub fn finish(&mut self, unfinished: bool) {
        self.unfinished = unfinished;
        let n = self.depth as usize;
        if n > MAX_FRAMES {
            let turn = (n - TOP) % BOTTOM;
            let (_, methods) = self.methods.split_at_mut(TOP);
            methods.rotate_left(turn);
            let (_, dex_pcs) = self.dex_pcs.split_at_mut(TOP);
            dex_pcs.rotate_left(turn);
        }
    }
}

impl Default for RawStack {
    fn default() -> Self {
        RawStack::new()
    }
}

impl std::fmt::Debug for RawStack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawStack")
            .field("depth", &self.depth)
            .field("unfinished", &self.unfinished)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(depth: usize) -> RawStack {
        let mut stack = RawStack::new();
        for i in 0..depth {
            stack.push(1000 + i, i as u32);
        }
        stack.finish(false);
        stack
    }

    #[test]
    fn keeps_all_frames_up_to_the_capacity() {
        for depth in [0, 1, 2, 50, 127, 128] {
            let s = stack(depth);
            let got: Vec<_> = s.frames().map(|f| (f.method.0.get(), f.dex_pc)).collect();
            let want: Vec<_> = (0..depth).map(|i| (1000 + i, i as u32)).collect();
            assert_eq!(got, want);
            assert_eq!((s.depth() as usize, s.truncated(), s.gap_at()), (depth, 0, None));
        }
    }

    #[test]
    fn keeps_the_top_and_the_bottom_of_deeper_stacks() {
        for depth in [129, 130, 159, 160, 161, 1000, 4096] {
            let s = stack(depth);
            let got: Vec<_> = s.frames().map(|f| f.dex_pc as usize).collect();
            let want: Vec<_> = (0..TOP).chain(depth - BOTTOM..depth).collect();
            assert_eq!(got, want, "depth {depth}");
            assert_eq!(s.truncated() as usize, depth - MAX_FRAMES);
            assert_eq!(s.gap_at(), Some(96));
        }
    }

    #[test]
    fn clearing_forgets() {
        let mut s = stack(300);
        s.finish(true);
        assert!(s.unfinished());
        s.clear();
        assert!(s.is_empty() && !s.unfinished() && s.frames().next().is_none());
    }
}
