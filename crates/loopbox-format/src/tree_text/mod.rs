//! Qimao's text form of a trace tree: `name;count;offset;children;` for each node, in pre-order.
//!
//! `count` is how many consecutive samples have the frame, and `offset` is the index of the first of them.
//! `children` is how many of the following nodes are direct children. There is one root, and there are no
//! times.

mod names;

use crate::model::{Location, LocationId, Phase, StackSource, StackTree, Symbols, Token, TreeNode, Uptime};
use crate::stacks::{self, Placed, TreeError, TreeMerger};
use std::collections::HashMap;

/// Name of the root that is added when the samples have no frame in common.
const NO_COMMON_ROOT: &str = "(root)";
/// The age of a message at its first sample, as Qimao configures it.
const ONSET_NS: u64 = 50_000_000;
/// The sampling interval that Qimao configures.
const INTERVAL_NS: u64 = 10_000_000;
/// The most samples that a text may claim. The recorder of Qimao, which this text format comes from, writes
/// at most 5000.
const MAX_SAMPLES: u32 = 1 << 20;

/// Writes a tree as Qimao does.
///
/// Its frames are methods: code locations in the same method become one node where they follow each other.
///
/// # Errors
/// When the tree's nodes contradict each other.
pub fn write(tree: &StackTree, symbols: &Symbols) -> Result<String, TreeError> {
    let mut numbers = HashMap::new();
    let mut names = vec![NO_COMMON_ROOT.to_owned()];
    let mut merger = TreeMerger::new(usize::MAX);
    let mut number = |location: LocationId| {
        let name = name(symbols, location);
        *numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            LocationId(names.len() as u32 - 1)
        })
    };
    let all: Vec<Vec<LocationId>> =
        stacks::stacks(tree)?.map(|stack| stack.into_iter().map(&mut number).collect()).collect();
    let common = all.first().and_then(|stack| stack.first()).copied();
    let has_common_root = common.is_some() && all.iter().all(|stack| stack.first().copied() == common);
    for stack in &all {
        let root = (!has_common_root).then_some(LocationId(0));
        merger.push(root.into_iter().chain(stack.iter().copied()));
    }
    let merged = StackTree { nodes: merger.nodes().to_vec(), ..tree.clone() };
    let mut text = String::new();
    for (node, place) in merged.nodes.iter().zip(stacks::place(&merged)?) {
        let name = names.get(node.location.0 as usize).map_or(NO_COMMON_ROOT, String::as_str);
        let Placed { begin, .. } = place;
        for field in [name, &node.count.to_string(), &begin.to_string(), &node.children.to_string()] {
            text.push_str(field);
            text.push(';');
        }
    }
    Ok(text)
}

fn name(symbols: &Symbols, location: LocationId) -> String {
    match symbols.location(location) {
        Some(&Location::Frame { method, .. }) => match symbols.method(method) {
            // The separator may not stand in a name.
            Some(method) => names::pretty(method).replace(';', ":"),
            None => format!("(method {})", method.0),
        },
        Some(Location::Elided { frames }) => format!("({frames} frames left out)"),
        None => format!("(location {})", location.0),
    }
}

/// Why a text is not a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// The text ends inside of a node.
    #[error("the text ends inside of node {node}")]
    Cut {
        /// The node's index.
        node: usize,
    },
    /// A field that must have a number has another text.
    #[error("node {node}: {field} is {text:?}, not a number")]
    Number {
        /// The index of the node that has the field.
        node: usize,
        /// The name of the field.
        field: &'static str,
        /// The text of the field.
        text: String,
    },
    /// A node begins before the end of the one before it, or there are too many samples.
    #[error("node {node} begins at sample {offset}, inside of the node before it")]
    Overlap {
        /// Its index.
        node: usize,
        /// The sample at which the node would begin.
        offset: u32,
    },
    /// The root claims an absurd number of samples.
    #[error("{samples} samples, more than any tree has")]
    TooLarge {
        /// The number that the root claims.
        samples: u32,
    },
    /// The nodes contradict each other.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A node follows after the root's last descendant.
    #[error("node {node} belongs to no root")]
    Trailing {
        /// The index of the node that follows.
        node: usize,
    },
}

/// Reads Qimao's text. The text has no times, so Qimao's configured ones are used (first sample at 50 ms,
/// then each 10 ms); the token is [`Token::NONE`].
///
/// # Errors
/// The first thing that is wrong.
pub fn parse(text: &str) -> Result<(StackTree, Symbols), SeedError> {
    let mut symbols = Symbols::default();
    let mut numbers: HashMap<&str, LocationId> = HashMap::new();
    let mut nodes: Vec<TreeNode> = Vec::new();
    // Of each open node: up to where its children cover the samples, and how many are still to come.
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut samples = 0;
    let mut fields = text.trim().split(';');
    loop {
        let node = nodes.len();
        let Some(name) = fields.next() else { break };
        // The text ends in a separator.
        let Some(count) = fields.next() else {
            if name.is_empty() {
                break;
            }
            return Err(SeedError::Cut { node });
        };
        let count = number(node, "count", count)?;
        let offset = number(node, "offset", fields.next().ok_or(SeedError::Cut { node })?)?;
        let children = number(node, "children", fields.next().ok_or(SeedError::Cut { node })?)?;
        while open.last().is_some_and(|&(_, left)| left == 0) {
            open.pop();
        }
        let skip = match open.last_mut() {
            Some((end, left)) => {
                let skip = offset.checked_sub(*end).ok_or(SeedError::Overlap { node, offset })?;
                *end = offset.saturating_add(count);
                *left -= 1;
                skip
            }
            None if node > 0 => return Err(SeedError::Trailing { node }),
            None => {
                if count > MAX_SAMPLES {
                    return Err(SeedError::TooLarge { samples: count });
                }
                samples = count;
                offset
            }
        };
        let location = *numbers.entry(name).or_insert_with(|| {
            let method = symbols.push_method(names::method(name));
            symbols.push_location(Location::Frame { method, dex_pc: None, line: None })
        });
        nodes.push(TreeNode { location, skip, count, children });
        open.push((offset, children));
    }
    let tree = StackTree {
        token: Token::NONE,
        start_ns: Uptime::ZERO,
        source: StackSource::Art,
        phases: vec![Phase { first_sample: 0, interval_ns: INTERVAL_NS }],
        sample_deltas_ns: (0..samples)
            .map(|sample| if sample == 0 { ONSET_NS } else { INTERVAL_NS })
            .collect(),
        nodes,
        missed_samples: 0,
        longest_stop_ns: 0,
        total_stop_ns: 0,
    };
    stacks::place(&tree)?;
    Ok((tree, symbols))
}

fn number(node: usize, field: &'static str, text: &str) -> Result<u32, SeedError> {
    text.parse().map_err(|_| SeedError::Number { node, field, text: text.chars().take(40).collect() })
}

#[cfg(test)]
#[path = "tree_text_test.rs"]
mod tests;
