//! Whether the main thread sleeps while ordinary messages are due.
//!
//! A sync barrier that nobody removes causes that: main waits, each message behind the barrier waits, and
//! none of them wakes main. Nothing that the hook or the kernel shows about main distinguishes this from
//! rest. So the front of the queue is checked once when main has gone to rest, and again only when that check
//! gave a reason.

use loopbox_format::model::Uptime;

const MS: u64 = 1_000_000;
/// When a check comes this much later than intended, the process was kept from running, main included.
const GAP_NS: u64 = 1_000 * MS;
/// An overdue message must be found twice, with at least this time in between, while the main thread waits.
/// Right after a long message, the messages behind a frame's barrier are as overdue as those behind a leaked
/// one, but the frame's barrier is removed with the next frame.
const CONFIRM_NS: u64 = 500 * MS;
/// The shortest time between two checks of a barrier that holds back nothing yet. The longest time is
/// [`LONGEST_NS`]. Between these limits, the time to the next check is half the time for which the barrier
/// has been known.
const SHORTEST_NS: u64 = 500 * MS;
const LONGEST_NS: u64 = 30_000 * MS;

/// The first entry of the main thread's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// Nothing is held back, and nothing that main could take is due.
    Free,
    /// A sync barrier, by its token.
    Barrier {
        /// Counts up from 0 in each queue.
        token: u32,
        /// Since when the first ordinary message behind the barrier has been due, uptime; `None` when there
        /// is no such message or it is not due yet.
        due_ns: Option<Uptime>,
    },
    /// An ordinary message that has been due since this uptime.
    Overdue(Uptime),
}

impl Front {
    fn due_ns(self) -> Option<Uptime> {
        match self {
            Self::Free => None,
            Self::Barrier { due_ns, .. } => due_ns,
            Self::Overdue(due_ns) => Some(due_ns),
        }
    }

    /// Whether it is the same barrier, or the same message.
    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Barrier { token, .. }, Self::Barrier { token: of_other, .. }) => token == of_other,
            _ => self == other,
        }
    }
}

/// What to do after a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueFinding {
    /// No reason to check again before main has run.
    Rest,
    /// Check again at this uptime.
    CheckAt(Uptime),
    /// The checks have seen messages held back for this many nanoseconds, which is at least the hang
    /// threshold. Reported once for each barrier.
    Hang(u64),
}

/// What is known about what holds the queue back.
#[derive(Debug, Clone, Copy)]
struct Held {
    front: Front,
    /// Since when every check has found this entry first in the queue.
    seen_ns: Uptime,
    /// When the entry was first found overdue while the main thread was waiting.
    found_ns: Option<Uptime>,
    next_ns: Uptime,
}

/// Follows what is first in the queue, from check to check.
#[derive(Debug)]
pub struct QueueWatch {
    threshold_ns: u64,
    held: Option<Held>,
    reported: Option<Front>,
}

impl QueueWatch {
    /// A watch with the hang threshold of ordinary messages.
    pub fn new(threshold_ns: u64) -> Self {
        Self { threshold_ns, held: None, reported: None }
    }

    /// When to check next, even if main has not run.
    pub fn next_check_ns(&self) -> Option<Uptime> {
        self.held.map(|held| held.next_ns)
    }

    /// Nothing is known any more: the recorder was paused, or the queue cannot be read.
    pub fn forget(&mut self) {
        self.held = None;
    }

    /// Records a check. `waits`: the kernel showed main in its queue's wait, and no message runs.
    pub fn check(&mut self, now_ns: Uptime, front: Front, waits: bool) -> QueueFinding {
        let known = self.held.take().filter(|held| held.front.is_same(front));
        if front == Front::Free || self.reported.is_some_and(|reported| reported.is_same(front)) {
            return QueueFinding::Rest;
        }
        let late = |held: &Held| now_ns.since(held.next_ns) >= GAP_NS;
        let known = known.filter(|held| !late(held));
        let seen_ns = known.map_or(now_ns, |held| held.seen_ns);
        let mut found_ns = known.and_then(|held| held.found_ns).filter(|_| waits);
        let next_ns = match front.due_ns().map(|due_ns| due_ns.max(seen_ns)) {
            None => now_ns.plus((now_ns.since(seen_ns) / 2).clamp(SHORTEST_NS, LONGEST_NS)),
            Some(since_ns) if now_ns.since(since_ns) < self.threshold_ns => since_ns.plus(self.threshold_ns),
            Some(since_ns) => {
                if found_ns.is_some_and(|found_ns| now_ns.since(found_ns) >= CONFIRM_NS) {
                    self.reported = Some(front);
                    return QueueFinding::Hang(now_ns.since(since_ns));
                }
                if waits {
                    found_ns = found_ns.or(Some(now_ns));
                }
                now_ns.plus(CONFIRM_NS)
            }
        };
        self.held = Some(Held { front, seen_ns, found_ns, next_ns });
        QueueFinding::CheckAt(next_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use QueueFinding::{CheckAt, Hang, Rest};

    const S: u64 = 1_000 * MS;

    fn barrier(token: u32, due_s: Option<u64>) -> Front {
        Front::Barrier { token, due_ns: due_s.map(|s| Uptime(s * S)) }
    }

    fn at(ms: u64) -> Uptime {
        Uptime(ms * MS)
    }

    #[test]
    fn a_barrier_that_holds_back_due_messages_is_a_hang_after_its_threshold_and_only_once() {
        let mut watch = QueueWatch::new(5 * S);
        let leaked = barrier(17, Some(10));
        assert_eq!(watch.check(at(10_500), leaked, true), CheckAt(at(15_500)));
        assert_eq!(watch.next_check_ns(), Some(at(15_500)));
        assert_eq!(watch.check(at(15_501), leaked, true), CheckAt(at(16_001)));
        assert_eq!(watch.check(at(16_001), leaked, true), Hang(5_501 * MS));
        assert_eq!((watch.check(at(60_000), leaked, true), watch.next_check_ns()), (Rest, None));
        // Another one is another hang.
        assert_eq!(watch.check(at(61_000), barrier(18, Some(10)), true), CheckAt(at(66_000)));
    }

    #[test]
    fn a_frames_barrier_is_gone_at_the_second_check() {
        let mut watch = QueueWatch::new(5 * S);
        assert_eq!(watch.check(at(10_500), barrier(17, Some(10)), true), CheckAt(at(15_500)));
        assert_eq!(watch.check(at(15_500), Front::Free, true), Rest);
        assert_eq!(watch.next_check_ns(), None);
        // Of the next frame.
        assert_eq!(watch.check(at(20_500), barrier(18, Some(10)), true), CheckAt(at(25_500)));
        assert_eq!(watch.check(at(25_500), barrier(19, Some(10)), true), CheckAt(at(30_500)));
    }

    #[test]
    fn a_barrier_that_holds_back_nothing_is_checked_ever_more_rarely_until_something_is_due() {
        let mut watch = QueueWatch::new(5 * S);
        let mut now = at(0);
        let mut checks = 0;
        while now < at(120_000) {
            let CheckAt(next) = watch.check(now, barrier(3, None), true) else { panic!("{now:?}") };
            assert!(next.since(now) >= SHORTEST_NS && next.since(now) <= LONGEST_NS);
            now = next;
            checks += 1;
        }
        assert!(checks <= 16, "{checks}");
        // It became due meanwhile, and main was not woken.
        let due = now.since(Uptime::ZERO) / S - 6;
        assert_eq!(watch.check(now, barrier(3, Some(due)), true), CheckAt(now.plus(CONFIRM_NS)));
        assert!(matches!(watch.check(now.plus(CONFIRM_NS), barrier(3, Some(due)), true), Hang(_)));
    }

    #[test]
    fn a_main_thread_that_does_not_wait_is_no_hang_of_the_queue() {
        let mut watch = QueueWatch::new(5 * S);
        let front = barrier(17, Some(10));
        assert_eq!(watch.check(at(10_000), front, false), CheckAt(at(15_000)));
        assert_eq!(watch.check(at(15_000), front, false), CheckAt(at(15_500)));
        assert_eq!(watch.check(at(15_500), front, true), CheckAt(at(16_000)));
        assert_eq!(
            watch.check(at(16_000), front, false),
            CheckAt(at(16_500)),
            "it took a message that may pass"
        );
        assert_eq!(watch.check(at(16_500), front, true), CheckAt(at(17_000)));
        assert_eq!(watch.check(at(17_000), front, true), Hang(7 * S));
    }

    #[test]
    fn a_process_that_was_frozen_is_watched_anew() {
        let mut watch = QueueWatch::new(5 * S);
        let front = barrier(17, Some(10));
        assert_eq!(watch.check(at(10_000), front, true), CheckAt(at(15_000)));
        assert_eq!(watch.check(at(70_000), front, true), CheckAt(at(75_000)));
        assert_eq!(watch.check(at(75_900), front, true), CheckAt(at(76_400)), "a busy machine is late, too");
        assert_eq!(watch.check(at(76_400), front, true), Hang(6_400 * MS));
    }

    #[test]
    fn a_message_that_is_due_and_does_not_wake_main_is_a_hang_without_a_barrier() {
        let mut watch = QueueWatch::new(5 * S);
        let front = Front::Overdue(Uptime(10 * S));
        assert_eq!(watch.check(at(10_400), front, true), CheckAt(at(15_400)));
        assert_eq!(watch.check(at(15_400), front, true), CheckAt(at(15_900)));
        assert_eq!(watch.check(at(15_900), front, true), Hang(5_500 * MS));
        watch.forget();
        assert_eq!(watch.next_check_ns(), None);
    }
}
