//! Compiles Java for Android, against API 23 and with every warning as an error. Documents and lists the
//! results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::project::{data, folder};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command::{path_list, run};
use loopbox_setup::fetch::Fetcher;
use loopbox_setup::files::files_below;
use loopbox_setup::package::{Package, read_toml};
use loopbox_setup::progress::Progress;
use loopbox_setup::tools::Tools;
use loopbox_setup::unpack;

/// The path of `android.jar` in the package.
const ANDROID_JAR: &str = "usr/share/java/com.android.android-23.jar";

/// `android-jar.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AndroidJar {
    package: Vec<Package>,
}

/// A part of the cache keys below. Change it whenever the arguments or the order of compilation and
/// documentation change.
const VERSION: u32 = 1;

/// A Java compiler and what Android apps compile against.
pub(crate) struct Java {
    tools: Tools,
    /// The platform's public API.
    pub(crate) android_jar: PathBuf,
    /// Where the results are.
    pub(crate) cache: Cache,
    /// A text that changes with the compiler.
    identity: String,
}

impl Java {
    /// Finds the compiler and downloads `android.jar`, once.
    pub(crate) fn ensure(progress: &Progress) -> Result<Self> {
        let tools = Tools::ensure()?;
        let wanted: AndroidJar = read_toml(&data("android-jar.toml"))?;
        let debs = Fetcher::new(progress)?.packages(&wanted.package.iter().collect::<Vec<_>>())?;
        let key = debs.iter().fold(Key::new("android-jar", 1), |key, deb| key.with(&deb.sha256));
        let cache = Cache::open(&folder().join("cache"))?;
        let unpacked =
            cache.step("android-jar", &key, |out| unpack::packages(&debs.iter().collect::<Vec<_>>(), out))?;
        let android_jar = unpacked.join(ANDROID_JAR);
        ensure!(android_jar.is_file(), "Debian's package has no {ANDROID_JAR}");
        let identity = format!("{}{}", tools.identity()?, key.hex());
        Ok(Self { tools, android_jar, cache, identity })
    }

    /// A cache key for what is made with this compiler and `android.jar`.
    pub(crate) fn key(&self, step: &str) -> Key {
        Key::new(step, VERSION).with(&self.identity)
    }

    /// Compiles for Java 8, which every Android build understands; every warning is an error. Classes in the
    /// folders `before` hide those of `android.jar`.
    pub(crate) fn compile(
        &self,
        sources: &[PathBuf],
        before: &[PathBuf],
        class_path: &[PathBuf],
        classes: &Path,
    ) -> Result<()> {
        fs::create_dir_all(classes).with_context(|| format!("cannot create {}", classes.display()))?;
        let mut javac = self.tools.javac();
        javac.args(["-source", "8", "-target", "8", "-g", "-encoding", "UTF-8"]);
        javac.args([
            "-Xlint:all,-options,-serial",
            "-Werror",
            "-proc:none",
            "-extdirs",
            "",
            "-sourcepath",
            "",
        ]);
        javac
            .arg("-bootclasspath")
            .arg(self.boot_class_path(before))
            .arg("-classpath")
            .arg(path_list(class_path));
        run(javac.arg("-d").arg(classes).args(sources))
            .context("the Java sources do not compile for Android")?;
        Ok(())
    }

    /// Documentation of the public API as HTML, without anything that depends on the build time. `classes`:
    /// what the sources need.
    pub(crate) fn document(
        &self,
        sources: &[PathBuf],
        before: &[PathBuf],
        classes: &Path,
        out: &Path,
    ) -> Result<()> {
        let mut javadoc = self.tools.javadoc();
        javadoc.args([
            "-quiet",
            "-notimestamp",
            "-source",
            "8",
            "-encoding",
            "UTF-8",
            "-charset",
            "UTF-8",
            "-public",
        ]);
        javadoc.args(["-Xdoclint:all,-missing", "-windowtitle", "Loopbox", "-doctitle", "Loopbox"]);
        javadoc.arg("-bootclasspath").arg(self.boot_class_path(before)).arg("-classpath").arg(classes);
        run(javadoc.arg("-d").arg(out).args(sources)).context("the Java documentation cannot be made")?;
        Ok(())
    }

    /// The public API of compiled classes, each class with its public and protected members, as text in which
    /// changes are visible.
    pub(crate) fn api(&self, classes: &Path) -> Result<String> {
        let names = entries(classes)?
            .into_keys()
            .filter_map(|name| Some(name.strip_suffix(".class")?.replace('/', ".")));
        let anonymous = |name: &str| {
            name.rsplit('$').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit()))
        };
        let names: Vec<String> =
            names.filter(|name| !name.contains(".internal.") && !anonymous(name)).collect();
        let mut javap = self.tools.of_jdk("javap");
        let text =
            run(javap.args(["-protected", "-classpath"]).arg(classes).args(&names)).context("javap")?;
        let public = |class: &str| class.starts_with("public ");
        // One paragraph a class; those of the package alone are none of an app's business.
        let all =
            text.split("Compiled from ").filter_map(|class| class.split_once('\n').map(|(_, class)| class));
        Ok(all.filter(|class| public(class)).collect())
    }

    fn boot_class_path(&self, before: &[PathBuf]) -> String {
        path_list(before.iter().chain([&self.android_jar]))
    }
}

/// Files of an archive, by their names in it.
pub(crate) type Entries = BTreeMap<String, Vec<u8>>;

/// All files below a folder.
pub(crate) fn entries(folder: &Path) -> Result<Entries> {
    let mut found = Entries::new();
    for file in files_below(folder)? {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        let content = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        found.insert(name, content);
    }
    Ok(found)
}
