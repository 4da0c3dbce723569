//! R8 and ProGuard, which shrink, rename and inline an app as its build for a release does.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use loopbox_report::{Analysis, Frame};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command;
use loopbox_setup::files::sha256_file;
use loopbox_setup::jar;
use loopbox_setup::progress::Progress;
use loopbox_setup::r8::{Program, R8};
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::{root, run, target};
use loopbox_testbed::Testbed;

/// Changes when what is done here does.
const VERSION: u32 = 1;

/// The rules that every Android build begins with, as far as they matter to what is shrunk here. The classes
/// below `android` are those that the testbeds lack.
const OF_EVERY_BUILD: &str = "
-keep class android.** { *; }
-keepclassmembers enum * { public static **[] values(); public static ** valueOf(java.lang.String); }
-repackageclasses
-allowaccessmodification
-dontnote **
";

/// What an SDK's `android.jar` does not have, or that of an SDK older than the device: hidden, or newer.
const NOT_IN_THE_SDK: [&str; 2] = ["android/os/Looper$Observer", "android/view/SurfaceControl$OnJankData"];

/// Who shrinks, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shrinker {
    /// R8.
    R8 {
        /// Whether in full mode, as by default, or as ProGuard's rules were meant.
        full: bool,
        /// The app's `minSdk`.
        min_api: u32,
    },
    /// ProGuard.
    ProGuard,
}

impl Shrinker {
    /// What a new app has.
    pub const USUAL: Self = Self::R8 { full: true, min_api: 26 };
    /// All that apps may have.
    pub const ALL: [Self; 5] = [
        Self::R8 { full: true, min_api: 21 },
        Self::R8 { full: true, min_api: 26 },
        Self::R8 { full: false, min_api: 21 },
        Self::R8 { full: false, min_api: 26 },
        Self::ProGuard,
    ];
}

impl fmt::Display for Shrinker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::R8 { full, min_api } => {
                write!(f, "R8 in {} mode from API {min_api} on", if *full { "full" } else { "compat" })
            }
            Self::ProGuard => f.write_str("ProGuard"),
        }
    }
}

/// An app before it is shrunk.
#[derive(Debug)]
pub struct Release<'a> {
    /// What it is compiled for.
    pub testbed: &'a Testbed,
    /// Its own sources.
    pub sources: Vec<PathBuf>,
    /// The libraries that become part of it, as jars of class files.
    pub libraries: Vec<PathBuf>,
    /// The rules about it, and those that its libraries bring along.
    pub rules: String,
}

/// An app as it ships.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// What runs.
    pub jar: PathBuf,
    /// Which names of the source became which.
    pub mapping: PathBuf,
}

impl Release<'_> {
    /// Compiles, shrinks and dexes it; found again when nothing of it has changed.
    ///
    /// # Errors
    /// What the compiler or the shrinker says.
    pub fn shrink(&self, how: Shrinker) -> Result<Shrunk> {
        let tools = Tools::ensure()?;
        let r8 = R8::ensure(&Progress::new("R8"))?;
        let cache = Cache::open(&target().join("shrunk"))?;
        let sdk = self.testbed.java_class_path();
        let mut key = Key::new("shrunk", VERSION).with(&tools.identity()?).with(R8::identity());
        key = key.with(&how.to_string()).with(&self.rules).with(OF_EVERY_BUILD);
        if how == Shrinker::ProGuard {
            key = key.with(&sha256_file(&proguard()?)?);
        }
        for path in self.sources.iter().chain(&self.libraries).chain(&sdk) {
            key = key.with(&path.file_name().unwrap_or_default().to_string_lossy()).with_path(path)?;
        }
        let result = cache.step("shrunk", &key, |out| {
            let part = |name: &str| out.join(name);
            let known: Vec<PathBuf> =
                sdk.iter().enumerate().map(|(n, _)| part(&format!("sdk-{n}.jar"))).collect();
            for (jar, known) in sdk.iter().zip(&known) {
                without_hidden(jar, known)?;
            }
            let own = part("own.jar");
            self.compile(&tools, &sdk, &part("classes"), &own)?;
            let classes: Vec<&Path> =
                [own.as_path()].into_iter().chain(self.libraries.iter().map(PathBuf::as_path)).collect();
            let rules = part("rules.pro");
            fs::write(&rules, format!("{}\n{OF_EVERY_BUILD}", self.rules))?;
            match how {
                Shrinker::R8 { full, min_api } => {
                    let mut shrink = r8.command(Program::R8);
                    shrink.args(["--release", "--min-api", &min_api.to_string()]);
                    shrink.args((!full).then_some("--pg-compat"));
                    shrink.arg("--pg-conf").arg(&rules).arg("--pg-map-output").arg(part("mapping.txt"));
                    for library in &known {
                        shrink.arg("--lib").arg(library);
                    }
                    fs::create_dir(part("dex"))?;
                    command::run(shrink.arg("--output").arg(part("dex")).args(&classes))?;
                    jar::pack(&part("dex"), &part("app.jar"))
                }
                Shrinker::ProGuard => {
                    let mut shrink = tools.java();
                    shrink.arg("-jar").arg(proguard()?);
                    for input in &classes {
                        shrink.arg("-injars").arg(input);
                    }
                    shrink.arg("-outjars").arg(part("out.jar"));
                    for library in &known {
                        shrink.arg("-libraryjars").arg(library);
                    }
                    shrink.args([
                        "-optimizationpasses",
                        "3",
                        "-keepattributes",
                        "SourceFile,LineNumberTable",
                    ]);
                    shrink.args(["-renamesourcefileattribute", "SourceFile"]);
                    shrink.arg("-printmapping").arg(part("mapping.txt"));
                    command::run(shrink.arg(format!("@{}", rules.display())))?;
                    self.testbed.dex_classes(&[part("out.jar")], &part("app.jar"))
                }
            }
        })?;
        Ok(Shrunk { jar: result.join("app.jar"), mapping: result.join("mapping.txt") })
    }

    fn compile(&self, tools: &Tools, sdk: &[PathBuf], classes: &Path, out: &Path) -> Result<()> {
        fs::create_dir(classes)?;
        let mut javac = tools.javac();
        javac.args(["-nowarn", "-Xlint:none", "-source", "8", "-target", "8", "-g", "-encoding", "UTF-8"]);
        javac.arg("-bootclasspath").arg(command::path_list(sdk));
        javac.arg("-cp").arg(command::path_list(&self.libraries));
        command::run(javac.arg("-d").arg(classes).args(&self.sources))?;
        jar::pack(classes, out)
    }
}

/// The SDK as an app knows it.
fn without_hidden(jar: &Path, out: &Path) -> Result<()> {
    let names = jar::names(jar)?;
    let is_known = |name: &&String| !NOT_IN_THE_SDK.iter().any(|hidden| name.starts_with(hidden));
    let known: Vec<&String> = names.iter().filter(is_known).collect();
    jar::write(out, &jar::read_entries(jar, &known)?)
}

/// Debian's ProGuard, unpacked below `target/`; nothing is installed.
fn proguard() -> Result<PathBuf> {
    let folder = target().join("tools/proguard");
    let jar = folder.join("usr/share/java/proguard.jar");
    if jar.exists() {
        return Ok(jar);
    }
    let debs = folder.join("debs");
    fs::create_dir_all(&debs)?;
    let download = || run(Command::new("apt-get").args(["download", "libproguard-java"]).current_dir(&debs));
    if download().is_err() {
        run(Command::new("apt-get").arg("update"))?;
        download()?;
    }
    for deb in fs::read_dir(&debs)? {
        run(Command::new("dpkg").arg("-x").arg(deb?.path()).arg(&folder))?;
    }
    ensure!(jar.exists(), "the package has no {}", jar.display());
    Ok(jar)
}

/// Checks each frame of the app, in stacks with outermost frames first: its line in the source, below
/// `tests/app`, calls the frame above it. Returns how many there were.
///
/// # Errors
/// With the first frame that has no line, or one that does not call what it called.
pub fn check_lines(stacks: &[Vec<&Frame>], package: &str) -> Result<usize> {
    let mut checked = 0;
    for stack in stacks {
        for pair in stack.windows(2) {
            let [caller, callee] = pair else { continue };
            if !caller.class.starts_with(package) || callee.method.starts_with("access$") {
                continue;
            }
            let folder = caller.class.rsplit_once('.').map_or("", |(folder, _)| folder).replace('.', "/");
            let source = root().join("tests/app").join(folder).join(&caller.file);
            let text = fs::read_to_string(&source).with_context(|| format!("{}", source.display()))?;
            let number = caller.line.with_context(|| format!("{} has no line", caller.full()))?;
            let line = text.lines().nth(number as usize - 1).context("no such line")?;
            let called = callee.method.split('$').next().unwrap_or_default();
            ensure!(line.contains(&format!("{called}(")), "{} does not call {called}: {line}", caller.full());
            checked += 1;
        }
    }
    Ok(checked)
}

/// All stacks of a report, each once, with the outermost frames first.
pub fn all_stacks(analysis: &Analysis) -> Vec<Vec<&Frame>> {
    let trees = analysis.trees.iter();
    let stacks = trees.flat_map(|tree| tree.stack_runs().into_iter().map(|run| tree.stack(run.top)));
    stacks.map(|stack| stack.into_iter().map(|frame| &analysis.frames[frame]).collect()).collect()
}
