//! The test programs of the workspace: built once, run one by one.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lab_launch::keep_programs;
use loopbox_setup::command;
use loopbox_setup::workspace::{cargo, target};
use serde_json::Value;

use super::processors;
use super::running::{Running, kill_group};

/// A program that `cargo test` would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestProgram {
    package: String,
    target: String,
    executable: PathBuf,
    /// The package's folder, which tests run in.
    folder: PathBuf,
    /// The variable that names the programs which apps run on, with its value; `None` where tests build them.
    kept: Option<(&'static str, PathBuf)>,
}

/// The result of one run of a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// How many tests passed.
    pub(crate) passed: usize,
    /// The tests that failed, or why the program failed.
    pub(crate) failed: Vec<String>,
    /// How long it took.
    pub(crate) took: Duration,
    /// Processor time of the program and of the processes that it started, where the kernel reports it.
    pub(crate) used: Option<Duration>,
}

impl TestProgram {
    /// Builds all test programs of the workspace, in the order in which cargo runs them.
    ///
    /// # Errors
    /// When something does not build.
    pub(crate) fn build_all() -> Result<Vec<Self>> {
        let mut programs = Self::build(&[])?;
        // After the tests: of what both build, cargo leaves the files that it has built last.
        let kept = keep_programs(&target().join("lab-programs"))?;
        programs.iter_mut().for_each(|program| program.kept = Some(kept.clone()));
        Ok(programs)
    }

    /// Builds the quick programs: all unit tests, and the integration tests of packages that neither use
    /// testbeds nor fuzz, without those that are listed as slow.
    ///
    /// # Errors
    /// When something does not build.
    pub(crate) fn build_quick() -> Result<Vec<Self>> {
        let metadata =
            command::run(cargo().args(["metadata", "--format-version=1", "--no-deps", "--locked"]))?;
        let tests = quick_tests(&serde_json::from_str(&metadata).context("cargo's metadata")?);
        let mut targets = vec!["--lib", "--bins"];
        targets.extend(tests.iter().flat_map(|(_, test)| ["--test", test]));
        let mut programs = Self::build(&targets)?;
        // Another package may have a test of that name.
        let wanted = |program: &Self| tests.contains(&(program.package.clone(), program.target.clone()));
        programs.retain(|program| program.is_unit_test() || wanted(program));
        Ok(programs)
    }

    /// Builds the test programs of the workspace for these targets; all when none is given.
    fn build(targets: &[&str]) -> Result<Vec<Self>> {
        let mut build = cargo();
        build.args([
            "test",
            "--workspace",
            "--locked",
            "--no-run",
            "--message-format=json-render-diagnostics",
        ]);
        build.args(targets);
        let built = build.stderr(Stdio::inherit()).output().context("cannot run cargo")?;
        ensure!(built.status.success(), "the tests do not build ({})", built.status);
        let mut programs: Vec<Self> =
            String::from_utf8_lossy(&built.stdout).lines().filter_map(Self::of_message).collect();
        programs.sort_by(|a, b| {
            (&a.package, &a.target, &a.executable).cmp(&(&b.package, &b.target, &b.executable))
        });
        ensure!(!programs.is_empty(), "cargo has built no test program");
        Ok(programs)
    }

    /// Whether its tests are those inside of a library or program.
    fn is_unit_test(&self) -> bool {
        self.target.ends_with(')')
    }

    /// The program that a line of cargo's output refers to, if any.
    fn of_message(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let text = |path: &str| message.pointer(path).and_then(Value::as_str);
        let is_test = message.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
        if text("/reason") != Some("compiler-artifact") || !is_test {
            return None;
        }
        let manifest = Path::new(text("/manifest_path")?);
        let folder = manifest.parent()?.to_owned();
        let kind = text("/target/kind/0")?;
        let target = text("/target/name")?;
        Some(Self {
            package: folder.file_name()?.to_str()?.to_owned(),
            // A library and a program of one package may have the same name.
            target: if kind == "test" { target.to_owned() } else { format!("{target} ({kind})") },
            executable: text("/executable")?.into(),
            folder,
            kept: None,
        })
    }

    /// Package and target.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.package, self.target)
    }

    /// A name for the program's files.
    pub(crate) fn file_name(&self) -> String {
        self.name().replace(' ', "-").replace(['(', ')'], "")
    }

    /// Runs the program, and registers it in `running` for that time. Its output goes into the file `log`.
    ///
    /// # Errors
    /// When it cannot be run; that a test failed is in the outcome.
    pub(crate) fn run(&self, log: &Path, limit: Duration, running: &Running) -> Result<Outcome> {
        let file = File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).env("RUST_BACKTRACE", "1");
        command.envs(self.kept.clone());
        command.stdin(Stdio::null()).stdout(file.try_clone().context("no second handle")?).stderr(file);
        let begun = Instant::now();
        let started = running.start(&mut command).with_context(|| self.name())?;
        let (mut child, _entry) = started.with_context(|| format!("{}: interrupted", self.name()))?;
        let (mut late, mut used) = (None, None);
        let status = loop {
            // Before it is reaped: then nobody knows any more.
            used = processors::time_of(&child.id().to_string()).or(used);
            if let Some(status) = child.try_wait().context("cannot wait")? {
                break status;
            }
            if begun.elapsed() > limit && late.is_none() {
                late = Some(format!("(it did not end within {} s)", limit.as_secs()));
                kill_group(child.id())?;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let took = begun.elapsed();
        let output = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
        let (passed, mut failed) = results(&String::from_utf8_lossy(&output));
        failed.extend(late);
        if failed.is_empty() && !status.success() {
            failed.push(format!("(the program ended with {status})"));
        }
        Ok(Outcome { passed, failed, took, used })
    }

    /// Copies the output of a program from the file `log` to standard output.
    ///
    /// # Errors
    /// When the file cannot be read, or standard output cannot be written.
    pub(crate) fn show(log: &Path) -> Result<()> {
        let mut file = File::open(log).with_context(|| format!("cannot read {}", log.display()))?;
        io::copy(&mut file, &mut io::stdout().lock()).context("cannot write to standard output")?;
        Ok(())
    }
}

/// The integration tests that are quick, each as folder and name, from cargo's metadata. Two kinds of
/// packages are left out because their tests take minutes: those that use testbeds, and those that fuzz.
/// Tests that their package lists as slow (`package.metadata.slow-tests`) are left out, too.
fn quick_tests(metadata: &Value) -> BTreeSet<(String, String)> {
    let list = |of: &Value, name| of.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |of: &Value, name| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_slow = |package: &Value| {
        package.pointer("/metadata/cargo-fuzz").is_some()
            || list(package, "dependencies").iter().any(|needed| text(needed, "name") == "loopbox-testbed")
    };
    let mut tests = BTreeSet::new();
    for package in list(metadata, "packages").iter().filter(|package| !is_slow(package)) {
        let manifest = text(package, "manifest_path");
        let folder = Path::new(&manifest).parent().and_then(Path::file_name).unwrap_or_default();
        let slow = package.pointer("/metadata/slow-tests").and_then(Value::as_array);
        let is_named_slow = |target: &Value| {
            slow.is_some_and(|slow| slow.contains(target.get("name").unwrap_or(&Value::Null)))
        };
        for target in list(package, "targets") {
            if list(&target, "kind").contains(&Value::from("test")) && !is_named_slow(&target) {
                tests.insert((folder.to_string_lossy().into_owned(), text(&target, "name")));
            }
        }
    }
    tests
}

/// How many tests passed and which failed, from the lines `test NAME ... ok`. What a test prints may be in
/// the same line, before the word `test` or before the result.
fn results(output: &str) -> (usize, Vec<String>) {
    let (mut passed, mut failed) = (0, Vec::new());
    for line in output.lines() {
        let Some((_, rest)) = line.split_once("test ") else { continue };
        let Some((name, result)) = rest.split_once(" ... ") else { continue };
        if result.ends_with("FAILED") {
            failed.push(name.to_owned());
        } else if result.ends_with("ok") {
            passed += 1;
        }
    }
    (passed, failed)
}

#[cfg(test)]
impl TestProgram {
    /// A shell script as a test program.
    pub(crate) fn script(package: &str, folder: &Path, text: &str) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let executable = folder.join(package);
        fs::write(&executable, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&executable, fs::Permissions::from_mode(0o755)).unwrap();
        Self {
            package: package.into(),
            target: "t (lib)".into(),
            executable,
            folder: folder.to_owned(),
            kept: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_read_from_the_usual_lines() {
        let output = "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\n12 runs test d ... ok\n\ntest result: FAILED. 2 passed";
        assert_eq!(results(output), (2, vec!["c".to_owned()]));
    }

    #[test]
    fn a_program_that_fails_without_a_failed_test_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let outcome = TestProgram::script("p", folder.path(), "echo 'test a ... ok'; kill -SEGV $$")
            .run(&log, Duration::from_mins(1), &Running::killed_with_group())
            .unwrap();
        assert_eq!(outcome.passed, 1);
        assert!(outcome.failed[0].contains("SIGSEGV"), "{outcome:?}");
    }

    #[test]
    fn a_program_finds_the_kept_programs() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut program = TestProgram::script("p", folder.path(), "echo \"test $KEPT ... ok\"");
        program.kept = Some(("KEPT", "/kept".into()));
        program.run(&log, Duration::from_mins(1), &Running::killed_with_group()).unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), "test /kept ... ok\n");
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let program = TestProgram::script("p", folder.path(), "sleep 1000 & echo $!; wait");
        let outcome = program.run(&log, Duration::from_secs(2), &Running::killed_with_group()).unwrap();
        assert_eq!(outcome.failed, ["(it did not end within 2 s)"]);
        // A machine with much to do may not have let the shell say it in that time; then there is nothing to
        // end.
        let Ok(child) = fs::read_to_string(&log).unwrap().trim().parse::<u32>() else { return };
        // Gone, or a zombie that has not been reaped yet; until then it is killed and waits for a processor
        // to end on.
        let ended = || {
            let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        let begun = Instant::now();
        while !ended() {
            assert!(begun.elapsed() < Duration::from_mins(1), "{child} runs on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn quick_tests_use_no_testbed_do_not_fuzz_and_are_not_named_slow() {
        let package = |folder: &str, dependency: &str| {
            json!({
                "manifest_path": format!("/w/{folder}/Cargo.toml"),
                "dependencies": [{"name": "anyhow"}, {"name": dependency}],
                "metadata": {"slow-tests": ["fleet"]},
                "targets": [
                    {"kind": ["bin"], "name": "main"},
                    {"kind": ["test"], "name": "fleet"},
                    {"kind": ["test"], "name": "hangs"},
                ],
            })
        };
        let mut fuzz = package("fuzz", "libc");
        fuzz["metadata"] = json!({"cargo-fuzz": true});
        let packages = [package("cli", "clap"), package("e2e", "loopbox-testbed"), fuzz];
        let found = quick_tests(&json!({"packages": packages}));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("cli".to_owned(), "hangs".to_owned())]);
    }

    #[test]
    fn cargos_messages_name_the_programs() {
        let line = r#"{"reason":"compiler-artifact","manifest_path":"/w/tests/e2e/Cargo.toml","target":{"kind":["test"],"name":"stalls"},"profile":{"test":true},"executable":"/w/target/stalls-1"}"#;
        let program = TestProgram::of_message(line).unwrap();
        assert_eq!((program.name().as_str(), program.folder.to_str()), ("e2e stalls", Some("/w/tests/e2e")));
        assert!(!program.is_unit_test());
        let unit_tests = TestProgram::of_message(&line.replace(r#"["test"]"#, r#"["lib"]"#)).unwrap();
        assert!(unit_tests.is_unit_test());
        assert_eq!(TestProgram::of_message(&line.replace("true", "false")), None);
        assert_eq!(TestProgram::of_message("not JSON"), None);
    }
}
