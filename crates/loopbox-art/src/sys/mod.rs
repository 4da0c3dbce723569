//! Calls of the kernel and of the linker. None of them reads guessed addresses in a way that could fault.

pub(crate) mod dl;
pub(crate) mod file;
pub(crate) mod maps;
pub(crate) mod mem;

/// `CLOCK_MONOTONIC` in ns, the clock of `SystemClock.uptimeMillis`.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid out parameter; the clock exists on every kernel Android runs on.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// Whether this process has a thread with this kernel id.
pub(crate) fn lives(tid: u32) -> bool {
    // SAFETY: no pointers; signal 0 only asks. It fails when there is no such thread.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, 0) == 0 }
}

/// Kernel id of the calling thread.
pub(crate) fn gettid() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    (unsafe { libc::syscall(libc::SYS_gettid) }) as u32
}
