//! The archive that an app depends on, and what a Maven repository has beside it.
//!
//! Every file depends on nothing but the sources and the compilers: names are sorted, times are left out.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::java::{Classes, Entries, Java, library_in};
use crate::library::Library;
use crate::project::{SONAME, data, folder};
use loopbox_setup::files::write_atomically;
use loopbox_setup::progress::Progress;

/// Maven's name of the archive.
const GROUP: &str = "io/loopbox";
const NAME: &str = "loopbox";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Packs everything and returns the archive's file.
pub(crate) fn pack(libraries: &[Library], java: &Classes) -> Result<PathBuf> {
    let archive = put_all(libraries, java, &folder().join("maven"))?;
    ensure_holds(&archive, libraries)?;
    let short = folder().join("loopbox.aar");
    fs::copy(&archive, &short).with_context(|| format!("cannot write {}", short.display()))?;
    Ok(short)
}

/// Compiles the Java half in the folder `glue` and puts the archive with some libraries, and what belongs to it, into a
/// Maven repository. Returns the archive's file.
///
/// # Errors
/// When a source does not compile, or a file cannot be read or written.
pub fn build(libraries: &[Library], glue: &Path, repository: &Path) -> Result<PathBuf> {
    let java = Java::ensure(&Progress::new("aar"))?;
    let work = tempfile::tempdir().context("no folder to compile in")?;
    put_all(libraries, &library_in(&java, glue, work.path())?, repository)
}

fn put_all(libraries: &[Library], java: &Classes, repository: &Path) -> Result<PathBuf> {
    ensure!(!libraries.is_empty(), "an archive without libraries");
    let place = repository.join(GROUP).join(NAME).join(VERSION);
    let file = |suffix: &str| place.join(format!("{NAME}-{VERSION}{suffix}"));
    let archive = zip(&contents(libraries, java)?)?;
    write_atomically(&file(".aar"), &archive)?;
    write_atomically(&file("-sources.jar"), zip(&jar(&java.sources))?)?;
    write_atomically(&file("-javadoc.jar"), zip(&jar(&java.documentation))?)?;
    write_atomically(&file(".pom"), pom()?)?;
    Ok(file(".aar"))
}

/// Unpacks an archive and compares: it has the libraries as they were built, these and no others, and the classes.
fn ensure_holds(archive: &Path, libraries: &[Library]) -> Result<()> {
    let entries = unpack(archive)?;
    let packed: Vec<&String> = entries.keys().filter(|name| name.starts_with("jni/")).collect();
    ensure!(packed.len() == libraries.len(), "{} has {packed:?}", archive.display());
    for library in libraries {
        let name = format!("jni/{}/{SONAME}", library.abi);
        let built =
            fs::read(&library.file).with_context(|| format!("cannot read {}", library.file.display()))?;
        ensure!(entries.get(&name) == Some(&built), "{name} in {} is not what was built", archive.display());
    }
    for name in ["AndroidManifest.xml", "classes.jar", "proguard.txt"] {
        ensure!(
            entries.get(name).is_some_and(|bytes| !bytes.is_empty()),
            "no {name} in {}",
            archive.display()
        );
    }
    Ok(())
}

/// The archive's files, as the format's specification names them.
fn contents(libraries: &[Library], java: &Classes) -> Result<Entries> {
    let text = |name: &str| {
        let file = data(name);
        fs::read(&file).with_context(|| format!("cannot read {}", file.display()))
    };
    let mut entries = Entries::from([
        ("AndroidManifest.xml".to_owned(), text("AndroidManifest.xml")?),
        ("R.txt".to_owned(), Vec::new()), // no resources
        (
            "META-INF/com/android/build/gradle/aar-metadata.properties".to_owned(),
            text("aar-metadata.properties")?,
        ),
        ("classes.jar".to_owned(), zip(&jar(&java.classes))?),
        ("proguard.txt".to_owned(), text("proguard.txt")?),
    ]);
    for library in libraries {
        let name = library.file.file_name().context("a library without a name")?.to_string_lossy();
        let bytes =
            fs::read(&library.file).with_context(|| format!("cannot read {}", library.file.display()))?;
        entries.insert(format!("jni/{}/{name}", library.abi), bytes);
    }
    Ok(entries)
}

/// The entries of a jar: a manifest, then the files.
fn jar(files: &Entries) -> Entries {
    let mut entries = files.clone();
    entries.insert("META-INF/MANIFEST.MF".to_owned(), b"Manifest-Version: 1.0\r\n\r\n".to_vec());
    entries
}

fn pom() -> Result<String> {
    let file = data("pom.xml");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text.replace("@VERSION@", VERSION))
}

/// A compressed archive, the same for the same entries.
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

/// Reads an archive back.
///
/// # Errors
/// When it is none.
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
    use loopbox_setup::files::files_below;
    use loopbox_setup::workspace::root;
    use std::time::{Duration, UNIX_EPOCH};

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
        let entries = contents(&[library(folder.path())], &classes("x")).unwrap();
        let names: Vec<&str> = entries.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "AndroidManifest.xml",
                "META-INF/com/android/build/gradle/aar-metadata.properties",
                "R.txt",
                "classes.jar",
                "jni/arm64-v8a/libloopbox.so",
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
        let archive = put_all(&libraries, &classes("x"), folder.path()).unwrap();
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
        let make = |text| zip(&contents(std::slice::from_ref(&library), &classes(text)).unwrap()).unwrap();
        let first = make("x");
        std::thread::sleep(Duration::from_millis(2_100)); // times in archives have 2 s steps
        assert_eq!(first, make("x"));
        assert_ne!(first, make("y"));
    }

    /// Sources, folders and times differ between two machines; what is packed must not.
    #[test]
    fn two_folders_with_the_same_sources_make_the_same_repository() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(folder.path());
        let make = |name: &str, year: u64| {
            let glue = folder.path().join(name);
            for part in ["java", "java-stubs", "java-compile-only"] {
                let from = root().join("jni-glue").join(part);
                for file in files_below(&from).unwrap() {
                    let to = glue.join(part).join(file.strip_prefix(&from).unwrap());
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    fs::copy(&file, &to).unwrap();
                    let time = UNIX_EPOCH + Duration::from_hours(year * 8_766);
                    fs::File::options().append(true).open(&to).unwrap().set_modified(time).unwrap();
                }
            }
            let repository = glue.join("maven");
            build(std::slice::from_ref(&library), &glue, &repository).unwrap();
            let files = files_below(&repository).unwrap();
            let named = |file: &PathBuf| {
                (file.strip_prefix(&repository).unwrap().to_owned(), fs::read(file).unwrap())
            };
            files.iter().map(named).collect::<Vec<_>>()
        };
        let (one, other) = (make("a", 40), make("deeper/b", 50));
        let names: Vec<_> = one.iter().map(|(name, _)| name.file_name().unwrap().to_string_lossy()).collect();
        let wanted = ["-javadoc.jar", "-sources.jar", ".aar", ".pom"];
        assert_eq!(names, wanted.map(|suffix| format!("{NAME}-{VERSION}{suffix}")));
        for ((name, bytes), (_, again)) in one.iter().zip(&other) {
            assert!(bytes == again, "{} differs", name.display());
        }
    }

    #[test]
    fn the_pom_has_the_workspaces_version() {
        let pom = pom().unwrap();
        assert!(pom.contains(&format!("<version>{VERSION}</version>")) && !pom.contains('@'), "{pom}");
        assert!(pom.contains("<packaging>aar</packaging>"));
    }
}
