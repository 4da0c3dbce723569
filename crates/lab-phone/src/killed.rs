//! kill -9 in a hang: the next launch finds the ring, and reports the hang with its name and its stacks.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lab_reports::live::running_tree;
use lab_reports::{read, stacks_of};
use loopbox_format::model::{DumpReason, MainState};
use loopbox_store::{Recovered, recover};

use crate::app::LIMIT;
use crate::phone::is_called;
use crate::stage::Stage;

const SCENARIO: &str = "killed";
/// A message that has run this long is worth a report when its process is killed. It is `MIN_HANG_NS` of
/// `loopbox-agent/src/report/digest/mod.rs`.
const HUNG_NS: u64 = 1_000_000_000;
/// The time between two reads of the ring.
const PAUSE: Duration = Duration::from_millis(100);

/// The results of the scenario.
#[derive(Debug)]
pub(crate) struct Killed {
    /// The age of the hang in the ring when the process was killed.
    pub(crate) ring_age_ns: u64,
    /// The age of the hang in the report of the next launch.
    pub(crate) report_age_ns: u64,
    /// The number of the hang's stacks in the report of the next launch.
    pub(crate) stacks: usize,
}

pub(crate) fn play(stage: &Stage<'_>) -> Result<Killed> {
    // The hang lasts until the kill, however long that takes. It has its name at half of `hangMs`, and a
    // separate report at all of it, which the kill comes before.
    let words =
        [format!("dir={}", stage.phone.folder_of(SCENARIO)), "wait=3600000".into(), "hangMs=20000".into()];
    let mut app = stage.phone.start(SCENARIO, "scenario.Killed", &words)?;
    app.wait_for("SCRIPT installed")?;
    let pid = app.pid();
    let ring_age_ns = wait_for_hang(stage, pid)?;
    app.kill()?;

    let mut next = stage.phone.start(SCENARIO, "scenario.Killed", &words)?;
    let answer = next.answer_to("SCRIPT report ")?;
    ensure!(answer.ends_with(" recovered"), "the next launch said: {answer}");
    next.kill()?;
    let path = answer.split_whitespace().nth(2).context("no path")?;
    let name = Path::new(path).file_name().with_context(|| format!("{path} is no file"))?;
    let files = stage.reports(SCENARIO)?;
    let file = files.iter().find(|file| file.file_name() == Some(name));
    let report = read(file.with_context(|| format!("{path} is not there"))?)?;
    ensure!(report.meta.process.pid == pid, "the report is of process {}", report.meta.process.pid);
    ensure!(matches!(report.meta.reason, DumpReason::Recovered { .. }), "{:?}", report.meta.reason);
    let MainState::Running(running) = &report.main else { bail!("main was in {:?}", report.main) };
    let target = running.message.as_ref().map(|message| message.target.as_str());
    ensure!(target == Some("scenario.Killed"), "the hang is named {target:?}");
    let tree = running_tree(&report).context("there are no stacks of the hang")?;
    let stacks = stacks_of(&report, tree)?;
    let shown = |frames: &[lab_reports::Frame]| frames.iter().any(|f| f.short() == "Killed.handleMessage");
    ensure!(stacks.iter().all(|(frames, _)| shown(frames)), "stacks of something else");
    Ok(Killed { ring_age_ns, report_age_ns: running.age_ns(), stacks: stacks.len() })
}

/// Reads the ring of the process, as the next launch would after a kill, until the ring has a hang with a
/// name and a stack. Returns the hang's age.
fn wait_for_hang(stage: &Stage<'_>, pid: u32) -> Result<u64> {
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Some(Recovered { report, .. }) = ring_of(stage, pid)?
            && let MainState::Running(running) = &report.main
            && running.age_ns() >= HUNG_NS
            && running.message.is_some()
            && running_tree(&report).is_some()
        {
            return Ok(running.age_ns());
        }
        std::thread::sleep(PAUSE);
    }
    bail!("no ring with a hang, its name and its stacks within {LIMIT:?}")
}

/// The ring of a process; `None` while it does not exist or is being written.
fn ring_of(stage: &Stage<'_>, pid: u32) -> Result<Option<Recovered>> {
    let is_its = |name: &&String| is_called(name, "lbr") && name.contains(&format!("-{pid}-"));
    let files = stage.phone.files(SCENARIO)?;
    let Some(name) = files.iter().find(is_its) else { return Ok(None) };
    let bytes = stage.phone.read(&format!("{}/{name}", stage.phone.folder_of(SCENARIO)));
    Ok(bytes.ok().and_then(|bytes| recover(&bytes).ok()))
}
