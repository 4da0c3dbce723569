//! The archive that an app depends on, and its files in a Maven repository.
//!
//! Every file depends only on the sources and the compilers: names are sorted, and times are left out.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::artifact::{ALL, Artifact, INHOUSE, KTX, LOOPBOX, NOOP, SCREEN, STARTUP, TESTING, VERSION};
use crate::half::{self, AllClasses, Classes};
use crate::java::{Entries, Java};
use crate::library::Library;
use crate::linked::{self, ANDROID, Crate};
use crate::project::{self, GLUE, LIBRARY, data, folder};
use crate::publisher::Publisher;
use crate::sbom::sbom;
use loopbox_setup::files::{files_below, write_atomically};
use loopbox_setup::progress::Progress;
use loopbox_setup::workspace::root;

/// The native libraries of the archives.
#[derive(Debug, Clone, Copy)]
pub struct Libraries<'a> {
    /// The libraries of the archive that apps depend on, one for each ABI.
    pub own: &'a [Library],
    /// The libraries of `loopbox-inhouse`, the additional archive for in-house builds.
    pub inhouse: &'a [Library],
    /// The name of the compilers that built the libraries. The standard library of these compilers is linked
    /// into the libraries.
    pub compiler: &'a str,
}

/// Packs everything and returns the archive that apps depend on.
pub(crate) fn pack(libraries: Libraries<'_>, java: &AllClasses) -> Result<PathBuf> {
    let archive = put_all(libraries, java, &folder().join("maven"))?;
    ensure_holds(&archive, libraries.own)?;
    let short = folder().join("loopbox.aar");
    fs::copy(&archive, &short).with_context(|| format!("cannot write {}", short.display()))?;
    Ok(short)
}

/// Puts the archives into a Maven repository: the classes of the Java half, and the given native libraries.
/// Returns the file of the archive that apps depend on.
///
/// # Errors
/// When a source does not compile, or a file cannot be read or written.
pub fn build(libraries: Libraries<'_>, repository: &Path) -> Result<PathBuf> {
    let java = Java::ensure(&Progress::new("aar"))?;
    put_all(libraries, &half::archives(&java, &root().join(GLUE))?, repository)
}

fn put_all(libraries: Libraries<'_>, java: &AllClasses, repository: &Path) -> Result<PathBuf> {
    ensure!(!libraries.own.is_empty(), "an archive without libraries");
    let own = linked::crates(LIBRARY.package, ANDROID)?;
    let mut more = prefab()?;
    more.insert(
        PROFILE.to_owned(),
        fs::read(data(PROFILE)).with_context(|| format!("cannot read {PROFILE}"))?,
    );
    let mut library = java.library.clone();
    // In the jar, an app's build puts it into the app; elsewhere in the archive it would stay behind.
    library.classes.insert(NOTICES.to_owned(), linked::notices(LIBRARY.soname, &own).into_bytes());
    let place = Place { repository, compiler: libraries.compiler, publisher: &Publisher::read(&root())? };
    let archive = place.put(&LOOPBOX, contents(&LOOPBOX, libraries.own, &library, more)?, &library, &own)?;
    place.put_symbols(&LOOPBOX, libraries.own)?;
    if !libraries.inhouse.is_empty() {
        let entries = contents(&INHOUSE, libraries.inhouse, &java.inhouse, Entries::new())?;
        place.put(&INHOUSE, entries, &java.inhouse, &linked::crates(project::INHOUSE.package, ANDROID)?)?;
        place.put_symbols(&INHOUSE, libraries.inhouse)?;
    }
    let without_native_code = [
        (&KTX, &java.ktx),
        (&NOOP, &java.noop),
        (&SCREEN, &java.screen),
        (&STARTUP, &java.startup),
        (&TESTING, &java.testing),
    ];
    for (artifact, classes) in without_native_code {
        place.put(artifact, contents(artifact, &[], classes, Entries::new())?, classes, &[])?;
    }
    Ok(archive)
}

/// The file that lists the classes that the start of an app needs. The app's build merges it, and ART
/// compiles the classes when it installs the app.
const PROFILE: &str = "baseline-prof.txt";

/// The suffix of the file with the symbols of an archive's libraries.
const SYMBOLS: &str = "-native-debug-symbols.zip";

/// Where an archive's classes contain the notices for what is linked into its libraries.
const NOTICES: &str = "META-INF/io.loopbox/third-party-notices.txt";

/// Where archives go, and what all of them contain.
struct Place<'a> {
    repository: &'a Path,
    compiler: &'a str,
    publisher: &'a Publisher,
}

impl Place<'_> {
    /// Puts one archive with all its files into the repository; returns its file. `crates` are linked into
    /// its libraries.
    fn put(
        &self,
        artifact: &Artifact,
        entries: Entries,
        java: &Classes,
        crates: &[Crate],
    ) -> Result<PathBuf> {
        let place = place(artifact, self.repository);
        let files = [
            (artifact.file_name(".aar"), zip(&entries)?),
            (artifact.file_name("-sources.jar"), zip(&jar(&java.sources))?),
            (artifact.file_name("-javadoc.jar"), zip(&jar(&java.documentation))?),
        ];
        for (name, bytes) in &files {
            write_atomically(&place.join(name), bytes)?;
        }
        let [(_, archive), ..] = &files;
        let list = sbom(artifact, archive, crates, self.compiler)?;
        write_atomically(&place.join(artifact.file_name("-cyclonedx.json")), list)?;
        write_atomically(&place.join(artifact.file_name(".pom")), artifact.pom(self.publisher)?)?;
        let module =
            artifact.module(&files.each_ref().map(|(name, bytes)| (name.clone(), bytes.as_slice())))?;
        write_atomically(&place.join(artifact.file_name(".module")), module)?;
        Ok(place.join(artifact.file_name(".aar")))
    }

    /// Puts the libraries with their symbols next to an archive: one folder for each ABI, as Google Play
    /// expects.
    fn put_symbols(&self, artifact: &Artifact, libraries: &[Library]) -> Result<()> {
        let packed = libraries.iter().map(|library| {
            let name = library.symbols.file_name().context("symbols without a name")?.to_string_lossy();
            let bytes = fs::read(&library.symbols)
                .with_context(|| format!("cannot read {}", library.symbols.display()))?;
            Ok((format!("{}/{name}", library.abi), bytes))
        });
        let packed = zip(&packed.collect::<Result<Entries>>()?)?;
        write_atomically(&place(artifact, self.repository).join(artifact.file_name(SYMBOLS)), packed)
    }
}

/// The path of an archive in a repository.
fn place(artifact: &Artifact, repository: &Path) -> PathBuf {
    repository.join("io/loopbox").join(artifact.name).join(VERSION)
}

/// The size of each archive in a repository, by its name.
pub(crate) fn sizes(repository: &Path) -> Result<BTreeMap<String, u64>> {
    let size = |artifact: &&Artifact| {
        let file = place(artifact, repository).join(artifact.file_name(".aar"));
        let about = fs::metadata(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok((artifact.name.to_owned(), about.len()))
    };
    ALL.iter().map(size).collect()
}

/// The C header in the layout of Prefab, Android's package format for native code.
fn prefab() -> Result<Entries> {
    let folder = data("prefab");
    let mut found = Entries::new();
    for file in files_below(&folder)? {
        let name = file.strip_prefix(&folder).unwrap_or(&file).to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        found.insert(format!("prefab/{name}"), text.replace("@VERSION@", VERSION).into_bytes());
    }
    Ok(found)
}

/// Unpacks an archive and checks that it has the classes, and exactly the libraries that were built.
fn ensure_holds(archive: &Path, libraries: &[Library]) -> Result<()> {
    let entries = unpack(archive)?;
    let packed: Vec<&String> = entries.keys().filter(|name| name.starts_with("jni/")).collect();
    ensure!(packed.len() == libraries.len(), "{} has {packed:?}", archive.display());
    for library in libraries {
        let (name, built) = packed_library(library)?;
        ensure!(entries.get(&name) == Some(&built), "{name} in {} is not what was built", archive.display());
    }
    for name in ["AndroidManifest.xml", "classes.jar", "proguard.txt", PROFILE, "prefab/prefab.json"] {
        ensure!(
            entries.get(name).is_some_and(|bytes| !bytes.is_empty()),
            "no {name} in {}",
            archive.display()
        );
    }
    Ok(())
}

/// A library's place in an archive, and its bytes.
fn packed_library(library: &Library) -> Result<(String, Vec<u8>)> {
    let name = library.file.file_name().context("a library without a name")?.to_string_lossy();
    let bytes = fs::read(&library.file).with_context(|| format!("cannot read {}", library.file.display()))?;
    Ok((format!("jni/{}/{name}", library.abi), bytes))
}

/// The archive's files with the names from the format's specification, and additional files.
fn contents(artifact: &Artifact, libraries: &[Library], java: &Classes, more: Entries) -> Result<Entries> {
    let text = |name: &str| {
        let file = data(name);
        fs::read(&file).with_context(|| format!("cannot read {}", file.display()))
    };
    let mut entries = more;
    entries.extend([
        ("AndroidManifest.xml".to_owned(), artifact.manifest()?),
        ("R.txt".to_owned(), Vec::new()), // no resources
        (
            "META-INF/com/android/build/gradle/aar-metadata.properties".to_owned(),
            text("aar-metadata.properties")?,
        ),
        ("classes.jar".to_owned(), zip(&jar(&java.classes))?),
        ("proguard.txt".to_owned(), text(artifact.rules)?),
    ]);
    for library in libraries {
        entries.extend([packed_library(library)?]);
    }
    Ok(entries)
}

/// The entries of a jar: a manifest, then the files.
fn jar(files: &Entries) -> Entries {
    let mut entries = files.clone();
    entries.insert("META-INF/MANIFEST.MF".to_owned(), b"Manifest-Version: 1.0\r\n\r\n".to_vec());
    entries
}

/// A compressed archive of the entries. Equal entries give equal bytes.
fn zip(entries: &Entries) -> Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644);
    for (name, content) in entries {
        writer.start_file(name.as_str(), options).with_context(|| format!("cannot pack {name}"))?;
        writer.write_all(content).with_context(|| format!("cannot pack {name}"))?;
    }
    Ok(writer.finish().context("cannot finish an archive")?.into_inner())
}

/// Reads the files of an archive.
///
/// # Errors
/// When the file cannot be read or is no archive.
pub fn unpack(file: &Path) -> Result<Entries> {
    use std::io::Read as _;
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).with_context(|| format!("{}", file.display()))?;
    let mut entries = Entries::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        entries.insert(entry.name()?.into_owned(), content);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Abi;
    use loopbox_setup::cache::Cache;
    use std::time::{Duration, UNIX_EPOCH};

    fn all_classes(text: &str) -> AllClasses {
        let [library, inhouse, ktx, noop, screen, startup, testing] = std::array::from_fn(|_| classes(text));
        AllClasses { library, inhouse, ktx, noop, screen, startup, testing, api: <[String; 4]>::default() }
    }

    fn classes(text: &str) -> Classes {
        let entries = |name: &str| Entries::from([(name.to_owned(), text.as_bytes().to_vec())]);
        Classes {
            classes: entries("io/loopbox/A.class"),
            sources: entries("io/loopbox/A.java"),
            documentation: entries("index.html"),
        }
    }

    fn library(folder: &Path) -> Library {
        let file = folder.join("libloopbox.so");
        fs::write(&file, "code").unwrap();
        Library::for_test(Abi::Arm64, file)
    }

    #[test]
    fn the_archive_has_what_the_format_asks_for_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let entries =
            contents(&LOOPBOX, &[library(folder.path())], &classes("x"), prefab().unwrap()).unwrap();
        let names: Vec<&str> = entries.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "AndroidManifest.xml",
                "META-INF/com/android/build/gradle/aar-metadata.properties",
                "R.txt",
                "classes.jar",
                "jni/arm64-v8a/libloopbox.so",
                "prefab/modules/loopbox/include/loopbox.h",
                "prefab/modules/loopbox/module.json",
                "prefab/prefab.json",
                "proguard.txt"
            ]
        );
        let file = folder.path().join("classes.jar");
        fs::write(&file, &entries["classes.jar"]).unwrap();
        let inner = unpack(&file).unwrap();
        assert_eq!(inner.keys().collect::<Vec<_>>(), ["META-INF/MANIFEST.MF", "io/loopbox/A.class"]);
    }

    #[test]
    fn an_archive_with_another_library_than_was_built_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let libraries = [library(folder.path())];
        let all = Libraries { own: &libraries, inhouse: &[], compiler: "rustc" };
        let archive = put_all(all, &all_classes("x"), folder.path()).unwrap();
        assert!(sizes(folder.path()).is_err(), "the one for builds in house is not there");
        ensure_holds(&archive, &libraries).unwrap();
        assert!(ensure_holds(&archive, &[]).is_err());
        fs::write(&libraries[0].file, "other code").unwrap();
        let refusal = ensure_holds(&archive, &libraries).unwrap_err().to_string();
        assert!(refusal.contains("jni/arm64-v8a/libloopbox.so"), "{refusal}");
    }

    #[test]
    fn the_same_content_makes_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(folder.path());
        let make = |text| {
            let entries = contents(&LOOPBOX, std::slice::from_ref(&library), &classes(text), Entries::new());
            zip(&entries.unwrap()).unwrap()
        };
        let first = make("x");
        std::thread::sleep(Duration::from_millis(2_100)); // times in archives have 2 s steps
        assert_eq!(first, make("x"));
        assert_ne!(first, make("y"));
    }

    /// The folders with sources that the archives are made of.
    const COPIED: [&str; 9] = [
        "java",
        "java-stubs",
        "java-compile-only",
        "inhouse/java",
        "ktx/kotlin",
        "noop/java",
        "screen/java",
        "startup/java",
        "testing/java",
    ];

    /// Sources, folders and times differ between two machines; what is packed must not.
    #[test]
    fn two_folders_with_the_same_sources_make_the_same_repository() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(folder.path());
        let own = std::slice::from_ref(&library);
        let read = |repository: &Path| {
            let named =
                |file: PathBuf| (file.strip_prefix(repository).unwrap().to_owned(), fs::read(&file).unwrap());
            files_below(repository).unwrap().into_iter().map(named).collect::<Vec<_>>()
        };
        let here = folder.path().join("maven");
        build(Libraries { own, inhouse: own, compiler: "rustc" }, &here).unwrap();
        // Another one, with a separate cache: nothing that was made of this folder is found there.
        let glue = folder.path().join("deeper/glue");
        for part in COPIED {
            let from = root().join(GLUE).join(part);
            for file in files_below(&from).unwrap() {
                let to = glue.join(part).join(file.strip_prefix(&from).unwrap());
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(&file, &to).unwrap();
                let time = UNIX_EPOCH + Duration::from_hours(50 * 8_766);
                fs::File::options().append(true).open(&to).unwrap().set_modified(time).unwrap();
            }
        }
        let mut java = Java::ensure(&Progress::new("test")).unwrap();
        java.cache = Cache::open(&folder.path().join("cache")).unwrap();
        let there = folder.path().join("deeper/maven");
        let compiled = half::archives(&java, &glue).unwrap();
        put_all(Libraries { own, inhouse: own, compiler: "rustc" }, &compiled, &there).unwrap();
        let (one, other) = (read(&here), read(&there));
        let names: Vec<_> = one.iter().map(|(name, _)| name.file_name().unwrap().to_string_lossy()).collect();
        let of_each = ["-cyclonedx.json", "-javadoc.jar", SYMBOLS, "-sources.jar", ".aar", ".module", ".pom"];
        let is_native = |artifact: &Artifact| [LOOPBOX.name, INHOUSE.name].contains(&artifact.name);
        let expected = ALL.into_iter().flat_map(|artifact| {
            let all = of_each.into_iter().filter(|suffix| *suffix != SYMBOLS || is_native(artifact));
            all.map(|suffix| artifact.file_name(suffix))
        });
        assert_eq!(names, expected.collect::<Vec<_>>());
        assert_eq!(one.len(), other.len());
        for ((name, bytes), again) in one.iter().zip(&other) {
            assert!((name, bytes) == (&again.0, &again.1), "{} differs", name.display());
        }
    }
}
