//! Checks that an unwinder gets past the functions that are on the stack of every idle main thread.
//!
//! The library is built without unwind tables. Only these functions have unwind entries. Without the entries
//! each trace of a waiting main thread would end at the recorder's frame.

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, LittleEndian, Pointer, UnwindContext, UnwindSection as _};
use goblin::elf::Elf;
use goblin::elf::header::EM_ARM;
use goblin::elf::program_header::{PT_ARM_EXIDX, PT_GNU_EH_FRAME, PT_LOAD};

/// The prefix of the names of the functions that are checked.
const PREFIX: &str = "loopbox_poll_";

/// The functions to check, by the symbols of the library: the name of each, and an address in the middle of
/// its code.
pub(crate) fn wanted(elf: &Elf<'_>) -> Vec<(String, u64)> {
    let functions = elf.syms.iter().filter(|symbol| symbol.is_function() && symbol.st_size > 0);
    let named = functions.filter_map(|symbol| Some((elf.strtab.get_at(symbol.st_name)?, symbol)));
    let wanted = named.filter(|(name, _)| name.starts_with(PREFIX));
    wanted.map(|(name, symbol)| (name.to_owned(), symbol.st_value + symbol.st_size / 2)).collect()
}

/// Checks that each function has an entry in the table that unwinders search, and that the entry can be read.
pub(crate) fn check(bytes: &[u8], elf: &Elf<'_>, functions: &[(String, u64)]) -> Result<String, String> {
    if functions.is_empty() {
        return Ok("no function of assembly".to_owned());
    }
    if elf.header.e_machine == EM_ARM {
        check_of_arm(bytes, elf, functions)?;
        return Ok(format!("{} functions of assembly", functions.len()));
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

/// As [`check`], for 32-bit Arm, which uses another table.
fn check_of_arm(bytes: &[u8], elf: &Elf<'_>, functions: &[(String, u64)]) -> Result<(), String> {
    let header = elf.program_headers.iter().find(|header| header.p_type == PT_ARM_EXIDX);
    let header = header.ok_or("no table of unwind information")?;
    let is_loaded = |segment: &&goblin::elf::ProgramHeader| {
        segment.p_type == PT_LOAD && segment.vm_range().contains(&(header.p_vaddr as usize))
    };
    elf.program_headers.iter().find(is_loaded).ok_or("the table is not loaded")?;
    let table = bytes.get(header.file_range()).ok_or("the table is cut")?;
    for (name, address) in functions {
        match arm_entry(table, header.p_vaddr as u32, *address as u32) {
            Some(CANNOT_UNWIND) => return Err(format!("{name} ends a trace: its entry says so")),
            Some(_) => {}
            None => return Err(format!("{name} ends a trace: it has no entry")),
        }
    }
    Ok(())
}

/// `EXIDX_CANTUNWIND`: the value in an entry for code that cannot be unwound.
const CANNOT_UNWIND: u32 = 1;

/// The second word of the entry for an address; the table begins at `at`. Entries are sorted, and each covers
/// all code up to the next one.
fn arm_entry(table: &[u8], at: u32, address: u32) -> Option<u32> {
    let words = table.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    let words: Vec<u32> = words.collect();
    let entries = words.as_chunks::<2>().0.iter().zip((at..).step_by(8)).map(|([distance, rules], place)| {
        // It has 31 bits, the highest of them for the sign.
        let code = place.wrapping_add_signed((distance << 1).cast_signed() >> 1);
        (code, *rules)
    });
    entries.take_while(|(code, _)| *code <= address).last().map(|(_, rules)| rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_for_all_code_up_to_the_next() {
        // Of code at 0x1000, 0x1010 and 0x9000, in a table at 0x8000.
        let entries = [(0x1000, 0x8000), (0x1010, 0x8008), (0x9000, 0x8010)];
        let rules = [0x80b0_b0b0, CANNOT_UNWIND, 0x809b_46af];
        let words = entries
            .into_iter()
            .zip(rules)
            .flat_map(|((code, place), rules)| [u32::wrapping_sub(code, place) & 0x7fff_ffff, rules]);
        let table: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let of = |address| arm_entry(&table, 0x8000, address);
        assert_eq!((of(0xfff), of(0x1000), of(0x100f)), (None, Some(rules[0]), Some(rules[0])));
        assert_eq!((of(0x1010), of(0x8fff), of(0x9004)), (Some(rules[1]), Some(rules[1]), Some(rules[2])));
    }
}
