//! The stall monitor: a thread that measures how long the running message runs. It keeps working when the
//! sampler does not, because it needs no Java and no lock that the app, a collection or a suspended thread
//! can hold. The only locks that it takes are the recorder's: those of the stall monitor's snapshot, of the
//! features and of the SIGQUIT action, each held for a short time.
//!
//! It wakes twice a second while messages run (once in the background), and more often while a message hangs.
//! It sleeps while no message runs. Before it sleeps it makes sure that the main thread waits for messages;
//! what runs outside of messages is watched like a message. It also checks that SIGQUIT still reaches us, and
//! has the ring copied into its file.
//!
//! No message wakes it where the app wants no hook, or while the hook is off or may be displaced: then it
//! checks twice a second. Without a hook it numbers what it finds outside of messages, as the hook numbers
//! messages.

use super::signal_catcher::{self, Snapshot};
use super::sigquit;
use super::update_handler_feature;
use crate::session::Session;
use crate::session::stall::StallSnapshot;
use crate::sys::{clock, proc, thread};
use loopbox_format::model::{Token, Uptime};
use loopbox_recorder::{Activity, Finding, Glance, OutsideWatch, Since, Suspect};
use loopbox_store::Interruption;
use std::sync::Arc;

/// The monitor parks when the main thread's last message ended this long ago; the next message then wakes it.
/// This is less than the time between two checks of a running message: the first check after a short message
/// finds the message long over, and the monitor parks at once.
const PARK_AFTER_NS: u64 = 450_000_000;
/// The time between two checks of a waiting main thread where no hook reports messages, or the hook may miss
/// some. In the background it is twice as long.
const CHECK_WITHOUT_HOOK_NS: u64 = 500_000_000;
/// The shortest time between two copies of the ring while messages run.
const COPY_EVERY_NS: u64 = 400_000_000;
/// A message that has run this long leaves a report if its process is killed. So from then on the ring is
/// copied into its file at each check.
const HANGS_NS: u64 = 1_000_000_000;
/// A message's name is in the ring at most this long after the message's end. A copy that is made later has
/// the name.
const NAMED_AFTER_NS: u64 = 100_000_000;
/// The shortest time between two checks of SIGQUIT.
const SIGQUIT_EVERY_NS: u64 = 450_000_000;
/// The stall monitor forwards a signal to the Signal Catcher this long after the signal arrived, if the
/// worker has not forwarded it. Below API 26 the time is `FORWARD_AFTER_BELOW_26_NS`: there the system waits
/// 200 ms at first for the trace of a process, and then signals the next process
/// (`ActivityManagerService.dumpStackTraces`).
const FORWARD_AFTER_NS: u64 = 1_000_000_000;
const FORWARD_AFTER_BELOW_26_NS: u64 = 200_000_000;
/// As [`FORWARD_AFTER_NS`], while main is in an uninterruptible wait. Before ART writes its trace, it waits
/// for such a thread if the thread runs Java code. Meanwhile every other thread that enters Java code waits,
/// too, also the worker. So the worker's file must be written before the signal is forwarded.
const FORWARD_AFTER_IN_D_NS: u64 = 5_000_000_000;

/// Starts the thread. It is not attached to the VM, so that no debugger and no collection stops it.
pub(crate) fn start(session: &Arc<Session>) -> std::io::Result<()> {
    let session = Arc::clone(session);
    thread::start(c"loopbox-watch", 64 << 10, Box::new(move || run(&session)))
}

fn run(session: &Session) {
    let shared = &session.shared;
    let mut between = Between {
        session,
        watch: OutsideWatch::default(),
        found: Token::NONE,
        over: (Token::NONE, 0),
        next: Token::FIRST,
        asked: (Token::NONE, clock::now_ns()),
        asks: false,
    };
    // The process may have been frozen between the start of this thread and its first step.
    let StallSnapshot { mut watch, mut since, .. } = session.stall.snapshot();
    let mut sig_quit_ns = Uptime::ZERO;
    let mut was_blocked = false;
    let mut pending_ns = None;
    let mut catcher = Earlier::WhenFound;
    let mut copied_ns = Uptime::ZERO;
    sigquit::block_here();
    while !shared.stopped() {
        let now = clock::now_ns();
        let next = between.check(now);
        let activity = shared.activity();
        watch.set_background(shared.in_background());
        let suspect = watch.check(now, activity, since);
        let runs = activity.running().is_some();
        if runs {
            watch.counted(proc::counted());
            let Suspect { token, frozen_ns, .. } = watch.message();
            let debugged = shared.was_debugged();
            session.reader.interrupted(token, Interruption { frozen_ns, debugged });
            session.reader.heartbeat(now);
        }
        // Unless a later check finds otherwise.
        since = Since::SleptUntil(watch.next_check_ns(now).unwrap_or(now));
        let snapshot = StallSnapshot {
            watch,
            since,
            suspect,
            asleep: between.watch.asleep(),
            rest: between.watch.rest(),
            seen_busy: between.watch.seen_busy(),
            outside_over: between.over,
        };
        let changed = session.stall.update(&snapshot) | session.monitor.tick(now);
        // The worker reads what was found of a main thread at rest.
        let asks = std::mem::take(&mut between.asks);
        if asks {
            shared.ask_for_rest_check();
        }
        if changed || asks {
            session.wake_worker();
        }
        if now.since(sig_quit_ns) >= SIGQUIT_EVERY_NS || !runs {
            sig_quit_ns = now;
            was_blocked = check_sig_quit(session, was_blocked);
            pending_ns = take_overdue_signal(now, pending_ns);
            catcher = notice_taken_signal(session, catcher);
        }
        let hangs = watch.message().ran_ns >= HANGS_NS;
        if wants_copy(activity, now, copied_ns, hangs) {
            copied_ns = now;
            shared.copies.ask();
        }
        let forward_ns = forward_late(session, now);
        let deadline_ns = match next {
            Next::Park(checked) if !runs && forward_ns.is_none() => {
                // The first message may have begun long before recording did.
                let first = shared.main.token() == Token::outside_before(Token::FIRST);
                since = if first { Since::Awake } else { Since::Parked };
                session.stall.set_since(since);
                shared.park_stall_monitor(checked);
                // What came meanwhile may have come at any time.
                catcher = Earlier::Unknown;
                copied_ns = copied_ns.max(clock::now_ns());
                continue;
            }
            Next::At(deadline_ns) => deadline_ns,
            Next::Park(_) if !runs => Uptime::MAX,
            _ => watch.next_check_ns(now).unwrap_or(now),
        };
        let deadline_ns = forward_ns.map_or(deadline_ns, |ns| ns.min(deadline_ns));
        since = Since::SleptUntil(deadline_ns);
        session.stall.set_since(since);
        shared.stall_monitor_sleep(deadline_ns);
    }
}

/// Whether the ring should be copied into its file now.
fn wants_copy(activity: Activity, now_ns: Uptime, copied_ns: Uptime, hangs: bool) -> bool {
    let due = now_ns.since(copied_ns) >= COPY_EVERY_NS;
    match activity {
        Activity::Idle { since_ns } => {
            let all_ns = since_ns.plus(NAMED_AFTER_NS);
            copied_ns < all_ns && (due || now_ns >= all_ns)
        }
        Activity::Paused => due,
        Activity::Running { .. } | Activity::Outside { .. } => due || hangs,
    }
}

/// Forwards a signal that the worker should have forwarded by now. If the worker still has time for that,
/// returns when to check again. `None` when no signal is left to forward.
fn forward_late(session: &Session, now_ns: Uptime) -> Option<Uptime> {
    let since_ns = session.shared.signal_since_ns()?;
    let below_26 = session.settings.api_level < 26;
    let after_ns = if below_26 { FORWARD_AFTER_BELOW_26_NS } else { FORWARD_AFTER_NS };
    let at_ns = since_ns.plus(after_ns);
    if now_ns < at_ns {
        return Some(at_ns);
    }
    let most_ns = since_ns.plus(FORWARD_AFTER_IN_D_NS);
    if now_ns < most_ns && is_uninterruptible() {
        return Some(most_ns.min(now_ns.plus(FORWARD_AFTER_BELOW_26_NS)));
    }
    sigquit::forward_waiting();
    None
}

/// When to check the main thread again.
enum Next {
    /// Check after the next message has begun. Until then the stall monitor may park. The token is that of
    /// the present pause between two messages.
    Park(Token),
    At(Uptime),
    /// Main runs a message or something outside of messages. Check at the watchdog's next check time.
    WhileItRuns,
}

/// Watches the main thread between messages.
struct Between<'a> {
    session: &'a Session,
    watch: OutsideWatch,
    /// What runs outside of messages; [`Token::NONE`] for nothing.
    found: Token,
    /// The token of what ended last outside of messages, and how long it was seen to run in nanoseconds; 0
    /// when that is not known.
    over: (Token, u64),
    /// Without a hook: the token of what is found next outside of messages.
    next: Token,
    /// After which message the worker was last asked to check what only Java can see ([`Token::NONE`] if a
    /// message was running), and when.
    asked: (Token, Uptime),
    /// Whether the worker must be asked now.
    asks: bool,
}

impl Between<'_> {
    fn check(&mut self, now_ns: Uptime) -> Next {
        let shared = &self.session.shared;
        let activity = shared.main.activity();
        if let Activity::Running { start_ns, .. } = activity {
            self.is_over(self.watch.lasted_ns(self.found, Some(start_ns)));
            // Paused in the middle of a message, which is watched no more. Its end wakes nobody.
            if shared.is_paused() {
                return Next::At(now_ns.plus(CHECK_WITHOUT_HOOK_NS));
            }
            self.ask_for_rest_check(now_ns, Token::NONE);
            return Next::WhileItRuns;
        }
        let lasted_ns = self.watch.lasted_ns(self.found, None);
        if shared.is_paused() {
            self.is_over(lasted_ns);
            // Of what main computes meanwhile nothing is known: what runs later did not.
            self.watch = OutsideWatch::default();
            return Next::Park(shared.main.token());
        }
        let token = shared.main.token();
        let demand = self.session.main_demand();
        if let Activity::Idle { since_ns } = activity {
            let park_ns = since_ns.plus(PARK_AFTER_NS);
            if now_ns < park_ns {
                self.is_over(lasted_ns);
                self.ask_for_rest_check(now_ns, Token::NONE);
                self.watch.between(now_ns, token, demand);
                return Next::At(park_ns);
            }
        }
        let glance = Glance { now_ns, token, demand, place: proc::main_place() };
        if shared.main.token() != token {
            // A message began, or came and went: the glance may be about that one.
            return Next::At(now_ns);
        }
        match self.watch.check(&glance) {
            Finding::Waits => self.waits(&glance, lasted_ns),
            Finding::Doubtful(again_ns) => Next::At(again_ns),
            Finding::Busy(since_ns) => {
                if self.found != token {
                    self.is_over(lasted_ns);
                    self.found = token;
                    if self.over.0 == token {
                        // No hook saw a message between the two: it is another one, and not over.
                        self.over = (Token::NONE, 0);
                    }
                    shared.set_outside(token, since_ns);
                    self.session.wake_worker();
                }
                Next::WhileItRuns
            }
        }
    }

    /// Has the worker check the hook's place and the front of the queue in two cases. First, `token` is the
    /// token of a pause for which the worker was not asked yet; later messages may not wake the stall
    /// monitor. Second, the worker was last asked at least a hang threshold ago. `token` is [`Token::NONE`]
    /// while main does not rest.
    fn ask_for_rest_check(&mut self, now_ns: Uptime, token: Token) {
        let due = now_ns.since(self.asked.1) >= self.session.settings.hang_threshold_ns;
        // Without a hook a main thread at rest keeps its number.
        if due || token != Token::NONE && token != self.asked.0 {
            self.asked = (token, now_ns);
            self.asks = true;
        }
    }

    /// Handles a main thread that waits for a message. If something ran outside of messages, it has ended and
    /// lasted `lasted_ns`. Returns when to check again.
    fn waits(&mut self, glance: &Glance, lasted_ns: Option<u64>) -> Next {
        let was_busy = self.found != Token::NONE;
        self.is_over(lasted_ns);
        self.ask_for_rest_check(glance.now_ns, glance.token);
        let shared = &self.session.shared;
        let hooked = self.session.settings.hooked;
        if hooked && !shared.hook.may_miss_messages() {
            return Next::Park(glance.token);
        }
        // Where there is a hook, the numbers are main's, which it may go on with at any moment.
        if was_busy && !hooked {
            // What is found next is something else, and main, which no hook calls, counts nothing.
            self.next = self.next.next();
            shared.main.idle(self.next, glance.now_ns);
            let _ = self.watch.check(&Glance { token: shared.main.token(), ..*glance });
        }
        let every_ns = CHECK_WITHOUT_HOOK_NS << u32::from(shared.in_background());
        Next::At(glance.now_ns.plus(every_ns))
    }

    /// Records that what was found to run outside of messages has ended, and that it lasted `lasted_ns`
    /// nanoseconds (`None`: not known). Wakes the worker. Does nothing if nothing was found.
    fn is_over(&mut self, lasted_ns: Option<u64>) {
        if self.found == Token::NONE {
            return;
        }
        self.over = (self.found, lasted_ns.unwrap_or(0));
        self.found = Token::NONE;
        self.session.shared.set_outside(Token::NONE, Uptime::ZERO);
        self.session.wake_worker();
    }
}

/// Takes a pending signal in place of a main thread that cannot take it. A main thread that can take it does
/// so as soon as it has a processor. Returns since when a signal is pending.
fn take_overdue_signal(now_ns: Uptime, since_ns: Option<Uptime>) -> Option<Uptime> {
    if !sigquit::is_pending() {
        return None;
    }
    let overdue = since_ns.is_some_and(|since_ns| now_ns.since(since_ns) >= SIGQUIT_EVERY_NS);
    if overdue && is_uninterruptible() {
        sigquit::take_pending();
    }
    since_ns.or(Some(now_ns))
}

/// What the last check of the Signal Catcher found; the next one is compared with it.
#[derive(Clone, Copy)]
enum Earlier {
    /// The Signal Catcher has not been checked yet. The first check compares its count of signals with the
    /// count that the worker stored when it found the Signal Catcher.
    WhenFound,
    /// Unknown, because the Signal Catcher was not checked for a while.
    Unknown,
    At(Snapshot),
}

/// Does nothing unless SIGQUIT goes to the Signal Catcher only. If it does, notes whether the Signal Catcher
/// has got a signal since the snapshot `before`. Returns the new snapshot, or `before` when none was taken.
fn notice_taken_signal(session: &Session, before: Earlier) -> Earlier {
    if !session.settings.sig_quit || !sigquit::is_only_noticed() {
        return before;
    }
    let Some(snapshot) = Snapshot::now() else { return before };
    if matches!(before, Earlier::WhenFound) && session.catcher_pauses.get().is_none() {
        return before;
    }
    let earlier = match before {
        Earlier::WhenFound => session.catcher_pauses.get().copied().map(Snapshot::waiting),
        Earlier::Unknown => None,
        Earlier::At(snapshot) => Some(snapshot),
    };
    if earlier.is_some_and(|earlier| snapshot.has_got_one_since(earlier)) {
        signal_catcher::has_got_one();
        sigquit::was_taken();
        session.wake_worker();
    }
    Earlier::At(snapshot)
}

fn is_uninterruptible() -> bool {
    proc::main_stat().is_some_and(|stat| stat.state == b'D')
}

/// Checks how the signal is handled, because other libraries may change that at any time. Returns whether the
/// main thread has the signal blocked. If that cannot be read, returns `was_blocked`.
fn check_sig_quit(session: &Session, was_blocked: bool) -> bool {
    let found = proc::main_blocks_sig_quit();
    // Blocked for a moment is normal: while a thread is created, or in a handler.
    if found.is_some_and(|blocked| sigquit::set_blocked(blocked && was_blocked)) {
        session.shared.request_unblock();
    }
    if update_handler_feature(session) {
        session.wake_worker();
    }
    found.unwrap_or(was_blocked)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_ring_is_copied_twice_a_second_while_messages_run_and_once_when_they_are_over() {
        let runs = Activity::Running { token: Token(1), start_ns: Uptime::ZERO };
        assert!(!wants_copy(runs, Uptime(5_300 * MS), Uptime(5_000 * MS), false));
        assert!(wants_copy(runs, Uptime(5_500 * MS), Uptime(5_000 * MS), false));
        assert!(wants_copy(runs, Uptime(5_080 * MS), Uptime(5_000 * MS), true), "how long a hang lasts");
        // Between two of many short ones.
        let idle = Activity::Idle { since_ns: Uptime(5_490 * MS) };
        assert!(wants_copy(idle, Uptime(5_500 * MS), Uptime(5_000 * MS), false));
        // Its name may still come.
        assert!(wants_copy(idle, Uptime(5_990 * MS), Uptime(5_500 * MS), false));
        assert!(
            !wants_copy(idle, Uptime(9_990 * MS), Uptime(5_990 * MS), false),
            "nothing has happened since"
        );
        // One message, and the monitor parks before half a second is over.
        assert!(wants_copy(idle, Uptime(5_640 * MS), Uptime(5_480 * MS), false));
    }
}
