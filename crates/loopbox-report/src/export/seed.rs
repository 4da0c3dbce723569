//! The article's `;` text of one message's stack tree.

use crate::Analysis;
use crate::flame::{Choice, FlameError, chosen};
use loopbox_format::model::Report;

/// Samples times depth of the largest tree that is written: each sample's stack is held in full.
const CELLS: usize = 8_000_000;

/// `name;count;offset;children;` for each node of a message's tree; of the message that was running at the dump when
/// no token is given.
///
/// # Errors
/// When there are no such stacks, or they contradict each other.
pub fn seed(report: &Report, analysis: &Analysis, token: Option<u64>) -> Result<String, FlameError> {
    let [tree] = chosen(analysis, Choice { token, merged: false })? else {
        return Err(FlameError::NoStacks(String::new()));
    };
    let token = tree.token;
    let unusable = |why: String| FlameError::Unusable { token, why };
    if let Some(flaw) = tree.flaw {
        return Err(unusable(flaw.into()));
    }
    let depth = tree.nodes.iter().map(|node| node.depth as usize + 1).max().unwrap_or(0);
    if depth * tree.samples() as usize > CELLS {
        return Err(unusable("there are too many of them for this format".into()));
    }
    let raw = report.trees.iter().rev().find(|raw| raw.token == token);
    let raw = raw.ok_or_else(|| unusable("the tree is gone".into()))?;
    loopbox_format::seed::write(raw, &report.symbols).map_err(|error| unusable(error.to_string()))
}
