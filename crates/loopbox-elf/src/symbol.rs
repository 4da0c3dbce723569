//! One entry of a symbol table, and its name.

use goblin::elf::sym::{STT_FUNC, STT_NOTYPE, STT_OBJECT, Sym};

/// Whether the symbol is defined in this file, and is code, data or without a type.
pub(super) fn usable(sym: &Sym) -> bool {
    sym.st_shndx != 0 && sym.st_value != 0 && matches!(sym.st_type(), STT_FUNC | STT_OBJECT | STT_NOTYPE)
}

/// The zero-terminated text at a position of a string table.
pub(super) fn text_at(table: &[u8], at: usize) -> Option<&[u8]> {
    let tail = table.get(at..)?;
    tail.get(..tail.iter().position(|b| *b == 0)?)
}
