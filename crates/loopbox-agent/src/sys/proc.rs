//! What `/proc` tells about this process and its main thread.

use loopbox_recorder::Place;
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

/// Where the kernel sees the main thread.
pub(crate) fn main_place() -> Place {
    place(&text(&of_main("syscall")), || text(&of_main("wchan")))
}

/// From `/proc/PID/task/TID/syscall`, or, where the app may not read that (its owner is root in an app that cannot be
/// debugged), from `wchan`, the kernel's function that the thread sleeps in.
fn place(syscall: &str, wchan: impl FnOnce() -> String) -> Place {
    match syscall.split_whitespace().next() {
        Some("running") => return Place::Running,
        Some(number) => {
            let waits = number
                .parse::<u32>()
                .is_ok_and(|n| QUEUE_WAITS.contains(&libc::c_long::from(n.cast_signed())));
            return if waits { Place::Queue } else { Place::Elsewhere };
        }
        None => {}
    }
    match wchan().as_str() {
        "" | "0" => Place::Unknown,
        function if has(function, "poll") => Place::Queue,
        _ => Place::Elsewhere,
    }
}

/// Whether a text has a part. `str::contains` is a kilobyte of code that nothing else here uses.
pub(crate) fn has(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|window| window == part.as_bytes())
}

/// The system calls in which a Looper waits: libutils has used `epoll_wait` since Android 5, which C libraries make of
/// either of these.
#[cfg(target_os = "android")]
const QUEUE_WAITS: &[libc::c_long] = &[
    #[cfg(not(target_arch = "aarch64"))]
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
];

/// The same; and the Looper of a testbed may wait in `poll`.
#[cfg(not(target_os = "android"))]
const QUEUE_WAITS: &[libc::c_long] = &[
    #[cfg(not(target_arch = "aarch64"))]
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    #[cfg(not(target_arch = "aarch64"))]
    libc::SYS_poll,
    libc::SYS_ppoll,
];

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
    fn the_kernel_tells_where_a_thread_is() {
        let no_wchan = || panic!("the system call is known");
        assert_eq!(place(&format!("{} 0x3 0x7f50", libc::SYS_epoll_pwait), no_wchan), Place::Queue);
        assert_eq!(place(&format!("{} 0x1", libc::SYS_futex), no_wchan), Place::Elsewhere);
        assert_eq!(place("running\n", no_wchan), Place::Running);
        // A page fault, for one.
        assert_eq!(place("-1 0x7ffd 0x7f50", no_wchan), Place::Elsewhere);
        for (wchan, found) in [
            ("ep_poll", Place::Queue),
            ("do_epoll_wait", Place::Queue),
            ("futex_wait_queue_me", Place::Elsewhere),
            ("0", Place::Unknown),
            ("", Place::Unknown),
        ] {
            assert_eq!(place("", || wchan.to_owned()), found, "{wchan}");
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
