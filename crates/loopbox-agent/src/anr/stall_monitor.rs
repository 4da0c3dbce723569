//! The stall monitor: a thread that measures how long the running message runs. It needs no Java and takes no lock that
//! the app, a collection or a suspended thread can hold, only short ones of the recorder (its own snapshot, the features,
//! the SIGQUIT action), so it keeps working when the sampler does not. It wakes twice a second while messages run and
//! sleeps while none does. Whenever it wakes it also checks that SIGQUIT still reaches us.

use super::sigquit;
use super::update_handler_feature;
use crate::session::Session;
use crate::session::stall::StallSnapshot;
use crate::sys::{clock, proc};
use loopbox_recorder::{Activity, Since, Watch};
use std::sync::Arc;

/// When the main thread's last message ended this long ago, the monitor parks, and the next message has to wake it.
const PARK_AFTER_NS: u64 = 500_000_000;

/// Starts the thread. It is not attached to the VM, so that no debugger and no collection stops it.
pub(crate) fn start(session: &Arc<Session>) -> std::io::Result<()> {
    let session = Arc::clone(session);
    let thread = std::thread::Builder::new().name("loopbox-watch".to_owned()).stack_size(64 << 10);
    thread.spawn(move || run(&session)).map(drop)
}

fn run(session: &Session) {
    let shared = &session.shared;
    let mut watch = Watch::new(session.settings.hang_threshold_ns);
    let mut since = Since::Awake;
    let mut was_blocked = false;
    while !shared.stopped() {
        let now = clock::now_ns();
        let activity = shared.activity();
        let suspect = watch.look(now, activity, since);
        if let Activity::Running { .. } = activity {
            // The sampler writes this heartbeat more often, but it may be off, stuck, or have given up.
            session.reader.beat(now);
        }
        let message = watch.message();
        let snapshot = StallSnapshot { at_ns: now, message, suspect, frozen: watch.frozen() };
        if session.stall.update(snapshot) {
            session.wake_worker();
        }
        was_blocked = check_sig_quit(session, was_blocked);
        let deadline_ns = match activity {
            Activity::Idle { since_ns } if now.saturating_sub(since_ns) >= PARK_AFTER_NS => {
                shared.park_stall_monitor();
                since = Since::Parked;
                continue;
            }
            Activity::Idle { since_ns } => since_ns.saturating_add(PARK_AFTER_NS),
            Activity::Running { .. } => watch.next_look_ns(now).unwrap_or(now),
        };
        shared.stall_monitor_sleep(deadline_ns);
        since = Since::SleptUntil(deadline_ns);
    }
}

/// Other libraries may change the signal's handling at any time. Returns whether the main thread has it blocked.
fn check_sig_quit(session: &Session, was_blocked: bool) -> bool {
    let blocked = proc::main_blocks_sig_quit();
    // Blocked for a moment is normal: while a thread is created, or in a handler.
    if sigquit::set_blocked(blocked && was_blocked) {
        session.shared.request_unblock();
    }
    if update_handler_feature(session) {
        session.wake_worker();
    }
    blocked
}
