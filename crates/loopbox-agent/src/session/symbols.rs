//! The session's symbol table: methods and locations by number, shared by the sampler, which adds, and the
//! worker, which reads and cleans up.

use loopbox_format::model::{Location, LocationId, Method, StackTree, Symbols};
use loopbox_format::text::number;
use loopbox_recorder::{StackTreeBuilder, SymbolTable};
use std::sync::{Mutex, PoisonError};

/// The most frames of a stack, and one more for the mark where frames are left out.
pub(crate) const MAX_LOCATIONS: usize = loopbox_art::MAX_FRAMES + 1;

const MAX_METHODS: usize = 4_096;
pub(crate) const MAX_LOCATIONS_KNOWN: usize = 8_192;

/// A sampled stack as numbers of the symbol table.
#[derive(Clone, Copy)]
pub(crate) struct Stack {
    /// The generation of the symbol table that the numbers belong to.
    pub(crate) generation: u32,
    len: usize,
    locations: [LocationId; MAX_LOCATIONS],
}

impl Stack {
    /// A stack without frames, to be numbered in this generation.
    pub(crate) const fn new(generation: u32) -> Self {
        Self { generation, len: 0, locations: [LocationId(0); MAX_LOCATIONS] }
    }

    /// The locations of the stack's frames, top frame first.
    pub(crate) fn locations(&self) -> &[LocationId] {
        self.locations.get(..self.len).unwrap_or_default()
    }

    pub(crate) fn push(&mut self, location: LocationId) {
        if let Some(slot) = self.locations.get_mut(self.len) {
            *slot = location;
            self.len += 1;
        }
    }
}

/// The table and its lock. No thread in Java's runnable state takes the lock: that would delay every
/// collection.
pub(crate) struct SharedSymbols(Mutex<NumberedSymbols>);

/// The table, and the generation of its numbers.
pub(crate) struct NumberedSymbols {
    pub(crate) table: SymbolTable,
    /// Changes when everything was renumbered; stacks of an older generation have no meaning.
    pub(crate) generation: u32,
    /// Whether there was no room for a method or location.
    pub(crate) full: bool,
}

impl SharedSymbols {
    pub(crate) fn new() -> Self {
        let table = SymbolTable::new(MAX_METHODS, MAX_LOCATIONS_KNOWN);
        Self(Mutex::new(NumberedSymbols { table, generation: 0, full: false }))
    }

    pub(crate) fn with<T>(&self, body: impl FnOnce(&mut NumberedSymbols) -> T) -> T {
        body(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn generation(&self) -> u32 {
        self.with(|symbols| symbols.generation)
    }

    pub(crate) fn symbols(&self) -> Symbols {
        self.with(|symbols| symbols.table.symbols())
    }

    /// Adds the frames of a stack to the table. `text` has a line for each frame, as `MainStack.take` writes
    /// it.
    pub(crate) fn locate_lines(&self, text: &str) -> Stack {
        self.with(|symbols| {
            let mut stack = Stack::new(symbols.generation);
            for line in text.lines() {
                let location = location(&mut symbols.table, line);
                symbols.full |= location.is_none();
                stack.push(location.unwrap_or(SymbolTable::NO_ROOM));
            }
            stack
        })
    }

    /// Makes room when the table is full, keeping what these trees need.
    pub(crate) fn compact(&self, trees: &mut [StackTree], growing: &mut StackTreeBuilder) {
        self.with(|symbols| {
            if symbols.full {
                symbols.table.collect(trees, growing);
                symbols.generation = symbols.generation.wrapping_add(1);
                symbols.full = false;
            }
        });
    }
}

/// Reads a line: class, method, file and line number with tabs between, or how many frames are left out.
fn location(table: &mut SymbolTable, line: &str) -> Option<LocationId> {
    let mut fields = line.split('\t');
    let mut text = || fields.next().unwrap_or_default();
    let (class, name, source_file, line) = (text(), text(), text(), text());
    if name.is_empty() {
        return table.location(Location::Elided { frames: number(class).unwrap_or(1) });
    }
    let signature = String::new();
    let method = Method {
        class: class.to_owned(),
        name: name.to_owned(),
        signature,
        source_file: source_file.to_owned(),
    };
    let method = table.method(method)?;
    // Negative for native methods.
    table.location(Location::Frame { method, dex_pc: None, line: number(line) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::MethodId;

    #[test]
    fn lines_become_locations() {
        let shared = SharedSymbols::new();
        let text = "java.lang.Object\twait\tObject.java\t-2\na.B\trun\t\t17\n275\na.B\trun\t\t17\n";
        let stack = shared.locate_lines(text);
        assert_eq!(stack.generation, shared.generation());
        let symbols = shared.symbols();
        let seen: Vec<_> = stack.locations().iter().map(|&at| *symbols.location(at).unwrap()).collect();
        let frame = |method, line| Location::Frame { method: MethodId(method), dex_pc: None, line };
        assert_eq!(
            seen,
            [frame(0, None), frame(1, Some(17)), Location::Elided { frames: 275 }, frame(1, Some(17))]
        );
        assert_eq!(symbols.methods[0].source_file, "Object.java");
    }
}
