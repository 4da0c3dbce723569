//! The Java half: compiled against API 23 with every warning an error, packed, documented.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::project::{GLUE, data, folder};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command::{path_list, run};
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

    /// Documentation of the public API as HTML, without anything that shows when it was made. `classes`: what the sources need.
    fn document(&self, sources: &[PathBuf], before: &[PathBuf], classes: &Path, out: &Path) -> Result<()> {
        let mut javadoc = self.tools.of_jdk("javadoc");
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

    /// The public API of compiled classes, each class with its public and protected members, as text that a change shows in.
    fn api(&self, classes: &Path) -> Result<String> {
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

/// The Java of one archive, compiled.
#[derive(Clone)]
pub(crate) struct Classes {
    /// Class files, `io/loopbox/...`.
    pub(crate) classes: Entries,
    /// Sources, the same way.
    pub(crate) sources: Entries,
    /// Documentation.
    pub(crate) documentation: Entries,
}

/// The Java of all archives.
#[derive(Clone)]
pub(crate) struct AllClasses {
    pub(crate) library: Classes,
    pub(crate) inhouse: Classes,
    pub(crate) noop: Classes,
    pub(crate) screen: Classes,
    pub(crate) startup: Classes,
    /// The public API of the library, and of what stands in for it.
    pub(crate) api: [String; 2],
}

impl AllClasses {
    /// A change of the public API is an intended one: `jni-glue/api/loopbox.api` has it.
    pub(crate) fn ensure_api_is_recorded(&self) -> Result<()> {
        let [library, noop] = &self.api;
        let recorded = root().join(GLUE).join("api/loopbox.api");
        let found = folder().join("loopbox.api");
        fs::create_dir_all(folder()).with_context(|| format!("cannot create {}", folder().display()))?;
        fs::write(&found, library).with_context(|| format!("cannot write {}", found.display()))?;
        let known = fs::read_to_string(&recorded).unwrap_or_default();
        ensure!(
            *library == known,
            "the public API is not the one in {}; if the change is meant, copy {} over it",
            recorded.display(),
            found.display()
        );
        ensure!(library == noop, "loopbox-noop has another public API than loopbox");
        Ok(())
    }
}

/// Compiles and documents `jni-glue/java`, and compiles what stands beside it for apps to take: the integrations
/// against declarations of their SDKs, and the sample app against all of it.
pub(crate) fn library(java: &Java) -> Result<AllClasses> {
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
        // A platform newer than Debian's is declared, too.
        let before = [declared.clone()];
        java.compile(&java_below(&place, &["java"])?, &before, &[classes.clone(), declared], &built)
            .with_context(|| format!("the integration of {name}"))?;
    }
    let sample = java_below(&glue, &["sample/app/src/main/java"])?;
    java.compile(&sample, &[], &[classes], &work.path().join("sample")).context("the sample app")?;
    Ok(library)
}

/// The folders of `jni-glue/integrations` that have Java.
const INTEGRATIONS: [&str; 10] = [
    "acra",
    "bitdrift",
    "bugsnag",
    "crashlytics",
    "datadog",
    "debug",
    "embrace",
    "sentry",
    "upload",
    "xcrash",
];

/// The same of another folder `glue`, with `work` to compile in: the classes are below `work/classes` then.
pub(crate) fn library_in(java: &Java, glue: &Path, work: &Path) -> Result<AllClasses> {
    let parts = Parts::of(glue, work)?;
    parts.compile(java, glue, work)?;
    let read = |part: &Part| part.read(java, work);
    Ok(AllClasses {
        library: read(&parts.library)?,
        inhouse: read(&parts.inhouse)?,
        noop: read(&parts.noop)?,
        screen: read(&parts.screen)?,
        startup: read(&parts.startup)?,
        api: [java.api(&parts.library.classes)?, java.api(&parts.noop.classes)?],
    })
}

/// The Java of one archive, as sources.
struct Part {
    /// Where its classes go.
    classes: PathBuf,
    sources: Vec<PathBuf>,
    /// The folders that packages begin in.
    roots: Vec<PathBuf>,
    /// Other parts that it stands on.
    class_path: Vec<PathBuf>,
}

/// That of all archives.
struct Parts {
    library: Part,
    inhouse: Part,
    noop: Part,
    screen: Part,
    startup: Part,
}

impl Parts {
    fn of(glue: &Path, work: &Path) -> Result<Self> {
        let own = glue.join("java");
        let library = Part::below(own.clone(), work.join("classes"), Vec::new())?;
        let on_library = || vec![library.classes.clone()];
        let inhouse = Part::below(glue.join("inhouse/java"), work.join("inhouse"), on_library())?;
        let mut noop = Part::below(glue.join("noop/java"), work.join("noop"), Vec::new())?;
        noop.sources.extend(SHARED_BY_NOOP.iter().map(|name| own.join("io/loopbox").join(name)));
        noop.roots.push(own);
        let screen = Part::below(glue.join("screen/java"), work.join("screen"), on_library())?;
        let startup = Part::below(glue.join("startup/java"), work.join("startup"), on_library())?;
        Ok(Self { library, inhouse, noop, screen, startup })
    }

    /// Each against those that it stands on.
    fn compile(&self, java: &Java, glue: &Path, work: &Path) -> Result<()> {
        // Declarations first and apart, so that they cannot get into the library.
        let declarations = java_below(glue, &["java-stubs", "java-compile-only"])?;
        java.compile(&declarations, &[], &[], &declared(work))?;
        for part in [&self.library, &self.inhouse, &self.noop, &self.screen, &self.startup] {
            java.compile(&part.sources, &[declared(work)], &part.class_path, &part.classes)?;
        }
        Ok(())
    }
}

/// Where declarations of the platform are compiled to.
fn declared(work: &Path) -> PathBuf {
    work.join("platform")
}

impl Part {
    /// All that is below one folder.
    fn below(root: PathBuf, classes: PathBuf, class_path: Vec<PathBuf>) -> Result<Self> {
        Ok(Self { classes, sources: java_below(&root, &[""])?, roots: vec![root], class_path })
    }

    /// What was compiled, with the sources and their documentation.
    fn read(&self, java: &Java, work: &Path) -> Result<Classes> {
        let mut documentation = self.classes.clone().into_os_string();
        documentation.push("-documentation");
        let documentation = PathBuf::from(documentation);
        let needed = path_list(self.class_path.iter().chain([&self.classes]));
        let is_public = |file: &&PathBuf| !file.components().any(|part| part.as_os_str() == "internal");
        let public: Vec<PathBuf> = self.sources.iter().filter(is_public).cloned().collect();
        java.document(&public, &[declared(work)], Path::new(&needed), &documentation)?;
        let mut sources = Entries::new();
        for root in &self.roots {
            let of_this = |name: &str| {
                self.sources
                    .iter()
                    .any(|file| file.strip_prefix(root).is_ok_and(|file| file == Path::new(name)))
            };
            sources.extend(entries(root)?.into_iter().filter(|(name, _)| of_this(name)));
        }
        Ok(Classes { classes: entries(&self.classes)?, sources, documentation: entries(&documentation)? })
    }
}

/// The Java half as folders of classes, and what it is compiled against.
#[derive(Debug)]
pub struct Compiled {
    /// Of the archive that apps depend on.
    pub library: PathBuf,
    /// Of the one that builds in house add.
    pub inhouse: PathBuf,
    /// Of the one without effect.
    pub noop: PathBuf,
    /// Of the one that debug builds add.
    pub screen: PathBuf,
    /// Of the one that App Startup starts.
    pub startup: PathBuf,
    /// The platform's public API at level 23.
    pub android_jar: PathBuf,
}

/// Compiles the Java half of this workspace below `work`, without documentation or an archive.
///
/// # Errors
/// When a source does not compile, or the platform's API cannot be had.
pub fn compile(work: &Path) -> Result<Compiled> {
    let java = Java::ensure(&Progress::new("java"))?;
    let glue = root().join(GLUE);
    let parts = Parts::of(&glue, work)?;
    parts.compile(&java, &glue, work)?;
    let Parts { library, inhouse, noop, screen, startup } = parts;
    let [library, inhouse, noop, screen, startup] =
        [library, inhouse, noop, screen, startup].map(|part| part.classes);
    Ok(Compiled { library, inhouse, noop, screen, startup, android_jar: java.android_jar })
}

/// What the archive without effect has of the library's sources.
const SHARED_BY_NOOP: [&str; 25] = [
    "Config.java",
    "DumpCallback.java",
    "FirstFileListener.java",
    "FrameConfig.java",
    "FrameGesture.java",
    "FrameListener.java",
    "FrameListenerSink.java",
    "FrameStats.java",
    "FrameWindow.java",
    "Listener.java",
    "ListenerSink.java",
    "MonitorConfig.java",
    "MonitorListener.java",
    "MonitorSampler.java",
    "MonitorUploader.java",
    "ObserverAccess.java",
    "Redactor.java",
    "Stall.java",
    "Status.java",
    "internal/FrameSettings.java",
    "internal/FrameSink.java",
    "internal/MonitorSettings.java",
    "internal/ReportSink.java",
    "internal/Settings.java",
    "internal/Tag.java",
];

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
    use crate::artifact::{SCREEN, STARTUP};
    use std::sync::LazyLock;

    /// Compiled once for all tests, with the integrations and the sample app.
    fn compiled() -> AllClasses {
        static COMPILED: LazyLock<AllClasses> =
            LazyLock::new(|| library(&Java::ensure(&Progress::new("test")).unwrap()).unwrap());
        COMPILED.clone()
    }

    #[test]
    fn no_declaration_of_another_library_gets_into_ours() {
        let AllClasses { library, inhouse, noop, screen, startup, .. } = compiled();
        assert!(library.classes.contains_key("io/loopbox/internal/Recorder.class"));
        assert!(library.documentation.contains_key("io/loopbox/Loopbox.html"));
        let of_the_inside = library.documentation.keys().filter(|name| name.contains("internal"));
        assert_eq!(of_the_inside.collect::<Vec<_>>(), [""; 0], "only what apps use is documented");
        for classes in [&library, &noop, &inhouse, &screen, &startup] {
            for name in classes.classes.keys().chain(classes.sources.keys()) {
                assert!(name.starts_with("io/loopbox/") && !name.contains("integration"), "{name}");
            }
        }
        assert!(inhouse.classes.keys().eq(["io/loopbox/inhouse/NativeThreadAccess.class"]));
        assert!(
            noop.sources.contains_key("io/loopbox/Loopbox.java") && noop.sources.len() > SHARED_BY_NOOP.len()
        );
        assert!(!noop.classes.contains_key("io/loopbox/internal/Recorder.class"));
    }

    /// A name that the system does not find ends the app at its start.
    #[test]
    fn what_the_manifests_name_is_there_and_only_the_icon_is_exported() {
        let AllClasses { screen, startup, .. } = compiled();
        let mut icons = 0;
        for (artifact, classes, named) in [(&SCREEN, &screen, 4), (&STARTUP, &startup, 1)] {
            let manifest = String::from_utf8(artifact.manifest().unwrap()).unwrap();
            let value = |element: &str, name: &str| {
                let (_, rest) = element.split_once(&format!("android:{name}=\""))?;
                rest.split('"').next().map(str::to_owned)
            };
            let ours = manifest.split('<').filter(|element| {
                value(element, "name").is_some_and(|name| name.starts_with("io.loopbox."))
                    && element.split_whitespace().next() != Some("action")
            });
            let mut seen = 0;
            for element in ours {
                let class = value(element, "targetActivity").or_else(|| value(element, "name")).unwrap();
                let file = format!("{}.class", class.replace('.', "/"));
                assert!(classes.classes.contains_key(&file), "{}: {class}", artifact.name);
                let is_icon = element.starts_with("activity-alias");
                icons += usize::from(is_icon);
                if !element.starts_with("meta-data") {
                    let exported = value(element, "exported");
                    assert_eq!(exported.as_deref(), Some(if is_icon { "true" } else { "false" }), "{class}");
                }
                seen += 1;
            }
            assert_eq!(seen, named, "{manifest}");
        }
        assert_eq!(icons, 1);
        let native =
            screen.classes.values().any(|class| class.windows(11).any(|text| text == b"loadLibrary"));
        assert!(!native, "the screen is Java alone");
    }

    /// A change of the public API shows in the file, which is copied over when it is meant.
    #[test]
    fn the_public_api_is_the_recorded_one_with_and_without_effect() {
        let mut compiled = compiled();
        compiled.ensure_api_is_recorded().unwrap();
        compiled.api[1].push_str("public class io.loopbox.More {}\n");
        assert!(compiled.ensure_api_is_recorded().is_err(), "what stands in for it has more");
        compiled.api[0] = compiled.api[1].clone();
        assert!(compiled.ensure_api_is_recorded().unwrap_err().to_string().contains("loopbox.api"));
    }

    /// What a store's scanner or a reviewer would find.
    #[test]
    fn nothing_of_the_work_around_is_in_the_library_that_goes_into_stores() {
        let AllClasses { library, inhouse, .. } = compiled();
        let texts =
            ["native thread", "NativeThread", "NATIVE_THREAD", "loopbox_inhouse", "setHiddenApiExemptions"];
        let has = |classes: &Classes, text: &str| {
            let mut all = classes.classes.values();
            all.any(|class| class.windows(text.len()).any(|window| window == text.as_bytes()))
        };
        for text in texts {
            assert!(!has(&library, text), "{text}");
        }
        assert!(has(&inhouse, "native thread") && has(&inhouse, "loopbox_inhouse"));
    }
}
