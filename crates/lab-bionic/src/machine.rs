//! A machine with pages of 16 KiB: Debian's kernel for such pages in a system emulator. Its file system has
//! only the shipped library, the program `drive` that calls it, and what both need: the C library of the
//! arm64 testbed, and substitutes for Android's libraries.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lab_launch::{Shipped, shipped};
use loopbox_android_pack::Abi;
use loopbox_format::model::DumpReason;
use loopbox_format::report::Decoded;
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, ByteLimit};
use loopbox_setup::apt;
use loopbox_setup::command::run;
use loopbox_setup::fetch::{Deb, Fetcher};
use loopbox_setup::files::sha256_file;
use loopbox_setup::progress::Progress;
use loopbox_setup::unpack::one_file;
use loopbox_testbed::{self as testbed, Arch};

use crate::cpio::Archive;
use crate::device::{Level, Row};
use crate::driver::{CHAIN, compile_for_arm64};
use crate::scenario::{Ended, Held, SCENARIOS, Stage, all, empty, play as play_scenario};

/// The testbed with the C library.
const TESTBED: &str = "art11-arm64";
/// The kernel's package, and the release of Debian that it is from.
const KERNEL: (&str, &str) = ("linux-image-arm64-16k", "trixie");
const PAGE: &str = "16384";
/// The emulator, and the package that has it.
const EMULATOR: (&str, &str) = ("qemu-system-aarch64", "qemu-system-arm");
/// How long the emulator may run at most. All scenarios together take some ten seconds.
const LIMIT: Duration = Duration::from_mins(10);
/// `memory.high` of the cgroup in bytes. It is less than half of the heap that the driver fills, and twice
/// what the driver needs before it fills that heap.
const LIMIT_BYTES: u64 = 96 << 20;
/// The testbed's libraries that the programs on the machine need, in addition to the substitutes for
/// Android's libraries.
const LIBRARIES: [&str; 5] =
    ["ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6"];

/// Boots the machine and runs all scenarios on it. Files are made below `out`.
///
/// # Errors
/// When the machine cannot be set up, does not boot, or has pages of another size.
pub fn play(out: &Path) -> Result<Row> {
    let out = empty(out.join("machine"))?;
    let kernel = kernel(&out)?;
    let archive = file_system(&out)?;
    let begun = Instant::now();
    let machine = Machine::boot(&kernel, &archive, &out)?;
    let mut scenarios: Vec<_> =
        SCENARIOS.into_iter().map(|(name, scenario)| (name, scenario(&machine))).collect();
    // The last one: what is started from then on has the limit.
    scenarios.push(("memory above its cgroup's limit", limited(&machine)));
    let folder = format!("Linux {}, pages of {PAGE} bytes", machine.release);
    machine.off()?;
    Ok(Row { folder, level: Level::NoAndroid, abi: Abi::Arm64, scenarios, took: begun.elapsed() })
}

/// Checks that the kernel makes main wait when its cgroup uses more memory than the limit, and that the
/// report shows the wait. Without a limit the report must show no wait.
fn limited(machine: &Machine) -> Result<()> {
    let free = hang_in_memory(machine, "free")?;
    let root = free.memory_limit().context("nothing about memory")?;
    ensure!(root.refused.is_some() && root.high.is_none(), "the root of all cgroups has no limit: {root:?}");
    let causes = diagnose(&free).causes;
    ensure!(causes.iter().all(|cause| cause.rule != "memory"), "without a limit: {causes:?}");
    let (failed, _) = machine.ask(&format!("limit {LIMIT_BYTES}"))?;
    ensure!(failed == 0, "no cgroup with a limit can be made: error {failed}");
    let report = hang_in_memory(machine, "limited")?;
    let limit = report.memory_limit().context("nothing about memory")?;
    ensure!(limit.high == Some(ByteLimit::Bytes(LIMIT_BYTES)), "another limit: {limit:?}");
    ensure!(limit.max == Some(ByteLimit::Unlimited), "a hard limit: {limit:?}");
    ensure!(limit.current_bytes >= Some(LIMIT_BYTES), "it is not met: {limit:?}");
    let (_, lately) =
        limit.lately.with_context(|| format!("nothing between suspicion and report: {limit:?}"))?;
    ensure!(lately.high_times > Some(0) && lately.stalled_us > Some(0), "{limit:?}");
    let verdict = diagnose(&report);
    let cause = verdict.primary_cause().with_context(|| format!("no cause: {verdict:?}"))?;
    // Nobody samples there, so it is not sure.
    ensure!(cause.rule == "memory", "{verdict:?}");
    Ok(())
}

/// The report of a process whose main thread filled more memory than [`LIMIT_BYTES`] in a message.
fn hang_in_memory(machine: &Machine, folder: &str) -> Result<Analysis> {
    play_scenario(machine, "memory", folder)?;
    let reports = all(&machine.folder(folder)?)?;
    let hang = reports.into_iter().find(|report| report.meta.reason == DumpReason::Hang);
    let report = hang.context("no report of a hang")?;
    Ok(Analysis::new(&Decoded { report, damage: Vec::new() }))
}

/// Takes the kernel's image out of its package.
fn kernel(out: &Path) -> Result<PathBuf> {
    let progress = Progress::new("machine");
    let file = Fetcher::new(&progress)?.behind(KERNEL.0, KERNEL.1, Arch::Arm64)?;
    let name = run(Command::new("dpkg-deb").arg("--field").arg(&file).arg("Package"))?;
    let release = name.trim().strip_prefix("linux-image-").context("a package of something else")?;
    let deb = Deb { sha256: sha256_file(&file)?, file };
    let image = out.join("kernel");
    one_file(&deb, &format!("boot/vmlinuz-{release}"), &image)?;
    Ok(image)
}

/// All files of the machine, as one archive.
fn file_system(out: &Path) -> Result<PathBuf> {
    let testbed = testbed::ensure(TESTBED)?;
    compile_for_arm64(&testbed, out)?;
    let Shipped { libraries, stand_ins, .. } = shipped(Abi::Arm64, &testbed)?;
    let mut archive = Archive::default();
    archive.console();
    archive.folder("lib");
    for name in LIBRARIES {
        archive.copy(&format!("lib/{name}"), &testbed.dir.join("lib").join(name))?;
    }
    let mut preload = Vec::new();
    for stand_in in &stand_ins {
        let name = stand_in.file_name().context("a library without a name")?.to_string_lossy();
        archive.copy(&format!("lib/{name}"), stand_in)?;
        preload.push(format!("/lib/{name}"));
    }
    for name in ["init", "drive", CHAIN, "libart.so"] {
        archive.copy(name, &out.join(name))?;
    }
    archive.copy("libloopbox.so", &libraries.join("libloopbox.so"))?;
    let variables = format!("LD_LIBRARY_PATH=/lib\nLD_PRELOAD={}\n", preload.join(":"));
    archive.file("variables", variables.as_bytes());
    let file = out.join("files.cpio");
    fs::write(&file, archive.finish()).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// A running machine. It is ended when it is dropped.
struct Machine {
    emulator: Child,
    /// The connection to and from its first process (`machine/init.c`).
    port: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    /// What the kernel prints.
    console: PathBuf,
    out: PathBuf,
    release: String,
    _limit: Sender<()>,
}

impl Machine {
    fn boot(kernel: &Path, files: &Path, out: &Path) -> Result<Self> {
        let works = Command::new(EMULATOR.0).arg("--version").stdout(Stdio::null()).status();
        if !works.is_ok_and(|status| status.success()) {
            apt::install(&[EMULATOR.1])?;
        }
        let console = out.join("console.txt");
        let errors = out.join("emulator.txt");
        let mut emulator = Command::new(EMULATOR.0);
        // The real cipher of signed return addresses costs as much as everything else together.
        emulator.args(["-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2", "-m", "1024"]);
        emulator.args(["-nodefaults", "-display", "none", "-no-reboot", "-nic", "none"]);
        emulator.arg("-kernel").arg(kernel).arg("-initrd").arg(files);
        emulator.args(["-append", "console=ttyAMA0 rdinit=/init panic=-1 psi=1 quiet"]);
        emulator.arg("-serial").arg(format!("file:{}", console.display()));
        emulator.args(["-chardev", "stdio,id=commands,signal=off", "-device", "virtio-serial-pci"]);
        emulator.args(["-device", "virtserialport,chardev=commands"]);
        let errors = File::create(&errors).with_context(|| format!("cannot create {}", errors.display()))?;
        let mut emulator = emulator
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .with_context(|| format!("cannot start {}", EMULATOR.0))?;
        let to = emulator.stdin.take().context("no standard input")?;
        let from = BufReader::new(emulator.stdout.take().context("no standard output")?);
        let out = out.to_owned();
        let port = RefCell::new((to, from));
        let limit = end_in_time(emulator.id());
        let mut machine = Self { emulator, port, console, out, release: String::new(), _limit: limit };
        let first = machine.line()?;
        let words: Vec<&str> = first.split_whitespace().collect();
        let [release, page, reads] = words[..] else { bail!("it says {first:?} first") };
        ensure!(page == PAGE, "its pages have {page} bytes");
        ensure!(reads == "1", "its process_vm_readv does not answer as a kernel's does");
        release.clone_into(&mut machine.release);
        Ok(machine)
    }

    fn line(&self) -> Result<String> {
        let mut line = String::new();
        let count = self.port.borrow_mut().1.read_line(&mut line).context("cannot read from the machine")?;
        ensure!(
            count > 0,
            "the machine has gone off, or has run for {} minutes; its console: {}",
            LIMIT.as_secs() / 60,
            self.console.display()
        );
        Ok(line.trim_end().to_owned())
    }

    /// Sends a question to the first process. Returns its answer: a number and bytes.
    fn ask(&self, question: &str) -> Result<(i64, Vec<u8>)> {
        writeln!(self.port.borrow_mut().0, "{question}").context("cannot write to the machine")?;
        let line = self.line()?;
        let numbers = line
            .split_once(' ')
            .and_then(|(number, length)| Some((number.parse::<i64>().ok()?, length.parse::<usize>().ok()?)));
        let (number, length) = numbers.with_context(|| format!("to {question} it says {line:?}"))?;
        let mut bytes = vec![0; length];
        self.port.borrow_mut().1.read_exact(&mut bytes).context("an answer that ends early")?;
        Ok((number, bytes))
    }

    fn off(mut self) -> Result<()> {
        writeln!(self.port.borrow_mut().0, "off").context("cannot write to the machine")?;
        let status = self.emulator.wait().context("cannot wait for the emulator")?;
        ensure!(status.success(), "the emulator ended with {status}");
        Ok(())
    }
}

/// Ends the emulator after the time limit, because a guest that hangs does not respond. Dropping the result
/// cancels that.
fn end_in_time(emulator: u32) -> Sender<()> {
    let (over, wait) = channel();
    thread::spawn(move || {
        if wait.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            // It may have ended by itself.
            let _ = Command::new("kill").arg("-KILL").arg(emulator.to_string()).status();
        }
    });
    over
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.emulator.kill();
        let _ = self.emulator.wait();
    }
}

impl Stage for Machine {
    fn play(&self, scenario: &str, folder: &str) -> Result<Ended> {
        let (code, said) = self.ask(&format!("play {scenario} {folder}"))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(Ended { success: code == 0, how: format!("exit code {code}"), said })
    }

    fn hold(&self, folder: &str) -> Result<Box<dyn Held + '_>> {
        let (process, said) = self.ask(&format!("hold {folder}"))?;
        let process = u32::try_from(process).unwrap_or_default();
        ensure!(process > 0, "the driver has ended before: {}", String::from_utf8_lossy(&said));
        Ok(Box::new(InMachine { machine: self, process }))
    }

    fn folder(&self, name: &str) -> Result<PathBuf> {
        let (count, bytes) = self.ask(&format!("files {name}"))?;
        let folder = empty(self.out.join(name))?;
        let mut rest = bytes.as_slice();
        for _ in 0..count {
            let (file, content, after) = first_file(rest).context("no list of files")?;
            fs::write(folder.join(file), content).with_context(|| format!("cannot write {file}"))?;
            rest = after;
        }
        Ok(folder)
    }
}

/// The first of several files: its name and its bytes, and the data after it.
fn first_file(bytes: &[u8]) -> Option<(&str, &[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (name, size) = std::str::from_utf8(bytes.get(..end)?).ok()?.split_once(' ')?;
    let (content, after) = bytes.get(end + 1..)?.split_at_checked(size.parse().ok()?)?;
    Some((name, content, after))
}

struct InMachine<'a> {
    machine: &'a Machine,
    process: u32,
}

impl Held for InMachine<'_> {
    fn process(&self) -> u32 {
        self.process
    }

    fn kill(&mut self) -> Result<()> {
        let (status, _) = self.machine.ask("kill")?;
        ensure!(status == 9, "it had ended by itself: {status:#x}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_one_after_the_other() {
        let (name, content, rest) = first_file(b"a.lbx 3\na\nbb 1\nc").unwrap();
        assert_eq!((name, content), ("a.lbx", &b"a\nb"[..]));
        assert_eq!(first_file(rest), Some(("b", &b"c"[..], &b""[..])));
        assert_eq!(first_file(b""), None);
        assert_eq!(first_file(b"a 9\nab"), None, "cut");
    }
}
