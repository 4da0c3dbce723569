//! Marks members of a dex file as hidden API, as AOSP's `hiddenapi` tool does for a device's boot class path.
//!
//! D8 writes no such marks, so everything is accessible on a testbed. ART 10 and later enforce the marks
//! under `-Xhidden-api-policy:enabled` when a dex file has the section of map item `0xF000`
//! (art/libdexfile/dex/dex_file.h, `HiddenapiClassData`, dex format notes "hiddenapi_class_data_item").
//! Layout: `u4 size`, then one `u4` offset per class (0: no data), then for each class one ULEB128 flag per
//! static field, instance field, direct method and virtual method, in the order of its class data.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use sha1::{Digest as _, Sha1};

const MAP_OFFSET: usize = 0x34;
const HEADER_SIZE: usize = 0x70;
const TYPE_MAP_LIST: u16 = 0x1000;
const TYPE_HIDDEN_API: u16 = 0xF000;
/// The access flag of a public member; `PROTECTED` is that of a protected one.
const PUBLIC: u32 = 1;
const PROTECTED: u32 = 4;

/// From which apps a member is hidden (art/libartbase/base/hiddenapi_flags.h). An unmarked member is public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restriction {
    /// Blocked for no app, although it is not public ("grey list").
    Unsupported,
    /// Blocked for apps of every target level ("black list").
    Blocked,
    /// Blocked for apps whose target level is above this one, which is 26 or more.
    MaxTarget(u32),
}

impl Restriction {
    fn flag(self) -> u8 {
        match self {
            Self::Unsupported => 1,
            Self::Blocked => 2,
            Self::MaxTarget(..28) => 3,
            Self::MaxTarget(level @ 28..32) => (level - 24) as u8,
            // 32 has no separate value.
            Self::MaxTarget(level) => (level.max(33) - 25) as u8,
        }
    }
}

/// Which members are hidden, and from which apps.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    /// The hidden members by name: `Lpkg/Class;->name`, fields and methods without their types.
    listed: BTreeMap<String, Restriction>,
    /// The members that have to be in the file.
    required: Vec<String>,
    /// The classes, as `Lpkg/Class;`, of which every member is blocked unless it is public, protected or
    /// listed.
    listed_in_full: BTreeSet<String>,
}

impl Rule {
    /// Members that are blocked and have to be in the file.
    pub(crate) fn blocked(members: &[String]) -> Self {
        let listed = members.iter().map(|member| (member.clone(), Restriction::Blocked)).collect();
        Self { listed, required: members.to_vec(), listed_in_full: BTreeSet::new() }
    }

    /// The rule for the classes of an API level.
    ///
    /// `blocked` names public members that apps may not use. `lists` name hidden members that apps may use. A
    /// line of a list can have a `maxTargetSdk`. If it is 0, the member is blocked for all apps. Otherwise,
    /// only apps whose target level is at most `maxTargetSdk` may use the member.
    ///
    /// `known` is the newest `maxTargetSdk` that the runtime knows, and `target` is the target level of the
    /// apps. A member with a `maxTargetSdk` above `known` cannot be marked with it. Such a member is marked
    /// as blocked if `target` is above its `maxTargetSdk`, else as not blocked.
    pub(crate) fn of_level(blocked: &[String], lists: &[String], known: u32, target: u32) -> Self {
        let mut rule = Self::blocked(blocked);
        // Older levels have not all of them.
        rule.required.clear();
        for line in lists.iter().flat_map(|list| list.lines()).filter(|line| line.starts_with('L')) {
            let Some((member, properties)) = line.rsplit_once(',') else { continue };
            let Some((class, signature)) = member.split_once("->") else { continue };
            let name = signature.split(['(', ':']).next().unwrap_or(signature);
            let level = properties.split('&').find_map(|property| property.strip_prefix("maxTargetSdk="));
            let restriction = match level.and_then(|level| level.parse().ok()) {
                Some(0) => Restriction::Blocked,
                Some(level) if level <= known => Restriction::MaxTarget(level),
                Some(level) if level < target => Restriction::Blocked,
                _ => Restriction::Unsupported,
            };
            rule.listed.insert(format!("{class}->{name}"), restriction);
            rule.listed_in_full.insert(class.to_owned());
        }
        rule
    }

    fn flag(&self, member: &str, access: u32) -> u8 {
        if let Some(restriction) = self.listed.get(member) {
            return restriction.flag();
        }
        let class = member.split("->").next().unwrap_or(member);
        let is_hidden = access & (PUBLIC | PROTECTED) == 0 && self.listed_in_full.contains(class);
        if is_hidden { Restriction::Blocked.flag() } else { 0 }
    }
}

/// Returns the dex file with the hidden-API section added, and with its size, checksum and signature
/// corrected. In `rule` a member is written as `Lpkg/Class;->name`, fields and methods without their types.
/// Its required members must be in the file. Refuses a file that has the section already, or whose map is not
/// its last item (D8 writes it last).
pub(crate) fn mark(dex: &[u8], rule: &Rule) -> Result<Vec<u8>> {
    let reader = Dex { bytes: dex };
    ensure!(dex.starts_with(b"dex\n"), "not a dex file");
    let map_offset = reader.u32(MAP_OFFSET)? as usize;
    let map = reader.map(map_offset)?;
    ensure!(map_offset + 4 + 12 * map.len() == dex.len(), "the map is not the last item of the dex file");
    ensure!(map.iter().all(|item| item.kind != TYPE_HIDDEN_API), "the dex file is marked already");

    let section = section(&reader, rule)?;
    let mut out = dex.get(..map_offset).context("the map is outside of the file")?.to_vec();
    let section_offset = out.len();
    ensure!(section_offset.is_multiple_of(4), "the map is not aligned");
    out.extend_from_slice(&section);
    out.resize(out.len().next_multiple_of(4), 0);
    let new_map_offset = out.len();

    let mut items: Vec<MapItem> = map;
    for item in &mut items {
        if item.kind == TYPE_MAP_LIST {
            item.offset = new_map_offset as u32;
        }
    }
    items.push(MapItem { kind: TYPE_HIDDEN_API, count: 1, offset: section_offset as u32 });
    items.sort_by_key(|item| item.offset);
    out.extend_from_slice(&(items.len() as u32).to_le_bytes());
    for item in &items {
        out.extend_from_slice(&item.kind.to_le_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&item.count.to_le_bytes());
        out.extend_from_slice(&item.offset.to_le_bytes());
    }
    let data_offset = reader.u32(0x6C)?;
    let length = out.len() as u32;
    put(&mut out, MAP_OFFSET, new_map_offset as u32)?;
    put(&mut out, 0x20, length)?;
    put(&mut out, 0x68, length - data_offset)?;
    seal(&mut out)?;
    Ok(out)
}

/// The section: flags for all members of all classes.
fn section(dex: &Dex<'_>, rule: &Rule) -> Result<Vec<u8>> {
    let classes = dex.u32(0x60)? as usize;
    let definitions = dex.u32(0x64)? as usize;
    let head = 4 + 4 * classes;
    let mut offsets = Vec::with_capacity(classes);
    let mut flags = Vec::new();
    let mut missing: BTreeSet<&String> = rule.required.iter().collect();
    for class in 0..classes {
        let mut at = dex.u32(definitions + 32 * class + 24)? as usize;
        if at == 0 {
            offsets.push(0);
            continue;
        }
        offsets.push((head + flags.len()) as u32);
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = dex.uleb128(&mut at)?;
        }
        for (kind, count) in counts.into_iter().enumerate() {
            let is_field = kind < 2;
            let mut index = 0;
            for _ in 0..count {
                index += dex.uleb128(&mut at)?;
                let access = dex.uleb128(&mut at)?;
                if !is_field {
                    dex.uleb128(&mut at)?; // its code
                }
                let name = dex.member(is_field, index as usize)?;
                missing.remove(&name);
                flags.push(rule.flag(&name, access));
            }
        }
    }
    if let Some(member) = missing.first() {
        anyhow::bail!("the dex file has no member {member}");
    }
    let mut section = ((head + flags.len()) as u32).to_le_bytes().to_vec();
    section.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    section.extend(flags);
    Ok(section)
}

/// Corrects signature and checksum of the header.
fn seal(dex: &mut [u8]) -> Result<()> {
    let signature = Sha1::digest(dex.get(32..).context("no dex header")?);
    dex.get_mut(12..32).context("no dex header")?.copy_from_slice(&signature);
    let checksum = adler32(dex.get(12..).context("no dex header")?);
    put(dex, 8, checksum)
}

fn put(dex: &mut [u8], at: usize, value: u32) -> Result<()> {
    dex.get_mut(at..at + 4).context("no dex header")?.copy_from_slice(&value.to_le_bytes());
    Ok(())
}

/// Adler-32 (RFC 1950, section 8.2).
fn adler32(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1_u32, 0_u32);
    for chunk in bytes.chunks(5552) {
        for &byte in chunk {
            a += u32::from(byte);
            b += a;
        }
        a %= 65_521;
        b %= 65_521;
    }
    b << 16 | a
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MapItem {
    kind: u16,
    count: u32,
    offset: u32,
}

/// Reads the parts of a dex file that are needed here; an offset outside the file is an error.
struct Dex<'a> {
    bytes: &'a [u8],
}

impl Dex<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let slice = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
        slice.copied().with_context(|| format!("the dex file ends before offset {at:#x}"))
    }

    fn u16(&self, at: usize) -> Result<u16> {
        Ok(u16::from_le_bytes(self.bytes(at)?))
    }

    fn u32(&self, at: usize) -> Result<u32> {
        Ok(u32::from_le_bytes(self.bytes(at)?))
    }

    fn uleb128(&self, at: &mut usize) -> Result<u32> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let [byte] = self.bytes(*at)?;
            *at += 1;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        anyhow::bail!("a number at {at:#x} of the dex file is too long")
    }

    fn map(&self, at: usize) -> Result<Vec<MapItem>> {
        ensure!(at >= HEADER_SIZE, "the dex file has no map");
        let count = self.u32(at)? as usize;
        ensure!(count <= self.bytes.len() / 12, "the map is longer than the file");
        (0..count)
            .map(|i| {
                let at = at + 4 + 12 * i;
                Ok(MapItem { kind: self.u16(at)?, count: self.u32(at + 4)?, offset: self.u32(at + 8)? })
            })
            .collect()
    }

    fn string(&self, index: u32) -> Result<String> {
        let mut at = self.u32(self.u32(0x3C)? as usize + 4 * index as usize)? as usize;
        self.uleb128(&mut at)?; // length in UTF-16 units
        let rest = self.bytes.get(at..).context("a string is outside of the dex file")?;
        let text = rest.split(|byte| *byte == 0).next().unwrap_or(rest);
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// `Lpkg/Class;->name` of a field or method.
    fn member(&self, is_field: bool, index: usize) -> Result<String> {
        let table = self.u32(if is_field { 0x54 } else { 0x5C })? as usize + 8 * index;
        let class = self.u32(self.u32(0x44)? as usize + 4 * self.u16(table)? as usize)?;
        Ok(format!("{}->{}", self.string(class)?, self.string(self.u32(table + 4)?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dex file of one class `LA;` with a static field `f`, a direct method `<m>` and a virtual method `v`,
    /// and of a class `LB;` without members; written by hand after the dex format notes.
    fn sample() -> Vec<u8> {
        let strings = ["LA;", "LB;", "f", "m", "v"];
        let mut dex = vec![0; HEADER_SIZE];
        dex[..8].copy_from_slice(b"dex\n035\0");
        let table = |dex: &mut Vec<u8>, header: usize, count: u32, words: &[u32]| {
            let at = dex.len() as u32;
            put(dex, header, count).unwrap();
            put(dex, header + 4, at).unwrap();
            dex.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        };
        table(&mut dex, 0x38, 5, &[0; 5]); // string ids, filled below
        table(&mut dex, 0x40, 2, &[0, 1]); // types LA; and LB;
        table(&mut dex, 0x50, 1, &[0, 2]); // field LA;->f
        table(&mut dex, 0x58, 2, &[0, 3, 0, 4]); // methods LA;->m and LA;->v
        let mut classes = [0; 16];
        classes[8] = 1; // the second class is LB;
        table(&mut dex, 0x60, 2, &classes);
        let definitions = dex.len() - 64;
        put(&mut dex, 0x6C, definitions as u32 + 64).unwrap(); // data offset
        for (i, string) in strings.into_iter().enumerate() {
            let at = dex.len() as u32;
            put(&mut dex, HEADER_SIZE + 4 * i, at).unwrap();
            dex.push(string.len() as u8);
            dex.extend(string.bytes().chain([0]));
        }
        let data = dex.len() as u32;
        put(&mut dex, definitions + 24, data).unwrap();
        // One static field, no instance field, one direct and one virtual method; indices are differences
        // within each of the four lists.
        dex.extend([1, 0, 1, 1, /* f */ 0, 9, /* m */ 0, 1, 0x80, 0x01, /* v */ 1, 1, 0]);
        dex.resize(dex.len().next_multiple_of(4), 0);
        let map = dex.len() as u32;
        put(&mut dex, MAP_OFFSET, map).unwrap();
        for word in [2, 0, 1, 0, u32::from(TYPE_MAP_LIST), 1, map] {
            dex.extend(word.to_le_bytes());
        }
        let (length, start) = (dex.len() as u32, definitions as u32 + 64);
        put(&mut dex, 0x20, length).unwrap();
        put(&mut dex, 0x68, length - start).unwrap();
        dex
    }

    fn blocked(names: &[&str]) -> Rule {
        Rule::blocked(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_levels_list_says_how_far_a_member_is_hidden() {
        let list = "signature,properties\nLA;->f:I,\nLA;->g(I)V,maxTargetSdk=28&trackingBug=1L\n\
            LA;->h()V,maxTargetSdk=36&publicAlternatives=%22To+use%22\nLA;->b()V,maxTargetSdk=0\n";
        let rule = Rule::of_level(&["LA;->public".into()], &[list.into()], 29, 36);
        let newer = Rule::of_level(&[], &[list.into()], 29, 37);
        assert_eq!(newer.flag("LA;->h", 0), 2);
        let flag = |member: &str, access| rule.flag(member, access);
        assert_eq!([flag("LA;->f", 2), flag("LA;->g", 2), flag("LA;->h", 0)], [1, 4, 1]);
        assert_eq!([flag("LA;->b", 2), flag("LA;->public", PUBLIC)], [2, 2]);
        // Not listed: blocked unless apps can see it, in a class with a list.
        assert_eq!([flag("LA;->x", 2), flag("LA;->x", PUBLIC), flag("LB;->x", 2)], [2, 0, 0]);
        let levels = [26, 28, 29, 30, 31, 32, 33, 36];
        assert_eq!(levels.map(|level| Restriction::MaxTarget(level).flag()), [3, 4, 5, 6, 7, 8, 8, 11]);
    }

    #[test]
    fn the_section_flags_exactly_the_members() {
        let dex = sample();
        let marked = mark(&dex, &blocked(&["LA;->f", "LA;->v"])).unwrap();
        let reader = Dex { bytes: &marked };
        let map = reader.map(reader.u32(MAP_OFFSET).unwrap() as usize).unwrap();
        let item = map.iter().find(|item| item.kind == TYPE_HIDDEN_API).unwrap();
        let at = item.offset as usize;
        // Size; offset of LA;'s flags; LB; has none; flags of f, m, v.
        assert_eq!(marked[at..at + 4], 15_u32.to_le_bytes());
        assert_eq!(marked[at + 4..at + 8], 12_u32.to_le_bytes());
        assert_eq!(marked[at + 8..at + 12], [0; 4]);
        assert_eq!(marked[at + 12..at + 15], [2, 0, 2]);
        assert!(map.is_sorted_by_key(|item| item.offset));
        let list = map.iter().find(|item| item.kind == TYPE_MAP_LIST).unwrap();
        assert_eq!(list.offset, reader.u32(MAP_OFFSET).unwrap());
    }

    #[test]
    fn sizes_signature_and_checksum_are_those_of_the_new_file() {
        let marked = mark(&sample(), &blocked(&["LA;->m"])).unwrap();
        let reader = Dex { bytes: &marked };
        assert_eq!(reader.u32(0x20).unwrap() as usize, marked.len());
        assert_eq!((reader.u32(0x68).unwrap() + reader.u32(0x6C).unwrap()) as usize, marked.len());
        assert_eq!(marked[12..32], Sha1::digest(&marked[32..])[..]);
        assert_eq!(reader.u32(8).unwrap(), adler32(&marked[12..]));
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn a_member_that_is_not_there_and_a_marked_file_are_refused() {
        let dex = sample();
        let refuse = |dex: &[u8], names: &[&str]| mark(dex, &blocked(names)).unwrap_err().to_string();
        assert!(refuse(&dex, &["LA;->gone"]).contains("LA;->gone"));
        let marked = mark(&dex, &blocked(&["LA;->f"])).unwrap();
        assert!(refuse(&marked, &["LA;->f"]).contains("already"));
        let mut longer = dex.clone();
        longer.push(0);
        assert!(refuse(&longer, &["LA;->f"]).contains("last"));
        assert!(refuse(b"PK\x03\x04", &[]).len() > 5);
    }

    #[test]
    fn a_damaged_file_is_an_error_wherever_it_is_cut() {
        let dex = sample();
        for length in 0..dex.len() {
            assert!(mark(&dex[..length], &blocked(&["LA;->f"])).is_err(), "{length}");
        }
    }
}
