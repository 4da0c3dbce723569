//! What identifies a message.

use crate::model::Analysis;
use crate::model::message_name::{message_name, what_name};
use crate::model::name::Name;
use loopbox_format::model::{Component, LifecycleStep, Message, NamedBy, Token};

json_object! {
    /// What identifies a message.
    pub(crate) struct MessageView<'a>(a: &'a Analysis, token: Option<Token>, message: &'a Message) {
        /// The message in one line.
        text: String = match token {
            Some(token) => a.message_title(token, message),
            None => message_name(message, a.api_level()),
        },
        /// The app's method that names the message, found in the message's stacks; `text` has it, too:
        /// `com.example.Feed$load$1.invokeSuspend`. null without stacks, and where the message already has
        /// the name of that method or its class.
        by_stacks: Option<String> = token.and_then(|token| a.named_by_stacks(token, Some(message))),
        /// The class of the target Handler.
        target: &'a str = &message.target,
        /// The class of the callback; empty when there is none.
        callback: &'a str = &message.callback,
        /// `Message.what`; null when it is not known.
        what: Option<i32> = message.what,
        /// What `ActivityThread$H` calls this `what` on the report's API level: `EXECUTE_TRANSACTION`.
        what_name: Option<&'static str> = what_name(message, a.api_level()),
        /// The framework component that the message belongs to; null when it belongs to none.
        component: Option<Name<Component>> = message.component.map(Name),
        /// Where the names come from. `lifecycle`: `target` is the class of an activity, and the message's
        /// Handler is not known. `peek`: the names are from the head of the queue, read before the message
        /// was taken from it. When other threads post meanwhile, one name in some hundreds is another
        /// message's, and so are `what` and `wait_ms`.
        named_by: Name<NamedBy> = Name(message.named_by),
        /// The steps of the activity's life cycle that began in the message, oldest first, at most the last
        /// eight. A first `other` stands for all earlier steps, which were of another activity. null unless
        /// `named_by` is `lifecycle`.
        lifecycle: Option<Vec<Name<LifecycleStep>>> = match message.named_by {
            NamedBy::Lifecycle(steps) => Some(steps.iter().map(Name).collect()),
            _ => None,
        },
    }
}
