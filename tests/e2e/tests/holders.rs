//! Which thread makes the main thread wait, and what the other threads do: in the report of a real ANR
//! signal.

use anyhow::{Context, Result, ensure};
use lab_launch::{Running, reports};
use lab_reports::live::quit;
use lab_reports::{LIMIT, read};
use loopbox_e2e::hangs::slow_files::{self, SlowFiles};
use loopbox_e2e::{HANG_REPORT_LATE, launcher};
use loopbox_format::model::{AnrVerdict, Location, LocationId, LockWait, OtherThread, PendingSource, Report};
use loopbox_testbed as testbed;
use std::fs;
use std::path::PathBuf;
use tempfile::tempdir;

fn signalled(testbed: &str, mode: &str) -> Result<Report> {
    let folder = tempdir()?;
    let app = launcher(testbed)?.app("scenario.Holders").argument(format!("dir={}", folder.path().display()));
    let app = app.argument(format!("mode={mode}"));
    let mut app = app.argument(HANG_REPORT_LATE).start()?;
    app.wait_for("SCRIPT main waits", LIMIT)?;
    quit(&app)?;
    let line = app.wait_for("SCRIPT report", LIMIT)?;
    read(line.split_whitespace().nth(2).context("no path")?.as_ref())
}

/// `Class.method` of a stack, top frame first.
fn names(report: &Report, stack: &[LocationId]) -> Vec<String> {
    let name = |&location: &LocationId| match report.symbols.location(location) {
        Some(&Location::Frame { method, .. }) => {
            let Some(method) = report.symbols.method(method) else { return format!("{method:?}") };
            format!("{}.{}", method.class.rsplit('.').next().unwrap_or_default(), method.name)
        }
        other => format!("{other:?}"),
    };
    stack.iter().rev().map(name).collect()
}

/// The steps of the report's chain of locks, each as `class<of class> holder: top frames`.
fn steps(report: &Report) -> Vec<String> {
    let step = |wait: &LockWait| {
        let holder = wait.holder.as_ref();
        let stack = holder.map(|h| names(report, &h.stack)).unwrap_or_default();
        let own: Vec<_> = stack.iter().filter(|name| name.starts_with("Holders.")).cloned().collect();
        let name = holder.map_or("no holder", |h| &*h.name);
        format!("{}<{}> {name}: {}", wait.class, wait.of_class, own.join(" "))
    };
    report.locks.waits.iter().map(step).collect()
}

fn testbeds() -> Vec<String> {
    testbed::to_test_on(&["art10", "art11"])
}

#[test]
fn the_holder_of_a_lock_is_named_with_its_stack() -> Result<()> {
    for testbed in testbeds() {
        let report = signalled(&testbed, "entering")?;
        assert_eq!(steps(&report), ["scenario.Holders$Basket<> holder: Holders.deliver"], "{testbed}");
        assert!(!report.locks.deadlock);
        let holder = report.locks.waits[0].holder.as_ref().context("no holder")?;
        assert_eq!(names(&report, &holder.stack)[0], "Thread.sleep");
        assert!(
            names(&report, &holder.stack)
                .last()
                .is_some_and(|name| name.contains("Holders$") && name.contains(".run"))
        );
    }
    Ok(())
}

#[test]
fn a_wait_to_be_notified_has_no_holder() -> Result<()> {
    for testbed in testbeds() {
        let report = signalled(&testbed, "waiting")?;
        assert_eq!(steps(&report), ["scenario.Holders$Price<> no holder: "], "{testbed}");
    }
    Ok(())
}

#[test]
fn a_chain_is_followed_to_the_thread_that_all_wait_for() -> Result<()> {
    for testbed in testbeds() {
        let report = signalled(&testbed, "chain")?;
        let expected = [
            "scenario.Holders$Basket<> holder: Holders.ask",
            "scenario.Holders$Price<> middle: Holders.ask",
            "java.lang.Class<scenario.Holders> last: Holders.deliver",
        ];
        assert_eq!(steps(&report), expected, "{testbed}");
        assert!(!report.locks.deadlock);
    }
    Ok(())
}

#[test]
fn a_deadlock_with_main_is_reported() -> Result<()> {
    for testbed in testbeds() {
        let report = signalled(&testbed, "deadlock")?;
        let steps = steps(&report);
        assert_eq!(steps[0], "scenario.Holders$Basket<> holder: Holders.ask", "{testbed}");
        assert!(steps[1].starts_with("scenario.Holders$Price<> ") && steps[1].ends_with(": "), "{steps:?}");
        assert_eq!(report.locks.waits[1].holder.as_ref().map(|h| h.tid), Some(report.meta.process.pid));
        assert_eq!((steps.len(), report.locks.deadlock), (2, true));
    }
    Ok(())
}

#[test]
fn the_other_threads_are_in_the_report_of_a_signal() -> Result<()> {
    for testbed in testbeds() {
        let report = signalled(&testbed, "working")?;
        assert!(report.locks.waits.is_empty(), "main waits for nothing: {:?}", report.locks);
        let threads = &report.threads.threads;
        let find = |name: &str| -> Result<&OtherThread> {
            threads.iter().find(|t| t.name == name).with_context(|| format!("no {name} in {threads:?}"))
        };
        let holder = find("holder")?;
        assert_eq!(holder.state, b'S');
        let stack = names(&report, holder.stack.as_deref().context("no stack")?);
        assert!(stack.contains(&"Holders.deliver".to_owned()), "{stack:?}");
        // ART's own daemons run Java, too; the Signal Catcher is known to Java and runs none.
        let daemon = find("FinalizerDaemon")?;
        let stack = names(&report, daemon.stack.as_deref().context("no stack")?);
        assert!(stack.last().is_some_and(|name| name == "Thread.run"), "{stack:?}");
        find("Signal Catcher")?;
        assert!(threads.iter().all(|t| t.tid != report.meta.process.pid), "main is not another thread");
        assert!(threads.iter().all(|t| t.name != "loopbox-sampler"), "it cannot stop itself");
        assert!(threads.iter().all(|t| t.cpu_ns.is_some() && t.state != 0));
        assert_eq!(report.threads.left_out, 0);
    }
    Ok(())
}

/// The holder of main's lock waits for the disk in Java code, where it cannot be stopped. It is the first of
/// many threads.
#[test]
fn a_thread_that_waits_for_the_disk_costs_no_other_its_stack() -> Result<()> {
    if !slow_files::can_mount() {
        println!("left out: mounting a file system takes more rights than this process has");
        return Ok(());
    }
    for testbed in testbeds() {
        let folder = tempdir()?;
        let slow = SlowFiles::mount(folder.path().join("slow"))?;
        let app = launcher(&testbed)?.app("scenario.Holders").argument("mode=disk");
        let app = app.argument(format!("slow={}", slow.folder().display())).argument("hangMs=1000");
        let reports = folder.path().join("reports");
        let mut app = app.argument(format!("dir={}", reports.display())).start()?;
        let (_, report) = report_of(&mut app, " hang")?;
        assert_eq!(steps(&report), ["scenario.Holders$Basket<> holder: "], "{testbed}");
        let named =
            |name: &'static str| report.threads.threads.iter().filter(move |thread| thread.name == name);
        let holder = named("holder").next().with_context(|| format!("{:?}", report.threads))?;
        assert_eq!((holder.state, &holder.stack), (b'D', &None), "{testbed}");
        let asleep = |thread: &&OtherThread| {
            let stack = thread.stack.as_deref().unwrap_or_default();
            names(&report, stack).contains(&"Holders.deliver".to_owned())
        };
        assert_eq!(named("sleeper").filter(asleep).count(), 20, "{testbed}: {:?}", report.threads);
    }
    Ok(())
}

/// The next report that the listener is called with, for `reason`.
fn report_of(app: &mut Running, reason: &str) -> Result<(PathBuf, Report)> {
    let line = app.wait_for("SCRIPT report", LIMIT)?;
    ensure!(line.ends_with(reason), "{line}");
    let path = PathBuf::from(line.split_whitespace().nth(2).context("no path")?);
    let report = read(&path)?;
    Ok((path, report))
}

/// A hang that the system calls an ANR, and that ends. Its report has a lock and other threads. Everything is
/// in one file, added step by step.
#[test]
fn all_that_is_learnt_of_a_hang_is_in_one_file() -> Result<()> {
    for testbed in testbeds() {
        let folder = tempdir()?;
        let gate = folder.path().join("gate");
        let app = launcher(&testbed)?.app("scenario.Holders");
        let app = app.argument(format!("dir={}", folder.path().join("reports").display()));
        let mut app = app.argument(format!("gate={}", gate.display())).argument("hangMs=1000").start()?;
        let (file, hang) = report_of(&mut app, " hang")?;
        assert_eq!((hang.anr.verdict, hang.anr.signal), (AnrVerdict::Hang, None));
        assert_eq!((hang.locks.waits.len(), hang.anr.ended_after_ns), (1, None));
        quit(&app)?;
        let (same, signalled) = report_of(&mut app, " sigquit")?;
        assert_eq!((same, signalled.anr.ended_after_ns), (file.clone(), None));
        fs::write(&gate, "")?;
        let (same, mut ended) = report_of(&mut app, " sigquit")?;
        assert_eq!(same, file);
        assert_eq!(reports(&folder.path().join("reports"))?, [file]);
        assert_eq!(steps(&ended), ["scenario.Holders$Basket<> holder: Holders.deliver"], "{testbed}");
        assert!(ended.threads.threads.iter().any(|thread| thread.name == "holder"));
        assert_eq!(ended.pending.source, PendingSource::MessagesField);
        assert!(ended.anr.signal.is_some_and(|signal| signal.count == 1), "{:?}", ended.anr);
        assert!(ended.anr.ended_after_ns.is_some_and(|ns| ns >= signalled.anr.ran_ns), "{:?}", ended.anr);
        assert!(ended.digest.contains(" in all"), "{}", ended.digest);
        ended.anr = signalled.anr.clone();
        ended.digest.clone_from(&signalled.digest);
        assert_eq!(ended, signalled, "all else is as it was");
    }
    Ok(())
}
