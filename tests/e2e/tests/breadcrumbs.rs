//! An app's breadcrumbs, in its reports and in what a killed process leaves.

use anyhow::{Context, Result, ensure};
use lab_launch::reports;
use lab_reports::live::{uptime_ns, wait_for_ring};
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_format::model::{DumpReason, MainState, Report};
use loopbox_testbed::to_test_on;
use std::path::Path;
use tempfile::tempdir;

fn names(report: &Report) -> Vec<&str> {
    report.breadcrumbs.iter().map(|breadcrumb| breadcrumb.name.as_str()).collect()
}

/// The report that the app has requested under this name.
fn asked(folder: &Path, name: &str) -> Result<Report> {
    for path in reports(folder)? {
        let report = read(&path)?;
        if report.meta.reason == DumpReason::Requested(name.to_owned()) {
            return Ok(report);
        }
    }
    anyhow::bail!("no report {name}")
}

/// Runs a mode to its end, and returns what it printed. Checks that a second recording begins without
/// breadcrumbs.
fn run(testbed: &str, folder: &Path, mode: &str) -> Result<Vec<String>> {
    let app = launcher(testbed)?.app("scenario.Breadcrumbs").argument(format!("mode={mode}"));
    let ended = app.argument(format!("dir={}", folder.display())).start()?.finish(LIMIT)?.success()?;
    ensure!(ended.lines.iter().any(|line| line == "SCRIPT done"), "{:?}", ended.lines);
    let second = asked(folder, "second")?;
    ensure!(second.breadcrumbs.is_empty(), "a new recording begins without: {:?}", second.breadcrumbs);
    Ok(ended.lines)
}

#[test]
fn breadcrumbs_of_before_the_installation_are_kept_and_bad_names_change_or_go() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let began_ns = uptime_ns();
        let lines = run(&testbed, folder.path(), "early")?;
        let fault = "SCRIPT logged 6 on loopbox-log: a fault that is kept from the app \
                     (java.lang.IllegalStateException: user 7)";
        assert_eq!(lines.iter().filter(|line| *line == fault).count(), 1, "{testbed}: {lines:?}");
        let report = asked(folder.path(), "early")?;
        let cart = "\u{1f6d2}".repeat(40);
        let long = "x".repeat(40);
        let late = ["two lines and", &cart, "\u{fffd} half", &long];
        // Of 64 that wait the Redactor takes one, and the four are in place of the oldest.
        let mut wanted: Vec<String> = (7..70).map(|number| format!("early {number}")).collect();
        wanted.extend(late.map(str::to_owned));
        assert_eq!(names(&report), wanted[wanted.len() - 64..], "{testbed}");
        let times: Vec<_> = report.breadcrumbs.iter().map(|breadcrumb| breadcrumb.at_ns).collect();
        assert!(times.is_sorted() && times[0] >= began_ns, "{times:?}");
        let installed = report.meta.process.installed_ns;
        let of = |name: &str| names(&report).iter().position(|known| *known == name).map(|at| times[at]);
        assert!(of("early 69").context("early")? < installed && of(late[0]).context("late")? > installed);
        assert!(times[63] <= report.meta.dumped_at.uptime_ns);
    }
    Ok(())
}

#[test]
fn flood_of_breadcrumbs_leaves_the_newest_and_wakes_the_worker_ten_times_a_second() -> Result<()> {
    let folder = tempdir()?;
    let lines = run("art10", folder.path(), "flood")?;
    let woken = lines.iter().find_map(|line| line.strip_prefix("SCRIPT woken ")).context("not woken")?;
    let words: Vec<&str> = woken.split_whitespace().collect();
    let (wakes, ms): (u64, u64) = (words[0].parse()?, words[2].parse()?);
    // Each is woken for and saved once, ten times a second; some are of what else it does.
    assert!(wakes <= 2 * (ms / 100 + 1) + 30, "{woken}");
    let report = asked(folder.path(), "flood")?;
    assert_eq!(report.breadcrumbs.len(), 64);
    // Of each thread in its order, without a gap, up to its last.
    let mut lasts = 0;
    for thread in 0..4 {
        let of = format!("of {thread}: ");
        let left: Vec<u64> =
            names(&report).iter().filter_map(|name| name.strip_prefix(&of)?.parse().ok()).collect();
        assert!(left.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{left:?}");
        assert!(left.last().is_none_or(|last| *last == 2_499), "{left:?}");
        lasts += usize::from(!left.is_empty());
    }
    assert!(lasts > 0);
    Ok(())
}

#[test]
fn process_killed_in_a_hang_leaves_the_breadcrumbs_of_before_and_of_the_hang() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let launcher = launcher(&testbed)?;
        let app = || {
            let app = launcher.app("scenario.Breadcrumbs").argument("mode=hang").argument("hangMs=60000");
            app.argument(format!("dir={}", folder.path().display()))
        };
        let mut first = app().start()?;
        first.wait_for("SCRIPT hangs", LIMIT)?;
        let pid = first.pid();
        // As the kill would find it: there is no report yet.
        wait_for_ring("the breadcrumb of the hang", folder.path(), pid, |report| {
            names(report) == ["before the hang", "in the hang"]
        })?;
        ensure!(reports(folder.path())?.is_empty());
        first.kill();

        let mut second = app().start()?;
        let line = second.wait_for("SCRIPT report", LIMIT)?;
        second.kill();
        let report = read(line.split_whitespace().nth(2).context("no path")?.as_ref())?;
        assert_eq!(report.meta.reason, DumpReason::Recovered { crash_signal: None }, "{testbed}");
        assert_eq!(report.meta.process.pid, pid);
        assert_eq!(names(&report), ["before the hang", "in the hang"]);
        let MainState::Running(running) = &report.main else { anyhow::bail!("{:?}", report.main) };
        // The message itself left the first one.
        assert!(report.breadcrumbs[0].at_ns >= running.start_ns, "{report:?}");
        assert!(report.breadcrumbs[1].at_ns.since(report.breadcrumbs[0].at_ns) >= 1_000_000_000);
        assert!(running.as_of_ns >= report.breadcrumbs[1].at_ns, "{running:?}");
    }
    Ok(())
}
