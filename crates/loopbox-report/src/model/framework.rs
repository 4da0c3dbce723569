//! Android's own frames around a message, by their names. Nothing else in this crate knows these names.

use super::frame::{Frame, FrameId, FrameTable};
use super::sampled_tree::SampledTree;
use std::collections::HashMap;

/// What a frame is to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// It takes messages from the queue and dispatches them, one after the other.
    Loop,
    /// It hands a message to its callback or target.
    Dispatch,
    /// It is in the queue: it waits there for a message, or calls what runs between messages.
    Queue,
    /// It waits for a message or an event, in the kernel.
    Poll,
}

/// Class, method, and what it is. Methods of Android 17 stand behind those that they came to; `*` at the
/// end of a name is any end.
pub(crate) const FRAMES: &[(&str, &str, Role)] = &[
    ("android.os.Looper", "loop", Role::Loop),
    // Android 12.
    ("android.os.Looper", "loopOnce", Role::Loop),
    ("android.os.Handler", "dispatchMessage", Role::Dispatch),
    // Android 17.
    ("android.os.Handler", "dispatchMessageImpl", Role::Dispatch),
    // `next`, and of Android 16 and 17 nextLegacy, nextConcurrent, nextDeliQueue.
    ("android.os.MessageQueue", "next*", Role::Queue),
    ("android.os.MessageQueue", "nativePollOnce", Role::Poll),
];

impl Frame {
    /// What it is to a message; `None` for most frames.
    pub(crate) fn role(&self) -> Option<Role> {
        let is = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => pattern == name,
        };
        let known = FRAMES.iter().find(|(class, method, _)| self.class == *class && is(method, &self.method));
        known.map(|(.., role)| *role)
    }
}

/// The first method of the app above the dispatch of a message, for most of the time of its stacks: what a
/// reader calls the message, whichever library dispatched it. `None` when no stack has one.
pub(crate) fn entry(tree: &SampledTree, frames: &FrameTable) -> Option<FrameId> {
    /// What is known of a node's callers, itself included.
    #[derive(Clone, Copy, Default)]
    struct Above {
        dispatched: bool,
        entry: Option<FrameId>,
    }
    type Method<'f> = (&'f str, &'f str, &'f str);
    let mut nodes: Vec<Above> = Vec::with_capacity(tree.nodes.len());
    let mut times: HashMap<Method<'_>, (u64, FrameId)> = HashMap::new();
    for node in &tree.nodes {
        let caller = node.parent.and_then(|at| nodes.get(at as usize).copied()).unwrap_or_default();
        let frame = &frames[node.frame];
        let mut above = match frame.role() {
            // A loop inside of a message has messages of its own, which begin with their dispatch. An app
            // may dispatch by itself: then its method is the first above the loop.
            Some(Role::Loop) => Above { dispatched: true, ..caller },
            Some(Role::Dispatch) => Above { dispatched: true, entry: None },
            _ => caller,
        };
        if above.dispatched && above.entry.is_none() && frame.is_of_app() && !frame.synthetic {
            above.entry = Some(node.frame);
        }
        nodes.push(above);
        if let Some(entry) = above.entry.filter(|_| node.self_ns > 0) {
            let Frame { class, method, signature, .. } = &frames[entry];
            let (ns, _) = times.entry((class, method, signature)).or_insert((0, entry));
            *ns = ns.saturating_add(node.self_ns);
        }
    }
    // Of equal times the one that was seen first.
    times.into_values().max_by_key(|&(ns, frame)| (ns, std::cmp::Reverse(frame))).map(|(_, frame)| frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::test_support::ReportBuilder;

    /// The name of a message by its stacks.
    fn named(stacks: &[(&str, u32)]) -> Option<String> {
        let a = Analysis::new(&ReportBuilder::new().running(1, 2_000).tree(1, stacks).build());
        a.trees[0].entry.map(|id| a.frames[id].qualified())
    }

    const LOOP: &str = "android.app.ActivityThread.main android.os.Looper.loop";
    const DISPATCH: &str = "com.shop.Main.main android.os.Looper.loop android.os.Handler.dispatchMessage";
    const LOOP_17: &str = "android.app.ActivityThread.main android.os.Looper.loop android.os.Looper.loopOnce";
    const DISPATCH_17: &str = "android.os.Handler.dispatchMessage android.os.Handler.dispatchMessageImpl";
    const CALLBACK: &str = "android.os.Handler.handleCallback";

    #[test]
    fn entry_is_the_first_method_of_the_app_above_the_dispatch() {
        let coroutine = "kotlinx.coroutines.DispatchedTask.run \
                         kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith";
        let nested =
            "android.os.Looper.loop android.os.Handler.dispatchMessage com.shop.Dialog.handleMessage";
        let waits =
            "android.os.Looper.loop android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce!";
        let lambda =
            "com.shop.A$$ExternalSyntheticLambda0.run com.shop.A.$r8$lambda$h4sh com.shop.A.lambda$b$0";
        let click = "android.view.View.-$$Nest$mperformClickInternal com.shop.Cart.onClick";
        let rx = "io.reactivex.rxjava3.android.schedulers.HandlerScheduler$ScheduledRunnable.run \
                  io.reactivex.rxjava3.internal.observers.LambdaObserver.onNext";
        for (name, stack, entry) in [
            (
                "a handler",
                format!("{DISPATCH} com.shop.Feed.handleMessage com.shop.Feed.load"),
                Some("com.shop.Feed.handleMessage"),
            ),
            (
                "a runnable",
                format!("{DISPATCH} {CALLBACK} com.shop.A$1.run com.shop.A.a"),
                Some("com.shop.A$1.run"),
            ),
            (
                "a coroutine",
                format!(
                    "{DISPATCH} {CALLBACK} {coroutine} com.shop.Repo$load$1.invokeSuspend com.shop.Repo.parse"
                ),
                Some("com.shop.Repo$load$1.invokeSuspend"),
            ),
            (
                "Rx",
                format!("{DISPATCH} {CALLBACK} {rx} com.shop.Feed$2.accept java.util.HashMap.get"),
                Some("com.shop.Feed$2.accept"),
            ),
            ("a lambda", format!("{DISPATCH} {CALLBACK} {lambda}"), Some("com.shop.A.lambda$b$0")),
            (
                "Android 17",
                format!("{LOOP_17} {DISPATCH_17} {CALLBACK} {click}"),
                Some("com.shop.Cart.onClick"),
            ),
            (
                "a loop in a message",
                format!("{DISPATCH} com.shop.Main.ask {nested}"),
                Some("com.shop.Dialog.handleMessage"),
            ),
            (
                "a message whose own loop waits",
                format!("{DISPATCH} com.shop.Main.ask {waits}"),
                Some("com.shop.Main.ask"),
            ),
            (
                "an app that dispatches itself",
                format!("{LOOP} com.shop.H.dispatchMessage com.shop.H.work"),
                Some("com.shop.H.dispatchMessage"),
            ),
            ("no code of the app", format!("{DISPATCH} {CALLBACK} {coroutine}"), None),
            ("no dispatch", "com.shop.Main.main com.shop.Main.work".to_owned(), None),
        ] {
            assert_eq!(named(&[(&stack, 50)]).as_deref(), entry, "{name}");
        }
    }

    #[test]
    fn entry_is_that_of_most_of_the_time() {
        let of = |rest: &str| format!("{DISPATCH} {CALLBACK} android.view.Choreographer.doFrame {rest}");
        let (short, long, none) =
            (of("com.shop.Bar.onDraw"), of("com.shop.List.onMeasure"), of("android.view.View.draw"));
        let stacks = [(short.as_str(), 20), (long.as_str(), 30), (none.as_str(), 90)];
        assert_eq!(named(&stacks).as_deref(), Some("com.shop.List.onMeasure"));
        // One method at several lines, and in several places.
        let lines = [of("com.shop.Bar.onDraw:3"), of("android.view.View.draw com.shop.Bar.onDraw:9"), long];
        let stacks: Vec<(&str, u32)> = lines.iter().zip([20, 20, 30]).map(|(s, n)| (s.as_str(), n)).collect();
        assert_eq!(named(&stacks).as_deref(), Some("com.shop.Bar.onDraw"));
    }

    #[test]
    fn role_of_each_frame_of_the_table_is_known_and_its_code_is_no_apps() {
        for (class, method, role) in FRAMES {
            for name in [method.trim_end_matches('*').to_owned(), method.replace('*', "DeliQueue")] {
                let stack = format!("com.shop.Main.main {class}.{name}");
                let a =
                    Analysis::new(&ReportBuilder::new().running(1, 2_000).tree(1, &[(&stack, 50)]).build());
                let frame = &a.frames[a.trees[0].nodes[1].frame];
                assert_eq!(frame.role(), Some(*role), "{class}.{name}");
                assert!(!frame.is_shipped() && !frame.synthetic, "{class}.{name}");
            }
        }
        let frame = |class: &str, method: &str| {
            let stack = format!("{class}.{method}");
            let a = Analysis::new(&ReportBuilder::new().running(1, 2_000).tree(1, &[(&stack, 50)]).build());
            a.frames[a.trees[0].nodes[0].frame].clone()
        };
        assert_eq!(frame("com.shop.Looper", "loop").role(), None);
        assert_eq!(frame("android.os.Looper", "looper").role(), None, "no end is any end");
    }
}
