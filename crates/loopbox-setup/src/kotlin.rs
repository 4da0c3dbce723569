//! A Kotlin compiler: Jupyter's Kotlin kernel contains a complete one. Kotlin's own distribution is in no
//! registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::cache::{Cache, Key};
use crate::command::{Outcome, outcome, path_list};
use crate::files::files_below;
use crate::progress::Progress;
use crate::registry::{Pinned, Registry};
use crate::tools::{Tools, recorded_classes, shared_classes};
use crate::{unpack, workspace};

/// The version of May 2026; the compiler in it is a build of Kotlin 2.4.
const KERNEL: Pinned<'_> = Pinned {
    registry: Registry::PyPi,
    package: "kotlin-jupyter-kernel",
    version: "0.19.0.944",
    sha256: "dc654a426a28e6621aeb0bd7772d268a9a877aabae4a17b73383752a416281a3",
    megabytes: 81,
};

/// The compiler's class.
const COMPILER: &str = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler";

/// Where the package has its jars.
const JARS: &str = "run_kotlin_kernel/jars/";

/// The compiler, and the libraries that its programs need.
#[derive(Debug)]
pub struct Kotlin {
    tools: Tools,
    /// All jars of the package: the compiler is in one of them, and needs some others.
    jars: Vec<PathBuf>,
    /// The JVM's class data sharing archive with the classes that the compiler loads.
    classes: PathBuf,
}

/// Code with which the compiler loads most of the classes that it needs for any code.
const SAMPLE: &str = r#"
class Sample<T : Comparable<T>>(private val values: List<T>) {
    suspend fun most(of: suspend (T) -> Int): Int? = values.map { of(it) }.maxOrNull()
    fun text() = "${values.size} of ${if (values.isEmpty()) "none" else values.first()}"
}
"#;

impl Kotlin {
    /// Downloads and unpacks the compiler, unless an earlier call did.
    ///
    /// # Errors
    /// When it cannot be had, or the machine has no JVM.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let tools = Tools::ensure()?;
        let wheel = KERNEL.ensure(progress)?;
        let unpacked = Cache::open(&workspace::set_up().join("tools"))?.step(
            "kotlin",
            &Key::new("kotlin", 1).with(KERNEL.sha256),
            |out| unpack::zip_entries(&wheel, JARS, out),
        )?;
        let mut jars = files_below(&unpacked)?;
        jars.retain(|file| file.extension().is_some_and(|extension| extension == "jar"));
        // Or a folder that lists its files in another order would not fit the archive.
        jars.sort();
        let found = Self { tools, jars, classes: PathBuf::new() };
        Ok(Self { classes: found.classes()?, ..found })
    }

    /// The path of the class data sharing archive with the compiler's classes. The archive is made by the
    /// first call.
    fn classes(&self) -> Result<PathBuf> {
        const ARCHIVE: &str = "kotlin.jsa";
        let key =
            Key::new("kotlin-classes", 1).with(KERNEL.sha256).with(&self.tools.identity()?).with(SAMPLE);
        let key = key.with(&path_list(&self.jars));
        let made = Cache::open(&workspace::set_up().join("tools"))?.step("kotlin-classes", &key, |out| {
            let sample = out.join("Sample.kt");
            fs::write(&sample, SAMPLE).with_context(|| format!("cannot write {}", sample.display()))?;
            let class_path = path_list([self.standard_library()?]);
            let cold = self.cold(recorded_classes(&out.join(ARCHIVE)));
            let mut compiler = with_target(cold, class_path, out)?;
            outcome(compiler.arg(&sample))?.into_text()?;
            Ok(())
        })?;
        Ok(made.join(ARCHIVE))
    }

    /// Text that changes when the compiler does.
    #[must_use]
    pub const fn identity() -> &'static str {
        KERNEL.sha256
    }

    /// The jar of the standard library that each Kotlin program needs.
    ///
    /// # Errors
    /// When the package has none, or several.
    pub fn standard_library(&self) -> Result<&Path> {
        let libraries: Vec<&PathBuf> =
            self.jars.iter().filter(|jar| jar.to_string_lossy().contains("kotlin-stdlib-")).collect();
        let [library] = libraries[..] else {
            bail!("not one standard library of Kotlin but {libraries:?}");
        };
        Ok(library)
    }

    /// Compiles sources. Everything that Kotlin does not contain must be on the class path, including Java's
    /// core library. The outcome contains the compiler's messages: `FILE:LINE:COLUMN: error: ...` where it
    /// rejects something.
    ///
    /// # Errors
    /// When the compiler cannot be started.
    pub fn compile(&self, sources: &[PathBuf], class_path: &[PathBuf], classes: &Path) -> Result<Outcome> {
        let class_path = class_path.iter().map(PathBuf::as_path).chain([self.standard_library()?]);
        let mut compiler = self.shared_compiler(path_list(class_path), classes)?;
        outcome(compiler.args(sources))
    }

    /// Compiles a library called `name` that apps with Kotlin version `language` can use; that version's
    /// standard library is also on the class path. Every warning is an error, and public declarations must be
    /// marked as such.
    ///
    /// # Errors
    /// When the compiler cannot be started, or refuses something.
    pub fn compile_library(
        &self,
        name: &str,
        language: &str,
        sources: &[PathBuf],
        class_path: &[PathBuf],
        classes: &Path,
    ) -> Result<()> {
        let mut compiler = self.shared_compiler(path_list(class_path), classes)?;
        compiler.args(["-module-name", name, "-language-version", language, "-api-version", language]);
        // The compiler warns of each version that is not its newest.
        compiler.args(["-Xsuppress-version-warnings", "-Xexplicit-api=strict", "-Werror"]);
        // Classes, because no Android has what invokedynamic needs.
        compiler.args(["-Xlambdas=class", "-Xsam-conversions=class"]);
        outcome(compiler.args(sources))?.into_text()?;
        Ok(())
    }

    /// The compiler for code that runs without a JDK, in the [warm JVM](crate::warm_jvm) where there is one.
    fn shared_compiler(&self, class_path: String, classes: &Path) -> Result<Command> {
        let warm = self.tools.warm(&path_list(&self.jars), COMPILER);
        let compiler = warm.unwrap_or_else(|| self.cold(shared_classes(&self.classes)));
        let mut compiler = with_target(compiler, class_path, classes)?;
        compiler.arg("-no-jdk");
        Ok(compiler)
    }

    /// The compiler in a new JVM, which gets these options.
    fn cold(&self, options: [String; 2]) -> Command {
        let mut compiler = self.tools.java();
        compiler.args(options).args(["-Xmx1g", "-cp"]).arg(path_list(&self.jars)).arg(COMPILER);
        compiler
    }
}

fn with_target(mut compiler: Command, class_path: String, classes: &Path) -> Result<Command> {
    fs::create_dir_all(classes)?;
    compiler.args(["-no-stdlib", "-no-reflect", "-jvm-target", "1.8", "-cp"]);
    compiler.arg(class_path).arg("-d").arg(classes);
    Ok(compiler)
}
