//! R8 and ProGuard, which shrink, rename and inline an app as in a release build.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command;
use loopbox_setup::files::{remove, sha256_file};
use loopbox_setup::jar;
use loopbox_setup::progress::Progress;
use loopbox_setup::r8::{Program, R8};
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::{run, set_up};
use loopbox_testbed::Testbed;

/// A part of the cache key. It has to change when this module works in another way.
const VERSION: u32 = 1;

/// The rules that every Android build begins with, as far as they matter for what is shrunk here. The classes
/// below `android` are those that the testbeds lack.
const OF_EVERY_BUILD: &str = "
-keep class android.** { *; }
-keepclassmembers enum * { public static **[] values(); public static ** valueOf(java.lang.String); }
-repackageclasses
-allowaccessmodification
-dontnote **
";

/// Hidden or newer classes, which the testbeds have but the `android.jar` of an app's SDK may lack.
const NOT_IN_THE_SDK: [&str; 2] = ["android/os/Looper$Observer", "android/view/SurfaceControl$OnJankData"];

/// Debian's package of ProGuard.
const PROGUARD: &str = "libproguard-java";
/// Options that give ProGuard the defaults of R8: optimisation such as inlining, and line numbers.
const OF_PROGUARD: [&str; 6] = [
    "-optimizationpasses",
    "3",
    "-keepattributes",
    "SourceFile,LineNumberTable",
    "-renamesourcefileattribute",
    "SourceFile",
];

/// The program that shrinks, and its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shrinker {
    /// R8.
    R8 {
        /// `true` for R8's full mode, which is the default; `false` for its compatibility mode, which reads
        /// the rules as ProGuard does.
        full: bool,
        /// The app's `minSdk`.
        min_api: u32,
    },
    /// ProGuard.
    ProGuard,
}

impl Shrinker {
    /// The usual shrinker of a new app.
    pub const USUAL: Self = Self::R8 { full: true, min_api: 26 };
    /// All shrinkers that apps may use.
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
    /// The testbed that it is compiled for.
    pub testbed: &'a Testbed,
    /// The app's own sources.
    pub sources: Vec<PathBuf>,
    /// The libraries that become part of the app, as jars of class files.
    pub libraries: Vec<PathBuf>,
    /// The shrinker's rules for the app, including those that its libraries provide.
    pub rules: String,
}

/// An app as it ships.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// The jar that runs.
    pub jar: PathBuf,
    /// The map from source names to new names.
    pub mapping: PathBuf,
}

impl Release<'_> {
    /// Compiles, shrinks and dexes the app; the result is reused when nothing has changed.
    ///
    /// # Errors
    /// What the compiler or the shrinker says.
    pub fn shrink(&self, how: Shrinker) -> Result<Shrunk> {
        let tools = Tools::ensure()?;
        let r8 = R8::ensure(&Progress::new("R8"))?;
        let cache = Cache::open(&set_up().join("shrunk"))?;
        cache.prune(&[])?;
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
            let work = out.join("work");
            fs::create_dir(&work)?;
            let mut known = Vec::new();
            for (number, jar) in sdk.iter().enumerate() {
                known.push(work.join(format!("sdk-{number}.jar")));
                without_hidden(jar, &known[number])?;
            }
            let rules = out.join("rules.pro");
            fs::write(&rules, format!("{}\n{OF_EVERY_BUILD}", self.rules))?;
            match how {
                Shrinker::R8 { full, min_api } => {
                    let mut shrink = r8.command(Program::R8);
                    shrink.args(["--release", "--min-api", &min_api.to_string()]);
                    shrink.args((!full).then_some("--pg-compat"));
                    shrink.arg("--pg-conf").arg(&rules).arg("--pg-map-output").arg(out.join("mapping.txt"));
                    for library in &known {
                        shrink.arg("--lib").arg(library);
                    }
                    shrink.args(self.testbed.compile(&self.sources, &self.libraries)?).args(&self.libraries);
                    let dex = work.join("dex");
                    fs::create_dir(&dex)?;
                    command::run(shrink.arg("--output").arg(&dex))?;
                    jar::pack(&dex, &out.join("app.jar"))?;
                }
                Shrinker::ProGuard => {
                    let own = work.join("own.jar");
                    self.compile_for_proguard(&tools, &work.join("classes"), &own)?;
                    let mut shrink = tools.java();
                    shrink.arg("-jar").arg(proguard()?);
                    for input in [&own].into_iter().chain(&self.libraries) {
                        shrink.arg("-injars").arg(input);
                    }
                    let small = work.join("out.jar");
                    shrink.arg("-outjars").arg(&small);
                    for library in &known {
                        shrink.arg("-libraryjars").arg(library);
                    }
                    shrink.args(OF_PROGUARD).arg("-printmapping").arg(out.join("mapping.txt"));
                    command::run(shrink.arg(format!("@{}", rules.display())))?;
                    self.testbed.dex_classes(&[small], &out.join("app.jar"))?;
                }
            }
            remove(&work)
        })?;
        Ok(Shrunk { jar: result.join("app.jar"), mapping: result.join("mapping.txt") })
    }

    /// Compiles the app's sources for Java 8, because Debian's ProGuard reads no class files of Java 17.
    fn compile_for_proguard(&self, tools: &Tools, classes: &Path, out: &Path) -> Result<()> {
        fs::create_dir(classes)?;
        let mut javac = tools.javac();
        javac.args(["-nowarn", "-Xlint:none", "-source", "8", "-target", "8", "-g", "-encoding", "UTF-8"]);
        javac.arg("-bootclasspath").arg(command::path_list(self.testbed.java_class_path()));
        javac.arg("-cp").arg(command::path_list(&self.libraries));
        command::run(javac.arg("-d").arg(classes).args(&self.sources))?;
        jar::pack(classes, out)
    }
}

/// Copies a jar of the platform's classes without those that an app's SDK lacks.
fn without_hidden(jar: &Path, out: &Path) -> Result<()> {
    let names = jar::names(jar)?;
    let is_known = |name: &&String| !NOT_IN_THE_SDK.iter().any(|hidden| name.starts_with(hidden));
    let known: Vec<&String> = names.iter().filter(is_known).collect();
    jar::write(out, &jar::read_entries(jar, &known)?)
}

/// Debian's ProGuard, unpacked; nothing is installed.
fn proguard() -> Result<PathBuf> {
    let key = Key::new("proguard", VERSION).with(PROGUARD);
    let result = Cache::open(&set_up().join("tools"))?.step("proguard", &key, |out| {
        let debs = out.join("debs");
        fs::create_dir(&debs)?;
        let download = || run(Command::new("apt-get").args(["download", PROGUARD]).current_dir(&debs));
        if download().is_err() {
            run(Command::new("apt-get").arg("update"))?;
            download()?;
        }
        for deb in fs::read_dir(&debs)? {
            run(Command::new("dpkg").arg("-x").arg(deb?.path()).arg(out))?;
        }
        remove(&debs)
    })?;
    let jar = result.join("usr/share/java/proguard.jar");
    ensure!(jar.exists(), "the package has no {}", jar.display());
    Ok(jar)
}
