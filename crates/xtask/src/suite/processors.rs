//! The processor time of a process and of the children that it has waited for. Unlike elapsed time, it can be
//! compared between two runs.

use std::fs;
use std::time::Duration;

use rustix::param::clock_ticks_per_second;

/// The processor time of a process and of the children that it has waited for. `process` is its number, or
/// `self`. `None` when there is no such process; one that has ended exists until it is reaped.
pub(crate) fn time_of(process: &str) -> Option<Duration> {
    parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?, clock_ticks_per_second())
}

fn parse(stat: &str, ticks_per_s: u64) -> Option<Duration> {
    // The name, in brackets, may have anything in it.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_secs_f64(ticks as f64 / ticks_per_s.max(1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn time_of_children_counts() {
        let stat = "77 (a) Z (b) S 1 77 77 0 -1 4 1 2 3 4 150 50 200 100 20 0 1 0 9";
        assert_eq!(parse(stat, 100), Some(Duration::from_secs(5)));
        assert_eq!(parse("77 (a) S 1", 100), None);
    }

    #[test]
    fn process_has_a_time_until_it_is_reaped() {
        let mut child = Command::new("true").spawn().unwrap();
        assert!(time_of(&child.id().to_string()).is_some());
        child.wait().unwrap();
        assert_eq!(time_of(&child.id().to_string()), None);
    }
}
