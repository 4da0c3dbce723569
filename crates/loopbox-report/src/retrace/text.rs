//! The text of a mapping, and the part of it that a report needs.
//!
//! The crate that reads mappings needs 2.6 GB for the index of a whole mapping of 146 MB, and a report names
//! few of its classes. So the text stays as it is. An index has the hash of each class name and the place
//! where the class begins. For a report, only those lines are indexed that are about classes and methods
//! which the report names.

use super::error::{MappingError, MappingMismatch};
use super::names::Names;
use proguard::ProguardRecord;
use std::collections::{BTreeMap, BTreeSet};

/// The largest part of a mapping that may concern a report: many times what a report with thousands of
/// methods needs. Its index takes some 20 times as much memory.
const MAX_SELECTED: usize = 4 << 20;

/// A mapping's text with the places of its classes.
pub(super) struct MappingText {
    bytes: Vec<u8>,
    /// The places sorted by their hashes. `None` where they would take too much memory in addition to the
    /// text; then the text is searched.
    places: Option<Vec<Place>>,
}

/// The place where a line `original -> obfuscated:` begins, and the hash of one of its two names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    hash: u32,
    at: u32,
}

/// The original or the obfuscated name of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Original,
    Obfuscated,
}

impl MappingText {
    pub(super) fn new(bytes: Vec<u8>) -> Result<Self, MappingError> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(MappingError::TooLarge);
        }
        let mut text = Self { bytes, places: None };
        let classes = text.classes().count();
        // A line has ten bytes at least, and most have fifty and a few lines below them.
        if classes * 2 * size_of::<Place>() <= text.bytes.len() * 2 / 5 + (1 << 20) {
            let mut places = Vec::with_capacity(classes * 2);
            for (at, original, obfuscated) in text.classes() {
                for (side, name) in [(Side::Original, original), (Side::Obfuscated, obfuscated)] {
                    places.push(Place { hash: hash(side, name), at });
                }
            }
            places.sort_unstable();
            text.places = Some(places);
        }
        Ok(text)
    }

    /// Drops the places, as if they took too much memory.
    #[cfg(test)]
    pub(super) fn forget_places(&mut self) {
        self.places = None;
    }

    /// The classes of the mapping: the place where each begins, its original and its obfuscated name.
    fn classes(&self) -> impl Iterator<Item = (u32, &str, &str)> {
        lines(&self.bytes).filter_map(|(at, line)| {
            let (original, obfuscated) = class_of(line)?;
            Some((at as u32, original, obfuscated))
        })
    }

    /// The places where classes with these names begin.
    fn find<'n>(&self, side: Side, names: impl Iterator<Item = &'n str>) -> BTreeSet<u32> {
        let is_called = |at: u32, name: &str| {
            let class = self.bytes.get(at as usize..).and_then(|rest| class_of(lines(rest).next()?.1));
            class.is_some_and(|(original, obfuscated)| match side {
                Side::Original => original == name,
                Side::Obfuscated => obfuscated == name,
            })
        };
        let Some(places) = &self.places else {
            let names: BTreeSet<&str> = names.collect();
            let found = self.classes().filter(|(_, original, obfuscated)| {
                names.contains(if side == Side::Original { original } else { obfuscated })
            });
            return found.map(|(at, ..)| at).collect();
        };
        names
            .flat_map(|name| {
                let hash = hash(side, name);
                let first = places.partition_point(|place| place.hash < hash);
                let same = places[first..].iter().take_while(move |place| place.hash == hash);
                same.map(|place| place.at).filter(move |&at| is_called(at, name))
            })
            .collect()
    }

    /// The part of the mapping that is about these names. It is a valid mapping.
    ///
    /// # Errors
    /// When that part is larger than it can be for a real report.
    pub(super) fn about(&self, names: &Names) -> Result<Vec<u8>, MappingMismatch> {
        let own = self.find(Side::Obfuscated, names.classes());
        // Which methods of the source that leads to, by their classes: also of other classes, which they were
        // inlined from. Their own lines say the source file, and what a compiler has made.
        let mut found = BTreeMap::<&str, BTreeSet<&str>>::new();
        let mut read = Vec::new();
        for &at in &own {
            let Some((class, body)) = self.class_at(at) else { continue };
            for line in body {
                if let Some(Method { name, original, of }) = Method::read(line)
                    && names.has(class.obfuscated, name)
                    && found.entry(of.unwrap_or(class.original)).or_default().insert(original)
                {
                    // Counted, not kept: it is written below.
                    read.resize(read.len() + line.len(), 0);
                    ensure_small(&read)?;
                }
            }
        }
        drop(read);
        let others = self.find(Side::Original, found.keys().copied());
        let mut out = Vec::new();
        for &at in own.union(&others) {
            let Some((class, body)) = self.class_at(at) else { continue };
            write_line(&mut out, class.line)?;
            let found = found.get(class.original);
            let mut is_kept = true;
            for line in body {
                // What follows a line in comments is about it.
                if !is_comment(line) {
                    is_kept = Method::read(line).is_some_and(|method| {
                        let is_own = method.of.is_none_or(|other| other == class.original);
                        own.contains(&at) && names.has(class.obfuscated, method.name)
                            || is_own && found.is_some_and(|methods| methods.contains(method.original))
                    });
                }
                if is_kept {
                    write_line(&mut out, line)?;
                }
            }
        }
        Ok(out)
    }

    /// The class that begins at this place, and the other lines of the class; `None` when no class begins
    /// there.
    fn class_at(&self, at: u32) -> Option<(Class<'_>, impl Iterator<Item = &[u8]>)> {
        let mut lines = lines(self.bytes.get(at as usize..)?).map(|(_, line)| line);
        let line = lines.next()?;
        let (original, obfuscated) = class_of(line)?;
        let body = lines.take_while(|line| class_of(line).is_none());
        Some((Class { line, original, obfuscated }, body))
    }
}

/// A line `original -> obfuscated:`.
struct Class<'t> {
    line: &'t [u8],
    original: &'t str,
    obfuscated: &'t str,
}

/// A line of a class about a method.
struct Method<'t> {
    /// The method's name in the report.
    name: &'t str,
    original: &'t str,
    /// The class that the method was inlined from, where the mapping names it.
    of: Option<&'t str>,
}

impl<'t> Method<'t> {
    fn read(line: &'t [u8]) -> Option<Self> {
        match ProguardRecord::try_parse(line).ok()? {
            ProguardRecord::Method { original, obfuscated, original_class, .. } => {
                Some(Self { name: obfuscated, original, of: original_class })
            }
            _ => None,
        }
    }
}

fn write_line(out: &mut Vec<u8>, line: &[u8]) -> Result<(), MappingMismatch> {
    out.extend_from_slice(line);
    out.push(b'\n');
    ensure_small(out)
}

fn ensure_small(selected: &[u8]) -> Result<(), MappingMismatch> {
    let is_small = selected.len() <= MAX_SELECTED;
    is_small.then_some(()).ok_or(MappingMismatch::TooMuch { max_mib: MAX_SELECTED >> 20 })
}

/// The lines of a text, each with the place where it begins and without its line break.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let len = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let line = (at, &rest[..len]);
        at += len + 1;
        Some(line)
    })
}

fn is_comment(line: &[u8]) -> bool {
    line.trim_ascii_start().first().is_none_or(|first| *first == b'#')
}

/// The two names in the line of a class.
fn class_of(line: &[u8]) -> Option<(&str, &str)> {
    if matches!(line.first(), None | Some(b' ' | b'\t' | b'#')) {
        return None;
    }
    match ProguardRecord::try_parse(line).ok()? {
        ProguardRecord::Class { original, obfuscated } => Some((original, obfuscated)),
        _ => None,
    }
}

/// The FNV-1a hash of a name. Each side has another start value.
fn hash(side: Side, name: &str) -> u32 {
    let begin = if side == Side::Original { 0x811C_9DC5 } else { 0x1234_5678 };
    name.bytes().fold(begin, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
