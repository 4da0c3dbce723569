//! How long the running message has really been running.

use crate::Activity;

const MS: u64 = 1_000_000;
/// A thread that wakes that much too late was kept from running, and with it the whole process.
const GAP_NS: u64 = 1_000 * MS;
/// How often a message that is under suspicion is looked at, at the least.
const LOOK_NS: u64 = 250 * MS;

/// What the sampler thread did since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// It was busy, or this is the first look.
    Awake,
    /// It slept until this uptime, or until something woke it before.
    SleptUntil(u64),
    /// It slept until a message began.
    Parked,
}

/// A message that runs long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Suspect {
    /// Its number; 0 for none.
    pub token: u64,
    /// When its dispatch began.
    pub start_ns: u64,
    /// How long it had been running, without `frozen_ns`.
    pub ran_ns: u64,
    /// How long the process did not run meanwhile.
    pub frozen_ns: u64,
}

/// Watches the running message from the sampler's thread: no message is posted, no clock of the main thread read.
///
/// The thread sleeps to deadlines. When it wakes much later than it wanted, the process was frozen by the system,
/// stopped, or starved; that time is not the message's own and does not count.
#[derive(Debug, Clone)]
pub struct Watch {
    suspicion_ns: u64,
    gap_ns: u64,
    look_ns: u64,
    message: Suspect,
    frozen_ns: u64,
    frozen_times: u32,
}

impl Watch {
    /// Suspects a message at half of its patience.
    pub fn new(patience_ns: u64) -> Self {
        Self {
            suspicion_ns: patience_ns / 2,
            gap_ns: GAP_NS.min(patience_ns / 2),
            look_ns: LOOK_NS.min(patience_ns / 8),
            message: Suspect::default(),
            frozen_ns: 0,
            frozen_times: 0,
        }
    }

    /// Looks at what the main thread does. The answer is the message that is under suspicion, if it is.
    pub fn look(&mut self, now_ns: u64, activity: Activity, since: Since) -> Option<Suspect> {
        let Activity::Running { token, start_ns } = activity else {
            self.message = Suspect::default();
            return None;
        };
        if self.message.token != token {
            self.message = Suspect { token, start_ns, ..Suspect::default() };
        }
        match since {
            Since::Awake => {}
            Since::SleptUntil(deadline_ns) => self.missed(now_ns.saturating_sub(deadline_ns.max(start_ns))),
            // Whoever parks is woken at the begin.
            Since::Parked => self.missed(now_ns.saturating_sub(start_ns)),
        }
        let age_ns = now_ns.saturating_sub(start_ns);
        self.message.frozen_ns = self.message.frozen_ns.min(age_ns);
        self.message.ran_ns = age_ns - self.message.frozen_ns;
        (self.message.ran_ns >= self.suspicion_ns).then_some(self.message)
    }

    /// The thread did something that takes no time worth mentioning, and it took that long.
    pub fn took(&mut self, ns: u64) {
        self.missed(ns);
    }

    /// When to look again at the latest; `None` while no message runs.
    pub fn next_look_ns(&self, now_ns: u64) -> Option<u64> {
        let message = &self.message;
        let suspicion_ns =
            message.start_ns.saturating_add(message.frozen_ns).saturating_add(self.suspicion_ns);
        let next_ns = if suspicion_ns > now_ns { suspicion_ns } else { now_ns.saturating_add(self.look_ns) };
        (message.token != 0).then_some(next_ns)
    }

    /// How long, and how often, the process did not run while a message did.
    pub fn frozen(&self) -> (u64, u32) {
        (self.frozen_ns, self.frozen_times)
    }

    fn missed(&mut self, ns: u64) {
        if ns >= self.gap_ns && self.message.token != 0 {
            self.message.frozen_ns = self.message.frozen_ns.saturating_add(ns);
            self.frozen_ns = self.frozen_ns.saturating_add(ns);
            self.frozen_times = self.frozen_times.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000 * MS;

    fn running(token: u64, start_ns: u64) -> Activity {
        Activity::Running { token, start_ns }
    }

    #[test]
    fn a_message_is_suspect_from_half_of_its_patience_on() {
        let mut watch = Watch::new(5 * S);
        assert_eq!(watch.look(10 * S, running(1, 10 * S), Since::Parked), None);
        assert_eq!(watch.next_look_ns(10 * S), Some(12 * S + 500 * MS));
        assert_eq!(watch.look(12 * S, running(1, 10 * S), Since::Awake), None);
        let at = 12 * S + 510 * MS;
        let suspect = watch.look(at, running(1, 10 * S), Since::SleptUntil(at - 10 * MS)).unwrap();
        assert_eq!(suspect, Suspect { token: 1, start_ns: 10 * S, ran_ns: 2_510 * MS, frozen_ns: 0 });
        assert_eq!(watch.next_look_ns(at), Some(at + 250 * MS));
        assert_eq!(watch.look(13 * S, running(2, 13 * S), Since::Awake), None);
        assert_eq!(watch.look(13 * S, Activity::Idle { since_ns: 13 * S }, Since::Awake), None);
        assert_eq!(watch.next_look_ns(13 * S), None);
        assert_eq!(watch.frozen(), (0, 0));
    }

    #[test]
    fn time_in_which_the_process_did_not_run_does_not_count() {
        let mut watch = Watch::new(5 * S);
        assert_eq!(watch.look(S, running(1, S), Since::Awake), None);
        // Frozen for a minute in its first second.
        assert_eq!(watch.look(62 * S, running(1, S), Since::SleptUntil(2 * S)), None);
        assert_eq!(watch.next_look_ns(62 * S), Some(63 * S + 500 * MS));
        let suspect = watch.look(64 * S, running(1, S), Since::Awake).unwrap();
        assert_eq!((suspect.ran_ns, suspect.frozen_ns), (3 * S, 60 * S));
        // Again, while under suspicion, in the middle of taking a stack.
        watch.took(10 * S);
        let suspect = watch.look(74 * S, running(1, S), Since::Awake).unwrap();
        assert_eq!((suspect.ran_ns, suspect.frozen_ns), (3 * S, 70 * S));
        assert_eq!(watch.frozen(), (70 * S, 2));
    }

    #[test]
    fn a_freeze_counts_for_the_message_that_it_hit_and_only_for_its_time() {
        let mut watch = Watch::new(5 * S);
        // The thread meant to wake before the message began.
        assert_eq!(watch.look(20 * S, running(1, 10 * S), Since::SleptUntil(9 * S)), None);
        assert_eq!(watch.frozen(), (10 * S, 1));
        assert_eq!(watch.look(30 * S, running(2, 22 * S), Since::Parked), None);
        assert_eq!(watch.frozen(), (18 * S, 2));
        // A message that ended meanwhile is nobody's.
        assert_eq!(watch.look(90 * S, Activity::Idle { since_ns: 89 * S }, Since::SleptUntil(31 * S)), None);
        assert_eq!(watch.frozen(), (18 * S, 2));
    }

    #[test]
    fn waking_a_little_late_is_only_a_busy_machine() {
        let mut watch = Watch::new(5 * S);
        let late = Since::SleptUntil(3 * S);
        let suspect = watch.look(3 * S + 900 * MS, running(1, S), late).unwrap();
        assert_eq!((suspect.ran_ns, suspect.frozen_ns), (2_900 * MS, 0));
    }
}
