//! What `/proc` has about this process and its main thread.

use super::clock;
use super::descriptors;
use loopbox_format::text::{hex, number, signed};
use loopbox_recorder::{Counted, Place, Scheduled};
use std::str::SplitAsciiWhitespace;
use std::{fs, io};

/// How long the main thread has waited for a processor so far, without the present wait.
pub(crate) fn main_waited_ns() -> Option<u64> {
    number(main_schedstat().split_ascii_whitespace().nth(1)?)
}

/// What the scheduler counts of the main thread, and of the process at the same moment; `None` on a kernel
/// that does not count.
pub(crate) fn counted() -> Option<Counted> {
    let main = main_scheduled()?;
    Some(Counted { main, process_ns: clock::process_cpu_ns(), processors: main_processors() })
}

fn main_scheduled() -> Option<Scheduled> {
    let schedstat = main_schedstat();
    let mut fields = schedstat.split_ascii_whitespace().map(number);
    let mut field = || fields.next()?;
    Some(Scheduled {
        ran_ns: field()?,
        waited_ns: field()?,
        turns: field()?,
        is_runnable: main_stat()?.state == b'R',
    })
}

/// How many processors the main thread may run on.
fn main_processors() -> Option<u32> {
    const WORDS: usize = 16;
    let mut mask = [0_u64; WORDS];
    let main = std::process::id().cast_signed();
    // SAFETY: the mask is as long as the call is passed, and a `cpu_set_t` is nothing but its bits.
    let failed = unsafe { libc::sched_getaffinity(main, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    let count = mask.iter().map(|word| word.count_ones()).sum();
    (failed == 0 && count > 0).then_some(count)
}

/// Whether another process traces this one, as native debuggers do. False where that cannot be read: a report
/// too many is better than a hang without one.
pub(crate) fn is_traced() -> bool {
    field(&text("/proc/self/status"), "TracerPid:").is_some_and(|pid| pid != "0")
}

/// Whether the system may freeze this process at any moment. It does so with processes that it only caches,
/// which have a score of 900 or more (`ProcessList.CACHED_APP_MIN_ADJ`), after 10 s or more in that state
/// (`CachedAppOptimizer`, Android 11 to 14). True where the score cannot be read.
pub(crate) fn may_be_frozen() -> bool {
    is_cached(&text("/proc/self/oom_score_adj"))
}

fn is_cached(score: &str) -> bool {
    const CACHED: i32 = 900;
    score.split_ascii_whitespace().next().and_then(signed::<i32>).is_none_or(|score| score >= CACHED)
}

/// Whether the main thread has SIGQUIT blocked; `None` when that cannot be read.
pub(crate) fn main_blocks_sig_quit() -> Option<bool> {
    has_sig_quit(&read(&of_main("status")).ok()?, "SigBlk:")
}

/// For a thread that waits for SIGQUIT when it is idle: whether the thread is busy, or has a pending SIGQUIT.
/// The thread blocks SIGQUIT. While a thread waits for a signal, the kernel does not show this signal as
/// blocked. So the thread is busy when the kernel shows SIGQUIT as blocked. False for a thread that is gone;
/// `None` when it cannot be read.
pub(crate) fn keeps_from_sig_quit(tid: u32) -> Option<bool> {
    let busy = |status: &str| Some(has_sig_quit(status, "SigPnd:")? || has_sig_quit(status, "SigBlk:")?);
    match read(&of_thread(tid, "status")) {
        Ok(status) => busy(&status),
        Err(error) if is_of_gone_thread(&error) => Some(false),
        Err(_) => None,
    }
}

/// Whether a file of a thread could not be read because the thread has ended.
pub(crate) fn is_of_gone_thread(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}

/// How often a thread has yielded its processor; `None` when the kernel does not report it.
pub(crate) fn pauses(tid: u32) -> Option<u64> {
    let status = text(&of_thread(tid, "status"));
    number(&field(&status, "voluntary_ctxt_switches:")?)
}

/// Whether a mask of a thread's status has SIGQUIT; `None` for a status without the mask.
fn has_sig_quit(status: &str, mask: &str) -> Option<bool> {
    let mask = hex::<u64>(&field(status, mask)?)?;
    Some(mask & 1 << (libc::SIGQUIT - 1) != 0)
}

/// How long the main thread ran and waited for a processor, and how often it was scheduled, as the kernel
/// writes it.
pub(crate) fn main_schedstat() -> String {
    text(&of_main("schedstat"))
}

/// Where the kernel sees the main thread: by its system call, or by the kernel's function that it sleeps in.
/// The latter is for apps that cannot be debugged: there the file `syscall` belongs to root, and the app may
/// not read it.
pub(crate) fn main_place() -> Place {
    place(main_system_call(), main_wchan)
}

fn place(call: Call, wchan: impl FnOnce() -> String) -> Place {
    match call {
        Call::Runs => Place::Running,
        Call::In { number, .. } if QUEUE_WAITS.contains(&libc::c_long::from(number.cast_signed())) => {
            Place::Queue
        }
        Call::In { .. } | Call::Elsewhere => Place::Elsewhere,
        Call::Unknown => match wchan().as_str() {
            "" => Place::Unknown,
            function if has(function, "ep_poll") || has(function, "epoll") => Place::Queue,
            _ => Place::Elsewhere,
        },
    }
}

/// Whether a text has a part. `str::contains` is a kilobyte of code that nothing else here uses.
pub(crate) fn has(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|window| window == part.as_bytes())
}

/// The system calls in which a Looper waits: libutils has used `epoll_wait` since Android 5, and C libraries
/// implement it by either of these.
const QUEUE_WAITS: &[libc::c_long] = &[
    #[cfg(not(target_arch = "aarch64"))]
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
];

/// What the scheduler counts of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadStat {
    /// The letter of the thread's state, as in `/proc/PID/stat`.
    pub(crate) state: u8,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    /// Time in user code, in clock ticks.
    pub(crate) user: u64,
    /// Time in the kernel, in clock ticks.
    pub(crate) kernel: u64,
}

/// What the scheduler counts of the main thread.
pub(crate) fn main_stat() -> Option<ThreadStat> {
    thread_stat(&text(&of_main("stat")))
}

fn thread_stat(line: &str) -> Option<ThreadStat> {
    let mut fields = after_name(line);
    let state = *fields.next()?.as_bytes().first()?;
    let mut at = |nth| number(fields.nth(nth)?);
    Some(ThreadStat { state, minor_faults: at(6)?, major_faults: at(1)?, user: at(1)?, kernel: at(0)? })
}

/// The fields of a stat file from the third one, the state. The name before it may contain spaces and
/// brackets.
fn after_name(line: &str) -> SplitAsciiWhitespace<'_> {
    line.rsplit(')').next().unwrap_or_default().split_ascii_whitespace()
}

/// The kernel function that the main thread sleeps in; empty when it runs, or the kernel does not report it.
pub(crate) fn main_wchan() -> String {
    let name = text(&of_main("wchan"));
    if name == "0" { String::new() } else { name }
}

/// What the kernel reports of the system call that a thread is in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Unknown, because the kernel does not show it to this app.
    Unknown,
    /// It is on a processor, or waits for one.
    Runs,
    /// It sleeps outside of a call, for example in a page fault.
    Elsewhere,
    /// It sleeps in the call with this number.
    In { number: u32, arguments: Vec<Option<u64>> },
}

/// The system call that the main thread is in.
pub(crate) fn main_system_call() -> Call {
    system_call(&text(&of_main("syscall")))
}

fn system_call(line: &str) -> Call {
    // "running", or the number (-1 for none), and then the arguments.
    let mut words = line.split_ascii_whitespace();
    match words.next() {
        None => Call::Unknown,
        Some("running") => Call::Runs,
        Some(word) => number(word).map_or(Call::Elsewhere, |number| {
            let argument = |word: &str| hex(word.strip_prefix("0x")?);
            Call::In { number, arguments: words.take(6).map(argument).collect() }
        }),
    }
}

/// What a file descriptor of this process stands for, without any name that an app chose.
pub(crate) fn descriptor(fd: u64) -> String {
    let link = fs::read_link(["/proc/self/fd/", &fd.to_string()].concat());
    link.map(|link| kind_of_file(&link.to_string_lossy())).unwrap_or_default()
}

fn kind_of_file(link: &str) -> String {
    if link.starts_with("/dev/") || link.starts_with("anon_inode:") {
        return link.to_owned();
    }
    if !link.starts_with('/') {
        // "socket:[123]", "pipe:[123]"
        return link.split(':').next().unwrap_or_default().to_owned();
    }
    let folder = link.split('/').find(|part| matches!(*part, "databases" | "shared_prefs"));
    folder.map_or_else(|| "file".to_owned(), |folder| ["file in ", folder].concat())
}

/// The path of a file about the main thread. That thread's id is the process's.
fn of_main(file: &str) -> String {
    of_thread(std::process::id(), file)
}

/// The path of a file of a thread.
pub(crate) fn of_thread(tid: u32, file: &str) -> String {
    ["/proc/self/task/", &tid.to_string(), "/", file].concat()
}

/// The kernel's ids of all threads of this process. The folder is closed again when this returns.
///
/// # Errors
/// When the list cannot be read to its end, even after reserved descriptors were closed to make room.
pub(crate) fn threads() -> io::Result<Vec<u32>> {
    descriptors::open(|| {
        let mut ids = Vec::new();
        for entry in fs::read_dir("/proc/self/task")? {
            ids.extend(entry?.file_name().to_str().and_then(number::<u32>));
        }
        Ok(ids)
    })
}

/// A file of `/proc`. The kernel keeps 15 bytes of a thread's name, and writes them as they are: a name that
/// ends within a character must not make the rest of the file unreadable.
///
/// # Errors
/// When the file cannot be read, even after reserved descriptors were closed to make room.
pub(crate) fn read(path: &str) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&descriptors::open(|| fs::read(path))?).into_owned())
}

/// A file of `/proc`; empty when it cannot be read.
pub(crate) fn text(path: &str) -> String {
    read(path).unwrap_or_default()
}

/// The word after `name` at the start of a line.
pub(crate) fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next().map(str::to_owned)
}

/// The amount after `name` at the start of a line, converted from the kernel's kB (1,024 bytes) to bytes.
pub(crate) fn kib(text: &str, name: &str) -> Option<String> {
    let kib: u64 = number(&field(text, name)?)?;
    Some((kib * 1_024).to_string())
}

/// The process's name: the app's package, or `package:name`.
pub(crate) fn process_name() -> String {
    text("/proc/self/cmdline").split('\0').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_reports_where_a_thread_is() {
        let by_call = |line: &str| place(system_call(line), || panic!("the system call is known"));
        assert_eq!(by_call(&format!("{} 0x3 0x7f50", libc::SYS_epoll_pwait)), Place::Queue);
        assert_eq!(by_call(&format!("{} 0x1", libc::SYS_futex)), Place::Elsewhere);
        assert_eq!(by_call(&format!("{} 0x1", libc::SYS_ppoll)), Place::Elsewhere, "no Looper waits so");
        assert_eq!(by_call("running\n"), Place::Running);
        // A page fault, for one.
        assert_eq!(by_call("-1 0x7ffd 0x7f50"), Place::Elsewhere);
        for (wchan, found) in [
            ("ep_poll", Place::Queue),
            ("do_epoll_wait", Place::Queue),
            ("futex_wait_queue_me", Place::Elsewhere),
            ("poll_schedule_timeout", Place::Elsewhere),
            ("", Place::Unknown),
        ] {
            assert_eq!(place(system_call(""), || wchan.to_owned()), found, "{wchan}");
        }
    }

    #[test]
    fn a_process_may_be_frozen_when_it_is_cached_or_that_is_not_known() {
        let scores = ["900\n", "999\n", "1000", "", "x"];
        assert!(scores.into_iter().all(is_cached));
        assert!(!["-1000\n", "0\n", "500\n", "899\n"].into_iter().any(is_cached));
    }

    #[test]
    fn a_stat_line_is_read_behind_any_name() {
        let line = "77 (a) R b) D 1 2 3 4 -1 6 10 20 30 40 500 600 7 8 20 0 9 0 11 12 13 14 15 16 170 18 19";
        let known = ThreadStat { state: b'D', minor_faults: 10, major_faults: 30, user: 500, kernel: 600 };
        assert_eq!(thread_stat(line), Some(known));
        assert_eq!((thread_stat("77 (a) S 1 2"), thread_stat("")), (None, None));
        assert!(main_stat().is_some());
    }

    #[test]
    fn main_is_read_whatever_its_name_is_cut_to() {
        let comm = of_main("comm");
        let name = fs::read(&comm).unwrap();
        // The first two bytes of a character that has three.
        fs::write(&comm, b"a\xe4\xb8").unwrap();
        let read = (main_stat().is_some(), main_blocks_sig_quit().is_some(), text(&comm));
        let counts = main_scheduled().is_some() || main_schedstat().is_empty();
        fs::write(&comm, name).unwrap();
        assert_eq!(read, (true, true, "a\u{fffd}\n".to_owned()));
        assert!(counts);
        assert_eq!(has_sig_quit("", "SigBlk:"), None, "not known");
        assert_eq!(has_sig_quit("SigBlk:\t0000000000000004\n", "SigBlk:"), Some(true));
        assert_eq!(has_sig_quit("SigBlk:\t0000000000000002\n", "SigBlk:"), Some(false));
    }

    #[test]
    fn a_system_call_has_a_number_and_six_arguments() {
        let call = |number, arguments: &[Option<u64>]| Call::In { number, arguments: arguments.to_vec() };
        assert_eq!(
            system_call("29 0xc 0xc0306201 0x7f 0x0 0x8 0xffffffffffffffff 0x7ffd 0x7f38\n"),
            call(29, &[12, 0xc030_6201, 127, 0, 8, u64::MAX].map(Some))
        );
        assert_eq!(system_call("7 0x1 2"), call(7, &[Some(1), None]));
        assert_eq!(system_call("-1 0x7ffd 0x7f38"), Call::Elsewhere);
        assert_eq!((system_call("running\n"), system_call("")), (Call::Runs, Call::Unknown));
    }

    #[test]
    fn a_descriptor_keeps_no_name_that_an_app_chose() {
        for (link, kind) in [
            ("/dev/binder", "/dev/binder"),
            ("/dev/binderfs/hwbinder", "/dev/binderfs/hwbinder"),
            ("anon_inode:[eventpoll]", "anon_inode:[eventpoll]"),
            ("socket:[98213]", "socket"),
            ("pipe:[7]", "pipe"),
            ("/data/user/0/a.b/databases/jane.db-wal", "file in databases"),
            ("/data/user/0/a.b/shared_prefs/jane.xml (deleted)", "file in shared_prefs"),
            ("/storage/emulated/0/Download/jane.pdf", "file"),
        ] {
            assert_eq!(kind_of_file(link), kind);
        }
        assert_eq!(descriptor(u64::MAX), "");
    }

    #[test]
    fn a_field_is_the_word_after_its_name() {
        let text = "Name: x\nVmRSS:\t  12 kB\nsome avg10=0.25 avg60=0.1\n";
        assert_eq!(kib(text, "VmRSS:").unwrap(), "12288");
        assert_eq!(field(text, "some").unwrap(), "avg10=0.25");
        assert_eq!(field(text, "None:"), None);
    }
}
