//! What packing and unpacking a tree share.

use loopbox_format::codec::CodecError;
use loopbox_format::hash::Map;
use loopbox_format::model::Phase;
use std::hash::Hash;

/// How much of a tree fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fidelity {
    /// All of the tree.
    Whole,
    /// All stacks, but methods only by class and name, without signatures and source files.
    NamesOnly,
    /// As `NamesOnly`, and with only every n-th sample; the others count as missed.
    EveryNth(u32),
}

impl Fidelity {
    /// The next lower fidelity, with which a tree takes fewer bytes.
    pub(super) fn less(self) -> Self {
        match self {
            Self::Whole => Self::NamesOnly,
            Self::NamesOnly => Self::EveryNth(2),
            Self::EveryNth(n) => Self::EveryNth(n.saturating_mul(2)),
        }
    }
}

/// Why a packed tree cannot be used.
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

/// How many bytes the names of all trees of one ring may unpack to.
pub(super) const NAMES_BUDGET: usize = 8 << 20;

/// The interval in effect at a sample, in microseconds; 0 when the phases do not contain it.
pub(super) fn interval_us_at(phases: &[Phase], sample: u32) -> u64 {
    phases.iter().rev().find(|phase| phase.first_sample <= sample).map_or(0, |phase| phase.interval_ns / 1000)
}

/// The name of the outermost class, without its package.
fn outermost(class: &str) -> &str {
    let simple = class.rsplit_once('.').map_or(class, |(_, simple)| simple);
    simple.split_once('$').map_or(simple, |(outer, _)| outer)
}

pub(super) fn is_source_of(source_file: &str, class: &str, extension: &str) -> bool {
    source_file.strip_suffix(extension) == Some(outermost(class))
}

pub(super) fn source_of(class: &str, extension: &str) -> String {
    format!("{}{extension}", outermost(class))
}

/// Distinct values in order of appearance.
pub(super) struct Table<T> {
    pub(super) entries: Vec<T>,
    index: Map<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), index: Map::default() }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    pub(super) fn index(&mut self, value: T) -> u32 {
        let next = self.entries.len() as u32;
        let index = *self.index.entry(value.clone()).or_insert(next);
        if index == next {
            self.entries.push(value);
        }
        index
    }
}
