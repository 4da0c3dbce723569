//! The unwind entries of the arm64 trampolines are written by hand. This test simulates the instructions of a
//! trampoline, as far as they change what an unwinder restores. After each instruction it checks that the
//! entry gives the caller's registers.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use gimli::{BaseAddresses, CfaRule, EhFrame, LittleEndian, RegisterRule, UnwindContext, UnwindSection as _};
use goblin::elf::Elf;
use loopbox_android_pack::{self as android, Abi};

/// DWARF's numbers of the registers.
const FRAME_POINTER: u16 = 29;
const LINK: u16 = 30;
const STACK_POINTER: u16 = 31;
/// The registers that a function must preserve, as far as the trampolines use them.
const KEPT: [u16; 6] = [19, 20, 21, 22, FRAME_POINTER, LINK];

/// Registers by number, and the words of the stack by address.
#[derive(Clone)]
struct Machine {
    registers: BTreeMap<u16, u64>,
    stack: BTreeMap<u64, u64>,
}

impl Machine {
    /// The state in a function that was just called; every register has a different value.
    fn called() -> Self {
        let registers = (0..=LINK).map(|register| (register, 0x1000 + u64::from(register)));
        Self { registers: registers.chain([(STACK_POINTER, 0x8000)]).collect(), stack: BTreeMap::new() }
    }

    fn get(&self, register: u16) -> u64 {
        self.registers[&register]
    }

    /// Runs an instruction; `Err` names one that is not known here.
    fn run(&mut self, at: u64, instruction: u32) -> Result<()> {
        let register = |from: u32| (instruction >> from & 31) as u16;
        let pair = instruction & 0xfe00_0000 == 0xa800_0000;
        if pair {
            // A pair of 64-bit registers; the offset has seven bits with a sign, in words.
            let offset = i64::from((instruction << 10) as i32 >> 25) * 8;
            let (is_load, base) = (instruction & 1 << 22 != 0, self.get(register(5)));
            let moved = base.wrapping_add_signed(offset);
            let (from, then) = match instruction >> 23 & 3 {
                1 => (base, moved),
                2 => (moved, base),
                3 => (moved, moved),
                _ => bail!("{instruction:#x}: a pair without temporality"),
            };
            for (word, of) in [(from, register(0)), (from + 8, register(10))] {
                if is_load {
                    let loaded = self.stack.get(&word).context("a word that nothing was stored in")?;
                    self.registers.insert(of, *loaded);
                } else {
                    self.stack.insert(word, self.get(of));
                }
            }
            self.registers.insert(register(5), then);
        } else if instruction & 0xffff_ffe0 == 0x9100_03e0 {
            self.registers.insert(register(0), self.get(STACK_POINTER)); // mov xN, sp
        } else if instruction & 0x7fe0_ffe0 == 0x2a00_03e0 {
            self.registers.insert(register(0), self.get(register(16))); // mov xN, xM and mov wN, wM
        } else if instruction & 0xfc00_0000 == 0x9400_0000 || instruction & 0xffff_fc1f == 0xd63f_0000 {
            self.registers.insert(LINK, at + 4); // bl, blr: what is called keeps the rest
        } else {
            // adrp, adr, add or ldr of the two registers that a call may use as it likes; compare, jump,
            // return, nop, bti.
            let is_scratch = matches!(register(0), 16 | 17);
            let writes = instruction & 0x1f00_0000 == 0x1000_0000
                || instruction & 0xff00_0000 == 0x9100_0000
                || instruction & 0xffc0_0000 == 0xf940_0000;
            let is_other = instruction & 0xff00_0010 == 0x5400_0000
                || instruction & 0xffe0_fc1f == 0xeb00_001f
                || instruction & 0xff9f_fc1f == 0xd61f_0000
                || instruction & 0xffff_f01f == 0xd503_201f;
            ensure!(is_other || writes && is_scratch, "{instruction:#010x} at {at:#x} is not known");
        }
        Ok(())
    }
}

#[test]
fn the_callers_registers_are_found_at_each_instruction_of_a_trampoline() -> Result<()> {
    let library = android::ensure(Abi::Arm64)?;
    let bytes = fs::read(&library.symbols)?;
    let elf = Elf::parse(&bytes)?;
    let section = |name: &str| {
        let found = elf.section_headers.iter().find(|s| elf.shdr_strtab.get_at(s.sh_name) == Some(name));
        found.with_context(|| format!("no {name}"))
    };
    let (frames_at, text_at) = (section(".eh_frame")?, section(".text")?);
    let frames = EhFrame::new(&bytes[frames_at.file_range().context("no bytes")?], LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(frames_at.sh_addr).set_text(text_at.sh_addr);
    let mut trampolines = 0;
    for symbol in &elf.syms {
        let name = elf.strtab.get_at(symbol.st_name).unwrap_or_default();
        if !name.starts_with("loopbox_poll_") || !symbol.is_function() {
            continue;
        }
        trampolines += 1;
        let called = Machine::called();
        let mut machine = called.clone();
        let from = (symbol.st_value - text_at.sh_addr + text_at.sh_offset) as usize;
        for (at, code) in
            (symbol.st_value..).step_by(4).zip(bytes[from..][..symbol.st_size as usize].chunks(4))
        {
            let mut context = UnwindContext::new();
            let row = frames.unwind_info_for_address(&bases, &mut context, at, EhFrame::cie_from_offset);
            let row = row.with_context(|| format!("{name} at {at:#x}"))?;
            let &CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
                bail!("{:?}", row.cfa())
            };
            let cfa = machine.get(register.0).wrapping_add_signed(offset);
            ensure!(cfa == called.get(STACK_POINTER), "{name} at {at:#x}: the caller's stack is {cfa:#x}");
            for kept in KEPT {
                let value = match row.register(gimli::Register(kept)) {
                    Some(RegisterRule::Offset(offset)) => {
                        machine.stack.get(&cfa.wrapping_add_signed(offset)).copied()
                    }
                    None | Some(RegisterRule::SameValue) => Some(machine.get(kept)),
                    other => bail!("{name} at {at:#x}: {other:?}"),
                };
                ensure!(value == Some(called.get(kept)), "{name} at {at:#x}: x{kept} is {value:x?}");
            }
            machine.run(at, u32::from_le_bytes(code.try_into()?))?;
        }
    }
    ensure!(trampolines == 4, "{trampolines} trampolines");
    Ok(())
}
