//! The system calls on files that a process makes, recorded by strace.

use anyhow::{Context, Result};
use lab_reports::live::wait_until;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A process's calls about files, as strace writes them.
#[derive(Debug)]
pub struct Trace {
    strace: Child,
    log: PathBuf,
}

impl Trace {
    /// Traces a running process, and the threads that it starts. Writes its log into `folder`.
    ///
    /// # Errors
    /// When there is no strace, or the process ends.
    pub fn of(pid: u32, folder: &Path) -> Result<Self> {
        let log = folder.join("trace");
        let calls =
            "trace=%file,write,fsync,fdatasync,msync,sync_file_range,syncfs,sync,tgkill,rt_sigtimedwait";
        let strace = Command::new("strace")
            .args(["-f", "-y", "-qq", "-s", "200", "-e", calls, "-o"])
            .arg(&log)
            .args(["-p", &pid.to_string()])
            .spawn()
            .context("cannot start strace")?;
        wait_until("every thread is traced", || {
            let traced = |path: PathBuf| {
                let status = fs::read_to_string(path.join("status")).unwrap_or_default();
                status.lines().any(|line| line.starts_with("TracerPid:") && !line.ends_with("\t0"))
            };
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).context("the process is gone")?;
            Ok(tasks.flatten().all(|task| traced(task.path())).then_some(()))
        })?;
        Ok(Self { strace, log })
    }

    /// The calls so far: the thread, and the call.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn calls(&self) -> Result<Vec<(u32, String)>> {
        let log = fs::read_to_string(&self.log)?;
        // The last line may be half of one.
        let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let call = |line: &str| {
            let (thread, call) = line.split_once(' ')?;
            Some((thread.parse().ok()?, call.trim_start().to_owned()))
        };
        Ok(whole.lines().filter_map(call).collect())
    }

    /// Waits until a matching call was made. Returns all calls so far, also those that do not match.
    ///
    /// # Errors
    /// When no matching call is made in time.
    pub fn wait_for(&self, what: &str, like: impl Fn(&str) -> bool) -> Result<Vec<(u32, String)>> {
        wait_until(what, || {
            let calls = self.calls()?;
            Ok(calls.iter().any(|(_, call)| like(call)).then_some(calls))
        })
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}
