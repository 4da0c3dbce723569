#![doc = include_str!("../README.md")]
#![allow(unsafe_code)]

use std::io::Error;
use std::thread;

/// Runs `what` on a thread for which the kernel refuses these system calls, as [`refuse`] makes it.
///
/// # Panics
/// When `what` panics, and as [`refuse`] does.
pub fn while_refused<T: Send>(calls: &[libc::c_long], error: i32, what: impl FnOnce() -> T + Send) -> T {
    let refused = move || {
        refuse(calls, error);
        what()
    };
    thread::scope(|scope| scope.spawn(refused).join().unwrap())
}

/// Makes the kernel refuse these system calls with this error (`libc::EIO`, say) from now on. It does so for
/// the calling thread and the threads and processes that it starts, until they end; no other thread notices.
///
/// # Panics
/// When the kernel does not accept the filter.
pub fn refuse(calls: &[libc::c_long], error: i32) {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    // The number of the call is the first word of `seccomp_data`.
    let mut steps = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for (nth, call) in calls.iter().enumerate() {
        steps.push(step(equal, (calls.len() - nth) as u8, 0, *call as u32));
    }
    steps.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    steps.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32));
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the program and its steps live across the calls, which copy them.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    assert!(!refused, "seccomp: {}", Error::last_os_error());
}
