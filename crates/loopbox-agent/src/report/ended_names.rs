//! Names of messages that have ended, found by their stacks, because the poll hook does not see the messages.
//! The stacks of short messages are not kept, so their names are kept here.

use super::running_message::{correct, may_be_another, named_by_stacks};
use crate::session::Session;
use loopbox_format::model::{Message, Report, StackTree, Symbols, Token};
use loopbox_recorder::Keep;
use std::collections::VecDeque;

/// How many names are kept at most: an estimate of how many messages with details the history has when the
/// main thread is never idle.
const MAX_NAMES: usize = 256;

/// The newest names.
#[derive(Debug, Default)]
pub(super) struct EndedNames(VecDeque<(Token, Message)>);

impl EndedNames {
    /// Remembers a message that has ended.
    pub(super) fn ended(&mut self, session: &Session, symbols: &Symbols, tree: &StackTree) {
        let Some(message) = named_by_stacks(symbols, tree, session.settings.api_level) else { return };
        if session.settings.recorder.keep == Keep::Names || message.component.is_some() {
            self.keep(tree.token, message);
        }
    }

    fn keep(&mut self, token: Token, message: Message) {
        if self.0.len() == MAX_NAMES {
            self.0.pop_front();
        }
        self.0.push_back((token, message));
    }

    /// Names the messages of the history that have no name, or perhaps another message's name.
    pub(super) fn put_into(&self, report: &mut Report) {
        let details = report.history.iter_mut().flat_map(|record| &mut record.details);
        for detail in details.filter(|detail| may_be_another(detail.message.as_ref())) {
            let Some((_, by_stack)) = self.0.iter().rev().find(|(token, _)| *token == detail.token) else {
                continue;
            };
            correct(&mut detail.message, by_stack.clone());
            if may_be_another(detail.message.as_ref()) {
                continue;
            }
            // That was of the other one.
            detail.wait_ns = None;
        }
    }
}
