//! The kernel's counts of the process's memory, when a message becomes suspect and in its report: the
//! difference is what happened while main hung.

use super::outside;
use crate::sys::cgroup::{self, Counted};
use loopbox_format::model::{MainState, Report, Statistic, Token};

/// The last suspect, and what had been counted by then.
#[derive(Debug, Default)]
pub(super) struct SuspectsMemory(Option<(Token, Counted)>);

impl SuspectsMemory {
    /// Notes that a message has become suspect, or is suspect again: a warning of the system makes it suspect
    /// once more.
    pub(super) fn begin(&mut self, main: &MainState, stats: &mut Vec<Statistic>) {
        let (token, memory) = (outside::token(main), cgroup::read(stats));
        if self.0.is_none_or(|(of, _)| of != token) {
            self.0 = Some((token, memory));
        }
    }

    pub(super) fn add_to(&self, report: &mut Report) {
        let memory = cgroup::read(&mut report.statistics);
        let token = outside::token(&report.main);
        if let Some((_, before)) = self.0.filter(|(of, _)| token != Token::NONE && *of == token) {
            memory.since(&before, &mut report.statistics);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{Running, Uptime};

    fn running(token: u64) -> MainState {
        let token = Token(token);
        let (start_ns, as_of_ns) = (Uptime(1), Uptime(2));
        MainState::Running(Running { token, start_ns, as_of_ns, cpu_ns: None, depth: 1, message: None })
    }

    /// Whether a report of this message has what happened since the suspicion.
    fn has_growth(memory: &SuspectsMemory, main: MainState) -> bool {
        let mut report = Report { main, ..Report::default() };
        memory.add_to(&mut report);
        report.statistics.iter().any(|statistic| statistic.name == "lately.main.major_faults")
    }

    #[test]
    fn growth_is_of_the_message_that_was_suspect() {
        let mut memory = SuspectsMemory::default();
        assert!(!has_growth(&memory, running(7)));
        let mut stats = Vec::new();
        memory.begin(&running(7), &mut stats);
        assert!(!stats.is_empty());
        assert!(has_growth(&memory, running(7)));
        assert!(!has_growth(&memory, running(8)));
        assert!(!has_growth(&memory, MainState::Unknown));
        memory.begin(&MainState::Unknown, &mut stats);
        assert!(!has_growth(&memory, MainState::Unknown), "of no message");
    }
}
