//! Injected faults for tests: those that the real system never produces, or does not produce when a test
//! needs them. Only in builds with debug assertions, which the shipped library is not.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the environment variable requests this fault.
fn asked(fault: &str) -> bool {
    std::env::var_os("LOOPBOX_FAULT").is_some_and(|asked| asked == fault)
}

/// Behaves as if ART were an unknown version.
pub(crate) fn unknown_art() -> bool {
    asked("unknown-art")
}

/// Behaves as if the disk did not respond when a report is written.
pub(crate) fn disk_stands_still() {
    while asked("disk") {
        std::thread::sleep(Duration::from_hours(1));
    }
}

/// Whether the fault is over. It ends when the file exists whose path is in the environment variable
/// `LOOPBOX_FAULT_UNTIL`.
fn is_over() -> bool {
    std::env::var_os("LOOPBOX_FAULT_UNTIL").is_some_and(|gate| Path::new(&gate).exists())
}

/// Whether a test wants ART to count as still writing its trace.
pub(crate) fn trace_lasts() -> bool {
    asked("trace") && !is_over()
}

/// Called when the calling thread has just stopped the main thread. If a test requests this fault, sends
/// SIGQUIT to ART's Signal Catcher as another process would do, and waits until ART has begun its trace.
pub(crate) fn trace_begins(signal_catcher: i32) {
    /// The time that ART gets to begin its trace: longer than ART takes to stop the threads that run Java
    /// code.
    const BEGINNING: Duration = Duration::from_millis(100);
    if asked("trace-in-stop") && !is_over() {
        // SAFETY: no pointers. The thread lives as long as the process.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), signal_catcher, libc::SIGQUIT) };
        std::thread::sleep(BEGINNING);
    }
}

/// Simulates that the worker's thread gets no processor from its beginning until the fault is over.
pub(crate) fn worker_is_late() {
    while asked("worker") && !is_over() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Behaves as if the installation crashed.
pub(crate) fn installation_crashes() {
    if asked("install") {
        // SAFETY: no arguments; ends the process.
        unsafe { libc::abort() };
    }
}

/// Called when the calling thread has just stopped the main thread. If a test requests one of these faults,
/// the calling thread ends here, or stays here for ever.
pub(crate) fn main_is_stopped() {
    let (stay, die) = (asked("stay"), asked("die"));
    if !stay && !die {
        return;
    }
    say("FAULT main is stopped\n");
    if die {
        // SAFETY: no pointers. Ends the calling thread and nothing else, without notifying Rust, C or Java.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }
    loop {
        std::thread::sleep(Duration::from_hours(1));
    }
}

/// Called while the calling thread reads the stopped main thread's stack. If a test requests this fault, the
/// first such read does not end before `noticed` returns true. This simulates a page fault that waits for the
/// disk.
pub(crate) fn stack_is_read(noticed: impl Fn() -> bool) {
    static FIRST: AtomicBool = AtomicBool::new(true);
    if asked("read") && FIRST.swap(false, Ordering::Relaxed) {
        say("FAULT main's stack is read\n");
        while !noticed() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Prints a line, without the standard library's lock: the stopped thread may hold it.
fn say(line: &str) {
    // SAFETY: the line lives across the call.
    unsafe { libc::write(libc::STDOUT_FILENO, line.as_ptr().cast(), line.len()) };
}
