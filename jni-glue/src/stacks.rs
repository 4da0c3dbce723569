//! From method pointers to numbered locations, on the sampler thread.

use loopbox_art::{Art, Fingerprint, Frame, LineTable, MethodRef, RawStack};
use loopbox_format::model::{Location, Method, StackTree, Symbols};
use loopbox_recorder::{StackTreeBuilder, SymbolTable};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The most frames of a stack, and the mark for those left out.
pub(crate) const MAX_LOCATIONS: usize = loopbox_art::MAX_FRAMES + 1;

const MAX_METHODS: usize = 4_096;
const MAX_LOCATIONS_KNOWN: usize = 8_192;

/// A sampled stack in numbers of the symbol table.
#[derive(Clone, Copy)]
pub(crate) struct Stack {
    len: usize,
    locations: [u32; MAX_LOCATIONS],
}

impl Stack {
    pub(crate) const EMPTY: Self = Self { len: 0, locations: [0; MAX_LOCATIONS] };

    /// Top frame first.
    pub(crate) fn locations(&self) -> &[u32] {
        self.locations.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, location: u32) {
        if let Some(slot) = self.locations.get_mut(self.len) {
            *slot = location;
            self.len += 1;
        }
    }
}

/// The symbol table, shared by the sampler, which adds, and the worker, which reads and tidies up.
pub(crate) struct Names(Mutex<Numbered>);

struct Numbered {
    table: SymbolTable,
    /// Changes when everything was renumbered; stacks of an older generation have no meaning.
    generation: u32,
    full: bool,
}

impl Names {
    pub(crate) fn new() -> Self {
        let table = SymbolTable::new(MAX_METHODS, MAX_LOCATIONS_KNOWN);
        Self(Mutex::new(Numbered { table, generation: 0, full: false }))
    }

    fn with<T>(&self, body: impl FnOnce(&mut Numbered) -> T) -> T {
        body(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn generation(&self) -> u32 {
        self.with(|names| names.generation)
    }

    pub(crate) fn symbols(&self) -> Symbols {
        self.with(|names| names.table.symbols())
    }

    /// Numbers the frames of a stack in text, a line for each as `MainStack.take` writes them.
    pub(crate) fn locate_lines(&self, text: &str) -> (Stack, u32) {
        self.with(|names| {
            let mut stack = Stack::EMPTY;
            for line in text.lines() {
                let location = location(&mut names.table, line);
                names.full |= location.is_none();
                stack.push(location.unwrap_or(SymbolTable::NO_ROOM));
            }
            (stack, names.generation)
        })
    }

    /// Makes room when the table is full, keeping what these trees need.
    pub(crate) fn tidy_up(&self, trees: &mut [StackTree], growing: &mut StackTreeBuilder) {
        self.with(|names| {
            if names.full {
                names.table.collect(trees, growing);
                names.generation = names.generation.wrapping_add(1);
                names.full = false;
            }
        });
    }
}

/// What is known of a method at an address.
struct Known {
    fingerprint: Fingerprint,
    /// Number in the symbol table; `None` when it had no room.
    number: Option<u32>,
    native: bool,
    lines: LineTable,
}

/// The sampler's memory of methods and places.
#[derive(Default)]
pub(crate) struct Locator {
    generation: u32,
    methods: HashMap<MethodRef, Known>,
    places: HashMap<Frame, u32>,
    /// The message and the stack located last: what is unchanged at its bottom needs no second look.
    token: u64,
    before: Vec<Frame>,
}

impl Locator {
    /// Numbers the frames of a stack. In the fast native method that walked it, where no class can be unloaded.
    pub(crate) fn locate(&mut self, art: &Art, names: &Names, token: u64, raw: &RawStack) -> (Stack, u32) {
        names.with(|names| {
            if self.generation != names.generation || self.places.len() >= MAX_LOCATIONS_KNOWN {
                self.generation = names.generation;
                self.methods.clear();
                self.places.clear();
                self.before.clear();
            }
            let frames: Vec<Frame> = raw.frames().collect();
            let same = if self.token == token { same_bottom(&self.before, &frames) } else { 0 };
            let mut stack = Stack::EMPTY;
            for (at, frame) in frames.iter().enumerate() {
                if raw.gap_at() == Some(at) {
                    let elided = names.table.location(Location::Elided { frames: raw.truncated() });
                    stack.push(elided.unwrap_or(SymbolTable::NO_ROOM));
                }
                let trusted = at >= frames.len() - same;
                stack.push(self.place(art, names, *frame, trusted));
            }
            self.token = token;
            self.before = frames;
            (stack, names.generation)
        })
    }

    fn place(&mut self, art: &Art, names: &mut Numbered, frame: Frame, trusted: bool) -> u32 {
        if !trusted
            && let Some(known) = self.methods.get(&frame.method)
            && art.fingerprint(frame.method) != Some(known.fingerprint)
        {
            // The class was unloaded and another method lives at the address.
            self.methods.remove(&frame.method);
            self.places.retain(|place, _| place.method != frame.method);
        }
        if let Some(&location) = self.places.get(&frame) {
            return location;
        }
        let known =
            self.methods.entry(frame.method).or_insert_with(|| describe(art, &mut names.table, frame.method));
        let location = known.number.and_then(|method| {
            let dex_pc = (!known.native && frame.dex_pc != Frame::NO_DEX_PC).then_some(frame.dex_pc);
            let line = dex_pc.and_then(|dex_pc| known.lines.line(dex_pc));
            names.table.location(Location::Frame { method, dex_pc, line })
        });
        let Some(location) = location else {
            names.full = true;
            return SymbolTable::NO_ROOM;
        };
        self.places.insert(frame, location);
        location
    }
}

/// Class, method, file and line number with tabs between them; or how many frames are left out.
fn location(table: &mut SymbolTable, line: &str) -> Option<u32> {
    let mut fields = line.split('\t');
    let mut text = || fields.next().unwrap_or_default();
    let (class, name, source_file, line) = (text(), text(), text(), text());
    if name.is_empty() {
        return table.location(Location::Elided { frames: class.parse().unwrap_or(1) });
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
    table.location(Location::Frame { method, dex_pc: None, line: line.parse().ok() })
}

fn describe(art: &Art, table: &mut SymbolTable, method: MethodRef) -> Known {
    let fingerprint = art.fingerprint(method).unwrap_or_default();
    let Some(name) = art.describe(method) else {
        let unknown = Method {
            class: "?".to_owned(),
            name: format!("{:#x}", method.0),
            signature: String::new(),
            source_file: String::new(),
        };
        return Known {
            fingerprint,
            number: table.method(unknown),
            native: false,
            lines: LineTable::default(),
        };
    };
    let number = table.method(Method {
        class: name.class,
        name: name.method,
        signature: name.signature,
        source_file: name.source_file.unwrap_or_default(),
    });
    Known { fingerprint, number, native: name.native, lines: name.lines }
}

/// How many frames at the end of both lists are equal.
fn same_bottom(before: &[Frame], now: &[Frame]) -> usize {
    before.iter().rev().zip(now.iter().rev()).take_while(|(before, now)| before == now).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_locations() {
        let names = Names::new();
        let text = "java.lang.Object\twait\tObject.java\t-2\na.B\trun\t\t17\n275\na.B\trun\t\t17\n";
        let (stack, generation) = names.locate_lines(text);
        assert_eq!(generation, names.generation());
        let symbols = names.symbols();
        let seen: Vec<_> = stack.locations().iter().map(|&at| symbols.locations[at as usize]).collect();
        let frame = |method, line| Location::Frame { method, dex_pc: None, line };
        assert_eq!(
            seen,
            [frame(0, None), frame(1, Some(17)), Location::Elided { frames: 275 }, frame(1, Some(17))]
        );
        assert_eq!(symbols.methods[0].source_file, "Object.java");
    }
}
