//! How a message is named in text.

use super::analysis::Analysis;
use super::token;
use loopbox_format::looper::activity_thread;
use loopbox_format::model::{Component, LifecycleStep, LifecycleSteps, Message, Named, NamedBy, Token};

/// The name that `ActivityThread$H` has for the message's `what` on this API level: `EXECUTE_TRANSACTION`.
pub(crate) fn what_name(message: &Message, api_level: u32) -> Option<&'static str> {
    let is_activity_thread =
        message.component == Some(Component::ActivityThread) && message.callback.is_empty();
    let what = message.what.filter(|_| is_activity_thread)?;
    activity_thread(what, api_level).map(|known| known.name)
}

/// One line that identifies a message: the class of a posted Runnable, else the Handler's class and `what`;
/// or the activity whose life cycle the message runs. A name from the activity's life cycle or from the head
/// of the queue is marked as such.
pub(crate) fn message_name(message: &Message, api_level: u32) -> String {
    if let NamedBy::Lifecycle(steps) = message.named_by {
        return lifecycle_name(&message.target, steps);
    }
    let mut text = if message.callback.is_empty() {
        let target = if message.target.is_empty() { "unknown target" } else { &message.target };
        match (what_name(message, api_level), message.what) {
            (Some(name), Some(what)) => format!("{target} {name} ({what})"),
            (_, Some(what)) => format!("{target} what={what}"),
            (_, None) => target.to_owned(),
        }
    } else if message.target.is_empty() {
        message.callback.clone()
    } else {
        format!("{} on {}", message.callback, message.target)
    };
    match message.component {
        Some(Component::Receiver) => text.push_str(" [broadcast receiver]"),
        Some(Component::ServiceConnection) => text.push_str(" [service connection]"),
        Some(Component::Job) => text.push_str(" [job service]"),
        Some(Component::Frame) => text.push_str(" [frame]"),
        Some(Component::Input) => text.push_str(" [input]"),
        _ => {}
    }
    if message.named_by == NamedBy::Peek {
        text.push_str(" (by peek)");
    }
    text
}

/// The name of a message by the steps of an activity's life cycle: `Activity com.shop.Main: create, start (by
/// lifecycle callbacks)`.
fn lifecycle_name(activity: &str, steps: LifecycleSteps) -> String {
    let others = steps.iter().any(|step| step == LifecycleStep::Other);
    let own: Vec<&str> =
        steps.iter().filter(|step| *step != LifecycleStep::Other).map(|s| s.name()).collect();
    // An app may keep no names.
    let activity = if activity.is_empty() { "of the app" } else { activity };
    let others = if others { ", after steps of another one" } else { "" };
    format!("Activity {activity}: {}{others} (by lifecycle callbacks)", own.join(", "))
}

/// The title of a stack tree: the number and the name of the message whose stacks it has, or the place
/// outside of messages.
pub(crate) fn tree_title(analysis: &Analysis, token: Token) -> String {
    if analysis.is_trace_alone() {
        return "the main thread in the system's trace".into();
    }
    if token.is_outside() {
        let now = if analysis.current_token() == Some(token) { " (at the dump)" } else { "" };
        return match analysis.outside_words(token) {
            Some(words) => format!("in {words}, {}{now}", token::title(token)),
            None => token::title(token) + now,
        };
    }
    if let Some(running) = analysis.running().filter(|running| running.token == token) {
        let name = analysis.title_of(token, running.message.as_ref());
        let name = name.unwrap_or_else(|| format!("message #{token}"));
        return format!("#{token} {name} (running at the dump)");
    }
    match analysis.title_of(token, analysis.recorded_message(token)) {
        Some(name) => format!("#{token} {name}"),
        None => format!("message #{token}"),
    }
}

impl Analysis {
    /// Words for the place of something outside of messages: `input`; `None` when the place is not known.
    pub(crate) fn outside_words(&self, token: Token) -> Option<&'static str> {
        self.place_of(self.tree(token)?)?.place.words()
    }

    /// The app's method that names a message, found in its stacks: `com.example.Feed$load$1.invokeSuspend`.
    /// `None` without stacks, and where the message already has the name of that method or its class.
    pub(crate) fn named_by_stacks(&self, token: Token, message: Option<&Message>) -> Option<String> {
        let entry = &self.frames[self.tree(token)?.entry?];
        let class = message.map(|message| match message.callback.as_str() {
            "" => message.target.as_str(),
            callback => callback,
        });
        let name = entry.qualified();
        // A coroutine that is launched prints the method that it begins with.
        let as_named = class.is_some_and(|class| class == entry.class || class == name);
        (!as_named).then_some(name)
    }

    /// One line that identifies a message: its name by its stacks, its name by the Looper, or both. `None`
    /// when neither is known.
    pub(crate) fn title_of(&self, token: Token, message: Option<&Message>) -> Option<String> {
        let by_looper = message.map(|message| message_name(message, self.api_level()));
        match (self.named_by_stacks(token, message), by_looper) {
            (Some(by_stacks), Some(by_looper)) => Some(format!("{by_stacks}, by {by_looper}")),
            (by_stacks, by_looper) => by_stacks.or(by_looper),
        }
    }

    /// As [`Self::title_of`], for a message that is known. It always has a title.
    pub(crate) fn message_title(&self, token: Token, message: &Message) -> String {
        let title = self.title_of(token, Some(message));
        title.unwrap_or_else(|| message_name(message, self.api_level()))
    }

    /// The name fields of a message that the history keeps by name.
    pub(crate) fn recorded_message(&self, token: Token) -> Option<&Message> {
        let mut details = self.history.iter().flat_map(|record| &record.details);
        details.find(|detail| detail.token == token)?.message.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_hook_saw_says_where_it_is_from() {
        let named = |target: &str, callback: &str, what, named_by| {
            let component = match named_by {
                NamedBy::Lifecycle(_) => Some(Component::ActivityThread),
                _ => None,
            };
            let message =
                Message { target: target.into(), callback: callback.into(), what, component, named_by };
            message_name(&message, 29)
        };
        let of = |steps: &[LifecycleStep]| {
            NamedBy::Lifecycle(steps.iter().fold(LifecycleSteps::default(), |all, step| all.then(*step)))
        };
        use LifecycleStep::{Create, Other, Pause, Start};
        assert_eq!(
            named("com.shop.Main", "", None, of(&[Create, Start])),
            "Activity com.shop.Main: create, start (by lifecycle callbacks)"
        );
        assert_eq!(
            named("com.shop.Main", "", None, of(&[Other, Pause])),
            "Activity com.shop.Main: pause, after steps of another one (by lifecycle callbacks)"
        );
        assert_eq!(
            named("", "", None, of(&[Create])),
            "Activity of the app: create (by lifecycle callbacks)"
        );
        assert_eq!(named("com.shop.H", "", Some(5), NamedBy::Peek), "com.shop.H what=5 (by peek)");
        assert_eq!(
            named("android.os.Handler", "com.shop.R", Some(0), NamedBy::Peek),
            "com.shop.R on android.os.Handler (by peek)"
        );
        assert_eq!(named("com.shop.H", "", Some(5), NamedBy::Observer), "com.shop.H what=5");
    }
}
