//! What the worker thread writes.

use super::display_frames::FramesWriter;
use super::region::RegionWriter;
use crate::error::StoreError;
use crate::slot::words_of;
use crate::trees::{Fidelity, PAGE_HEADER_LEN, PackError, pack_within};
use loopbox_format::codec;
use loopbox_format::model::{
    AnrWarning, Breadcrumb, FeatureState, Meta, Outside, Pending, Running, StackTree, Statistic, Symbols,
    Token,
};

/// What the worker thread writes. Its methods may allocate.
#[derive(Debug)]
pub struct WorkerWriter {
    pub(super) running: RegionWriter,
    pub(super) outside: RegionWriter,
    pub(super) running_tree: RegionWriter,
    pub(super) tree_pages: RegionWriter,
    /// How many trees were kept.
    pub(super) trees: u64,
    /// The message whose tree was last written as the running message's tree, and how much of that tree
    /// fitted.
    pub(super) last_kept: (Token, Fidelity),
    pub(super) meta: RegionWriter,
    pub(super) features: RegionWriter,
    pub(super) pending: RegionWriter,
    pub(super) statistics: RegionWriter,
    pub(super) warnings: RegionWriter,
    pub(super) breadcrumbs: RegionWriter,
    pub(super) frames: FramesWriter,
}

impl WorkerWriter {
    /// Writes what is known about the running message in addition to its number: its name, its CPU time, and
    /// the instant that these describe.
    pub fn running(&mut self, running: &Running) -> Result<(), StoreError> {
        self.running.write_next_value(running)
    }

    /// Writes what the main thread does outside of messages; `None` when that has ended and no message
    /// followed.
    pub fn outside(&mut self, outside: Option<&Outside>) -> Result<(), StoreError> {
        self.outside.write_next_value(&outside)
    }

    /// Writes the stacks of the running message so far, with the names they use.
    ///
    /// A tree that is too large is kept with less information, see [`Fidelity`]. Packing takes some ten
    /// microseconds per kilobyte, so a caller writes at the first sample, and after that not at every one.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] when not even a single sample fits; the ring then keeps the tree written
    /// before.
    pub fn running_tree(&mut self, symbols: &Symbols, tree: &StackTree) -> Result<Fidelity, StoreError> {
        // What did not fit a moment ago does not fit now either.
        let from = if self.last_kept.0 == tree.token { self.last_kept.1 } else { Fidelity::Whole };
        let (packed, kept) = pack(symbols, tree, self.running_tree.capacity(), from)?;
        self.running_tree.write_next_bytes(&packed)?;
        self.last_kept = (tree.token, kept);
        Ok(kept)
    }

    /// Clears the stacks of the running message: it has ended, and they are kept elsewhere or are not worth
    /// keeping.
    pub fn clear_running_tree(&mut self) -> Result<(), StoreError> {
        // What has the same number next is something else, and begins small.
        self.last_kept = (Token::NONE, Fidelity::Whole);
        self.running_tree.write_next_bytes(&[])
    }

    /// Keeps the tree of a message that has ended, in place of the oldest kept trees. Readers get as many as
    /// there is room for: about ten of ordinary size with the default geometry, and at least the latest
    /// three.
    ///
    /// # Errors
    /// As [`running_tree`](Self::running_tree).
    pub fn keep_tree(&mut self, symbols: &Symbols, tree: &StackTree) -> Result<Fidelity, StoreError> {
        let page_len = self.tree_pages.capacity().saturating_sub(PAGE_HEADER_LEN);
        let pages = self.tree_pages.region.map_or(0, |region| region.slots / 4).max(1);
        let (packed, kept) = pack(symbols, tree, pages * page_len, Fidelity::Whole)?;
        self.trees += 1;
        let parts = packed.chunks(page_len.max(1));
        let of = parts.len() as u64;
        for (part, bytes) in (0_u64..).zip(parts) {
            let header = [self.trees, part << 32 | of];
            let words = header.into_iter().chain(words_of(bytes));
            self.tree_pages.write_next(PAGE_HEADER_LEN + bytes.len(), words)?;
        }
        Ok(kept)
    }

    /// Writes the recording process and its limits. `reason` and `dumped_at` are replaced at recovery.
    /// Annotations that do not fit are left out, the last ones first.
    pub fn meta(&mut self, meta: &Meta) -> Result<(), StoreError> {
        let all = meta.annotations.len();
        self.meta.write_prefix(all, &|kept| {
            let annotations = meta.annotations.get(..kept).unwrap_or_default().to_vec();
            codec::encode(&Meta { annotations, ..meta.clone() })
        })
    }

    /// Writes which features are on. Called again whenever one changes.
    pub fn features(&mut self, features: &[FeatureState]) -> Result<(), StoreError> {
        self.features
            .write_prefix(features.len(), &|kept| codec::encode(features.get(..kept).unwrap_or_default()))
    }

    /// Writes the message queue as captured, with as many of its lines as fit; the others count as dropped.
    /// Lines in the middle are left out, because both ends are needed: the head of the queue is at one of
    /// them, the framework's last line at the other. Call it as soon as something seems wrong, because the
    /// report may come too late.
    pub fn pending(&mut self, pending: &Pending) -> Result<(), StoreError> {
        let all = pending.lines.len();
        self.pending.write_prefix(all, &|kept| {
            let first = kept.div_ceil(2);
            let ends = [pending.lines.get(..first), pending.lines.get(all - (kept - first)..)];
            let lines = ends.into_iter().flatten().flatten().cloned().collect();
            let dropped_lines = pending.dropped_lines.saturating_add((all - kept) as u32);
            codec::encode(&Pending { lines, dropped_lines, ..pending.clone() })
        })
    }

    /// Writes the system's warnings of an ANR: the first ones, as many as fit.
    pub fn warnings(&mut self, warnings: &[AnrWarning]) -> Result<(), StoreError> {
        self.warnings
            .write_prefix(warnings.len(), &|kept| codec::encode(warnings.get(..kept).unwrap_or_default()))
    }

    /// Writes the app's breadcrumbs, which are given oldest first. When not all of them fit, the oldest are
    /// left out.
    pub fn breadcrumbs(&mut self, trail: &[Breadcrumb]) -> Result<(), StoreError> {
        let all = trail.len();
        self.breadcrumbs.write_prefix(all, &|kept| codec::encode(trail.get(all - kept..).unwrap_or_default()))
    }

    /// Saves display frames for the next copy into the file, if the ring has room for them. They take memory
    /// until then.
    ///
    /// `encode` appends the bytes of [`loopbox_format::display_frames::encode_session`] directly from where
    /// the frames are kept, without a copy.
    pub fn frames(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), StoreError> {
        self.frames.save(encode)
    }

    /// Writes statistics of process and machine, as captured with the queue: the first ones, as many as fit.
    pub fn statistics(&mut self, statistics: &[Statistic]) -> Result<(), StoreError> {
        self.statistics
            .write_prefix(statistics.len(), &|kept| codec::encode(statistics.get(..kept).unwrap_or_default()))
    }
}

fn pack(
    symbols: &Symbols,
    tree: &StackTree,
    capacity: usize,
    from: Fidelity,
) -> Result<(Vec<u8>, Fidelity), StoreError> {
    pack_within(symbols, tree, capacity, from).map_err(|error| match error {
        PackError::Codec(error) => error.into(),
        PackError::TooLarge(needed) => StoreError::TooLarge { needed, capacity },
    })
}
