//! Choosing the stack trees to write.

use crate::model::{Analysis, SampledTree, token};
use loopbox_format::model::{Feature, Token};

/// Which stacks of a report to write.
#[derive(Debug, Clone, Copy, Default)]
pub struct TreeChoice {
    /// The message whose stacks to write. `None` stands for the message that was running at the dump, or with
    /// `merged` for all messages.
    pub token: Option<Token>,
    /// Whether to sum up equal call paths instead of keeping the order of time.
    pub merged: bool,
}

/// Why the stacks cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The report has no stacks at all.
    #[error("the report has no stacks: {0}")]
    NoStacks(String),
    /// The report has stacks of other messages only.
    #[error("no stacks of {}; there are stacks of {have}", token::title(*.token))]
    NoSuchMessage {
        /// The requested message.
        token: Token,
        /// The messages that have stacks.
        have: String,
    },
    /// The stacks are invalid.
    #[error("the stacks of {} cannot be written: {why}", token::title(*.token))]
    Invalid {
        /// The message whose stacks are invalid.
        token: Token,
        /// What is wrong with the stacks.
        why: String,
    },
    /// The output could not be written.
    #[error("cannot write the stacks: {0}")]
    Io(#[from] std::io::Error),
}

/// The trees that a choice selects.
pub(crate) fn chosen_trees(a: &Analysis, choice: TreeChoice) -> Result<&[SampledTree], TreeError> {
    if a.trees.is_empty() {
        let sampler = a.features.iter().find(|f| f.feature == Feature::Sampler);
        return Err(TreeError::NoStacks(match sampler {
            Some(state) if !state.on => format!("the sampler was off ({})", state.detail),
            _ => "no message ran long enough to be kept".into(),
        }));
    }
    let token = match (choice.token, choice.merged) {
        (None, true) => return Ok(&a.trees),
        (Some(token), _) => token,
        // The stacks of the dump, else the newest ones.
        (None, false) => match a.current_token() {
            Some(current) if a.tree(current).is_some() => current,
            _ => a.trees.last().map_or(Token::NONE, |tree| tree.token),
        },
    };
    if let Some(at) = a.trees.iter().rposition(|tree| tree.token == token) {
        return Ok(&a.trees[at..=at]);
    }
    let have: Vec<String> = a.trees.iter().map(|tree| tree.token.to_string()).collect();
    Err(TreeError::NoSuchMessage { token, have: have.join(", ") })
}
