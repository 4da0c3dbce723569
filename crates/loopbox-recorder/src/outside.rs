//! Whether a main thread that runs no message waits for one.

const MS: u64 = 1_000_000;
/// A thread that is away from its queue twice, this far apart, does something: waking up, taking the next message and
/// the small callbacks in between are over sooner.
const CONFIRM_NS: u64 = 100 * MS;

/// Where the kernel sees the main thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the system call in which a Looper waits.
    Queue,
    /// On a processor, or waiting for one.
    Running,
    /// In another system call.
    Elsewhere,
    /// The kernel does not say.
    Unknown,
}

/// A look at a main thread that runs no message.
#[derive(Debug, Clone, Copy)]
pub struct Glance {
    /// Now, uptime.
    pub now_ns: u64,
    /// The number of what may run outside of messages now: another one after each message.
    pub token: u64,
    /// Its CPU time so far; `None` when it cannot be read.
    pub cpu_ns: Option<u64>,
    /// Where it is.
    pub place: Place,
}

/// What the glances say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It waits for a message.
    Waits,
    /// It does not seem to: look again at this uptime.
    Doubtful(u64),
    /// It has not waited since this uptime, when it was first seen so.
    Busy(u64),
}

/// When the main thread was last seen to do nothing, or else first seen after a message, and how much CPU time it had used
/// by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asleep {
    /// Between which messages, see [`Glance::token`]; 0 for not at all.
    pub token: u64,
    /// Uptime.
    pub at_ns: u64,
    /// CPU time of the thread.
    pub cpu_ns: u64,
    /// It was seen in the queue's wait.
    pub waited: bool,
}

/// Watches a main thread between two messages from another thread.
#[derive(Debug, Clone, Default)]
pub struct OutsideWatch {
    asleep: Asleep,
    /// Between which messages it was seen busy, since when, and until when at least; token 0 for not at all.
    busy: (u64, u64, u64),
}

impl OutsideWatch {
    /// No message runs; where the thread is was not looked at.
    pub fn between(&mut self, now_ns: u64, token: u64, cpu_ns: Option<u64>) {
        if let Some(cpu_ns) = cpu_ns.filter(|_| self.asleep.token != token) {
            self.asleep = Asleep { token, at_ns: now_ns, cpu_ns, waited: false };
        }
    }

    /// Takes note of a glance.
    pub fn look(&mut self, glance: &Glance) -> Finding {
        let Glance { now_ns, token, cpu_ns, place } = *glance;
        let busy = match place {
            Place::Queue => false,
            Place::Running | Place::Elsewhere => true,
            Place::Unknown => {
                let known = Some(self.asleep).filter(|asleep| asleep.token == token);
                let Some((used, passed)) = known.zip(cpu_ns).map(|(asleep, cpu_ns)| {
                    (cpu_ns.saturating_sub(asleep.cpu_ns), now_ns.saturating_sub(asleep.at_ns))
                }) else {
                    self.between(now_ns, token, cpu_ns);
                    // Without a CPU clock there is nothing to go by.
                    return if cpu_ns.is_some() {
                        Finding::Doubtful(now_ns + CONFIRM_NS)
                    } else {
                        Finding::Waits
                    };
                };
                if passed < CONFIRM_NS {
                    return Finding::Doubtful(now_ns + CONFIRM_NS - passed);
                }
                used >= passed / 2
            }
        };
        if !busy {
            self.busy = (0, 0, 0);
            if let Some(cpu_ns) = cpu_ns {
                self.asleep = Asleep { token, at_ns: now_ns, cpu_ns, waited: true };
            }
            return Finding::Waits;
        }
        self.between(now_ns, token, cpu_ns);
        let since_ns = if self.busy.0 == token { self.busy.1 } else { now_ns };
        self.busy = (token, since_ns, now_ns);
        if now_ns.saturating_sub(since_ns) < CONFIRM_NS {
            return Finding::Doubtful(since_ns + CONFIRM_NS);
        }
        Finding::Busy(since_ns)
    }

    /// When it was last known to do nothing.
    pub fn asleep(&self) -> Asleep {
        self.asleep
    }

    /// How long what had this number was seen busy, when it is over: until the message that began at `next_ns`, if
    /// that is known.
    pub fn lasted_ns(&self, token: u64, next_ns: Option<u64>) -> Option<u64> {
        let (of, since_ns, until_ns) = self.busy;
        (of == token).then(|| next_ns.unwrap_or(until_ns).max(until_ns).saturating_sub(since_ns))
    }
}

/// When what keeps the main thread began, if its CPU time tells: it has computed all the time since. `seen_ns` is when
/// it was first seen busy, `None` for just now.
pub fn computing_since(asleep: &Asleep, now_ns: u64, cpu_ns: u64, seen_ns: Option<u64>) -> Option<u64> {
    /// Clocks and wake-ups are not finer than that.
    const SLACK_NS: u64 = 50 * MS;
    /// What an idle thread computes now and then does not add up to more than slack in that time.
    const LONGEST_NS: u64 = 60_000 * MS;
    let used_ns = cpu_ns.checked_sub(asleep.cpu_ns)?;
    let start_ns = now_ns.checked_sub(used_ns)?;
    let possible = start_ns.saturating_add(SLACK_NS) >= asleep.at_ns
        && start_ns <= seen_ns.unwrap_or(now_ns).saturating_add(SLACK_NS)
        && now_ns.saturating_sub(asleep.at_ns) <= LONGEST_NS;
    // It may have computed before that already.
    let known = asleep.waited || start_ns > asleep.at_ns.saturating_add(SLACK_NS);
    (possible && known).then(|| start_ns.min(seen_ns.unwrap_or(now_ns)).max(asleep.at_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000 * MS;

    fn glance(now_ns: u64, token: u64, cpu_ns: u64, place: Place) -> Glance {
        Glance { now_ns, token, cpu_ns: Some(cpu_ns), place }
    }

    #[test]
    fn a_thread_that_is_away_from_its_queue_twice_is_busy() {
        let mut watch = OutsideWatch::default();
        assert_eq!(watch.look(&glance(S, 7, 10, Place::Elsewhere)), Finding::Doubtful(S + CONFIRM_NS));
        assert_eq!(
            watch.look(&glance(S + 50 * MS, 7, 10, Place::Running)),
            Finding::Doubtful(S + CONFIRM_NS)
        );
        assert_eq!(watch.look(&glance(2 * S, 7, 10, Place::Elsewhere)), Finding::Busy(S));
        assert_eq!(watch.lasted_ns(7, None), Some(S));
        assert_eq!(watch.lasted_ns(7, Some(4 * S)), Some(3 * S));
        assert_eq!(watch.lasted_ns(8, None), None);
        assert_eq!(watch.look(&glance(3 * S, 7, 20, Place::Queue)), Finding::Waits);
        assert_eq!(watch.asleep(), Asleep { token: 7, at_ns: 3 * S, cpu_ns: 20, waited: true });
        assert_eq!(
            watch.look(&glance(4 * S, 7, 20, Place::Elsewhere)),
            Finding::Doubtful(4 * S + CONFIRM_NS)
        );
        // Others do not continue what came before another message.
        assert_eq!(
            watch.look(&glance(5 * S, 8, 20, Place::Elsewhere)),
            Finding::Doubtful(5 * S + CONFIRM_NS)
        );
    }

    #[test]
    fn where_the_kernel_is_silent_the_cpu_clock_decides() {
        let mut watch = OutsideWatch::default();
        assert_eq!(watch.look(&Glance { cpu_ns: None, ..glance(S, 7, 0, Place::Unknown) }), Finding::Waits);
        assert_eq!(watch.look(&glance(S, 7, 5, Place::Unknown)), Finding::Doubtful(S + CONFIRM_NS));
        assert_eq!(watch.look(&glance(S + CONFIRM_NS, 7, 5 + MS, Place::Unknown)), Finding::Waits);
        let computed = |ms: u64| glance(S + CONFIRM_NS + ms * MS, 7, 5 + ms * MS, Place::Unknown);
        assert_eq!(watch.look(&computed(120)), Finding::Doubtful(S + CONFIRM_NS + 220 * MS));
        assert_eq!(watch.look(&computed(230)), Finding::Busy(S + CONFIRM_NS + 120 * MS));
    }

    #[test]
    fn cpu_time_tells_the_begin_only_of_what_computed_all_the_while() {
        let asleep = Asleep { token: 7, at_ns: 10 * S, cpu_ns: S, waited: true };
        assert_eq!(computing_since(&asleep, 16 * S, 6 * S, None), Some(11 * S));
        assert_eq!(computing_since(&asleep, 16 * S, 6 * S, Some(11 * S)), Some(11 * S));
        assert_eq!(computing_since(&asleep, 16 * S, 2 * S, Some(11 * S)), None, "it slept meanwhile");
        assert_eq!(
            computing_since(&asleep, 16 * S, 7 * S + 10 * MS, None),
            Some(10 * S),
            "no earlier than that"
        );
        assert_eq!(computing_since(&asleep, 16 * S, 9 * S, None), None, "more than the time that passed");
        assert_eq!(computing_since(&asleep, 100 * S, 7 * S, None), None, "idle for too long before");
        let late = 6 * S - 20 * MS;
        assert_eq!(
            computing_since(&asleep, 16 * S, late, Some(11 * S)),
            Some(11 * S),
            "no later than it was seen"
        );
        let after = Asleep { waited: false, ..asleep };
        assert_eq!(computing_since(&after, 16 * S, 7 * S, None), None, "it computed when it was first seen");
        assert_eq!(computing_since(&after, 16 * S, 6 * S, None), Some(11 * S));
    }
}
