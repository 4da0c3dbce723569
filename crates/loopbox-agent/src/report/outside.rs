//! Finds out whether a main thread that runs no message waits for one: from its stack, from what the kernel
//! reports, and from what the stall monitor has found.

use crate::anr::evidence;
use crate::session::Session;
use crate::sys::{clock, proc};
use loopbox_format::model::{Location, LocationId, MainState, Outside, Statistic, Symbols, Token, Uptime};
use loopbox_recorder::{Activity, Place, computing_since};
use std::time::Duration;

/// How long to wait between two checks of a main thread whose stack does not show whether it waits for a
/// message: longer than the thread takes to wake up and continue.
const BETWEEN_CHECKS: Duration = Duration::from_millis(10);

/// Whether a stack of the main thread ends in the wait for a message. `None` for the short moments before and
/// after a message. Top frame first.
pub(super) fn waits(symbols: &Symbols, stack: &[LocationId]) -> Option<bool> {
    for (depth, &location) in stack.iter().enumerate() {
        let Some(&Location::Frame { method, .. }) = symbols.location(location) else {
            return if depth == 0 { None } else { Some(false) };
        };
        let method = symbols.method(method)?;
        let (class, name) = (method.class.as_str(), method.name.as_str());
        if is_of_queue(class) {
            return match name {
                // What it calls is input, or a callback.
                "nativePollOnce" => Some(depth == 0),
                "dispatchEvents" => Some(false),
                _ => None,
            };
        }
        if !is_called_by_queue(class) {
            return Some(false);
        }
    }
    None
}

/// Whether a class is the Looper or the queue, which since Android 16 has nested classes.
fn is_of_queue(class: &str) -> bool {
    match class.strip_prefix("android.os.") {
        Some("Looper" | "MessageQueue") => true,
        Some(rest) => rest.starts_with("MessageQueue$"),
        None => false,
    }
}

/// Whether, between two messages, the Looper or the queue itself calls methods of this class. That includes
/// the classes of Java's core library: since Android 16 a queue is a concurrent collection.
fn is_called_by_queue(class: &str) -> bool {
    const OF_ANDROID: [&str; 5] = ["Message", "Binder", "SystemClock", "Trace", "ThreadLocalWorkSource"];
    const CORE: [&str; 4] = ["java.", "jdk.internal.", "sun.misc.", "dalvik."];
    class.strip_prefix("android.os.").is_some_and(|class| OF_ANDROID.contains(&class))
        || CORE.iter().any(|package| class.starts_with(package))
}

/// What keeps the main thread from its queue now. `None` while a message runs, while main waits, and while
/// the recorder is paused. `waits` is the result of [`waits`] for main's stack, or what main's queue shows.
/// The kernel is asked unless `waits` is `Some(false)`.
pub(super) fn find(session: &Session, waits: Option<bool>) -> Option<Outside> {
    let shared = &session.shared;
    let (token, ended_ns) = shared.main.between_messages().filter(|_| !shared.is_paused())?;
    let seen_ns = match shared.main.activity() {
        Activity::Outside { since_ns, .. } => Some(since_ns),
        _ => None,
    };
    if seen_ns.is_none() {
        if waits != Some(false) && !is_away(session, token) {
            return None;
        }
        // The stall monitor may sleep. It checks for itself.
        shared.wake_all();
    }
    let now_ns = clock::now_ns();
    let demand = session.main_demand();
    let stall = session.stall.snapshot();
    let asleep = Some(stall.asleep).filter(|asleep| asleep.token == token);
    let used = asleep.zip(demand);
    // The monitor has seen it for a while, or it computes now.
    let seen = seen_ns.and(Some(&stall.seen_busy).filter(|seen| seen.token == token));
    let ended_ns = if ended_ns == Uptime::ZERO { session.installed_ns } else { ended_ns };
    // Where a hook may miss messages, some have ended since, and some of what was computed since main was at
    // rest may be theirs.
    let misses =
        if seen_ns.is_some() { shared.hook.was_found_unhooked() } else { shared.hook.may_miss_messages() };
    let hooked = session.settings.hooked && !misses;
    let waited_ns =
        asleep.filter(|asleep| asleep.waited && !hooked).map_or(Uptime::ZERO, |asleep| asleep.at_ns);
    let busy = if seen_ns.is_some() { seen.is_some() } else { proc::main_place() == Place::Running };
    let computes = hooked && busy;
    Some(Outside {
        token,
        after_ns: ended_ns.max(waited_ns),
        start_ns: used
            .filter(|_| computes)
            .and_then(|(asleep, demand)| computing_since(&asleep, now_ns, demand, seen)),
        as_of_ns: now_ns,
        cpu_ns: used.map(|(asleep, demand)| demand.ran_ns.saturating_sub(asleep.demand.ran_ns)),
    })
}

/// Whether the kernel shows at two checks in a row that the main thread does not wait for a message.
fn is_away(session: &Session, token: Token) -> bool {
    let away = || {
        let away = matches!(proc::main_place(), Place::Running | Place::Elsewhere);
        away && session.shared.main.token() == token
    };
    away() && {
        std::thread::sleep(BETWEEN_CHECKS);
        away()
    }
}

/// Whether a main thread that seems idle may be busy: messages are due, and the queue does not say that main
/// waits for one.
pub(super) fn is_doubtful(main: &MainState, overdue_ns: Option<u64>, polling: Option<bool>) -> bool {
    const OVERDUE_NS: u64 = 1_000_000_000;
    let is_due = overdue_ns.is_some_and(|ns| ns >= OVERDUE_NS);
    matches!(main, MainState::Idle { .. }) && is_due && polling != Some(true)
}

/// How many messages enclose the nested loop in which main was before something ran outside of messages. Main
/// may have left the loop, and may now run one of these messages. `None` if there are none.
pub(super) fn messages_around(session: &Session, main: &MainState) -> Option<Statistic> {
    let MainState::Outside(outside) = main else { return None };
    let messages = session.shared.main.around(outside.token);
    let name = "main.messages_around".to_owned();
    (messages > 0).then(|| Statistic { name, value: messages.to_string() })
}

/// Whether what the main thread ran according to `main` has ended. False when it ran nothing. The check is by
/// the token, which no later message and no later work outside of messages gets.
pub(super) fn is_over(session: &Session, main: &MainState) -> bool {
    let token = token(main);
    let is_in = || session.shared.main.token() == token && evidence::ended_ns(session, token).is_none();
    token != Token::NONE && !is_in()
}

/// What the main thread was in: a message, or what runs outside of them; [`Token::NONE`] for nothing.
pub(super) fn token(main: &MainState) -> Token {
    match main {
        MainState::Running(running) => running.token,
        MainState::Outside(outside) => outside.token,
        _ => Token::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::used_symbols::tests::symbols;

    #[test]
    fn a_stack_shows_whether_its_thread_waits_for_a_message() {
        const NEXT: &str = "android.os.MessageQueue.next";
        const POLL: &str = "android.os.MessageQueue.nativePollOnce";
        const LOOP: &str = "android.os.Looper.loop";
        let waits = |top_first: &[&str]| {
            let stack: Vec<LocationId> = (0..top_first.len() as u32).map(LocationId).collect();
            waits(&symbols(top_first), &stack)
        };
        assert_eq!(waits(&[POLL, NEXT, LOOP]), Some(true));
        assert_eq!(waits(&[NEXT, LOOP]), None);
        assert_eq!(waits(&[LOOP]), None);
        assert_eq!(
            waits(&["a.View.onTouch", "android.view.InputEventReceiver.dispatch", POLL, NEXT]),
            Some(false)
        );
        assert_eq!(waits(&["a.Idle.queueIdle", NEXT, LOOP]), Some(false));
        assert_eq!(waits(&["android.os.MessageQueue.dispatchEvents", POLL, NEXT, LOOP]), Some(false));
        assert_eq!(waits(&[]), None);
    }

    /// A signal wakes a main thread that waits, and a stack is then taken while it asks its queue again.
    #[test]
    fn a_main_thread_that_asks_its_queue_runs_nothing_outside_of_messages() {
        const NEXT: &str = "android.os.MessageQueue.nextDeliQueue";
        const LOOP: &str = "android.os.Looper.loopOnce";
        let waits = |top_first: &[&str]| {
            let stack: Vec<LocationId> = (0..top_first.len() as u32).map(LocationId).collect();
            waits(&symbols(top_first), &stack)
        };
        for asks in [
            &["android.os.MessageQueue$MessageCounts.clearCounts", NEXT, LOOP][..],
            &["java.util.concurrent.ConcurrentSkipListSet.first", NEXT, LOOP],
            &["java.lang.invoke.VarHandle.getVolatile", "android.os.MessageQueue$StackNode.next", NEXT, LOOP],
            &["android.os.SystemClock.uptimeMillis", NEXT, LOOP],
            &["android.os.Binder.clearCallingIdentity", LOOP],
            &["android.os.Message.recycleUnchecked", LOOP],
        ] {
            assert_eq!(waits(asks), None, "{asks:?}");
        }
        for runs in [
            &["java.util.ArrayList.add", "a.Idle.queueIdle", NEXT, LOOP][..],
            &[
                "android.os.SystemClock.sleep",
                "a.Touch.onTouch",
                "android.os.MessageQueue.nativePollOnce",
                NEXT,
            ],
            &["android.os.BinderProxy.transact", "android.app.ActivityThread$Idler.queueIdle", NEXT, LOOP],
            &["android.os.Handler.dispatchMessage", LOOP],
        ] {
            assert_eq!(waits(runs), Some(false), "{runs:?}");
        }
    }

    #[test]
    fn an_idle_main_thread_is_doubted_unless_its_queue_says_that_it_waits() {
        let idle = MainState::Idle { since_ns: Uptime(1) };
        let due = Some(1_000_000_000);
        assert!(is_doubtful(&idle, due, Some(false)));
        assert!(is_doubtful(&idle, due, None), "the last line of the queue was cut");
        assert!(!is_doubtful(&idle, due, Some(true)));
        assert!(!is_doubtful(&idle, Some(999_999_999), None));
        assert!(!is_doubtful(&idle, None, Some(false)));
        assert!(!is_doubtful(&MainState::Unknown, due, Some(false)));
    }
}
