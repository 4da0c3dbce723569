//! From method pointers to numbered locations, on the sampler thread.

use crate::session::symbols::{MAX_LOCATIONS_KNOWN, NumberedSymbols, SharedSymbols, Stack};
use loopbox_art::{Art, Fingerprint, Frame, LineTable, MethodRef, RawStack};
use loopbox_format::model::{Location, Method};
use loopbox_recorder::SymbolTable;
use std::collections::HashMap;

/// What is known of a method at an address.
struct KnownMethod {
    fingerprint: Fingerprint,
    /// Number in the symbol table; `None` when it had no room.
    number: Option<u32>,
    native: bool,
    lines: LineTable,
}

/// Whose stack it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum StackOwner {
    #[default]
    Unknown,
    /// The main thread, in this message.
    Message(u64),
    /// Another thread, or the main one, in a thread dump.
    Thread(u32),
}

/// What the sampler knows of methods and locations that it has seen.
#[derive(Default)]
pub(crate) struct Symbolizer {
    generation: u32,
    methods: HashMap<MethodRef, KnownMethod>,
    places: HashMap<Frame, u32>,
    /// Whose stack was symbolized last, and that stack: what is unchanged at its bottom need not be checked again.
    owner: StackOwner,
    last: Vec<Frame>,
}

impl Symbolizer {
    /// Numbers the frames of a stack; `None` when the table is in use for too long. To be called in the fast native
    /// method that walked the stack, where no class can be unloaded.
    pub(crate) fn symbolize(
        &mut self,
        art: &Art,
        symbols: &SharedSymbols,
        owner: StackOwner,
        raw: &RawStack,
    ) -> Option<(Stack, u32)> {
        let mut symbols = symbols.lock_while_runnable()?;
        let symbols = &mut *symbols;
        if self.generation != symbols.generation || self.places.len() >= MAX_LOCATIONS_KNOWN {
            self.generation = symbols.generation;
            self.methods.clear();
            self.places.clear();
            self.last.clear();
        }
        let frames: Vec<Frame> = raw.frames().collect();
        let same = if self.owner == owner { same_bottom(&self.last, &frames) } else { 0 };
        let mut stack = Stack::EMPTY;
        for (at, frame) in frames.iter().enumerate() {
            if raw.gap_at() == Some(at) {
                let elided = symbols.table.location(Location::Elided { frames: raw.truncated() });
                stack.push(elided.unwrap_or(SymbolTable::NO_ROOM));
            }
            let trusted = at >= frames.len() - same;
            stack.push(self.location(art, symbols, *frame, trusted));
        }
        self.owner = owner;
        self.last = frames;
        Some((stack, symbols.generation))
    }

    fn location(&mut self, art: &Art, symbols: &mut NumberedSymbols, frame: Frame, trusted: bool) -> u32 {
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
        let known = self
            .methods
            .entry(frame.method)
            .or_insert_with(|| describe(art, &mut symbols.table, frame.method));
        let location = known.number.and_then(|method| {
            let dex_pc = (!known.native && frame.dex_pc != Frame::NO_DEX_PC).then_some(frame.dex_pc);
            let line = dex_pc.and_then(|dex_pc| known.lines.line(dex_pc));
            symbols.table.location(Location::Frame { method, dex_pc, line })
        });
        let Some(location) = location else {
            symbols.full = true;
            return SymbolTable::NO_ROOM;
        };
        self.places.insert(frame, location);
        location
    }
}

fn describe(art: &Art, table: &mut SymbolTable, method: MethodRef) -> KnownMethod {
    let fingerprint = art.fingerprint(method).unwrap_or_default();
    let Some(name) = art.describe(method) else {
        let unknown = Method {
            class: "?".to_owned(),
            name: format!("{:#x}", method.0),
            signature: String::new(),
            source_file: String::new(),
        };
        return KnownMethod {
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
    KnownMethod { fingerprint, number, native: name.native, lines: name.lines }
}

/// How many frames at the end of both lists are equal.
fn same_bottom(before: &[Frame], now: &[Frame]) -> usize {
    before.iter().rev().zip(now.iter().rev()).take_while(|(before, now)| before == now).count()
}
