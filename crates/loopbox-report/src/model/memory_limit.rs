//! The kernel's limit on the app's memory: its cgroup (version 2), as the statistics of a report have it.

use super::plural::plural;
use super::time::format_ms;
use loopbox_format::model::Statistic;

/// A memory limit as the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteLimit {
    /// A number of bytes.
    Bytes(u64),
    /// No limit is set.
    Unlimited,
}

impl ByteLimit {
    /// The bytes, where there is a limit.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Unlimited => None,
        }
    }
}

/// The memory figures of the process's cgroup; `None` for those that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Why the missing values could not be read.
    pub refused: Option<String>,
    /// `memory.current`: all memory that is charged to the app, with its part of the page cache.
    pub current_bytes: Option<u64>,
    /// `memory.high`: above it the kernel reclaims memory in the thread that faults, and throttles this
    /// thread.
    pub high: Option<ByteLimit>,
    /// `memory.max`: above it a page fault fails, and the kernel may kill the process.
    pub max: Option<ByteLimit>,
    /// `memory.swap.current`.
    pub swap_current_bytes: Option<u64>,
    /// `memory.swap.high`: above it the kernel throttles further allocations.
    pub swap_high: Option<ByteLimit>,
    /// `memory.swap.max`.
    pub swap_max: Option<ByteLimit>,
    /// The events since the cgroup was made.
    pub so_far: MemoryEvents,
    /// The time from the first suspicion of a hang to the report, in milliseconds, and the events in this
    /// time. `None` when the message was not suspected of a hang before the report.
    pub lately: Option<(u64, MemoryEvents)>,
}

/// How often a limit was reached, and how long threads waited for memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryEvents {
    /// How often `memory.high` was exceeded.
    pub high_times: Option<u64>,
    /// How often `memory.max` was met.
    pub max_times: Option<u64>,
    /// How often `memory.swap.high` was exceeded.
    pub swap_high_times: Option<u64>,
    /// How often `memory.swap.max` was met.
    pub swap_max_times: Option<u64>,
    /// For how long at least one thread of the app waited for memory, in µs (`memory.pressure`).
    pub stalled_us: Option<u64>,
    /// Page faults of the main thread that had to wait for a disk or for swap.
    pub main_major_faults: Option<u64>,
}

impl MemoryEvents {
    fn of(statistics: &[Statistic], prefix: &str) -> Self {
        let number = |name: &str| number(statistics, &format!("{prefix}{name}"));
        Self {
            high_times: number("cgroup.high_times"),
            max_times: number("cgroup.max_times"),
            swap_high_times: number("cgroup.swap_high_times"),
            swap_max_times: number("cgroup.swap_max_times"),
            stalled_us: number("cgroup.stalled_us"),
            main_major_faults: number("main.major_faults"),
        }
    }

    /// How often the app met one of the limits at which the kernel makes it wait; `None` when none of these
    /// limits was counted.
    pub fn limit_times(&self) -> Option<u64> {
        let counted = [self.high_times, self.max_times, self.swap_high_times];
        let counted: Vec<u64> = counted.into_iter().flatten().collect();
        (!counted.is_empty()).then(|| counted.iter().fold(0_u64, |sum, times| sum.saturating_add(*times)))
    }
}

fn text<'a>(statistics: &'a [Statistic], name: &str) -> Option<&'a str> {
    statistics.iter().find(|statistic| statistic.name == name).map(|statistic| statistic.value.trim())
}

fn number(statistics: &[Statistic], name: &str) -> Option<u64> {
    text(statistics, name)?.parse().ok()
}

impl MemoryLimit {
    /// The limit from a report's statistics; `None` when they have none of its values.
    pub(crate) fn of(statistics: &[Statistic]) -> Option<Self> {
        let limit = |name: &str| match text(statistics, name)? {
            "max" => Some(ByteLimit::Unlimited),
            bytes => bytes.parse().ok().map(ByteLimit::Bytes),
        };
        let found = Self {
            refused: text(statistics, "cgroup.refused").map(str::to_owned),
            current_bytes: number(statistics, "cgroup.current_bytes"),
            high: limit("cgroup.high_bytes"),
            max: limit("cgroup.max_bytes"),
            swap_current_bytes: number(statistics, "cgroup.swap_current_bytes"),
            swap_high: limit("cgroup.swap_high_bytes"),
            swap_max: limit("cgroup.swap_max_bytes"),
            so_far: MemoryEvents::of(statistics, ""),
            lately: number(statistics, "lately.ms")
                .map(|over_ms| (over_ms, MemoryEvents::of(statistics, "lately."))),
        };
        (found != Self::default()).then_some(found)
    }

    /// The limits that are known not to be set, by the names that JSON has for them.
    pub(crate) fn unlimited(&self) -> Vec<&'static str> {
        let limits = [
            ("high", self.high),
            ("max", self.max),
            ("swap_high", self.swap_high),
            ("swap_max", self.swap_max),
        ];
        let unset = limits.into_iter().filter(|(_, limit)| *limit == Some(ByteLimit::Unlimited));
        unset.map(|(name, _)| name).collect()
    }

    /// The limits in words: `the kernel limits the app: of memory it has 104 MiB, and is throttled above 90
    /// MiB`; `None` without a limit.
    pub fn words(&self) -> Option<String> {
        let limits = [
            (self.high, self.current_bytes, "memory", "is throttled above"),
            (self.max, self.current_bytes, "memory", "may have"),
            (self.swap_high, self.swap_current_bytes, "swap", "is throttled above"),
            (self.swap_max, self.swap_current_bytes, "swap", "may have"),
        ];
        let set = limits.into_iter().filter_map(|(limit, current, what, how)| {
            let limit = format_bytes(limit?.bytes()?);
            let has = current.map_or_else(
                || format!("of {what} it"),
                |bytes| format!("of {what} it has {}, and", format_bytes(bytes)),
            );
            Some(format!("{has} {how} {limit}"))
        });
        let set: Vec<String> = set.collect();
        (!set.is_empty()).then(|| format!("the kernel limits the app: {}", set.join("; ")))
    }

    /// The events from the suspicion to the report, in words; `None` if there were none.
    pub fn lately_words(&self) -> Option<String> {
        let (over_ms, events) = self.lately?;
        let times = |times: Option<u64>, what: &str| {
            times.filter(|times| *times > 0).map(|times| format!("{what} {}", plural(times, "time")))
        };
        let happened = [
            times(events.high_times, "the app met memory.high"),
            times(events.max_times, "it met memory.max"),
            times(events.swap_high_times, "it met memory.swap.high"),
            times(events.swap_max_times, "it met memory.swap.max"),
            events
                .stalled_us
                .filter(|us| *us > 0)
                .map(|us| format!("threads of the app waited for memory for {}", format_ms(us as f64 / 1e3))),
            events
                .main_major_faults
                .filter(|faults| *faults > 0)
                .map(|faults| format!("main had {} from disk or swap", plural(faults, "page fault"))),
        ];
        let happened: Vec<String> = happened.into_iter().flatten().collect();
        let over = format_ms(over_ms as f64);
        (!happened.is_empty()).then(|| format!("in the last {over} {}", happened.join(", ")))
    }
}

/// A number of bytes as text: `775 MiB`.
pub(crate) fn format_bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut scaled = bytes as f64;
    let mut unit = "bytes";
    for larger in units {
        if scaled < 1_024.0 {
            break;
        }
        (scaled, unit) = (scaled / 1_024.0, larger);
    }
    if unit == "bytes" || scaled >= 99.5 {
        format!("{scaled:.0} {unit}")
    } else {
        format!("{scaled:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;

    fn limit(statistics: &[(&str, &str)]) -> Option<MemoryLimit> {
        let report = ReportBuilder::new();
        let report = statistics.iter().fold(report, |report, (name, value)| report.statistic(name, value));
        MemoryLimit::of(&report.build().report.statistics)
    }

    #[test]
    fn report_of_a_writer_that_did_not_ask_has_none() {
        assert_eq!(limit(&[("mem.total_bytes", "1000")]), None);
        let refused = limit(&[("cgroup.refused", "memory.current: Permission denied")]).unwrap();
        assert_eq!(refused.refused.as_deref(), Some("memory.current: Permission denied"));
        assert_eq!((refused.words(), refused.lately_words()), (None, None));
    }

    #[test]
    fn limit_that_is_not_set_is_distinguished_from_one_that_is_not_known() {
        let found = limit(&[
            ("cgroup.current_bytes", "109051904"),
            ("cgroup.high_bytes", "94371840"),
            ("cgroup.max_bytes", "max"),
            ("cgroup.swap_high_bytes", "-3"),
        ])
        .unwrap();
        assert_eq!(found.high, Some(ByteLimit::Bytes(94_371_840)));
        assert_eq!((found.max, found.swap_high), (Some(ByteLimit::Unlimited), None));
        assert_eq!(
            found.words().unwrap(),
            "the kernel limits the app: of memory it has 104 MiB, and is throttled above 90.0 MiB"
        );
    }

    #[test]
    fn words_have_what_happened_and_nothing_else() {
        let lately = |more: &[(&str, &str)]| {
            limit(&[&[("lately.ms", "2500"), ("lately.cgroup.max_times", "0")], more].concat()).unwrap()
        };
        assert_eq!(lately(&[]).lately_words(), None);
        let found = lately(&[
            ("lately.cgroup.high_times", "57"),
            ("lately.cgroup.stalled_us", "1900000"),
            ("lately.main.major_faults", "1"),
        ]);
        assert_eq!(
            found.lately_words().unwrap(),
            "in the last 2.50 s the app met memory.high 57 times, threads of the app waited for memory for 1.90 s, \
             main had 1 page fault from disk or swap"
        );
        assert_eq!(found.lately.unwrap().1.limit_times(), Some(57));
    }
}
