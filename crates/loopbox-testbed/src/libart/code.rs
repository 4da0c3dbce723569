//! Finds the displacements that a function loads from, in its machine code.
//!
//! This is not a disassembler: it knows only the few encodings of "load from register plus constant" that
//! compilers use for members beyond the first. Other encodings are not found. A match by chance does no harm,
//! because a row needs all of its numbers in the right functions.

use std::collections::BTreeSet;

/// The displacements of the loads, and of the comparisons with memory, in the code of a function. For 32-bit
/// Arm, `arch` is `arm` for Thumb code and `a32` for the older encoding.
pub(super) fn displacements(arch: &str, code: &[u8]) -> BTreeSet<u32> {
    match arch {
        "arm64" => words(code).filter_map(arm64).collect(),
        "arm" => halves(code).filter_map(thumb).collect(),
        "a32" => words(code).filter_map(a32).collect(),
        "x86_64" | "x86" => (0..code.len()).filter_map(|at| x86(&code[at..])).collect(),
        _ => BTreeSet::new(),
    }
}

fn words(code: &[u8]) -> impl Iterator<Item = u32> {
    code.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// The displacement of an LDR (immediate, unsigned offset) of 64 or 32 bits, or the constant of an ADD
/// (immediate), which takes the address of an embedded list.
fn arm64(word: u32) -> Option<u32> {
    let immediate = (word >> 10) & 0xfff;
    match word & 0xffc0_0000 {
        0xf940_0000 => Some(immediate * 8),
        0xb940_0000 => Some(immediate * 4),
        0x9100_0000 => Some(immediate),
        0x9140_0000 => Some(immediate << 12),
        _ => None,
    }
}

/// Every half word with the one after it: a Thumb-2 instruction can begin at any half word.
fn halves(code: &[u8]) -> impl Iterator<Item = (u16, u16)> {
    let half = |b: &[u8]| u16::from_le_bytes([b[0], b[1]]);
    code.windows(4).step_by(2).map(move |b| (half(b), half(&b[2..])))
}

/// The displacement of an LDR.W (immediate, T3) or of a 16-bit LDR (immediate, T1).
fn thumb((first, second): (u16, u16)) -> Option<u32> {
    if first & 0xfff0 == 0xf8d0 {
        return Some(u32::from(second & 0xfff));
    }
    (first & 0xf800 == 0x6800).then_some(u32::from((first >> 6) & 0x1f) * 4)
}

/// The displacement of an LDR (immediate, A1) or the constant of an ADD (immediate, A1), with any condition.
fn a32(word: u32) -> Option<u32> {
    match word & 0x0ff0_0000 {
        0x0590_0000 => Some(word & 0xfff),
        0x0280_0000 => Some((word & 0xff).rotate_right((word >> 8 & 0xf) * 2)),
        _ => None,
    }
}

/// The displacement of a MOV r, [r+d], a CMP with [r+d] or a LEA, or the 32-bit constant of an ADD.
fn x86(code: &[u8]) -> Option<u32> {
    let rest = match code {
        [0x40..=0x4f, rest @ ..] | rest => rest,
    };
    let (opcode, rest) = rest.split_first()?;
    let (modrm, rest) = rest.split_first()?;
    let four = |b: &[u8]| Some(u32::from_le_bytes(b.get(..4)?.try_into().ok()?));
    match opcode {
        0x81 if modrm & 0xf8 == 0xc0 => return four(rest),
        0x8b | 0x39 | 0x3b | 0x8d => {}
        0x05 => return four(code.get(code.len() - rest.len() - 1..)?),
        _ => return None,
    }
    let rest = if modrm & 7 == 4 { rest.get(1..)? } else { rest };
    match modrm >> 6 {
        1 => rest.first().map(|d| u32::from(*d)),
        2 => four(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::displacements;

    #[test]
    fn reads_the_loads_of_each_architecture() {
        // ldr x0, [x0, #632]; ldr w8, [x20, #12]; add x8, x0, #2, lsl #12
        let arm64 = [0x00, 0x3c, 0x41, 0xf9, 0x88, 0x0e, 0x40, 0xb9, 0x08, 0x08, 0x40, 0x91];
        assert_eq!(displacements("arm64", &arm64), [12, 632, 8192].into());
        // ldr.w r0, [r0, #356]; ldr r1, [r2, #12]; nop
        let arm = [0xd0, 0xf8, 0x64, 0x01, 0xd1, 0x68, 0x00, 0xbf];
        assert!(displacements("arm", &arm).is_superset(&[12, 356].into()));
        // ldr r0, [r0, #288]; add r3, r0, #8192
        let a32 = [0x20, 0x01, 0x90, 0xe5, 0x02, 0x3a, 0x80, 0xe2];
        assert_eq!(displacements("a32", &a32), [288, 8192].into());
        // mov 0x208(%rax),%rax; cmp %esi,0xc(%rdx)
        let x86_64 = [0x48, 0x8b, 0x80, 0x08, 0x02, 0x00, 0x00, 0x39, 0x72, 0x0c];
        assert!(displacements("x86_64", &x86_64).is_superset(&[12, 520].into()));
        assert!(displacements("mips", &x86_64).is_empty());
    }
}
