//! The kernel's limit on the memory of this process, and its counters: from the files of its cgroup (version
//! 2). Android 17 and newer set `memory.high` for each app: above it the kernel reclaims memory and throttles
//! the thread that faults.

use super::clock;
use super::proc::{self, field, main_stat};
use loopbox_format::model::{Statistic, Uptime};
use loopbox_format::text::number;
use std::io;

/// The files that contain a number of bytes or `max`: their names without `memory.`.
const BYTES: &str = "current high max swap.current swap.high swap.max";
/// The names of the counters in reports: values that only grow. The first four counters are from the files
/// `memory.events` and `memory.swap.events`.
const COUNTERS: &str = "cgroup.high_times cgroup.max_times cgroup.swap_high_times cgroup.swap_max_times \
                        cgroup.stalled_us main.major_faults";
const COUNTED: usize = 6;
/// The prefix of the names of statistics that say how much a counter has grown since the suspicion, and in
/// what time.
const SINCE: &str = "lately.";

/// The counters at a moment; `None` for what could not be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    at_ns: Uptime,
    counters: [Option<u64>; COUNTED],
}

/// Reads all limits and counters into `stats`. Where something cannot be read, `cgroup.refused` has the
/// reason.
pub(crate) fn read(stats: &mut Vec<Statistic>) -> Counted {
    let (stat, at_ns) = (main_stat(), clock::now_ns());
    let mut counters = [None, None, None, None, None, stat.map(|stat| stat.major_faults)];
    let refused = match find_folder(proc::read) {
        Ok(folder) => read_folder(&folder, stats, &mut counters),
        Err(why) => Some(why),
    };
    if let Some(why) = refused {
        push(stats, "cgroup.refused", why);
    }
    for (name, count) in COUNTERS.split(' ').zip(counters) {
        if let Some(count) = count {
            push(stats, name, count.to_string());
        }
    }
    Counted { at_ns, counters }
}

impl Counted {
    /// Writes how much the counters have grown since `before`, and in what time.
    pub(crate) fn since(&self, before: &Self, stats: &mut Vec<Statistic>) {
        let over_ms = self.at_ns.since(before.at_ns) / 1_000_000;
        push(stats, "lately.ms", over_ms.to_string());
        let counters = self.counters.iter().zip(before.counters);
        for (name, (now, before)) in COUNTERS.split(' ').zip(counters) {
            if let (Some(now), Some(before)) = (now, before) {
                push(stats, &[SINCE, name].concat(), now.saturating_sub(before).to_string());
            }
        }
    }
}

fn push(stats: &mut Vec<Statistic>, name: &str, value: String) {
    stats.push(Statistic { name: name.to_owned(), value });
}

/// As [`folder`], from files that `read` reads.
fn find_folder(read: impl Fn(&str) -> io::Result<String>) -> Result<String, String> {
    let read = |path: &str| read(path).map_err(|error| [path, ": ", &error.to_string()].concat());
    Ok(folder(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?)?)
}

/// The part that the paths of the cgroup's memory files have in common, with `memory.` at its end; or why
/// there are no such files.
fn folder(cgroups: &str, mounts: &str) -> Result<String, &'static str> {
    let own = cgroups.lines().find_map(|line| line.strip_prefix("0::"));
    let own = own.ok_or("the process is in no cgroup of version 2")?;
    let mount = mounts.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let place = (words.nth(3)?, words.next()?);
        words.find(|word| *word == "-")?;
        (words.next()? == "cgroup2").then_some(place)
    });
    let (root, at) = mount.ok_or("no cgroups of version 2 are mounted")?;
    let below = if root == "/" { Some(own) } else { own.strip_prefix(root) };
    let below = below.ok_or("the process's cgroup is not below the mount")?;
    Ok([at, below.trim_end_matches('/'), "/memory."].concat())
}

/// Reads the files into `stats` and `counters`. Returns why the first unreadable file could not be read;
/// `None` when all were read.
fn read_folder(folder: &str, stats: &mut Vec<Statistic>, counters: &mut [Option<u64>]) -> Option<String> {
    let mut refused = None;
    let mut file = |name: &str| {
        let path = [folder, name].concat();
        match proc::read(&path) {
            Ok(text) => text,
            Err(error) => {
                refused.get_or_insert_with(|| ["memory.", name, ": ", &error.to_string()].concat());
                String::new()
            }
        }
    };
    for name in BYTES.split(' ') {
        if let Some(value) = file(name).split_ascii_whitespace().next() {
            push(stats, &["cgroup.", &name.replace('.', "_"), "_bytes"].concat(), value.to_owned());
        }
    }
    let (events, swap, pressure) = (file("events"), file("swap.events"), file("pressure"));
    let found = [
        field(&events, "high "),
        field(&events, "max "),
        field(&swap, "high "),
        field(&swap, "max "),
        total(&pressure),
    ];
    for (counter, found) in counters.iter_mut().zip(found) {
        *counter = found.and_then(|found| number(&found));
    }
    refused
}

/// For how long at least one thread of the cgroup waited for memory, in µs.
fn total(pressure: &str) -> Option<String> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    some.split_ascii_whitespace().find_map(|word| word.strip_prefix("total=")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const MOUNTS: &str = "25 1 0:23 / /proc rw,nosuid - proc proc rw\n\
                          31 23 0:28 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n\
                          41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 none rw\n";

    #[test]
    fn finds_the_folder_of_the_cgroup_of_version_2() {
        let at = |cgroups| folder(cgroups, MOUNTS);
        let app = "3:cpuset:/top-app\n0::/apps/uid_10123/pid_4567\n";
        assert_eq!(at(app).unwrap(), "/sys/fs/cgroup/apps/uid_10123/pid_4567/memory.");
        assert_eq!(at("0::/\n").unwrap(), "/sys/fs/cgroup/memory.");
        let part = MOUNTS.replace("0:38 / ", "0:38 /apps ");
        assert_eq!(folder(app, &part).unwrap(), "/sys/fs/cgroup/uid_10123/pid_4567/memory.");
        for (cgroups, mounts) in [("", MOUNTS), ("1:cpu:/\n", MOUNTS), ("0::/a\n", ""), ("0::/a\n", &part)] {
            folder(cgroups, mounts).unwrap_err();
        }
    }

    #[test]
    fn a_list_of_cgroups_that_cannot_be_read_is_no_empty_one() {
        let find = |unread: &str| {
            find_folder(|path| match path {
                path if path == unread => Err(io::Error::from_raw_os_error(libc::EMFILE)),
                "/proc/self/cgroup" => Ok("0::/app\n".to_owned()),
                _ => Ok(MOUNTS.to_owned()),
            })
        };
        assert_eq!(find("").unwrap(), "/sys/fs/cgroup/app/memory.");
        for path in ["/proc/self/cgroup", "/proc/self/mountinfo"] {
            let why = find(path).unwrap_err();
            assert!(why.starts_with(path) && why.contains("Too many open files"), "{why}");
        }
    }

    fn values(stats: &[Statistic]) -> Vec<(&str, &str)> {
        stats.iter().map(|statistic| (statistic.name.as_str(), statistic.value.as_str())).collect()
    }

    #[test]
    fn reads_a_cgroup_as_the_kernel_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("current", "104857600\n"),
            ("high", "94371840\n"),
            ("max", "max\n"),
            ("swap.current", "4096\n"),
            ("swap.high", "max\n"),
            ("events", "low 0\nhigh 57\nmax 2\noom 0\noom_kill 0\n"),
            ("swap.events", "high 3\nmax 0\nfail 0\n"),
            ("pressure", "some avg10=1.00 avg60=0.20 avg300=0.00 total=1500000\nfull avg10=0.00 total=7\n"),
        ] {
            fs::write(folder.path().join(["memory.", file].concat()), text).unwrap();
        }
        let (mut stats, mut counters) = (Vec::new(), [None; COUNTED]);
        let files = format!("{}/memory.", folder.path().display());
        let refused = read_folder(&files, &mut stats, &mut counters).unwrap();
        assert!(refused.starts_with("memory.swap.max: No such file"), "{refused}");
        assert_eq!(
            values(&stats),
            [
                ("cgroup.current_bytes", "104857600"),
                ("cgroup.high_bytes", "94371840"),
                ("cgroup.max_bytes", "max"),
                ("cgroup.swap_current_bytes", "4096"),
                ("cgroup.swap_high_bytes", "max"),
            ]
        );
        assert_eq!(counters, [Some(57), Some(2), Some(3), Some(0), Some(1_500_000), None]);
    }

    #[test]
    fn says_what_happened_between_two_moments() {
        let before =
            Counted { at_ns: Uptime(1_000_000_000), counters: [Some(5), None, None, None, Some(9), None] };
        let now = Counted {
            at_ns: Uptime(3_500_000_000),
            counters: [Some(62), Some(1), None, None, Some(9), None],
        };
        let mut stats = Vec::new();
        now.since(&before, &mut stats);
        assert_eq!(
            values(&stats),
            [("lately.ms", "2500"), ("lately.cgroup.high_times", "57"), ("lately.cgroup.stalled_us", "0")]
        );
    }

    /// Each value that was not read has a reason. This holds on every machine that the test runs on.
    #[test]
    fn says_why_where_nothing_is_read() {
        let mut stats = Vec::new();
        read(&mut stats);
        let has = |name: &str| stats.iter().any(|statistic| statistic.name == name);
        assert!(has("cgroup.current_bytes") || has("cgroup.refused"), "{stats:?}");
        assert!(has("main.major_faults"));
    }
}
