//! Turns method pointers into numbered locations, on the sampler thread, in two steps. First it reads names,
//! a few at a time and without any lock, in the fast native method that walked the stack: there no class can
//! be unloaded and no collection ends. Afterwards, in native state, it locks the symbol table and gives
//! numbers.

use crate::session::symbols::{MAX_LOCATIONS_KNOWN, NumberedSymbols, SharedSymbols, Stack};
use loopbox_art::{Fingerprint, Frame, LineTable, MethodName, MethodRef, Names, RawStack};
use loopbox_format::hash::Map;
use loopbox_format::model::{Location, LocationId, Method, MethodId, Token};
use loopbox_recorder::SymbolTable;

/// At most this number of names is read before this thread lets a garbage collection pass. Reading a name
/// takes some ten microseconds.
const NAMES_AT_ONCE: usize = 16;

/// What is known about a method at an address.
struct KnownMethod {
    fingerprint: Fingerprint,
    number: Number,
    native: bool,
    lines: LineTable,
}

/// A method's number in the symbol table.
enum Number {
    /// The method has no number yet. It gets one when a stack with the method is first numbered.
    Wanted(Method),
    Given(MethodId),
    /// The table was full.
    NoRoom,
}

/// Whose stack it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum StackOwner {
    #[default]
    Unknown,
    /// The main thread, in this message.
    Message(Token),
    /// Another thread, or the main one, in a thread dump.
    Thread(u32),
}

/// The methods and locations that the sampler has seen.
#[derive(Default)]
pub(crate) struct Symbolizer {
    generation: u32,
    methods: Map<MethodRef, KnownMethod>,
    places: Map<Frame, LocationId>,
    /// Whose stack was read last. `last` is that stack: what is unchanged at its bottom need not be checked
    /// again.
    owner: StackOwner,
    last: Vec<Frame>,
    /// The methods without a name in the stack that was read last.
    unnamed: Vec<(MethodRef, Fingerprint)>,
}

impl Symbolizer {
    /// Clears everything whose numbers in the symbol table have changed. Called before a stack is taken.
    pub(crate) fn prepare(&mut self, symbols: &SharedSymbols) {
        let generation = symbols.generation();
        if self.generation != generation || self.places.len() >= MAX_LOCATIONS_KNOWN {
            self.generation = generation;
            self.methods.clear();
            self.places.clear();
            self.last.clear();
        }
    }

    /// Takes note of a stack, and reads the names of methods that were not seen before, as many as may be
    /// read at once. To be called in the fast native method that walked the stack.
    pub(crate) fn read(&mut self, names: Names, owner: StackOwner, raw: &RawStack) {
        let frames: Vec<Frame> = raw.frames().collect();
        let same = if self.owner == owner { same_bottom(&self.last, &frames) } else { 0 };
        self.unnamed.clear();
        for (at, frame) in frames.iter().enumerate() {
            let known = self.methods.get(&frame.method).map(|known| known.fingerprint);
            if known.is_some() && at >= frames.len() - same {
                continue;
            }
            let found = names.fingerprint(frame.method);
            if known.is_some() && found != known {
                // The class was unloaded and another method lives at the address.
                self.methods.remove(&frame.method);
                self.places.retain(|place, _| place.method != frame.method);
            }
            if let Some(found) = found.filter(|_| found != known)
                && self.unnamed.iter().all(|(method, _)| *method != frame.method)
            {
                self.unnamed.push((frame.method, found));
            }
        }
        self.owner = owner;
        self.last = frames;
        self.read_more(names);
    }

    /// Whether names are left to read, because there were too many for one call.
    pub(crate) fn has_more(&self) -> bool {
        !self.unnamed.is_empty()
    }

    /// Reads some of the names that are left. To be called in a fast native method. A method whose class was
    /// unloaded since the walk is recognised by its fingerprint.
    pub(crate) fn read_more(&mut self, names: Names) {
        for (method, fingerprint) in self.unnamed.drain(..self.unnamed.len().min(NAMES_AT_ONCE)) {
            let name = names.describe(method).filter(|_| names.fingerprint(method) == Some(fingerprint));
            // One that cannot be read now may be readable the next time.
            if let Some(name) = name {
                self.methods.insert(method, KnownMethod::new(fingerprint, name));
            }
        }
    }

    /// Numbers the frames of the stack that was read; `None` when the table was renumbered since.
    pub(crate) fn number(&mut self, symbols: &SharedSymbols, raw: &RawStack) -> Option<Stack> {
        let frames = std::mem::take(&mut self.last);
        let numbered = symbols.with(|symbols| {
            if symbols.generation != self.generation {
                return None;
            }
            let mut stack = Stack::new(symbols.generation);
            for (at, frame) in frames.iter().enumerate() {
                if raw.gap_at() == Some(at) {
                    let elided = symbols.table.location(Location::Elided { frames: raw.truncated() });
                    stack.push(elided.unwrap_or(SymbolTable::NO_ROOM));
                }
                stack.push(self.location(symbols, *frame));
            }
            Some(stack)
        });
        self.last = frames;
        numbered
    }

    fn location(&mut self, symbols: &mut NumberedSymbols, frame: Frame) -> LocationId {
        if let Some(&location) = self.places.get(&frame) {
            return location;
        }
        let known = self.methods.get_mut(&frame.method);
        let is_known = known.is_some();
        let location = match known {
            Some(known) => known.location(&mut symbols.table, frame.dex_pc),
            None => unknown(&mut symbols.table, frame.method),
        };
        let Some(location) = location else {
            symbols.full = true;
            return SymbolTable::NO_ROOM;
        };
        if is_known {
            self.places.insert(frame, location);
        }
        location
    }
}

impl KnownMethod {
    fn new(fingerprint: Fingerprint, name: MethodName) -> Self {
        let method = Method {
            class: name.class,
            name: name.method,
            signature: name.signature,
            source_file: name.source_file.unwrap_or_default(),
        };
        Self { fingerprint, number: Number::Wanted(method), native: name.native, lines: name.lines }
    }

    fn location(&mut self, table: &mut SymbolTable, dex_pc: u32) -> Option<LocationId> {
        self.number = match std::mem::replace(&mut self.number, Number::NoRoom) {
            Number::Wanted(method) => table.method(method).map_or(Number::NoRoom, Number::Given),
            decided => decided,
        };
        let Number::Given(method) = self.number else { return None };
        let dex_pc = (!self.native && dex_pc != Frame::NO_DEX_PC).then_some(dex_pc);
        let line = dex_pc.and_then(|dex_pc| self.lines.line(dex_pc));
        table.location(Location::Frame { method, dex_pc, line })
    }
}

/// The location for a method whose name is not known, in this stack.
fn unknown(table: &mut SymbolTable, method: MethodRef) -> Option<LocationId> {
    let unknown = Method {
        class: "?".to_owned(),
        name: format!("{:#x}", method.0),
        signature: String::new(),
        source_file: String::new(),
    };
    let method = table.method(unknown)?;
    table.location(Location::Frame { method, dex_pc: None, line: None })
}

/// How many frames at the end of both lists are equal.
fn same_bottom(before: &[Frame], now: &[Frame]) -> usize {
    before.iter().rev().zip(now.iter().rev()).take_while(|(before, now)| before == now).count()
}
