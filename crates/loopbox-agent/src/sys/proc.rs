//! What `/proc` tells about this process and its main thread.

use std::fs;

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

/// How long the main thread ran, waited for a processor, and how often it was scheduled; its id is the process's.
pub(crate) fn main_schedstat() -> String {
    text(&of_main("schedstat"))
}

/// A file about the main thread, whose id is the process's.
fn of_main(file: &str) -> String {
    ["/proc/self/task/", &std::process::id().to_string(), "/", file].concat()
}

/// A file of `/proc`; empty when it cannot be read.
pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The word after `name` at the start of a line.
pub(crate) fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next().map(str::to_owned)
}

/// A field in kB, as bytes.
pub(crate) fn kib(text: &str, name: &str) -> Option<String> {
    let kib: u64 = field(text, name)?.parse().ok()?;
    Some((kib * 1_024).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_the_word_after_its_name() {
        let text = "Name: x\nVmRSS:\t  12 kB\nsome avg10=0.25 avg60=0.1\n";
        assert_eq!(kib(text, "VmRSS:").unwrap(), "12288");
        assert_eq!(field(text, "some").unwrap(), "avg10=0.25");
        assert_eq!(field(text, "None:"), None);
    }
}
