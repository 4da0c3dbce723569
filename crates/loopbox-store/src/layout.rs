//! The layout of a ring file: the header, the marks, and the table of regions.
//!
//! A region is a number of equal slots that one thread writes. The table is in the file, so a reader can read
//! a ring of another geometry, and skips regions that it does not know.

use crate::identity::{BuildId, Identity};
use crate::slot::HEADER_LEN as SLOT_HEADER_LEN;
use loopbox_format::container::crc32;
use loopbox_format::model::{ClockPair, Uptime};

/// First bytes of a ring file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89LBR\r\n\x1a\n";
/// The major version. Older readers cannot read a file with a higher one.
pub(crate) const MAJOR: u16 = 1;
/// The minor version. A higher one only adds regions.
pub(crate) const MINOR: u16 = 0;
/// Size of the header in bytes, including its checksum.
pub(crate) const HEADER_LEN: usize = 1024;
/// Offset of the sampler's fuse, the first of the marks: words that are stored one by one, each in a separate
/// cache line.
pub(crate) const FUSE_AT: usize = 1024;
/// Offset of the mark with the last sign of life.
pub(crate) const HEARTBEAT_AT: usize = 1088;
/// Offset of the mark that a crash handler writes.
pub(crate) const CRASH_AT: usize = 1152;
/// Offset of the mark that turns uptime into wall-clock time.
pub(crate) const CLOCK_AT: usize = 1216;
/// Offset of the mark with the interruption of the running message: how long the process was frozen, and
/// whether a debugger was attached.
pub(crate) const INTERRUPTED_AT: usize = 1280;
/// Where the first region begins.
pub(crate) const REGIONS_AT: usize = 4096;

const ENDIAN_MARK: u32 = 0x0102_0304;
const WORD_LEN: u32 = 8;
const CRC_AT: usize = HEADER_LEN - 4;
const TABLE_AT: usize = 176;
const TABLE_ENTRY_LEN: usize = 16;
const MAX_REGIONS: usize = 32;
const MAX_SLOTS: usize = 4096;
/// The largest ring, in bytes. No more of a file is read than this. The most that an app may choose, 500
/// records and display frames, take 1,051,520.
pub const MAX_RING_BYTES: usize = 1088 << 10;

/// The maximum size of a ring in bytes; readers read no more than this from a file. The largest ring that an
/// app can configure, with 500 records and display frames, has 1,051,520 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// What a region holds. The numbers are part of the file format.
    Current = 1,
    /// The counters of the open group.
    Open = 2,
    /// The messages that the open group keeps by name.
    OpenDetails = 3,
    /// Closed records.
    Records = 4,
    /// Name and CPU time of the running message.
    Running = 5,
    /// The stacks of the running message.
    RunningTree = 6,
    /// Pages of the stack trees of earlier long messages.
    TreePages = 7,
    /// Who recorded, under which limits.
    Meta = 8,
    /// Which features are on.
    Features = 9,
    /// The message queue as last captured.
    Pending = 10,
    /// Statistics of process and machine.
    Statistics = 11,
    /// What the main thread does outside of messages.
    Outside = 12,
    /// Display frames; missing in a ring of an app that does not record them.
    Frames = 13,
    /// The system's warnings of an ANR.
    Warnings = 14,
    /// The breadcrumbs that the app recorded.
    Breadcrumbs = 15,
}

impl Kind {
    const ALL: [Self; 15] = [
        Self::Current,
        Self::Open,
        Self::OpenDetails,
        Self::Records,
        Self::Running,
        Self::RunningTree,
        Self::TreePages,
        Self::Meta,
        Self::Features,
        Self::Pending,
        Self::Statistics,
        Self::Outside,
        Self::Warnings,
        Self::Breadcrumbs,
        Self::Frames,
    ];
}

/// The number and size of the slots. Sizes include the slot's header of 24 bytes and are multiples of 8.
///
/// A state that changes in place has two slots that are written alternately: a process that dies during a
/// write leaves the previous state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// How many closed records are kept. The article by Qimao says 100.
    pub records: u32,
    /// Bytes of a record's slot, and of the open group's details.
    pub record_len: u32,
    /// The number of pages for the stack trees of finished messages. A tree takes as many pages as it needs,
    /// up to a quarter of all, and replaces the oldest trees.
    pub tree_pages: u32,
    /// Size of such a page in bytes.
    pub tree_page_len: u32,
    /// Bytes of each of the two slots for the running message's tree.
    pub running_tree_len: u32,
    /// Bytes of the slot for the pending queue.
    pub pending_len: u32,
    /// Size in bytes of each of the two slots for display frames: 0 for none, [`Geometry::FRAMES_LEN`] for
    /// all that a recorder keeps.
    pub frames_len: u32,
}

impl Geometry {
    /// Room for 18 screens, 16 gestures, 32 jank frames, the newest 128 frames, and the newest 32 frames with
    /// their stages.
    pub const FRAMES_LEN: u32 = 24 << 10;
}

impl Default for Geometry {
    fn default() -> Self {
        Self {
            records: 100,
            record_len: 1536,
            tree_pages: 72,
            tree_page_len: 2048,
            running_tree_len: 24 << 10,
            pending_len: 8 << 10,
            frames_len: 0,
        }
    }
}

/// Why a geometry is impossible, or a header cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The file has no bytes.
    #[error("offset 0: the file is empty")]
    Empty,
    /// The file does not begin with the magic bytes of a ring.
    #[error("offset 0: not a Loopbox ring (it does not begin with the magic 89 4C 42 52 0D 0A 1A 0A)")]
    Magic,
    /// The file ends before its header does.
    #[error("offset {len}: the file ends inside its header")]
    Short {
        /// Length of the file.
        len: usize,
    },
    /// The file was written by a newer major version.
    #[error("offset 8: ring version {found} is newer than {MAJOR}, the newest that this program reads")]
    Newer {
        /// The file's major version.
        found: u16,
    },
    /// The file was written by a machine with another byte order or word size.
    #[error("offset 16: the ring was written with another byte order or word size")]
    Machine,
    /// The header's checksum differs.
    #[error("offset 1020: the header is damaged (checksum differs)")]
    Checksum,
    /// The table of regions contradicts itself or the bounds.
    #[error("offset {TABLE_AT}: the region table is not possible")]
    Table,
}

/// A region's place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) kind: u32,
    pub(crate) slots: usize,
    pub(crate) slot_len: usize,
    pub(crate) offset: usize,
}

impl Region {
    /// Where slot `index` begins, in bytes from the start of the file.
    pub(crate) fn slot_at(&self, index: usize) -> usize {
        self.offset + index * self.slot_len
    }

    /// Payload bytes of a slot.
    pub(crate) fn capacity(&self) -> usize {
        self.slot_len - SLOT_HEADER_LEN
    }
}

/// The regions of a ring, in order of their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    regions: Vec<Region>,
    pub(crate) len: usize,
}

impl Layout {
    /// The layout of a ring with this geometry; [`LayoutError::Table`] when the geometry is impossible.
    pub(crate) fn of(geometry: &Geometry) -> Result<Self, LayoutError> {
        // Bounded before anything is multiplied with it.
        let Geometry {
            records,
            record_len,
            tree_pages,
            tree_page_len,
            running_tree_len,
            pending_len,
            frames_len,
        } = *geometry;
        let counts = [records, tree_pages].map(|count| count as usize <= MAX_SLOTS);
        let lens = [record_len, tree_page_len, running_tree_len, pending_len, frames_len]
            .map(|len| len as usize <= MAX_RING_BYTES / 2);
        if counts.contains(&false) || lens.contains(&false) {
            return Err(LayoutError::Table);
        }
        let layout = Self::unchecked(geometry);
        layout.check(layout.len).then_some(layout).ok_or(LayoutError::Table)
    }

    /// The layout of the default geometry. It is not checked here, because a test checks that this geometry
    /// is possible.
    pub(crate) fn default_geometry() -> Self {
        Self::unchecked(&Geometry::default())
    }

    fn unchecked(geometry: &Geometry) -> Self {
        let slots = |kind| match kind {
            // State that changes in place: two slots in turn.
            Kind::Current | Kind::Outside => (2, 128),
            Kind::Open => (2, 192),
            Kind::Warnings => (2, 256),
            // 64 names of 40 letters.
            Kind::Breadcrumbs => (2, 3584),
            Kind::OpenDetails => (2, geometry.record_len),
            Kind::Records => (geometry.records, geometry.record_len),
            Kind::Running => (2, 768),
            Kind::RunningTree => (2, geometry.running_tree_len),
            Kind::TreePages => (geometry.tree_pages, geometry.tree_page_len),
            Kind::Meta | Kind::Features => (2, 2048),
            // Written once, when something is wrong already.
            Kind::Pending => (1, geometry.pending_len),
            Kind::Statistics => (1, 4096),
            Kind::Frames => (2, geometry.frames_len),
        };
        let mut regions = Vec::with_capacity(Kind::ALL.len());
        let mut at = REGIONS_AT;
        let none = |kind: &Kind| *kind == Kind::Frames && geometry.frames_len == 0;
        for kind in Kind::ALL.into_iter().filter(|kind| !none(kind)) {
            let (slots, slot_len) = slots(kind);
            let region =
                Region { kind: kind as u32, slots: slots as usize, slot_len: slot_len as usize, offset: at };
            regions.push(region);
            at = region
                .slots
                .saturating_mul(region.slot_len)
                .saturating_add(at)
                .div_ceil(64)
                .saturating_mul(64);
        }
        Self { regions, len: at }
    }

    /// The region of a kind; `None` in a ring of another version.
    pub(crate) fn region(&self, kind: Kind) -> Option<Region> {
        self.regions.iter().copied().find(|region| region.kind == kind as u32)
    }

    /// The size of the part that a process keeps in memory: everything except the display frames. They are
    /// the last region, and the worker writes them directly into the file.
    pub(crate) fn memory_len(&self) -> usize {
        self.region(Kind::Frames).map_or(self.len, |frames| frames.offset)
    }

    /// Whether the regions are in order, do not overlap, are aligned, are within `len`, and have a valid
    /// number of slots.
    fn check(&self, len: usize) -> bool {
        let mut free_from = REGIONS_AT;
        self.regions.iter().all(|region| {
            let end =
                region.slots.checked_mul(region.slot_len).and_then(|size| size.checked_add(region.offset));
            let fits = end.is_some_and(|end| end <= len.min(MAX_RING_BYTES));
            let sane = (1..=MAX_SLOTS).contains(&region.slots)
                && region.slot_len > SLOT_HEADER_LEN
                && region.slot_len % 8 == 0
                && region.offset % 8 == 0
                && region.offset >= free_from;
            free_from = end.unwrap_or(usize::MAX);
            fits && sane
        })
    }
}

/// The header of a ring, in the bytes at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) identity: Identity,
    pub(crate) layout: Layout,
}

impl Header {
    /// The header's bytes, checksum included.
    pub(crate) fn encode(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        let Identity { pid, start_ticks, boot_id, clocks, libart, recorder } = self.identity;
        put(&mut out, 0, &MAGIC);
        put(&mut out, 8, &MAJOR.to_le_bytes());
        put(&mut out, 10, &MINOR.to_le_bytes());
        put(&mut out, 12, &(HEADER_LEN as u32).to_le_bytes());
        put(&mut out, 16, &ENDIAN_MARK.to_le_bytes());
        put(&mut out, 20, &WORD_LEN.to_le_bytes());
        put(&mut out, 24, &(self.layout.len as u64).to_le_bytes());
        put(&mut out, 32, &pid.to_le_bytes());
        put(&mut out, 40, &start_ticks.to_le_bytes());
        put(&mut out, 48, &boot_id);
        put(&mut out, 64, &clocks.uptime_ns.0.to_le_bytes());
        put(&mut out, 72, &clocks.unix_ms.to_le_bytes());
        put(&mut out, 80, &libart.to_raw());
        put(&mut out, 112, &recorder.to_raw());
        put(&mut out, 144, &(self.layout.regions.len() as u32).to_le_bytes());
        for (nth, region) in self.layout.regions.iter().enumerate() {
            let fields = [region.kind, region.slots as u32, region.slot_len as u32, region.offset as u32];
            for (field, value) in fields.into_iter().enumerate() {
                put(&mut out, TABLE_AT + nth * TABLE_ENTRY_LEN + field * 4, &value.to_le_bytes());
            }
        }
        let crc = crc32(out.get(..CRC_AT).unwrap_or_default());
        put(&mut out, CRC_AT, &crc.to_le_bytes());
        out
    }

    /// Reads the header of a file. The file may be shorter than its regions: slots beyond its end are lost.
    pub(crate) fn decode(file: &[u8]) -> Result<Self, LayoutError> {
        if file.is_empty() {
            return Err(LayoutError::Empty);
        }
        if !MAGIC.starts_with(file.get(..MAGIC.len().min(file.len())).unwrap_or_default()) {
            return Err(LayoutError::Magic);
        }
        let header = file.get(..HEADER_LEN).ok_or(LayoutError::Short { len: file.len() })?;
        let u16_at = |at| header.get(at..).and_then(|b| b.first_chunk().copied()).map(u16::from_le_bytes);
        let u32_at = |at| header.get(at..).and_then(|b| b.first_chunk().copied()).map(u32::from_le_bytes);
        let u64_at = |at| header.get(at..).and_then(|b| b.first_chunk().copied()).map(u64::from_le_bytes);
        let short = LayoutError::Short { len: file.len() };
        let major = u16_at(8).ok_or(short)?;
        // Before the checksum, which a newer version may keep elsewhere.
        if major > MAJOR {
            return Err(LayoutError::Newer { found: major });
        }
        if u32_at(16) != Some(ENDIAN_MARK) || u32_at(20) != Some(WORD_LEN) {
            return Err(LayoutError::Machine);
        }
        if u32_at(CRC_AT) != header.get(..CRC_AT).map(crc32) {
            return Err(LayoutError::Checksum);
        }
        let raw = |at: usize| header.get(at..).and_then(|b| b.first_chunk().copied()).ok_or(short);
        let identity = Identity {
            pid: u32_at(32).ok_or(short)?,
            start_ticks: u64_at(40).ok_or(short)?,
            boot_id: header.get(48..).and_then(|b| b.first_chunk().copied()).ok_or(short)?,
            clocks: ClockPair {
                uptime_ns: Uptime(u64_at(64).ok_or(short)?),
                unix_ms: u64_at(72).ok_or(short)?,
            },
            libart: BuildId::from_raw(raw(80)?),
            recorder: BuildId::from_raw(raw(112)?),
        };
        let len = u64_at(24).and_then(|len| usize::try_from(len).ok()).ok_or(LayoutError::Table)?;
        let count = u32_at(144).ok_or(short)? as usize;
        if count > MAX_REGIONS {
            return Err(LayoutError::Table);
        }
        let region = |nth: usize| {
            let field = |field: usize| u32_at(TABLE_AT + nth * TABLE_ENTRY_LEN + field * 4);
            Some(Region {
                kind: field(0)?,
                slots: field(1)? as usize,
                slot_len: field(2)? as usize,
                offset: field(3)? as usize,
            })
        };
        let regions = (0..count).map(region).collect::<Option<_>>().ok_or(LayoutError::Table)?;
        let layout = Layout { regions, len };
        layout.check(len).then_some(Self { identity, layout }).ok_or(LayoutError::Table)
    }
}

fn put(out: &mut [u8; HEADER_LEN], at: usize, field: &[u8]) {
    out.iter_mut().skip(at).zip(field).for_each(|(to, from)| *to = *from);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let identity = Identity {
            pid: 4711,
            start_ticks: 99,
            boot_id: [5; 16],
            clocks: ClockPair { uptime_ns: Uptime(1), unix_ms: 2 },
            libart: BuildId::new(&[1, 2, 3]),
            recorder: BuildId::new(&[9; 20]),
        };
        Header { identity, layout: Layout::of(&Geometry::default()).unwrap() }
    }

    #[test]
    fn the_header_is_read_back_as_it_was_written() {
        assert_eq!(Header::decode(&header().encode()), Ok(header()));
    }

    #[test]
    fn the_default_places_are_those_in_the_document() {
        let document = include_str!("../../../docs/file-format.md");
        let layout = header().layout;
        for Region { kind, slots, slot_len, offset } in &layout.regions {
            let row = document.lines().find(|line| {
                line.starts_with(&format!("| {kind} |"))
                    && line.contains(&format!("| {slots} x {slot_len} | {offset} |"))
            });
            assert!(row.is_some(), "no row says: kind {kind}, {slots} x {slot_len} at {offset}");
        }
        assert!(document.contains(&format!("**{}** ({} KiB)", layout.len, layout.len >> 10)));
    }

    #[test]
    fn the_default_ring_leaves_room_in_the_budget() {
        // 512 KiB is the budget of the whole recorder; the queue, the interner and the stacks need the rest.
        assert!(header().layout.len <= 380 << 10, "{}", header().layout.len);
    }

    #[test]
    fn every_number_of_records_that_an_app_may_choose_has_a_ring_with_and_without_frames() {
        let options = include_str!("../../../jni-glue/options.toml");
        let (_, slots) = options.split_once("name = \"slots\"").unwrap();
        let (bounds, _) = slots.split_once("bounds = [").unwrap().1.split_once(']').unwrap();
        let (least, most) = bounds.split_once(", ").unwrap();
        for records in least.parse().unwrap()..=most.parse().unwrap() {
            for frames_len in [0, Geometry::FRAMES_LEN] {
                let layout = Layout::of(&Geometry { records, frames_len, ..Geometry::default() });
                assert!(layout.is_ok(), "{records} records, {frames_len} bytes of frames");
            }
        }
    }

    #[test]
    fn display_frames_take_no_memory_of_the_ring() {
        let with = Layout::of(&Geometry { frames_len: Geometry::FRAMES_LEN, ..Geometry::default() }).unwrap();
        assert_eq!(with.memory_len(), header().layout.len);
        assert!(with.regions.iter().all(|region| {
            region.kind == Kind::Frames as u32 || region.slot_at(region.slots) <= with.memory_len()
        }));
        assert!(with.len >= with.memory_len() + 2 * Geometry::FRAMES_LEN as usize);
    }

    #[test]
    fn what_is_not_a_ring_is_named() {
        let good = header().encode();
        assert_eq!(Header::decode(b""), Err(LayoutError::Empty));
        assert_eq!(Header::decode(b"PK\x03\x04"), Err(LayoutError::Magic));
        assert_eq!(Header::decode(&good[..40]), Err(LayoutError::Short { len: 40 }));
        let with = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            Header::decode(&bytes)
        };
        assert_eq!(with(8, 2), Err(LayoutError::Newer { found: 2 }));
        assert_eq!(with(16, 1), Err(LayoutError::Machine));
        assert_eq!(with(33, 0xFF), Err(LayoutError::Checksum));
        assert_eq!(with(1023, !good[1023]), Err(LayoutError::Checksum));
    }

    #[test]
    fn a_table_that_cannot_be_is_refused() {
        let refused = |change: fn(&mut Region)| {
            let mut bad = header();
            change(&mut bad.layout.regions[3]);
            assert_eq!(Header::decode(&bad.encode()), Err(LayoutError::Table));
        };
        refused(|region| region.slots = 0);
        refused(|region| region.slots = u32::MAX as usize);
        refused(|region| region.slot_len = 24);
        refused(|region| region.slot_len = 1535);
        refused(|region| region.offset = 0);
        refused(|region| region.offset -= 8); // into its neighbour
        refused(|region| region.offset = 0xFFFF_FFF8);
        assert_eq!(Layout::of(&Geometry { records: 0, ..Geometry::default() }), Err(LayoutError::Table));
    }
}
