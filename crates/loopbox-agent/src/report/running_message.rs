//! Names the running message: by the line that Looper printed at its start, or else by its stack.

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{call, class_cache};
use crate::session::Session;
use crate::sys::log;
use loopbox_format::model::{
    Component, Location, LocationId, MainState, Message, Method, NamedBy, Report, Running, StackTree,
    Symbols, Token,
};
use loopbox_format::{looper, stacks};
use loopbox_recorder::{BIND_APPLICATION, Described, Keep};
use std::sync::atomic::Ordering;

/// The name from the line that Looper has printed at the start of this message; `None` when another message
/// runs by now.
pub(super) fn name_by_looper(env: &mut Env<'_>, session: &Session, running: &Running) -> Option<Message> {
    let classes = class_cache::get()?;
    let found = call::with_frame(env, |env| {
        // SAFETY: looked up in this class with this signature: no arguments, a String.
        let line = unsafe { call::object(env, (&classes.calls, classes.calls_running_line), &[]) }?;
        // SAFETY: a String, as the method's type says.
        Ok(unsafe { raw::text(env, &line) })
    });
    match found {
        Ok(line) => {
            let line = line.filter(|_| session.shared.main.token() == running.token)?;
            match line.strip_prefix(INPUT) {
                // A loop inside of it runs other messages, which have other lines, if any.
                Some(window) => (running.depth == 1).then(|| named_by_window(window)),
                None => Some(named_by_line(&line)),
            }
        }
        Err(Failure(why)) => {
            log::warn(&["the running message's Looper line cannot be read: ", &why].concat());
            None
        }
    }
}

/// While a window handles input, [`name_by_looper`] gets a text that begins with this, and not a line of
/// Looper. The class that was called comes after it.
const INPUT: &str = "input ";

fn named_by_window(class: &str) -> Message {
    owned(&Described { target: class, callback: "", what: None, named_by: NamedBy::Window })
}

/// A description as a message of a report.
fn owned(described: &Described<'_>) -> Message {
    let &Described { target, callback, what, named_by } = described;
    let component = match named_by {
        NamedBy::Window => Some(Component::Input),
        NamedBy::Lifecycle(_) => Some(Component::ActivityThread),
        _ => looper::component(target, callback),
    };
    Message { target: target.to_owned(), callback: callback.to_owned(), what, component, named_by }
}

/// The name from what is known without the message object: from callbacks of the framework that ran in the
/// message, or from the queue's head, read before the message was taken.
pub(super) fn name_by_hint(session: &Session, running: &Running) -> Option<Message> {
    session.shared.main.hint(running.token).described().as_ref().map(owned)
}

/// The name of the running message if recording began in it, and if the stack at the installation showed that
/// it binds the application.
pub(super) fn name_by_install(session: &Session, running: &Running) -> Option<Message> {
    let first =
        running.token == Token(1) && running.depth == 1 && session.began_in_bind.load(Ordering::Relaxed);
    first.then(|| owned(&BIND_APPLICATION))
}

fn named_by_line(text: &str) -> Message {
    let line = looper::dispatch(text);
    owned(&Described {
        target: line.target,
        callback: line.callback,
        what: line.what,
        named_by: NamedBy::Printer,
    })
}

/// Uses the last stack to name a running message that has no name yet, as far as `keep` allows.
pub(super) fn name_by_stack(report: &mut Report, keep: Keep) {
    let MainState::Running(running) = &mut report.main else { return };
    if may_be_another(running.message.as_ref()) {
        let tree = report.trees.last().filter(|tree| tree.token == running.token);
        let api_level = report.meta.process.api_level;
        if let Some(by_stack) = tree.and_then(|tree| named_by_last_stack(&report.symbols, tree, api_level)) {
            correct(&mut running.message, by_stack);
        }
    }
    if keep == Keep::ComponentsOnly {
        running.message = running.message.take().filter(|message| message.component.is_some());
        if let Some(message) = &mut running.message
            && (message.component == Some(Component::Input)
                || matches!(message.named_by, NamedBy::Lifecycle(_)))
        {
            message.target.clear();
        }
    }
}

/// Whether a stack should name this message: it has no name, or a name that may be another message's.
pub(super) fn may_be_another(message: Option<&Message>) -> bool {
    message.is_none_or(|message| matches!(message.named_by, NamedBy::Peek))
}

fn class_on_stack(message: &Message) -> &str {
    if message.callback.is_empty() { &message.target } else { &message.callback }
}

/// Names a message by its stack, unless the present name agrees with the stack and has more detail.
pub(super) fn correct(message: &mut Option<Message>, by_stack: Message) {
    let agrees = message.as_ref().is_some_and(|peeked| {
        // Only one of the two classes is on a stack.
        class_on_stack(&by_stack) == class_on_stack(peeked)
            && by_stack.what.is_none_or(|what| peeked.what == Some(what))
    });
    if !agrees {
        *message = Some(by_stack);
    }
}

/// The running message as its last stack shows it: what the dispatch called. A stack does not show a
/// callback's target, and shows the message's `what` only if the framework has a separate method for it.
pub(super) fn named_by_last_stack(symbols: &Symbols, tree: &StackTree, api_level: u32) -> Option<Message> {
    named_by_stack(&methods_of(symbols, &stacks::stacks(tree).ok()?.last()?), api_level)
}

/// The name of a message that has ended, from its last stack in a dispatch. The poll hook sees the end a
/// little late: the last stack of all may be that of a Looper that has left the dispatch.
pub(super) fn named_by_stacks(symbols: &Symbols, tree: &StackTree, api_level: u32) -> Option<Message> {
    let is_dispatched = |stack: &Vec<LocationId>| {
        methods_of(symbols, stack).iter().any(|method| looper::is_dispatch(&method.class, &method.name))
    };
    let last = stacks::stacks(tree).ok()?.filter(is_dispatched).last()?;
    named_by_stack(&methods_of(symbols, &last), api_level)
}

/// The Java methods of a stack, the innermost one last.
fn methods_of<'s>(symbols: &'s Symbols, stack: &[LocationId]) -> Vec<&'s Method> {
    let method = |&location| match *symbols.location(location)? {
        Location::Frame { method, .. } => symbols.method(method),
        _ => None,
    };
    stack.iter().filter_map(method).collect()
}

fn named_by_stack(methods: &[&Method], api_level: u32) -> Option<Message> {
    // Bottom first: the last dispatch is the innermost one.
    let dispatch = methods.iter().rposition(|method| looper::is_dispatch(&method.class, &method.name))?;
    let called = methods.get(dispatch + 1)?;
    let (target, callback) = match methods.get(dispatch + 2) {
        Some(runnable) if called.name == "handleCallback" => ("", runnable.class.as_str()),
        _ => (called.class.as_str(), ""),
    };
    let names = methods.iter().map(|method| (method.class.as_str(), method.name.as_str()));
    let found = looper::component_of_stack(names, api_level);
    Some(Message {
        target: target.to_owned(),
        callback: callback.to_owned(),
        what: found.and_then(|found| found.what),
        component: found.map(|found| found.component),
        named_by: NamedBy::Stack,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::used_symbols::tests::{chain, symbols};
    use loopbox_format::model::Component;

    #[test]
    fn a_stack_names_its_message() {
        const LOOP: &str = "android.os.Looper.loop";
        const DISPATCH: &str = "android.os.Handler.dispatchMessage";
        const CALLBACK: &str = "android.os.Handler.handleCallback";
        let named = |names: &[&str]| {
            let all: Vec<u32> = (0..names.len() as u32).collect();
            named_by_last_stack(&symbols(names), &chain(&all), 29).map(|m| (m.target, m.callback))
        };
        assert_eq!(
            named(&["a.Main.main", LOOP, DISPATCH, "a.H.handleMessage", "a.H.work"]),
            Some(("a.H".into(), String::new()))
        );
        assert_eq!(
            named(&[LOOP, DISPATCH, CALLBACK, "a.R.run", "a.R.work"]),
            Some((String::new(), "a.R".into()))
        );
        let nested = [LOOP, DISPATCH, "a.H.handleMessage", LOOP, DISPATCH, CALLBACK, "a.R.run"];
        assert_eq!(named(&nested), Some((String::new(), "a.R".into())));
        let newest = [LOOP, DISPATCH, "android.os.Handler.dispatchMessageImpl", "a.H.handleMessage"];
        assert_eq!(named(&newest), Some(("a.H".into(), String::new())), "API 37");
        assert_eq!(named(&["a.Main.main", "android.os.MessageQueue.next"]), None);
        assert_eq!(named(&[LOOP, DISPATCH]), None);
    }

    #[test]
    fn a_message_that_has_ended_is_named_by_its_last_stack_in_a_dispatch() {
        // Loop, dispatch and handler in the first two samples, the Looper alone in the third.
        let mut tree = chain(&[0, 1, 2]);
        tree.sample_deltas_ns = vec![1; 3];
        tree.nodes[0].count = 3;
        tree.nodes[1].count = 2;
        tree.nodes[2].count = 2;
        let names = ["android.os.Looper.loop", "android.os.Handler.dispatchMessage", "a.H.handleMessage"];
        assert_eq!(named_by_last_stack(&symbols(&names), &tree, 29), None, "it may have ended");
        let message = named_by_stacks(&symbols(&names), &tree, 29).unwrap();
        assert_eq!(message.target, "a.H");
        assert_eq!(named_by_stacks(&symbols(&names), &chain(&[0]), 29), None);
    }

    #[test]
    fn a_stack_corrects_a_name_that_may_be_another_message_s() {
        let message = |target: &str, callback: &str, what, named_by| Message {
            target: target.into(),
            callback: callback.into(),
            what,
            component: None,
            named_by,
        };
        let corrected = |peeked: (&str, &str, i32), (target, callback, what): (&str, &str, Option<i32>)| {
            let mut name = Some(message(peeked.0, peeked.1, Some(peeked.2), NamedBy::Peek));
            correct(&mut name, message(target, callback, what, NamedBy::Stack));
            name.unwrap().named_by
        };
        assert_eq!(corrected(("a.H", "", 5), ("a.H", "", None)), NamedBy::Peek, "which says more");
        assert_eq!(corrected(("a.H", "a.R", 0), ("", "a.R", None)), NamedBy::Peek);
        assert_eq!(corrected(("a.H", "a.R", 0), ("", "a.S", None)), NamedBy::Stack);
        assert_eq!(corrected(("a.H", "", 5), ("a.I", "", None)), NamedBy::Stack);
        assert_eq!(corrected(("a.H", "a.R", 0), ("a.H", "", None)), NamedBy::Stack);
        assert_eq!(corrected(("a.H", "", 5), ("a.H", "", Some(6))), NamedBy::Stack);
        let named = message("a.H", "", None, NamedBy::Callback);
        assert!(may_be_another(None) && !may_be_another(Some(&named)));
    }

    #[test]
    fn a_stack_identifies_a_component_s_message_and_its_what() {
        let names = [
            "android.os.Handler.dispatchMessage",
            "android.app.ActivityThread$H.handleMessage",
            "android.app.ActivityThread.access$1500",
            "android.app.ActivityThread.handleCreateService",
            "a.Sync.onCreate",
        ];
        let message = named_by_last_stack(&symbols(&names), &chain(&[0, 1, 2, 3, 4]), 29).unwrap();
        assert_eq!(message.target, "android.app.ActivityThread$H");
        assert_eq!((message.component, message.what), (Some(Component::ActivityThread), Some(114)));
    }
}
