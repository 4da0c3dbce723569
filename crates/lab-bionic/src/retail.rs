//! The scripted apps on a retail runtime of Android 5: the device's own `dalvikvm`, core library and C
//! library, together with Loopbox's shipped library and its Java half. The message queue and the display are
//! classes of the testbeds.
//!
//! Later runtimes need a boot image and services of a running system, which a folder does not have.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use lab_launch::{reports, scripted_apps};
use lab_reports::live::{running_tree, wait_for_ring, wait_until};
use lab_reports::{feature, read, stacks_of};
use loopbox_android_pack::Abi;
use loopbox_android_pack::device::Device;
use loopbox_format::model::{DumpReason, Feature, MainState, Report};
use loopbox_setup::command::run;
use loopbox_setup::jar;
use loopbox_setup::workspace::root;
use loopbox_testbed as testbed;

use crate::device::{HERE, Level, Root, Row, plain};
use crate::driver::compile_for_retail;
use crate::scenario::empty;

/// The testbed whose framework classes are used.
const TESTBED: &str = "art10";
/// The API levels of Android 5.
const LEVELS: [u32; 2] = [21, 22];
/// The version of dex files that Android 5 reads.
const OLDEST_DEX: &[u8] = b"035\0";
/// The stack size for the emulator, in bytes: the runtime needs more than the emulator's default.
const STACK: &str = "33554432";
/// The age from which the demo's message counts as a hang.
const HANG_MS: u64 = 1_500;
const NS_PER_MS: u64 = 1_000_000;
const HUNG: &str = "CheckoutActivity.onPay";

/// Runs two scenarios on a device's runtime, in a root made below `out`: the demo, and the demo killed in its
/// hang.
///
/// # Errors
/// When the root or the apps cannot be made, or the device has no runtime of Android 5.
pub fn play(device: &Device, library: &Path, out: &Path) -> Result<Row> {
    let level = device.level();
    ensure!(
        level.is_some_and(|level| LEVELS.contains(&level)),
        "its API level is {level:?}, and only the runtimes of 21 and 22 start without a system around them"
    );
    let files = ["system/bin/dalvikvm32", "system/framework/core-libart.jar", "system/usr/icu"];
    for file in files {
        ensure!(device.root().join(file).exists(), "it has no {file}");
    }
    let root = Root::make(device, Abi::Arm, library, &out.join(format!("{}-runtime", device.name())))?;
    let runtime = Runtime { here: root.folder.join(plain(HERE)), root, level: level.unwrap_or_default() };
    runtime.prepare(device)?;
    let begun = Instant::now();
    let scenarios =
        vec![("the demo", runtime.demo()), ("kill -9 in its hang, and the next launch", runtime.killed())];
    Ok(Row {
        folder: device.name(),
        level: Level::of(device),
        abi: Abi::Arm,
        scenarios,
        took: begun.elapsed(),
    })
}

struct Runtime {
    root: Root,
    /// The folder with the apps and their libraries, below the root.
    here: PathBuf,
    level: u32,
}

impl Runtime {
    /// Copies the apps, the framework's classes and their native parts into `here`.
    fn prepare(&self, device: &Device) -> Result<()> {
        let testbed = testbed::ensure(TESTBED)?;
        let boot = self.here.join("boot.jar");
        testbed.dex(&[root().join("crates/lab-bionic/retail/Boot.java")], &[], &boot)?;
        let framework = testbed.dir.join("framework.jar");
        for (jar, name) in
            [(&boot, "boot.jar"), (&framework, "framework.jar"), (&scripted_apps(&testbed)?, "apps.jar")]
        {
            as_oldest_dex(jar, &self.here.join(name))?;
        }
        // Where it would keep code that it has compiled.
        let cache = self.root.folder.join("data/dalvik-cache/arm");
        fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
        compile_for_retail(device, &self.here)
    }

    /// Runs the demo (bursts of messages, one that throws, a hang), sends SIGQUIT in the hang, and checks the
    /// report.
    fn demo(&self) -> Result<()> {
        let folder = empty(self.here.join("demo"))?;
        let process = self.start("demo")?;
        process.hangs(&folder)?;
        run(Command::new("kill").args(["-QUIT", &process.id()]))?;
        check_report(&first(&folder, &DumpReason::SigQuit)?)
    }

    /// Kills a process in its hang, and checks that the next launch reports the hang.
    fn killed(&self) -> Result<()> {
        let folder = empty(self.here.join("killed"))?;
        let process = self.start("killed")?;
        process.hangs(&folder)?;
        drop(process);
        let _next = self.start("killed")?;
        check_report(&first(&folder, &DumpReason::Recovered { crash_signal: None })?)
    }

    /// Starts the demo; what it prints goes into a file.
    fn start(&self, folder: &str) -> Result<Process> {
        let said = self.here.join(folder).with_extension("said");
        let file = File::create(&said).with_context(|| format!("cannot create {}", said.display()))?;
        let errors = file.try_clone().context("cannot use a file twice")?;
        let mut command = self.command(folder);
        let child = command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn();
        Ok(Process { child: child.context("cannot start the runtime")?, said })
    }

    /// The command that runs the demo on the runtime. The runtime checks each call of JNI, and ends the
    /// process for a wrong one.
    fn command(&self, folder: &str) -> Command {
        let here = |name: &str| format!("{HERE}/{name}");
        let libraries = format!("LD_LIBRARY_PATH=/system/lib:{HERE}");
        let preload = format!("LD_PRELOAD={}", here("libmachine.so"));
        let variables = ["ANDROID_ROOT=/system", "ANDROID_DATA=/data", &libraries, &preload];
        let mut enter = self.root.enter(&["-s", STACK, "-E", &variables.join(",")]);
        enter.arg("/system/bin/dalvikvm32");
        enter.arg(format!("-Xbootclasspath:/system/framework/core-libart.jar:{}", here("framework.jar")));
        enter.args(["-Ximage:/nonexistent.art", "-Xnodex2oat", "-Xint", "-Xmx128m", "-Xcheck:jni"]);
        enter.arg(format!("-Dloopbox.sdk={}", self.level));
        enter.arg("-cp").arg(format!("{}:{}", here("boot.jar"), here("apps.jar"))).arg("Boot");
        enter.arg(here("libframework.so")).arg("scenario.Demo");
        enter.arg(format!("dir={}", here(folder)));
        enter
    }
}

/// A runtime, and the file with its output. It is killed when it is dropped.
struct Process {
    child: Child,
    said: PathBuf,
}

impl Process {
    fn id(&self) -> String {
        self.child.id().to_string()
    }

    /// Waits until the process's ring has a hang with stacks.
    fn hangs(&self, folder: &Path) -> Result<()> {
        let hangs = |report: &Report| age_ms(report) >= Some(HANG_MS) && running_tree(report).is_some();
        let ring = wait_for_ring("a ring with a hang and its stacks", folder, self.child.id(), hangs);
        ring.map(drop).with_context(|| fs::read_to_string(&self.said).unwrap_or_default())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Copies a jar, and gives its dex file the version number that Android 5 reads. No checksum of the file
/// covers that number. The file does not use the features that later versions added (code in interfaces,
/// method handles).
fn as_oldest_dex(jar: &Path, out: &Path) -> Result<()> {
    let mut dex = jar::read_entry(jar, "classes.dex")?;
    let version = dex.get_mut(4..8).with_context(|| format!("no dex in {}", jar.display()))?;
    version.copy_from_slice(OLDEST_DEX);
    jar::write(out, &[("classes.dex".to_owned(), dex)])
}

/// Waits for a report that has this reason.
fn first(folder: &Path, reason: &DumpReason) -> Result<Report> {
    wait_until(&format!("a report of {reason:?}"), || {
        let all = reports(folder)?.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
        Ok(all.into_iter().find(|report| report.meta.reason == *reason))
    })
}

/// Checks that the hook is the Printer, and that stacks were taken by the public API and show the hang.
fn check_report(report: &Report) -> Result<()> {
    let parts =
        [(Feature::Hook, "Printer"), (Feature::Sampler, "by Thread.getStackTrace"), (Feature::Ring, "")];
    for (part, by) in parts {
        let (on, how) = feature(report, part);
        ensure!(on && how.starts_with(by), "{part:?} is {}: {how}", if on { "on" } else { "off" });
    }
    let age = age_ms(report);
    ensure!(age >= Some(HANG_MS), "the message is {age:?} ms old");
    ensure!(report.history.len() > 5, "{} records", report.history.len());
    let tree = report.trees.last().context("no stacks")?;
    let stacks = stacks_of(report, tree)?;
    let hung = stacks.iter().any(|(frames, _)| frames.iter().any(|frame| frame.short() == HUNG));
    ensure!(hung, "no stack of {HUNG}");
    Ok(())
}

fn age_ms(report: &Report) -> Option<u64> {
    match &report.main {
        MainState::Running(running) => Some(running.age_ns() / NS_PER_MS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dex_becomes_one_that_android_5_reads() {
        let folder = tempfile::tempdir().unwrap();
        let (jar, out) = (folder.path().join("a.jar"), folder.path().join("b.jar"));
        let write = |dex: &[u8]| jar::write(&jar, &[("classes.dex".to_owned(), dex.to_vec())]).unwrap();
        write(b"dex\n039\0checksum");
        as_oldest_dex(&jar, &out).unwrap();
        assert_eq!(jar::read_entry(&out, "classes.dex").unwrap(), b"dex\n035\0checksum");
        write(b"dex");
        assert!(as_oldest_dex(&jar, &out).unwrap_err().to_string().starts_with("no dex in "));
    }
}
