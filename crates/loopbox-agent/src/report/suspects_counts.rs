//! What is counted when a message becomes suspect and again in each of its reports: the kernel's counts of
//! the process's memory, and ART's of its collections. The difference is what happened while main hung.

use super::outside;
use crate::sys::cgroup::{self, Counted};
use loopbox_format::model::{MainState, Report, Statistic, Token, Uptime};
use loopbox_format::text::number;

/// The counts of collections, by the names that `RuntimeStatistics.java` gives them after `gc.`.
const COLLECTIONS: [&str; 4] = ["count", "time_ms", "blocking_count", "blocking_time_ms"];

/// ART's counts at a moment; `None` for a count that ART did not report.
#[derive(Debug, Clone, Copy)]
struct Collections {
    at_ns: Uptime,
    counts: [Option<u64>; COLLECTIONS.len()],
}

impl Collections {
    fn of(at_ns: Uptime, stats: &[Statistic]) -> Self {
        let count = |name| {
            let of = |stat: &&Statistic| stat.name.strip_prefix("gc.") == Some(name);
            number(&stats.iter().find(of)?.value)
        };
        Self { at_ns, counts: COLLECTIONS.map(count) }
    }

    fn add_since(&self, before: &Self, stats: &mut Vec<Statistic>) {
        let mut add = |name: &str, value: u64| {
            stats.push(Statistic { name: ["gc.lately.", name].concat(), value: value.to_string() });
        };
        let counts = COLLECTIONS.iter().zip(self.counts.iter().zip(before.counts));
        let known =
            counts.filter_map(|(name, (now, before))| Some((*name, now.as_ref()?.checked_sub(before?)?)));
        let mut known = known.peekable();
        if known.peek().is_some() {
            add("ms", self.at_ns.since(before.at_ns) / 1_000_000);
        }
        known.for_each(|(name, grown)| add(name, grown));
    }
}

/// The last suspect, and what had been counted when it became one.
#[derive(Debug, Default)]
pub(super) struct SuspectsCounts {
    token: Token,
    memory: Option<Counted>,
    collections: Option<Collections>,
}

impl SuspectsCounts {
    /// Notes that a message has become suspect, or is suspect again: a warning of the system makes it suspect
    /// once more. Adds the counts of memory to `stats`.
    pub(super) fn begin(&mut self, main: &MainState, stats: &mut Vec<Statistic>) {
        let (token, memory) = (outside::token(main), cgroup::read(stats));
        if self.token != token || self.memory.is_none() {
            *self = Self { token, memory: Some(memory), collections: None };
        }
    }

    /// Stores the counts of garbage collections for the moment at which the message became suspect. Java
    /// reads these counts, so they come later than the others. Only the first call for a suspect stores them,
    /// because a message may become suspect, and be reported, several times.
    pub(super) fn collected(&mut self, at_ns: Uptime, stats: &[Statistic]) {
        self.collections.get_or_insert_with(|| Collections::of(at_ns, stats));
    }

    /// Adds the counts of memory, and their growth since the suspicion.
    pub(super) fn add_memory(&self, report: &mut Report) {
        let memory = cgroup::read(&mut report.statistics);
        if let Some(before) = self.memory.filter(|_| self.is_of(&report.main)) {
            memory.since(&before, &mut report.statistics);
        }
    }

    /// Adds the collections since the suspicion to `stats`, which already has the collections since the
    /// process began.
    pub(super) fn add_collections(&self, main: &MainState, at_ns: Uptime, stats: &mut Vec<Statistic>) {
        if let Some(before) = self.collections.filter(|_| self.is_of(main)) {
            Collections::of(at_ns, stats).add_since(&before, stats);
        }
    }

    fn is_of(&self, main: &MainState) -> bool {
        self.token != Token::NONE && self.token == outside::token(main)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::Running;

    const MS: u64 = 1_000_000;

    fn running(token: u64) -> MainState {
        let token = Token(token);
        let (start_ns, as_of_ns) = (Uptime(1), Uptime(2));
        MainState::Running(Running { token, start_ns, as_of_ns, cpu_ns: None, depth: 1, message: None })
    }

    /// Whether a report with this state of main shows how much the memory counts have grown since the
    /// suspicion.
    fn has_growth(counts: &SuspectsCounts, main: MainState) -> bool {
        let mut report = Report { main, ..Report::default() };
        counts.add_memory(&mut report);
        report.statistics.iter().any(|statistic| statistic.name == "lately.main.major_faults")
    }

    #[test]
    fn growth_is_of_the_message_that_was_suspect() {
        let mut counts = SuspectsCounts::default();
        assert!(!has_growth(&counts, running(7)));
        let mut stats = Vec::new();
        counts.begin(&running(7), &mut stats);
        assert!(!stats.is_empty());
        assert!(has_growth(&counts, running(7)));
        assert!(!has_growth(&counts, running(8)));
        assert!(!has_growth(&counts, MainState::Unknown));
        counts.begin(&MainState::Unknown, &mut stats);
        assert!(!has_growth(&counts, MainState::Unknown), "of no message");
    }

    fn collections(count: u64, blocking_ms: u64) -> Vec<Statistic> {
        let of = |name: &str, value: u64| Statistic { name: name.to_owned(), value: value.to_string() };
        vec![of("gc.count", count), of("gc.blocking_time_ms", blocking_ms)]
    }

    /// The statistics that [`SuspectsCounts::add_collections`] adds to `stats` for a report of `main` at
    /// `at_ms` (uptime), as text.
    fn added(counts: &SuspectsCounts, main: &MainState, at_ms: u64, mut stats: Vec<Statistic>) -> String {
        let before = stats.len();
        counts.add_collections(main, Uptime(at_ms * MS), &mut stats);
        let words: Vec<_> = stats[before..].iter().map(|s| format!("{} {}", s.name, s.value)).collect();
        words.join(", ")
    }

    #[test]
    fn each_report_of_a_message_has_its_collections_since_it_became_suspect() {
        let mut counts = SuspectsCounts::default();
        let seven = running(7);
        assert_eq!(added(&counts, &seven, 1, collections(1, 1)), "", "nothing was suspect");
        counts.begin(&seven, &mut Vec::new());
        assert_eq!(added(&counts, &seven, 1, collections(1, 1)), "", "Java has not answered");
        counts.collected(Uptime(2_000 * MS), &collections(10, 100));
        let first = added(&counts, &seven, 5_000, collections(40, 1_900));
        assert_eq!(first, "gc.lately.ms 3000, gc.lately.count 30, gc.lately.blocking_time_ms 1800");
        // Suspect again, by a warning, and reported again, for the system's signal.
        counts.begin(&seven, &mut Vec::new());
        counts.collected(Uptime(5_100 * MS), &collections(41, 1_950));
        let second = added(&counts, &seven, 5_500, collections(45, 2_100));
        assert_eq!(second, "gc.lately.ms 3500, gc.lately.count 35, gc.lately.blocking_time_ms 2000");
        assert_eq!(added(&counts, &running(8), 6_000, collections(50, 2_200)), "", "another message");
        assert_eq!(added(&counts, &seven, 6_000, Vec::new()), "", "ART does not say");
        counts.begin(&running(8), &mut Vec::new());
        assert_eq!(added(&counts, &running(8), 6_000, collections(50, 2_200)), "", "Java has not answered");
    }
}
