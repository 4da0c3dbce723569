//! Scenarios that a single hang at one place does not cover: a hang that begins before the recorder is
//! installed, two hangs in a row, a signal or a kill while a report is written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab_launch::reports;
use lab_reports::live::{uptime_ns, wait_for_signal_catcher, wait_until};
use lab_reports::{details, read};
use loopbox_format::model::{DumpReason, Uptime};
use tempfile::{TempDir, tempdir};

use super::phone::{Finding, Hang, Phone, sleep_until};
use super::{Cell, Mode};

/// How a scenario is run.
#[derive(Debug, Clone, Copy)]
pub struct Stage {
    /// The testbed.
    pub testbed: &'static str,
    /// How the main thread is watched.
    pub mode: Mode,
    /// How long a hang lasts until SIGQUIT.
    pub signal: Duration,
    /// How long the last hang lasts until the kill.
    pub kill: Duration,
}

/// A scenario. Returns what was wrong.
pub type Scenario = fn(&Stage) -> Result<Vec<String>>;

/// All scenarios, by name.
pub const SCENARIOS: [(&str, Scenario); 12] = [
    ("before install, killed (install in attachBaseContext)", |stage| stage.killed_before(ATTACH)),
    ("before install, killed (install in a provider)", |stage| stage.killed_before(PROVIDER)),
    ("before install, killed (install in onCreate)", |stage| stage.killed_before(ON_CREATE)),
    ("before and after install (attachBaseContext)", |stage| stage.around_install(ATTACH)),
    ("before and after install (a provider)", |stage| stage.around_install(PROVIDER)),
    ("before and after install (onCreate)", |stage| stage.around_install(ON_CREATE)),
    ("two messages in a row", |stage| stage.two_hangs("service-create", "service-start")),
    ("a message, then one of a nested loop", |stage| stage.two_hangs("message", "nested-loop")),
    ("touch DOWN, then UP", |stage| stage.two_hangs("touch-down", "touch-up")),
    ("SIGQUIT while the app's own report is written", Stage::signal_during_dump),
    ("SIGQUIT while the hang's report is written", Stage::signal_during_hang_report),
    ("killed while the hang's report is written", Stage::killed_during_hang_report),
];

/// Where the recorder is installed, and the places right before and after.
#[derive(Debug, Clone, Copy)]
struct Install {
    argument: &'static str,
    before: &'static str,
    after: &'static str,
}

const ATTACH: Install =
    Install { argument: "install=attach", before: "attach-before", after: "attach-after" };
const PROVIDER: Install = Install { argument: "install=provider", before: "attach-after", after: "provider" };
const ON_CREATE: Install = Install { argument: "install=onCreate", before: "provider", after: "application" };

/// What ART's Signal Catcher logs when it gets its signal.
const CAUGHT: &str = "reacting to signal 3";

/// The app of a scenario, with files that let it continue.
struct Scene {
    folder: TempDir,
    gates: TempDir,
}

impl Scene {
    fn new() -> Result<Self> {
        Ok(Self { folder: tempdir()?, gates: tempdir()? })
    }

    fn gate(&self, name: &str) -> PathBuf {
        self.gates.path().join(name)
    }

    fn argument(&self, gate: &str) -> String {
        format!("{gate}={}", self.gate(gate).display())
    }

    /// Whether a thread of the app is waiting while it prints the queue.
    fn prints(&self) -> bool {
        self.gate(WAITS).exists()
    }

    fn open(&self, gate: &str) -> Result<()> {
        std::fs::write(self.gate(gate), "").with_context(|| format!("cannot open {gate}"))
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// How the main thread hangs: in a way that needs no processor.
const WAY: &str = "lock";

fn waits_at(places: &str) -> Vec<String> {
    vec![format!("hang={places}"), format!("how={WAY}")]
}

/// The gate for the thread that prints the queue, and the file that this thread creates while it waits there.
const PRINTS: &str = "printGate";
const WAITS: &str = "printGate.waits";

/// The files of the reports that describe an instant after the hang began.
fn files_of(hang: &Hang, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for file in reports(folder)? {
        if Finding::by(read(&file)?, hang, (Uptime::ZERO, Uptime::ZERO))?
            .as_of_ns
            .is_some_and(|as_of| as_of > hang.since_ns)
        {
            files.push(file);
        }
    }
    Ok(files)
}

impl Stage {
    fn start<'a>(&self, scene: &'a Scene, arguments: &[String]) -> Result<Phone<'a>> {
        Phone::start(self.testbed, self.mode, scene.path(), arguments)
    }

    /// What is wrong with a report of a hang.
    fn wrong(&self, what: &str, place: &'static str, hang: &Hang, finding: &Finding) -> Option<String> {
        let cell = Cell { testbed: self.testbed, mode: self.mode, place, way: WAY };
        let wrong = cell.wrong(finding, hang.since_ns);
        (!wrong.is_empty()).then(|| format!("{what}: {} ({})", wrong.join(", "), finding.headline))
    }

    /// The app hangs before the recorder is installed, gets SIGQUIT, and is killed. Only ART handles that
    /// SIGQUIT, and no report can know of the hang.
    fn killed_before(&self, install: Install) -> Result<Vec<String>> {
        let scene = Scene::new()?;
        let mut arguments = waits_at(install.before);
        arguments.extend(["ms=3600000".to_owned(), install.argument.to_owned()]);
        let mut phone = self.start(&scene, &arguments)?;
        let hang = phone.wait_for_hang(install.before)?;
        sleep_until(hang.since_ns, self.signal);
        phone.signal_taken()?;
        wait_for_signal_catcher(phone.app.pid())?;
        sleep_until(hang.since_ns, self.kill);
        let errors = phone.app.kill();
        let mut wrong = Vec::new();
        if errors.matches(CAUGHT).count() != 1 {
            wrong.push(format!("the Signal Catcher did not get its signal once: {errors}"));
        }
        let left: Vec<_> = std::fs::read_dir(scene.path())?.flatten().map(|entry| entry.path()).collect();
        if !left.is_empty() {
            wrong.push(format!("it left {left:?}"));
        }
        // The next launch has a report of its hang, and of no other.
        let mut next = Phone::next_for_signal(self.testbed, self.mode, scene.path())?;
        let hang = next.wait_for_hang("message")?;
        // A young one may still be on its way to wait, and take the signal in place of main.
        wait_for_signal_catcher(next.app.pid())?;
        let sent_ns = next.signal()?;
        next.answer(&hang, sent_ns, &[])?;
        for file in reports(scene.path())? {
            let report = read(&file)?;
            if report.meta.process.pid != next.app.pid() || report.meta.reason != DumpReason::SigQuit {
                wrong.push(format!("the next launch has a report of {:?}", report.meta));
            }
        }
        Ok(wrong)
    }

    /// The app hangs before and after it installs the recorder, in one message. The report must say how long
    /// the message had already run when the recorder was installed.
    fn around_install(&self, install: Install) -> Result<Vec<String>> {
        let scene = Scene::new()?;
        let mut arguments = waits_at(&format!("{},{}", install.before, install.after));
        arguments.extend([install.argument.to_owned(), scene.argument("gate")]);
        let mut phone = self.start(&scene, &arguments)?;
        let before = phone.wait_for_hang(install.before)?;
        sleep_until(before.since_ns, self.signal);
        let lasted_ns = uptime_ns() - before.since_ns;
        scene.open("gate")?;
        let hang = phone.wait_for_hang(install.after)?;
        sleep_until(hang.since_ns, self.signal);
        let sent_ns = phone.signal()?;
        let answer = phone.answer(&hang, sent_ns, &[])?;
        std::fs::remove_file(&answer.path)?;
        let killed = phone.kill(sent_ns)?;
        let (_, recovered) = killed.recovered((self.testbed, self.mode), scene.path(), &hang)?;

        let mut wrong = Vec::new();
        // The ring may still have the first stack only, which is of before the second hang
        // (`docs/blind-spots.md`).
        let without_stack = Self { mode: Mode::Unsampled, ..*self };
        for (when, finding, stage) in
            [("signal", &answer.finding, self), ("kill", &recovered, &without_stack)]
        {
            wrong.extend(stage.wrong(when, install.after, &hang, finding));
            let began_ns = finding.began_ns.unwrap_or(Uptime::MAX);
            let before_ns = finding.report.meta.process.installed_ns.since(began_ns);
            if began_ns > before.since_ns || before_ns < lasted_ns {
                wrong.push(format!(
                    "{when}: {before_ns} ns before the recorder, which were {lasted_ns} or more"
                ));
            }
            if finding.before_install.is_none() {
                wrong.push(format!("{when}: nothing is reported of the time before: {}", finding.headline));
            }
        }
        Ok(wrong)
    }

    /// The app hangs twice, with only its own steps in between. Each hang must get a separate report that is
    /// about the message of this hang.
    fn two_hangs(&self, first: &'static str, second: &'static str) -> Result<Vec<String>> {
        let scene = Scene::new()?;
        let mut arguments = waits_at(&format!("{first},{second}"));
        arguments.push(scene.argument("gate"));
        let mut phone = self.start(&scene, &arguments)?;
        let hang = phone.wait_for_hang(first)?;
        sleep_until(hang.since_ns, self.signal);
        let sent_ns = phone.signal()?;
        let one = phone.answer(&hang, sent_ns, &[])?;
        let mut wrong = Vec::new();
        wrong.extend(self.wrong("the first", first, &hang, &one.finding));

        let lasted_ns = uptime_ns() - hang.since_ns;
        let over_ns = uptime_ns();
        scene.open("gate")?;
        let hang = phone.wait_for_hang(second)?;
        sleep_until(hang.since_ns, self.signal);
        let sent_ns = phone.signal()?;
        let two = phone.answer(&hang, sent_ns, &[&one.path])?;
        wrong.extend(self.wrong("the second", second, &hang, &two.finding));
        if two.finding.token == one.finding.token || two.finding.began_ns.is_some_and(|began| began < over_ns)
        {
            wrong.push(format!("the second is the first: {} ({})", two.finding.token, two.finding.headline));
        }
        // The first one's file gets its end.
        let ended_ns = wait_until("the first hang's end", || Ok(read(&one.path)?.anr.ended_after_ns))?;
        let in_message = !one.finding.token.is_outside();
        if in_message && ended_ns < lasted_ns {
            wrong.push(format!("the first ended after {ended_ns} ns, and lasted {lasted_ns} or more"));
        }
        let past = details(&two.finding.report).find(|detail| detail.token == one.finding.token);
        if in_message && past.is_none_or(|past| past.wall_ns < lasted_ns) {
            wrong.push(format!("the second has the first as {past:?}, which lasted {lasted_ns} ns or more"));
        }
        std::fs::remove_file(&two.path)?;
        sleep_until(hang.since_ns, self.kill);
        let killed = phone.kill(sent_ns)?;
        let (path, recovered) = killed.recovered((self.testbed, self.mode), scene.path(), &hang)?;
        wrong.extend(self.wrong("kill", second, &hang, &recovered));
        if recovered.token != two.finding.token || path == one.path {
            wrong.push(format!("{} was recovered in place of {}", recovered.token, two.finding.token));
        }
        Ok(wrong)
    }

    /// Starts an app that hangs in a message. In the app, each print of the queue waits for the gate
    /// `PRINTS`.
    fn printing<'a>(&self, scene: &'a Scene, more: &[&str]) -> Result<(Phone<'a>, Hang)> {
        let mut arguments = waits_at("message");
        arguments.extend(["ms=3600000", "pendingMs=2000", "keepObjects=on"].map(str::to_owned));
        arguments.push(scene.argument(PRINTS));
        arguments.extend(more.iter().map(|&more| more.to_owned()));
        let mut phone = self.start(scene, &arguments)?;
        let hang = phone.wait_for_hang("message")?;
        Ok((phone, hang))
    }

    /// Calls [`Self::printing`] and waits until the hang's report has its first file. This report is not
    /// complete then, because it waits for the print of the queue. Also returns the report's files.
    ///
    /// The recorder also prints the queue earlier, for each message that it suspects of a hang. On a loaded
    /// machine it may suspect a message of the app's start. It may also suspect the message that hangs, when
    /// the app has not yet announced the hang. This method lets these earlier prints go on.
    fn printing_for_hang<'a>(&self, scene: &'a Scene) -> Result<(Phone<'a>, Hang, Vec<PathBuf>)> {
        let (phone, hang) = self.printing(scene, &["hangMs=3000"])?;
        let files = wait_until("the hang's report", || {
            // In this order: the report's own print comes after its first file, and must not go on.
            let prints = scene.prints();
            let files = files_of(&hang, scene.path())?;
            if files.is_empty() && prints {
                std::fs::remove_file(scene.gate(WAITS))?;
            }
            Ok((!files.is_empty()).then_some(files))
        })?;
        Ok((phone, hang, files))
    }

    fn signal_during_dump(&self) -> Result<Vec<String>> {
        let scene = Scene::new()?;
        let gate = scene.argument("dumpGate");
        // The recorder's own watch has no part in this scenario.
        let (mut phone, hang) = self.printing(&scene, &[&gate, "hangMs=60000"])?;
        sleep_until(hang.since_ns, self.signal);
        scene.open("dumpGate")?;
        wait_until("the app's own report prints the queue", || Ok(scene.prints().then_some(())))?;
        let sent_ns = phone.signal_taken()?;
        scene.open(PRINTS)?;
        let dumped = phone.report(" meanwhile")?;
        let answer = phone.answer(&hang, sent_ns, &[&dumped])?;
        let dumped = Finding::by(read(&dumped)?, &hang, (hang.since_ns, sent_ns))?;
        let mut wrong = Vec::new();
        wrong.extend(self.wrong("the app's", "message", &hang, &dumped));
        wrong.extend(self.wrong("signal", "message", &hang, &answer.finding));
        if dumped.token != answer.finding.token {
            wrong.push(format!("two messages: {} and {}", dumped.token, answer.finding.token));
        }
        Ok(wrong)
    }

    fn signal_during_hang_report(&self) -> Result<Vec<String>> {
        let scene = Scene::new()?;
        let (mut phone, hang, first) = self.printing_for_hang(&scene)?;
        let sent_ns = phone.signal_taken()?;
        scene.open(PRINTS)?;
        let answer = phone.answer(&hang, sent_ns, &[])?;
        let mut wrong = Vec::new();
        wrong.extend(self.wrong("signal", "message", &hang, &answer.finding));
        let all = files_of(&hang, scene.path())?;
        if !first.contains(&answer.path) || first != all {
            wrong.push(format!("one hang has {all:?}, and had {first:?} before the signal"));
        }
        let anr = &answer.finding.report.anr;
        if anr.signal.is_none_or(|signal| signal.count != 1) || answer.finding.is_of_hang() {
            wrong.push(format!("the signal is not in the report: {anr:?}"));
        }
        // The next launch has nothing to say but that it ended.
        let killed = phone.kill(sent_ns)?;
        let (path, recovered) = killed.recovered((self.testbed, self.mode), scene.path(), &hang)?;
        if path != answer.path || recovered.as_of_ns != answer.finding.as_of_ns {
            wrong.push(format!("the next launch made {} of {}", path.display(), answer.path.display()));
        }
        Ok(wrong)
    }

    fn killed_during_hang_report(&self) -> Result<Vec<String>> {
        let scene = Scene::new()?;
        let (phone, hang, first) = self.printing_for_hang(&scene)?;
        ensure!(first.len() == 1, "one hang has {first:?}");
        let killed = phone.kill(hang.since_ns)?;
        let (path, recovered) = killed.recovered((self.testbed, self.mode), scene.path(), &hang)?;
        let mut wrong = Vec::new();
        // It is of the instant at which the hang was noticed, and only its end was added.
        let finding = Finding { possible_ns: (hang.since_ns, killed.before_ns), ..recovered };
        wrong.extend(self.wrong("kill", "message", &hang, &finding));
        if !first.contains(&path) || !finding.is_of_hang() {
            wrong.push(format!("the next launch made {} of {first:?}", path.display()));
        }
        Ok(wrong)
    }
}
