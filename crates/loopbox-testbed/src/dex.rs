//! Compiles sources into a dexed jar that runs on a testbed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::aot;
use crate::builder::VERSION;
use crate::java::{self, Against, DexOf};
use crate::manifest::Testbed;
use crate::{paths, system};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::files::{exclusive, remove, write_atomically};
use loopbox_setup::jar;
use loopbox_setup::kotlin::Kotlin;
use loopbox_setup::progress::Progress;
use loopbox_setup::r8::R8;
use loopbox_setup::tools::Tools;

impl Testbed {
    /// Compiles Java 17 and Kotlin sources against the testbed's classes and `extra_class_path`. Returns a
    /// jar with the classes that the sources define and, if some are in Kotlin, the jar of Kotlin's library.
    /// The same sources give the same jars from a cache.
    ///
    /// # Errors
    /// What the compilers print.
    pub fn compile(&self, sources: &[PathBuf], extra_class_path: &[PathBuf]) -> Result<Vec<PathBuf>> {
        ensure!(!sources.is_empty(), "no sources");
        let progress = Progress::new("classes");
        let tools = Tools::ensure()?;
        let mut sources = sources.to_vec();
        sources.sort();
        let libraries = self.java_class_path();
        let mut key = Key::new("classes", VERSION).with(&tools.identity()?).with(Kotlin::identity());
        for source in &sources {
            key = key.with(&source.file_name().unwrap_or_default().to_string_lossy()); // class files name it
        }
        for path in sources.iter().chain(&libraries).chain(extra_class_path).chain([&system::compile_only()])
        {
            key = key.with_path(path)?;
        }
        let (kotlin, java): (Vec<_>, Vec<_>) = sources.iter().cloned().partition(|source| is_kotlin(source));
        let cache = Cache::open(&paths::testbeds().join("cache"))?;
        let result = cache.step("classes", &key, |out| {
            let classes = out.join("classes");
            if !kotlin.is_empty() {
                let class_path: Vec<PathBuf> = libraries.iter().chain(extra_class_path).cloned().collect();
                // It reads the Java sources for what they declare.
                Kotlin::ensure(&progress)?.compile(&sources, &class_path, &classes)?.into_text()?;
            }
            if !java.is_empty() {
                let system = self.dir.join(&self.manifest.build.system);
                let framework = self.dir.join(&self.manifest.build.framework);
                let class_path: Vec<PathBuf> =
                    [framework].into_iter().chain(extra_class_path.iter().cloned()).collect();
                java::javac(&tools, &java, &Against::System(&system, &class_path), &classes)?;
            }
            jar::pack(&classes, &out.join("classes.jar"))?;
            remove(&classes)
        })?;
        let mut parts = vec![result.join("classes.jar")];
        if !kotlin.is_empty() {
            parts.push(Kotlin::ensure(&progress)?.standard_library()?.to_owned());
        }
        Ok(parts)
    }

    /// Does what [`Testbed::compile`] does, and puts the dexed result into `out_jar`. `extra_class_path` is
    /// only used for compilation. For a testbed whose methods are compiled ahead of time, those of the jar
    /// are compiled, too.
    ///
    /// # Errors
    /// What the compilers say.
    pub fn dex(&self, sources: &[PathBuf], extra_class_path: &[PathBuf], out_jar: &Path) -> Result<()> {
        let app = self.dexed(&self.compile(sources, extra_class_path)?)?;
        // Of several programs that need the same jar one writes it, and none while another runs with it: a
        // jar that is as it should be is left alone.
        let _lock = exclusive(&out_jar.with_extension("lock"), || {})?;
        // A copy, not a link: the jar is the caller's to change.
        let bytes = fs::read(&app).with_context(|| format!("cannot read {}", app.display()))?;
        if !fs::read(out_jar).is_ok_and(|last| last == bytes) {
            write_atomically(out_jar, &bytes)?;
        }
        aot::app(self, out_jar)
    }

    /// Turns jars of class files, compiled elsewhere, into one dexed jar.
    ///
    /// # Errors
    /// What D8 prints.
    pub fn dex_classes(&self, classes: &[PathBuf], out_jar: &Path) -> Result<()> {
        let dexed = self.dexed(classes)?;
        fs::copy(&dexed, out_jar).with_context(|| format!("cannot write {}", out_jar.display()))?;
        Ok(())
    }

    /// Turns jars of class files into one dexed jar of an app, and returns its path in the cache. The same
    /// classes have the same path.
    fn dexed(&self, classes: &[PathBuf]) -> Result<PathBuf> {
        const APP: &str = "app.jar";
        let r8 = R8::ensure(&Progress::new("dex"))?;
        let mut key = Key::new("dex", VERSION).with(&java::APP_API.to_string()).with(R8::identity());
        // Not of the libraries: they decide about methods that an app inherits from an interface of the
        // platform, and no app here inherits one that the testbeds do not all have. A testbed has the dex of
        // another one that its sources compile to the same classes for.
        for path in classes {
            key = key.with_path(path)?;
        }
        let libraries = self.java_class_path();
        let cache = Cache::open(&paths::testbeds().join("cache"))?;
        let dexed =
            cache.step("dex", &key, |out| java::d8(&r8, classes, DexOf::App, &libraries, &out.join(APP)))?;
        Ok(dexed.join(APP))
    }

    /// Turns jars of class files of the platform into one dexed jar for the boot class path.
    ///
    /// # Errors
    /// What D8 prints.
    pub fn dex_platform(&self, classes: &[PathBuf], out_jar: &Path) -> Result<()> {
        java::d8(&R8::ensure(&Progress::new("dex"))?, classes, DexOf::Core, &self.java_class_path(), out_jar)
    }
}

fn is_kotlin(source: &Path) -> bool {
    source.extension().is_some_and(|extension| extension == "kt")
}
