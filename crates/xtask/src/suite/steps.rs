//! Runs steps one after the other, each as a process of its own, so that all it prints is on the terminal and in a file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use loopbox_setup::workspace::target;

use super::runner::INTERRUPTED;

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed(Duration),
    Failed(Duration),
    /// A step before it failed.
    NotRun,
}

/// Runs the steps of these names by the command that `command` makes of each, until one fails. Ends with a table.
///
/// # Errors
/// When a step failed: which, and where its output is.
pub(crate) fn run(names: &[&str], command: impl Fn(&str) -> Command) -> Result<()> {
    let start = Instant::now();
    // A signal for this process alone must not leave the step running; one step handles its programs the same way.
    let running: Arc<AtomicU32> = Arc::default();
    let child = Arc::clone(&running);
    ctrlc::set_handler(move || {
        end(child.load(Ordering::Relaxed));
        process::exit(INTERRUPTED);
    })
    .context("cannot handle Ctrl-C")?;
    let folder = target().join("test-logs");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut outcomes = vec![Outcome::NotRun; names.len()];
    let mut failed = None;
    for (at, name) in names.iter().enumerate() {
        println!("\n== step {} of {}, {} so far: {name}", at + 1, names.len(), minutes(start.elapsed()));
        let log = folder.join(format!("{:02}-{}.log", at + 1, name.replace(' ', "-")));
        let begun = Instant::now();
        let passed =
            copied_to(&log, &mut command(name), &running).with_context(|| format!("step `{name}`"))?;
        let took = begun.elapsed();
        if let Some(outcome) = outcomes.get_mut(at) {
            *outcome = if passed { Outcome::Passed(took) } else { Outcome::Failed(took) };
        }
        if !passed {
            failed = Some((name, log));
            break;
        }
    }
    println!("\n{}", table(names, &outcomes, start.elapsed()));
    match failed {
        None => Ok(()),
        Some((name, log)) => bail!("step `{name}` failed; all that it printed is in {}", shown(&log)),
    }
}

fn table(names: &[&str], outcomes: &[Outcome], total: Duration) -> String {
    let row = |(name, outcome): (&&str, &Outcome)| {
        let (time, result) = match outcome {
            Outcome::Passed(took) => (minutes(*took), "ok"),
            Outcome::Failed(took) => (minutes(*took), "FAILED"),
            Outcome::NotRun => (String::new(), "not run"),
        };
        format!("{time:>12}  {result:<8} {name}\n")
    };
    let total = format!("{:>12}  total\n", minutes(total));
    names.iter().zip(outcomes).map(row).chain([total]).collect()
}

/// `1 min 20.5 s`.
pub(crate) fn minutes(time: Duration) -> String {
    let (whole, seconds) = (time.as_secs() / 60, time.as_secs_f64() % 60.0);
    if whole == 0 { format!("{seconds:.1} s") } else { format!("{whole} min {seconds:.0} s") }
}

/// A path as one types it: relative to the folder that the command was called in, where that is possible.
pub(crate) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// Runs a command; both its outputs go to ours and into a file, in the order in which they were written. Whether it
/// succeeded. Its number is in `running` meanwhile.
fn copied_to(log: &Path, command: &mut Command, running: &AtomicU32) -> Result<bool> {
    let mut file = File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
    let (mut output, writer) = io::pipe().context("no pipe")?;
    command.stdout(writer.try_clone().context("no pipe")?).stderr(writer);
    let mut child = command.spawn().context("cannot start")?;
    running.store(child.id(), Ordering::Relaxed);
    // The command keeps its ends of the pipe open, and would keep us from seeing the end.
    command.stdout(process::Stdio::null()).stderr(process::Stdio::null());
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = output.read(&mut buffer).context("cannot read its output")?;
        let Some(some) = buffer.get(..length).filter(|some| !some.is_empty()) else { break };
        file.write_all(some).with_context(|| format!("cannot write {}", log.display()))?;
        let mut ours = io::stdout().lock();
        ours.write_all(some).and_then(|()| ours.flush()).context("cannot write to standard output")?;
    }
    let status = child.wait();
    running.store(0, Ordering::Relaxed);
    Ok(status.context("cannot wait for it")?.success())
}

/// Asks a process to end; 0 is none.
fn end(process: u32) {
    if process != 0 {
        // One that has just ended is gone already.
        let _ = Command::new("kill").arg(process.to_string()).status();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_step_with_its_time_and_result() {
        let outcomes = [
            Outcome::Passed(Duration::from_millis(1_234)),
            Outcome::Failed(Duration::from_secs(80)),
            Outcome::NotRun,
        ];
        let table = table(&["set-up", "lints", "tests"], &outcomes, Duration::from_secs(82));
        assert_eq!(
            table,
            "       1.2 s  ok       set-up\n  1 min 20 s  FAILED   lints\n              not run  tests\n  1 min 22 s  total\n"
        );
    }

    #[test]
    fn the_step_that_runs_can_be_asked_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let running = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while running.load(Ordering::Relaxed) == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                end(running.load(Ordering::Relaxed));
            });
            let passed = copied_to(&folder.path().join("log"), Command::new("sleep").arg("1000"), &running);
            assert!(!passed.unwrap());
        });
        assert_eq!(running.into_inner(), 0);
        end(0);
    }

    #[test]
    fn what_a_command_prints_on_either_output_is_in_the_file_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut command = Command::new("sh");
        assert!(
            !copied_to(
                &log,
                command.args(["-c", "echo one; echo two >&2; echo three; exit 3"]),
                &AtomicU32::new(0)
            )
            .unwrap()
        );
        assert_eq!(fs::read_to_string(&log).unwrap(), "one\ntwo\nthree\n");
        assert!(copied_to(&log, Command::new("true").arg(""), &AtomicU32::new(0)).unwrap());
        assert_eq!(fs::read_to_string(&log).unwrap(), "");
    }
}
