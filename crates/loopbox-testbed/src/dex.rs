//! Compiles Java sources into a dexed jar that runs on a testbed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::aot;
use crate::builder::VERSION;
use crate::java::{self, DexOf};
use crate::manifest::Testbed;
use crate::paths;
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::files::{exclusive, remove, write_atomically};
use loopbox_setup::jar;
use loopbox_setup::tools::Tools;

impl Testbed {
    /// Compiles Java 8 sources against the testbed's classes and `extra_class_path` and writes the dexed result to
    /// `out_jar`. The same sources give the same jar out of a cache. Only what the sources define goes in:
    /// `extra_class_path` is for compilation. On a testbed with code made ahead of time the jar gets its code beside it.
    ///
    /// # Errors
    /// What javac or dx say. dx does not desugar: lambdas and method references are refused.
    pub fn dex(&self, sources: &[PathBuf], extra_class_path: &[PathBuf], out_jar: &Path) -> Result<()> {
        ensure!(!sources.is_empty(), "no Java sources for {}", out_jar.display());
        let tools = Tools::ensure()?;
        let mut sources = sources.to_vec();
        sources.sort();
        let boot = self.java_class_path();
        let mut key = Key::new("dex", VERSION).with(&tools.identity()?);
        for source in &sources {
            key = key.with(&source.file_name().unwrap_or_default().to_string_lossy()); // class files name it
        }
        for path in sources
            .iter()
            .chain(&boot)
            .chain(extra_class_path)
            .chain([&self.dir.join(&self.manifest.build.dx)])
        {
            key = key.with_path(path)?;
        }
        let cache = Cache::open(&paths::testbeds().join("cache"))?;
        let result = cache.step("dex", &key, |out| {
            let classes = out.join("classes");
            java::javac(&tools, &sources, &boot, extra_class_path, &classes)?;
            let plain = out.join("classes.jar");
            jar::pack(&classes, &plain)?;
            remove(&classes)?;
            java::dx(
                &tools,
                &self.dir.join(&self.manifest.build.dx),
                &plain,
                DexOf::App,
                &out.join("app.jar"),
            )
        })?;
        let app = result.join("app.jar");
        // Of several programs that need the same jar one writes it, and none while another runs with it: a jar that is as it
        // should be is left alone.
        let _lock = exclusive(&out_jar.with_extension("lock"), || {})?;
        // A copy, not a link: the jar is the caller's to change.
        let bytes = fs::read(&app).with_context(|| format!("cannot read {}", app.display()))?;
        if !fs::read(out_jar).is_ok_and(|last| last == bytes) {
            write_atomically(out_jar, &bytes)?;
        }
        aot::app(self, out_jar)
    }

    /// Turns a jar of class files, compiled elsewhere, into a dexed jar.
    ///
    /// # Errors
    /// What dx prints.
    pub fn dex_classes(&self, classes: &Path, out_jar: &Path) -> Result<()> {
        let tools = Tools::ensure()?;
        java::dx(&tools, &self.dir.join(&self.manifest.build.dx), classes, DexOf::App, out_jar)
    }
}
