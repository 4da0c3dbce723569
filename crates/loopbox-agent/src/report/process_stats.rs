//! Statistics of the process and the machine at a dump, as text.

use crate::anr::sigquit;
use crate::sys::proc::{field, kib, main_schedstat, text};
use crate::sys::{descriptors, memory};
use loopbox_art::Art;
use loopbox_format::model::Statistic;
use loopbox_recorder::Frozen;
use std::fs;

/// Reads all statistics; those that cannot be read are left out. `art` is the sampler's.
pub(crate) fn read(frozen: Frozen, art: Option<&Art>) -> Vec<Statistic> {
    let mut stats = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            stats.push(Statistic { name: name.to_owned(), value });
        }
    };
    let load = text("/proc/loadavg");
    for (name, at) in [("load.1min", 0), ("load.5min", 1), ("load.15min", 2)] {
        add(name, load.split_ascii_whitespace().nth(at).map(str::to_owned));
    }
    let memory = text("/proc/meminfo");
    add("mem.total_bytes", kib(&memory, "MemTotal:"));
    add("mem.available_bytes", kib(&memory, "MemAvailable:"));
    add("mem.swap_free_bytes", kib(&memory, "SwapFree:"));
    let status = text("/proc/self/status");
    add("process.rss_bytes", kib(&status, "VmRSS:"));
    add("process.swapped_bytes", kib(&status, "VmSwap:"));
    add("process.threads", field(&status, "Threads:"));
    let descriptors = descriptors::open(|| fs::read_dir("/proc/self/fd").map(Iterator::count)).ok();
    add("process.open_files", descriptors.map(|count| count.to_string()));
    // Of the main thread: how long it ran, how long it waited for a processor, how often it was scheduled.
    let main = main_schedstat();
    for (name, at) in [("main.ran_ns", 0), ("main.waited_for_cpu_ns", 1), ("main.time_slices", 2)] {
        add(name, main.split_ascii_whitespace().nth(at).map(str::to_owned));
    }
    if frozen.times > 0 {
        add("process.frozen_ns", Some(frozen.all_ns.to_string()));
        add("process.frozen_times", Some(frozen.times.to_string()));
    }
    for resource in ["cpu", "memory", "io"] {
        let pressure = text(&format!("/proc/pressure/{resource}"));
        let average = field(&pressure, "some").and_then(|avg| Some(avg.strip_prefix("avg10=")?.to_owned()));
        add(&format!("psi.{resource}.some_avg10_percent"), average);
    }
    if let Some(art) = art {
        let sampler = art.stats();
        for (name, value) in [
            ("sampler.windows", sampler.windows),
            ("sampler.timeouts", sampler.timeouts),
            ("sampler.stopped_ns", sampler.held_ns),
            ("sampler.longest_stop_ns", sampler.longest_ns),
            ("sampler.longest_known_stop_ns", sampler.longest_known_ns),
            ("sampler.longest_stop_of_others_ns", sampler.longest_other_ns),
            ("sampler.left_out_uninterruptible", sampler.uninterruptible),
            ("sampler.left_out_starved", sampler.starved),
            ("sampler.left_out_trace", sampler.trace),
        ] {
            add(name, Some(value.to_string()));
        }
        add("sampler.findings", Some(art.module().findings.clone()));
    }
    let [used, taken, waited] = memory::figures();
    if taken > 0 {
        for (name, value) in
            [("memory.reserve_used", used), ("memory.reserve_taken", taken), ("memory.waited", waited)]
        {
            add(name, Some(value.to_string()));
        }
    }
    if sigquit::count() > 0 {
        let sender = sigquit::sender();
        add("sigquit.count", Some(sigquit::count().to_string()));
        add("sigquit.sender_pid", Some(sender.pid.to_string()));
        add("sigquit.sender_uid", Some(sender.uid.to_string()));
    }
    stats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stats_that_every_linux_has_are_numbers() {
        let stats = read(Frozen::default(), None);
        for name in ["mem.available_bytes", "process.rss_bytes", "process.threads", "process.open_files"] {
            let statistic = stats.iter().find(|statistic| statistic.name == name);
            let value = &statistic.unwrap_or_else(|| panic!("{name} is missing")).value;
            assert!(value.parse::<u64>().unwrap() > 0, "{name} is {value}");
        }
    }
}
