//! Packs a tree and its names into few bytes, because the size of a ring limits how many trees it can keep.
//!
//! A list begins with the number of its elements. Numbers are written as in `varint`.
//!
//! ```text
//! tree      = version (one byte), head, strings, methods, locations, samples, nodes
//! head      = length, then a StackTree without samples and nodes as the codec writes it
//! strings   = list, in sorted order, of: number of bytes shared with the string before, length of the rest,
//!             the rest
//! methods   = list of: class, name, signature (indexes into strings), source file: 0 or 1 when it is the
//!             class's outermost name with `.java` or `.kt`, else its index plus 2
//! locations = list of: 1 + (method << 2 | has line << 1 | has dex pc), dex pc if any, line if any;
//!             or: 0, length, then a Location of another kind as the codec writes it
//! samples   = list of: microseconds since the sample before, minus the sampling interval, in zigzag
//! nodes     = list of: one byte, location, then skip, children and count, each only if the byte lacks it
//! byte      = (1 if skip is not 0, else 0) | min(children, 3) << 1 | min(count, 31) << 3
//!             It lacks skip if its bit is 1, children if its field is 3, and count if its field is 31.
//! ```

use super::parts::{Fidelity, Table, interval_us_at, is_source_of};
use super::varint::{put, zigzag};
use loopbox_format::codec::{self, CodecError};
use loopbox_format::model::{Location, MethodId, StackTree, Symbols, TreeNode};

/// The version of this encoding.
pub(super) const VERSION: u8 = 1;
/// The suffix of a source file that is named after its class; its index here replaces the name.
pub(super) const EXTENSIONS: [&str; 2] = [".java", ".kt"];
/// The value in a node's byte when the number of children follows it.
pub(super) const CHILDREN_FOLLOW: u32 = 3;
/// The value in a node's byte when the count follows it.
pub(super) const COUNT_FOLLOWS: u32 = 31;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Names<'a> {
    class: &'a str,
    name: &'a str,
    signature: &'a str,
    source_file: &'a str,
}

/// Packs `tree` with the part of `symbols` that it uses.
pub(super) fn pack(symbols: &Symbols, tree: &StackTree, kept: Fidelity) -> Result<Vec<u8>, CodecError> {
    let mut methods = Table::default();
    let mut locations = Table::default();
    let of_nodes: Vec<u32> = tree
        .nodes
        .iter()
        .map(|node| match symbols.location(node.location) {
            Some(location) => locations.index(own(symbols, *location, &mut methods, kept)),
            // An index that leads nowhere keeps leading nowhere, and the reader says so.
            None => u32::MAX,
        })
        .collect();
    let mut out = vec![VERSION];
    let head =
        StackTree { sample_deltas_ns: Vec::new(), nodes: Vec::new(), phases: tree.phases.clone(), ..*tree };
    put_value(&mut out, &head)?;
    put_methods(&mut out, &methods.entries);
    put(&mut out, locations.entries.len() as u64);
    for location in &locations.entries {
        put_location(&mut out, location)?;
    }
    put_samples(&mut out, tree);
    put(&mut out, tree.nodes.len() as u64);
    for (node, location) in tree.nodes.iter().zip(of_nodes) {
        put_node(&mut out, node, location);
    }
    Ok(out)
}

/// Translates a location of the common tables into a location of the tree's own tables.
fn own<'a>(
    symbols: &'a Symbols,
    location: Location,
    methods: &mut Table<Names<'a>>,
    kept: Fidelity,
) -> Location {
    let Location::Frame { method, dex_pc, line } = location else { return location };
    let method = symbols.method(method).map_or(u32::MAX, |method| {
        let mut names = Names {
            class: &method.class,
            name: &method.name,
            signature: &method.signature,
            source_file: &method.source_file,
        };
        if kept != Fidelity::Whole {
            names = Names { signature: "", source_file: "", ..names };
        }
        methods.index(names)
    });
    Location::Frame { method: MethodId(method), dex_pc, line }
}

fn put_value<T: bincode::Encode>(out: &mut Vec<u8>, value: &T) -> Result<(), CodecError> {
    let bytes = codec::encode(value)?;
    put(out, bytes.len() as u64);
    out.extend_from_slice(&bytes);
    Ok(())
}

fn put_methods(out: &mut Vec<u8>, methods: &[Names<'_>]) {
    let mut strings = Vec::new();
    let source_of_class = |names: &Names<'_>| {
        EXTENSIONS.iter().position(|end| is_source_of(names.source_file, names.class, end))
    };
    for names in methods {
        strings.extend([names.class, names.name, names.signature]);
        if source_of_class(names).is_none() {
            strings.push(names.source_file);
        }
    }
    strings.sort_unstable();
    strings.dedup();
    put(out, strings.len() as u64);
    let mut before = "";
    for &text in &strings {
        let shared = text.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
        let rest = text.as_bytes().get(shared..).unwrap_or_default();
        put(out, shared as u64);
        put(out, rest.len() as u64);
        out.extend_from_slice(rest);
        before = text;
    }
    let index = |text: &str| strings.binary_search(&text).map_or(u64::MAX >> 1, |at| at as u64);
    put(out, methods.len() as u64);
    for names in methods {
        for text in [names.class, names.name, names.signature] {
            put(out, index(text));
        }
        let named_after_class = source_of_class(names).map(|extension| extension as u64);
        put(out, named_after_class.unwrap_or_else(|| index(names.source_file) + EXTENSIONS.len() as u64));
    }
}

fn put_location(out: &mut Vec<u8>, location: &Location) -> Result<(), CodecError> {
    let Location::Frame { method, dex_pc, line } = *location else {
        put(out, 0);
        return put_value(out, location);
    };
    let has = u64::from(line.is_some()) << 1 | u64::from(dex_pc.is_some());
    put(out, 1 + (u64::from(method.0) << 2 | has));
    [dex_pc, line].into_iter().flatten().for_each(|number| put(out, u64::from(number)));
    Ok(())
}

fn put_samples(out: &mut Vec<u8>, tree: &StackTree) {
    put(out, tree.sample_deltas_ns.len() as u64);
    let mut at_ns = tree.start_ns;
    for (sample, &delta) in (0..).zip(&tree.sample_deltas_ns) {
        let before_us = at_ns.0 / 1000;
        at_ns = at_ns.plus(delta);
        let waited_us = at_ns.0 / 1000 - before_us;
        put(out, zigzag(waited_us.wrapping_sub(interval_us_at(&tree.phases, sample)).cast_signed()));
    }
}

fn put_node(out: &mut Vec<u8>, node: &TreeNode, location: u32) {
    let children = node.children.min(CHILDREN_FOLLOW);
    let count = node.count.min(COUNT_FOLLOWS);
    out.push((u32::from(node.skip != 0) | children << 1 | count << 3) as u8);
    put(out, u64::from(location));
    let following = [
        (node.skip != 0, node.skip),
        (children == CHILDREN_FOLLOW, node.children),
        (count == COUNT_FOLLOWS, node.count),
    ];
    following.into_iter().filter(|(follows, _)| *follows).for_each(|(_, number)| put(out, u64::from(number)));
}
