//! What can go wrong with the app's files while it records: on a real ART, on real file systems. The app runs
//! on in every case, and what is lost is what `docs/faults.md` documents.

use anyhow::{Context, Result, ensure};
use lab_launch::{Running, reports};
use lab_reports::live::{wait_for_ring, wait_until};
use lab_reports::{LIMIT, feature, read};
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, Feature, MainState, RecordKind, Report, Token};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use tempfile::{TempDir, tempdir};

/// An app that sends itself messages, records, and writes a report on request.
struct Shop {
    app: Running,
    asks: TempDir,
    asked: u32,
}

impl Shop {
    /// Starts the app. Calls `before` with its pid before the recorder is installed.
    fn start(directory: &Path, before: impl FnOnce(u32) -> Result<()>) -> Result<Self> {
        let asks = tempdir()?;
        let gate = asks.path().join("gate");
        let app = launcher("art10")?.app("scenario.Killed");
        let app = app.argument(format!("dir={}", directory.display()));
        let app = app.argument(format!("gate={}", gate.display()));
        let mut app = app.argument(format!("dumps={}", asks.path().display())).start()?;
        app.wait_for("SCRIPT waits", LIMIT)?;
        before(app.pid())?;
        fs::write(gate, "")?;
        app.wait_for("SCRIPT installed", LIMIT)?;
        Ok(Self { app, asks, asked: 0 })
    }

    fn plain(directory: &Path) -> Result<Self> {
        Self::start(directory, |_| Ok(()))
    }

    /// Starts the app, and waits until its ring is on the disk.
    fn recording(directory: &Path) -> Result<Self> {
        let shop = Self::plain(directory)?;
        wait_for_ring("the ring is on the disk", directory, shop.app.pid(), |_| true)?;
        Ok(shop)
    }

    /// Waits for a ring that could not be made at first. The recorder tries again by itself, and the ring
    /// then also has what was recorded before.
    fn ring_comes(&mut self, directory: &Path) -> Result<()> {
        // As far back as there is room.
        let from_the_first_on = |report: &Report| {
            report.history.len() >= 100 || report.history.iter().any(|record| record.first_token == Token(1))
        };
        wait_for_ring("the ring is on the disk", directory, self.app.pid(), from_the_first_on)?;
        self.lives()?;
        ensure!(feature(&self.report()?, Feature::Ring).0, "the reports do not say so");
        Ok(())
    }

    /// Requests a report. Returns the message that requested it, and the report if there is one.
    fn ask(&mut self) -> Result<(u64, Option<PathBuf>)> {
        fs::write(self.asks.path().join(self.asked.to_string()), "")?;
        let line = self.app.wait_for(&format!("SCRIPT dumped {}", self.asked), LIMIT)?;
        self.asked += 1;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, path, _, message] = words[..] else { anyhow::bail!("{line}") };
        Ok((message.parse()?, (path != "none").then(|| path.into())))
    }

    /// Requests a report that must come, and checks that every sent message is in it.
    fn report(&mut self) -> Result<Report> {
        let (message, path) = self.ask()?;
        let report = read(&path.context("no report")?)?;
        all_counted(&report, message)?;
        Ok(report)
    }

    /// Waits until the app has handled some more messages.
    fn lives(&mut self) -> Result<()> {
        (0..3).try_for_each(|_| self.app.wait_for("SCRIPT end", LIMIT).map(drop))
    }
}

/// Checks that every message before the running one, which has the number `message`, is counted once in the
/// history.
fn all_counted(report: &Report, message: u64) -> Result<()> {
    let MainState::Running(running) = &report.main else { anyhow::bail!("main is {:?}", report.main) };
    ensure!(running.token == Token(message), "message {} runs, not {message}", running.token);
    let counting = |kind| matches!(kind, RecordKind::Group | RecordKind::Single);
    let counted: u64 = report.history.iter().filter(|r| counting(r.kind)).map(|r| u64::from(r.count)).sum();
    ensure!(counted == message - 1, "{counted} of {} messages are counted", message - 1);
    Ok(())
}

fn names(directory: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn ring_of(directory: &Path, pid: u32) -> Result<PathBuf> {
    let is_it = |name: &String| name.contains(&format!("-{pid}-")) && name.contains(".lbr");
    let name = names(directory)?.into_iter().find(is_it);
    Ok(directory.join(name.with_context(|| format!("no ring of process {pid}"))?))
}

/// A separate file system, unmounted when the value is dropped. Mounting needs root, which CI has.
struct Disk(TempDir);

impl Disk {
    fn new(kib: u32) -> Result<Self> {
        let disk = Self(tempdir()?);
        disk.mount(&["-t", "tmpfs", "-o", &format!("size={kib}k,mode=0700"), "tmpfs"])?;
        Ok(disk)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn mount(&self, arguments: &[&str]) -> Result<()> {
        let done = Command::new("mount").args(arguments).arg(self.path()).status()?;
        ensure!(done.success(), "mount {arguments:?} failed: these tests need to be root");
        Ok(())
    }

    /// Fills all the free space.
    fn fill(&self) -> Result<()> {
        let full = fs::write(self.filler(), vec![1; 64 << 20]);
        ensure!(full.is_err(), "the disk is not full");
        Ok(())
    }

    fn empty(&self) -> Result<()> {
        Ok(fs::remove_file(self.filler())?)
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn only_in_memory(report: &Report, why: &str) -> Result<()> {
    let (on, how) = feature(report, Feature::Ring);
    ensure!(!on && how.starts_with("only in memory: ") && how.contains(why), "ring: {on}, {how}");
    Ok(())
}

#[test]
fn a_disk_that_is_full_from_the_start() -> Result<()> {
    let disk = Disk::new(128)?;
    disk.fill()?;
    let mut shop = Shop::plain(disk.path())?;
    ensure!(shop.ask()?.1.is_none(), "a report on a full disk");
    shop.lives()?;
    assert_eq!(names(disk.path())?, ["filler"], "nothing is left of the attempts");
    disk.empty()?;
    only_in_memory(&shop.report()?, "No space left on device")
}

/// Storage that becomes available later, as on a device that its user has not unlocked yet.
#[test]
fn a_directory_that_cannot_be_had_at_first() -> Result<()> {
    let folder = tempdir()?;
    let locked = folder.path().join("locked");
    fs::write(&locked, "not a directory yet")?;
    let directory = locked.join("loopbox");
    let mut shop = Shop::plain(&directory)?;
    ensure!(shop.ask()?.1.is_none(), "a report without a directory");
    shop.lives()?;
    fs::remove_file(&locked)?;
    shop.report()?;
    shop.ring_comes(&directory)
}

#[test]
fn a_disk_that_fills_up_later() -> Result<()> {
    let disk = Disk::new(600)?;
    let mut shop = Shop::recording(disk.path())?;
    disk.fill()?;
    ensure!(shop.ask()?.1.is_none(), "a report on a full disk");
    shop.lives()?;
    let ring = ring_of(disk.path(), shop.app.pid())?;
    assert_eq!(names(disk.path())?.len(), 2, "nothing is left of the attempt");
    let recovered = loopbox_store::recover(&fs::read(ring)?)?;
    // The one that is being copied while it is read here.
    assert!(recovered.damage.len() <= 1, "{:?}", recovered.damage);
    disk.empty()?;
    assert!(feature(&shop.report()?, Feature::Ring).0, "the ring was there before the disk was full");
    Ok(())
}

#[test]
fn a_directory_that_is_read_only() -> Result<()> {
    let disk = Disk::new(600)?;
    disk.mount(&["-o", "remount,ro"])?;
    let mut shop = Shop::plain(disk.path())?;
    ensure!(shop.ask()?.1.is_none(), "a report on a read-only disk");
    shop.lives()?;
    disk.mount(&["-o", "remount,rw"])?;
    shop.ring_comes(disk.path())
}

/// A limit on the size of files is to one process what a quota is to a user. Exceeding it would raise
/// SIGXFSZ, which ends a process.
#[test]
fn a_limit_on_the_size_of_files() -> Result<()> {
    let folder = tempdir()?;
    let limit = |pid: u32, bytes: &str| {
        let done = Command::new("prlimit")
            .args(["--pid", &pid.to_string(), &format!("--fsize={bytes}:")])
            .status()?;
        ensure!(done.success(), "prlimit failed");
        Ok(())
    };
    let mut shop = Shop::start(folder.path(), |pid| limit(pid, "1000"))?;
    ensure!(shop.ask()?.1.is_none(), "a report beyond the limit");
    shop.lives()?;
    assert_eq!(names(folder.path())?.len(), 0, "nothing is left of the attempts");
    limit(shop.app.pid(), "100000")?;
    only_in_memory(&shop.report()?, "File too large")
}

#[test]
fn a_directory_that_is_deleted_while_the_app_runs() -> Result<()> {
    let folder = tempdir()?;
    let directory = folder.path().join("loopbox");
    let mut shop = Shop::recording(&directory)?;
    shop.report()?;
    fs::remove_dir_all(&directory)?;
    shop.lives()?;
    // The ring lives on without a name, the report in a directory made anew.
    shop.report()?;
    assert_eq!(reports(&directory)?.len(), 1);
    fs::remove_dir_all(&directory)?;
    fs::write(&directory, "not a directory any more")?;
    ensure!(shop.ask()?.1.is_none(), "a report in a file");
    shop.lives()
}

/// How often the main thread was stopped for a stack.
fn stops(report: &Report) -> Result<u64> {
    let stops = report.statistics.iter().find(|statistic| statistic.name == "sampler.windows");
    stops.context("no sampler")?.value.parse().context("a number of stops")
}

/// No code of the app can shorten the ring's file by mistake, but root can. After that the recorder still
/// writes to the file what changes in the ring, whatever the file's length is then.
#[test]
fn a_ring_that_is_shortened_does_the_app_no_harm() -> Result<()> {
    let folder = tempdir()?;
    let mut shop = Shop::recording(folder.path())?;
    shop.report()?;
    let (pid, ring) = (shop.app.pid(), ring_of(folder.path(), shop.app.pid())?);
    // As another process of the app's user may do it: what a user owns he may write.
    fs::set_permissions(&ring, Permissions::from_mode(0o600))?;
    let file = fs::OpenOptions::new().write(true).open(&ring)?;
    for len in [4_096, 0] {
        file.set_len(len)?;
        shop.lives()?;
        wait_until("what came since is in the file", || {
            Ok((fs::metadata(&ring)?.len() > 4_096).then_some(()))
        })?;
        // Main is stopped for it, with the fuse marked before, meanwhile and after.
        let stops = stops(&shop.report()?)?;
        wait_until("main was stopped again", || {
            shop.lives()?;
            Ok((self::stops(&shop.report()?)? > stops).then_some(()))
        })?;
    }
    shop.app.kill();
    let mut next = Shop::plain(folder.path())?;
    next.report()?;
    wait_until("what is left of the ring was read and deleted", || {
        Ok(ring_of(folder.path(), pid).is_err().then_some(()))
    })
}

#[test]
fn processes_of_one_app_keep_their_rings_and_adopt_the_dead_ones() -> Result<()> {
    let folder = tempdir()?;
    let mut main = Shop::recording(folder.path())?;
    let mut push = Shop::recording(folder.path())?;
    push.lives()?;
    let (kept, left) = (ring_of(folder.path(), main.app.pid())?, ring_of(folder.path(), push.app.pid())?);
    let inode = fs::metadata(&kept)?.ino();
    push.app.kill();
    let mut third = Shop::plain(folder.path())?;
    third.report()?;
    main.lives()?;
    assert!(!left.exists(), "the killed process's ring is adopted");
    assert_eq!(fs::metadata(&kept)?.ino(), inode, "the living process's ring is its own");
    assert!(feature(&main.report()?, Feature::Ring).0);
    Ok(())
}

/// An app that was killed in hang after hang and never lived long enough to tidy up.
#[test]
fn the_room_that_files_take_is_bounded() -> Result<()> {
    let folder = tempdir()?;
    let mut app = launcher("art10")?
        .app("scenario.Killed")
        .argument(format!("dir={}", folder.path().display()))
        .start()?;
    app.wait_for("SCRIPT begin 8", LIMIT)?;
    let pid = app.pid();
    let hung = |report: &Report| matches!(&report.main, MainState::Running(running) if running.age_ns() >= 1_000_000_000);
    wait_for_ring("a message ran so long that its end is worth a report", folder.path(), pid, hung)?;
    app.kill();
    let ring = ring_of(folder.path(), pid)?;
    let old = |path: &Path, age: Duration| fs::File::open(path)?.set_modified(SystemTime::now() - age);
    for nth in 1..=11 {
        let copy = folder.path().join(format!("ring-0badcafe-{nth}-7.lbr"));
        fs::copy(&ring, &copy)?;
        old(&copy, Duration::from_mins(nth))?;
    }
    let ancient = folder.path().join("ring-0badcafe-99-7.lbr");
    fs::copy(&ring, &ancient)?;
    old(&ancient, Duration::from_hours(15 * 24))?;
    for nth in 0..20 {
        let report = folder.path().join(format!("older-{nth}.lbx"));
        fs::write(&report, [0; 1000])?;
        old(&report, Duration::from_hours(nth + 1))?;
    }
    let unfinished = folder.path().join("loopbox-1-2-3.9.lbx.new");
    fs::write(&unfinished, "half")?;
    old(&unfinished, Duration::from_hours(1))?;
    fs::write(folder.path().join("of-the-app.txt"), "stays")?;

    let mut shop = Shop::plain(folder.path())?;
    let newest = shop.ask()?.1.context("no report")?;
    let left = names(folder.path())?;
    let count = |suffix: &str| left.iter().filter(|name| name.contains(suffix)).count();
    assert_eq!(count(".lbr"), 1, "only the living process's ring: {left:?}");
    assert_eq!(count(".lbx"), 17, "the one that was asked for takes no room from the others: {left:?}");
    assert!(newest.exists() && count("of-the-app.txt") == 1, "{left:?}");
    // Of twelve recent rings the newest eight are adopted.
    let recovered = left.iter().filter(|name| name.contains("recovered")).count();
    assert!((1..=8).contains(&recovered), "{left:?}");
    let one = left.iter().find(|name| name.contains("recovered")).context("none recovered")?;
    let report = read(&folder.path().join(one))?;
    assert_eq!(report.meta.reason, DumpReason::Recovered { crash_signal: None });
    Ok(())
}
