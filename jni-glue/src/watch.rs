//! A thread that watches how long the running message runs, and nothing else: it takes no lock, needs no Java, and the
//! sampler's troubles are not its own. It is awake twice a second while messages run and sleeps while none does. At the
//! same looks it sees to it that SIGQUIT still comes to us.

use crate::session::Session;
use crate::{clock, figures, sigquit};
use loopbox_recorder::{Activity, Frozen, Since, Suspect, Watch};
use std::sync::{Arc, Mutex, PoisonError};

/// The main thread's last end is that long ago when the thread parks, and the next begin has to wake it.
const PARK_AFTER_NS: u64 = 500_000_000;

/// What the thread has seen.
#[derive(Debug, Default)]
pub(crate) struct Watched(Mutex<Seen>);

/// At the last look.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    /// Uptime of the look.
    pub(crate) at_ns: u64,
    /// The running message.
    pub(crate) message: Suspect,
    /// It runs long.
    pub(crate) suspect: bool,
    /// When the process did not run.
    pub(crate) frozen: Frozen,
}

impl Watched {
    pub(crate) fn seen(&self) -> Seen {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether the worker has something to do.
    fn put(&self, seen: Seen) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let token = |seen: &Seen| if seen.suspect { seen.message.token } else { 0 };
        let changed = token(&seen) != token(&last);
        *last = seen;
        changed
    }
}

/// Starts the thread. Java does not know it, so that no debugger and no collection stops it.
pub(crate) fn start(session: &Arc<Session>) -> std::io::Result<()> {
    let session = Arc::clone(session);
    let thread = std::thread::Builder::new().name("loopbox-watch".to_owned()).stack_size(64 << 10);
    thread.spawn(move || run(&session)).map(drop)
}

fn run(session: &Session) {
    let shared = &session.shared;
    let mut watch = Watch::new(session.settings.patience_ns);
    let mut since = Since::Awake;
    let mut was_blocked = false;
    while !shared.stopped() {
        let now = clock::now_ns();
        let activity = shared.activity();
        let suspect = watch.look(now, activity, since);
        if let Activity::Running { .. } = activity {
            // The sampler beats more often, but it may be off, stuck, or have given up.
            session.reader.beat(now);
        }
        if session.watched.put(Seen { at_ns: now, message: watch.message(), suspect, frozen: watch.frozen() })
        {
            session.wake_worker();
        }
        was_blocked = look_after_sig_quit(session, was_blocked);
        let deadline_ns = match activity {
            Activity::Idle { since_ns } if now.saturating_sub(since_ns) >= PARK_AFTER_NS => {
                shared.park_watch();
                since = Since::Parked;
                continue;
            }
            Activity::Idle { since_ns } => since_ns.saturating_add(PARK_AFTER_NS),
            Activity::Running { .. } => watch.next_look_ns(now).unwrap_or(now),
        };
        shared.watch_sleep(deadline_ns);
        since = Since::SleptUntil(deadline_ns);
    }
}

/// Other libraries come and go with the signal at any time. Says whether the main thread has it blocked.
fn look_after_sig_quit(session: &Session, was_blocked: bool) -> bool {
    let blocked = figures::main_blocks_sig_quit();
    // It is for a moment while a thread is created, or in a handler.
    if sigquit::set_blocked(blocked && was_blocked) {
        session.shared.have_unblocked();
    }
    if session.check_sig_quit() {
        session.wake_worker();
    }
    blocked
}
