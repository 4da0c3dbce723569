//! Whether a main thread that runs no message waits for one.

use loopbox_format::model::{Token, Uptime};

const MS: u64 = 1_000_000;
/// A thread counts as busy when it is found away from its queue twice with at least this time in between.
/// Waking up, taking the next message and the small callbacks in between take less time.
const CONFIRM_NS: u64 = 100 * MS;

/// What the kernel shows of the main thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the system call in which a Looper waits.
    Queue,
    /// On a processor, or waiting for one.
    Running,
    /// In another system call.
    Elsewhere,
    /// The kernel does not show what the thread does.
    Unknown,
}

/// The processor time that a thread has requested so far: the time that it ran, and the time that it waited
/// for a processor. A thread that computes does one or the other all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Demand {
    /// The time that it ran: its CPU time.
    pub ran_ns: u64,
    /// The time that it was ready to run and waited for a processor.
    pub waited_ns: u64,
}

impl Demand {
    /// The growth of both times together since `before`; `None` when the earlier value is larger, which is
    /// impossible.
    fn since(self, before: Self) -> Option<u64> {
        let all = |demand: Self| demand.ran_ns.saturating_add(demand.waited_ns);
        all(self).checked_sub(all(before))
    }
}

/// One check of a main thread that runs no message.
#[derive(Debug, Clone, Copy)]
pub struct Glance {
    /// When the check is made, uptime.
    pub now_ns: Uptime,
    /// The token of what may run outside of messages now; it differs after each message.
    pub token: Token,
    /// The processor time that the thread has requested; `None` when its CPU time cannot be read.
    pub demand: Option<Demand>,
    /// What the kernel shows of the thread.
    pub place: Place,
}

/// The conclusion from the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// The thread waits for a message.
    Waits,
    /// The thread does not seem to wait: check again at this uptime.
    Doubtful(Uptime),
    /// The thread has not waited since this uptime, when it was first seen busy.
    Busy(Uptime),
}

/// A time at which the main thread ran no message, and the [`Demand`] of the thread at that time. If `waited`
/// is true, a check found the thread idle then. If `waited` is false, no check since the last message has
/// found the thread idle. The time is then the first one after that message at which the demand was read.
/// [`OutsideWatch::asleep`] returns times of both kinds, [`OutsideWatch::rest`] only those with `waited`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asleep {
    /// The [`Glance::token`] at the time `at_ns`; [`Token::NONE`] when no time has been noted yet.
    pub token: Token,
    /// The time at which the thread ran no message, uptime.
    pub at_ns: Uptime,
    /// How long the thread had run, and had waited for a processor, until `at_ns`.
    pub demand: Demand,
    /// Whether a check found the thread idle at `at_ns`.
    pub waited: bool,
}

/// The check that first found the thread busy, and the [`Demand`] of the thread at that check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeenBusy {
    /// The [`Glance::token`] of the check; [`Token::NONE`] when there was no such check.
    pub token: Token,
    /// When the check was made, uptime.
    pub at_ns: Uptime,
    /// How long the thread had run, and had waited for a processor, until `at_ns`.
    pub demand: Demand,
}

/// Watches, from another thread, a main thread between two messages.
#[derive(Debug, Clone, Default)]
pub struct OutsideWatch {
    asleep: Asleep,
    rest: Asleep,
    seen_busy: SeenBusy,
    /// The time between two messages in which the thread was seen busy: its token, when the work began, and
    /// the last instant at which the thread was seen busy. The token is [`Token::NONE`] when it was not seen
    /// busy.
    busy: (Token, Uptime, Uptime),
}

impl OutsideWatch {
    /// Records that no message runs. What the thread does meanwhile is not checked.
    pub fn between(&mut self, now_ns: Uptime, token: Token, demand: Option<Demand>) {
        if let Some(demand) = demand.filter(|_| self.asleep.token != token) {
            self.asleep = Asleep { token, at_ns: now_ns, demand, waited: false };
        }
    }

    /// Records a check.
    pub fn check(&mut self, glance: &Glance) -> Finding {
        let Glance { now_ns, token, demand, place } = *glance;
        let busy = match place {
            Place::Queue => false,
            Place::Running | Place::Elsewhere => true,
            Place::Unknown => {
                let known = Some(self.asleep).filter(|asleep| asleep.token == token);
                let Some((used, passed)) = known.zip(demand).map(|(asleep, demand)| {
                    (demand.since(asleep.demand).unwrap_or(0), now_ns.since(asleep.at_ns))
                }) else {
                    self.between(now_ns, token, demand);
                    // Without a CPU clock there is nothing to go by.
                    return if demand.is_some() {
                        Finding::Doubtful(now_ns + CONFIRM_NS)
                    } else {
                        Finding::Waits
                    };
                };
                if passed < CONFIRM_NS {
                    return Finding::Doubtful(now_ns + (CONFIRM_NS - passed));
                }
                used >= passed / 2
            }
        };
        if !busy {
            self.busy = (Token::NONE, Uptime::ZERO, Uptime::ZERO);
            if let Some(demand) = demand {
                self.asleep = Asleep { token, at_ns: now_ns, demand, waited: true };
                if self.rest.token != token {
                    self.rest = self.asleep;
                }
            }
            return Finding::Waits;
        }
        self.between(now_ns, token, demand);
        let since_ns = if self.busy.0 == token { self.busy.1 } else { now_ns };
        if let Some(demand) = demand.filter(|_| since_ns == now_ns) {
            self.seen_busy = SeenBusy { token, at_ns: now_ns, demand };
        }
        self.busy = (token, since_ns, now_ns);
        if now_ns.since(since_ns) < CONFIRM_NS {
            return Finding::Doubtful(since_ns + CONFIRM_NS);
        }
        Finding::Busy(since_ns)
    }

    /// The last time at which a check found the thread idle. If no check did so since the last message, the
    /// first time after that message at which the demand was read.
    pub fn asleep(&self) -> Asleep {
        self.asleep
    }

    /// The time at which a check first found the thread idle after the last message. If no check did so, the
    /// same for the latest message after which one did.
    pub fn rest(&self) -> Asleep {
        self.rest
    }

    /// The check that first found the thread busy, in the latest time in which it was busy.
    pub fn seen_busy(&self) -> SeenBusy {
        self.seen_busy
    }

    /// How long the work with this token lasted, in nanoseconds. The work is over now. It began when it was
    /// first seen. It ended when the next message began, at `next_ns`; if that is `None`, it ended when it
    /// was last seen. `None` when the work was not seen.
    pub fn lasted_ns(&self, token: Token, next_ns: Option<Uptime>) -> Option<u64> {
        let (of, since_ns, until_ns) = self.busy;
        (of == token).then(|| next_ns.unwrap_or(until_ns).max(until_ns).since(since_ns))
    }
}

/// Returns since when the main thread has computed without sleep. A wait for a processor counts as computing.
/// The start is found from the processor time that the thread has requested since `asleep`. `None` when that
/// time does not show a start. `seen` is the check that first found the thread busy; `None` if that check is
/// made now.
pub fn computing_since(
    asleep: &Asleep,
    now_ns: Uptime,
    demand: Demand,
    seen: Option<&SeenBusy>,
) -> Option<Uptime> {
    /// Clocks and wake-ups are not more precise than this.
    const SLACK_NS: u64 = 50 * MS;
    /// No start is returned when `asleep` is a longer time ago than this. An idle thread computes a little
    /// now and then. In a longer time, these short computations may add up to more than `SLACK_NS`, and the
    /// start would be wrong.
    const LONGEST_NS: u64 = 60_000 * MS;
    /// A thread that computes is assumed to wait at most this many times as long as it runs, because others
    /// use its processor, too.
    const MOST_WAITS: u64 = 8;
    let used_since = |before: Demand| {
        let ran_ns = demand.ran_ns.checked_sub(before.ran_ns)?;
        let waited_ns = demand.waited_ns.checked_sub(before.waited_ns)?;
        // A thread that wakes up now and then, and sleeps in between, waits long for each time that it runs.
        Some(ran_ns.saturating_add(waited_ns.min(ran_ns.saturating_mul(MOST_WAITS))))
    };
    let used_ns = used_since(asleep.demand)?;
    let seen_ns = seen.map_or(now_ns, |seen| seen.at_ns);
    // What computed until it fell asleep, and was seen only then, has not computed since.
    if let Some(seen) = seen
        && used_since(seen.demand)? < now_ns.since(seen.at_ns) / 2
    {
        return None;
    }
    let start_ns = Uptime(now_ns.0.checked_sub(used_ns)?);
    let possible = start_ns.plus(SLACK_NS) >= asleep.at_ns
        && start_ns <= seen_ns.plus(SLACK_NS)
        && now_ns.since(asleep.at_ns) <= LONGEST_NS;
    // It may have computed before that already.
    let known = asleep.waited || start_ns > asleep.at_ns.plus(SLACK_NS);
    (possible && known).then(|| start_ns.min(seen_ns).max(asleep.at_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000 * MS;

    fn ran(ran_ns: u64) -> Demand {
        Demand { ran_ns, waited_ns: 0 }
    }

    fn glance(now_ns: Uptime, token: Token, ran_ns: u64, place: Place) -> Glance {
        Glance { now_ns, token, demand: Some(ran(ran_ns)), place }
    }

    #[test]
    fn a_thread_that_is_away_from_its_queue_twice_is_busy() {
        let mut watch = OutsideWatch::default();
        assert_eq!(
            watch.check(&glance(Uptime(S), Token(7), 10, Place::Elsewhere)),
            Finding::Doubtful(Uptime(S + CONFIRM_NS))
        );
        assert_eq!(
            watch.check(&glance(Uptime(S + 50 * MS), Token(7), 10, Place::Running)),
            Finding::Doubtful(Uptime(S + CONFIRM_NS))
        );
        assert_eq!(
            watch.check(&glance(Uptime(2 * S), Token(7), 10, Place::Elsewhere)),
            Finding::Busy(Uptime(S))
        );
        assert_eq!(watch.lasted_ns(Token(7), None), Some(S));
        assert_eq!(watch.lasted_ns(Token(7), Some(Uptime(4 * S))), Some(3 * S));
        assert_eq!(watch.lasted_ns(Token(8), None), None);
        assert_eq!(watch.check(&glance(Uptime(3 * S), Token(7), 20, Place::Queue)), Finding::Waits);
        assert_eq!(
            watch.asleep(),
            Asleep { token: Token(7), at_ns: Uptime(3 * S), demand: ran(20), waited: true }
        );
        assert_eq!(
            watch.check(&glance(Uptime(4 * S), Token(7), 20, Place::Elsewhere)),
            Finding::Doubtful(Uptime(4 * S + CONFIRM_NS))
        );
        // Others do not continue what came before another message.
        assert_eq!(
            watch.check(&glance(Uptime(5 * S), Token(8), 20, Place::Elsewhere)),
            Finding::Doubtful(Uptime(5 * S + CONFIRM_NS))
        );
    }

    #[test]
    fn rest_is_the_first_wait_after_a_message_and_asleep_the_last() {
        let mut watch = OutsideWatch::default();
        let _ = watch.check(&glance(Uptime(S), Token(7), 10, Place::Elsewhere));
        assert_eq!(watch.rest().token, Token::NONE, "it has not waited yet");
        let _ = watch.check(&glance(Uptime(2 * S), Token(7), 20, Place::Queue));
        let _ = watch.check(&glance(Uptime(3 * S), Token(7), 90, Place::Queue));
        assert_eq!((watch.rest().at_ns, watch.rest().demand), (Uptime(2 * S), ran(20)));
        assert_eq!((watch.asleep().at_ns, watch.asleep().demand), (Uptime(3 * S), ran(90)));
        let _ = watch.check(&glance(Uptime(4 * S), Token(8), 95, Place::Queue));
        assert_eq!((watch.rest().token, watch.rest().demand), (Token(8), ran(95)));
    }

    #[test]
    fn where_the_kernel_is_silent_what_a_thread_asks_of_the_processors_decides() {
        let mut watch = OutsideWatch::default();
        assert_eq!(
            watch.check(&Glance { demand: None, ..glance(Uptime(S), Token(7), 0, Place::Unknown) }),
            Finding::Waits
        );
        assert_eq!(
            watch.check(&glance(Uptime(S), Token(7), 5, Place::Unknown)),
            Finding::Doubtful(Uptime(S + CONFIRM_NS))
        );
        assert_eq!(
            watch.check(&glance(Uptime(S + CONFIRM_NS), Token(7), 5 + MS, Place::Unknown)),
            Finding::Waits
        );
        let computed =
            |ms: u64| glance(Uptime(S + CONFIRM_NS + ms * MS), Token(7), 5 + ms * MS, Place::Unknown);
        assert_eq!(watch.check(&computed(120)), Finding::Doubtful(Uptime(S + CONFIRM_NS + 220 * MS)));
        assert_eq!(watch.check(&computed(230)), Finding::Busy(Uptime(S + CONFIRM_NS + 120 * MS)));
        // Starved: it waits for a processor most of the time.
        let mut watch = OutsideWatch::default();
        let _ = watch.check(&glance(Uptime(S), Token(7), 5, Place::Unknown));
        let demand = Some(Demand { ran_ns: 5 + 10 * MS, waited_ns: 110 * MS });
        let starved = Glance { demand, ..glance(Uptime(S + 120 * MS), Token(7), 0, Place::Unknown) };
        assert_eq!(watch.check(&starved), Finding::Doubtful(Uptime(S + 220 * MS)));
    }

    #[test]
    fn demand_gives_the_start_only_of_what_computed_all_the_while() {
        let asleep = Asleep { token: Token(7), at_ns: Uptime(10 * S), demand: ran(S), waited: true };
        // It computed all the while since it was seen.
        let computing_since = |asleep: &Asleep, now_ns: Uptime, ran_ns: u64, seen_ns: Option<Uptime>| {
            let seen = seen_ns.map(|at_ns| SeenBusy {
                token: Token(7),
                at_ns,
                demand: ran(ran_ns - (now_ns - at_ns).min(ran_ns)),
            });
            computing_since(asleep, now_ns, ran(ran_ns), seen.as_ref())
        };
        assert_eq!(computing_since(&asleep, Uptime(16 * S), 6 * S, None), Some(Uptime(11 * S)));
        assert_eq!(
            computing_since(&asleep, Uptime(16 * S), 6 * S, Some(Uptime(11 * S))),
            Some(Uptime(11 * S))
        );
        assert_eq!(
            computing_since(&asleep, Uptime(16 * S), 2 * S, Some(Uptime(11 * S))),
            None,
            "it slept meanwhile"
        );
        assert_eq!(
            computing_since(&asleep, Uptime(16 * S), 7 * S + 10 * MS, None),
            Some(Uptime(10 * S)),
            "no earlier than that"
        );
        assert_eq!(
            computing_since(&asleep, Uptime(16 * S), 9 * S, None),
            None,
            "more than the time that passed"
        );
        assert_eq!(computing_since(&asleep, Uptime(100 * S), 7 * S, None), None, "idle for too long before");
        let late = 6 * S - 20 * MS;
        assert_eq!(
            computing_since(&asleep, Uptime(16 * S), late, Some(Uptime(11 * S))),
            Some(Uptime(11 * S)),
            "no later than it was seen"
        );
        let after = Asleep { waited: false, ..asleep };
        assert_eq!(
            computing_since(&after, Uptime(16 * S), 7 * S, None),
            None,
            "it computed when it was first seen"
        );
        assert_eq!(computing_since(&after, Uptime(16 * S), 6 * S, None), Some(Uptime(11 * S)));
    }

    #[test]
    fn on_a_starved_machine_the_wait_for_a_processor_counts() {
        let waited_before = Demand { ran_ns: S, waited_ns: 9 * S };
        let asleep = Asleep { token: Token(7), at_ns: Uptime(10 * S), demand: waited_before, waited: true };
        let seen = Some(&SeenBusy { token: Token(7), at_ns: Uptime(11 * S), demand: waited_before });
        let demand = Demand { ran_ns: 2 * S, waited_ns: 13 * S };
        assert_eq!(computing_since(&asleep, Uptime(16 * S), demand, seen), Some(Uptime(11 * S)));
        let wakes = Demand { ran_ns: S + 50 * MS, waited_ns: 14 * S };
        assert_eq!(computing_since(&asleep, Uptime(16 * S), wakes, seen), None, "it slept in between");
        let slept = Demand { ran_ns: 2 * S, ..waited_before };
        assert_eq!(computing_since(&asleep, Uptime(16 * S), slept, seen), None);
    }

    #[test]
    fn what_was_seen_only_when_it_had_fallen_asleep_has_no_known_start() {
        let asleep = Asleep { token: Token(7), at_ns: Uptime(10 * S), demand: ran(S), waited: true };
        // It took 120 ms to come to its sleep, and was seen 400 ms later.
        let demand = Demand { ran_ns: S + 20 * MS, waited_ns: 100 * MS };
        let at_ns = 10 * S + 520 * MS;
        let seen = SeenBusy { token: Token(7), at_ns: Uptime(at_ns), demand };
        assert_eq!(computing_since(&asleep, Uptime(at_ns + 105 * MS), demand, Some(&seen)), None);
        // Without the sleep, and seen on the way.
        let seen = SeenBusy {
            token: Token(7),
            at_ns: Uptime(10 * S + 60 * MS),
            demand: Demand { ran_ns: S + 10 * MS, waited_ns: 50 * MS },
        };
        assert_eq!(
            computing_since(&asleep, Uptime(10 * S + 120 * MS), demand, Some(&seen)),
            Some(Uptime(10 * S))
        );
    }
}
