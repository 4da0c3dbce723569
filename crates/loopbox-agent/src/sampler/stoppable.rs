//! The check of the main thread before it is asked to stop. A main thread that could not reach a safepoint
//! soon is left alone. If it were asked, it would stop later, when it has work to do. Meanwhile any other
//! thread that waits for it to stop would be blocked.
//!
//! Only a thread that runs Java code is checked. A thread in native code counts as stopped already, whatever
//! it waits for in the kernel. Its stack shows the call, which is what the reader of a report needs.

use crate::session::Session;
use crate::sys::{clock, proc};
use loopbox_art::{Art, Unstoppable};
use loopbox_format::model::{Token, Uptime};

/// A thread that did not run for this long waits for a processor. After a shorter time the scheduler may only
/// have preferred the calling thread, which woke up a moment ago.
const STARVED_NS: u64 = 5_000_000;

/// The main thread's progress at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Progress {
    token: Token,
    at_ns: Uptime,
    pub(super) cpu_ns: u64,
}

impl Progress {
    /// The main thread's progress now; `None` without a CPU clock.
    pub(super) fn now(session: &Session, token: Token) -> Option<Self> {
        let cpu_ns = clock::thread_cpu_of(session.main_cpu?)?;
        Some(Self { token, at_ns: clock::now_ns(), cpu_ns })
    }
}

/// Why the main thread must not be asked to stop now; `None` when it may be asked. When its state cannot be
/// read, the result is `None`: ART gives up a suspension after a while, and a process without a free
/// descriptor still needs stacks.
pub(super) fn unstoppable(art: &Art, before: Option<Progress>, now: Option<Progress>) -> Option<Unstoppable> {
    if !art.main_runs_java() {
        return None;
    }
    by_state(proc::main_stat()?.state, before, now)
}

/// Decides by the kernel's state of the thread, and by the thread's CPU clock. The clock stands still while
/// the thread waits for a processor. `schedstat` does not show such a wait until it is over
/// (`sched_info_arrive`).
fn by_state(state: u8, before: Option<Progress>, now: Option<Progress>) -> Option<Unstoppable> {
    let stood_still = || {
        let (before, now) = (before?, now?);
        let same = before.token == now.token && before.cpu_ns == now.cpu_ns;
        Some(same && now.at_ns.since(before.at_ns) >= STARVED_NS)
    };
    match state {
        b'D' => Some(Unstoppable::Uninterruptible),
        b'R' if stood_still() == Some(true) => Some(Unstoppable::Starved),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_cannot_stop_soon_is_left_alone() {
        let progress =
            |token, at_ms: u64, cpu_ns| Some(Progress { token, at_ns: Uptime(at_ms * 1_000_000), cpu_ns });
        let before = progress(Token(7), 100, 5);
        assert_eq!(by_state(b'D', None, None), Some(Unstoppable::Uninterruptible));
        assert_eq!(by_state(b'R', before, progress(Token(7), 110, 5)), Some(Unstoppable::Starved));
        for (state, now) in [
            (b'S', progress(Token(7), 110, 5)),
            (b'R', progress(Token(7), 110, 6)),
            (b'R', progress(Token(7), 101, 5)),
            (b'R', progress(Token(8), 110, 5)),
            (b'R', None),
        ] {
            assert_eq!(by_state(state, before, now), None, "{now:?}");
        }
        assert_eq!(by_state(b'R', None, progress(Token(7), 110, 5)), None);
    }
}
