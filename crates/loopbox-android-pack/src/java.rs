//! The Java half: compiled against API 23 with every warning an error, packed, documented.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::project::{GLUE, data, folder};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command::{command, path_list, run};
use loopbox_setup::fetch::Fetcher;
use loopbox_setup::files::files_below;
use loopbox_setup::package::{Package, read_toml};
use loopbox_setup::progress::Progress;
use loopbox_setup::tools::Tools;
use loopbox_setup::unpack;
use loopbox_setup::workspace::root;

/// Where the package has it.
const ANDROID_JAR: &str = "usr/share/java/com.android.android-23.jar";

/// `android-jar.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AndroidJar {
    package: Vec<Package>,
}

/// A Java compiler and what Android apps compile against.
pub(crate) struct Java {
    tools: Tools,
    android_jar: PathBuf,
}

impl Java {
    /// Finds the compiler and downloads `android.jar`, once.
    pub(crate) fn ensure(progress: &Progress) -> Result<Self> {
        let tools = Tools::ensure()?;
        let wanted: AndroidJar = read_toml(&data("android-jar.toml"))?;
        let debs = Fetcher::new(progress)?.packages(&wanted.package.iter().collect::<Vec<_>>())?;
        let key = debs.iter().fold(Key::new("android-jar", 1), |key, deb| key.with(&deb.sha256));
        let unpacked = Cache::open(&folder().join("cache"))?
            .step("android-jar", &key, |out| unpack::packages(&debs.iter().collect::<Vec<_>>(), out))?;
        let android_jar = unpacked.join(ANDROID_JAR);
        ensure!(android_jar.is_file(), "Debian's package has no {ANDROID_JAR}");
        Ok(Self { tools, android_jar })
    }

    /// Compiles for Java 8, which every Android build understands; every warning is an error. Classes in the folders
    /// `before` hide those of `android.jar`.
    pub(crate) fn compile(
        &self,
        sources: &[PathBuf],
        before: &[PathBuf],
        class_path: &[PathBuf],
        classes: &Path,
    ) -> Result<()> {
        fs::create_dir_all(classes).with_context(|| format!("cannot create {}", classes.display()))?;
        let mut javac =
            command(&self.tools.javac, ["-source", "8", "-target", "8", "-g", "-encoding", "UTF-8"]);
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

    /// Documentation of the public API as HTML, without anything that tells when it was made.
    fn document(&self, sources: &[PathBuf], before: &[PathBuf], out: &Path) -> Result<()> {
        let mut javadoc = command(self.tools.javac.with_file_name("javadoc"), ["-quiet", "-notimestamp"]);
        javadoc.args(["-source", "8", "-encoding", "UTF-8", "-charset", "UTF-8", "-public"]);
        javadoc.args(["-Xdoclint:all,-missing", "-windowtitle", "Loopbox", "-doctitle", "Loopbox"]);
        javadoc.arg("-bootclasspath").arg(self.boot_class_path(before)).args(["-classpath", ""]);
        run(javadoc.arg("-d").arg(out).args(sources)).context("the Java documentation cannot be made")?;
        Ok(())
    }

    fn boot_class_path(&self, before: &[PathBuf]) -> String {
        path_list(before.iter().chain([&self.android_jar]))
    }
}

/// Files of an archive, by their names in it.
pub(crate) type Entries = BTreeMap<String, Vec<u8>>;

/// The library's own Java, compiled.
pub(crate) struct Classes {
    /// Class files, `io/loopbox/...`.
    pub(crate) classes: Entries,
    /// Sources, the same way.
    pub(crate) sources: Entries,
    /// Documentation.
    pub(crate) documentation: Entries,
}

/// Compiles and documents `jni-glue/java`, and compiles what stands beside it for apps to take: the integrations
/// against declarations of their SDKs, and the sample app against all of it.
pub(crate) fn library(java: &Java) -> Result<Classes> {
    let glue = root().join(GLUE);
    let work = tempfile::tempdir().context("no folder to compile in")?;
    let library = library_in(java, &glue, work.path())?;
    let classes = work.path().join("classes");
    for name in INTEGRATIONS {
        let place = glue.join("integrations").join(name);
        let declared = work.path().join("declared").join(name);
        fs::create_dir_all(&declared).context("no folder for declarations")?;
        if place.join("declarations").is_dir() {
            java.compile(&java_below(&place, &["declarations"])?, &[], &[], &declared)?;
        }
        let built = work.path().join("integrations");
        java.compile(&java_below(&place, &["java"])?, &[], &[classes.clone(), declared], &built)
            .with_context(|| format!("the integration of {name}"))?;
    }
    let sample = java_below(&glue, &["sample/app/src/main/java"])?;
    java.compile(&sample, &[], &[classes], &work.path().join("sample")).context("the sample app")?;
    Ok(library)
}

/// The folders of `jni-glue/integrations`.
const INTEGRATIONS: [&str; 9] =
    ["acra", "bitdrift", "bugsnag", "crashlytics", "datadog", "embrace", "sentry", "upload", "xcrash"];

/// The same of another folder `glue`, with `work` to compile in: the classes are below `work/classes` then.
pub(crate) fn library_in(java: &Java, glue: &Path, work: &Path) -> Result<Classes> {
    let part = |name: &str| work.join(name);
    // Declarations first and apart, so that they cannot get into the library.
    let declared = [part("platform")];
    let declarations = java_below(glue, &["java-stubs", "java-compile-only"])?;
    java.compile(&declarations, &[], &[], &part("platform"))?;
    let own = java_below(glue, &["java"])?;
    java.compile(&own, &declared, &[], &part("classes"))?;
    java.document(&own, &declared, &part("documentation"))?;
    Ok(Classes {
        classes: entries(&part("classes"))?,
        sources: entries(&glue.join("java"))?,
        documentation: entries(&part("documentation"))?,
    })
}

/// Java sources below folders of `place`, sorted.
fn java_below(place: &Path, folders: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for name in folders {
        let all = files_below(&place.join(name))?;
        found.extend(all.into_iter().filter(|file| file.extension().is_some_and(|e| e == "java")));
    }
    Ok(found)
}

/// All files below a folder.
fn entries(folder: &Path) -> Result<Entries> {
    let mut found = Entries::new();
    for file in files_below(folder)? {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        let content = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        found.insert(name, content);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// And with the library, the integrations and the sample app.
    #[test]
    fn no_declaration_of_another_library_gets_into_ours() {
        let library = library(&Java::ensure(&Progress::new("test")).unwrap()).unwrap();
        assert!(library.classes.contains_key("io/loopbox/Loopbox.class"));
        assert!(library.documentation.contains_key("io/loopbox/Loopbox.html"));
        assert!(
            !library.documentation.contains_key("io/loopbox/Native.html"),
            "only what apps use is documented"
        );
        for name in library.classes.keys().chain(library.sources.keys()) {
            assert!(name.starts_with("io/loopbox/") && !name.contains("integration"), "{name}");
        }
    }
}
