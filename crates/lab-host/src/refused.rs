//! Simulates a kernel that is built without a system call. If the environment has
//! `LOOPBOX_HOST_REFUSE=process_vm_readv`, that call fails in this process as on such a kernel.

use anyhow::{Context, Result, ensure};
use std::io;

const VARIABLE: &str = "LOOPBOX_HOST_REFUSE";

/// Refuses the calls that the environment names, for this thread and all that it starts.
pub(crate) fn apply() -> Result<()> {
    let Some(call) = std::env::var_os(VARIABLE) else { return Ok(()) };
    ensure!(call == "process_vm_readv", "{VARIABLE}: no such call: {}", call.display());
    let number = libc::SYS_process_vm_readv as u32;
    let statement = |code: u32, jump: [u8; 2], k: u32| libc::sock_filter {
        code: code as u16,
        jt: jump[0],
        jf: jump[1],
        k,
    };
    let mut program = [
        // The number of the call is the first word that a filter reads.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, [0, 0], 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, [0, 1], number),
        statement(libc::BPF_RET | libc::BPF_K, [0, 0], libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        statement(libc::BPF_RET | libc::BPF_K, [0, 0], libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the program lives across the calls, and refuses one call that this program itself does not
    // make.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) == 0
    };
    ensure!(done, "no filter: {}", io::Error::last_os_error());
    // SAFETY: no memory is read: the call is refused.
    let refused = unsafe { libc::syscall(libc::SYS_process_vm_readv, libc::getpid(), 0, 0, 0, 0, 0) };
    let error = io::Error::last_os_error().raw_os_error().context("no error")?;
    ensure!(refused == -1 && error == libc::ENOSYS, "the call is not refused");
    Ok(())
}
