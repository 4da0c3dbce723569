//! Names of messages that have ended, by their stacks: the poll hook does not see the message. Stacks of
//! short messages are not kept, so the names are.

use super::running_message::{correct, may_be_another, named_by_stacks};
use crate::session::Session;
use loopbox_format::model::{Message, Report, StackTree, Symbols, Token};
use loopbox_recorder::Keep;
use std::collections::VecDeque;

/// As many as the history of a main thread that is never idle has details.
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

    /// Gives their names to messages of the history that have none.
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
