//! How long the running message has really been running.

use crate::{Activity, Scheduled, Starvation};
use loopbox_format::model::{CpuUse, Token, Uptime};

const MS: u64 = 1_000_000;
/// A thread that wakes up this much too late was kept from running, and the whole process with it.
const GAP_NS: u64 = 1_000 * MS;
/// The longest time between two checks of a running message while the app is in the foreground.
const CHECK_NS: u64 = 500 * MS;
/// The longest time between two checks of a running message while the app is in the background, where no user
/// waits.
const BACKGROUND_CHECK_NS: u64 = 1_000 * MS;
/// A message of at least this age leaves a report if its process is killed.
const MATTERS_NS: u64 = 1_000 * MS;
/// The longest time between two checks of a message that is older than [`MATTERS_NS`]. From these checks the
/// next launch knows how long the message ran, to within a tenth of a second.
const HEARTBEAT_NS: u64 = 80 * MS;

/// What the watching thread did since the last check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The thread did not sleep, or it is not known when it should have woken. The check then finds no
    /// freeze.
    Awake,
    /// The thread slept until this uptime, or was woken earlier.
    SleptUntil(Uptime),
    /// The thread slept until a message began.
    Parked,
}

/// A message that runs long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Suspect {
    /// The token of the message; [`Token::NONE`] when none runs.
    pub token: Token,
    /// When the dispatch of the message began.
    pub start_ns: Uptime,
    /// How long the message had been running, without `frozen_ns`.
    pub ran_ns: u64,
    /// How long the process did not run during the message.
    pub frozen_ns: u64,
    /// The part of `ran_ns` for which the main thread has waited for a processor since the first check of the
    /// message.
    pub starved_ns: u64,
    /// How much the main thread and the process used the processors since the first check of the message;
    /// covers no time until the second check.
    pub cpu_use: CpuUse,
}

/// Watches the running message from another thread: it posts no message, and reads no clock of the main
/// thread.
///
/// The thread sleeps to deadlines. When it wakes much later than intended, the process was frozen by the
/// system, stopped, or starved; that time does not count for the message.
#[derive(Debug, Clone, Copy)]
pub struct Watchdog {
    suspicion_ns: u64,
    gap_ns: u64,
    background: bool,
    message: Suspect,
    /// The first check of the message: how long it had run by then, and the counters at that time.
    first: Option<(Starvation, u64, Counted)>,
    frozen: Frozen,
}

/// What the kernel counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The counters of the main thread.
    pub main: Scheduled,
    /// CPU time of the process; `None` when it could not be read.
    pub process_ns: Option<u64>,
    /// How many processors the main thread may run on; `None` when that could not be read.
    pub processors: Option<u32>,
}

/// The freezes: times in which a message was running and the whole process did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frozen {
    /// The total time of all freezes.
    pub all_ns: u64,
    /// The number of freezes.
    pub times: u32,
    /// The length of the last freeze.
    pub last_ns: u64,
    /// When the last freeze ended, in uptime.
    pub last_over_ns: Uptime,
}

impl Watchdog {
    /// A watchdog that suspects a message at half of the hang threshold.
    pub fn new(threshold_ns: u64) -> Self {
        Self {
            suspicion_ns: threshold_ns / 2,
            gap_ns: GAP_NS.min(threshold_ns / 2),
            background: false,
            message: Suspect::default(),
            first: None,
            frozen: Frozen::default(),
        }
    }

    /// Sets whether the app is in the background.
    pub fn set_background(&mut self, background: bool) {
        self.background = background;
    }

    /// Updates the running message from `activity`. True when the message is under suspicion.
    pub fn check(&mut self, now_ns: Uptime, activity: Activity, since: Since) -> bool {
        let Some((token, start_ns)) = activity.running() else {
            self.message = Suspect::default();
            return false;
        };
        // A number that was taken back is given to another message.
        if (self.message.token, self.message.start_ns) != (token, start_ns) {
            self.message = Suspect { token, start_ns, ..Suspect::default() };
            self.first = None;
        }
        match since {
            Since::Awake => {}
            Since::SleptUntil(deadline_ns) => self.missed(now_ns, deadline_ns.max(start_ns)),
            // A parked thread is woken when a message begins.
            Since::Parked => self.missed(now_ns, start_ns),
        }
        let age_ns = now_ns.since(start_ns);
        self.message.frozen_ns = self.message.frozen_ns.min(age_ns);
        self.message.ran_ns = age_ns - self.message.frozen_ns;
        self.message.ran_ns >= self.suspicion_ns
    }

    /// Takes the kernel's counters at the last check; `None` when they could not be read.
    pub fn counted(&mut self, now: Option<Counted>) {
        let Some(now) = now.filter(|_| self.message.token != Token::NONE) else { return };
        let ran_ns = self.message.ran_ns;
        let (starvation, first_ns, first) =
            self.first.get_or_insert_with(|| (Starvation::new(ran_ns, now.main), ran_ns, now));
        self.message.starved_ns = starvation.update(ran_ns, now.main);
        let growth = |now: Option<u64>, first: Option<u64>| Some(now?.saturating_sub(first?));
        self.message.cpu_use = CpuUse {
            over_ns: ran_ns.saturating_sub(*first_ns),
            main_ns: now.main.ran_ns.saturating_sub(first.main.ran_ns),
            process_ns: growth(now.process_ns, first.process_ns),
            processors: now.processors,
        };
    }

    /// The running message as last checked; its token is [`Token::NONE`] when none was.
    pub fn message(&self) -> Suspect {
        self.message
    }

    /// When to check again at the latest; `None` while no message runs.
    pub fn next_check_ns(&self, now_ns: Uptime) -> Option<Uptime> {
        let message = &self.message;
        let suspicion_ns = message.start_ns.plus(message.frozen_ns).plus(self.suspicion_ns);
        let matters_ns = message.start_ns.plus(MATTERS_NS);
        let check_ns = match self.background {
            _ if now_ns >= matters_ns => HEARTBEAT_NS.min(self.suspicion_ns / 4),
            true => BACKGROUND_CHECK_NS.min(self.suspicion_ns / 2),
            false => CHECK_NS.min(self.suspicion_ns / 4),
        };
        let turns = [suspicion_ns, matters_ns].into_iter().filter(|&turn_ns| turn_ns > now_ns);
        let next_ns = turns.fold(now_ns.plus(check_ns), Uptime::min);
        (message.token != Token::NONE).then_some(next_ns)
    }

    /// The freezes so far: times in which a message was running and the whole process did not run.
    pub fn frozen(&self) -> Frozen {
        self.frozen
    }

    fn missed(&mut self, now_ns: Uptime, expected_ns: Uptime) {
        let ns = now_ns.since(expected_ns);
        if ns >= self.gap_ns {
            self.message.frozen_ns = self.message.frozen_ns.saturating_add(ns);
            self.frozen = Frozen {
                all_ns: self.frozen.all_ns.saturating_add(ns),
                times: self.frozen.times.saturating_add(1),
                last_ns: ns,
                last_over_ns: now_ns,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000 * MS;

    fn running(token: Token, start_ns: Uptime) -> Activity {
        Activity::Running { token, start_ns }
    }

    fn totals(watch: &Watchdog) -> (u64, u32) {
        (watch.frozen().all_ns, watch.frozen().times)
    }

    #[test]
    fn a_message_is_suspect_from_half_of_its_threshold_on() {
        let mut watch = Watchdog::new(5 * S);
        assert!(!watch.check(Uptime(10 * S), running(Token(1), Uptime(10 * S)), Since::Parked));
        assert_eq!(watch.next_check_ns(Uptime(10 * S)), Some(Uptime(10 * S + 500 * MS)));
        assert_eq!(watch.next_check_ns(Uptime(10 * S + 600 * MS)), Some(Uptime(11 * S)));
        assert_eq!(
            watch.next_check_ns(Uptime(11 * S)),
            Some(Uptime(11 * S + 80 * MS)),
            "from a second on it must be known closely"
        );
        assert!(!watch.check(Uptime(12 * S + 450 * MS), running(Token(1), Uptime(10 * S)), Since::Awake));
        assert_eq!(watch.next_check_ns(Uptime(12 * S + 450 * MS)), Some(Uptime(12 * S + 500 * MS)));
        let at = 12 * S + 510 * MS;
        assert!(watch.check(
            Uptime(at),
            running(Token(1), Uptime(10 * S)),
            Since::SleptUntil(Uptime(at - 10 * MS))
        ));
        assert_eq!(
            watch.message(),
            Suspect { token: Token(1), start_ns: Uptime(10 * S), ran_ns: 2_510 * MS, ..Suspect::default() }
        );
        assert_eq!(watch.next_check_ns(Uptime(at)), Some(Uptime(at + 80 * MS)));
        assert!(!watch.check(Uptime(13 * S), running(Token(2), Uptime(13 * S)), Since::Awake));
        assert!(!watch.check(Uptime(13 * S), Activity::Idle { since_ns: Uptime(13 * S) }, Since::Awake));
        assert_eq!(watch.next_check_ns(Uptime(13 * S)), None);
        assert_eq!(watch.frozen(), Frozen::default());
    }

    #[test]
    fn time_in_which_the_process_did_not_run_does_not_count() {
        let mut watch = Watchdog::new(5 * S);
        assert!(!watch.check(Uptime(S), running(Token(1), Uptime(S)), Since::Awake));
        // Frozen for a minute in its first second.
        assert!(!watch.check(Uptime(62 * S), running(Token(1), Uptime(S)), Since::SleptUntil(Uptime(2 * S))));
        assert!(watch.check(Uptime(64 * S), running(Token(1), Uptime(S)), Since::Awake));
        assert_eq!((watch.message().ran_ns, watch.message().frozen_ns), (3 * S, 60 * S));
        // Again, while under suspicion.
        assert!(watch.check(Uptime(75 * S), running(Token(1), Uptime(S)), Since::SleptUntil(Uptime(65 * S))));
        assert_eq!((watch.message().ran_ns, watch.message().frozen_ns), (4 * S, 70 * S));
        assert_eq!(totals(&watch), (70 * S, 2));
        assert_eq!((watch.frozen().last_ns, watch.frozen().last_over_ns), (10 * S, Uptime(75 * S)));
    }

    #[test]
    fn what_a_number_meant_that_was_taken_back_is_not_its_next_messages() {
        let mut watch = Watchdog::new(5 * S);
        assert!(!watch.check(Uptime(S), running(Token(1), Uptime(S)), Since::Awake));
        assert!(!watch.check(Uptime(62 * S), running(Token(1), Uptime(S)), Since::SleptUntil(Uptime(2 * S))));
        assert_eq!(watch.message().frozen_ns, 60 * S);
        let at_ns = Uptime(65 * S);
        assert!(watch.check(at_ns, running(Token(1), Uptime(62 * S)), Since::Awake));
        let (start_ns, ran_ns) = (Uptime(62 * S), 3 * S);
        assert_eq!(watch.message(), Suspect { token: Token(1), start_ns, ran_ns, ..Suspect::default() });
    }

    #[test]
    fn a_freeze_counts_for_the_message_that_it_hit_and_only_for_its_time() {
        let mut watch = Watchdog::new(5 * S);
        // The thread meant to wake before the message began.
        assert!(!watch.check(
            Uptime(20 * S),
            running(Token(1), Uptime(10 * S)),
            Since::SleptUntil(Uptime(9 * S))
        ));
        assert_eq!(totals(&watch), (10 * S, 1));
        assert!(!watch.check(Uptime(30 * S), running(Token(2), Uptime(22 * S)), Since::Parked));
        assert_eq!(totals(&watch), (18 * S, 2));
        // A message that ended meanwhile is not counted.
        assert!(!watch.check(
            Uptime(90 * S),
            Activity::Idle { since_ns: Uptime(89 * S) },
            Since::SleptUntil(Uptime(31 * S))
        ));
        assert_eq!(totals(&watch), (18 * S, 2));
    }

    #[test]
    fn the_background_is_watched_once_a_second_until_it_matters() {
        let mut watch = Watchdog::new(5 * S);
        watch.set_background(true);
        assert!(!watch.check(Uptime(10 * S), running(Token(1), Uptime(10 * S)), Since::Parked));
        assert_eq!(watch.next_check_ns(Uptime(10 * S)), Some(Uptime(11 * S)));
        assert_eq!(watch.next_check_ns(Uptime(11 * S)), Some(Uptime(11 * S + 80 * MS)));
    }

    #[test]
    fn what_runs_outside_of_messages_is_watched_like_one() {
        let mut watch = Watchdog::new(5 * S);
        let outside = Activity::Outside { token: Token::outside_before(Token(7)), since_ns: Uptime(10 * S) };
        assert!(!watch.check(Uptime(11 * S), outside, Since::Awake));
        assert!(watch.check(Uptime(13 * S), outside, Since::SleptUntil(Uptime(13 * S))));
        assert_eq!((watch.message().token, watch.message().ran_ns), (Token::outside_before(Token(7)), 3 * S));
    }

    #[test]
    fn the_wait_for_a_processor_is_the_messages_own() {
        let at = |ran, waited, turns| {
            let main = Scheduled { ran_ns: ran * S, waited_ns: waited * S, turns, is_runnable: true };
            Some(Counted { main, process_ns: None, processors: None })
        };
        let mut watch = Watchdog::new(5 * S);
        watch.counted(at(3, 8, 1));
        assert!(!watch.check(Uptime(10 * S), running(Token(1), Uptime(10 * S)), Since::Parked));
        watch.counted(at(3, 9, 2));
        assert!(watch.check(Uptime(14 * S), running(Token(1), Uptime(10 * S)), Since::Awake));
        assert_eq!(watch.message().starved_ns, 0);
        watch.counted(at(4, 9, 2));
        assert_eq!(watch.message().starved_ns, 3 * S, "the wait that lasts");
        watch.counted(None);
        assert_eq!(watch.message().starved_ns, 3 * S, "what is not counted is no evidence");
        assert!(!watch.check(Uptime(15 * S), running(Token(2), Uptime(14 * S)), Since::Awake));
        watch.counted(at(4, 13, 3));
        assert!(!watch.check(Uptime(16 * S), running(Token(2), Uptime(14 * S)), Since::Awake));
        watch.counted(at(5, 13, 3));
        assert_eq!((watch.message().token, watch.message().starved_ns), (Token(2), 0));
    }

    #[test]
    fn who_used_the_processors_is_counted_over_the_same_time() {
        let at = |main, process: Option<u64>| {
            let main = Scheduled { ran_ns: main * S, waited_ns: 0, turns: 1, is_runnable: true };
            Some(Counted { main, process_ns: process.map(|s| s * S), processors: Some(2) })
        };
        let mut watch = Watchdog::new(5 * S);
        watch.check(Uptime(10 * S), running(Token(1), Uptime(10 * S)), Since::Parked);
        watch.counted(at(30, Some(70)));
        assert_eq!(watch.message().cpu_use.over_ns, 0);
        // Frozen for nine seconds, which nobody ran in.
        watch.check(Uptime(23 * S), running(Token(1), Uptime(10 * S)), Since::SleptUntil(Uptime(14 * S)));
        watch.counted(at(31, Some(76)));
        let used = CpuUse { over_ns: 4 * S, main_ns: S, process_ns: Some(6 * S), processors: Some(2) };
        assert_eq!(watch.message().cpu_use, used);
        watch.check(Uptime(24 * S), running(Token(1), Uptime(10 * S)), Since::Awake);
        watch.counted(at(32, None));
        assert_eq!(watch.message().cpu_use.process_ns, None, "what was not read is unknown");
        watch.check(Uptime(25 * S), running(Token(2), Uptime(25 * S)), Since::Awake);
        watch.counted(at(33, Some(90)));
        assert_eq!(watch.message().cpu_use.main_ns, 0, "another message");
    }

    #[test]
    fn waking_a_little_late_is_only_a_busy_machine() {
        let mut watch = Watchdog::new(5 * S);
        assert!(watch.check(
            Uptime(3 * S + 900 * MS),
            running(Token(1), Uptime(S)),
            Since::SleptUntil(Uptime(3 * S))
        ));
        assert_eq!((watch.message().ran_ns, watch.message().frozen_ns), (2_900 * MS, 0));
    }
}
