//! Stack trees as the ring keeps them: each with the names that it uses, so that each can be read alone.
//!
//! A common symbol table would be smaller, but one torn write to it could lose the names of every tree.

mod downsample;
mod pack;
mod pages;
mod parts;
mod unpack;
mod varint;

use loopbox_format::codec::CodecError;
use loopbox_format::model::{Location, LocationId, Method, MethodId, StackTree, Symbols, Uptime};
use parts::{NAMES_BUDGET, Table};

pub(crate) use pages::{HEADER_LEN as PAGE_HEADER_LEN, Pages};
pub use parts::Fidelity;
pub(crate) use parts::TreeError;

/// Why a tree cannot be kept.
#[derive(Debug)]
pub(crate) enum PackError {
    Codec(CodecError),
    /// The tree needs at least this many bytes.
    TooLarge(usize),
}

/// Packs a tree into at most `capacity` bytes. It starts with the fidelity `from`, and lowers it until the
/// tree fits. Returns the bytes and the fidelity that they have.
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
    /// Adds a packed tree, unless it is there already. Returns the time of the tree's last sample.
    ///
    /// When a message ends, its tree is in the ring twice for a moment: as a kept tree and as the running
    /// message's. But a different tree of the same message is not a copy: a report may have asked Java for a
    /// stack before ART's stacks were there.
    pub(crate) fn add(&mut self, packed: &[u8]) -> Result<Uptime, TreeError> {
        let unpack::Unpacked { methods, locations, mut tree } = unpack::unpack(packed, &mut self.budget)?;
        let last_sample = tree.sample_deltas_ns.iter().fold(tree.start_ns, |at, &delta| at.plus(delta));
        if self.trees.iter().any(|kept| begins_as(kept, &tree)) {
            return Ok(last_sample);
        }
        let methods: Vec<u32> = methods.into_iter().map(|method| self.methods.index(method)).collect();
        let joined = |index: u32, table: &[u32]| table.get(index as usize).copied().unwrap_or(u32::MAX);
        let locations: Vec<u32> = locations
            .into_iter()
            .map(|location| match location {
                Location::Frame { method, dex_pc, line } => {
                    Location::Frame { method: MethodId(joined(method.0, &methods)), dex_pc, line }
                }
                other => other,
            })
            .map(|location| self.locations.index(location))
            .collect();
        for node in &mut tree.nodes {
            node.location = LocationId(joined(node.location.0, &locations));
        }
        self.trees.push(tree);
        Ok(last_sample)
    }

    /// The tables and the trees.
    pub(crate) fn finish(self) -> (Symbols, Vec<StackTree>) {
        (Symbols { methods: self.methods.entries, locations: self.locations.entries }, self.trees)
    }
}

/// Whether `one` and `other` are the same tree, possibly with a different number of samples. Both then have
/// the same first sample, because reducing a tree never removes that.
fn begins_as(one: &StackTree, other: &StackTree) -> bool {
    let begin =
        |tree: &StackTree| (tree.token, tree.source, tree.start_ns, tree.sample_deltas_ns.first().copied());
    begin(one) == begin(other)
}

#[cfg(all(test, not(loom)))]
mod tests;
