//! How [`loopbox_format::problem`] decides that two reports, stalls or jank frames show the same problem.
//!
//! The app computes the same signatures for its own reports. Here names may be retraced, and the app's
//! packages may be known, which makes groups more exact.

use crate::diagnose::Diagnosis;
use crate::model::{Analysis, SampledNode, SampledTree, method_ids};
use crate::smoothness::{message_token, tree_token};
use loopbox_format::model::{JankFrame, Named as _, Token};
use loopbox_format::problem::{self, Method, Node, OUTSIDE, Signature, Words, subject};

/// The cause of an unclear diagnosis.
const UNCLEAR: &str = "unclear";

/// The problem that a report, a stall or a jank frame shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The signature, which is equal in all reports, stalls and jank frames of the same problem.
    pub signature: Signature,
    /// The rule of the primary cause, or `unclear`.
    pub cause: String,
    /// The name of the message: its callback, or its Handler class and `what`. For work outside of messages,
    /// its place. Empty when it is not known.
    pub message: String,
    /// The message whose stacks the signature is made from; `None` when it is not known.
    pub(super) token: Option<Token>,
}

impl Problem {
    /// The problem of a report with its diagnosis.
    pub fn new(a: &Analysis, diagnosis: &Diagnosis) -> Self {
        let token = subject(&a.main, &a.history, a.dump_ns).map(|subject| subject.token);
        let token = token.or_else(|| a.current_token().filter(|_| a.is_trace_alone()));
        Self::of(a, diagnosis.primary_cause().map_or(UNCLEAR, |cause| cause.rule), "", token)
    }

    /// Identifies the problem of a jank frame by the stacks of the message that delayed it, or else by that
    /// message's name.
    pub(super) fn of_jank(a: &Analysis, jank: &JankFrame) -> Self {
        let cause = jank.place.map_or(UNCLEAR, |place| place.name());
        Self::of(a, cause, cause, tree_token(a, jank).or_else(|| message_token(jank)))
    }

    fn of(a: &Analysis, cause: &str, compared: &str, token: Option<Token>) -> Self {
        // Of a trace alone nobody knows in which message main was, or whether in one.
        let named = token.filter(|_| !a.is_trace_alone());
        let words = named.and_then(|token| words(a, token)).unwrap_or_default();
        let path = token.and_then(|token| a.tree(token)).map(|tree| path(a, tree)).unwrap_or_default();
        let signature = Signature::new(&path, compared, &words, &a.meta.process.app_version);
        let place = named.filter(|token| token.is_outside()).and_then(|token| a.outside_words(token));
        let message = place.map_or(words.text, |place| format!("{OUTSIDE}, {place}"));
        Self { signature, cause: cause.to_owned(), message, token }
    }
}

fn words(a: &Analysis, token: Token) -> Option<Words> {
    if token.is_outside() {
        return Some(Words::outside());
    }
    let running = a.running().filter(|running| running.token == token).and_then(|r| r.message.as_ref());
    running.or_else(|| a.recorded_message(token)).map(Words::new)
}

fn path<'a>(a: &'a Analysis, tree: &SampledTree) -> Vec<Method<'a>> {
    let methods = method_ids(&a.frames);
    let node = |node: &SampledNode| Node {
        parent: node.parent,
        method: methods[node.frame.index()],
        total_ns: node.total_ns,
    };
    let nodes: Vec<Node> = tree.nodes.iter().map(node).collect();
    problem::path(&nodes, tree.total_ns(), |node| a.frames[tree.nodes[node as usize].frame].as_method())
}
