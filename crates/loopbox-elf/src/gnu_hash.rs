//! Symbol look-up through the `DT_GNU_HASH` table.
//!
//! The layout (four header words, a Bloom filter of machine words, the buckets, the chains) is defined by the
//! GNU linker; bionic and glibc read the same.

use super::symbol::{text_at, usable};
use goblin::container::{Container, Ctx};
use goblin::elf::sym::Sym;
use scroll::Pread;
use scroll::ctx::TryFromCtx;

/// The parts of the file that the look-up reads. Each slice may reach past the end of its table.
pub(super) struct Table<'a> {
    /// The file from the hash table on.
    pub(super) hash: &'a [u8],
    /// The file from the first dynamic symbol on.
    pub(super) symbols: &'a [u8],
    /// The dynamic string table.
    pub(super) names: &'a [u8],
    /// Word size and byte order.
    pub(super) ctx: Ctx,
}

/// The hash of a name (djb2).
pub(super) fn hash_of(name: &str) -> u32 {
    name.bytes().fold(5381u32, |h, b| h.wrapping_mul(33).wrapping_add(u32::from(b)))
}

impl Table<'_> {
    fn word(&self, at: usize) -> Option<u32> {
        self.hash.pread_with(at, self.ctx.le).ok()
    }

    /// The defined symbol with this name.
    pub(super) fn find(&self, name: &str) -> Option<Sym> {
        let buckets = self.word(0)?;
        let first_symbol = self.word(4)?;
        let bloom_words = self.word(8)?;
        let bloom_shift = self.word(12)?;
        if buckets == 0 || bloom_words == 0 {
            return None;
        }
        let hash = hash_of(name);
        let (word_bytes, word_bits) = if self.ctx.container == Container::Big { (8, 64) } else { (4, 32) };
        let bloom_at = 16 + ((hash / word_bits) % bloom_words) as usize * word_bytes;
        let bloom: u64 = if word_bytes == 8 {
            self.hash.pread_with(bloom_at, self.ctx.le).ok()?
        } else {
            u64::from(self.word(bloom_at)?)
        };
        let mask = (1u64 << (hash % word_bits)) | (1u64 << (hash.checked_shr(bloom_shift)? % word_bits));
        if bloom & mask != mask {
            return None;
        }
        let buckets_at = 16 + bloom_words as usize * word_bytes;
        let chains_at = buckets_at + buckets as usize * 4;
        let mut index = self.word(buckets_at + (hash % buckets) as usize * 4)?;
        loop {
            // Bucket 0 is empty; a chain never runs below the first hashed symbol.
            let link = index.checked_sub(first_symbol)?;
            let entry = self.word(chains_at.checked_add((link as usize).checked_mul(4)?)?)?;
            if entry | 1 == hash | 1
                && let Some(symbol) = self.symbol(index)
                && usable(&symbol)
                && text_at(self.names, symbol.st_name) == Some(name.as_bytes())
            {
                return Some(symbol);
            }
            if entry & 1 == 1 {
                return None;
            }
            index = index.checked_add(1)?;
        }
    }

    fn symbol(&self, index: u32) -> Option<Sym> {
        let at = (index as usize).checked_mul(Sym::size(self.ctx.container))?;
        Sym::try_from_ctx(self.symbols.get(at..)?, self.ctx).ok().map(|(sym, _)| sym)
    }
}
