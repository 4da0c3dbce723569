//! How long the main thread has waited for a processor, including a wait that has not ended.

/// What the kernel counts for a thread (`/proc/<pid>/task/<tid>/schedstat`), and whether it sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduled {
    /// How long the thread ran.
    pub ran_ns: u64,
    /// How long the thread waited for a processor. The kernel adds a wait when it ends, not before.
    pub waited_ns: u64,
    /// How often the thread was given a processor.
    pub turns: u64,
    /// Whether the thread runs, or waits for a processor.
    pub is_runnable: bool,
}

/// Computes how long a thread has waited for a processor. Another thread checks it now and then, and may
/// itself have to wait for a processor.
///
/// The kernel counts a wait when it ends. So time that it counted neither as running nor as waiting is sleep,
/// or a wait that has not ended. A thread that sleeps at a check is in no wait. When a thread is runnable at
/// a check, its wait began after the previous check, unless the thread has had no turn since then.
#[derive(Debug, Clone, Copy)]
pub struct Starvation {
    first: Scheduled,
    first_ns: u64,
    last: Scheduled,
    last_ns: u64,
    /// The least time that the thread can have slept up to the last check.
    slept_ns: u64,
}

impl Starvation {
    /// Starts counting now.
    pub fn new(now_ns: u64, now: Scheduled) -> Self {
        Self { first: now, first_ns: now_ns, last: now, last_ns: now_ns, slept_ns: 0 }
    }

    /// How long the thread has waited for a processor so far. `now_ns` may be of a clock that stands still
    /// while the process is frozen.
    pub fn update(&mut self, now_ns: u64, now: Scheduled) -> u64 {
        let all_ns = now_ns.saturating_sub(self.first_ns);
        let ran_ns = now.ran_ns.saturating_sub(self.first.ran_ns);
        let waited_ns = now.waited_ns.saturating_sub(self.first.waited_ns);
        let rest_ns = all_ns.saturating_sub(ran_ns).saturating_sub(waited_ns);
        if !now.is_runnable {
            self.slept_ns = rest_ns;
        } else if !self.last.is_runnable || now.turns != self.last.turns {
            let since_ns = now_ns.saturating_sub(self.last_ns);
            self.slept_ns = self.slept_ns.max(rest_ns.saturating_sub(since_ns));
        }
        (self.last, self.last_ns) = (now, now_ns);
        let waits_ns = rest_ns.saturating_sub(self.slept_ns);
        waited_ns.saturating_add(waits_ns).min(all_ns.saturating_sub(ran_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Makes these checks, one after the other. The values of each check: the time since the start, how long
    /// the thread has run, how long it has waited, how often it was given a processor, whether it is
    /// runnable, and the expected result. All times are in milliseconds.
    fn checks(checks: &[(u64, u64, u64, u64, bool, u64)]) {
        let at = |ran: u64, waited: u64, turns, is_runnable| Scheduled {
            ran_ns: (1_000 + ran) * MS,
            waited_ns: (70 + waited) * MS,
            turns: 5 + turns,
            is_runnable,
        };
        let mut starvation = Starvation::new(900 * MS, at(0, 0, 0, true));
        for &(now, ran, waited, turns, is_runnable, found) in checks {
            let starved_ns = starvation.update((900 + now) * MS, at(ran, waited, turns, is_runnable));
            assert_eq!(starved_ns / MS, found, "at {now} ms");
        }
    }

    #[test]
    fn a_thread_that_works_or_sleeps_is_not_starved() {
        checks(&[(80, 80, 0, 0, true, 0), (160, 159, 1, 2, true, 1), (4_000, 3_998, 2, 9, true, 2)]);
        checks(&[(80, 0, 0, 0, false, 0), (4_000, 1, 2, 3, false, 2)]);
        // It sleeps and works by turns, and is runnable at each check: less than one interval is in doubt.
        checks(&[(80, 40, 0, 8, true, 40), (160, 80, 0, 16, true, 80), (240, 120, 0, 24, true, 80)]);
    }

    #[test]
    fn a_wait_counts_before_it_is_over() {
        checks(&[
            (80, 3, 0, 0, true, 77),
            (2_000, 3, 0, 0, true, 1_997),
            (2_080, 6, 1_999, 1, true, 2_074),
            (4_000, 6, 1_999, 1, true, 3_994),
        ]);
    }

    #[test]
    fn a_wait_counts_when_the_checks_are_rare() {
        // Three waits are over, and the fourth has lasted for most of the time since the last check.
        checks(&[(80, 80, 0, 0, true, 0), (4_100, 92, 444, 3, true, 4_008)]);
    }

    #[test]
    fn sleep_before_the_last_check_is_no_wait() {
        checks(&[(2_000, 1, 0, 1, false, 0), (2_080, 2, 0, 2, true, 79), (2_160, 2, 0, 2, true, 159)]);
        checks(&[(2_000, 1, 0, 1, false, 0), (2_080, 1, 0, 1, true, 80), (2_160, 2, 75, 2, true, 155)]);
    }

    #[test]
    fn what_the_thread_ran_is_never_taken_for_a_wait() {
        // The clock left out three seconds in which the whole process was kept from running; the kernel
        // counts them.
        checks(&[(1_000, 600, 3_400, 4, true, 400)]);
    }
}
