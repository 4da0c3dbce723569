//! Runs steps one after the other, each as a separate process, so that all of its output goes to the terminal
//! and to a file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use loopbox_setup::workspace::target;

use super::runner::INTERRUPTED;
use super::running::Running;

/// The prefix of a line in which a step's process says what it could not check. The line is repeated in the
/// step's line of the table.
pub(crate) const NOT_CHECKED: &str = "not checked: ";

/// The prefix of a line in which a step's process reports the processor time of itself and its children.
pub(crate) const PROCESSORS: &str = "processors: ";

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    /// The step passed after this time. The texts are added to its line of the table.
    Passed(Duration, Vec<String>),
    Failed(Duration),
    /// An earlier step failed, so this one was not run.
    NotRun,
}

/// A step: its name, and how it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    /// Whether the steps after this one begin without waiting for it. Only one parallel step runs at a time,
    /// and its output is shown when it has ended.
    pub(crate) is_parallel: bool,
}

/// What all steps of a run share. It is used by the steps that run in order and by the parallel steps.
struct Run<'a, C> {
    steps: &'a [Named],
    command: &'a C,
    folder: PathBuf,
    start: Instant,
    outcomes: Mutex<Vec<Outcome>>,
    /// The processes of the steps that run, which are ended when a step has failed.
    running: &'a Running,
}

impl<C: Fn(&str) -> Command> Run<'_, C> {
    /// Runs a step; returns whether it passed.
    fn step(&self, at: usize, is_shown: bool) -> Result<bool> {
        let Some(step) = self.steps.get(at) else { return Ok(false) };
        let (name, begun) = (step.name, Instant::now());
        let log = self.log(at);
        let passed = copied_to(&log, &mut (self.command)(name), self.running, is_shown)
            .with_context(|| format!("step `{name}`"))?;
        let took = begun.elapsed();
        let outcome = if passed { Outcome::Passed(took, notes(&log)?) } else { Outcome::Failed(took) };
        // One that was ended because another failed has not failed.
        if !self.running.is_over()
            && let Some(own) = lock(&self.outcomes).get_mut(at)
        {
            *own = outcome;
        }
        Ok(passed)
    }

    /// Runs the steps in order. A parallel step is not run here but sent through `begin` when its turn comes.
    /// Returns false when any step has failed, parallel or not.
    fn in_order(&self, begin: &Sender<usize>, ended: &Receiver<usize>) -> Result<bool> {
        for (at, step) in self.steps.iter().enumerate() {
            for at in ended.try_iter() {
                if !self.show(at)? {
                    return Ok(false);
                }
            }
            if step.is_parallel {
                self.say(at, " begins, in parallel with those that follow");
                begin.send(at).ok().context("the parallel steps have stopped")?;
                continue;
            }
            self.say(at, "");
            if !self.step(at, true)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs the parallel steps, one after the other, while [`Self::in_order`] runs the other steps. Takes the
    /// steps from `begin`, and sends each one through `ended` when it has ended.
    fn parallel(&self, begin: Receiver<usize>, ended: &Sender<usize>) -> Result<()> {
        for at in begin {
            if !self.running.is_over() {
                self.step(at, false)?;
                // Who shows it may have gone.
                let _ = ended.send(at);
            }
        }
        Ok(())
    }

    /// Prints the output of a parallel step; returns whether it passed.
    fn show(&self, at: usize) -> Result<bool> {
        self.say(at, ", which ran in parallel");
        let mut log = File::open(self.log(at)).context("its output is gone")?;
        io::copy(&mut log, &mut io::stdout().lock()).context("cannot write to standard output")?;
        Ok(matches!(lock(&self.outcomes).get(at), Some(Outcome::Passed(..))))
    }

    fn log(&self, at: usize) -> PathBuf {
        let name = self.steps.get(at).map_or("", |step| step.name);
        self.folder.join(format!("{:02}-{}.log", at + 1, name.replace(' ', "-")))
    }

    fn say(&self, at: usize, how: &str) {
        let name = self.steps.get(at).map_or("", |step| step.name);
        let so_far = minutes(self.start.elapsed());
        println!("\n== step {} of {}, {so_far} so far: {name}{how}", at + 1, self.steps.len());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the steps, each with the command that `command` makes from its name, until one fails. Prints a table
/// at the end.
///
/// # Errors
/// When a step failed. The error names it and the file with its output.
pub(crate) fn run(steps: &[Named], command: impl Fn(&str) -> Command + Sync) -> Result<()> {
    // A signal for this process alone must not leave a step running; one step handles its programs the same
    // way.
    let running = Arc::new(Running::asked_to_end());
    let children = Arc::clone(&running);
    ctrlc::set_handler(move || {
        children.end();
        process::exit(INTERRUPTED);
    })
    .context("cannot handle Ctrl-C")?;
    let folder = target().join("test-logs");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    run_in(folder, steps, command, &running)
}

fn run_in(
    folder: PathBuf,
    steps: &[Named],
    command: impl Fn(&str) -> Command + Sync,
    running: &Running,
) -> Result<()> {
    let run = Run {
        steps,
        command: &command,
        folder,
        start: Instant::now(),
        outcomes: Mutex::new(vec![Outcome::NotRun; steps.len()]),
        running,
    };
    let (begin, to_begin) = channel();
    let (ended, have_ended) = channel();
    std::thread::scope(|scope| -> Result<()> {
        let run = &run;
        let others = scope.spawn(move || run.parallel(to_begin, &ended));
        let passed = run.in_order(&begin, &have_ended);
        let is_over = !matches!(passed, Ok(true));
        if is_over {
            running.end();
        }
        drop(begin);
        // Until the last one has ended.
        for at in have_ended.iter().filter(|_| !is_over) {
            run.show(at)?;
        }
        others.join().unwrap_or_else(|_| bail!("the parallel steps have panicked"))?;
        passed.map(drop)
    })?;
    let outcomes = lock(&run.outcomes);
    println!("\n{}", table(steps, &outcomes, run.start.elapsed()));
    match outcomes.iter().position(|outcome| matches!(outcome, Outcome::Failed(_))) {
        None => Ok(()),
        Some(at) => {
            let name = steps.get(at).map_or("", |step| step.name);
            bail!("step `{name}` failed; all that it printed is in {}", shown(&run.log(at)))
        }
    }
}

fn table(steps: &[Named], outcomes: &[Outcome], total: Duration) -> String {
    let row = |(step, outcome): (&Named, &Outcome)| {
        let (time, result, notes) = match outcome {
            Outcome::Passed(took, notes) => (minutes(*took), "ok", notes.as_slice()),
            Outcome::Failed(took) => (minutes(*took), "FAILED", &[][..]),
            Outcome::NotRun => (String::new(), "not run", &[][..]),
        };
        let notes: String = notes.iter().map(|note| [", ", note].concat()).collect();
        format!("{time:>12}  {result:<8} {}{notes}\n", step.name)
    };
    let total = format!("{:>12}  total\n", minutes(total));
    steps.iter().zip(outcomes).map(row).chain([total]).collect()
}

/// What a step reports about itself: what it did not check, and its processor time.
fn notes(log: &Path) -> Result<Vec<String>> {
    let text = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    let text = String::from_utf8_lossy(&text);
    Ok(text
        .lines()
        .filter(|line| [NOT_CHECKED, PROCESSORS].iter().any(|mark| line.starts_with(mark)))
        .map(str::to_owned)
        .collect())
}

/// A duration in the form `1 min 20.5 s`.
pub(crate) fn minutes(time: Duration) -> String {
    let (whole, seconds) = (time.as_secs() / 60, time.as_secs_f64() % 60.0);
    if whole == 0 { format!("{seconds:.1} s") } else { format!("{whole} min {seconds:.0} s") }
}

/// A path as a user would type it: relative to the folder in which the command was called, where possible.
pub(crate) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// Runs a command as one of the processes in `running`. Its standard output and standard error go into one
/// file, in the order in which they were written, and also to our standard output where `is_shown`. Returns
/// whether the command succeeded; false also when `running` was ended before the command could start or end.
fn copied_to(log: &Path, command: &mut Command, running: &Running, is_shown: bool) -> Result<bool> {
    let mut file = File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
    let (mut output, writer) = io::pipe().context("no pipe")?;
    command.stdout(writer.try_clone().context("no pipe")?).stderr(writer);
    let Some((mut child, _entry)) = running.start(command)? else { return Ok(false) };
    // The command keeps its ends of the pipe open, and would keep us from seeing the end.
    command.stdout(process::Stdio::null()).stderr(process::Stdio::null());
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = output.read(&mut buffer).context("cannot read its output")?;
        let Some(some) = buffer.get(..length).filter(|some| !some.is_empty()) else { break };
        file.write_all(some).with_context(|| format!("cannot write {}", log.display()))?;
        if is_shown {
            let mut ours = io::stdout().lock();
            ours.write_all(some).and_then(|()| ours.flush()).context("cannot write to standard output")?;
        }
    }
    Ok(child.wait().context("cannot wait for it")?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_order(name: &'static str) -> Named {
        Named { name, is_parallel: false }
    }

    fn parallel(name: &'static str) -> Named {
        Named { name, is_parallel: true }
    }

    /// Runs steps whose names are shell scripts. The error names the step that failed.
    fn play(folder: &Path, steps: &[Named]) -> Result<()> {
        let script = |name: &str| {
            let mut shell = Command::new("sh");
            shell.current_dir(folder).args(["-c", name]);
            shell
        };
        run_in(folder.to_owned(), steps, script, &Running::asked_to_end())
    }

    #[test]
    fn a_parallel_step_runs_while_others_do() {
        let folder = tempfile::tempdir().unwrap();
        // Each waits for the other.
        let first = "echo x > a; read x < b";
        let steps = [in_order("mkfifo a b"), parallel(first), in_order("read x < a; echo y > b")];
        play(folder.path(), &steps).unwrap();
        assert!(folder.path().join("01-mkfifo-a-b.log").is_file());
    }

    #[test]
    fn a_parallel_step_that_fails_is_named_and_the_last_one_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let failed = play(folder.path(), &[parallel("exit 3"), in_order("true"), parallel("touch ran")]);
        let text = failed.unwrap_err().to_string();
        assert!(text.contains("step `exit 3` failed"), "{text}");
        play(folder.path(), &[parallel("sleep 0.1; touch done"), in_order("true")]).unwrap();
        assert!(folder.path().join("done").is_file());
    }

    #[test]
    fn a_step_that_fails_ends_the_parallel_one() {
        let folder = tempfile::tempdir().unwrap();
        let steps = [
            parallel("mkfifo on; exec sleep 1000"),
            in_order("until [ -p on ]; do sleep 0.01; done; false"),
            in_order("touch ran"),
        ];
        let text = play(folder.path(), &steps).unwrap_err().to_string();
        assert!(text.contains("do sleep 0.01; done; false` failed"), "{text}");
        assert!(!folder.path().join("ran").exists());
    }

    #[test]
    fn the_table_has_every_step_with_its_time_and_result() {
        let outcomes = [
            Outcome::Passed(Duration::from_millis(1_234), Vec::new()),
            Outcome::Passed(Duration::from_secs(9), vec!["not checked: advisories: no network".into()]),
            Outcome::Failed(Duration::from_secs(80)),
            Outcome::NotRun,
        ];
        let table = table(
            &["set-up", "dependencies", "lints", "tests"].map(in_order),
            &outcomes,
            Duration::from_secs(82),
        );
        assert_eq!(
            table,
            "       1.2 s  ok       set-up\n       9.0 s  ok       dependencies, not checked: advisories: no network\n  1 min 20 s  FAILED   lints\n              not run  tests\n  1 min 22 s  total\n"
        );
    }

    #[test]
    fn what_a_step_says_of_itself_is_in_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        fs::write(
            &log,
            "checked: bans\nnot checked: advisories: no route\n  not checked: no\nprocessors: 1.0 s\n",
        )
        .unwrap();
        assert_eq!(notes(&log).unwrap(), ["not checked: advisories: no route", "processors: 1.0 s"]);
    }

    #[test]
    fn the_step_that_runs_can_be_asked_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let running = Running::asked_to_end();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while running.is_empty() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                running.end();
            });
            let passed =
                copied_to(&folder.path().join("log"), Command::new("sleep").arg("1000"), &running, true);
            assert!(!passed.unwrap());
        });
        assert!(running.is_empty());
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
                &Running::asked_to_end(),
                true
            )
            .unwrap()
        );
        assert_eq!(fs::read_to_string(&log).unwrap(), "one\ntwo\nthree\n");
        assert!(copied_to(&log, Command::new("true").arg(""), &Running::asked_to_end(), true).unwrap());
        assert_eq!(fs::read_to_string(&log).unwrap(), "");
    }
}
