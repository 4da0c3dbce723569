//! What an app can learn from a report without the command line, and which reports it gets.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};
use lab_launch::reports;
use lab_reports::live::{quit, running_tree, wait_for_ring, wait_for_signal_catcher, wait_until};
use lab_reports::{LIMIT, read};
use loopbox_e2e::launcher;
use loopbox_e2e::taking::Taking;
use loopbox_format::container::{self, Tag};
use loopbox_format::model::{ProcessExit, Report};
use loopbox_format::report::Decoded;
use loopbox_report::Analysis;
use loopbox_report::cluster::Problem;
use loopbox_report::diagnose::diagnose;
use loopbox_setup::workspace::root;
use loopbox_testbed::to_test_on;
use tempfile::tempdir;

/// The argument by which the system reports from the start that the process does not respond. So a hang is an
/// ANR as soon as the system is asked.
const NOT_RESPONDING: &str = "says=Input dispatching timed out";

/// A hang that continues, another process that searches for reports, then the end of the hang.
#[test]
fn a_report_is_handed_out_when_its_process_is_done_with_it() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let mut app = Taking::start(&testbed, folder.path(), &[NOT_RESPONDING])?;
        app.order("hang")?;
        app.expects("ANR CONFIRMED complete hang []")?;
        assert_eq!(app.take()?, [], "{testbed}: it goes on");
        let mut other = Taking::start(&testbed, folder.path(), &[])?;
        assert_eq!(other.take()?, [], "{testbed}: it goes on in a living process");
        other.end()?;
        app.open_gate()?;
        app.expects("ANR CONFIRMED complete hang []")?;
        let taken = app.take_all(1)?;
        let [(words, file)] = &taken[..] else { panic!("{testbed}: {taken:?}") };
        assert_eq!(words, "ANR CONFIRMED complete hang []");
        let report = read(file)?;
        let ended = report.anr.ended_after_ns.context("no end")?;
        let line = report.digest.lines().nth(4).context("no digest")?;
        assert!(
            line.starts_with("ANR: ") && line.contains(&format!(", {} ms in all", ended / 1_000_000)),
            "{line}"
        );
        app.end()?;
    }
    Ok(())
}

/// The values that an app reads from a report when it sends hangs by itself. A process of version 1.0 hangs,
/// and version 2.0 of the app reads the report.
#[test]
fn a_report_says_what_an_app_sends_by_itself() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        for with in [false, true] {
            let folder = tempdir()?;
            let asked: &[&str] = if with { &["digestAnnotations=on"] } else { &[] };
            let arguments = [&[NOT_RESPONDING, "appVersion=1.0 (10)"], asked].concat();
            let mut app = Taking::start(&testbed, folder.path(), &arguments)?;
            app.order("annotate user u-7781")?;
            app.order("hang")?;
            app.expects("ANR CONFIRMED complete hang []")?;
            app.open_gate()?;
            app.expects("ANR CONFIRMED complete hang []")?;
            let taken = app.take_all(1)?;
            let name = taken[0].1.file_name().context("no name")?.to_str().context("its name")?.to_owned();
            app.end()?;
            let mut next = Taking::start(&testbed, folder.path(), &["appVersion=2.0 (20)"])?;
            let said = next.order(&format!("know {name}"))?;
            next.end()?;
            let lines = |begin: &str| -> Vec<&str> {
                said.iter().filter_map(|line| line.strip_prefix(begin)).collect()
            };
            let knows: Vec<&str> = lines("knows ")[0].split(' ').collect();
            let [version, code, ms, thread, fingerprint] = knows[..] else { panic!("{knows:?}") };
            assert_eq!(
                (version, code, thread),
                ("[1.0]", "10", "main"),
                "{testbed}: of the version that hung"
            );
            let report = read(&taken[0].1)?;
            let ended_ms = report.anr.ended_after_ns.context("no end")? / 1_000_000;
            assert_eq!(ms.parse::<u64>()?, ended_ms, "{testbed}");
            let analysis = Analysis::new(&Decoded { report, damage: Vec::new() });
            let problem = Problem::new(&analysis, &diagnose(&analysis));
            assert_eq!(fingerprint, problem.signature.id(), "{testbed}: the group of `loopbox cluster`");
            // Of so short a hang most may be in what it prints.
            assert_eq!(lines("title "), [problem.signature.title()], "{testbed}");
            assert!(lines("title ")[0].starts_with("scenario."), "{testbed}: a method of the app: {said:?}");
            assert!(lines("annotations ")[0].contains("user=u-7781"), "{testbed}: {said:?}");
            assert_eq!(lines("digest ")[0].contains("u-7781"), with, "{testbed}: {said:?}");
            let frame = "scenario.GatedHang.run(GatedHang.java:";
            assert!(lines("at ").iter().any(|line| line.starts_with(frame)), "{testbed}: {said:?}");
        }
    }
    Ok(())
}

fn labels(listed: &[(String, PathBuf)]) -> Vec<&str> {
    listed.iter().map(|(label, _)| label.as_str()).collect()
}

/// Two processes of an app list one report, and one of them claims it.
#[test]
fn a_report_is_listed_until_one_process_claims_it() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let start = |name: &str| {
            let app = launcher(&testbed)?.app("scenario.Taking");
            let app = app.started_by("bash", &["-c", &format!("exec -a {name} \"$@\""), "bash"]);
            Taking::begin(app, folder.path(), &[])
        };
        let (mut main, mut push) = (start("shop")?, start("shop:push")?);
        for label in ["first", "second", "third"] {
            main.order(&format!("dump {label}"))?;
        }
        for listed in [main.list()?, push.list()?, main.list()?] {
            assert_eq!(labels(&listed), ["first", "second", "third"], "{testbed}");
            assert!(listed.iter().all(|(_, file)| file.parent() == Some(folder.path())), "{listed:?}");
        }
        let (claimed, file) = push.claim("second")?;
        assert!(claimed && file.starts_with(folder.path().join("taken/shop_push")), "{testbed}: {file:?}");
        assert!(file.exists() && push.claim("second")?.0, "once more");
        assert!(!main.claim("second")?.0, "{testbed}: another process was quicker");
        assert_eq!(labels(&main.list()?), ["first", "third"], "{testbed}");
        assert_eq!(labels(&push.list()?), ["first", "second", "third"], "{testbed}");
        // At the same time.
        for process in [&mut main, &mut push] {
            process.give("claim third")?;
        }
        let mut got = 0;
        for process in [&mut main, &mut push] {
            let said = process.app.wait_for("SCRIPT claimed", LIMIT)?;
            got += usize::from(
                process.app.wait_for(&format!("SCRIPT did {}", process.given), LIMIT).is_ok()
                    && said.contains("true"),
            );
        }
        assert_eq!(got, 1, "{testbed}");
        let taken: Vec<_> = [main.take()?, push.take()?].concat();
        assert_eq!(taken.len(), 3, "{testbed}: each goes to one: {taken:?}");
        assert!(
            main.list()?
                .iter()
                .chain(&push.list()?)
                .all(|(_, file)| !file.starts_with(folder.path().join("loopbox")))
        );
    }
    Ok(())
}

/// If a link were handed out, an app that sends its reports would send another of its files.
#[test]
fn what_is_no_file_of_the_folder_is_not_handed_out() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let (folder, elsewhere) = (tempdir()?, tempdir()?);
        let mut app = Taking::start(&testbed, folder.path(), &[])?;
        app.order("dump real")?;
        let [(_, real)] = &app.take()?[..] else { anyhow::bail!("{testbed}: no report") };
        let outside = elsewhere.path().join("loopbox-1-2-requested-1.lbx");
        fs::rename(real, &outside)?;
        symlink(&outside, folder.path().join("loopbox-1-2-requested-1.lbx"))?;
        fs::create_dir(folder.path().join("loopbox-1-2-requested-2.lbx"))?;
        let pipe = folder.path().join("loopbox-1-2-requested-3.lbx");
        ensure!(Command::new("mkfifo").arg(pipe).status()?.success());
        assert_eq!(app.list()?.len() + app.take()?.len(), 0, "{testbed}");
        let own =
            fs::read_dir(folder.path().join("taken"))?.next().context("no folder of the process")??.path();
        fs::remove_dir(&own)?;
        symlink(elsewhere.path(), &own)?;
        assert_eq!(app.list()?.len() + app.take()?.len(), 0, "{testbed}: by a folder");
        app.order("dump next")?;
        assert_eq!(labels(&app.list()?), ["next"], "{testbed}");
        assert!(!app.claim("next")?.0, "{testbed}: nothing is moved out of the folder");
        assert!(outside.exists() && fs::read_dir(elsewhere.path())?.count() == 1);
    }
    Ok(())
}

#[test]
fn the_report_of_a_process_that_is_gone_is_handed_out_as_it_is() -> Result<()> {
    let folder = tempdir()?;
    let mut app = Taking::start("art10", folder.path(), &[NOT_RESPONDING])?;
    app.order("hang")?;
    app.expects("ANR CONFIRMED complete hang []")?;
    assert_eq!(app.take()?, []);
    app.app.kill();
    let mut next = Taking::start("art10", folder.path(), &[])?;
    let taken = next.take()?;
    let [(words, _)] = &taken[..] else { panic!("{taken:?}") };
    assert_eq!(words, "ANR CONFIRMED complete hang []", "at once: it waits for what the worker finds");
    next.end()
}

/// The files' times are as on a phone whose clock was at 1970, or at the day its system was built, until it
/// got the time from a network.
#[test]
fn a_report_of_before_the_clock_was_set_is_handed_out() -> Result<()> {
    let folder = tempdir()?;
    let golden = root().join("tests/golden/report-1.0.lbx");
    let other = folder.path().join("taken/other");
    fs::create_dir_all(&other)?;
    let day = Duration::from_hours(24);
    let times = [
        ("epoch", SystemTime::UNIX_EPOCH + day / 2),
        ("built", SystemTime::UNIX_EPOCH + 18_262 * day),
        ("known", SystemTime::now() - 13 * day),
        ("old", SystemTime::now() - 15 * day),
    ];
    for (name, time) in times {
        for place in [folder.path(), &other] {
            let file = place.join(name).with_extension("lbx");
            fs::copy(&golden, &file)?;
            fs::File::options().write(true).open(&file)?.set_modified(time)?;
        }
    }
    let mut app = Taking::start("art10", folder.path(), &[])?;
    let mut taken: Vec<String> =
        app.take()?.iter().filter_map(|(_, file)| Some(file.file_stem()?.to_str()?.to_owned())).collect();
    taken.sort();
    assert_eq!(taken, ["built", "epoch", "known"]);
    for (name, is_there) in [("built", true), ("epoch", true), ("known", true), ("old", false)] {
        assert_eq!(other.join(name).with_extension("lbx").exists(), is_there, "of another process: {name}");
    }
    // From now on their age is known.
    let seen = fs::metadata(other.join("epoch.lbx"))?.modified()?;
    ensure!(seen.elapsed().is_ok_and(|age| age < day), "{seen:?}");
    app.end()
}

/// An app that claims reports at each launch and cannot send them.
#[test]
fn claimed_reports_are_bounded_without_taking() -> Result<()> {
    let folder = tempdir()?;
    let golden = root().join("tests/golden/report-1.0.lbx");
    let hour = Duration::from_hours(1);
    let put = |place: &Path, name: &str, age: Duration| -> Result<()> {
        let file = place.join(name).with_extension("lbx");
        fs::copy(&golden, &file)?;
        Ok(fs::File::options().write(true).open(&file)?.set_modified(SystemTime::now() - age)?)
    };
    let names = |place: &Path| -> Result<Vec<String>> {
        let names =
            reports(place)?.into_iter().map(|file| Ok(file.file_stem().context("no name")?.to_owned()));
        let names = names.collect::<Result<Vec<_>>>()?;
        let mut names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    };
    let gone = folder.path().join("taken/gone");
    fs::create_dir_all(&gone)?;
    put(&gone, "old", 15 * 24 * hour)?;
    put(&gone, "newer", 13 * 24 * hour)?;
    let mut own = PathBuf::new();
    for launch in 1..=2 {
        let new: Vec<String> = (10..25).map(|nth| format!("launch-{launch}-{nth}")).collect();
        for (nth, name) in (0..).zip(&new) {
            put(folder.path(), name, (100 - 20 * launch - nth) * hour)?;
        }
        let mut app = Taking::start("art10", folder.path(), &[])?;
        let label = app.list()?.first().context("no report")?.0.clone();
        own = app.claim(&label)?.1.parent().context("no folder")?.to_owned();
        app.end()?;
        let kept = names(&own)?;
        assert!(kept.len() <= 20, "{kept:?}");
        assert!(kept.ends_with(&new), "{kept:?}");
    }
    assert_eq!(names(&own)?.len(), 20, "the newest ones of both launches");
    assert_eq!(names(&gone)?, ["newer"], "of a process that is gone");
    // The oldest of all, which the app has in its hands.
    put(folder.path(), "last", 15 * 24 * hour)?;
    let mut app = Taking::start("art10", folder.path(), &[])?;
    let label = app.list()?.first().context("no report")?.0.clone();
    app.order(&format!("claim {label}"))?;
    let kept = names(&own)?;
    assert!(kept.len() == 20 && kept.contains(&"last".to_owned()), "{kept:?}");
    app.end()
}

/// A process was killed while it added to reports that it had taken.
#[test]
fn what_was_left_in_the_making_is_deleted_once_nobody_can_be_writing_it() -> Result<()> {
    let folder = tempdir()?;
    let other = folder.path().join("taken/other");
    fs::create_dir_all(&other)?;
    for (name, minutes) in [("old.lbx.next", 11), ("new.lbx.next", 0), ("notes.txt", 11)] {
        let file = fs::File::create(other.join(name))?;
        file.set_modified(SystemTime::now() - Duration::from_mins(minutes))?;
    }
    let mut app = Taking::start("art10", folder.path(), &[])?;
    assert_eq!(app.take()?, []);
    for (name, is_there) in [("old.lbx.next", false), ("new.lbx.next", true), ("notes.txt", true)] {
        assert_eq!(other.join(name).exists(), is_there, "{name}");
    }
    app.end()
}

#[test]
fn what_the_app_asks_for_is_distinguished_from_a_hang_and_from_another_apps_anr() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let mut app = Taking::start(&testbed, folder.path(), &[])?;
        app.give("dump hang")?;
        app.expects("REQUESTED RESPONSIVE complete requested [hang]")?;
        wait_for_signal_catcher(app.app.pid())?;
        quit(&app.app)?;
        app.expects("SIGQUIT RESPONSIVE complete sigquit []")?;
        app.order("hang")?;
        // It may be complete by the time that the listener reads it; `asked` makes it wait.
        let first = app.app.wait_for("SCRIPT first HANG HANG ", LIMIT)?;
        ensure!(first.ends_with("complete hang []"), "{first}");
        app.expects("HANG HANG complete hang []")?;
        app.open_gate()?;
        app.expects("HANG HANG complete hang []")?;
        app.end()?;
    }
    Ok(())
}

/// `ApplicationStartInfo` is there since API 35.
#[test]
fn a_report_says_how_the_system_started_the_process_where_it_is_known() -> Result<()> {
    let cases = [
        (35, "started=1|6", Some("cold, launcher")),
        (35, "started=0|99", Some("99")),
        (35, "started=dead", None),
        (35, "started=", None),
        (34, "started=1|6", None),
    ];
    for (level, started, wanted) in cases {
        let folder = tempdir()?;
        let app = launcher("art11")?.app("scenario.Taking").property("loopbox.sdk", level);
        let mut app = Taking::begin(app, folder.path(), &[started])?;
        app.take()?;
        app.give("dump start")?;
        app.expects("REQUESTED RESPONSIVE complete requested [start]")?;
        let file = reports(folder.path())?.into_iter().next().context("no report")?;
        let report = read(&file)?;
        let found = report.meta.annotations.iter().find(|(name, _)| name == "system_start");
        assert_eq!(found.map(|(_, words)| words.as_str()), wanted, "{level} {started}");
        app.end()?;
    }
    Ok(())
}

/// The name of the system's profile in the file.
fn profile(report: &Path) -> Result<Option<String>> {
    let annotations = read(report)?.meta.annotations;
    let found: Vec<_> = annotations.into_iter().filter(|(name, _)| name == "system_profile").collect();
    ensure!(found.len() <= 1, "{found:?}");
    Ok(found.into_iter().next().map(|(_, path)| path))
}

const PROFILE: &str = "/data/user/0/com.example.shop/files/profiling/anr.perfetto-trace";

/// Waits until the process has been given a profile.
fn delivered(app: &mut Taking, path: &str) -> Result<()> {
    app.give(&format!("profile 2|0|{path}"))?;
    app.app.wait_for(&format!("SCRIPT profile delivered {path}"), LIMIT).map(drop)
}

/// `ProfilingTrigger` is there since API 36.
#[test]
fn an_anr_of_a_living_process_names_the_systems_profile_of_it() -> Result<()> {
    let folder = tempdir()?;
    let app = launcher("art11")?.app("scenario.Taking").property("loopbox.sdk", 36);
    let mut app = Taking::begin(app, folder.path(), &["systemProfiles=on", NOT_RESPONDING])?;
    app.app.wait_for("SCRIPT profile triggers [2 once in 1 h]", LIMIT)?;
    app.give("dump before")?;
    app.expects("REQUESTED RESPONSIVE complete requested [before]")?;
    // Those of other triggers and those that failed are of no ANR.
    app.order("profile 1|0|/data/start.perfetto-trace")?;
    app.order("profile 2|3|/data/failed.perfetto-trace")?;
    app.order("hang")?;
    app.expects("ANR CONFIRMED complete hang []")?;
    delivered(&mut app, PROFILE)?;
    app.open_gate()?;
    app.expects("ANR CONFIRMED complete hang []")?;
    let taken = app.take_all(2)?;
    let words: Vec<&str> = taken.iter().map(|(words, _)| words.as_str()).collect();
    let anr = format!("ANR CONFIRMED complete hang [] profile {PROFILE}");
    assert_eq!(words, ["REQUESTED RESPONSIVE complete requested [before]", &anr]);
    assert_eq!(profile(&taken[1].1)?.as_deref(), Some(PROFILE));
    // Every process of the app is given the result; a second one is of an ANR without a report.
    delivered(&mut app, PROFILE)?;
    delivered(&mut app, "/data/second.perfetto-trace")?;
    assert_eq!(app.take()?, taken);
    app.give("uninstall")?;
    app.app.wait_for("SCRIPT profile triggers []", LIMIT)?;
    app.end()
}

#[test]
fn the_profile_of_an_anr_that_ended_the_process_is_known_at_the_next_start() -> Result<()> {
    // Level, configuration, what the system has, the exits after the process's own, and what is found.
    let has = format!("profiled=2|0|{PROFILE}");
    let cases = [
        (36, "systemProfiles=on", has.as_str(), "", Some(PROFILE)),
        (36, "systemProfiles=on", "profiled=dead", "", None),
        (36, "systemProfiles=off", &has, "", None),
        (35, "systemProfiles=on", &has, "", None),
        // The system knows of a later ANR, whose report is not there.
        (36, "systemProfiles=on", &has, "1|com.example.shop:push", None),
    ];
    for (level, option, profiled, later, wanted) in cases {
        let folder = tempdir()?;
        let mut app = Taking::start("art11", folder.path(), &[])?;
        app.order("hang")?;
        app.expects("HANG HANG complete hang []")?;
        let report = reports(folder.path())?.into_iter().next().context("no report")?;
        let (process, pid) = (read(&report)?.meta.process.name, app.app.pid());
        app.app.kill();
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
        let anr = ProcessExit::ANR;
        let mut exits = format!("exits={pid}|{process}|{at}|{anr}|0|words");
        if !later.is_empty() {
            exits = exits.replacen('=', &format!("={later}|{at}|{anr}|0|words,"), 1);
        }
        let next = launcher("art11")?.app("scenario.Taking").property("loopbox.sdk", level);
        let mut next = Taking::begin(next, folder.path(), &[option, profiled, &exits])?;
        let taken = next.take()?;
        ensure!(taken.len() == 1 && taken[0].0.starts_with("ANR CONFIRMED"), "{taken:?}");
        assert_eq!(profile(&taken[0].1)?.as_deref(), wanted, "{level} {option} {profiled} {later}");
        let asked = next.app.seen().iter().any(|line| line.contains("profile triggers"));
        assert_eq!(asked, level >= 36 && option.ends_with("on") && profiled != "profiled=dead");
        next.end()?;
    }
    Ok(())
}

/// Kills an app that has left a report. Returns how the system knows of that: with this reason.
fn kill(app: &mut Taking, folder: &Path, reason: i32) -> Result<String> {
    let report = reports(folder)?.into_iter().next().context("no report")?;
    let (process, pid) = (read(&report)?.meta.process.name, app.app.pid());
    app.app.kill();
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
    Ok(format!("exits={pid}|{process}|{at}|{reason}|0|words"))
}

/// With `keepProcessState=on` the last report has the state that the app stored with the system
/// (`setProcessStateSummary`): as text if it is printable, otherwise in hexadecimal.
#[test]
fn the_last_report_of_a_process_keeps_its_state_where_the_app_wants_that() -> Result<()> {
    let text = "cart: 3 items, \u{20ac}";
    let hex = "636172743a2033206974656d732c20e282ac";
    let cases = [
        ("keepProcessState=on", hex, Some(text)),
        ("keepProcessState=on", "00ff0a80", Some("0x00ff0a80")),
        ("keepProcessState=on", "6f6b0a", Some("0x6f6b0a")),
        ("keepProcessState=on", "", None),
        ("keepProcessState=off", hex, None),
    ];
    for (option, summary, wanted) in cases {
        let folder = tempdir()?;
        let mut app = Taking::start("art11", folder.path(), &[])?;
        for label in ["first", "last"] {
            app.give(&format!("dump {label}"))?;
            app.expects(&format!("REQUESTED RESPONSIVE complete requested [{label}]"))?;
        }
        let exit = kill(&mut app, folder.path(), 10)?;
        let mut next =
            Taking::start("art11", folder.path(), &[&exit, option, &format!("summary={summary}")])?;
        let taken = next.take()?;
        ensure!(taken.len() == 2, "{taken:?}");
        let state = |report: &Path| -> Result<Option<String>> {
            let annotations = read(report)?.meta.annotations;
            Ok(annotations.into_iter().find_map(|(name, state)| (name == "process_state").then_some(state)))
        };
        assert_eq!(state(&taken[0].1)?, None, "{summary}");
        assert_eq!(state(&taken[1].1)?.as_deref(), wanted, "{option} {summary}");
        next.end()?;
    }
    Ok(())
}

/// What the system has kept of a process is for one of its reports, however the app gets them: the process's
/// state for the last one, ART's trace for that of the ANR that ended the process.
#[test]
fn what_the_system_has_for_one_report_is_in_no_other_that_is_claimed() -> Result<()> {
    for (option, system, reason, labels) in [
        ("keepProcessState=on", "summary=636172743a", 10, &["first", "last"][..]),
        ("keepProcessState=off", "trace=DALVIK THREADS (14):", ProcessExit::ANR, &["first", "last", ""]),
    ] {
        let folder = tempdir()?;
        let mut app = Taking::start("art11", folder.path(), &[])?;
        for label in ["first", "last"] {
            app.give(&format!("dump {label}"))?;
            app.expects(&format!("REQUESTED RESPONSIVE complete requested [{label}]"))?;
        }
        let exit = kill(&mut app, folder.path(), reason)?;
        let mut next = Taking::start("art11", folder.path(), &[&exit, option, system])?;
        wait_until("as many reports", || Ok((next.list()?.len() == labels.len()).then_some(())))?;
        for label in labels {
            let (_, file) = next.claim(label)?;
            let has_state = read(&file)?.meta.annotations.iter().any(|(name, _)| name == "process_state");
            let is_last = Some(label) == labels.last();
            assert_eq!(has_state || system_trace(&file)?.is_some(), is_last, "{system}: {label}");
        }
        next.end()?;
    }
    Ok(())
}

/// A process that was killed during a hang that it had not reported yet.
#[test]
fn what_a_dead_process_left_says_how_it_ended() -> Result<()> {
    let cases = [(None, "RECOVERED HANG complete recovered []"), (Some(4), "CRASH HANG complete crash []")];
    for (reason, words) in
        cases.into_iter().chain([(Some(ProcessExit::ANR), "ANR CONFIRMED complete recovered []")])
    {
        let folder = tempdir()?;
        let mut app = Taking::start("art11", folder.path(), &["hangMs=60000"])?;
        app.order("hang")?;
        let sampled =
            |report: &Report| running_tree(report).is_some_and(|tree| tree.sample_deltas_ns.len() >= 120);
        let report = wait_for_ring("the hang is sampled", folder.path(), app.app.pid(), sampled)?;
        let process = report.meta.process.name;
        let pid = app.app.pid();
        app.app.kill();
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
        let exit = reason.map(|reason| format!("exits={pid}|{process}|{at}|{reason}|0|words"));
        let system: Vec<&str> = exit.as_deref().into_iter().chain(["trace=DALVIK THREADS (14):"]).collect();
        let mut next = Taking::start("art11", folder.path(), &system)?;
        let taken = next.take()?;
        let ended = if reason.is_some() { format!("{words} ended {at}") } else { words.to_owned() };
        ensure!(taken.len() == 1 && taken[0].0 == ended, "{ended}: {taken:?}");
        let trace = (reason == Some(ProcessExit::ANR)).then(|| "DALVIK THREADS (14):".to_owned());
        assert_eq!(system_trace(&taken[0].1)?, trace, "of an ANR, and of nothing else");
        read(&taken[0].1)?;
        assert_eq!(next.take()?, taken, "once");
        assert_eq!(system_trace(&taken[0].1)?, trace);
        next.end()?;
    }
    Ok(())
}

/// The system's stream of a trace may throw, or break off.
#[test]
fn what_came_of_the_systems_trace_is_kept_and_the_next_start_tries_again() -> Result<()> {
    const WHOLE: &str = "DALVIK THREADS (14): ----- end 9 -----";
    let folder = tempdir()?;
    let mut app = Taking::start("art11", folder.path(), &["hangMs=60000"])?;
    app.order("hang")?;
    let sampled =
        |report: &Report| running_tree(report).is_some_and(|tree| tree.sample_deltas_ns.len() >= 120);
    let process =
        wait_for_ring("the hang is sampled", folder.path(), app.app.pid(), sampled)?.meta.process.name;
    let pid = app.app.pid();
    app.app.kill();
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map(|since| since.as_millis());
    // Newest first. Starts that end at once would switch the recorder off, unless the system knows that they
    // just ended.
    let mut exits = vec![format!("{pid}|{process}|{}|{}|0|words", now()?, ProcessExit::ANR)];
    let trace = format!("trace={WHOLE}");
    for (how, wanted) in [
        ("traceThrows=yes", None),
        ("traceCut=8", Some("DALVIK T")),
        ("traceCut=3", Some("DALVIK T")),
        ("traceCut=-1", Some(WHOLE)),
        ("traceCut=12", Some(WHOLE)),
        ("traceThrows=yes", Some(WHOLE)),
    ] {
        let exits_said = format!("exits={}", exits.join(","));
        let mut next = Taking::start("art11", folder.path(), &[&exits_said, &trace, how])?;
        let pid = next.app.pid();
        let taken = next.take()?;
        ensure!(taken.len() == 1, "{how}: {taken:?}");
        assert_eq!(system_trace(&taken[0].1)?.as_deref(), wanted, "{how}");
        read(&taken[0].1)?;
        next.end()?;
        exits.insert(0, format!("{pid}|{process}|{}|1|0|ended", now()?));
    }
    Ok(())
}

/// The system's trace in a report.
fn system_trace(report: &Path) -> Result<Option<String>> {
    let bytes = fs::read(report)?;
    let contents = container::read(&bytes)?;
    assert_eq!(contents.damage, []);
    let found: Vec<_> = contents.sections.iter().filter(|section| section.tag == Tag(*b"TRAC")).collect();
    let [section] = &found[..] else {
        ensure!(found.is_empty(), "{} traces", found.len());
        return Ok(None);
    };
    let packed = tempdir()?;
    let file = packed.path().join("trace.gz");
    fs::write(&file, section.payload)?;
    let text = Command::new("gzip").arg("-dc").arg(file).output()?;
    ensure!(text.status.success(), "not packed by gzip");
    Ok(Some(String::from_utf8(text.stdout)?))
}
