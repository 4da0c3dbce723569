//! The file around the payloads: magic, version, sections with checksums, an end section.
//!
//! ```text
//! file    = prologue section* end
//! prologue= magic[8] major:u16 minor:u16 reserved:u32            (16 bytes)
//! section = tag[4] payload_len:u32 payload_crc:u32 header_crc:u32 (16 bytes) payload
//! end     = section with tag "END\0" whose payload is the number of sections before it, u32
//! ```
//!
//! All integers are little-endian; checksums are CRC-32 (ISO-HDLC, the one of zip and Ethernet). A reader
//! skips tags it does not know, so a minor version may add sections. A damaged payload costs its own section;
//! a damaged section header costs what lies before the next intact one, which the reader finds by its
//! checksum.

use core::fmt;

/// First bytes of every report: they are not text, and both a 7-bit and a line-ending conversion change them
/// detectably.
pub const MAGIC: [u8; 8] = *b"\x89LBX\r\n\x1a\n";
/// Version whose change breaks older readers.
pub const MAJOR: u16 = 1;
/// Version whose change only adds sections.
pub const MINOR: u16 = 0;

const PROLOGUE_LEN: usize = 16;
const SECTION_HEADER_LEN: usize = 16;
const END: Tag = Tag(*b"END\0");
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// CRC-32 as the container uses it.
pub fn crc32(bytes: &[u8]) -> u32 {
    CRC.checksum(bytes)
}

/// The kind of a section: four ASCII bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag(pub [u8; 4]);

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().filter(|b| b.is_ascii_graphic()).try_for_each(|&b| write!(f, "{}", char::from(b)))
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({self})")
    }
}

/// Builds a file in memory, section by section.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
    sections: u32,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// Starts a file of the current version.
    pub fn new() -> Self {
        let mut bytes = Vec::with_capacity(64 << 10);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&MAJOR.to_le_bytes());
        bytes.extend_from_slice(&MINOR.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        Self { bytes, sections: 0 }
    }

    /// Appends a section. A payload of 4 GiB or more cannot be framed and is left out.
    pub fn section(&mut self, tag: Tag, payload: &[u8]) {
        let Ok(len) = u32::try_from(payload.len()) else { return };
        let mut header = [0; SECTION_HEADER_LEN];
        let fields = tag.0.into_iter().chain(len.to_le_bytes()).chain(crc32(payload).to_le_bytes());
        header.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        let (fields, check) = header.split_at_mut(12);
        check.copy_from_slice(&crc32(fields).to_le_bytes());
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(payload);
        self.sections += 1;
    }

    /// Appends the sections of a finished file, except those of some kinds. `None` when the sections do not
    /// follow each other without damage. The checksums of the payloads are not checked.
    pub fn append(mut self, file: &[u8], without: &[Tag]) -> Option<Self> {
        each_section(file, |tag, section| {
            if !without.contains(&tag) {
                self.bytes.extend_from_slice(section);
                self.sections += 1;
            }
        })?;
        Some(self)
    }

    /// Ends the file and returns it.
    pub fn finish(mut self) -> Vec<u8> {
        let sections = self.sections;
        self.section(END, &sections.to_le_bytes());
        self.bytes
    }
}

/// Why a file is not a report at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// It has no bytes.
    #[error("offset 0: the file is empty")]
    Empty,
    /// It does not start with [`MAGIC`].
    #[error("offset 0: not a Loopbox report (it does not begin with the magic 89 4C 42 58 0D 0A 1A 0A)")]
    Magic,
    /// It ends inside the prologue.
    #[error("offset {len}: the file ends inside its 16-byte prologue")]
    Prologue {
        /// Length of the file.
        len: usize,
    },
    /// It was written by a newer major version.
    #[error(
        "offset 8: format version {found} is newer than {MAJOR}, the newest that this program reads; update it"
    )]
    Newer {
        /// The file's major version.
        found: u16,
    },
    /// It has a prologue and not a single intact section.
    #[error("offset 16: no intact section follows the prologue")]
    NoSection,
}

/// A part of a file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where in the file, in bytes from its start.
    pub offset: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {}: {}", self.offset, self.what)
    }
}

/// An intact section of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its kind.
    pub tag: Tag,
    /// Where its payload begins, in bytes from the start of the file.
    pub offset: usize,
    /// Its bytes; the checksum matched.
    pub payload: &'a [u8],
}

/// What a file holds.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// Intact sections, in file order, without the end section.
    pub sections: Vec<Section<'a>>,
    /// What was not intact.
    pub damage: Vec<Damage>,
    /// The tags of the sections among the damage: those that are cut or whose checksum differs.
    pub damaged: Vec<Tag>,
}

struct Header {
    tag: Tag,
    len: usize,
    payload_crc: u32,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn header_at(bytes: &[u8], at: usize) -> Option<Header> {
    let fields = bytes.get(at..at.checked_add(12)?)?;
    let tag = *fields.first_chunk()?;
    // Cheap test first: the search for the next header calls this at every offset.
    let plausible = tag.iter().all(|b| b.is_ascii_uppercase() || *b == 0);
    if !plausible || u32_at(bytes, at + 12)? != crc32(fields) {
        return None;
    }
    Some(Header { tag: Tag(tag), len: u32_at(fields, 4)? as usize, payload_crc: u32_at(fields, 8)? })
}

/// Calls `pass` with the tag and the bytes of each section of a finished file, header included. `None` when
/// the sections do not follow each other without damage.
fn each_section<'a>(file: &'a [u8], mut pass: impl FnMut(Tag, &'a [u8])) -> Option<()> {
    let mut at = PROLOGUE_LEN;
    loop {
        let header = header_at(file, at)?;
        if header.tag == END {
            return Some(());
        }
        let end = at.checked_add(SECTION_HEADER_LEN)?.checked_add(header.len)?;
        pass(header.tag, file.get(at..end)?);
        at = end;
    }
}

/// The payload of the last section of a kind in a finished file. `None` when there is no such section, or
/// when the sections do not follow each other without damage. The checksum of the payload is not checked.
pub fn payload(file: &[u8], wanted: Tag) -> Option<&[u8]> {
    let mut found = None;
    each_section(file, |tag, section| {
        if tag == wanted {
            found = section.get(SECTION_HEADER_LEN..);
        }
    })?;
    found
}

/// Reads the sections of a file, stepping over damage.
pub fn read(bytes: &[u8]) -> Result<Contents<'_>, ContainerError> {
    if bytes.is_empty() {
        return Err(ContainerError::Empty);
    }
    let start = bytes.get(..MAGIC.len().min(bytes.len())).unwrap_or_default();
    if !MAGIC.starts_with(start) {
        return Err(ContainerError::Magic);
    }
    let major = bytes.get(8..).and_then(|b| b.first_chunk().copied()).map(u16::from_le_bytes);
    let (Some(major), true) = (major, bytes.len() >= PROLOGUE_LEN) else {
        return Err(ContainerError::Prologue { len: bytes.len() });
    };
    if major > MAJOR {
        return Err(ContainerError::Newer { found: major });
    }
    let mut contents = Contents::default();
    if major == 0 {
        // No version had that number. Sections have separate checksums, so what follows may be whole.
        contents.damage.push(Damage { offset: 8, what: "format version 0, which never was".into() });
    }
    let mut at = PROLOGUE_LEN;
    let mut ended = None;
    while at < bytes.len() {
        if ended.is_some() {
            contents.damage.push(Damage { offset: at, what: "bytes after the end section".into() });
            break;
        }
        let Some(header) = header_at(bytes, at) else {
            let next = (at + 1..bytes.len()).find(|&to| header_at(bytes, to).is_some());
            let what = match next {
                Some(next) => format!("damaged section header, {} bytes skipped", next - at),
                None => format!("damaged or cut section header, {} bytes lost", bytes.len() - at),
            };
            contents.damage.push(Damage { offset: at, what });
            at = next.unwrap_or(bytes.len());
            continue;
        };
        let offset = at + SECTION_HEADER_LEN;
        let Some(payload) = offset.checked_add(header.len).and_then(|end| bytes.get(offset..end)) else {
            let have = bytes.len().saturating_sub(offset);
            let what = format!("section {} is cut: {have} of {} bytes", header.tag, header.len);
            contents.damage.push(Damage { offset, what });
            contents.damaged.push(header.tag);
            break;
        };
        at = offset + header.len;
        if crc32(payload) != header.payload_crc {
            let what = format!("section {} is damaged (checksum differs)", header.tag);
            contents.damage.push(Damage { offset, what });
            contents.damaged.push(header.tag);
        } else if header.tag == END {
            ended = u32_at(payload, 0);
        } else {
            contents.sections.push(Section { tag: header.tag, offset, payload });
        }
    }
    if ended.is_none() {
        let what = "the end section is missing: the file is incomplete".into();
        contents.damage.push(Damage { offset: bytes.len(), what });
    }
    if contents.sections.is_empty() {
        return Err(ContainerError::NoSection);
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length of the end section's payload, in bytes. A file that lacks only these bytes can still be
    /// continued.
    const END_LEN: usize = 4;
    const A: Tag = Tag(*b"AAAA");
    const B: Tag = Tag(*b"BBBB");

    fn two_sections() -> Vec<u8> {
        let mut w = Writer::new();
        w.section(A, b"first payload");
        w.section(B, b"second");
        w.finish()
    }

    #[test]
    fn reads_back_what_was_written() {
        let bytes = two_sections();
        let c = read(&bytes).unwrap();
        let got: Vec<_> = c.sections.iter().map(|s| (s.tag, s.payload)).collect();
        assert_eq!(got, [(A, &b"first payload"[..]), (B, &b"second"[..])]);
        assert_eq!(c.damage, []);
    }

    #[test]
    fn sections_are_replaced_where_the_writer_wants_them() {
        let whole = two_sections();
        assert_eq!(payload(&whole, A), Some(&b"first payload"[..]));
        assert_eq!(payload(&whole, Tag(*b"CCCC")), None);
        let mut writer = Writer::new();
        writer.section(B, b"other");
        let mut writer = writer.append(&whole, &[A, B]).unwrap();
        writer.section(A, b"another");
        let bytes = writer.finish();
        let c = read(&bytes).unwrap();
        let got: Vec<_> = c.sections.iter().map(|s| (s.tag, s.payload)).collect();
        assert_eq!(got, [(B, &b"other"[..]), (A, &b"another"[..])]);
        assert_eq!(c.damage, []);
        let all = read(&Writer::new().append(&whole, &[]).unwrap().finish()).unwrap().sections.len();
        assert_eq!(all, 2);
        for cut in 0..whole.len() - END_LEN {
            assert!(Writer::new().append(&whole[..cut], &[A]).is_none(), "{cut}");
            assert!(payload(&whole[..cut], A).is_none(), "{cut}");
        }
    }

    #[test]
    fn names_what_is_not_a_report() {
        assert_eq!(read(b"").unwrap_err(), ContainerError::Empty);
        assert_eq!(read(b"PK\x03\x04 a zip file, say").unwrap_err(), ContainerError::Magic);
        assert_eq!(read(&two_sections()[..9]).unwrap_err(), ContainerError::Prologue { len: 9 });
        assert_eq!(read(&two_sections()[..16]).unwrap_err(), ContainerError::NoSection);
        let mut newer = two_sections();
        newer[8] = 9;
        assert_eq!(read(&newer).unwrap_err(), ContainerError::Newer { found: 9 });
        let mut zero = two_sections();
        zero[8] = 0;
        let read = read(&zero).unwrap();
        assert_eq!((read.sections.len(), read.damage.len()), (2, 1));
        assert_eq!(read.damage[0], Damage { offset: 8, what: "format version 0, which never was".into() });
    }

    #[test]
    fn a_damaged_payload_costs_its_section_only() {
        let mut bytes = two_sections();
        bytes[16 + 16 + 3] ^= 1;
        let c = read(&bytes).unwrap();
        assert_eq!(c.sections.len(), 1);
        assert_eq!(c.sections[0].tag, B);
        assert_eq!(c.damage[0].offset, 32);
    }

    #[test]
    fn a_damaged_header_costs_what_lies_before_the_next_one() {
        let mut bytes = two_sections();
        bytes[16] ^= 1;
        let c = read(&bytes).unwrap();
        assert_eq!(c.sections[0].tag, B);
        assert_eq!(
            c.damage[0],
            Damage { offset: 16, what: "damaged section header, 29 bytes skipped".into() }
        );
    }

    proptest! {
        #[test]
        fn no_input_panics_or_yields_a_payload_that_was_not_written(at in 0_usize..80, flip in 1_u8..=255, len in 0_usize..90) {
            let whole = two_sections();
            let mut bytes = whole.clone();
            let at = at % bytes.len();
            bytes[at] ^= flip;
            bytes.truncate(len);
            if let Ok(c) = read(&bytes) {
                for s in c.sections {
                    prop_assert!([&b"first payload"[..], b"second"].contains(&s.payload));
                }
                prop_assert!(bytes == whole || !c.damage.is_empty() || (12..16).contains(&at) || (10..12).contains(&at));
            }
        }
    }
}
