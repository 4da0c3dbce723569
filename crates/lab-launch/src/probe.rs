//! The sampler's test library on a testbed: `lab-probe` with the Java of `loopbox-art`'s tests.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};

use loopbox_setup::workspace::{root, target};
use loopbox_testbed::{Arch, Testbed};

use crate::launch::{Build, java_below, programs, started_by};
use crate::shrink::{Release, Shrinker};

/// Rules for R8: it must not rename or inline anything of the probe, but must write the same debug info as
/// for apps.
const PROBE_RULES: &str = "
-keep class probe.** { *; }
-keepattributes RuntimeInvisibleAnnotations
-keep @interface dalvik.annotation.optimization.*
";

/// A testbed with the probe ready to run on it.
#[derive(Debug)]
pub struct Probe {
    testbed: Testbed,
    jar: PathBuf,
    host: PathBuf,
    libraries: PathBuf,
}

/// What the sampler found in the running process.
#[derive(Debug)]
pub struct Discovered {
    /// Id of the table row that it confirmed.
    pub row: String,
    /// The values that it found, by their names in the tables.
    pub numbers: Vec<(String, u32)>,
}

/// The Java half of the probe, with annotations that no SDK before Android 14 has.
fn sources() -> Result<Vec<PathBuf>> {
    java_below(&[
        root().join("crates/loopbox-art/tests/java/probe"),
        root().join("jni-glue/java-stubs/dalvik"),
    ])
}

impl Probe {
    /// Sets up the testbed called `name` and builds the probe. `user` is the name of the test that uses it:
    /// each has a separate jar.
    ///
    /// # Errors
    /// When something cannot be set up or built.
    pub fn new(name: &str, user: &str) -> Result<Self> {
        Self::built(name, user, Build::Dev)
    }

    /// As [`Self::new`], with the Rust parts built as `how` says.
    ///
    /// # Errors
    /// When something cannot be set up or built.
    pub fn built(name: &str, user: &str, how: Build) -> Result<Self> {
        Self::compiled(name, user, how, &sources()?)
    }

    /// As [`Self::new`], but the Java half lacks the annotation `@FastNative`. With the annotation, the
    /// sampler's thread stays runnable in the native method.
    ///
    /// # Errors
    /// When something cannot be set up or built.
    pub fn without_fast_native(name: &str, user: &str) -> Result<Self> {
        let folder = target().join(format!("art-probe-{name}-{user}"));
        std::fs::create_dir_all(&folder).context("cannot create a folder for changed sources")?;
        let mut sources = sources()?;
        for source in sources.iter_mut().filter(|file| file.ends_with("Probe.java")) {
            let text = std::fs::read_to_string(&*source).context("cannot read Probe.java")?;
            ensure!(text.contains("    @FastNative\n"), "Probe.java has no annotation to leave out");
            *source = folder.join("Probe.java");
            std::fs::write(&*source, text.replace("    @FastNative\n", ""))
                .context("cannot write Probe.java")?;
        }
        Self::compiled(name, user, Build::Dev, &sources)
    }

    /// As [`Self::new`], with the Java half shrunk by R8 like an app.
    ///
    /// # Errors
    /// When something cannot be set up or built.
    pub fn by_r8(name: &str, user: &str) -> Result<Self> {
        let probe = Self::compiled(name, user, Build::Dev, &sources()?)?;
        let rules = PROBE_RULES.to_owned();
        let release = Release { testbed: &probe.testbed, sources: sources()?, libraries: Vec::new(), rules };
        let jar = release.shrink(Shrinker::USUAL)?.jar;
        Ok(Self { jar, ..probe })
    }

    fn compiled(name: &str, user: &str, how: Build, sources: &[PathBuf]) -> Result<Self> {
        // One set-up at a time in this process: they share working folders.
        static SET_UP: Mutex<()> = Mutex::new(());
        let _lock = SET_UP.lock().unwrap_or_else(PoisonError::into_inner);
        let testbed = loopbox_testbed::ensure(name)?;
        let libraries = programs(&testbed, how)?;
        let host = libraries.join("lab-host");
        let jar = target().join(format!("art-probe-{name}-{user}.jar"));
        testbed.dex(sources, &[], &jar)?;
        Ok(Self { testbed, jar, host, libraries })
    }

    /// The dexed jars that run, in class path order; the last is the probe's own.
    pub fn class_path(&self) -> Vec<PathBuf> {
        let boot = self.testbed.manifest.boot_class_path.iter().map(|jar| self.testbed.dir.join(jar));
        boot.chain([self.jar.clone()]).collect()
    }

    /// The testbed's libart.
    pub fn libart(&self) -> PathBuf {
        let folders = self.testbed.manifest.library_path.iter().map(|folder| self.testbed.dir.join(folder));
        // A testbed whose runner sets the library path keeps its libraries in `lib` too.
        let mut places =
            folders.chain([self.testbed.dir.join("lib")]).map(|f| f.join(&self.testbed.manifest.libart));
        places.find(|path| path.exists()).unwrap_or_else(|| self.testbed.manifest.libart.clone().into())
    }

    /// Runs a class to its end. The last line that it prints must be `done`. Returns the lines that it
    /// printed.
    ///
    /// # Errors
    /// When it does not start or end well, with what it printed.
    pub fn run(&self, main: &str, options: &[&str], arguments: &[&str]) -> Result<Vec<String>> {
        self.run_with(&[], main, options, arguments)
    }

    /// As [`run`](Self::run), with additional environment variables.
    ///
    /// # Errors
    /// As [`run`](Self::run); also when it takes longer than ten minutes.
    pub fn run_with(
        &self,
        environment: &[(&str, &str)],
        main: &str,
        options: &[&str],
        arguments: &[&str],
    ) -> Result<Vec<String>> {
        let mut command = self.command(main, options, arguments);
        command.envs(environment.iter().copied());
        let mut command = started_by("timeout", &["--signal=KILL", "600"], &command);
        let output = command.output().context("cannot start the host program")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{main} ended with {}\n{text}\n{errors}", output.status);
        let lines: Vec<String> = text.lines().map(String::from).collect();
        ensure!(lines.last().is_some_and(|l| l == "done"), "{main} did not finish\n{text}\n{errors}");
        Ok(lines)
    }

    /// The process that [`run`](Self::run) would run, to be started by the caller.
    pub fn command(&self, main: &str, options: &[&str], arguments: &[&str]) -> Command {
        // One for another machine cannot enter the testbed's environment by itself.
        let is_of_this_machine = self.testbed.arch().is_ok_and(|arch| arch == Arch::X86_64);
        let mut command = if is_of_this_machine {
            Command::new(&self.host)
        } else {
            let mut command = self.testbed.command(&self.host);
            command.env("LOOPBOX_HOST_TESTBED", &self.testbed.dir);
            command
        };
        command.arg("--testbed").arg(self.testbed.dir.join("testbed.toml")).arg("--app").arg(&self.jar);
        command.arg("-D").arg(format!("java.library.path={}", self.libraries.display()));
        command.args(["--main", main]).args(options).arg("--").args(arguments);
        command
    }

    /// Runs discovery alone.
    ///
    /// # Errors
    /// When discovery refuses to sample, or no row of the offset tables confirmed the layout.
    pub fn discovered(&self) -> Result<Discovered> {
        let lines = self.run("probe.Discover", &[], &[])?;
        let discovery =
            lines.iter().find_map(|l| l.strip_prefix("installed ")).context("discovery printed no result")?;
        let between = |from: &str, to: &str| Some(discovery.split_once(from)?.1.split_once(to)?.0.to_owned());
        let row = between("rows: [\"", "\"").with_context(|| format!("no row was confirmed: {discovery}"))?;
        let findings = between("findings: \"", "\"").with_context(|| format!("no findings: {discovery}"))?;
        let number = |pair: &str| {
            let (name, value) = pair.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        Ok(Discovered { row, numbers: findings.split(' ').filter_map(number).collect() })
    }
}
