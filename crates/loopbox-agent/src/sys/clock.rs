//! The clocks.

use loopbox_format::model::{ClockPair, Uptime};
use std::time::{SystemTime, UNIX_EPOCH};

/// `CLOCK_MONOTONIC`, the basis of `SystemClock.uptimeMillis`.
pub(crate) fn now_ns() -> Uptime {
    Uptime(read(libc::CLOCK_MONOTONIC).unwrap_or(0))
}

/// CPU time of the calling thread; `None` when the kernel does not report it.
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of the process; `None` when the kernel does not report it.
pub(crate) fn process_cpu_ns() -> Option<u64> {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of another thread of this process by its CPU clock.
pub(crate) fn thread_cpu_of(clock: libc::clockid_t) -> Option<u64> {
    read(clock)
}

/// The CPU clock of the calling thread, readable from other threads; `None` when there is none.
pub(crate) fn cpu_clock_of_this_thread() -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the calling thread lives, and the result goes to a local.
    let failed = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
    (failed == 0).then_some(clock)
}

/// The current time on both clocks.
pub(crate) fn pair() -> ClockPair {
    let unix_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    ClockPair { uptime_ns: now_ns(), unix_ms }
}

/// Kernel id of the calling thread.
pub(crate) fn this_thread() -> u32 {
    // SAFETY: no arguments, no effects.
    unsafe { libc::gettid() }.cast_unsigned()
}

/// The unit of the times in `/proc/PID/stat`.
pub(crate) fn ticks_per_second() -> u64 {
    // SAFETY: no pointers.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).unwrap_or(100)
}

/// When a process started, uptime, from field 22 of its `/proc/PID/stat`; `None` for 0, which no process has.
///
/// The field counts on `CLOCK_BOOTTIME` (proc(5)), which continues while the device sleeps. So an age
/// computed from it includes sleep: on a device that has slept since, the start seems earlier by the duration
/// of the sleep.
pub(crate) fn uptime_of_start(ticks: u64) -> Option<Uptime> {
    let since_boot_ns = ticks.checked_mul(1_000_000_000)?.checked_div(ticks_per_second())?;
    let age_ns = read(libc::CLOCK_BOOTTIME)?.checked_sub(since_boot_ns)?;
    now_ns().0.checked_sub(age_ns).map(Uptime).filter(|_| ticks != 0)
}

fn read(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the result goes to a local.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (failed == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
