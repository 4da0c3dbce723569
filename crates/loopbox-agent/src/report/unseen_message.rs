//! Finds on the main thread's stack a message that the hook did not report, because another library has taken
//! the hook's place. An idle main thread notices that by itself; a main thread that is never idle has to be
//! notified.

use super::outside;
use crate::jni::env::Env;
use crate::jni::raw::Failure;
use crate::jni::{call, class_cache};
use crate::session::Session;
use crate::sys::log;
use jni::sys::jvalue;
use loopbox_format::model::{
    Feature, Location, LocationId, MainState, Record, RecordKind, Report, Symbols, Token, Uptime,
};

/// Whether a stack shows that the innermost `Looper.loop` dispatches a message that the hook has not seen.
/// `around` is the number of messages that the hook has seen, that have not ended, and inside of which a loop
/// runs. The stack must show more dispatches than that. Top frame first.
pub(super) fn is_on(symbols: &Symbols, stack: &[LocationId], around: u64) -> bool {
    let mut called = "";
    let mut dispatches = 0;
    for &location in stack {
        let Some(&Location::Frame { method, .. }) = symbols.location(location) else {
            called = "";
            continue;
        };
        let Some(method) = symbols.method(method) else { return false };
        // The latter since Android 12.
        if method.class == "android.os.Looper" && matches!(method.name.as_str(), "loop" | "loopOnce") {
            if called == "dispatchMessage" {
                dispatches += 1;
            } else if dispatches == 0 {
                return false;
            }
        }
        called = &method.name;
    }
    dispatches > around
}

/// Whether a stack shows no message, but a main thread that waits for one. Top frame first.
pub(super) fn is_over(symbols: &Symbols, stack: &[LocationId]) -> bool {
    let dispatches = |&location: &LocationId| match symbols.location(location) {
        Some(&Location::Frame { method, .. }) => {
            symbols.method(method).is_none_or(|method| method.name == "dispatchMessage")
        }
        _ => true,
    };
    outside::waits(symbols, stack) == Some(true) && !stack.iter().any(dispatches)
}

/// Has Java put the hook back.
pub(super) fn put_hook_back(env: &mut Env<'_>) {
    if let Some(classes) = class_cache::get() {
        // SAFETY: looked up in this class with this signature: no arguments, no result.
        warn_of(unsafe { call::void(env, (&classes.calls, classes.calls_message_unseen), &[]) });
    }
}

/// Has Java check whether the hook is in its place. `doubted`: the hook has missed the end of a message, so
/// it counts as perhaps displaced even if it is in its place. While the hook counts as perhaps displaced, its
/// feature's state says so.
pub(super) fn check_hook(env: &mut Env<'_>, doubted: bool) {
    if let Some(classes) = class_cache::get() {
        let arguments = [jvalue { z: doubted }];
        // SAFETY: looked up in this class with this signature: (boolean), no result.
        let called = unsafe { call::void(env, (&classes.calls, classes.calls_check_hook), &arguments) };
        warn_of(called);
    }
}

fn warn_of(called: Result<(), Failure>) {
    if let Err(Failure(why)) = called {
        log::warn(&why);
    }
}

/// The beginning of the detail that `DisplacedWatch.java` gives for a hook that may be displaced.
const IN_DOUBT: &str = "perhaps displaced";

/// Adds what is known now about the hook to a report that began while it was unknown whether the hook was in
/// its place.
pub(super) fn settle_doubt(session: &Session, report: &mut Report) {
    let hook = report.features.iter_mut().find(|state| state.feature == Feature::Hook);
    let Some(hook) = hook.filter(|hook| hook.detail.starts_with(IN_DOUBT)) else { return };
    if let Some(now) = session.features.list().into_iter().find(|state| state.feature == Feature::Hook) {
        *hook = now;
    }
    add_gap(session, report);
}

/// Notes in a report that messages may have run unseen after the last recorded one. The history gets this gap
/// only when the next message begins. Without this note, the report would show the time since the last record
/// as idle, or as time of what runs outside of messages.
pub(super) fn add_gap(session: &Session, report: &mut Report) {
    // Without a hook there is no history that could have a gap.
    let hooked = session.settings.hooked;
    if session.shared.is_paused() {
        add_pause(hooked, report);
    } else if let Some(until_ns) =
        after(&report.main).and_then(|after_ns| session.shared.main.unseen_until(after_ns))
    {
        add_gap_until(until_ns, hooked, report);
    }
}

/// Notes in a report that the app has paused the recorder: what main has done since its last message is not
/// known. A message that the hook has seen, and that still runs, is left as it is.
fn add_pause(hooked: bool, report: &mut Report) {
    add_gap_until(report.meta.dumped_at.uptime_ns, hooked, report);
    if after(&report.main).is_some() {
        report.main = MainState::Unknown;
    }
}

/// When the last message that the hook has seen ended, where none runs.
fn after(main: &MainState) -> Option<Uptime> {
    match main {
        MainState::Idle { since_ns } => Some(*since_ns),
        MainState::Outside(outside) => Some(outside.after_ns),
        _ => None,
    }
}

fn add_gap_until(until_ns: Uptime, hooked: bool, report: &mut Report) {
    let Some(start_ns) = after(&report.main) else { return };
    let end_ns = match &mut report.main {
        MainState::Outside(outside) => {
            outside.after_ns = until_ns.min(outside.as_of_ns);
            // Of all that ran since the last message that was seen.
            outside.cpu_ns = None;
            outside.after_ns
        }
        MainState::Idle { since_ns } => {
            *since_ns = until_ns;
            until_ns
        }
        _ => return,
    };
    let wall_ns = end_ns.since(start_ns);
    if wall_ns == 0 || !hooked {
        return;
    }
    let last = report.history.last_mut();
    if let Some(gap) = last.filter(|last| last.kind == RecordKind::Unseen && last.start_ns == start_ns) {
        // Main was found to be away after all, since the gap was added.
        (gap.wall_ns, gap.idle_ns) = (wall_ns, wall_ns);
        return;
    }
    let last = report.history.last();
    report.history.push(Record {
        kind: RecordKind::Unseen,
        seq: last.map_or(1, |last| last.seq.saturating_add(1)),
        first_token: last
            .map_or(Token::FIRST, |last| Token(last.first_token.0.saturating_add(last.count.into()))),
        count: 0,
        start_ns,
        wall_ns,
        work_ns: 0,
        idle_ns: wall_ns,
        cpu_ns: None,
        checktime_late_ns: None,
        slowest: None,
        details: Vec::new(),
        dropped_details: 0,
        closed: true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::used_symbols::tests::symbols;
    use loopbox_format::model::{Outside, Running};

    /// The kind, start and end of each record.
    fn records(report: &Report) -> Vec<(RecordKind, u64, u64)> {
        report.history.iter().map(|r| (r.kind, r.start_ns.0, r.start_ns.0 + r.wall_ns)).collect()
    }

    fn outside(after_ns: u64) -> MainState {
        MainState::Outside(Outside {
            token: Token::outside_before(Token(3)),
            after_ns: Uptime(after_ns),
            start_ns: None,
            as_of_ns: Uptime(900),
            cpu_ns: Some(10),
        })
    }

    #[test]
    fn time_in_which_messages_may_have_run_unseen_is_neither_idle_nor_outside_of_messages() {
        for main in [MainState::Idle { since_ns: Uptime(100) }, outside(100)] {
            let mut report = Report { main, ..Report::default() };
            add_gap_until(Uptime(700), true, &mut report);
            assert_eq!(records(&report), [(RecordKind::Unseen, 100, 700)]);
            assert_eq!(after(&report.main), Some(Uptime(700)));
            if let MainState::Outside(outside) = report.main {
                assert_eq!(outside.cpu_ns, None);
            }
        }
        let mut report = Report { main: outside(100), ..Report::default() };
        add_gap_until(Uptime(700), false, &mut report);
        assert_eq!((records(&report), after(&report.main)), (vec![], Some(Uptime(700))), "without a hook");
        // The hook came back after main's state was read.
        let mut report = Report { main: outside(100), ..Report::default() };
        for _ in 0..2 {
            add_gap_until(Uptime(1_000), true, &mut report);
            assert_eq!(records(&report), [(RecordKind::Unseen, 100, 900)]);
        }
    }

    #[test]
    fn what_main_does_while_the_app_has_paused_the_recorder_is_unknown() {
        let mut report = Report { main: MainState::Idle { since_ns: Uptime(100) }, ..Report::default() };
        report.meta.dumped_at.uptime_ns = Uptime(700);
        for _ in 0..2 {
            add_pause(true, &mut report);
            assert_eq!(records(&report), [(RecordKind::Unseen, 100, 700)]);
            assert_eq!(report.main, MainState::Unknown);
        }
        // The hook is still in: main comes to the pause when this message is over.
        let running = Running {
            token: Token(3),
            start_ns: Uptime(200),
            as_of_ns: Uptime(700),
            cpu_ns: None,
            depth: 1,
            message: None,
        };
        let mut report = Report { main: MainState::Running(running.clone()), ..Report::default() };
        report.meta.dumped_at.uptime_ns = Uptime(700);
        add_pause(true, &mut report);
        assert_eq!((records(&report), report.main), (vec![], MainState::Running(running)));
    }

    #[test]
    fn a_main_thread_that_was_away_after_all_has_the_gap_once() {
        let mut report = Report { main: MainState::Idle { since_ns: Uptime(100) }, ..Report::default() };
        add_gap_until(Uptime(700), true, &mut report);
        report.main = outside(100);
        add_gap_until(Uptime(700), true, &mut report);
        assert_eq!(records(&report), [(RecordKind::Unseen, 100, 700)]);
        assert_eq!(after(&report.main), Some(Uptime(700)));
    }

    #[test]
    fn a_stack_that_waits_and_dispatches_nothing_is_of_no_message() {
        const LOOP: &str = "android.os.Looper.loop";
        const DISPATCH: &str = "android.os.Handler.dispatchMessage";
        const NEXT: &str = "android.os.MessageQueue.next";
        const POLL: &str = "android.os.MessageQueue.nativePollOnce";
        for (top_first, found) in [
            (&[POLL, NEXT, LOOP, "a.Main.main"][..], true),
            // A message's own loop, which waits.
            (&[POLL, NEXT, LOOP, "a.Dialog.show", DISPATCH, LOOP, "a.Main.main"], false),
            (&["a.Cart.total", DISPATCH, LOOP, "a.Main.main"], false),
            (&[NEXT, LOOP, "a.Main.main"], false),
            (&[], false),
        ] {
            let stack: Vec<LocationId> = (0..top_first.len() as u32).map(LocationId).collect();
            assert_eq!(is_over(&symbols(top_first), &stack), found, "{top_first:?}");
        }
    }

    #[test]
    fn only_a_dispatch_by_the_innermost_loop_is_a_message() {
        const LOOP: &str = "android.os.Looper.loop";
        const ONCE: &str = "android.os.Looper.loopOnce";
        const DISPATCH: &str = "android.os.Handler.dispatchMessage";
        const NEXT: &str = "android.os.MessageQueue.next";
        for (top_first, found) in [
            (&["a.Cart.total", "a.H.handleMessage", DISPATCH, LOOP, "a.Main.main"][..], true),
            (&["android.os.Looper.myLooper", "a.H.dispatchMessage", ONCE, LOOP], true),
            (&["a.Idle.queueIdle", NEXT, LOOP], false),
            (&["a.View.onTouch", "android.os.MessageQueue.nativePollOnce", NEXT, LOOP], false),
            // Its start may be on the way to the hook.
            (&["a.Printer.println", LOOP], false),
            // An idle handler's own loop, which waits.
            (&[NEXT, LOOP, "a.Idle.queueIdle", NEXT, LOOP], false),
            (&[NEXT, LOOP, "a.H.handleMessage", DISPATCH, LOOP], false),
            (&["a.Cart.total", DISPATCH, "a.Main.main"], false),
            (&[], false),
        ] {
            let stack: Vec<LocationId> = (0..top_first.len() as u32).map(LocationId).collect();
            assert_eq!(is_on(&symbols(top_first), &stack, 0), found, "{top_first:?}");
        }
    }

    #[test]
    fn a_message_that_goes_on_after_a_loop_inside_of_it_is_not_unseen() {
        const LOOP: &str = "android.os.Looper.loop";
        const ONCE: &str = "android.os.Looper.loopOnce";
        const DISPATCH: &str = "android.os.Handler.dispatchMessage";
        let is_on = |top_first: &[&str], around| {
            let stack: Vec<LocationId> = (0..top_first.len() as u32).map(LocationId).collect();
            is_on(&symbols(top_first), &stack, around)
        };
        let outer = ["a.Dialog.close", "a.H.handleMessage", DISPATCH, ONCE, LOOP, "a.Main.main"];
        assert_eq!([0, 1].map(|around| is_on(&outer, around)), [true, false]);
        let inner = [&["a.Cart.total", DISPATCH, LOOP, "a.Dialog.show"], &outer[1..]].concat();
        assert_eq!([0, 1, 2].map(|around| is_on(&inner, around)), [true, true, false]);
    }
}
