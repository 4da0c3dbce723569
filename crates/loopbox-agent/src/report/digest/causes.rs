//! What a digest says of the cause, beyond the message and its stack. These are facts that the device knows
//! without the rules of the host tools, and no verdicts. `docs/app-reports.md` lists these facts, and those
//! that only `loopbox show` says.

use super::line::Line;
use super::names::name_parts;
use loopbox_format::code::LOOPBOX;
use loopbox_format::looper::{flood, head_barrier};
use loopbox_format::model::{Location, LocationId, LockWait, MainState, Report};

/// A barrier that is overdue by at least this time can be a cause. The limits here are those of the rules of
/// `loopbox-report`.
const BARRIER_MS: u64 = 1_000;
const FLOOD: u32 = 20;
const COLLECTIONS_PERCENT: u64 = 30;
const COLLECTIONS_MS: u64 = 500;
const HEAP_PERCENT: u64 = 80;
const NO_PROCESSOR_PERCENT: u64 = 30;

/// Writes how long the running message could not run, because the process was frozen or main had no
/// processor. If main had none, also writes how much of the processors' time the app's other threads used.
pub(super) fn write_no_processor(report: &Report, line: &mut Line) {
    let anr = &report.anr;
    if anr.frozen_ns > 0 {
        line.text(", ").ms(anr.frozen_ns).text(" of it frozen");
    }
    if anr.starved_ns == 0 || percent(anr.starved_ns, anr.ran_ns) < NO_PROCESSOR_PERCENT {
        return;
    }
    line.text(", ").ms(anr.starved_ns).text(" of it without a processor");
    if let Some((used_ns, all_ns)) = report.cpu_use.and_then(|used| used.of_other_threads()) {
        line.text(" (its other threads had ").number(percent(used_ns, all_ns)).text(" %)");
    }
}

/// Writes what is known of the cause: a lock, a barrier, collections. `stack` is main's last stack.
pub(super) fn write(report: &Report, stack: &[LocationId], line: &mut Line) {
    write_lock(report, stack, line);
    write_barrier(report, line);
    write_collections(report, line);
}

/// Writes the lock or the thread that main waits for. ART names the lock. Where main is parked or joins a
/// thread, Java names what it waits for.
fn write_lock(report: &Report, stack: &[LocationId], line: &mut Line) {
    let first = report.locks.waits.first();
    if let Some((first, holder)) = first.and_then(|first| Some((first, first.holder.as_ref()?))) {
        wait(report.locks.deadlock, object_of(first), &holder.name, line);
        if let Some((class, method)) = holder.stack.iter().rev().find_map(|&at| of_others(report, at)) {
            line.text(" in ").text(class).text(".").text(method);
        }
        return;
    }
    let start_ns = match &report.main {
        MainState::Running(running) => running.start_ns,
        MainState::Outside(outside) => outside.start_ns.unwrap_or(outside.after_ns),
        _ => return,
    };
    // What Java knows is of this report, but main may have gone on between the two.
    let is_now = |at: &str| number(report, at).is_some_and(|at_ns| at_ns >= start_ns.0);
    if is_now("parked.at_ns")
        && let (Some(class), Some(owner)) = (text(report, "parked.1.for"), text(report, "parked.1.owner"))
    {
        wait(text(report, "parked.deadlock") == Some("true"), class, owner, line);
    } else if is_now("joined.at_ns")
        && let Some(name) = text(report, "joined.name")
        && joins(report, stack)
    {
        line.text(" | waits for thread ").text(name).text(" to end");
    } else if let Some(first) = first {
        line.text(" | waits to be notified on ").text(object_of(first));
    }
}

fn object_of(wait: &LockWait) -> &str {
    if wait.of_class.is_empty() { &wait.class } else { &wait.of_class }
}

/// How many frames at the top of a stack are searched for `Thread.join`.
const JOIN_FRAMES: usize = 6;

/// Whether main was in `Thread.join`, as `stack` shows. The statistic `joined.name` does not show that: it
/// names the thread on whose object main waits. A join waits on an object of the joined thread, but
/// `Thread.sleep` waits on an object of main's own `Thread`. So while main sleeps, `joined.name` names main
/// itself.
fn joins(report: &Report, stack: &[LocationId]) -> bool {
    let mut top = stack.iter().rev().take(JOIN_FRAMES).filter_map(|&at| of_others(report, at));
    top.any(|frame| frame == ("java.lang.Thread", "join"))
}

fn wait(deadlock: bool, class: &str, holder: &str, line: &mut Line) {
    // Its works: `ReentrantLock$NonfairSync`.
    let of_java = class.starts_with("java.util.concurrent.");
    let class = class.split('$').next().filter(|_| of_java).unwrap_or(class);
    line.text(if deadlock { " | deadlock: waits" } else { " | waits" });
    line.text(" for a lock (").text(class).text(") held by ");
    line.text(if holder.is_empty() { "an unnamed thread" } else { holder });
}

/// The class and name of a frame's method; `None` for a method of Loopbox. A thread that asks for the report
/// has frames of Loopbox on its stack.
fn of_others(report: &Report, at: LocationId) -> Option<(&str, &str)> {
    let Location::Frame { method, .. } = *report.symbols.location(at)? else { return None };
    let method = report.symbols.method(method)?;
    (!method.class.starts_with(LOOPBOX)).then_some((&*method.class, &*method.name))
}

/// Writes a leaked barrier. A message that blocks main makes the next frame's barrier old, too, so a barrier
/// is the cause only where main is idle.
fn write_barrier(report: &Report, line: &mut Line) {
    if !matches!(report.main, MainState::Idle { .. }) {
        return;
    }
    let Some(barrier) = head_barrier(&report.pending).filter(|found| found.overdue_ms >= BARRIER_MS) else {
        return;
    };
    line.text(" | a sync barrier has held ").number(barrier.held_back.into()).text(" due messages back for ");
    line.number(barrier.overdue_ms).text(" ms");
}

pub(super) fn write_flood(report: &Report, line: &mut Line) {
    if let Some(flood) = flood(&report.pending).filter(|flood| flood.count >= FLOOD) {
        line.text(", ").number(flood.count.into()).text(" of them ");
        name_parts(flood.target, flood.callback, flood.what, line);
    }
}

/// Writes that the heap is so full that threads wait for one collection after the other.
fn write_collections(report: &Report, line: &mut Line) {
    let number = |name| number(report, name);
    let (Some(used), Some(most)) = (number("heap.used_bytes"), number("heap.max_bytes")) else { return };
    let (Some(waited_ms), Some(of_ms)) = (number("gc.lately.blocking_time_ms"), number("gc.lately.ms"))
    else {
        return;
    };
    let waited = percent(waited_ms, of_ms);
    if of_ms < COLLECTIONS_MS || waited < COLLECTIONS_PERCENT || percent(used, most) < HEAP_PERCENT {
        return;
    }
    line.text(" | collections took ").number(waited).text(" % of the last ").number(of_ms);
    line.text(" ms, the heap is ").number(percent(used, most)).text(" % full");
}

/// A percentage, at most 100; 0 when the whole is 0.
fn percent(part: u64, whole: u64) -> u64 {
    part.min(whole).saturating_mul(100).checked_div(whole).unwrap_or(0)
}

fn text<'r>(report: &'r Report, name: &str) -> Option<&'r str> {
    let statistic = report.statistics.iter().find(|statistic| statistic.name == name)?;
    Some(&statistic.value)
}

fn number(report: &Report, name: &str) -> Option<u64> {
    loopbox_format::text::number(text(report, name)?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{digest, hung};
    use super::*;
    use loopbox_format::model::{CpuUse, LockHolder, PendingSource, Statistic, Uptime};

    const MS: u64 = 1_000_000;

    fn idle(lines: Vec<String>) -> Report {
        let mut report = Report { main: MainState::Idle { since_ns: Uptime::ZERO }, ..Report::default() };
        report.meta.dumped_at.uptime_ns = Uptime(5_304 * MS);
        report.pending.source = PendingSource::MessagesField;
        report.pending.lines = lines;
        report
    }

    fn message(when: &str, what: u32) -> String {
        format!("Message 0: {{ when={when} what={what} target=com.shop.Feed }}")
    }

    fn with(report: &mut Report, statistics: &[(&str, &str)]) {
        let made =
            statistics.iter().map(|(name, value)| Statistic { name: (*name).into(), value: (*value).into() });
        report.statistics.extend(made);
    }

    #[test]
    fn a_digest_has_the_barrier_that_holds_an_idle_main_back() {
        let barrier = || "Message 0: { when=-5s300ms barrier=3 }".to_owned();
        let due = (0..20).map(|what| message("-5s299ms", what));
        let all =
            |report: &mut Report| report.pending.lines.push("(Total messages: 21, polling=true)".into());
        let mut report = idle([barrier()].into_iter().chain(due).collect());
        all(&mut report);
        let wanted =
            "main idle for 5304 ms | a sync barrier has held 20 due messages back for 5300 ms | 21 waiting";
        assert_eq!(digest(&report), wanted);
        // A frame's own barrier is young, and that of a message that blocks main is no cause.
        report.pending.lines[0] = "Message 0: { when=-900ms barrier=3 }".into();
        assert!(!digest(&report).contains("barrier"), "{}", digest(&report));
        report.pending.lines[0] = barrier();
        report.main = hung().main;
        assert!(!digest(&report).contains("barrier"), "{}", digest(&report));
    }

    #[test]
    fn a_digest_has_the_kind_that_floods_the_queue() {
        let mut report = hung();
        report.pending.source = PendingSource::MessagesField;
        report.pending.lines = (0..30).map(|nth| message("-4ms", 7 + nth / 25)).collect();
        report.pending.lines.push("(Total messages: 30, polling=false)".into());
        let wanted = " | 30 waiting, 25 of them com.shop.Feed what=7 |";
        assert!(digest(&report).contains(wanted), "{}", digest(&report));
        report.pending.lines.drain(..6);
        assert!(!digest(&report).contains("of them"), "{}", digest(&report));
    }

    #[test]
    fn a_digest_has_the_lock_and_its_holder() {
        let mut report = hung();
        let holder = LockHolder { name: "sync".into(), tid: 7, stack: vec![LocationId(0), LocationId(1)] };
        let (class, of_class) = ("java.lang.Object".into(), String::new());
        report.locks.waits.push(LockWait { class, of_class, holder: Some(holder) });
        let is = |report: &Report, wanted: &str| {
            let digest = digest(report);
            assert!(digest.contains(&[wanted, " | at "].concat()), "{digest}");
        };
        is(&report, " | waits for a lock (java.lang.Object) held by sync in com.example.Sync.run");
        report.symbols.methods[1].class = "io.loopbox.Loopbox".into();
        is(&report, " | waits for a lock (java.lang.Object) held by sync in com.example.Sync.main");
        report.locks.deadlock = true;
        is(&report, " | deadlock: waits for a lock (java.lang.Object) held by sync in com.example.Sync.main");
        report.locks.waits[0].holder = None;
        is(&report, " | waits to be notified on java.lang.Object");
        report.locks.waits.clear();
        with(&mut report, &[("joined.name", "worker"), ("joined.at_ns", "6000000000")]);
        is(&report, "for 5021 ms");
        let last = report.symbols.methods.last_mut().unwrap();
        (last.class, last.name) = ("java.lang.Thread".into(), "join".into());
        is(&report, " | waits for thread worker to end");
        let (class, of_class) = ("java.lang.Object".into(), String::new());
        report.locks.waits.push(LockWait { class, of_class, holder: None });
        is(&report, " | waits for thread worker to end");
        with(
            &mut report,
            &[("parked.1.for", "a.Sync$Lock"), ("parked.1.owner", "sync"), ("parked.at_ns", "6000000000")],
        );
        is(&report, " | waits for a lock (a.Sync$Lock) held by sync");
        report.statistics[2].value = "java.util.concurrent.locks.ReentrantLock$NonfairSync".into();
        is(&report, " | waits for a lock (java.util.concurrent.locks.ReentrantLock) held by sync");
        report.locks.waits.clear();
        // Of the message before.
        report.statistics.iter_mut().for_each(|s| s.value = s.value.replace("6000000000", "999999999"));
        is(&report, "for 5021 ms");
    }

    #[test]
    fn a_digest_has_the_time_that_was_not_the_messages_own() {
        let mut report = hung();
        (report.anr.ran_ns, report.anr.starved_ns) = (5_021 * MS, 4_200 * MS);
        let is = |report: &Report, wanted: &str| {
            let digest = digest(report);
            assert!(digest.contains(&["for 5021 ms", wanted, " | at "].concat()), "{digest}");
        };
        is(&report, ", 4200 ms of it without a processor");
        let (over_ns, main_ns) = (4_500 * MS, 100 * MS);
        report.cpu_use = Some(CpuUse { over_ns, main_ns, process_ns: Some(8_000 * MS), processors: Some(2) });
        is(&report, ", 4200 ms of it without a processor (its other threads had 88 %)");
        report.anr.starved_ns = 1_000 * MS;
        report.anr.frozen_ns = 2_000 * MS;
        is(&report, ", 2000 ms of it frozen");
    }

    #[test]
    fn a_digest_has_the_heap_that_is_full() {
        let mut report = hung();
        with(
            &mut report,
            &[("heap.used_bytes", "950"), ("heap.max_bytes", "1000"), ("gc.lately.ms", "4000")],
        );
        assert!(!digest(&report).contains("heap"), "{}", digest(&report));
        with(&mut report, &[("gc.lately.blocking_time_ms", "1600")]);
        let wanted = " | collections took 40 % of the last 4000 ms, the heap is 95 % full | at ";
        assert!(digest(&report).contains(wanted), "{}", digest(&report));
        report.statistics[0].value = "700".into();
        assert!(!digest(&report).contains("heap"), "{}", digest(&report));
    }
}
