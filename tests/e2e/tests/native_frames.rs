//! A main thread that hangs in native code: what the kernel reports of it, and its native frames, named by
//! symbols.

use anyhow::{Context, Result, ensure};
use lab_launch::{App, Running, reports, wait_for_report};
use lab_reports::live::{quit, wait_for_taken_signal, wait_until};
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, NativeFrameSource, NativeStack, Report, SystemCallSource};
use loopbox_format::report::decode;
use loopbox_report::{Analysis, MainWaitKind};
use loopbox_setup::workspace::{cargo, run, target};
use loopbox_testbed::to_test_on;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::{TempDir, tempdir};

/// A system call that `native_hang.rs` waits in. It is recognized by two words of `/proc/PID/syscall`, each
/// given with its position: the call's number on x86-64, and an argument that an emulator's own calls do not
/// have.
type Call = [(usize, &'static str); 2];
const READ: Call = [(0, "0"), (3, "0x1")];
const FUTEX: Call = [(0, "202"), (3, "0x4c4258")];
const CLOCK_NANOSLEEP: Call = [(0, "230"), (1, "0x1")];

/// Whether the main thread of a process sleeps in this system call.
fn sleeps_in(pid: u32, call: Call) -> bool {
    let line = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    call.iter().all(|&(at, wanted)| line.split(' ').nth(at) == Some(wanted))
}

/// How long the main thread of a process has run in its own code, in clock ticks.
fn main_ran(pid: u32) -> Result<u64> {
    let line = fs::read_to_string(format!("/proc/{pid}/task/{pid}/stat"))?;
    let (_, fields) = line.rsplit_once(") ").context("no name")?;
    Ok(fields.split(' ').nth(11).context("no utime")?.parse()?)
}

/// An app that hangs, until it is killed.
struct Hanging {
    folder: TempDir,
    app: Running,
}

/// A SIGQUIT report of an app that hangs.
struct Hang {
    _folder: TempDir,
    file: PathBuf,
    report: Report,
}

impl Hanging {
    /// Makes the app hang in one way. Waits until the kernel reports that main sleeps in this system call,
    /// or, without one, that it runs.
    fn start(testbed: &str, way: &str, call: Option<Call>) -> Result<Self> {
        let app = launcher(testbed)?.app("scenario.NativeHang");
        Self::of(app, way, call).context(testbed.to_owned())
    }

    fn of(app: App, way: &str, call: Option<Call>) -> Result<Self> {
        let folder = tempdir()?;
        let arguments = [format!("dir={}", folder.path().display()), format!("way={way}")];
        let mut app = arguments.into_iter().fold(app, App::argument).start()?;
        app.wait_for("NATIVE hangs", LIMIT)?;
        let ran = main_ran(app.pid())?;
        let hangs = || match call {
            Some(call) => sleeps_in(app.pid(), call),
            // By now it is past the call that printed the line.
            None => main_ran(app.pid()).is_ok_and(|now| now >= ran + 3),
        };
        let end = Instant::now() + LIMIT;
        while !hangs() {
            ensure!(Instant::now() < end, "main does not hang by {way}");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Self { folder, app })
    }
}

impl Hang {
    fn new(testbed: &str, way: &str, call: Option<Call>) -> Result<Self> {
        let hanging = Hanging::start(testbed, way, call)?;
        quit(&hanging.app)?;
        Self::reported(hanging).with_context(|| format!("{testbed}, {way}"))
    }

    /// The report for the signal that was sent to the hanging app.
    fn reported(Hanging { folder, mut app }: Hanging) -> Result<Self> {
        // Where it takes long to get here, the report of the hang itself is the first, without a signal's
        // stack.
        let (file, report) = wait_until("a report with a native stack", || {
            let file = wait_for_report(folder.path(), LIMIT)?;
            let report = read(&file)?;
            Ok(report.main_thread.native.is_some().then_some((file, report)))
        })
        .with_context(|| format!("{:?}", app.seen()))?;
        app.kill();
        Ok(Self { _folder: folder, file, report })
    }

    fn native(&self) -> Result<&NativeStack> {
        self.report.main_thread.native.as_ref().context("no native stack")
    }

    fn wait(&self) -> Result<loopbox_report::MainWait> {
        let analysis = Analysis::new(&decode(&fs::read(&self.file)?)?);
        analysis
            .main_wait()
            .with_context(|| format!("the kernel reported nothing: {:?}", self.report.main_thread))
    }

    /// The file names of the frames' modules, innermost first.
    fn modules(&self) -> Result<Vec<&str>> {
        let native = self.native()?;
        let name = |module: u32| native.modules[module as usize].path.rsplit('/').next().unwrap_or_default();
        Ok(native.frames.iter().map(|frame| frame.module.map_or("", name)).collect())
    }

    /// What `loopbox symbolize` prints with the host program's own file as symbols.
    fn symbolized(&self, format: &str) -> Result<String> {
        let native = self.native()?;
        let host =
            native.modules.iter().find(|module| module.path.ends_with("lab-host")).context("no host")?;
        let symbols = tempdir()?;
        fs::copy(&host.path, symbols.path().join("any-name.so"))?;
        symbolize(&self.file, symbols.path(), format)
    }
}

fn symbolize(report: &Path, symbols: &Path, format: &str) -> Result<String> {
    // With xtask next to it, it is compiled as with the whole workspace.
    run(cargo().args(["build", "--quiet", "--locked", "--package", "loopbox-cli", "--package", "xtask"]))?;
    let mut command = Command::new(target().join("debug/loopbox"));
    command.args(["symbolize", "--plain"]).arg(report).arg("--symbols").arg(symbols);
    let out = command.args(["--format", format]).output()?;
    ensure!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Ok(String::from_utf8(out.stdout)?)
}

/// The first line after the frames that names a function, with the rest of that line.
fn place_of<'a>(text: &'a str, function: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.split_once(&format!("{function} at ")).map(|(_, place)| place))
}

#[test]
fn a_spin_in_native_code_is_named_with_its_callers() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11", "art11-arm64"]) {
        let hang = Hang::new(&testbed, "spin", None)?;
        let native = hang.native()?;
        // On a busy machine it may have to wait for its turn.
        let runs = matches!(hang.wait()?.kind, MainWaitKind::Runs | MainWaitKind::Cpu);
        assert!(runs, "{testbed}: {:?}", hang.report.main_thread);
        assert_eq!(native.frames[0].source, NativeFrameSource::Pc, "{testbed}: {native:?}");
        let modules = hang.modules()?;
        let art = modules.iter().position(|name| name.starts_with("libart.so")).context("no frame of ART")?;
        assert!(modules[..art].iter().all(|name| *name == "lab-host"), "{testbed}: {modules:?}");
        // The word on top of an x86-64 stack may be a return address, too. ART's own code uses the frame
        // pointer for other things: where it has left an address of code in the place of one, the chain has
        // one frame more.
        let in_art = modules.len() - art;
        assert!(art >= 2 && (1..=2).contains(&in_art), "{testbed}: {modules:?}");
        assert!(native.modules.iter().all(|module| module.build_id.len() >= 8), "{:?}", native.modules);
        let text = hang.symbolized("text")?;
        for function in ["native_hang_spin", "native_hang_in_way"] {
            let place =
                place_of(&text, function).with_context(|| format!("{testbed}: no {function}:\n{text}"))?;
            assert!(place.contains("crates/lab-host/src/native_hang.rs:"), "{testbed}: {place}");
        }
        assert!(text.contains("symbols to look for:") && text.contains("libart.so"), "{text}");
        let progress = hang.report.main_thread.progress.context("no progress")?;
        assert!(progress.over_ns > 0, "{testbed}: {progress:?}");
    }
    Ok(())
}

#[test]
fn a_wait_in_the_c_library_is_reported_with_its_caller() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11", "art11-arm64"]) {
        let hang = Hang::new(&testbed, "futex", Some(FUTEX))?;
        let call = hang.report.main_thread.system_call.as_ref().context("no system call")?;
        // The kernel starts this call again, so the registers have it all.
        let futex = if testbed.ends_with("-arm64") { 98 } else { 202 };
        assert_eq!((call.number, call.source), (Some(futex), SystemCallSource::Registers), "{testbed}");
        assert_eq!(hang.wait()?.kind, MainWaitKind::Futex);
        let modules = hang.modules()?;
        assert!(modules[0].starts_with("libc"), "{testbed}: {modules:?}");
        let native = hang.native()?;
        assert_eq!(native.frames[1].source, NativeFrameSource::Link, "{testbed}: {native:?}");
        let text = hang.symbolized("text")?;
        for function in ["native_hang_futex", "native_hang_in_way"] {
            assert!(place_of(&text, function).is_some(), "{testbed}: no {function}:\n{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&hang.symbolized("json")?)?;
        assert_eq!(json["schema"], "loopbox.symbolize/1");
        assert_eq!(json["native"]["frames"][0]["source"], "pc");
        let frames = json["native"]["frames"].as_array().context("no frames")?;
        let named = |frame: &serde_json::Value| frame["functions"][0]["name"] == "native_hang_futex";
        assert!(frames.iter().any(named), "{testbed}: {frames:#?}");
        let libc = json["missing"]
            .as_array()
            .context("no list")?
            .iter()
            .find(|missing| missing["path"].as_str().is_some_and(|path| path.contains("libc")));
        assert!(libc.context("libc is missing")?["build_id"].as_str().is_some_and(|id| id.len() >= 16));
    }
    Ok(())
}

#[test]
fn what_main_waits_in_is_named() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11", "art11-arm64"]) {
        let read = Hang::new(&testbed, "read", Some(READ))?;
        let wait = read.wait()?;
        assert_eq!(
            (wait.kind, wait.text.as_str()),
            (MainWaitKind::Read, "waits for data to read (read, pipe)")
        );
        let sleep = Hang::new(&testbed, "sleep", Some(CLOCK_NANOSLEEP))?;
        // The signal ends a sleep. On x86-64 its number goes with it, and main may not sleep again when it is
        // read.
        let known = match sleep.wait()?.kind {
            MainWaitKind::Sleep => true,
            MainWaitKind::OtherCall => !testbed.ends_with("-arm64"),
            _ => false,
        };
        assert!(known, "{testbed}: {:?}", sleep.report.main_thread);
    }
    Ok(())
}

/// An app that starts on a busy machine: the thread that writes reports has not run yet.
#[test]
fn a_signal_that_comes_before_the_worker_runs_has_its_native_stack() -> Result<()> {
    let gates = tempdir()?;
    let gate = gates.path().join("gate");
    let app = launcher("art11")?.app("scenario.NativeHang");
    let app = app.env("LOOPBOX_FAULT", "worker").env("LOOPBOX_FAULT_UNTIL", &gate.display().to_string());
    let hanging = Hanging::of(app, "futex", Some(FUTEX))?;
    quit(&hanging.app)?;
    wait_for_taken_signal(hanging.app.pid())?;
    fs::write(&gate, "")?;
    let hang = Hang::reported(hanging)?;
    assert!(hang.native()?.frames.len() >= 3, "{:?}", hang.native());
    Ok(())
}

/// Both reports of one message use the same file.
#[test]
fn the_native_stack_of_a_signal_stays_when_its_message_becomes_a_hang() -> Result<()> {
    let (folder, mut app) = loop {
        let Hanging { folder, mut app } = Hanging::start("art10", "futex", Some(FUTEX))?;
        quit(&app)?;
        app.wait_for(" sigquit", LIMIT)?;
        // Unless this machine had no time for us for five seconds.
        if !app.seen().iter().any(|line| line.ends_with(" hang")) {
            break (folder, app);
        }
    };
    app.wait_for(" hang", LIMIT)?;
    app.kill();
    let files = reports(folder.path())?;
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let report = read(file)?;
    assert_eq!(report.meta.reason, DumpReason::Hang);
    let native = report.main_thread.native.context("no native stack")?;
    assert!(native.frames.len() >= 3, "{native:?}");
    assert!(native.captured_ns < report.meta.dumped_at.uptime_ns, "of the signal before");
    Ok(())
}

#[test]
fn without_a_signal_there_is_no_native_stack_but_the_kernels_word() -> Result<()> {
    let Hanging { folder, mut app } = Hanging::start("art11", "read", Some(READ))?;
    app.wait_for(" hang", LIMIT)?;
    app.kill();
    let report = read(&wait_for_report(folder.path(), LIMIT)?)?;
    assert_eq!(report.main_thread.native, None);
    let call = report.main_thread.system_call.context("no system call")?;
    assert_eq!(
        (call.number, call.source, call.descriptor.as_str()),
        (Some(0), SystemCallSource::Proc, "pipe")
    );
    Ok(())
}
