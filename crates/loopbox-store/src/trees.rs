//! Stack trees as the ring keeps them: each with the names that it uses, so that any one slot can be read alone.
//!
//! A shared symbol table would be smaller, but one torn write to it could cost every tree its names. Inside a tree
//! each distinct string is kept once.

use loopbox_format::codec::{self, CodecError};
use loopbox_format::model::{Location, Method, StackTree, Symbols};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hash;

/// How much of a tree found room in its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// All of it.
    Whole,
    /// All stacks, but methods by class and name only, without signatures and source files.
    NamesOnly,
}

/// What a tree slot holds. Strings are generic so that the app encodes borrowed ones.
#[derive(Serialize, Deserialize)]
struct Image<S> {
    strings: Vec<S>,
    /// Class, name, signature, source file: indexes into `strings`.
    methods: Vec<[u32; 4]>,
    locations: Vec<Location>,
    tree: StackTree,
}

/// Why a tree slot's payload is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeError {
    #[error(transparent)]
    Codec(#[from] CodecError),
    #[error("an index of the tree points outside its tables")]
    Index,
}

/// Encodes a tree with its names in at most `capacity` bytes, without its signatures and source files if it must be.
/// `Err(Ok(needed))` when even that does not fit.
pub(crate) fn encode(
    symbols: &Symbols,
    tree: &StackTree,
    capacity: usize,
) -> Result<(Vec<u8>, Kept), Result<usize, CodecError>> {
    let mut needed = 0;
    for kept in [Kept::Whole, Kept::NamesOnly] {
        let bytes = codec::encode(&image(symbols, tree, kept)).map_err(Err)?;
        if bytes.len() <= capacity {
            return Ok((bytes, kept));
        }
        needed = bytes.len();
    }
    Err(Ok(needed))
}

fn image<'a>(symbols: &'a Symbols, tree: &StackTree, kept: Kept) -> Image<&'a str> {
    let mut strings = Table::default();
    let mut methods = Table::default();
    let mut locations = Table::default();
    let mut tree = tree.clone();
    for node in &mut tree.nodes {
        // An index that leads nowhere keeps leading nowhere; the reader says so.
        let Some(&location) = symbols.locations.get(node.location as usize) else {
            node.location = u32::MAX;
            continue;
        };
        let location = match location {
            Location::Frame { method, dex_pc, line } => {
                let method = symbols.methods.get(method as usize).map_or(u32::MAX, |m| {
                    let (signature, source_file) = match kept {
                        Kept::Whole => (m.signature.as_str(), m.source_file.as_str()),
                        Kept::NamesOnly => ("", ""),
                    };
                    let fields = [m.class.as_str(), m.name.as_str(), signature, source_file];
                    let names = fields.map(|field| strings.index(field));
                    methods.index(names)
                });
                Location::Frame { method, dex_pc, line }
            }
            other => other,
        };
        node.location = locations.index(location);
    }
    Image { strings: strings.entries, methods: methods.entries, locations: locations.entries, tree }
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

/// Joins the trees of a ring to one list over common symbol tables.
#[derive(Default)]
pub(crate) struct Trees {
    methods: Table<Method>,
    locations: Table<Location>,
    pub(crate) trees: Vec<StackTree>,
}

impl Trees {
    /// Adds the tree in `payload` and returns it.
    pub(crate) fn add(&mut self, payload: &[u8]) -> Result<&StackTree, TreeError> {
        let Image { strings, methods, locations, mut tree } = codec::decode::<Image<String>>(payload)?;
        // Resolve everything before adding anything: a bad tree leaves no trace in the tables.
        let string = |at: u32| strings.get(at as usize).cloned().ok_or(TreeError::Index);
        let methods = methods
            .into_iter()
            .map(|[class, name, signature, source_file]| {
                Ok(Method {
                    class: string(class)?,
                    name: string(name)?,
                    signature: string(signature)?,
                    source_file: string(source_file)?,
                })
            })
            .collect::<Result<Vec<_>, TreeError>>()?;
        let in_table = |location: &Location| match *location {
            Location::Frame { method, .. } => (method as usize) < methods.len(),
            _ => true,
        };
        let in_tables = locations.iter().all(in_table)
            && tree.nodes.iter().all(|node| (node.location as usize) < locations.len());
        if !in_tables {
            return Err(TreeError::Index);
        }
        let methods: Vec<u32> = methods.into_iter().map(|method| self.methods.index(method)).collect();
        let locations: Vec<u32> = locations
            .into_iter()
            .map(|location| {
                self.locations.index(match location {
                    Location::Frame { method, dex_pc, line } => {
                        let method = methods.get(method as usize).copied().unwrap_or(u32::MAX);
                        Location::Frame { method, dex_pc, line }
                    }
                    other => other,
                })
            })
            .collect();
        for node in &mut tree.nodes {
            node.location = locations.get(node.location as usize).copied().unwrap_or(u32::MAX);
        }
        self.trees.push(tree);
        self.trees.last().ok_or(TreeError::Index)
    }

    /// The tables and the trees.
    pub(crate) fn finish(self) -> (Symbols, Vec<StackTree>) {
        (Symbols { methods: self.methods.entries, locations: self.locations.entries }, self.trees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{Phase, StackSource, TreeNode};

    fn symbols() -> Symbols {
        let method = |name: &str| Method {
            class: "com.example.App".into(),
            name: name.into(),
            signature: "(I)V".into(),
            source_file: "App.java".into(),
        };
        let frame = |method| Location::Frame { method, dex_pc: Some(method * 2), line: None };
        Symbols {
            methods: ["unused", "main", "work", "rest"].into_iter().map(method).collect(),
            locations: vec![frame(0), frame(1), frame(2), frame(3), Location::Elided { frames: 4 }],
        }
    }

    fn tree(token: u64, locations: &[u32]) -> StackTree {
        let node = |&location| TreeNode { location, skip: 0, count: 1, children: 0 };
        StackTree {
            token,
            start_ns: 5,
            source: StackSource::Art,
            phases: vec![Phase { first_sample: 0, interval_ns: 10 }],
            sample_deltas_ns: vec![50],
            nodes: locations.iter().map(node).collect(),
            missed_samples: 0,
            longest_stop_ns: 1,
            total_stop_ns: 2,
        }
    }

    fn names(symbols: &Symbols, tree: &StackTree) -> Vec<String> {
        let name = |node: &TreeNode| match symbols.locations[node.location as usize] {
            Location::Frame { method, .. } => symbols.methods[method as usize].name.clone(),
            _ => "...".into(),
        };
        tree.nodes.iter().map(name).collect()
    }

    #[test]
    fn trees_carry_only_the_names_they_use_and_join_to_common_tables() {
        let mut joined = Trees::default();
        for (token, locations) in [(1, &[1, 2, 4][..]), (2, &[3, 1])] {
            let (bytes, kept) = encode(&symbols(), &tree(token, locations), 4096).unwrap();
            assert_eq!(kept, Kept::Whole);
            assert_eq!(joined.add(&bytes).unwrap().token, token);
        }
        let (symbols, trees) = joined.finish();
        assert_eq!(names(&symbols, &trees[0]), ["main", "work", "..."]);
        assert_eq!(names(&symbols, &trees[1]), ["rest", "main"]);
        assert_eq!(symbols.methods.len(), 3);
    }

    #[test]
    fn a_tree_that_is_too_large_gives_up_signatures_first() {
        let full = encode(&symbols(), &tree(1, &[1, 2]), 4096).unwrap().0.len();
        let (bytes, kept) = encode(&symbols(), &tree(1, &[1, 2]), full - 1).unwrap();
        assert_eq!(kept, Kept::NamesOnly);
        let mut joined = Trees::default();
        joined.add(&bytes).unwrap();
        let (symbols, trees) = joined.finish();
        assert_eq!(names(&symbols, &trees[0]), ["main", "work"]);
        assert_eq!(symbols.methods[0].signature, "");
        assert!(matches!(encode(&symbols, &trees[0], 20), Err(Ok(21..))));
    }

    #[test]
    fn an_index_that_leads_nowhere_costs_its_tree_and_leaves_no_trace() {
        let mut joined = Trees::default();
        let (bytes, _) = encode(&symbols(), &tree(1, &[1, 77]), 4096).unwrap();
        assert!(matches!(joined.add(&bytes), Err(TreeError::Index)));
        assert_eq!(joined.finish(), (Symbols::default(), vec![]));
    }
}
