//! Figures of the process and the machine at a dump: what `/proc` has to say, as text.

use crate::sigquit;
use loopbox_art::Art;
use loopbox_format::model::Figure;
use loopbox_recorder::Frozen;
use std::fs;

/// Reads them all; what cannot be read is left out. `art` is what the sampler works with.
pub(crate) fn read(frozen: Frozen, art: Option<&Art>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            figures.push(Figure { name: name.to_owned(), value });
        }
    };
    let load = text("/proc/loadavg");
    for (name, at) in [("load.1min", 0), ("load.5min", 1), ("load.15min", 2)] {
        add(name, load.split_whitespace().nth(at).map(str::to_owned));
    }
    let memory = text("/proc/meminfo");
    add("mem.total_bytes", kib(&memory, "MemTotal:"));
    add("mem.available_bytes", kib(&memory, "MemAvailable:"));
    add("mem.swap_free_bytes", kib(&memory, "SwapFree:"));
    let status = text("/proc/self/status");
    add("process.rss_bytes", kib(&status, "VmRSS:"));
    add("process.swapped_bytes", kib(&status, "VmSwap:"));
    add("process.threads", field(&status, "Threads:"));
    let descriptors = fs::read_dir("/proc/self/fd").ok();
    add("process.open_files", descriptors.map(|all| all.count().to_string()));
    // Of the main thread, whose id is the process's: ran, waited for a processor, how often.
    let main = main_schedstat();
    for (name, at) in [("main.ran_ns", 0), ("main.waited_for_cpu_ns", 1), ("main.time_slices", 2)] {
        add(name, main.split_whitespace().nth(at).map(str::to_owned));
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
        let stats = art.stats();
        for (name, value) in [
            ("sampler.windows", stats.windows),
            ("sampler.timeouts", stats.timeouts),
            ("sampler.stopped_ns", stats.held_ns),
            ("sampler.longest_stop_ns", stats.longest_ns),
            ("sampler.native_walks", stats.native_walks),
        ] {
            add(name, Some(value.to_string()));
        }
        add("sampler.findings", Some(art.module().findings.clone()));
    }
    if sigquit::count() > 0 {
        let sender = sigquit::sender();
        add("sigquit.count", Some(sigquit::count().to_string()));
        add("sigquit.sender_pid", Some(sender.pid.to_string()));
        add("sigquit.sender_uid", Some(sender.uid.to_string()));
    }
    figures
}

/// How long the main thread has waited for a processor so far.
pub(crate) fn main_waited_ns() -> Option<u64> {
    main_schedstat().split_whitespace().nth(1)?.parse().ok()
}

/// Whether another process traces this one, as native debuggers do.
pub(crate) fn is_traced() -> bool {
    field(&text("/proc/self/status"), "TracerPid:").is_some_and(|pid| pid != "0")
}

/// Whether the main thread has SIGQUIT blocked.
pub(crate) fn main_blocks_sig_quit() -> bool {
    let blocked = field(&text(&of_main("status")), "SigBlk:");
    blocked.and_then(|mask| u64::from_str_radix(&mask, 16).ok()).is_some_and(|mask| mask & 1 << 2 != 0)
}

fn main_schedstat() -> String {
    text(&of_main("schedstat"))
}

/// A file about the main thread, whose id is the process's.
fn of_main(file: &str) -> String {
    ["/proc/self/task/", &std::process::id().to_string(), "/", file].concat()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The word after `name` at the begin of a line.
fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next().map(str::to_owned)
}

fn kib(text: &str, name: &str) -> Option<String> {
    let kib: u64 = field(text, name)?.parse().ok()?;
    Some((kib * 1_024).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_linux_has_is_there_and_is_a_number() {
        let figures = read(Frozen::default(), None);
        for name in ["mem.available_bytes", "process.rss_bytes", "process.threads", "process.open_files"] {
            let figure = figures.iter().find(|figure| figure.name == name);
            let value = &figure.unwrap_or_else(|| panic!("{name} is missing")).value;
            assert!(value.parse::<u64>().unwrap() > 0, "{name} is {value}");
        }
    }

    #[test]
    fn a_field_is_the_word_after_its_name() {
        let text = "Name: x\nVmRSS:\t  12 kB\nsome avg10=0.25 avg60=0.1\n";
        assert_eq!(kib(text, "VmRSS:").unwrap(), "12288");
        assert_eq!(field(text, "some").unwrap(), "avg10=0.25");
        assert_eq!(field(text, "None:"), None);
    }
}
