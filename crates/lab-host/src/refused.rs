//! Simulates a kernel that is built without a system call (`LOOPBOX_HOST_REFUSE=process_vm_readv` in the
//! environment), or a disk on which nothing can be written (`LOOPBOX_HOST_REFUSE=files`).

use anyhow::{Result, bail, ensure};
use std::io;

const VARIABLE: &str = "LOOPBOX_HOST_REFUSE";

/// Refuses what the environment names, for this thread and all that it starts.
pub(crate) fn apply() -> Result<()> {
    let Some(what) = std::env::var_os(VARIABLE) else { return Ok(()) };
    match what.to_str() {
        Some("process_vm_readv") => lab_seccomp::refuse(&[libc::SYS_process_vm_readv], libc::ENOSYS),
        Some("files") => limit_files()?,
        _ => bail!("{VARIABLE}: no such call: {}", what.display()),
    }
    Ok(())
}

/// Limits the size of files to 0 bytes, so that every write to a file fails. Writes to pipes and sockets
/// still succeed.
fn limit_files() -> Result<()> {
    let nothing = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `nothing` is a valid `rlimit` for the duration of the call; an ignored signal has no handler.
    let limited = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN) != libc::SIG_ERR
            && libc::setrlimit(libc::RLIMIT_FSIZE, &raw const nothing) == 0
    };
    ensure!(limited, "no limit: {}", io::Error::last_os_error());
    Ok(())
}
