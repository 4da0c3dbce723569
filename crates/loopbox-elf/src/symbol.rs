//! The entries of a symbol table, and their names.

use goblin::container::Ctx;
use goblin::elf::sym::{STT_FUNC, STT_NOTYPE, STT_OBJECT, Sym};
use scroll::Pread;

/// The entries of a table.
pub(super) fn symbols_in(table: &[u8], ctx: Ctx) -> impl Iterator<Item = Sym> {
    table.chunks_exact(Sym::size(ctx.container)).filter_map(move |entry| entry.pread_with(0, ctx).ok())
}

/// Whether the symbol is defined in this file, and is code, data or without a type.
pub(super) fn usable(sym: &Sym) -> bool {
    sym.st_shndx != 0 && sym.st_value != 0 && matches!(sym.st_type(), STT_FUNC | STT_OBJECT | STT_NOTYPE)
}

/// The zero-terminated text at a position of a string table.
pub(super) fn text_at(table: &[u8], at: usize) -> Option<&[u8]> {
    let tail = table.get(at..)?;
    tail.get(..tail.iter().position(|b| *b == 0)?)
}
