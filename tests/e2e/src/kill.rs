//! kill -9 at random moments of an app that records on a real ART, and what the next launch recovers.
//!
//! `scenario.Killed` prints each message's start and end on its standard output, which outlives the app as
//! the ring does. So the test knows what the recorder must have: every message that had ended half a second
//! before the kill. If a hang was running at that instant, the recorder must have its duration until then.
//! Each process that starts adopts the ring of the one killed before it, as on a device.
//!
//! The half second is the recorder's rule. The time that the recorder's threads had to wait for a processor
//! is added, as the kernel counts it. When one of them is waiting at the moment of the kill, that time is not
//! known, and the rule is not applied to that process.

use crate::launcher;
use anyhow::{Context, Result, ensure};
use lab_launch::Launcher;
use lab_reports::live::{running_tree, tree_of, uptime_ns, wait_for_ring};
use lab_reports::{Frame, LIMIT, read, stacks_of};
use loopbox_format::model::{DumpReason, Feature, MainState, RecordKind, Report, Token, Uptime};
use loopbox_store::{FuseState, Recovered, recover};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::tempdir;

/// A process is killed at a random moment within this time after the recorder is installed. The time covers
/// some messages, a hang, some more messages, and half a hang.
const WINDOW: Duration = Duration::from_millis(6_500);
/// A killed process is worth a report when its message has run for at least this long. The same value as
/// `MIN_HANG_NS` in `loopbox-agent/src/report/previous_runs.rs`.
const HUNG_NS: u64 = 1_000_000_000;

/// By the recorder's rule, records of the last half second before the kill may be lost; in nanoseconds.
const LOST_NS: u64 = 500_000_000;
/// The time allowed in addition for the recorder's threads to copy the ring and for their other work.
const WORK_NS: u64 = 150_000_000;
/// How many exits of an app's processes the system keeps (`ApplicationExitInfo`).
const KEPT_EXITS: usize = 16;
/// How long the threads of a process are watched before its end.
const WATCHED: Duration = Duration::from_millis(800);

/// The results of all runs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Figures {
    /// How many processes were killed.
    pub runs: usize,
    /// Messages that the processes had announced.
    pub messages: u64,
    /// Slots whose copy was cut off.
    pub cut: usize,
    /// Processes whose recorder was waiting for a processor or a disk.
    pub starved: usize,
    /// The greatest loss, in nanoseconds: the longest time between the end of a message that is not in the
    /// ring, and the kill.
    pub lost_ns: u64,
    /// Processes killed while main was stopped for a stack.
    pub open_fuses: usize,
    /// Processes killed in a hang that deserves a report.
    pub hangs: usize,
    /// Reports of the killed hangs, made by the next launch, that name the message and its stack.
    pub named: usize,
    /// Reports without a stack of the hang, because none was in the ring yet: stacks are saved twice a
    /// second.
    pub too_young: usize,
    /// Reports without a stack of the hang, from processes that did not suspend main, because an earlier
    /// process was killed while it suspended main.
    pub careful: usize,
}

/// The settings of the processes that are killed.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    /// The testbed that the processes run on.
    pub testbed: &'a str,
    /// The name of a `Config.Hook`.
    pub hook: &'a str,
    /// Whether the next launch learns how earlier processes ended, as it does from the system since Android
    /// 11. If it learns of an ordinary kill, it does not blame the sampler for that end. So the sampler still
    /// suspends main.
    pub known_ends: bool,
}

/// Kills `runs` processes, `lanes` of them at a time.
///
/// # Errors
/// The first thing that was missing or wrong.
pub fn run(recording: Recording<'_>, runs: usize, lanes: usize) -> Result<Figures> {
    let launcher = launcher(recording.testbed)?;
    let mut figures = Figures::default();
    let done = AtomicU32::new(0);
    let parts: Vec<Result<Figures>> = std::thread::scope(|scope| {
        let lane = |lane: usize| {
            let (launcher, done) = (&launcher, &done);
            let share = runs / lanes + usize::from(lane < runs % lanes);
            scope.spawn(move || self::lane(launcher, recording, share, lane as u32, done, runs))
        };
        let lanes: Vec<_> = (0..lanes).map(lane).collect();
        lanes.into_iter().map(|lane| lane.join().expect("no panic")).collect()
    });
    for part in parts {
        let part = part?;
        figures.runs += part.runs;
        figures.messages += part.messages;
        figures.cut += part.cut;
        figures.starved += part.starved;
        figures.lost_ns = figures.lost_ns.max(part.lost_ns);
        figures.open_fuses += part.open_fuses;
        figures.hangs += part.hangs;
        figures.named += part.named;
        figures.too_young += part.too_young;
        figures.careful += part.careful;
    }
    Ok(figures)
}

/// Kills one process after the other, all of which use one folder.
fn lane(
    launcher: &Launcher,
    Recording { hook, known_ends, .. }: Recording<'_>,
    runs: usize,
    lane: u32,
    done: &AtomicU32,
    all: usize,
) -> Result<Figures> {
    let folder = tempdir()?;
    let mut random = SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos() ^ lane;
    let mut figures = Figures::default();
    let mut before: Option<Left> = None;
    let mut exits: Vec<String> = Vec::new();
    for turn in 0..=runs {
        let app = launcher.app("scenario.Killed").argument(format!("dir={}", folder.path().display()));
        let app = app.argument(format!("hook={hook}"));
        let app = if known_ends { app.argument(format!("exits={}", exits.join(","))) } else { app };
        let mut app = app.start()?;
        app.wait_for("SCRIPT installed", LIMIT)?;
        wait_for_ring("a ring on the disk", folder.path(), app.pid(), |_| true)?;
        if let Some(left) = before.take() {
            if left.hung {
                const REPORTED: &str = "SCRIPT report";
                // The worker may have been quicker than the main thread.
                let line = app.seen().iter().find(|line| line.contains(REPORTED)).cloned();
                let line = line.map_or_else(|| app.wait_for(REPORTED, LIMIT), Ok)?;
                let path = line.split_whitespace().nth(2).context("no path")?;
                ensure!(line.ends_with(" recovered"), "{line}");
                check_report(&left, known_ends, Path::new(path), &mut figures)
                    .with_context(|| format!("{:?}", left.said))?;
                fs::remove_file(path)?;
            } else {
                wait_until_gone(&left.ring)?;
            }
            ensure!(left.gone(), "the adopted ring is still there: {}", left.ring.display());
        }
        if turn == runs {
            break;
        }
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(Duration::from_micros(u64::from(random >> 8) % WINDOW.as_micros() as u64));
        let waited_before = waited(app.pid())?;
        std::thread::sleep(WATCHED);
        let waited = waited(app.pid())?;
        let late_ns = waited_before.zip(waited).map(|(before, now)| now.saturating_sub(before));
        let killed_ns = uptime_ns();
        app.signal("KILL")?;
        let ended = app.finish(LIMIT)?;
        let left = Left::read(folder.path(), &ended.lines, killed_ns, late_ns)?;
        figures.runs += 1;
        figures.messages += left.said.begun;
        let killed_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
        exits.insert(0, left.exit(killed_ms));
        exits.truncate(KEPT_EXITS);
        check_ring(&left, &mut figures).with_context(|| {
            let Left { said, recovered, killed_ns, settled_ns, .. } = &left;
            let (main, damage) = (&recovered.report.main, &recovered.damage);
            format!("{said:?}, killed {killed_ns}, settled {settled_ns:?}: {main:?} {damage:?}")
        })?;
        before = Some(left);
        let done = done.fetch_add(1, Relaxed) + 1;
        if done.is_multiple_of(50) {
            println!("{done} of {all} killed");
        }
    }
    Ok(figures)
}

/// What the process had printed before it was killed.
#[derive(Debug, Default)]
struct Said {
    begun: u64,
    /// When the last message began, uptime.
    begun_ns: Uptime,
    /// When each message ended, from the first one on.
    ended_ns: Vec<Uptime>,
}

/// How long the main thread and the threads that copy the ring into its file have waited for a processor so
/// far. `None` when a copying thread is waiting for a processor or a disk now.
fn waited(pid: u32) -> Result<Option<u64>> {
    let mut all_ns = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).context("the process is gone")?.flatten() {
        // A thread may end at any time.
        let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let is_main = task.file_name().to_string_lossy() == pid.to_string();
        let copies = ["loopbox-watch", "loopbox-mirror", "loopbox-worker"].contains(&read("comm").trim_end());
        if !is_main && !copies {
            continue;
        }
        let stat = read("stat");
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        if copies && state.starts_with(['R', 'D']) {
            return Ok(None);
        }
        let ns: u64 = read("schedstat").split_whitespace().nth(1).context("no schedstat")?.parse()?;
        all_ns += ns;
    }
    Ok(Some(all_ns))
}

/// What a killed process left.
struct Left {
    said: Said,
    ring: PathBuf,
    recovered: Recovered,
    hung: bool,
    /// An instant at which the process was certainly alive, right before the kill, uptime.
    killed_ns: Uptime,
    /// Everything that had happened before this instant (uptime) must be in the ring; `None` when the instant
    /// is not known.
    settled_ns: Option<Uptime>,
}

impl Left {
    fn read(folder: &Path, lines: &[String], killed_ns: Uptime, late_ns: Option<u64>) -> Result<Self> {
        let mut said = Said::default();
        for line in lines {
            match *line.split_whitespace().collect::<Vec<_>>() {
                ["SCRIPT", "begin", number, at] => {
                    (said.begun, said.begun_ns) = (number.parse()?, Uptime(at.parse()?));
                }
                ["SCRIPT", "end", _, at] => said.ended_ns.push(Uptime(at.parse()?)),
                _ => {}
            }
        }
        let ring = only_ring(folder)?;
        let recovered = recover(&fs::read(&ring)?)?;
        let hung = recovered.running_ns().is_some_and(|ran| ran >= HUNG_NS);
        let settled_ns = late_ns.map(|late_ns| killed_ns.minus(LOST_NS + WORK_NS + late_ns));
        Ok(Self { said, ring, recovered, hung, killed_ns, settled_ns })
    }

    /// What the system reports of the process's end (`ApplicationExitInfo.REASON_SIGNALED`), in the form that
    /// `scenario.Phone` reads.
    fn exit(&self, killed_ms: u128) -> String {
        let process = &self.recovered.report.meta.process;
        format!("{}|{}|{killed_ms}|2|9|words", process.pid, process.name)
    }

    /// Whether the ring's file was deleted. The process gave the file a name. The next launch adds `.1` to
    /// that name before it first tries to read the file. Neither name may be there.
    fn gone(&self) -> bool {
        let tried = format!("{}.1", self.ring.display());
        !self.ring.exists() && !Path::new(&tried).exists()
    }
}

fn only_ring(folder: &Path) -> Result<PathBuf> {
    let rings: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .filter(|path| path.to_string_lossy().contains(".lbr"))
        .collect();
    match &rings[..] {
        [only] => Ok(only.clone()),
        other => anyhow::bail!("{} rings: {other:?}", other.len()),
    }
}

fn wait_until_gone(ring: &Path) -> Result<()> {
    let tried = format!("{}.1", ring.display());
    for _ in 0..LIMIT.as_millis() / 10 {
        if !ring.exists() && !Path::new(&tried).exists() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    anyhow::bail!("{} was not deleted", ring.display())
}

/// Checks that at most the slot that was being copied is damaged, and that every message that had ended
/// before `settled_ns` is in the ring, once.
fn check_ring(left: &Left, figures: &mut Figures) -> Result<()> {
    let Left { said, recovered, killed_ns, settled_ns, .. } = left;
    // One thread writes the file, one slot after the other, and none that is being written.
    ensure!(recovered.torn == 0 && recovered.damage.len() <= 1, "slots are damaged");
    ensure!(recovered.fuse != FuseState::Damaged, "the fuse is damaged");
    figures.cut += recovered.damage.len();
    figures.starved += usize::from(settled_ns.is_none());
    figures.open_fuses += usize::from(matches!(recovered.fuse, FuseState::Open { .. }));

    let counting = |kind| matches!(kind, RecordKind::Group | RecordKind::Single);
    let mut counted = 0;
    for record in recovered.report.history.iter().filter(|record| counting(record.kind) && record.count > 0) {
        ensure!(record.first_token == Token(counted + 1), "a gap after message {counted}: {record:?}");
        counted += u64::from(record.count);
    }
    // Counted, but its end was not printed: between hook and line.
    ensure!(counted <= said.begun, "{counted} messages are counted");
    let running = match &recovered.report.main {
        MainState::Running(running) => running.token,
        _ => Token(0),
    };
    ensure!(running == Token(0) || running == Token(counted + 1), "message {running} runs after {counted}");
    let lost = said.ended_ns.get(counted as usize).copied();
    if let Some(settled_ns) = *settled_ns {
        ensure!(lost.is_none_or(|ended_ns| ended_ns > settled_ns), "{counted} messages are counted");
        let inside = said.begun > said.ended_ns.len() as u64;
        if inside && said.begun_ns <= settled_ns {
            ensure!(running == Token(said.begun), "message {running} runs after {counted}");
            ensure!(recovered.last_alive_ns >= settled_ns, "seen alive until {}", recovered.last_alive_ns);
        }
        figures.lost_ns = figures.lost_ns.max(lost.map_or(0, |ended_ns| killed_ns.since(ended_ns)));
    }
    Ok(())
}

/// Checks the report that the next launch made of the killed process: it is complete and names what hung.
fn check_report(left: &Left, known_ends: bool, path: &Path, figures: &mut Figures) -> Result<()> {
    let report = read(path)?;
    ensure!(report.meta.reason == DumpReason::Recovered { crash_signal: None }, "{:?}", report.meta.reason);
    ensure!(
        report.meta.process.pid == left.recovered.identity.pid,
        "another process: {:?}",
        report.meta.process
    );
    ensure!(report.history == left.recovered.report.history, "another history than the ring's");
    let MainState::Running(running) = &report.main else { anyhow::bail!("main is {:?}", report.main) };
    figures.hangs += 1;
    let message = running.message.as_ref();
    let named = message.is_some_and(|message| message.target == "scenario.Killed");
    if named && shows_the_hang(&report, running.token)? {
        figures.named += 1;
        return Ok(());
    }
    let sampler = report.features.iter().find(|state| state.feature == Feature::Sampler);
    if sampler.is_some_and(|state| state.detail.contains("fuse blown")) {
        ensure!(!known_ends, "a kill that the system has reported: {sampler:?}");
        figures.careful += 1;
        return Ok(());
    }
    // How soon they are there is for the scheduler to say; what is there must not be lost.
    ensure!(
        running_tree(&left.recovered.report).is_none(),
        "the hang of {} ms has no name or stack, but the ring had one: {message:?}, {} trees; {sampler:?}; {:?}",
        running.age_ns() / 1_000_000,
        report.trees.len(),
        report.statistics
    );
    figures.too_young += 1;
    Ok(())
}

fn shows_the_hang(report: &Report, token: Token) -> Result<bool> {
    let Some(tree) = tree_of(report, token) else { return Ok(false) };
    for (stack, _) in stacks_of(report, tree)? {
        let names: Vec<String> = stack.iter().map(Frame::short).collect();
        ensure!(names.iter().any(|name| name == "Killed.handleMessage"), "{names:?}");
        ensure!(names.last().is_some_and(|name| name == "Killed.main"), "{names:?}");
    }
    Ok(true)
}
