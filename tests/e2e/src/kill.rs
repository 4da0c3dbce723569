//! kill -9 at random moments of an app that records on a real ART, and what the next launch makes of it.
//!
//! `scenario.Killed` tells each message's begin and end on its standard output, which outlives it like the ring does.
//! So it is known from outside what the recorder must have. Each process that starts adopts the ring of the one killed
//! before it, as on a device.

use crate::live::running_tree;
use crate::{Frame, LIMIT, launcher, read, stacks_of};
use anyhow::{Context, Result, ensure};
use loopbox_format::model::{DumpReason, Feature, MainState, RecordKind, Report};
use loopbox_launch::Launcher;
use loopbox_store::{FuseState, Recovered, recover};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::tempdir;

/// The moments lie within so long after the recorder is installed: some messages, a hang, some more, half a hang.
const WINDOW: Duration = Duration::from_millis(6_500);
/// From this age of a message on, a killed process is worth a report; `MIN_HANG_NS` of
/// `loopbox-agent/src/report/previous_runs.rs`.
const HUNG_NS: u64 = 1_000_000_000;

/// What all runs showed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Figures {
    /// Processes killed.
    pub runs: usize,
    /// Messages that they had told of.
    pub messages: u64,
    /// Slots that were being written.
    pub torn: usize,
    /// Processes killed while main was stopped for a stack.
    pub open_fuses: usize,
    /// Processes killed in a hang that is worth a report.
    pub hangs: usize,
    /// Reports of those hangs, made by the next launch, that name the message and its stack.
    pub named: usize,
    /// Such reports of a message whose stacks were not in the ring yet, which gets them twice a second.
    pub too_young: usize,
    /// Such reports of processes that did without suspending main, because one before was killed in the middle of that.
    pub careful: usize,
}

/// Kills `runs` processes on the testbed of ART 10, in `lanes` at a time.
///
/// # Errors
/// The first thing that was missing or wrong.
pub fn run(runs: usize, lanes: usize) -> Result<Figures> {
    let launcher = launcher("art10")?;
    let mut figures = Figures::default();
    let done = AtomicU32::new(0);
    let parts: Vec<Result<Figures>> = std::thread::scope(|scope| {
        let lane = |lane: usize| {
            let (launcher, done) = (&launcher, &done);
            let share = runs / lanes + usize::from(lane < runs % lanes);
            scope.spawn(move || self::lane(launcher, share, lane as u32, done, runs))
        };
        let lanes: Vec<_> = (0..lanes).map(lane).collect();
        lanes.into_iter().map(|lane| lane.join().expect("no panic")).collect()
    });
    for part in parts {
        let part = part?;
        figures.runs += part.runs;
        figures.messages += part.messages;
        figures.torn += part.torn;
        figures.open_fuses += part.open_fuses;
        figures.hangs += part.hangs;
        figures.named += part.named;
        figures.too_young += part.too_young;
        figures.careful += part.careful;
    }
    Ok(figures)
}

/// One process after the other, in one folder.
fn lane(launcher: &Launcher, runs: usize, lane: u32, done: &AtomicU32, all: usize) -> Result<Figures> {
    let folder = tempdir()?;
    let mut random = SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos() ^ lane;
    let mut figures = Figures::default();
    let mut before: Option<Left> = None;
    for turn in 0..=runs {
        let mut app =
            launcher.app("scenario.Killed").argument(format!("dir={}", folder.path().display())).start()?;
        app.wait_for("SCRIPT installed", LIMIT)?;
        if let Some(left) = before.take() {
            if left.hung {
                const TOLD: &str = "SCRIPT report";
                // The worker may have been quicker than the main thread.
                let told = app.seen().iter().find(|line| line.contains(TOLD)).cloned();
                let told = told.map_or_else(|| app.wait_for(TOLD, LIMIT), Ok)?;
                let path = told.split_whitespace().nth(2).context("no path")?;
                ensure!(told.ends_with(" recovered"), "{told}");
                check_report(&left, Path::new(path), &mut figures)
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
        app.signal("KILL")?;
        let ended = app.finish(LIMIT)?;
        let left = Left::read(folder.path(), &ended.lines)?;
        figures.runs += 1;
        figures.messages += left.said.begun;
        check_ring(&left, &mut figures).with_context(|| {
            format!("{:?} {:?} {:?}", left.said, left.recovered.report.main, left.recovered.damage)
        })?;
        before = Some(left);
        let done = done.fetch_add(1, Relaxed) + 1;
        if done.is_multiple_of(50) {
            println!("{done} of {all} killed");
        }
    }
    Ok(figures)
}

/// What the process had told before it was killed.
#[derive(Debug, Default)]
struct Said {
    begun: u64,
    ended: u64,
}

/// What a killed process left.
struct Left {
    said: Said,
    ring: PathBuf,
    recovered: Recovered,
    hung: bool,
}

impl Left {
    fn read(folder: &Path, lines: &[String]) -> Result<Self> {
        let mut said = Said::default();
        for line in lines {
            match *line.split_whitespace().collect::<Vec<_>>() {
                ["SCRIPT", "begin", number] => said.begun = number.parse()?,
                ["SCRIPT", "end", number] => said.ended = number.parse()?,
                _ => {}
            }
        }
        let ring = only_ring(folder)?;
        let recovered = recover(&fs::read(&ring)?)?;
        let hung = recovered.running_ns().is_some_and(|ran| ran >= HUNG_NS);
        Ok(Self { said, ring, recovered, hung })
    }

    /// Whether the ring was deleted, under its own name and that of a try.
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
    anyhow::bail!("nobody deleted {}", ring.display())
}

/// Nothing is damaged but what was being written, and every message that was told of is there, once.
fn check_ring(left: &Left, figures: &mut Figures) -> Result<()> {
    let Left { said, recovered, .. } = left;
    // Main and worker write slots.
    ensure!(recovered.torn <= 2, "{} slots are torn", recovered.torn);
    ensure!(recovered.damage.len() == recovered.torn, "a slot is damaged");
    ensure!(recovered.fuse != FuseState::Damaged, "the fuse is damaged");
    figures.torn += recovered.torn;
    figures.open_fuses += usize::from(matches!(recovered.fuse, FuseState::Open { .. }));

    let counting = |kind| matches!(kind, RecordKind::Group | RecordKind::Single);
    let mut counted = 0;
    for record in recovered.report.history.iter().filter(|record| counting(record.kind) && record.count > 0) {
        ensure!(record.first_token == counted + 1, "a gap after message {counted}: {record:?}");
        counted += u64::from(record.count);
    }
    // Told to have ended and not counted: between the line and the hook. Counted and not told: between hook and line.
    ensure!(counted + 1 >= said.begun && counted <= said.begun, "{counted} messages are counted");
    let inside = said.begun > said.ended;
    match &recovered.report.main {
        MainState::Running(running) => {
            ensure!(running.token == counted + 1, "message {} runs after {counted}", running.token);
            ensure!(!inside || running.token == said.begun, "message {} runs", running.token);
        }
        _ => ensure!(!inside, "no message runs"),
    }
    Ok(())
}

/// The report of the next launch: whole, of that process, and it names what hung.
fn check_report(left: &Left, path: &Path, figures: &mut Figures) -> Result<()> {
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
        figures.careful += 1;
        return Ok(());
    }
    // How soon they are there is for the scheduler to say; what is there must not be lost.
    ensure!(
        running_tree(&left.recovered.report).is_none(),
        "the hang of {} ms has no name or stack, but the ring had one: {message:?}, {} trees; {sampler:?}; {:?}",
        running.age_ns() / 1_000_000,
        report.trees.len(),
        report.figures
    );
    figures.too_young += 1;
    Ok(())
}

fn shows_the_hang(report: &Report, token: u64) -> Result<bool> {
    let Some(tree) = report.trees.iter().find(|tree| tree.token == token) else { return Ok(false) };
    for (stack, _) in stacks_of(report, tree)? {
        let names: Vec<String> = stack.iter().map(Frame::short).collect();
        ensure!(names.iter().any(|name| name == "Killed.handleMessage"), "{names:?}");
        ensure!(names.last().is_some_and(|name| name == "Killed.main"), "{names:?}");
    }
    Ok(true)
}
