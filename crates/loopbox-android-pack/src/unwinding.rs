//! Whether an unwinder passes through the functions that are on the stack of every idle main thread.
//!
//! The library has no unwind tables; these functions bring theirs. Without them each trace of a main thread
//! that waits would end at the recorder's frame.

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, LittleEndian, Pointer, UnwindContext, UnwindSection as _};
use goblin::elf::Elf;
use goblin::elf::program_header::{PT_GNU_EH_FRAME, PT_LOAD};

/// What the names of these functions begin with.
const PREFIX: &str = "loopbox_poll_";

/// The functions of a library with its symbols, by name and an address in their middle.
pub(crate) fn wanted(elf: &Elf<'_>) -> Vec<(String, u64)> {
    let functions = elf.syms.iter().filter(|symbol| symbol.is_function() && symbol.st_size > 0);
    let named = functions.filter_map(|symbol| Some((elf.strtab.get_at(symbol.st_name)?, symbol)));
    let wanted = named.filter(|(name, _)| name.starts_with(PREFIX));
    wanted.map(|(name, symbol)| (name.to_owned(), symbol.st_value + symbol.st_size / 2)).collect()
}

/// That each function has its entry in the table that unwinders search, and that the entry can be read.
pub(crate) fn check(bytes: &[u8], elf: &Elf<'_>, functions: &[(String, u64)]) -> Result<String, String> {
    if functions.is_empty() {
        return Ok("no function of assembly".to_owned());
    }
    let header = elf.program_headers.iter().find(|header| header.p_type == PT_GNU_EH_FRAME);
    let header = header.ok_or("no table of unwind information")?;
    let bases = BaseAddresses::default().set_eh_frame_hdr(header.p_vaddr);
    let table = bytes.get(header.file_range()).ok_or("the table is cut")?;
    let word = if elf.is_64 { 8 } else { 4 };
    let table = EhFrameHdr::new(table, LittleEndian).parse(&bases, word).map_err(|why| why.to_string())?;
    let Pointer::Direct(frames_at) = table.eh_frame_ptr() else {
        return Err("the unwind information is at an indirect address".to_owned());
    };
    let mut loaded = elf.program_headers.iter().filter(|header| header.p_type == PT_LOAD);
    let segment = loaded.find(|header| header.vm_range().contains(&(frames_at as usize)));
    let segment = segment.ok_or("the unwind information is not loaded")?;
    let from = (frames_at - segment.p_vaddr + segment.p_offset) as usize;
    let frames = bytes.get(from..segment.file_range().end).ok_or("the unwind information is cut")?;
    let frames = EhFrame::new(frames, LittleEndian);
    let bases = bases.set_eh_frame(frames_at);
    let search = table.table().ok_or("the table cannot be searched")?;
    let mut context = UnwindContext::new();
    for (name, address) in functions {
        let row =
            search.unwind_info_for_address(&frames, &bases, &mut context, *address, EhFrame::cie_from_offset);
        row.map_err(|why| format!("{name} ends a trace: {why}"))?;
    }
    Ok(format!("{} functions of assembly", functions.len()))
}
