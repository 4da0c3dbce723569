//! A hang while another library has the hook's place. The recorder reports it while it lasts, as it does for
//! an app without a hook.

use anyhow::{Context, Result};
use lab_launch::Running;
use lab_reports::live::tree_of;
use lab_reports::{LIMIT, stacks_of};
use loopbox_e2e::launcher;
use loopbox_format::model::{AnrVerdict, DumpReason, MainState, Report, Token};
use loopbox_format::report::decode;
use loopbox_report::Analysis;
use loopbox_report::diagnose::{Diagnosis, diagnose};
use loopbox_testbed as testbed;
use std::path::PathBuf;
use tempfile::{TempDir, tempdir};

/// The hangs, by the method that main is in.
const HANGS: [&str; 2] = ["Contested.sleepUntil", "Contested.computeUntil"];

struct Played {
    folder: TempDir,
    app: Running,
}

impl Played {
    fn begin(testbed: &str, hook: &str, arguments: &[&str]) -> Result<Self> {
        let folder = tempdir()?;
        let mut app = launcher(testbed)?.app("scenario.Contested");
        app = app.argument(format!("dir={}", folder.path().display())).argument("hangMs=1000");
        app = app.argument(format!("gate={}", folder.path().join("gate").display()));
        app = app.argument(format!("hook={}", hook.to_uppercase())).argument(format!("other={hook}"));
        for argument in arguments {
            app = app.argument(*argument);
        }
        let app = app.start()?;
        Ok(Self { folder, app })
    }

    /// The complete report with which the app's listener is called, and its diagnosis.
    fn report(&mut self) -> Result<(PathBuf, Report, Diagnosis)> {
        let line = self.app.wait_for("SCRIPT report", LIMIT)?;
        assert!(line.ends_with(" hang"), "{line}");
        let path = PathBuf::from(line.split(' ').nth(2).context("no path")?);
        let decoded = decode(&std::fs::read(&path)?)?;
        let diagnosis = diagnose(&Analysis::new(&decoded));
        Ok((path, decoded.report, diagnosis))
    }

    /// Waits for both hangs; each ends once its report exists.
    fn both_hangs(&mut self) -> Result<()> {
        let mut files = Vec::new();
        for (nth, method) in (1..).zip(HANGS) {
            self.app.wait_for(&format!("SCRIPT hangs {nth}"), LIMIT)?;
            let (file, report, diagnosis) = self.report().with_context(|| format!("hang {nth}"))?;
            println!("{nth}: {}", diagnosis.headline);
            assert_hang(&report, &diagnosis, method)?;
            assert!(!files.contains(&file), "a report of another hang is replaced: {}", file.display());
            files.push(file);
            std::fs::write(self.folder.path().join(format!("gate{nth}")), "")?;
            self.app.wait_for(&format!("SCRIPT over {nth}"), LIMIT)?;
        }
        for file in files {
            assert!(file.exists(), "{}", file.display());
        }
        Ok(())
    }
}

/// Checks that the report says that main hangs, with its stack.
fn assert_hang(report: &Report, diagnosis: &Diagnosis, method: &str) -> Result<()> {
    assert_eq!((report.meta.reason.clone(), report.anr.verdict), (DumpReason::Hang, AnrVerdict::Hang));
    let rules: Vec<_> = diagnosis.causes.iter().map(|cause| cause.rule).collect();
    assert!(!rules.contains(&"main-free") && !diagnosis.headline.contains("was free"), "{diagnosis:#?}");
    let token = match &report.main {
        MainState::Running(running) => running.token,
        MainState::Outside(outside) => outside.token,
        _ => Token::NONE,
    };
    let tree = tree_of(report, token).with_context(|| format!("no stack of {token}: {:?}", report.main))?;
    let stacks = stacks_of(report, tree)?;
    let shown = stacks.iter().any(|(stack, _)| stack.iter().any(|frame| frame.short() == method));
    assert!(shown, "{method} is on no stack");
    Ok(())
}

/// Runs the scenario with each available hook.
fn with_each_hook(arguments: &[&str]) -> Result<()> {
    let printers = testbed::to_test_on(&["art10", "art11"]);
    let mut hooks: Vec<_> = printers.iter().map(|testbed| (testbed.as_str(), "Printer")).collect();
    hooks.push(("art10", "Observer"));
    for (testbed, hook) in hooks {
        let way = format!("{arguments:?}, {hook} on {testbed}");
        let mut played = Played::begin(testbed, hook, arguments)?;
        played.both_hangs().with_context(|| way)?;
        played.app.finish(LIMIT)?.success()?;
    }
    Ok(())
}

#[test]
fn a_hang_is_reported_while_the_hooks_place_is_taken_each_second() -> Result<()> {
    with_each_hook(&["from=main"])
}

#[test]
fn a_hang_is_reported_where_the_idle_handlers_are_gone_as_well() -> Result<()> {
    with_each_hook(&["from=main", "idle=replaced"])
}

/// The other library replaces the hook even while main sleeps. No message shows that at that time.
#[test]
fn a_hang_is_reported_while_another_thread_takes_the_hooks_place_each_second() -> Result<()> {
    with_each_hook(&["from=thread"])
}

/// With public API only, the recorder cannot read which Printer the Looper has. So when its own Printer is
/// displaced, the recorder works without a hook.
#[test]
fn a_hang_is_reported_where_the_hook_was_given_up() -> Result<()> {
    let mut played = Played::begin("art11", "Printer", &["from=main", "hiddenApi=NONE"])?;
    played.both_hangs()?;
    played.app.finish(LIMIT)?.success()?;
    Ok(())
}

/// When the app pauses and resumes the recorder, the recorder sets the hook again, and watches it as before.
#[test]
fn a_hook_that_was_given_up_is_watched_again_after_a_pause() -> Result<()> {
    let arguments = ["from=main", "hiddenApi=NONE", "then=pauses"];
    let mut played = Played::begin("art11", "Printer", &arguments)?;
    played.both_hangs()?;
    let given_up = played.app.wait_for("SCRIPT given up", LIMIT)?;
    assert!(given_up.contains("false"), "{given_up}");
    played.app.wait_for("SCRIPT noticed", LIMIT)?;
    played.app.finish(LIMIT)?.success()?;
    Ok(())
}

#[test]
fn who_watches_main_sleeps_again_once_the_hook_is_back() -> Result<()> {
    let hooks = [("art11", "Printer"), ("art10", "Observer")];
    for (testbed, hook) in hooks {
        let arguments = ["from=main", "printerCheckMs=3000", "then=parks"];
        let mut played = Played::begin(testbed, hook, &arguments)?;
        played.both_hangs()?;
        let back = played.app.wait_for("SCRIPT back", LIMIT)?;
        assert!(back.contains("true") && back.contains("armed again"), "{back}");
        let parked = played.app.wait_for("SCRIPT parked", LIMIT)?;
        let wakes: u64 = parked.rsplit(' ').next().context("no count")?.parse()?;
        println!("{hook} on {testbed}: {back}; {wakes} wake-ups in 6 s");
        // Twice a second it would be 12. The count itself is a message's time and its end.
        assert!(wakes <= 4, "{parked}");
        played.app.finish(LIMIT)?.success()?;
    }
    Ok(())
}
