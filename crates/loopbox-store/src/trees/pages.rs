//! Kept trees on pages of equal size.
//!
//! A page holds the number of its tree (from 1), `part << 32 | parts`, and a piece of the packed tree. Pages
//! are written in turn, so that a new tree replaces the oldest ones, page by page.

use crate::slot::words_of;
use crate::sorted;

/// Bytes in front of a page's piece.
pub(crate) const HEADER_LEN: usize = 16;

/// Collects pages into trees, by number of the tree, then by part.
#[derive(Default)]
pub(crate) struct Pages {
    pages: Vec<Page>,
}

struct Page {
    number: u64,
    part: u64,
    /// How many parts the tree has.
    parts: u64,
    /// The page's offset in the file.
    offset: usize,
    piece: Vec<u8>,
}

impl Pages {
    /// Adds the page at `offset`.
    pub(crate) fn add(&mut self, offset: usize, page: &[u8]) {
        let mut header = words_of(page);
        let (Some(number), Some(part), Some(piece)) = (header.next(), header.next(), page.get(HEADER_LEN..))
        else {
            return;
        };
        let (part, parts) = (part >> 32, part & 0xFFFF_FFFF);
        let page = Page { number, part, parts, offset, piece: piece.to_vec() };
        sorted::insert(&mut self.pages, page, |page| (page.number, page.part));
    }

    /// The complete trees, oldest first, each with the offset of its first page.
    pub(crate) fn finish(&self) -> Vec<(usize, Vec<u8>)> {
        self.pages.chunk_by(|a, b| a.number == b.number).filter_map(join).collect()
    }
}

fn join(pages: &[Page]) -> Option<(usize, Vec<u8>)> {
    let of = pages.len() as u64;
    let complete = pages.iter().zip(0..).all(|(page, expected)| page.part == expected && page.parts == of);
    let mut tree = Vec::new();
    pages.iter().for_each(|page| tree.extend_from_slice(&page.piece));
    pages.first().filter(|_| complete).map(|first| (first.offset, tree))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u64, part: u64, parts: u64, piece: &[u8]) -> Vec<u8> {
        [&number.to_le_bytes()[..], &(part << 32 | parts).to_le_bytes(), piece].concat()
    }

    #[test]
    fn only_complete_trees_are_joined() {
        let mut pages = Pages::default();
        // Tree 3 has begun to replace tree 1; tree 2 is whole; tree 4 was being written.
        pages.add(0, &page(3, 0, 1, b"three"));
        pages.add(8, &page(1, 1, 2, b"one"));
        pages.add(16, &page(2, 0, 2, b"tw"));
        pages.add(24, &page(2, 1, 2, b"o"));
        pages.add(32, &page(4, 0, 2, b"fo"));
        pages.add(40, b"short");
        assert_eq!(pages.finish(), [(16, b"two".to_vec()), (0, b"three".to_vec())]);
    }
}
