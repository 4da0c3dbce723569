//! Android's system properties as a file: each bionic since 5.0 accepts a plain file as
//! `/dev/__properties__`.
//!
//! The format is that of `bionic/libc/system_properties` (`prop_area`, `prop_bt`, `prop_info`): a tree of the
//! parts of names between dots. The children of each node form a binary tree, ordered by length and then by
//! bytes.

use std::cmp::Ordering;

/// Size of the area, without its header.
const ROOM: usize = (128 << 10) - HEADER;
const HEADER: usize = 128;
const MAGIC: u32 = 0x504f_5250;
const VERSION: u32 = 0xfc6e_d0ab;
/// Maximum size of a value, including its zero byte.
const MAX_VALUE: usize = 92;

/// The positions of a node's fields, in words. `NODE` is the size of all fields in bytes; the node's name
/// follows them.
const PROPERTY: usize = 1;
const LEFT: usize = 2;
const RIGHT: usize = 3;
const CHILDREN: usize = 4;
const NODE: usize = 20;

/// An area with these properties. Values are shorter than 92 bytes.
pub(crate) fn area(properties: &[(&str, &str)]) -> Vec<u8> {
    let mut area = Area { data: vec![0; ROOM], used: 0 };
    area.node("");
    for (name, value) in properties {
        let at = name.split('.').fold(0, |parent, part| area.child(parent, part));
        let value = value.as_bytes().get(..value.len().min(MAX_VALUE - 1)).unwrap_or_default();
        let property = area.take(4 + MAX_VALUE + name.len() + 1);
        area.set(property, 0, (value.len() as u32) << 24);
        area.copy(property + 4, value);
        area.copy(property + 4 + MAX_VALUE, name.as_bytes());
        area.set(at, PROPERTY, property as u32);
    }
    let mut bytes: Vec<u8> =
        [area.used as u32, 0, MAGIC, VERSION].into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.resize(HEADER, 0);
    bytes.extend(area.data);
    bytes
}

struct Area {
    data: Vec<u8>,
    used: usize,
}

impl Area {
    fn take(&mut self, bytes: usize) -> usize {
        let at = self.used;
        self.used += bytes.next_multiple_of(4);
        at
    }

    fn node(&mut self, name: &str) -> usize {
        let at = self.take(NODE + name.len() + 1);
        self.set(at, 0, name.len() as u32);
        self.copy(at + NODE, name.as_bytes());
        at
    }

    /// The child with this name, made if missing.
    fn child(&mut self, parent: usize, name: &str) -> usize {
        let (mut from, mut link) = (parent, CHILDREN);
        loop {
            let at = self.word(from, link) as usize;
            if at == 0 {
                let made = self.node(name);
                self.set(from, link, made as u32);
                return made;
            }
            let there = self.name(at);
            link = match (name.len(), name.as_bytes()).cmp(&(there.len(), there)) {
                Ordering::Equal => return at,
                Ordering::Less => LEFT,
                Ordering::Greater => RIGHT,
            };
            from = at;
        }
    }

    fn name(&self, at: usize) -> &[u8] {
        let length = self.word(at, 0) as usize;
        self.data.get(at + NODE..at + NODE + length).unwrap_or_default()
    }

    fn word(&self, at: usize, word: usize) -> u32 {
        let bytes = self.data.get(at + 4 * word..).and_then(|from| from.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn set(&mut self, at: usize, word: usize, value: u32) {
        self.copy(at + 4 * word, &value.to_le_bytes());
    }

    fn copy(&mut self, at: usize, bytes: &[u8]) {
        self.data[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_is_what_bionic_reads() {
        let area = area(&[("ro.b", "value"), ("ro.a", "x"), ("sys.long", "y"), ("ro.c", "z")]);
        assert_eq!(area.len(), 128 << 10);
        assert_eq!(area[8..16], [0x50, 0x52, 0x4f, 0x50, 0xab, 0xd0, 0x6e, 0xfc]);
        let data = Area { data: area[HEADER..].to_vec(), used: 0 };
        // As `__system_property_find` walks it.
        let find = |name: &str| {
            let mut at = 0;
            for part in name.split('.') {
                at = data.word(at, CHILDREN) as usize;
                while data.name(at) != part.as_bytes() {
                    let less = (part.len(), part.as_bytes()) < (data.name(at).len(), data.name(at));
                    at = data.word(at, if less { LEFT } else { RIGHT }) as usize;
                    assert_ne!(at, 0, "{name}");
                }
            }
            let property = data.word(at, PROPERTY) as usize;
            let length = (data.word(property, 0) >> 24) as usize;
            String::from_utf8(data.data[property + 4..property + 4 + length].to_vec()).unwrap()
        };
        assert_eq!(["ro.a", "ro.b", "ro.c", "sys.long"].map(find), ["x", "value", "z", "y"]);
    }
}
