//! The verdicts of hangs whose cause is known, on a real Android Runtime.

use anyhow::{Context, Result, ensure};
use loopbox_e2e::causes::{CAUSES, Known, QUEUE_UNKNOWN, is_short_of_cpu};
use loopbox_format::model::{DumpReason, Feature, Report, StackSource};
use loopbox_report::diagnose::Diagnosis;
use std::collections::BTreeSet;
use std::fs;

/// Runs the app that hangs for this cause on ART 10, and checks that the diagnosis finds the cause.
fn found(cause: &str) -> Result<Diagnosis> {
    found_on("art10", cause)
}

fn found_on(testbed: &str, cause: &str) -> Result<Diagnosis> {
    Ok(played(testbed, cause)?.1)
}

/// As [`found`]; also returns the report.
fn found_in(cause: &str) -> Result<(Report, Diagnosis)> {
    played("art10", cause)
}

fn played(testbed: &str, cause: &str) -> Result<(Report, Diagnosis)> {
    let known = Known::of(cause)?;
    let (report, verdict) = known.play(testbed)?;
    println!("{cause:10} {testbed} {:?} {}", verdict.confidence, verdict.headline);
    known.check(&verdict)?;
    // The thread that asks for the report is in the app's code, and in ours.
    let lines = verdict.causes.iter().flat_map(|cause| &cause.evidence);
    let asker = lines.into_iter().find(|line| line.starts_with("thread reporter "));
    ensure!(asker.is_none(), "{cause}: {asker:?}");
    Ok((report, verdict))
}

/// As [`found`]; also checks that the line for crash services contains these words. Words may be missing when
/// the queue was not read: another thread reads it, and may not run in time on a busy machine.
fn found_with(cause: &str, words: &[&str]) -> Result<Diagnosis> {
    let (report, verdict) = found_in(cause)?;
    let unread = verdict.caveats.iter().any(|caveat| caveat == QUEUE_UNKNOWN);
    let line = report.digest.lines().nth(4).context("no digest")?;
    let missing = words.iter().find(|word| !line.contains(**word) && !unread);
    ensure!(missing.is_none() && line.len() <= 900, "{missing:?} in {line}");
    Ok(verdict)
}

/// The title of the first cause.
fn title(verdict: &Diagnosis) -> &str {
    &verdict.causes[0].title
}

/// Whether a line of the first cause's evidence begins with `begin` and contains `end`.
fn has_evidence(verdict: &Diagnosis, begin: &str, end: &str) -> bool {
    verdict.causes[0].evidence.iter().any(|line| line.starts_with(begin) && line.contains(end))
}

#[test]
fn each_of_the_first_causes_has_a_test_here() -> Result<()> {
    let tests = fs::read_to_string(
        file!().rsplit('/').next().map(|name| format!("tests/{name}")).context("no name")?,
    )?;
    let played: BTreeSet<&str> = tests
        .split("found")
        .filter_map(|call| {
            let of_art11 = call.strip_prefix("_on(\"art11\", ");
            let plain = ["_in(", "_with(", "("].iter().find_map(|begin| call.strip_prefix(begin));
            let arguments = of_art11.or(plain)?;
            arguments.strip_prefix('"')?.split('"').next()
        })
        .collect();
    let missing: Vec<&str> =
        CAUSES.iter().map(|known| known.name).filter(|name| !played.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    Ok(())
}

#[test]
fn a_message_that_computes() -> Result<()> {
    found("busy").map(drop)
}

#[test]
fn a_victim_of_the_message_before() -> Result<()> {
    found("victim").map(drop)
}

#[test]
fn a_flood() -> Result<()> {
    found_with("flood", &[" of them causes.Causes$Flood"]).map(drop)
}

#[test]
fn a_leaked_barrier() -> Result<()> {
    found_with("barrier", &["a sync barrier has held "]).map(drop)
}

#[test]
fn a_lock_that_another_thread_holds() -> Result<()> {
    let words = "waits for a lock (java.lang.Object) held by holder in java.lang.Thread.sleep";
    let verdict = found_with("lock", &[words])?;
    let held = "waits for the monitor of a java.lang.Object, held by thread holder in Thread.sleep";
    assert!(title(&verdict).ends_with(held), "{verdict:#?}");
    assert!(has_evidence(&verdict, "thread holder ", "called from causes.Causes$"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_deadlock() -> Result<()> {
    let verdict = found_with("deadlock", &["deadlock: waits for a lock (java.lang.Object) held by holder"])?;
    let title = title(&verdict);
    assert!(title.starts_with("Deadlock: ") && title.ends_with("in a cycle with holder"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_sleep() -> Result<()> {
    found("sleep").map(drop)
}

#[test]
fn files() -> Result<()> {
    found("files").map(drop)
}

#[test]
fn a_collection_that_was_asked_for() -> Result<()> {
    found("gc").map(drop)
}

#[test]
fn a_lock_of_java_util_concurrent() -> Result<()> {
    let words = "waits for a lock (java.util.concurrent.locks.ReentrantLock) held by holder";
    let verdict = found_with("reentrant", &[words])?;
    let held = "waits for a java.util.concurrent.locks.ReentrantLock, held by thread holder in Thread.sleep";
    assert!(title(&verdict).ends_with(held), "{verdict:#?}");
    assert!(
        has_evidence(&verdict, "thread holder ", "called from causes.Waits$Ledger.audit"),
        "{verdict:#?}"
    );
    Ok(())
}

#[test]
fn a_deadlock_of_java_util_concurrent() -> Result<()> {
    let verdict = found("crossed")?;
    let title = title(&verdict);
    assert!(title.starts_with("Deadlock: ") && title.ends_with("in a cycle with holder"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_wait_to_be_notified() -> Result<()> {
    found("wait").map(drop)
}

fn is_named(verdict: &Diagnosis) {
    let ends = "waits for thread worker to end, which is in Thread.sleep";
    assert!(title(verdict).ends_with(ends), "{verdict:#?}");
    let does = "called from causes.Waits$Crew$1.run";
    assert!(has_evidence(verdict, "main waits for thread worker (", does), "{verdict:#?}");
}

#[test]
fn a_thread_that_does_not_end() -> Result<()> {
    is_named(&found_with("join", &["waits for thread worker to end"])?);
    Ok(())
}

#[test]
fn a_thread_that_does_not_end_on_art_11() -> Result<()> {
    is_named(&found_on("art11", "join")?);
    Ok(())
}

#[test]
fn a_main_thread_that_joins_itself() -> Result<()> {
    let verdict = found("own-join")?;
    assert!(title(&verdict).ends_with("waits for thread main to end, which is itself"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_result_that_does_not_come() -> Result<()> {
    found("future").map(drop)
}

#[test]
fn a_thread_that_parks_itself() -> Result<()> {
    found("park").map(drop)
}

#[test]
fn a_server_that_does_not_answer() -> Result<()> {
    found("network").map(drop)
}

#[test]
fn an_idle_handler() -> Result<()> {
    found("idle").map(drop)
}

#[test]
fn an_input_handler() -> Result<()> {
    let verdict = found("touch")?;
    let cause = verdict.causes.iter().find(|cause| cause.rule == "outside").context("not outside")?;
    assert!(cause.title.contains("outside of messages, in input"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_cold_start() -> Result<()> {
    let verdict = found("cold")?;
    let cause = verdict.causes.iter().find(|cause| cause.rule == "current-slow").context("not slow")?;
    assert!(cause.evidence.iter().any(|line| line.contains("BIND_APPLICATION is given 10")), "{verdict:#?}");
    Ok(())
}

/// The app has a substitute for the platform's class of preferences, with the platform's names. A thread of
/// this class opens the file for reading. The file is a named pipe that nobody opens for writing.
#[test]
fn preferences_that_are_read() -> Result<()> {
    let verdict = found("load")?;
    assert!(title(&verdict).contains("waits for shared preferences"), "{verdict:#?}");
    Ok(())
}

/// The system stops an Activity, and waits until the app's changes of preferences are written. No method of
/// the app is on the stack. Classes and file are like those of [`preferences_that_are_read`].
#[test]
fn preferences_that_are_written() -> Result<()> {
    let verdict = found("apply")?;
    let wanted = "waits for shared preferences, in QueuedWork.processPendingWork";
    assert!(title(&verdict).contains(wanted), "{verdict:#?}");
    // The thread that writes them has the lock: the second cause names what it does.
    let writer = verdict.causes.iter().find(|cause| cause.rule == "lock").context("no writer")?;
    assert!(writer.evidence.iter().any(|line| line.starts_with("thread queued-work-loo")), "{verdict:#?}");
    Ok(())
}

/// There is no SQLite on a testbed: a replacement waits in native code, with the platform's names.
#[test]
fn a_query() -> Result<()> {
    let verdict = found("query")?;
    assert!(title(&verdict).contains("waits for a database that is busy"), "{verdict:#?}");
    Ok(())
}

/// The replacement for SQLite of [`a_query`] has a connection pool in Java code, as on a device.
#[test]
fn a_database_that_another_thread_works_on() -> Result<()> {
    let verdict = found("connection")?;
    let wanted = "waits for a database connection, in SQLiteConnectionPool.waitForConnection";
    assert!(title(&verdict).contains(wanted), "{verdict:#?}");
    Ok(())
}

/// There is no Binder driver on a testbed: a replacement with the platform's names reads from a socket
/// without a writer.
#[test]
fn a_binder_call() -> Result<()> {
    let verdict = found("binder")?;
    assert!(title(&verdict).contains("ICatalog.price, called from Platform$Shop.open"), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_wait_in_native_code() -> Result<()> {
    let verdict = found("native")?;
    assert!(title(&verdict).contains("waits in native code, in Platform$Codec.configure"), "{verdict:#?}");
    Ok(())
}

/// Main loads classes from a dex file. The file is a pipe to which nothing is written, so main waits.
#[test]
fn classes_that_are_loaded() -> Result<()> {
    let verdict = found("dex")?;
    assert!(title(&verdict).contains("loads code"), "{verdict:#?}");
    Ok(())
}

/// The library's constructor does not end, and the linker holds its lock as soon as the app starts. So the
/// recorder must find ART, sample and report without the linker.
#[test]
fn a_library_that_is_loaded() -> Result<()> {
    let (report, verdict) = found_in("library")?;
    // The first one, but on a machine where the stacks came late.
    assert!(verdict.causes.iter().any(|cause| cause.title.contains("loads code")), "{verdict:#?}");
    // Where the worker, which gives way to others, had no processor to examine ART, the report has
    // nothing of the sampler.
    let examined = report.features.iter().any(|state| state.feature == Feature::Sampler);
    let by_art = report.trees.iter().any(|tree| tree.source == StackSource::Art);
    assert!(by_art || !examined, "{:?}", report.features);
    Ok(())
}

/// Checks that the diagnosis says that main allocates in a full heap. Where there are too few processors, it
/// need not say so.
fn is_pressure(verdict: &Diagnosis) -> Result<()> {
    let Some(cause) = verdict.causes.iter().find(|cause| cause.rule == "gc") else {
        ensure!(is_short_of_cpu(verdict), "no collections: {verdict:#?}");
        return Ok(());
    };
    assert!(cause.title.contains("allocates in a full heap, and waits for collections"), "{verdict:#?}");
    for figure in ["collections that threads had to wait for took ", "of the heap's limit is in use"] {
        assert!(cause.evidence.iter().any(|line| line.contains(figure)), "{figure}: {verdict:#?}");
    }
    Ok(())
}

#[test]
fn a_heap_that_is_full() -> Result<()> {
    is_pressure(&found_with("pressure", &["collections took ", "% full"])?)
}

#[test]
fn a_heap_that_is_full_on_art_11() -> Result<()> {
    is_pressure(&found_on("art11", "pressure")?)
}

/// Main computes, and so does a pool of the app with many more threads than processors. The pool is named
/// where it took most of the time, whatever else runs on the machine.
#[test]
fn a_pool_that_takes_the_processors() -> Result<()> {
    let (report, verdict) = found_in("pool")?;
    assert!(
        report.digest.contains(" of it without a processor (its other threads had "),
        "{}",
        report.digest
    );
    let used = report.cpu_use.context("the CPU time was not counted")?;
    let process_ns = used.process_ns.context("the process's CPU time was not read")?;
    let processors = used.processors.context("the processors were not counted")?;
    let all_ns = used.over_ns * u64::from(processors);
    ensure!(used.main_ns > 0 && process_ns > used.main_ns && process_ns < all_ns * 2, "{used:?}");
    let title = title(&verdict);
    if process_ns - used.main_ns >= (all_ns - used.main_ns).div_ceil(2) {
        assert!(title.starts_with("The app's own threads left main hardly any CPU"), "{verdict:#?}");
        assert!(title.ends_with("of pool-N-thread-N were running"), "{verdict:#?}");
    } else {
        assert!(title.starts_with("The machine was starved"), "{used:?} {verdict:#?}");
    }
    Ok(())
}

#[test]
fn a_flood_of_many_kinds() -> Result<()> {
    let verdict = found("kinds")?;
    let cause = verdict.causes.iter().find(|cause| cause.rule == "history").context("no history")?;
    assert!(cause.title.starts_with("Main was busy with many messages"), "{verdict:#?}");
    let shares = cause.evidence.iter().find(|line| line.starts_with("of those kept by name"));
    let shares = shares.with_context(|| format!("{verdict:#?}"))?;
    for handler in ["causes.Crowd$Prices", "causes.Crowd$Badges", "causes.Crowd$Banners"] {
        assert!(shares.contains(handler), "{shares}");
    }
    Ok(())
}

/// A real debugger, by the runtime's own protocol: it stops all threads for most of the message.
#[test]
fn a_debugger_that_stops_all() -> Result<()> {
    let (report, verdict) = found_in("debugger")?;
    ensure!(report.anr.debugged && report.meta.reason != DumpReason::Hang, "{:?}", report.anr);
    assert!(title(&verdict).ends_with("a debugger was attached"), "{verdict:#?}");
    Ok(())
}

/// The runtime stops all threads for each dump. Such a stop is shorter than the time between two samples.
#[test]
fn one_heap_dump_after_the_other() -> Result<()> {
    found("heap-dumps").map(drop)
}

#[test]
fn a_process_that_is_stopped() -> Result<()> {
    found("stopped").map(drop)
}

/// Java reads a pipe like a file.
#[test]
fn what_a_child_process_does_not_write() -> Result<()> {
    found("shell").map(drop)
}

#[test]
fn a_chain_of_monitors_to_its_end() -> Result<()> {
    let verdict = found("chain")?;
    let chain =
        "held by thread cache, which waits for a java.lang.Object, held by thread disk in Thread.sleep";
    assert!(title(&verdict).ends_with(chain), "{verdict:#?}");
    Ok(())
}

#[test]
fn a_class_that_another_thread_initializes() -> Result<()> {
    let verdict = found("class-init")?;
    assert!(
        title(&verdict).ends_with("to be initialized, by thread warm-up in Thread.sleep"),
        "{verdict:#?}"
    );
    Ok(())
}

#[test]
fn a_reader_behind_a_writer() -> Result<()> {
    let verdict = found("read-lock")?;
    assert!(
        has_evidence(&verdict, "thread export ", "it may be a reader that holds the lock"),
        "{verdict:#?}"
    );
    Ok(())
}

/// Nothing hangs: no rule may blame the app.
#[test]
fn an_idle_main_thread_is_not_blamed() -> Result<()> {
    found("free").map(drop)
}
