//! What the main thread waits in, as the kernel reports it.

use super::kernel_view::{MainThread, SystemCall, SystemCallSource};
use super::system_calls::{self, CallKind, is_binder_request};
use loopbox_format::model::Progress;
use schemars::JsonSchema;
use serde::Serialize;

/// What the main thread waits in, or does, according to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MainWaitKind {
    /// An answer of another process to a binder call.
    Binder,
    /// A lock, a condition or a thread's end.
    Futex,
    /// Data being written back to the disk.
    FileSync,
    /// The next event of a Looper.
    Looper,
    /// File descriptors, outside of a Looper.
    Poll,
    /// The end of a sleep.
    Sleep,
    /// Reading from a file, a pipe or a socket.
    Read,
    /// Writing to a file, a pipe or a socket.
    Write,
    /// The other end of a socket.
    Socket,
    /// The file system: opening, renaming or locking a file, or waiting for its pages.
    File,
    /// The process's memory map, which another thread changes.
    MemoryMap,
    /// Memory: the kernel reclaims some, slows the app down because it uses too much, or reads a page back
    /// from swap.
    Memory,
    /// Another process's end.
    Process,
    /// A driver (`ioctl`) that is not binder.
    Driver,
    /// A system call of another kind.
    OtherCall,
    /// The kernel, in a wait that no signal ends; the system call is not known.
    Kernel,
    /// Something unknown.
    Unknown,
    /// A processor to run on.
    Cpu,
    /// Main waits for nothing: it runs.
    Runs,
    /// Main is stopped or frozen, and waits until it may run again.
    Stopped,
}

impl MainWaitKind {
    /// Whether the kernel names something specific that main waits for. An event of a Looper is not specific,
    /// because an idle main thread waits for one, too.
    pub(crate) fn is_specific(self) -> bool {
        !matches!(self, Self::Looper | Self::Unknown | Self::Cpu | Self::Runs | Self::Stopped)
    }
}

/// What the main thread waited in at the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MainWait {
    /// The kind of the wait.
    pub kind: MainWaitKind,
    /// What main waited in or did, in words that fit after "main": `waits for a lock, a condition or a
    /// thread's end (futex)`.
    pub text: String,
}

/// What the main thread waited in, or did; `None` when the kernel reported nothing.
///
/// If main was stopped, that is the answer. Otherwise the system call decides. Without a call, the kernel
/// function that main slept in decides, and without that the bare state.
///
/// The call and the state were not read at the same instant. SIGQUIT may have interrupted the call, and made
/// main run, a moment before the state was read. The interrupted call still decides, although the state says
/// that main ran.
///
/// A call from `/proc` was read a moment after the state, and may have been short. Such a call is ignored if
/// both of these conditions are met:
///
/// * The state says that main ran, or the report has main's native stack.
/// * Main ran or waited for a processor for at least half of the time from `captured_ns` to the completion of
///   the report.
pub(crate) fn main_wait(main: &MainThread, abi: &str) -> Option<MainWait> {
    let (kind, detail) = match (&main.system_call, main.state) {
        (_, Some(b'T' | b't')) => (MainWaitKind::Stopped, String::new()),
        (Some(call), Some(state))
            if (state == b'R' || main.native.is_some()) && is_of_a_moment(call, main.progress) =>
        {
            (runs_or_waits(main.progress), String::new())
        }
        (Some(call), _) => of_call(call, main, abi),
        (None, Some(b'R')) => (runs_or_waits(main.progress), String::new()),
        (None, Some(b'S' | b'D' | b'I')) => of_wchan(main),
        // The system's list of what threads sleep in has no states, and `0` of a thread that sleeps in
        // nothing.
        (None, None) if !matches!(main.wchan.as_str(), "" | "0") => of_wchan(main),
        _ => return None,
    };
    let mut text = words(kind).to_owned();
    let uninterruptible = if main.state == Some(b'D') { "uninterruptible" } else { "" };
    let details: Vec<&str> =
        [detail.as_str(), uninterruptible].into_iter().filter(|detail| !detail.is_empty()).collect();
    if !details.is_empty() {
        text = format!("{text} ({})", details.join(", "));
    }
    Some(MainWait { kind, text })
}

/// Whether the call was read from `/proc` and lasted only for a moment: since then the thread ran or waited
/// for a processor at least half of the time. False for a call that a signal interrupted.
fn is_of_a_moment(call: &SystemCall, progress: Option<Progress>) -> bool {
    let Some(Progress { over_ns, ran_ns: Some(ran), waited_ns: Some(waited), .. }) = progress else {
        return false;
    };
    call.source == SystemCallSource::Proc && over_ns > 0 && ran.saturating_add(waited) >= over_ns / 2
}

fn of_call(call: &SystemCall, main: &MainThread, abi: &str) -> (MainWaitKind, String) {
    let Some(number) = call.number else {
        // The signal ended it, and its result has taken the place of its number.
        let asleep = !main.wchan.is_empty();
        return if asleep { of_wchan(main) } else { (MainWaitKind::OtherCall, String::new()) };
    };
    let Some((name, kind)) = system_calls::system_call(abi, number) else {
        return (MainWaitKind::OtherCall, format!("system call {number}"));
    };
    if name == "restart_syscall" {
        // A wait with a deadline goes on after a signal: which one, only the kernel knows.
        return of_wchan(main);
    }
    let request = call.arguments.get(1).copied().flatten();
    let on_binder = call.descriptor.starts_with("/dev/") && call.descriptor.ends_with("binder");
    let (wait, has_descriptor) = match kind {
        CallKind::Ioctl if on_binder || request.is_some_and(is_binder_request) => {
            (MainWaitKind::Binder, true)
        }
        CallKind::Ioctl => (MainWaitKind::Driver, true),
        CallKind::Futex => (MainWaitKind::Futex, false),
        CallKind::FileSync => (MainWaitKind::FileSync, true),
        CallKind::Epoll => (MainWaitKind::Looper, false),
        CallKind::Poll => (MainWaitKind::Poll, false),
        CallKind::Sleep => (MainWaitKind::Sleep, false),
        CallKind::Read => (MainWaitKind::Read, true),
        CallKind::Write => (MainWaitKind::Write, true),
        CallKind::Socket => (MainWaitKind::Socket, false),
        CallKind::File => (MainWaitKind::File, false),
        CallKind::Memory => (MainWaitKind::MemoryMap, false),
        CallKind::Process => (MainWaitKind::Process, false),
        CallKind::Other => (MainWaitKind::OtherCall, false),
    };
    let has_descriptor = has_descriptor && !matches!(name, "sync" | "msync") && !call.descriptor.is_empty();
    let detail = if has_descriptor { format!("{name}, {}", call.descriptor) } else { name.to_owned() };
    (wait, detail)
}

/// Names of kernel functions, and what a thread that sleeps in them waits for. The first match decides.
const WCHAN: [(&str, MainWaitKind); 39] = [
    ("mem_cgroup_handle_over_high", MainWaitKind::Memory),
    ("try_charge", MainWaitKind::Memory),
    ("shrink_", MainWaitKind::Memory),
    ("reclaim", MainWaitKind::Memory),
    ("do_swap_page", MainWaitKind::Memory),
    ("swap_read", MainWaitKind::Memory),
    ("swapin_", MainWaitKind::Memory),
    ("swap_cluster_readahead", MainWaitKind::Memory),
    ("swap_vma_readahead", MainWaitKind::Memory),
    ("zram", MainWaitKind::Memory),
    ("binder", MainWaitKind::Binder),
    ("futex", MainWaitKind::Futex),
    ("ep_poll", MainWaitKind::Looper),
    ("epoll", MainWaitKind::Looper),
    ("nanosleep", MainWaitKind::Sleep),
    ("poll_schedule", MainWaitKind::Poll),
    ("do_sys_poll", MainWaitKind::Poll),
    ("do_select", MainWaitKind::Poll),
    ("pipe_write", MainWaitKind::Write),
    ("pipe", MainWaitKind::Read),
    ("eventfd_read", MainWaitKind::Read),
    ("unix_stream", MainWaitKind::Socket),
    ("unix_wait", MainWaitKind::Socket),
    ("skb_", MainWaitKind::Socket),
    ("sk_wait", MainWaitKind::Socket),
    ("sk_stream", MainWaitKind::Socket),
    ("inet_", MainWaitKind::Socket),
    ("tcp_", MainWaitKind::Socket),
    ("writeback", MainWaitKind::FileSync),
    ("jbd2", MainWaitKind::FileSync),
    ("issue_flush", MainWaitKind::FileSync),
    ("fsync", MainWaitKind::FileSync),
    ("io_schedule", MainWaitKind::File),
    ("folio_", MainWaitKind::File),
    ("lock_page", MainWaitKind::File),
    ("wait_on_page", MainWaitKind::File),
    ("rwsem_", MainWaitKind::MemoryMap),
    ("freezer", MainWaitKind::Stopped),
    ("refrigerator", MainWaitKind::Stopped),
];

fn of_wchan(main: &MainThread) -> (MainWaitKind, String) {
    let found = WCHAN.iter().find(|(name, _)| main.wchan.contains(name)).map(|(_, kind)| *kind);
    let bare = if main.state == Some(b'D') { MainWaitKind::Kernel } else { MainWaitKind::Unknown };
    (found.unwrap_or(bare), main.wchan.clone())
}

/// Whether main ran or waited for a processor, when its state says that it wanted to run. The result is
/// [`MainWaitKind::Cpu`] if main waited longer than it ran, and for more than half of the time in `progress`.
fn runs_or_waits(progress: Option<Progress>) -> MainWaitKind {
    match progress {
        Some(Progress { over_ns, ran_ns: Some(ran), waited_ns: Some(waited), .. })
            if waited > ran && waited > over_ns / 2 =>
        {
            MainWaitKind::Cpu
        }
        _ => MainWaitKind::Runs,
    }
}

fn words(kind: MainWaitKind) -> &'static str {
    match kind {
        MainWaitKind::Binder => "waits for another process's answer to a binder call",
        MainWaitKind::Futex => "waits for a lock, a condition or a thread's end",
        MainWaitKind::FileSync => "waits for data to be written to the disk",
        MainWaitKind::Looper => "waits for the next event of a Looper",
        MainWaitKind::Poll => "waits for file descriptors",
        MainWaitKind::Sleep => "sleeps",
        MainWaitKind::Read => "waits for data to read",
        MainWaitKind::Write => "waits for data to be taken",
        MainWaitKind::Socket => "waits for the other end of a socket",
        MainWaitKind::File => "waits for the file system",
        MainWaitKind::MemoryMap => "waits for the process's memory map",
        MainWaitKind::Memory => "waits for memory, which the kernel reclaims or reads back from swap",
        MainWaitKind::Process => "waits for another process to end",
        MainWaitKind::Driver => "waits for a driver",
        MainWaitKind::OtherCall => "is in a system call",
        MainWaitKind::Kernel => "waits for the kernel",
        MainWaitKind::Unknown => "waits",
        MainWaitKind::Cpu => "waits for a processor",
        MainWaitKind::Runs => "runs",
        MainWaitKind::Stopped => "is stopped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Analysis;
    use crate::model::kernel_view::NativeStack;
    use crate::test_support::{NOW_NS, ReportBuilder};
    use loopbox_format::model::Uptime;

    const ARM64: &str = "arm64-v8a";

    fn main(state: u8, wchan: &str) -> MainThread {
        MainThread {
            captured_ns: Uptime(1),
            state: Some(state),
            wchan: wchan.into(),
            system_call: None,
            progress: None,
            native: None,
        }
    }

    fn call(
        number: u32,
        arguments: &[Option<u64>],
        descriptor: &str,
        source: SystemCallSource,
    ) -> SystemCall {
        SystemCall {
            number: Some(number),
            arguments: arguments.to_vec(),
            descriptor: descriptor.into(),
            source,
        }
    }

    fn text(main: &MainThread, abi: &str) -> String {
        main_wait(main, abi).unwrap().text
    }

    fn in_call(state: u8, call: SystemCall) -> MainThread {
        MainThread { system_call: Some(call), ..main(state, "") }
    }

    #[test]
    fn a_binder_call_is_known_by_its_descriptor_or_by_its_request() {
        use SystemCallSource::{Proc, Registers};
        let answer = "waits for another process's answer to a binder call";
        let by_fd = in_call(b'S', call(29, &[Some(3), Some(1)], "/dev/binder", Proc));
        assert_eq!(text(&by_fd, ARM64), format!("{answer} (ioctl, /dev/binder)"));
        let by_request = in_call(b'R', call(29, &[None, Some(0xC030_6201)], "", Registers));
        assert_eq!(text(&by_request, ARM64), format!("{answer} (ioctl)"));
        let other = in_call(b'S', call(29, &[Some(3), Some(0x5401)], "/dev/mali0", Proc));
        assert_eq!(text(&other, ARM64), "waits for a driver (ioctl, /dev/mali0)");
    }

    #[test]
    fn a_call_is_named_by_the_abi_of_the_report() {
        use SystemCallSource::Proc;
        let futex = in_call(b'S', call(98, &[], "a file of another call", Proc));
        assert_eq!(text(&futex, ARM64), "waits for a lock, a condition or a thread's end (futex)");
        assert_eq!(main_wait(&futex, "x86_64").unwrap().kind, MainWaitKind::OtherCall);
        assert_eq!(text(&futex, "x86_64"), "is in a system call (system call 98)");
        let sync = in_call(b'D', call(83, &[Some(9)], "file in databases", Proc));
        assert_eq!(
            text(&sync, ARM64),
            "waits for data to be written to the disk (fdatasync, file in databases, uninterruptible)"
        );
    }

    #[test]
    fn a_call_counts_more_than_the_state() {
        use SystemCallSource::{Proc, Registers};
        for source in [Registers, Proc] {
            let sleep = in_call(b'R', call(115, &[], "", source));
            assert_eq!(text(&sleep, ARM64), "sleeps (clock_nanosleep)");
        }
        let busy = Progress { over_ns: 100, ran_ns: Some(7), waited_ns: Some(90), ..Progress::default() };
        let kind = |state, source, progress| {
            let main = MainThread { progress, ..in_call(state, call(98, &[], "", source)) };
            main_wait(&main, ARM64).unwrap().kind
        };
        assert_eq!(kind(b'R', Proc, Some(busy)), MainWaitKind::Cpu, "it was in the call for a moment");
        let slept = Some(Progress { waited_ns: Some(9), ..busy });
        let busy = Some(busy);
        let kind_after_signal = |source, progress| {
            let native = NativeStack { captured_ns: Uptime(1), frames: Vec::new(), modules: Vec::new() };
            let sleeping = in_call(b'S', call(98, &[], "", source));
            main_wait(&MainThread { progress, native: Some(native), ..sleeping }, ARM64).unwrap().kind
        };
        assert_eq!(kind_after_signal(Proc, busy), MainWaitKind::Cpu, "the signal had found it in no call");
        assert_eq!(kind_after_signal(Proc, slept), MainWaitKind::Futex);
        assert_eq!(kind_after_signal(Registers, busy), MainWaitKind::Futex);
        for (state, source, progress) in
            [(b'S', Proc, busy), (b'R', Registers, busy), (b'R', Proc, slept), (b'R', Proc, None)]
        {
            assert_eq!(kind(state, source, progress), MainWaitKind::Futex, "{state} {source:?} {progress:?}");
        }
        let stopped = in_call(b'T', call(115, &[], "", Proc));
        assert_eq!(text(&stopped, ARM64), "is stopped");
        let ended = SystemCall { number: None, ..call(0, &[], "", Registers) };
        assert_eq!(text(&in_call(b'R', ended.clone()), "x86_64"), "is in a system call");
        let asleep = MainThread { wchan: "hrtimer_nanosleep".into(), ..in_call(b'S', ended) };
        assert_eq!(text(&asleep, "x86_64"), "sleeps (hrtimer_nanosleep)");
    }

    #[test]
    fn without_a_call_the_kernel_function_decides() {
        for (wchan, kind) in [
            ("binder_wait_for_work", MainWaitKind::Binder),
            ("futex_wait_queue", MainWaitKind::Futex),
            ("do_epoll_wait", MainWaitKind::Looper),
            ("hrtimer_nanosleep", MainWaitKind::Sleep),
            ("pipe_read", MainWaitKind::Read),
            ("jbd2_log_wait_commit", MainWaitKind::FileSync),
            ("folio_wait_writeback", MainWaitKind::FileSync),
            ("folio_wait_bit_common", MainWaitKind::File),
            ("rwsem_down_read_slowpath", MainWaitKind::MemoryMap),
            // The kernel's limit on a cgroup's memory, reclaim, and what was swapped out.
            ("__mem_cgroup_handle_over_high", MainWaitKind::Memory),
            ("mem_cgroup_handle_over_high", MainWaitKind::Memory),
            ("try_charge_memcg", MainWaitKind::Memory),
            ("shrink_folio_list", MainWaitKind::Memory),
            ("shrink_inactive_list", MainWaitKind::Memory),
            ("reclaim_throttle", MainWaitKind::Memory),
            ("throttle_direct_reclaim", MainWaitKind::Memory),
            ("do_swap_page", MainWaitKind::Memory),
            ("swap_read_folio", MainWaitKind::Memory),
            ("swap_readpage", MainWaitKind::Memory),
            ("zram_bvec_read", MainWaitKind::Memory),
            // A page of a file: the disk, for all that is known.
            ("folio_wait_bit", MainWaitKind::File),
            ("__refrigerator", MainWaitKind::Stopped),
            ("of_no_known_name", MainWaitKind::Unknown),
            ("", MainWaitKind::Unknown),
        ] {
            assert_eq!(main_wait(&main(b'S', wchan), ARM64).unwrap().kind, kind, "{wchan}");
        }
        assert_eq!(
            text(&main(b'S', "futex_wait"), ""),
            "waits for a lock, a condition or a thread's end (futex_wait)"
        );
        let restarted = MainThread {
            system_call: Some(call(128, &[], "", SystemCallSource::Proc)),
            ..main(b'S', "hrtimer_nanosleep")
        };
        assert_eq!(text(&restarted, ARM64), "sleeps (hrtimer_nanosleep)");
    }

    #[test]
    fn a_bare_state_is_shown_as_it_is() {
        let texts = [b'S', b'D', b'R', b'T', b't'].map(|state| text(&main(state, ""), ARM64));
        assert_eq!(
            texts,
            ["waits", "waits for the kernel (uninterruptible)", "runs", "is stopped", "is stopped"]
        );
        assert_eq!((main_wait(&main(0, ""), ARM64), main_wait(&main(b'Z', ""), ARM64)), (None, None));
    }

    #[test]
    fn a_thread_that_cannot_run_waits_for_a_processor() {
        let progress = |ran, waited| Progress {
            over_ns: 100,
            ran_ns: Some(ran),
            waited_ns: Some(waited),
            ..Progress::default()
        };
        for (ran, waited, kind) in
            [(5, 90, MainWaitKind::Cpu), (60, 40, MainWaitKind::Runs), (0, 40, MainWaitKind::Runs)]
        {
            let main = MainThread { progress: Some(progress(ran, waited)), ..main(b'R', "") };
            assert_eq!(main_wait(&main, ARM64).unwrap().kind, kind, "{ran} {waited}");
        }
    }

    #[test]
    fn what_the_kernel_saw_before_the_message_began_is_no_wait_of_it() {
        let seen = |begun: bool| {
            let report = ReportBuilder::new().running(99, 5_000).interrupted(98, &[]);
            let captured_ns = Uptime(NOW_NS - 5_000_000_000 - u64::from(!begun));
            Analysis::new(&report.with(|r| r.main_thread.captured_ns = captured_ns).build()).main_wait()
        };
        assert_eq!(seen(true).unwrap().kind, MainWaitKind::Futex);
        assert!(seen(false).is_none());
    }
}
