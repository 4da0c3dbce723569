//! The parts of a loaded dex file that names consist of.
//!
//! Format: "Dalvik executable format", source.android.com. Every index is checked against the count in
//! the file's own header and every read may fail.

use super::bytes::{read_up_to, u16_at, u32_at, usize_at};
use super::mutf8;
use crate::offsets::NameLayout;
use crate::sys::mem;

/// Upper limit for dex strings of names (a descriptor has at most 65535 bytes; real ones have a few hundred).
const STRING_LIMIT: usize = 4096;
/// The format allows a method at most this many parameters.
const PARAMETER_LIMIT: u32 = 255;
const NO_INDEX: u32 = u32::MAX;
const HEADER_SIZE: usize = 0x70;

/// A table in the file: its place, and its number of entries.
#[derive(Debug, Clone, Copy)]
struct Table {
    at: usize,
    len: u32,
}

impl Table {
    fn entry<const N: usize>(&self, index: u32) -> Option<[u8; N]> {
        if index >= self.len {
            return None;
        }
        mem::read(self.at.checked_add((index as usize).checked_mul(N)?)?)
    }
}

/// An `art::DexFile`, checked against the header of the file it stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct DexFile {
    /// The address that the offsets of strings, prototypes and code are relative to.
    pub data: usize,
    /// Whether this is compact dex, which has other code items and other debug info.
    pub compact: bool,
    strings: Table,
    types: Table,
    protos: Table,
    methods: Table,
    classes: Table,
}

/// A `method_id_item`.
#[derive(Debug, Clone, Copy)]
pub(super) struct MethodId {
    pub class: u16,
    pub proto: u16,
    pub name: u32,
}

/// The needed members of a `class_def_item`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassDefinition {
    pub class: u32,
    pub source_file: Option<u32>,
}

impl DexFile {
    /// Reads the object at `at` and checks that its members agree with the file's header.
    pub(super) fn read(layout: &NameLayout, at: usize) -> Option<DexFile> {
        let object: [u8; 160] = read_up_to(at)?;
        let begin = usize_at(&object, layout.begin.into())?;
        let data = usize_at(&object, layout.data.into())?;
        let header: [u8; HEADER_SIZE] = mem::read(begin)?;
        let compact = match header.get(..4)? {
            b"dex\n" => false,
            b"cdex" => true,
            _ => return None,
        };
        // In a dex container the tables' offsets count from the container's start, not the file's.
        let table = |member: u8, header_at: usize| {
            let at = usize_at(&object, member.into())?;
            let len = u32_at(&header, header_at)?;
            let offset = u32_at(&header, header_at + 4)? as usize;
            let agrees = at == begin.wrapping_add(offset) || at == data.wrapping_add(offset) || len == 0;
            agrees.then_some(Table { at, len })
        };
        Some(DexFile {
            data,
            compact,
            strings: table(layout.string_ids, 0x38)?,
            types: table(layout.type_ids, 0x40)?,
            protos: table(layout.proto_ids, 0x48)?,
            methods: table(layout.method_ids, 0x58)?,
            classes: table(layout.class_defs, 0x60)?,
        })
    }

    pub(super) fn method_id(&self, index: u32) -> Option<MethodId> {
        let item: [u8; 8] = self.methods.entry(index)?;
        Some(MethodId { class: u16_at(&item, 0)?, proto: u16_at(&item, 2)?, name: u32_at(&item, 4)? })
    }

    pub(super) fn class_definition(&self, index: u32) -> Option<ClassDefinition> {
        let item: [u8; 32] = self.classes.entry(index)?;
        let source_file = u32_at(&item, 16)?;
        // class_idx is 16 bits wide in memory, padded to 32.
        let class = u32::from(u16_at(&item, 0)?);
        Some(ClassDefinition { class, source_file: (source_file != NO_INDEX).then_some(source_file) })
    }

    pub(super) fn string(&self, index: u32) -> Option<String> {
        Some(mutf8::decode(&self.string_bytes(index)?))
    }

    fn string_bytes(&self, index: u32) -> Option<Vec<u8>> {
        let item: [u8; 4] = self.strings.entry(index)?;
        let at = self.data.checked_add(u32::from_ne_bytes(item) as usize)?;
        // The length in UTF-16 units, then the text up to a zero byte.
        let mut item = mem::read_c_str(at, STRING_LIMIT)?;
        let prefix = item.iter().position(|b| b & 0x80 == 0);
        match prefix {
            Some(last) => {
                item.drain(..=last);
                Some(item)
            }
            // An empty string: its length 0 ended the read.
            None => item.is_empty().then_some(item),
        }
    }

    pub(super) fn type_descriptor(&self, index: u16) -> Option<String> {
        let item: [u8; 4] = self.types.entry(u32::from(index))?;
        self.string(u32::from_ne_bytes(item))
    }

    /// The JVM signature of a prototype.
    pub(super) fn signature(&self, index: u16) -> Option<String> {
        let item: [u8; 12] = self.protos.entry(u32::from(index))?;
        let result = u16_at(&item, 4)?;
        let parameters = u32_at(&item, 8)? as usize;
        let mut text = String::from("(");
        if parameters != 0 {
            let list = self.data.checked_add(parameters)?;
            let count = mem::read::<u32>(list).filter(|n| *n <= PARAMETER_LIMIT)?;
            for n in 0..count as usize {
                text.push_str(&self.type_descriptor(mem::read(list + 4 + n * 2)?)?);
            }
        }
        text.push(')');
        text.push_str(&self.type_descriptor(result)?);
        Some(text)
    }
}

/// `Landroid/os/Handler;` as `android.os.Handler`; other descriptors unchanged.
pub(super) fn class_name(descriptor: &str) -> String {
    match descriptor.strip_prefix('L').and_then(|d| d.strip_suffix(';')) {
        Some(name) => name.replace('/', "."),
        None => descriptor.to_owned(),
    }
}
