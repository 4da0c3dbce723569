//! What identifies a message.

use crate::model::Analysis;
use crate::model::message_name::{message_name, what_name};
use crate::model::name::Name;
use loopbox_format::model::{Component, Message, NamedBy, Token};
use schemars::JsonSchema;
use serde::Serialize;

/// What identifies a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MessageView<'a> {
    /// The message in one line.
    text: String,
    /// The method of the app by which the message's stacks name it, which is in `text`, too:
    /// `com.example.Feed$load$1.invokeSuspend`. null without stacks, and where the message has the name
    /// of that method's class.
    by_stacks: Option<String>,
    /// The class of the target Handler.
    target: &'a str,
    /// The class of the callback; empty when there is none.
    callback: &'a str,
    /// `Message.what`; null when it is not known.
    what: Option<i32>,
    /// What `ActivityThread$H` calls this `what` on the report's API level: `EXECUTE_TRANSACTION`.
    what_name: Option<&'static str>,
    /// The framework component that the message belongs to.
    component: Option<Name<Component>>,
    /// Where the names come from.
    named_by: Name<NamedBy>,
}

impl<'a> MessageView<'a> {
    /// A message that ran, or runs.
    pub(super) fn of(a: &'a Analysis, token: Token, message: &'a Message) -> Self {
        Self {
            text: a.message_title(token, message),
            by_stacks: a.named_by_stacks(token, Some(message)),
            ..Self::new(message, a.api_level())
        }
    }

    /// A message by what the Looper says of it.
    pub(super) fn new(message: &'a Message, api_level: u32) -> Self {
        Self {
            text: message_name(message, api_level),
            by_stacks: None,
            what_name: what_name(message, api_level),
            target: &message.target,
            callback: &message.callback,
            what: message.what,
            component: message.component.map(Name),
            named_by: Name(message.named_by),
        }
    }
}
