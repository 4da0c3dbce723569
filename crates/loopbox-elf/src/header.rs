//! The file header, as far as it is used.
//!
//! goblin reads the word size and the byte order from each file. In an app all libraries have those of the
//! app's process: there both are constants, and the code for all others is left out of the app.

use goblin::container::{Container, Ctx};
use goblin::elf::header::{EI_DATA, ELFCLASS32, ELFCLASS64, ELFDATA2LSB, ELFDATA2MSB};
use scroll::{BE, LE, Pread};

/// The only word size and byte order that is read; `None` when all are.
const ONLY: Option<Ctx> = if cfg!(target_os = "android") {
    Some(Ctx { container: goblin::container::CONTAINER, le: LE })
} else {
    None
};

/// The offset of the entry point, which is the first of three words.
const FIRST_WORD: usize = 24;

pub(super) struct Header {
    ctx: Ctx,
    pub(super) machine: u16,
    /// Where the program headers begin in the file.
    pub(super) segments_at: u64,
    pub(super) segments: u16,
    /// Where the section headers begin in the file.
    pub(super) sections_at: u64,
    pub(super) sections: u16,
    /// The number of the section with the names of sections.
    pub(super) section_names: u16,
}

/// Whether addresses in an ELF file are 8 bytes wide; `None` when this is no ELF file.
pub fn is_64(bytes: &[u8]) -> Option<bool> {
    let [0x7f, b'E', b'L', b'F', class, ..] = *bytes else { return None };
    match class {
        ELFCLASS32 => Some(false),
        ELFCLASS64 => Some(true),
        _ => None,
    }
}

impl Header {
    /// `None` when this is no header, or one that is not read here.
    pub(super) fn read(bytes: &[u8]) -> Option<Header> {
        let container = if is_64(bytes)? { Container::Big } else { Container::Little };
        let le = match *bytes.get(EI_DATA)? {
            ELFDATA2LSB => LE,
            ELFDATA2MSB => BE,
            _ => return None,
        };
        let found = Ctx { container, le };
        let ctx = ONLY.unwrap_or(found);
        if ctx != found {
            return None;
        }
        let half = |at: usize| bytes.pread_with::<u16>(at, ctx.le).ok();
        // The entry point and the places of the headers are words; halves follow them.
        let after_words = FIRST_WORD + 3 * ctx.size();
        let word = |nth: usize| {
            let at = FIRST_WORD + nth * ctx.size();
            if ctx.is_big() {
                bytes.pread_with::<u64>(at, ctx.le).ok()
            } else {
                bytes.pread_with::<u32>(at, ctx.le).ok().map(u64::from)
            }
        };
        Some(Header {
            ctx,
            machine: half(18)?,
            segments_at: word(1)?,
            segments: half(after_words + 8)?,
            sections_at: word(2)?,
            sections: half(after_words + 12)?,
            section_names: half(after_words + 14)?,
        })
    }

    /// Word size and byte order.
    pub(super) fn ctx(&self) -> Ctx {
        ONLY.unwrap_or(self.ctx)
    }
}
