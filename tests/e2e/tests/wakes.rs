//! How often the recorder wakes a processor, by the kernel's count of voluntary context switches
//! (`voluntary_ctxt_switches`): a thread has been woken before each of them. The bounds are counts, so a busy
//! machine does not exceed them.

use anyhow::{Context, Result};
use lab_reports::LIMIT;
use lab_reports::live::wait_until;
use loopbox_e2e::launcher;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;
use tempfile::tempdir;

/// The counts of an app that was used in one way.
#[derive(Debug)]
struct Wakes {
    way: String,
    counts: HashMap<String, u64>,
}

impl Wakes {
    fn read(line: &str) -> Result<Self> {
        let mut words = line.split_whitespace().skip(2);
        let way = words.next().context("no name")?.to_owned();
        let counts = words.map(|word| {
            let (name, count) = word.split_once('=').with_context(|| format!("not a count: {word}"))?;
            Ok((name.to_owned(), count.parse()?))
        });
        Ok(Self { way, counts: counts.collect::<Result<_>>()? })
    }

    /// A number that the app printed, or how often a thread has woken up; 0 for a thread that was not
    /// started.
    fn of(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    fn all_threads(&self) -> u64 {
        ["sampler", "watch", "guard", "worker"].iter().map(|thread| self.of(thread)).sum()
    }
}

/// Runs the app in each way, for this many rounds of a second or less.
fn measure(rounds: u32) -> Result<Vec<Wakes>> {
    let folder = tempdir()?;
    let app = launcher("art10")?.app("scenario.Wakes").argument(format!("dir={}", folder.path().display()));
    let mut app = app.argument(format!("rounds={rounds}")).start()?;
    let mut all = Vec::new();
    for _ in 0..6 {
        all.push(Wakes::read(
            &app.wait_for("SCRIPT wakes", LIMIT + Duration::from_secs(4 * u64::from(rounds)))?,
        )?);
    }
    app.wait_for("SCRIPT end", LIMIT)?;
    Ok(all)
}

/// The nice value in a stat file: its field 19.
fn nice_in(stat: &str) -> Result<i32> {
    let fields = stat.rsplit(')').next().unwrap_or_default();
    Ok(fields.split_whitespace().nth(16).context("no field 19")?.parse()?)
}

/// The nice value of a thread, by its name; `None` when there is no such thread.
fn nice(pid: u32, name: &str) -> Result<Option<i32>> {
    for task in fs::read_dir(format!("/proc/{pid}/task")).context("the process is gone")?.flatten() {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        if stat.contains(&format!("({name})")) {
            return nice_in(&stat).map(Some);
        }
    }
    Ok(None)
}

#[test]
fn the_worker_gives_way_to_the_app() -> Result<()> {
    let folder = tempdir()?;
    let app = launcher("art10")?.app("scenario.Wakes").argument(format!("dir={}", folder.path().display()));
    let mut app = app.start()?;
    app.wait_for("SCRIPT wakes idle", LIMIT)?;
    let of_main = nice_in(&fs::read_to_string(format!("/proc/{}/stat", app.pid()))?)?;
    // Others than root may not take it back for a report, and then it stays as it is.
    let low = if fs::metadata("/proc/self")?.uid() == 0 { 10.max(of_main) } else { of_main };
    wait_until("the worker is nicer than the app", || {
        Ok((nice(app.pid(), "loopbox-worker")? == Some(low)).then_some(()))
    })?;
    for thread in ["loopbox-sampler", "loopbox-watch"] {
        assert_eq!(
            nice(app.pid(), thread)?,
            Some(of_main),
            "{thread}: main waits for it, or the app's life depends on it"
        );
    }
    app.kill();
    Ok(())
}

#[test]
fn threads_wake_up_for_messages_and_not_for_silence() -> Result<()> {
    let rounds = std::env::var("LOOPBOX_WAKES_ROUNDS").ok().map(|rounds| rounds.parse()).transpose()?;
    let all = measure(rounds.unwrap_or(10))?;
    println!("a second            all  sampler  watch  guard  worker  messages");
    for wakes in &all {
        let a_second = |count: u64| count as f64 * 1_000.0 / wakes.of("ms") as f64;
        let [sampler, watch, guard, worker] =
            ["sampler", "watch", "guard", "worker"].map(|t| a_second(wakes.of(t)));
        println!(
            "{:<16} {:>6.1} {sampler:>8.1} {watch:>6.1} {guard:>6.1} {worker:>7.1} {:>9.1}",
            wakes.way,
            a_second(wakes.all_threads()),
            a_second(wakes.of("messages")),
        );
    }
    for wakes in &all {
        let (messages, ms) = (wakes.of("messages"), wakes.of("ms"));
        // A message that a busy machine makes long is sampled.
        let sampled = wakes.of("slow") * 12 + wakes.of("slowMs") / 8;
        // In the first and the last message of each way the app reads files, which the threads may notice.
        let most = match wakes.way.as_str() {
            "idle" => 24,
            // Start, 50 ms, 100 ms after the end, park; start, half a second, park; and one for a thread that
            // is held up.
            "isolated" | "background" => messages * 8 + 24,
            // A row is over before the next check, and the pause after it is long enough to park in.
            "typing" => messages / 3 * 6 + ms / 400 + 24,
            // Half of it in a message, which the stall monitor waits for the end of.
            "paused" => ms / 950 + 24,
            "scrolling" => ms / 97 + ms / 450 + wakes.of("gaps") * 6 + 24,
            way => panic!("{way}"),
        };
        assert!(wakes.all_threads() <= most + sampled, "at most {most} + {sampled}: {wakes:?}");
        assert!(wakes.of("guard") <= 2 + sampled, "nothing else is stopped: {wakes:?}");
    }
    Ok(())
}
