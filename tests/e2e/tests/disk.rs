//! Who waits for the disk, by the system calls of a real app: not the main thread, and nobody before SIGQUIT is passed on.

use anyhow::{Context, Result, ensure};
use loopbox_e2e::live::{quit, wait_for_ring, wait_until};
use loopbox_e2e::{LIMIT, launcher};
use loopbox_launch::Running;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use tempfile::tempdir;

/// The calls of a process that have to do with files, as strace writes them down.
struct Trace {
    strace: Child,
    log: PathBuf,
}

impl Trace {
    /// Watches a process that runs, and the threads that it starts.
    fn of(pid: u32, folder: &Path) -> Result<Self> {
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

    /// The calls so far: of which thread, and what.
    fn calls(&self) -> Result<Vec<(u32, String)>> {
        let log = fs::read_to_string(&self.log)?;
        // The last line may be half of one.
        let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let call = |line: &str| {
            let (thread, call) = line.split_once(' ')?;
            Some((thread.parse().ok()?, call.trim_start().to_owned()))
        };
        Ok(whole.lines().filter_map(call).collect())
    }

    /// Waits until a call like this was made, and returns all of them.
    fn wait_for(&self, what: &str, like: impl Fn(&str) -> bool) -> Result<Vec<(u32, String)>> {
        wait_until(what, || {
            let calls = self.calls()?;
            Ok(calls.iter().any(|(_, call)| like(call)).then_some(calls))
        })
    }
}

/// Sends SIGQUIT until the recorder gets one. While the tracer keeps the main thread stopped, the kernel gives it to ART's Signal
/// Catcher instead, which waits for it.
fn quit_traced(app: &Running, trace: &Trace) -> Result<()> {
    let passed_on = |calls: &[(u32, String)]| calls.iter().any(|(_, call)| is_passed_on(call));
    let taken = |call: &str| call.contains("rt_sigtimedwait") && call.ends_with("= 3 (SIGQUIT)");
    for times in 1.. {
        quit(app)?;
        let calls = wait_until("the Signal Catcher has the signal", || {
            let calls = trace.calls()?;
            Ok((calls.iter().filter(|(_, call)| taken(call)).count() >= times).then_some(calls))
        })?;
        if passed_on(&calls) {
            break;
        }
    }
    Ok(())
}

fn is_passed_on(call: &str) -> bool {
    call.starts_with("tgkill") && call.contains("SIGQUIT")
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}

#[test]
fn the_installation_opens_no_file_on_the_main_thread() -> Result<()> {
    let folder = tempdir()?;
    let rings = folder.path().join("rings");
    let gate = folder.path().join("gate");
    let app = launcher("art10")?.app("scenario.Killed").argument(format!("dir={}", rings.display()));
    let mut app = app.argument(format!("gate={}", gate.display())).start()?;
    app.wait_for("SCRIPT waits", LIMIT)?;
    let trace = Trace::of(app.pid(), folder.path())?;
    fs::write(gate, "")?;
    app.wait_for("SCRIPT installed", LIMIT)?;
    let calls = trace
        .wait_for("the ring has its name", |call| call.starts_with("rename") && call.contains("ring-"))?;
    wait_for_ring("the ring is on the disk", &rings, app.pid(), |_| true)?;

    let made = |call: &str| call.contains("ring-") && call.contains(".new") && call.contains("O_CREAT");
    let maker = calls.iter().find(|(_, call)| made(call)).context("nobody made the ring")?.0;
    assert_ne!(maker, app.pid());
    let main: Vec<&str> =
        calls.iter().filter(|(thread, _)| *thread == app.pid()).map(|(_, call)| &call[..]).collect();
    let began = main.iter().position(|call| call.contains("libloopbox")).context("no library was loaded")?;
    let ended = main.iter().position(|call| call.contains("SCRIPT installed")).context("no word about it")?;
    for call in &main[began..ended] {
        // The library and what it needs, by the dynamic loader.
        let loads = call.contains(".so");
        ensure!(loads || !call.starts_with("open"), "main opened a file: {call}\n{main:#?}");
        ensure!(!call.contains(&*rings.to_string_lossy()), "main went to the directory: {call}");
    }
    Ok(())
}

#[test]
fn a_report_is_flushed_once_and_not_before_the_signal_is_passed_on() -> Result<()> {
    let folder = tempdir()?;
    let home = folder.path().join("rings");
    let mut app =
        launcher("art10")?.app("scenario.Demo").argument(format!("dir={}", home.display())).start()?;
    app.wait_for("SCRIPT hang", LIMIT)?;
    let trace = Trace::of(app.pid(), folder.path())?;
    quit_traced(&app, &trace)?;
    loop {
        let told = app.wait_for("SCRIPT report", LIMIT)?;
        if told.ends_with(" sigquit") {
            break;
        }
    }
    let calls = trace.calls()?;
    let at = |what: &str, is: &dyn Fn(&str) -> bool| {
        let found: Vec<usize> = (0..calls.len()).filter(|&nth| is(&calls[nth].1)).collect();
        ensure!(!found.is_empty(), "{what}: {calls:#?}");
        Ok(found)
    };
    let first = at("no file", &|call| call.starts_with("rename") && call.contains(".lbx.new"))?;
    let passed_on = at("not passed on", &is_passed_on)?;
    assert!(first[0] < passed_on[0], "the first file comes before: {calls:#?}");
    let flushes = at("not flushed", &|call| call.contains("sync(") || call.starts_with("sync_file_range"))?;
    assert_eq!(flushes.len(), 1, "{flushes:?} {calls:#?}");
    let flush = &calls[flushes[0]].1;
    assert!(flush.contains(".lbx.new>"), "of a report, not of the directory or the ring: {flush}");
    assert!(flushes[0] > passed_on[0], "{calls:#?}");
    Ok(())
}
