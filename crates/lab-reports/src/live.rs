//! What tests can see of a process while it runs. They wait until they see it, instead of for a fixed time.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lab_launch::Running;
use loopbox_format::model::{MainState, Report, StackTree, Token, Uptime};
use loopbox_store::recover;
use rustix::time::{ClockId, clock_gettime};

use crate::LIMIT;

/// How long to wait between two checks.
const PAUSE: Duration = Duration::from_millis(10);

/// Repeats `check` until it finds something.
///
/// # Errors
/// When `check` fails, or finds nothing within [`LIMIT`]; the error then names what was waited for.
pub fn wait_until<T>(what: &str, mut check: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = check()? {
            return Ok(found);
        }
        if Instant::now() > end {
            bail!("{what}: not within {LIMIT:?}");
        }
        std::thread::sleep(PAUSE);
    }
}

/// Waits until `wanted` accepts the ring of a process, read as if the process had been killed now. Returns
/// the report made from that ring.
///
/// # Errors
/// When `wanted` accepts none within [`LIMIT`], or the folder cannot be read.
pub fn wait_for_ring(
    what: &str,
    directory: &Path,
    pid: u32,
    wanted: impl Fn(&Report) -> bool,
) -> Result<Report> {
    wait_until(what, || Ok(ring_of(directory, pid)?.filter(&wanted)))
}

/// The content of a process's ring; `None` while there is none.
///
/// # Errors
/// When the folder cannot be read.
pub fn ring_of(directory: &Path, pid: u32) -> Result<Option<Report>> {
    // The process makes it, after it has begun to record.
    let Ok(folder) = fs::read_dir(directory) else { return Ok(None) };
    for entry in folder {
        let path = entry?.path();
        let is_its = path.to_string_lossy().contains(&format!("-{pid}-"));
        if is_its && path.extension().is_some_and(|extension| extension == "lbr") {
            // Its process may delete or rename it at any time.
            let Ok(bytes) = fs::read(path) else { return Ok(None) };
            return Ok(recover(&bytes).ok().map(|recovered| recovered.report));
        }
    }
    Ok(None)
}

/// Now, on the clock that reports use (`CLOCK_MONOTONIC`).
pub fn uptime_ns() -> Uptime {
    let now = clock_gettime(ClockId::Monotonic);
    Uptime(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// The stacks of the running message, if there are any.
pub fn running_tree(report: &Report) -> Option<&StackTree> {
    let MainState::Running(running) = &report.main else { return None };
    tree_of(report, running.token)
}

/// The stacks of a message: the newest tree, as `loopbox` itself chooses. An earlier tree has the stack that
/// was taken through Java before the sampler was ready.
pub fn tree_of(report: &Report, token: Token) -> Option<&StackTree> {
    report.trees.iter().rfind(|tree| tree.token == token)
}

/// Waits until ART's Signal Catcher has taken every SIGQUIT that is meant for it and waits for the next one.
///
/// Until then, the Signal Catcher may also take a SIGQUIT that is meant for the main thread. When it has
/// written a trace, it returns to `sigwait` and takes any signal that is pending for the process. The kernel
/// has woken the main thread for that signal, but on a busy machine the main thread may get a processor too
/// late. `docs/anr.md` describes this for the product.
///
/// # Errors
/// When it does not, or the process is gone.
pub fn wait_for_signal_catcher(pid: u32) -> Result<()> {
    wait_until("the Signal Catcher waits for SIGQUIT", || {
        for task in fs::read_dir(format!("/proc/{pid}/task")).context("the process is gone")?.flatten() {
            let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
            if read("comm").trim_end() == "Signal Catcher" {
                // In sigwait the kernel takes what is waited for out of the thread's mask.
                let status = read("status");
                let busy = ["SigPnd:", "ShdPnd:", "SigBlk:"].iter().any(|mask| has_sig_quit(&status, mask));
                return Ok((!busy).then_some(()));
            }
        }
        Ok(None)
    })
}

/// Sends an app a SIGQUIT that its main thread gets. First waits until the Signal Catcher waits for its next
/// signal, because before that it might take this one.
pub fn quit(app: &Running) -> Result<()> {
    wait_for_signal_catcher(app.pid())?;
    app.signal("QUIT")
}

/// Waits until no SIGQUIT is pending for a process any more, because a thread has taken it.
///
/// # Errors
/// When no thread takes it, or the process is gone.
pub fn wait_for_taken_signal(pid: u32) -> Result<()> {
    wait_until("a thread takes SIGQUIT", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the process is gone")?;
        Ok((!has_sig_quit(&status, "ShdPnd:")).then_some(()))
    })
}

/// Whether a mask of `/proc/PID/task/TID/status` contains SIGQUIT; also true when there is no such mask.
fn has_sig_quit(status: &str, mask: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix(mask));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 << 2 != 0)
}
