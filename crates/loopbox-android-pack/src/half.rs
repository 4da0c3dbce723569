//! The Java half of the product: which sources are compiled, against which classes, and which archive each
//! class goes into. One archive is Kotlin.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::java::{Entries, Java, entries};
use crate::ktx;
use crate::project::{GLUE, folder};
use loopbox_setup::cache::Key;
use loopbox_setup::command::path_list;
use loopbox_setup::files::{files_below, write_atomically};
use loopbox_setup::progress::Progress;
use loopbox_setup::workspace::root;

/// The Java of one archive, compiled.
#[derive(Clone)]
pub(crate) struct Classes {
    /// Class files, `io/loopbox/...`.
    pub(crate) classes: Entries,
    /// Source files, `io/loopbox/...`.
    pub(crate) sources: Entries,
    /// Documentation.
    pub(crate) documentation: Entries,
}

/// The Java of all archives.
#[derive(Clone)]
pub(crate) struct AllClasses {
    pub(crate) library: Classes,
    pub(crate) inhouse: Classes,
    pub(crate) ktx: Classes,
    pub(crate) noop: Classes,
    pub(crate) screen: Classes,
    pub(crate) startup: Classes,
    pub(crate) testing: Classes,
    /// The public API of the library, of its substitutes, and of the archives for Kotlin and for tests.
    pub(crate) api: [String; 4],
}

impl AllClasses {
    /// Checks that the public API is the one recorded in `jni-glue/api`, so that every change is intended.
    pub(crate) fn ensure_api_is_recorded(&self) -> Result<()> {
        let [library, noop, ktx, testing] = &self.api;
        fs::create_dir_all(folder()).with_context(|| format!("cannot create {}", folder().display()))?;
        for (name, api) in
            [("loopbox.api", library), ("loopbox-ktx.api", ktx), ("loopbox-testing.api", testing)]
        {
            let recorded = root().join(GLUE).join("api").join(name);
            let found = folder().join(name);
            fs::write(&found, api).with_context(|| format!("cannot write {}", found.display()))?;
            let known = fs::read_to_string(&recorded).unwrap_or_default();
            ensure!(
                *api == known,
                "the public API is not the one in {}; if the change is meant, copy {} over it",
                recorded.display(),
                found.display()
            );
        }
        ensure!(library == noop, "loopbox-noop has another public API than loopbox");
        Ok(())
    }
}

/// Compiles the sources of all archives, and the code that apps may copy: the integrations (against
/// declarations of their SDKs) and the sample app.
pub(crate) fn all(java: &Java) -> Result<AllClasses> {
    let half = Half::ensure(java, &root().join(GLUE))?;
    let besides = [GLUE_INTEGRATIONS, GLUE_SAMPLE].map(|folder| root().join(GLUE).join(folder));
    let named = half.key("java-besides").with(&INTEGRATIONS.join(" "));
    let key = besides.iter().try_fold(named, |key, folder| key.with_path(folder))?;
    java.cache.step("java-besides", &key, |out| compile_besides(java, &half.parts.library.classes, out))?;
    half.read()
}

/// The folder of the integrations, code that apps may copy. [`GLUE_SAMPLE`] is the folder of the sample app's
/// code.
const GLUE_INTEGRATIONS: &str = "integrations";
const GLUE_SAMPLE: &str = "sample/app/src/main/java";

/// Compiles the integrations and the sample app against the library's `classes`.
fn compile_besides(java: &Java, classes: &Path, out: &Path) -> Result<()> {
    let glue = root().join(GLUE);
    for name in INTEGRATIONS {
        let place = glue.join(GLUE_INTEGRATIONS).join(name);
        let declared = out.join("declared").join(name);
        fs::create_dir_all(&declared).context("no folder for declarations")?;
        if place.join("declarations").is_dir() {
            java.compile(&java_below(&place, &["declarations"])?, &[], &[], &declared)?;
        }
        // A platform newer than Debian's is declared, too.
        let before = [declared.clone()];
        let class_path = [classes.to_owned(), declared];
        java.compile(&java_below(&place, &["java"])?, &before, &class_path, &out.join(GLUE_INTEGRATIONS))
            .with_context(|| format!("the integration of {name}"))?;
    }
    let sample = java_below(&glue, &[GLUE_SAMPLE])?;
    java.compile(&sample, &[], &[classes.to_owned()], &out.join("sample")).context("the sample app")
}

/// The folders of `jni-glue/integrations` that contain Java.
const INTEGRATIONS: [&str; 11] = [
    "acra",
    "bitdrift",
    "bugsnag",
    "crashlytics",
    "datadog",
    "debug",
    "embrace",
    "opentelemetry",
    "sentry",
    "upload",
    "xcrash",
];

/// Compiles what is below the folder `glue`, without the integrations.
pub(crate) fn archives(java: &Java, glue: &Path) -> Result<AllClasses> {
    Half::ensure(java, glue)?.read()
}

/// The Java half of this workspace, compiled.
///
/// Many tests need it: the first one compiles it, and the others reuse the result until a source changes.
struct Half<'a> {
    java: &'a Java,
    parts: Parts,
    /// The result of the compilation.
    work: PathBuf,
}

impl<'a> Half<'a> {
    fn ensure(java: &'a Java, glue: &Path) -> Result<Self> {
        let key = Parts::of(glue, Path::new(""))?.add_to(ktx::add_to(java.key("java-classes")), glue)?;
        let work =
            java.cache.step("java-classes", &key, |out| Parts::of(glue, out)?.compile(java, glue, out))?;
        Ok(Self { java, parts: Parts::of(glue, &work)?, work })
    }

    /// A key for the results that depend on the classes.
    fn key(&self, step: &str) -> Key {
        self.java.key(step).with(&self.work.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Everything that goes into archives.
    fn read(&self) -> Result<AllClasses> {
        let (java, parts) = (self.java, &self.parts);
        let documentation =
            java.cache.step("java-documentation", &self.key("java-documentation"), |out| {
                parts.all().into_iter().try_for_each(|part| part.document(java, &self.work, &part.place(out)))
            })?;
        let api = java.cache.step("java-api", &self.key("java-api"), |out| {
            [&parts.library, &parts.noop, &parts.ktx, &parts.testing]
                .into_iter()
                .try_for_each(|part| write_atomically(&part.place(out), java.api(&part.classes)?))
        })?;
        let api = |part: &Part| fs::read_to_string(part.place(&api)).context("the recorded API is gone");
        let read = |part: &Part| part.read(&part.place(&documentation));
        Ok(AllClasses {
            library: read(&parts.library)?,
            inhouse: read(&parts.inhouse)?,
            ktx: read(&parts.ktx)?,
            noop: read(&parts.noop)?,
            screen: read(&parts.screen)?,
            startup: read(&parts.startup)?,
            testing: read(&parts.testing)?,
            api: [api(&parts.library)?, api(&parts.noop)?, api(&parts.ktx)?, api(&parts.testing)?],
        })
    }
}

/// The language of an archive's sources.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Java,
    Kotlin,
}

/// The sources of one archive.
struct Part {
    language: Language,
    /// Where its classes go.
    classes: PathBuf,
    sources: Vec<PathBuf>,
    /// The root folders of its packages.
    roots: Vec<PathBuf>,
    /// Other parts that it depends on.
    class_path: Vec<PathBuf>,
}

/// The compiled Java of all archives.
struct Parts {
    library: Part,
    inhouse: Part,
    ktx: Part,
    noop: Part,
    screen: Part,
    startup: Part,
    testing: Part,
}

impl Parts {
    fn of(glue: &Path, work: &Path) -> Result<Self> {
        let own = glue.join("java");
        let java = |folder: PathBuf, name: &str, on| Part::below(Language::Java, folder, work.join(name), on);
        let library = java(own.clone(), "classes", Vec::new())?;
        let on_library = || vec![library.classes.clone()];
        let inhouse = java(glue.join("inhouse/java"), "inhouse", on_library())?;
        let ktx = Part::below(Language::Kotlin, glue.join("ktx/kotlin"), work.join("ktx"), on_library())?;
        let mut noop = java(glue.join("noop/java"), "noop", Vec::new())?;
        noop.sources.extend(SHARED_BY_NOOP.iter().map(|name| own.join("io/loopbox").join(name)));
        noop.roots.push(own);
        let screen = java(glue.join("screen/java"), "screen", on_library())?;
        let startup = java(glue.join("startup/java"), "startup", on_library())?;
        let testing = java(glue.join("testing/java"), "testing", on_library())?;
        Ok(Self { library, inhouse, ktx, noop, screen, startup, testing })
    }

    /// Compiles the sources of each archive against the archives that it depends on.
    fn compile(&self, java: &Java, glue: &Path, work: &Path) -> Result<()> {
        // Declarations first and apart, so that they cannot get into the library.
        let declarations = java_below(glue, &DECLARATIONS)?;
        java.compile(&declarations, &[], &[], &declared(work))?;
        for part in self.all() {
            match part.language {
                Language::Java => {
                    java.compile(&part.sources, &[declared(work)], &part.class_path, &part.classes)?;
                }
                Language::Kotlin => ktx::compile(java, &part.sources, &part.class_path, &part.classes)?,
            }
        }
        Ok(())
    }

    /// The archives in an order in which each comes after those that it depends on.
    fn all(&self) -> [&Part; 7] {
        let Self { library, inhouse, ktx, noop, screen, startup, testing } = self;
        [library, inhouse, ktx, noop, screen, startup, testing]
    }

    /// Adds all sources in `glue` to a key.
    fn add_to(&self, mut key: Key, glue: &Path) -> Result<Key> {
        let declarations = java_below(glue, &DECLARATIONS)?;
        let parts = self.all().map(|part| (part.classes.as_path(), &part.sources));
        for (part, sources) in parts.into_iter().chain([(Path::new("declared"), &declarations)]) {
            key = key.with(&part.to_string_lossy());
            for source in sources {
                let name = source.strip_prefix(glue).unwrap_or(source);
                key = key.with(&name.to_string_lossy()).with_path(source)?;
            }
        }
        Ok(key)
    }
}

/// The folders with declarations of platform classes that are not, or not yet, in the platform's public API.
const DECLARATIONS: [&str; 2] = ["java-stubs", "java-compile-only"];

/// Where declarations of the platform are compiled to.
fn declared(work: &Path) -> PathBuf {
    work.join("platform")
}

impl Part {
    /// An archive whose sources are all below one folder.
    fn below(language: Language, root: PathBuf, classes: PathBuf, class_path: Vec<PathBuf>) -> Result<Self> {
        let extension = if language == Language::Java { "java" } else { "kt" };
        let sources = sources_below(&root, &[""], extension)?;
        Ok(Self { language, classes, sources, roots: vec![root], class_path })
    }

    /// Its path in the result of a step.
    fn place(&self, out: &Path) -> PathBuf {
        out.join(self.classes.file_name().unwrap_or_default())
    }

    /// Generates the documentation of the public classes. For Kotlin only writes a README that refers to the
    /// sources, because Kotlin's documentation tool is not part of the set-up.
    fn document(&self, java: &Java, work: &Path, out: &Path) -> Result<()> {
        if self.language == Language::Kotlin {
            return write_atomically(&out.join("README.txt"), "The sources have the documentation (KDoc).\n");
        }
        let needed = path_list(self.class_path.iter().chain([&self.classes]));
        let is_public = |file: &&PathBuf| !file.components().any(|part| part.as_os_str() == "internal");
        let public: Vec<PathBuf> = self.sources.iter().filter(is_public).cloned().collect();
        java.document(&public, &[declared(work)], Path::new(&needed), out)
    }

    /// What was compiled, with the sources and their documentation.
    fn read(&self, documentation: &Path) -> Result<Classes> {
        let mut sources = Entries::new();
        for root in &self.roots {
            let of_this = |name: &str| {
                self.sources
                    .iter()
                    .any(|file| file.strip_prefix(root).is_ok_and(|file| file == Path::new(name)))
            };
            sources.extend(entries(root)?.into_iter().filter(|(name, _)| of_this(name)));
        }
        Ok(Classes { classes: entries(&self.classes)?, sources, documentation: entries(documentation)? })
    }
}

/// The Java half as folders of classes, and the classes that it is compiled against.
#[derive(Debug)]
pub struct Compiled {
    /// The classes of the archive that apps depend on.
    pub library: PathBuf,
    /// The classes of the additional archive for in-house builds.
    pub inhouse: PathBuf,
    /// The classes of the archive for apps in Kotlin.
    pub ktx: PathBuf,
    /// The classes of the archive without effect.
    pub noop: PathBuf,
    /// The classes of the additional archive for debug builds.
    pub screen: PathBuf,
    /// The classes of the archive for App Startup.
    pub startup: PathBuf,
    /// The classes of the archive for unit tests of apps.
    pub testing: PathBuf,
    /// Declarations of platform classes, which are compiled against but not packed.
    pub declared: PathBuf,
    /// The platform's public API at level 23.
    pub android_jar: PathBuf,
}

/// The Java half of this workspace, without documentation and archives.
///
/// # Errors
/// When a source does not compile, or the platform's API cannot be had.
pub fn compiled() -> Result<Compiled> {
    let java = Java::ensure(&Progress::new("java"))?;
    let Half { work, parts, .. } = Half::ensure(&java, &root().join(GLUE))?;
    let Parts { library, inhouse, ktx, noop, screen, startup, testing } = parts;
    let [library, inhouse, ktx, noop, screen, startup, testing] =
        [library, inhouse, ktx, noop, screen, startup, testing].map(|part| part.classes);
    let (declared, android_jar) = (declared(&work), java.android_jar);
    Ok(Compiled { library, inhouse, ktx, noop, screen, startup, testing, declared, android_jar })
}

/// The library's sources that the archive without effect contains.
const SHARED_BY_NOOP: [&str; 33] = [
    "AnrWarning.java",
    "AnrWarningListener.java",
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
    "Logger.java",
    "MonitorConfig.java",
    "MonitorListener.java",
    "MonitorSampler.java",
    "MonitorUploader.java",
    "ObserverAccess.java",
    "ProfileListener.java",
    "QueueAccess.java",
    "Redactor.java",
    "Stall.java",
    "Status.java",
    "internal/platform/Faults.java",
    "internal/recording/FrameSettings.java",
    "internal/recording/FrameSink.java",
    "internal/recording/MonitorSettings.java",
    "internal/platform/RecorderLog.java",
    "internal/recording/ReportSink.java",
    "internal/recording/Settings.java",
    "internal/platform/Tag.java",
    "internal/recording/UserShare.java",
];

/// Java sources below folders of `place`, sorted.
fn java_below(place: &Path, folders: &[&str]) -> Result<Vec<PathBuf>> {
    sources_below(place, folders, "java")
}

/// Sources whose names end with `extension` below folders of `place`, sorted.
fn sources_below(place: &Path, folders: &[&str], extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for name in folders {
        let all = files_below(&place.join(name))?;
        found.extend(all.into_iter().filter(|file| file.extension().is_some_and(|e| e == extension)));
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
            LazyLock::new(|| all(&Java::ensure(&Progress::new("test")).unwrap()).unwrap());
        COMPILED.clone()
    }

    /// A result made from other sources is not reused.
    #[test]
    fn a_source_that_changes_comes_or_gets_another_name_changes_the_key() {
        let folder = tempfile::tempdir().unwrap();
        let glue = folder.path();
        let put = |name: &str, text: &str| {
            let file = glue.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let own = ["java", "inhouse/java", "noop/java", "screen/java", "startup/java", "testing/java"];
        let shared = SHARED_BY_NOOP.map(|name| format!("java/io/loopbox/{name}"));
        let files = own.iter().chain(&DECLARATIONS).map(|root| format!("{root}/A.java")).chain(shared);
        let files: Vec<String> = files.chain(["ktx/kotlin/A.kt".to_owned()]).collect();
        files.iter().for_each(|file| put(file, "class A {}"));
        let key = || {
            let parts = Parts::of(glue, Path::new("")).unwrap();
            parts.add_to(Key::new("test", 1), glue).unwrap().hex()
        };
        let mut seen = std::collections::BTreeSet::from([key()]);
        for file in &files {
            put(file, "class A { int a; }");
            assert!(seen.insert(key()), "{file} has changed");
        }
        put("java/B.java", "class B {}");
        assert!(seen.insert(key()), "a new one");
        fs::rename(glue.join("java/B.java"), glue.join("java/C.java")).unwrap();
        assert!(seen.insert(key()), "another name");
        put("java/notes.txt", "no Java");
        assert!(!seen.insert(key()), "what is not compiled");
    }

    #[test]
    fn no_declaration_of_another_library_gets_into_ours() {
        let AllClasses { library, inhouse, ktx, noop, screen, startup, testing, .. } = compiled();
        assert!(library.classes.contains_key("io/loopbox/internal/Recorder.class"));
        assert!(library.documentation.contains_key("io/loopbox/Loopbox.html"));
        let of_the_inside = library.documentation.keys().filter(|name| name.contains("internal"));
        assert_eq!(of_the_inside.collect::<Vec<_>>(), [""; 0], "only what apps use is documented");
        for classes in [&library, &noop, &inhouse, &screen, &startup, &testing] {
            for name in classes.classes.keys().chain(classes.sources.keys()) {
                assert!(name.starts_with("io/loopbox/") && !name.contains("integration"), "{name}");
            }
        }
        let both = ["NativeThreadAccess", "QueueHead"].map(|name| format!("io/loopbox/inhouse/{name}.class"));
        assert!(inhouse.classes.keys().eq(&both));
        // With what Kotlin's compiler reads of a library's top-level functions.
        let others = ktx.classes.keys().filter(|name| !name.starts_with("io/loopbox/ktx/LoopboxKtx"));
        assert!(others.eq(["META-INF/loopbox-ktx.kotlin_module"]), "{:?}", ktx.classes.keys());
        assert!(ktx.sources.keys().eq(["io/loopbox/ktx/Loopbox.kt"]));
        assert!(
            noop.sources.contains_key("io/loopbox/Loopbox.java") && noop.sources.len() > SHARED_BY_NOOP.len()
        );
        assert!(!noop.classes.contains_key("io/loopbox/internal/Recorder.class"));
        assert!(
            testing.classes.keys().all(|name| !library.classes.contains_key(name)),
            "an app's tests have both"
        );
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

    /// The check fails after a change of the public API. If the change is intended, the new file is copied
    /// over the recorded one.
    #[test]
    fn the_public_api_is_the_recorded_one_with_and_without_effect() {
        let mut compiled = compiled();
        compiled.ensure_api_is_recorded().unwrap();
        compiled.api[1].push_str("public class io.loopbox.More {}\n");
        assert!(compiled.ensure_api_is_recorded().is_err(), "what stands in for it has more");
        compiled.api[0] = compiled.api[1].clone();
        assert!(compiled.ensure_api_is_recorded().unwrap_err().to_string().contains("loopbox.api"));
    }

    /// The library contains no text by which a store's scanner or a reviewer could find the work-around.
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
        // The fields behind the queue's head, which the store's library can only be given.
        assert!(has(&inhouse, "it is no linked list") && !has(&library, "it is no linked list"));
    }
}
