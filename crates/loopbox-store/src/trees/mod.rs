//! Stack trees as the ring keeps them: each with the names that it uses, so that any one can be read alone.
//!
//! A shared symbol table would be smaller, but one torn write to it could cost every tree its names.

mod downsample;
mod pack;
mod pages;
mod unpack;
mod varint;

use loopbox_format::codec::CodecError;
use loopbox_format::model::{Location, Method, Phase, StackTree, Symbols};
use std::collections::HashMap;
use std::hash::Hash;

pub(crate) use pages::{HEADER_LEN as PAGE_HEADER_LEN, Pages};

/// How much of a tree found room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fidelity {
    /// All of it.
    Whole,
    /// All stacks, but methods by class and name only, without signatures and source files.
    NamesOnly,
    /// As `NamesOnly`, and of the samples only every so many; the others count as missed.
    EveryNth(u32),
}

impl Fidelity {
    /// The next smaller form.
    fn less(self) -> Self {
        match self {
            Self::Whole => Self::NamesOnly,
            Self::NamesOnly => Self::EveryNth(2),
            Self::EveryNth(n) => Self::EveryNth(n.saturating_mul(2)),
        }
    }
}

/// Why a packed tree is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeError {
    #[error("stack tree: {0}")]
    Codec(#[from] CodecError),
    #[error("stack tree of version {0}, which this program does not read")]
    Version(u8),
    #[error("stack tree is cut")]
    Cut,
    #[error("bytes follow the stack tree")]
    Trailing,
    #[error("stack tree refers to something outside of its tables")]
    Index,
    #[error("stack tree has a name that is not UTF-8")]
    Text,
    #[error("the names of the stack trees are longer than {NAMES_BUDGET} bytes in all")]
    Budget,
}

/// Why a tree cannot be kept.
#[derive(Debug)]
pub(crate) enum PackError {
    Codec(CodecError),
    /// It needs this many bytes at least.
    TooLarge(usize),
}

/// Packs a tree into at most `capacity` bytes: whole if possible, else with less, beginning at `from`.
pub(crate) fn pack_within(
    symbols: &Symbols,
    tree: &StackTree,
    capacity: usize,
    from: Fidelity,
) -> Result<(Vec<u8>, Fidelity), PackError> {
    let mut kept = from;
    loop {
        let thinned = match kept {
            Fidelity::EveryNth(n) => downsample::every_nth(tree, n),
            _ => None,
        };
        let bytes = pack::pack(symbols, thinned.as_ref().unwrap_or(tree), kept).map_err(PackError::Codec)?;
        if bytes.len() <= capacity {
            return Ok((bytes, kept));
        }
        let last = matches!(kept, Fidelity::EveryNth(n) if n as usize >= tree.sample_deltas_ns.len());
        if last || matches!(kept, Fidelity::EveryNth(_)) && thinned.is_none() {
            return Err(PackError::TooLarge(bytes.len()));
        }
        kept = kept.less();
    }
}

/// The interval asked for at a sample, in microseconds; 0 when the phases do not say.
fn interval_us_at(phases: &[Phase], sample: u32) -> u64 {
    phases.iter().rev().find(|phase| phase.first_sample <= sample).map_or(0, |phase| phase.interval_ns / 1000)
}

/// The name of the outermost class, without its package.
fn outermost(class: &str) -> &str {
    let simple = class.rsplit_once('.').map_or(class, |(_, simple)| simple);
    simple.split_once('$').map_or(simple, |(outer, _)| outer)
}

fn is_source_of(source_file: &str, class: &str, extension: &str) -> bool {
    source_file.strip_suffix(extension) == Some(outermost(class))
}

fn source_of(class: &str, extension: &str) -> String {
    format!("{}{extension}", outermost(class))
}

/// Distinct values in order of appearance.
struct Table<T> {
    entries: Vec<T>,
    index: HashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), index: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn index(&mut self, value: T) -> u32 {
        let next = self.entries.len() as u32;
        let index = *self.index.entry(value.clone()).or_insert(next);
        if index == next {
            self.entries.push(value);
        }
        index
    }
}

/// How many bytes of names the trees of one ring may unpack to.
const NAMES_BUDGET: usize = 8 << 20;

/// Joins the trees of a ring to one list over common symbol tables.
pub(crate) struct Trees {
    methods: Table<Method>,
    locations: Table<Location>,
    trees: Vec<StackTree>,
    budget: usize,
}

impl Default for Trees {
    fn default() -> Self {
        Self {
            methods: Table::default(),
            locations: Table::default(),
            trees: Vec::new(),
            budget: NAMES_BUDGET,
        }
    }
}

impl Trees {
    /// Adds a packed tree, unless there is one of the same message already, and returns when its last sample was
    /// taken.
    pub(crate) fn add(&mut self, packed: &[u8]) -> Result<u64, TreeError> {
        let unpack::Unpacked { methods, locations, mut tree } = unpack::unpack(packed, &mut self.budget)?;
        let last_sample =
            tree.sample_deltas_ns.iter().fold(tree.start_ns, |at, &delta| at.saturating_add(delta));
        if self.trees.iter().any(|kept| kept.token == tree.token) {
            return Ok(last_sample);
        }
        let methods: Vec<u32> = methods.into_iter().map(|method| self.methods.index(method)).collect();
        let joined = |index: u32, table: &[u32]| table.get(index as usize).copied().unwrap_or(u32::MAX);
        let locations: Vec<u32> = locations
            .into_iter()
            .map(|location| match location {
                Location::Frame { method, dex_pc, line } => {
                    Location::Frame { method: joined(method, &methods), dex_pc, line }
                }
                other => other,
            })
            .map(|location| self.locations.index(location))
            .collect();
        for node in &mut tree.nodes {
            node.location = joined(node.location, &locations);
        }
        self.trees.push(tree);
        Ok(last_sample)
    }

    /// The tables and the trees.
    pub(crate) fn finish(self) -> (Symbols, Vec<StackTree>) {
        (Symbols { methods: self.methods.entries, locations: self.locations.entries }, self.trees)
    }
}

#[cfg(test)]
mod tests;
