//! Source lines by dex pc, from a method's debug info.

use super::bytes::{u16_at, u32_at};
use super::dex::DexFile;
use crate::sys::mem;

/// Debug info longer than this is not read (a method of 65536 instructions has about 100 KB).
const LIMIT: usize = 128 << 10;

/// The source lines of one method: pairs of dex pc and line, packed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineTable {
    /// For each entry: how much the pc grows, as LEB128, then how much the line changes, as zigzag LEB128.
    packed: Box<[u8]>,
}

impl LineTable {
    /// Whether no line is known.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Bytes it takes on the heap.
    pub fn size(&self) -> usize {
        self.packed.len()
    }

    /// The line of the instruction at `dex_pc`, found as ART does (`DexFile::GetLineNumFromPC`, 10.0.0_r1 to
    /// 16): the line of the first entry with this pc, or else of the last entry with a smaller pc. `None` for
    /// a negative line.
    pub fn line(&self, dex_pc: u32) -> Option<u32> {
        let mut rest: &[u8] = &self.packed;
        let mut pc = 0u32;
        let mut line = 0i32;
        let mut found = None;
        while !rest.is_empty() {
            pc = pc.wrapping_add(uleb(&mut rest)?);
            let change = uleb(&mut rest)?;
            line = line.wrapping_add((change >> 1) as i32 ^ -((change & 1) as i32));
            if pc > dex_pc {
                break;
            }
            found = u32::try_from(line).ok();
            if pc == dex_pc {
                break;
            }
        }
        found
    }
}

/// The lines of the standard-dex code item at `item`.
pub(super) fn of_code_item(dex: &DexFile, item: usize) -> Option<LineTable> {
    let header: [u8; 16] = mem::read(item)?;
    let (registers, ins) = (u16_at(&header, 0)?, u16_at(&header, 2)?);
    let debug_info = u32_at(&header, 8)? as usize;
    let code_units = u32_at(&header, 12)?;
    if ins > registers || code_units == 0 || code_units > 1 << 20 || debug_info == 0 {
        return None;
    }
    let at = dex.data.checked_add(debug_info)?;
    let mut size = 512;
    loop {
        let mut bytes = vec![0; size];
        let n = mem::read_into(at, &mut bytes);
        match decode(bytes.get(..n)?, code_units) {
            Decoded::Lines(table) => return Some(table),
            Decoded::Damaged => return None,
            Decoded::Short if n < size || size >= LIMIT => return None,
            Decoded::Short => size *= 4,
        }
    }
}

enum Decoded {
    Lines(LineTable),
    /// The bytes end in the middle of the sequence.
    Short,
    Damaged,
}

/// Runs the debug info's state machine for the `code_units` of a method, like
/// `DexFile::DecodeDebugPositionInfo`.
///
/// Entries past the method's last code unit belong to another method: R8 gives most methods one common table,
/// as long as the longest of them, in which a line is the dex pc plus one. Numbers wrap around as ART's do.
fn decode(bytes: &[u8], code_units: u32) -> Decoded {
    const LINE_BASE: i32 = -4;
    const LINE_RANGE: u8 = 15;
    const FIRST_SPECIAL: u8 = 0x0a;

    let mut rest = bytes;
    let mut run = || -> Option<Option<LineTable>> {
        let mut packed = Packer::default();
        let mut line = uleb(&mut rest)? as i32;
        let mut pc = 0u32;
        let parameters = uleb(&mut rest)?;
        if parameters > 255 {
            return Some(None);
        }
        for _ in 0..parameters {
            uleb(&mut rest)?;
        }
        loop {
            let (opcode, tail) = rest.split_first()?;
            rest = tail;
            match *opcode {
                0 => return Some(Some(packed.finish())),
                1 => pc = pc.wrapping_add(uleb(&mut rest)?),
                2 => line = line.wrapping_add(sleb(&mut rest)?),
                3 => skip(&mut rest, 3)?,         // start_local: register, name, type
                4 => skip(&mut rest, 4)?,         // start_local_extended: and signature
                5 | 6 | 9 => skip(&mut rest, 1)?, // end_local, restart_local, set_file
                7 | 8 => {}                       // set_prologue_end, set_epilogue_begin
                special @ FIRST_SPECIAL.. => {
                    let adjusted = special - FIRST_SPECIAL;
                    pc = pc.wrapping_add(u32::from(adjusted / LINE_RANGE));
                    line = line.wrapping_add(LINE_BASE + i32::from(adjusted % LINE_RANGE));
                    if pc < packed.seen {
                        return Some(None); // no compiler goes back
                    }
                    if pc >= code_units {
                        return Some(Some(packed.finish()));
                    }
                    packed.push(pc, line);
                }
            }
        }
    };
    match run() {
        Some(Some(table)) => Decoded::Lines(table),
        Some(None) => Decoded::Damaged,
        None => Decoded::Short,
    }
}

#[derive(Default)]
struct Packer {
    bytes: Vec<u8>,
    pc: u32,
    line: i32,
    /// The pc of the last entry, even if that was left out.
    seen: u32,
}

impl Packer {
    fn push(&mut self, pc: u32, line: i32) {
        let first_here = self.bytes.is_empty() || pc != self.seen;
        let left_out = self.seen != self.pc;
        self.seen = pc;
        if line == self.line && !self.bytes.is_empty() {
            return; // the same line goes on
        }
        if !first_here && left_out {
            // Of several entries at one instruction the first counts for it: here it only said that the line
            // goes on.
            self.put(pc - self.pc);
            self.put(0);
            self.pc = pc;
        }
        self.put(pc - self.pc);
        let change = line.wrapping_sub(self.line);
        self.put(((change << 1) ^ (change >> 31)) as u32);
        (self.pc, self.line) = (pc, line);
    }

    fn put(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn finish(self) -> LineTable {
        LineTable { packed: self.bytes.into_boxed_slice() }
    }
}

fn skip(bytes: &mut &[u8], numbers: u32) -> Option<()> {
    (0..numbers).try_for_each(|_| uleb(bytes).map(|_| ()))
}

fn uleb(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

fn sleb(bytes: &mut &[u8]) -> Option<i32> {
    let mut value = 0u32;
    for shift in [0u32, 7, 14, 21, 28] {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            if byte & 0x40 != 0 && shift < 28 {
                value |= u32::MAX << (shift + 7);
            }
            break;
        }
    }
    Some(value as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `line_start` 10, one parameter name, then the given opcodes.
    fn table(opcodes: &[u8]) -> Option<LineTable> {
        let mut bytes = vec![10, 1, 0];
        bytes.extend(opcodes);
        match decode(&bytes, 1000) {
            Decoded::Lines(table) => Some(table),
            _ => None,
        }
    }

    /// A special opcode: pc and line advance together.
    fn special(pc: u8, line: i8) -> u8 {
        0x0a + pc * 15 + (line + 4) as u8
    }

    #[test]
    fn lines_by_dex_pc() {
        let t =
            table(&[7, special(0, 0), special(3, 1), special(2, -2), 1, 100, 2, 0x80, 1, special(0, 0), 0])
                .unwrap();
        assert_eq!(t.line(0), Some(10));
        assert_eq!(t.line(2), Some(10));
        assert_eq!(t.line(3), Some(11));
        assert_eq!(t.line(5), Some(9));
        assert_eq!(t.line(104), Some(9));
        assert_eq!(t.line(105), Some(9 + 128));
        assert_eq!(t.line(u32::MAX - 1), Some(137));
    }

    #[test]
    fn what_is_not_about_lines_is_skipped() {
        let t = table(&[
            3,
            1,
            2,
            3,
            4,
            1,
            2,
            3,
            4,
            5,
            1,
            6,
            1,
            9,
            5,
            8,
            special(1, 2),
            2,
            0x7f,
            special(0, 0),
            0,
        ]);
        let t = t.unwrap();
        assert_eq!(t.line(0), None);
        assert_eq!([t.line(1), t.line(2)], [Some(12), Some(11)], "advance_line -1");
    }

    #[test]
    fn a_pc_before_the_first_entry_has_no_line() {
        assert_eq!(table(&[special(4, 0), 0]).unwrap().line(3), None);
        assert!(table(&[0]).unwrap().is_empty());
        assert_eq!(LineTable::default().line(7), None);
    }

    /// What R8 9.5 writes by default: all methods of one parameter share one table, which is as long as the
    /// longest of these methods needs.
    #[test]
    fn a_table_of_many_methods_is_read_as_far_as_the_method_goes() {
        let mut bytes = vec![1, 1, 0, special(0, 0)];
        bytes.extend([special(1, 1); 478]);
        bytes.push(0);
        let Decoded::Lines(table) = decode(&bytes, 20) else { panic!("refused") };
        let lines: Vec<_> = [0, 1, 18, 19].into_iter().map(|pc| table.line(pc)).collect();
        assert_eq!(lines, [Some(1), Some(2), Some(19), Some(20)]);
        // What is past the method may as well be unreadable: one byte after the entry that ends it.
        let Decoded::Lines(cut) = decode(&bytes[..24], 20) else { panic!("refused") };
        assert_eq!(cut, table);
        assert!(matches!(decode(&bytes[..23], 20), Decoded::Short));
        // A separate opcode advances the pc past the end.
        assert_eq!(self::table(&[special(0, 0), 1, 0xd0, 0x0f, special(0, 5)]).unwrap().line(999), Some(10));
    }

    #[test]
    fn of_entries_at_one_instruction_the_first_counts_for_it_and_the_last_after_it() {
        let t = table(&[special(0, 0), special(0, 1), special(3, 1), 0]).unwrap();
        assert_eq!([t.line(0), t.line(1), t.line(3)], [Some(10), Some(11), Some(12)]);
        // The first may say what was said before.
        let t = table(&[special(0, 0), special(3, 0), special(0, 2), special(2, 0), 0]).unwrap();
        assert_eq!([t.line(2), t.line(3), t.line(4), t.line(5)], [10, 10, 12, 12].map(Some));
    }

    #[test]
    fn an_entry_without_a_line_says_nothing_of_the_others() {
        let t = table(&[special(0, 0), 2, 0x70, special(2, 0), 2, 0x14, special(2, 0), 0]).unwrap();
        assert_eq!([t.line(1), t.line(2), t.line(4)], [Some(10), None, Some(14)]);
    }

    #[test]
    fn sequences_without_end_or_out_of_order_give_nothing() {
        assert_eq!(table(&[special(0, 0)]), None);
        assert_eq!(table(&[1, 0x80]), None);
        let back = [special(4, 0), 1, 0xfe, 0xff, 0xff, 0xff, 0x0f, special(0, 0), 0];
        assert_eq!(table(&back), None, "the pc goes back");
        assert!(matches!(decode(&[10, 0x80, 0x10], 10), Decoded::Damaged), "2048 parameters");
    }
}
