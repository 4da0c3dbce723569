//! The text of one stack tree: `name;count;offset;children;` for each node (`docs/exports.md`).

use crate::model::Analysis;
use crate::model::sanitize::sanitize;
use crate::render::tree_choice::{TreeChoice, TreeError, chosen_trees};
use loopbox_format::model::{Method, Report, Symbols, Token};

/// A tree is written when the product of its samples and its depth is at most this, because each sample's
/// stack is kept in full.
const MAX_STACKED_FRAMES: usize = 8_000_000;

/// The text of the stack tree of a message; without a token, of the message that was running at the dump.
///
/// # Errors
/// When the report has no such stacks, or they are invalid.
pub fn tree_text(report: &Report, analysis: &Analysis, token: Option<Token>) -> Result<String, TreeError> {
    let [tree] = chosen_trees(analysis, TreeChoice { token, merged: false })? else {
        return Err(TreeError::NoStacks(String::new()));
    };
    let token = tree.token;
    let invalid = |why: String| TreeError::Invalid { token, why };
    if let Some(error) = tree.error {
        return Err(invalid(error.into()));
    }
    let depth = tree.nodes.iter().map(|node| node.depth as usize + 1).max().unwrap_or(0);
    if depth * tree.samples() as usize > MAX_STACKED_FRAMES {
        return Err(invalid("there are too many of them for this format".into()));
    }
    let decoded = report.trees.iter().rev().find(|decoded| decoded.token == token);
    let decoded = decoded.ok_or_else(|| invalid("the decoded report does not have them".into()))?;
    loopbox_format::tree_text::write(decoded, &harmless(&report.symbols))
        .map_err(|error| invalid(error.to_string()))
}

/// Symbols with sanitised names, because the text may be printed on a terminal.
fn harmless(symbols: &Symbols) -> Symbols {
    let name = |text: &str| sanitize(text, usize::MAX);
    let methods = symbols.methods.iter().map(|method| Method {
        class: name(&method.class),
        name: name(&method.name),
        signature: name(&method.signature),
        source_file: name(&method.source_file),
    });
    Symbols { methods: methods.collect(), locations: symbols.locations.clone() }
}
