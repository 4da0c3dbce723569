//! The links to crash SDKs on a JVM, with the SDKs themselves and a framework that Robolectric runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use lab_launch::shrink::{Release, Shrinker, Shrunk};
use lab_launch::{App, Launcher, java_below};
use lab_reports::LIMIT;
use loopbox_android_pack::half;
use loopbox_setup::command::{for_each, path_list, run};
use loopbox_setup::package::read_toml;
use loopbox_setup::progress::Progress;
use loopbox_setup::r8::{Program, R8};
use loopbox_setup::registry::{Artifact, Pinned};
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::{root, target};
use loopbox_setup::{jar, jvm};
use serde::Deserialize;
use tempfile::{TempDir, tempdir};

/// The list of files from Maven Central.
const LIST: &str = "tests/real-sdks/sdks.toml";

/// The links whose SDK is on Maven Central.
const LINKS: [&str; 6] = ["acra", "bugsnag", "datadog", "opentelemetry", "sentry", "xcrash"];

/// Packages that the JVM's modules must open: Robolectric sets private fields there.
const OPENED: [&str; 4] = ["java.io", "java.lang", "java.net", "java.util"];

/// The runs that leave a report each: their names, and the arguments of `com.example.shop.Checkout`.
const RUNS: [(&str, &[&str]); 5] = [
    ("pay", &["version=4.2.0 (420)", "user=u-7781", "hangMs=1000", "hang=pay", "ms=1400"]),
    ("older", &["version=4.1.0 (410)", "user=u-9902", "hangMs=1800", "hang=pay", "ms=2400"]),
    ("feed", &["version=4.2.0 (420)", "user=u-7781", "hangMs=1000", "hang=feed", "ms=1400"]),
    ("anr", &["version=4.2.0 (420)", "user=u-7781", "hangMs=1000", "hang=pay", "ms=2500", SAYS]),
    (SHRUNK, &["version=4.2.0 (420)", "hangMs=1000", "hang=pay", "ms=1400"]),
];

/// The words that the system has for a process that does not respond.
const SAYS: &str = "says=Input dispatching timed out";

/// The name for the run of the app as R8 builds it for a release.
const SHRUNK: &str = "shrunk";

/// The class of the app that hangs.
const MAIN: &str = "com.example.shop.Checkout";

/// The content of `tests/real-sdks/sdks.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sdks {
    framework: String,
    #[serde(rename = "artifact")]
    artifacts: Vec<Artifact>,
}

/// The SDKs and the links, compiled against each other, and reports of hangs.
#[derive(Debug)]
pub struct RealSdks {
    work: TempDir,
    class_path: Vec<PathBuf>,
    /// The folder that has only the jar of the framework.
    framework: PathBuf,
    /// R8's mapping of the app.
    mapping: PathBuf,
}

/// The class files of some SDKs, by their packages in `sdks.toml`, as jars below `folder`.
///
/// # Errors
/// When one is not in that list or cannot be had.
pub fn class_files(packages: &[&str], folder: &Path) -> Result<Vec<PathBuf>> {
    let files = files(packages)?;
    files.iter().enumerate().map(|(nth, file)| classes_of(file, nth, folder)).collect()
}

/// The file of an SDK as it was downloaded, by its package in `sdks.toml`.
///
/// # Errors
/// When it is not in that list or cannot be had.
pub fn file(package: &str) -> Result<PathBuf> {
    files(&[package])?.pop().context("no file")
}

fn files(packages: &[&str]) -> Result<Vec<PathBuf>> {
    let sdks: Sdks = read_toml(&root().join(LIST))?;
    let of = |package: &&str| {
        let is = |artifact: &&Artifact| artifact.package == *package;
        sdks.artifacts.iter().find(is).with_context(|| format!("{LIST} has no {package}"))
    };
    let pinned = packages.iter().map(|package| Ok(of(package)?.pinned())).collect::<Result<Vec<_>>>()?;
    Pinned::ensure_all(&pinned, &Progress::new("SDKs"))
}

/// The version of an SDK, by its package.
///
/// # Errors
/// When it is not in the list.
pub fn version(package: &str) -> Result<String> {
    let sdks: Sdks = read_toml(&root().join(LIST))?;
    let found = sdks.artifacts.into_iter().find(|artifact| artifact.package == package);
    Ok(found.with_context(|| format!("{LIST} has no {package}"))?.version)
}

/// The classes of an archive, as a jar. From an `.aar` they are unpacked; any other file is taken as it is.
fn classes_of(file: &Path, nth: usize, folder: &Path) -> Result<PathBuf> {
    if file.extension().is_none_or(|kind| kind != "aar") {
        return Ok(file.to_owned());
    }
    let unpacked = folder.join(format!("{nth}.jar"));
    fs::write(&unpacked, jar::read_entry(file, "classes.jar")?)?;
    Ok(unpacked)
}

impl RealSdks {
    /// The SDKs and the reports, prepared once for all tests of a program.
    ///
    /// # Panics
    /// When they cannot be prepared.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<RealSdks> = LazyLock::new(|| RealSdks::new().unwrap());
        &SHARED
    }

    fn new() -> Result<Self> {
        let work = tempdir()?;
        let sdks: Sdks = read_toml(&root().join(LIST))?;
        let all: Vec<Pinned<'_>> = sdks.artifacts.iter().map(Artifact::pinned).collect();
        let files = Pinned::ensure_all(&all, &Progress::new("crash SDKs"))?;
        let is_framework = |artifact: &Artifact| artifact.package == sdks.framework;
        let at = sdks.artifacts.iter().position(is_framework).context("no framework")?;
        let framework = work.path().join("framework");
        fs::create_dir(&framework)?;
        let name = format!("android-all-{}.jar", sdks.artifacts[at].version);
        std::os::unix::fs::symlink(&files[at], framework.join(name))?;
        let compiled = half::compiled()?;
        let classes = work.path().join("classes");
        let mut class_path = vec![classes.clone(), compiled.library, compiled.testing];
        for (nth, file) in files.iter().enumerate().filter(|(nth, _)| *nth != at) {
            class_path.push(classes_of(file, nth, work.path())?);
        }
        class_path.push(files[at].clone());
        let integrations = root().join("jni-glue/integrations");
        let mut folders: Vec<PathBuf> =
            LINKS.iter().map(|link| integrations.join(link).join("java")).collect();
        folders.push(root().join("tests/real-sdks/java"));
        fs::create_dir(&classes)?;
        jvm::compile(&java_below(&folders)?, &class_path, &classes)?;
        let shrunk = leave_reports(&work.path().join("reports"))?;
        Ok(Self { work, class_path, framework, mapping: shrunk.mapping })
    }

    /// Runs the tests of some classes in a separate JVM. An SDK that has shutdown hooks, or a thread that
    /// does not end, needs a JVM that runs no tests of other SDKs.
    ///
    /// Returns the folder that the tests could write into.
    ///
    /// # Errors
    /// When a test fails; with what it printed.
    pub fn test(&self, classes: &[&str]) -> Result<PathBuf> {
        let folder = self.work.path().join(classes.join("-"));
        fs::create_dir(&folder)?;
        let mut java = Tools::ensure()?.java();
        for package in OPENED {
            java.arg(format!("--add-opens=java.base/{package}=ALL-UNNAMED"));
        }
        java.arg("-Drobolectric.offline=true").arg("-Drobolectric.usePreinstrumentedJars=false");
        java.arg(format!("-Drobolectric.dependency.dir={}", self.framework.display()));
        java.arg(format!("-Djava.io.tmpdir={}", folder.display()));
        java.arg(format!("-Dreports={}", self.work.path().join("reports").display()));
        java.args(["-cp", &path_list(&self.class_path), "real.Main"]);
        java.args(classes.iter().map(|class| format!("real.{class}")));
        // cargo's has the recorder's library, which is none of the app's on a JVM.
        run(java.env_remove("LD_LIBRARY_PATH").current_dir(&folder))?;
        Ok(folder)
    }

    /// Retraces a stack of the shrunk app with R8's own Retrace, and returns what it prints.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn retrace(&self, stack: &Path) -> Result<String> {
        let r8 = R8::ensure(&Progress::new("R8"))?;
        run(r8.command(Program::Retrace).arg(&self.mapping).arg(stack))
    }
}

/// Leaves the report of each run in the folder. Returns the app of the last run.
fn leave_reports(folder: &Path) -> Result<Shrunk> {
    let mut sources = java_below(&[root().join("tests/real-sdks/app")])?;
    let scenario = ["Options", "Phone", "PrintingListener", "Script"];
    sources.extend(scenario.map(|name| root().join(format!("tests/app/scenario/{name}.java"))));
    let jar = target().join("apps/art11-checkout.jar");
    let launcher = Launcher::of_sources("art11", &sources, jar)?;
    let shrunk = shrink(&launcher)?;
    for_each(&RUNS, |(name, arguments)| {
        let app = if *name == SHRUNK { launcher.app_in(&shrunk.jar, MAIN) } else { launcher.app(MAIN) };
        leave(app, &folder.join(name), arguments).with_context(|| (*name).to_owned())
    })?;
    Ok(shrunk)
}

/// Shrinks the app and the recorder's Java code together, with R8.
fn shrink(launcher: &Launcher) -> Result<Shrunk> {
    let glue = root().join("jni-glue");
    let parts = ["java", "java-stubs", "inhouse/java", "startup/java"].map(|part| glue.join(part));
    let tests = ["tests/app", "tests/real-sdks/app"].map(|part| root().join(part));
    let own = fs::read_to_string(glue.join("android/proguard.txt"))?;
    let rules =
        format!("{own}\n-keep class {MAIN} {{ public static void main(java.lang.String[]); }}\n-dontwarn **");
    let sources = java_below(&[&parts[..], &tests].concat())?;
    let libraries = Vec::new();
    Release { testbed: &launcher.testbed, sources, libraries, rules }.shrink(Shrinker::USUAL)
}

fn leave(app: App, folder: &Path, arguments: &[&str]) -> Result<()> {
    fs::create_dir_all(folder)?;
    let app = app.argument(format!("dir={}", folder.display()));
    let app = arguments.iter().fold(app, |app, argument| app.argument(*argument));
    let ended = app.start()?.finish(LIMIT)?.success()?;
    let reports = lab_launch::reports(folder)?.len();
    ensure!(reports == 1, "{reports} reports: {:?}", ended.lines);
    Ok(())
}
