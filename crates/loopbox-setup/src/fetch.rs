//! Gets pinned Debian packages and sources, and checks their hashes.
//!
//! Nothing is installed. The mirror's address comes from the machine's apt configuration, and the mirror's
//! signatures are checked with the machine's Debian keyring. Packages that the mirror no longer has are
//! searched for in `../shared/deb-cache` next to the repository and in the folder that `LOOPBOX_DEB_CACHE`
//! names.
//!
//! A file is in the folder of downloads only when its hash is right. Incomplete downloads are in `partial`
//! below it, where the next run continues after an interruption.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};

use crate::apt::{Archive, Remote, amount, download, sources};
use crate::arch::Arch;
use crate::files::{exclusive, sha256_file, write_atomically};
use crate::package::{Package, Source, read_toml};
use crate::progress::Progress;
use crate::workspace;

/// A package file that exists and has the right content.
#[derive(Debug, Clone)]
pub struct Deb {
    /// The file.
    pub file: PathBuf,
    /// Its SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// The file and hash that a floating package (one without a fixed version) had when it was first downloaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Floating {
    file: String,
    sha256: String,
}

/// Something that has to be downloaded.
#[derive(Debug, Clone, Copy)]
enum Item<'a> {
    Package(&'a Package),
    Source(&'a Source),
}

impl Item<'_> {
    fn index(&self) -> Index<'_> {
        match self {
            Self::Package(package) => Index::of(package),
            Self::Source(source) => Index { suite: &source.suite, arch: Arch::X86_64.debian() },
        }
    }

    /// apt's name for the item.
    fn name(&self) -> String {
        match self {
            Self::Package(package) => match package.pin() {
                Some(pin) => format!("{}={}", package.name, pin.version),
                None => package.name.clone(),
            },
            Self::Source(source) => format!("{}={}", source.name, source.version),
        }
    }

    /// The file name and SHA-256 of the item; `None` for a floating package.
    fn pinned(&self) -> Option<(String, &str)> {
        match self {
            Self::Package(package) => package.pin().map(|pin| (package.file_name(pin.version), pin.sha256)),
            Self::Source(source) => Some((source.file.clone(), &source.sha256)),
        }
    }

    /// The key under which the version of a floating package is remembered.
    fn floating_key(&self) -> String {
        format!("{}/{}", self.index(), self.name())
    }
}

/// Downloads packages and source archives into one folder.
#[derive(Debug)]
pub struct Fetcher<'a> {
    progress: &'a Progress,
    apt: PathBuf,
    downloads: PathBuf,
    /// Folders that are searched for a pinned file when the mirror could not serve it.
    fallbacks: Vec<PathBuf>,
    /// The archive of each index that was read, or the error of reading it.
    archives: RefCell<BTreeMap<String, std::result::Result<Archive, String>>>,
}

impl<'a> Fetcher<'a> {
    /// A fetcher with the folder `downloads` below [`workspace::set_up`], for everything that is built in
    /// this workspace.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn new(progress: &'a Progress) -> Result<Self> {
        let mut fallbacks: Vec<PathBuf> =
            env::var_os("LOOPBOX_DEB_CACHE").map(PathBuf::from).into_iter().collect();
        fallbacks.push(workspace::root().join("../shared/deb-cache"));
        Self::below(&workspace::set_up().join("downloads"), fallbacks, progress)
    }

    fn below(folder: &Path, fallbacks: Vec<PathBuf>, progress: &'a Progress) -> Result<Self> {
        let (apt, downloads) = (folder.join("apt"), folder.join("packages"));
        for folder in [&apt, &downloads.join("partial")] {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        Ok(Self { progress, apt, downloads, fallbacks, archives: RefCell::default() })
    }

    /// All packages, in the given order; missing ones are downloaded.
    ///
    /// # Errors
    /// In one line, which package cannot be had, and why.
    pub fn packages(&self, packages: &[&Package]) -> Result<Vec<Deb>> {
        self.items(&packages.iter().map(|package| Item::Package(package)).collect::<Vec<_>>())
    }

    /// The upstream archive of a source package.
    ///
    /// # Errors
    /// In one line, why it cannot be had.
    pub fn source(&self, source: &Source) -> Result<Deb> {
        self.items(&[Item::Source(source)])?.pop().context("nothing was downloaded")
    }

    /// Packages and the upstream archives of source packages, planned and downloaded together.
    ///
    /// # Errors
    /// In one line, what cannot be had, and why.
    pub fn all(&self, packages: &[&Package], sources: &[&Source]) -> Result<(Vec<Deb>, Vec<Deb>)> {
        let items = packages.iter().map(|package| Item::Package(package));
        let mut all =
            self.items(&items.chain(sources.iter().map(|source| Item::Source(source))).collect::<Vec<_>>())?;
        let sources = all.split_off(packages.len());
        Ok((all, sources))
    }

    /// The package that a meta package depends on: a kernel, whose version is part of its name. It is not
    /// pinned, because the mirror drops that version at the next update; its hash comes from apt's signed
    /// index. The file is kept until the folder of downloads is removed.
    ///
    /// # Errors
    /// In one line, why it cannot be had.
    pub fn behind(&self, meta: &str, suite: &str, arch: Arch) -> Result<PathBuf> {
        let index = Index { suite, arch: arch.debian() };
        let file = self.downloads.join(format!("{meta}_{}.deb", index.arch));
        if file.is_file() {
            return Ok(file);
        }
        let _lock = exclusive(&self.downloads.join("lock"), || {
            self.progress.say("wait for the downloads of another set-up");
        })?;
        let get = || -> Result<()> {
            let archive = self.archive(index)?;
            let depends = archive.query("apt-cache", &["depends", "--important", meta])?;
            let name = first_dependency(&depends).with_context(|| format!("{meta} depends on nothing"))?;
            let remotes = archive.packages(&[name])?;
            let remote = remotes.first().with_context(|| format!("no file of {name}"))?;
            let partial = self.downloads.join("partial");
            self.progress.say(format!("download {}", amount::planned(1, "file", remote.size)));
            download(&archive, &remotes, &partial, self.progress)?;
            let there = partial.join(&remote.name);
            ensure!(is(&there, &remote.sha256)?, "apt brought no such file");
            fs::rename(&there, &file).with_context(|| format!("cannot move {}", there.display()))
        };
        get().with_context(|| format!("cannot get {meta} of Debian {index}"))?;
        Ok(file)
    }

    /// The file with the versions of floating packages; it may not exist yet.
    pub fn floating_file(&self) -> PathBuf {
        self.downloads.join("floating.toml")
    }

    fn items(&self, items: &[Item<'_>]) -> Result<Vec<Deb>> {
        if !self.missing(items)?.is_empty() {
            let _lock = exclusive(&self.downloads.join("lock"), || {
                self.progress.say("wait for the downloads of another set-up");
            })?;
            // The other one may have brought it.
            let missing = self.missing(items)?;
            self.download(&missing)?;
        }
        let there =
            |item: &Item<'_>| self.present(item)?.with_context(|| format!("{} vanished", item.name()));
        items.iter().map(there).collect()
    }

    /// Missing items, each once.
    fn missing<'b>(&self, items: &[Item<'b>]) -> Result<Vec<Item<'b>>> {
        let mut missing = BTreeMap::new();
        for item in items {
            if self.present(item)?.is_none() {
                // A source package has several files of one name and version.
                let file = item.pinned().map(|(file, _)| file);
                missing.insert((item.floating_key(), file), *item);
            }
        }
        Ok(missing.into_values().collect())
    }

    /// The file that an earlier run downloaded, if it is unharmed.
    fn present(&self, item: &Item<'_>) -> Result<Option<Deb>> {
        let (name, sha256) = match item.pinned() {
            Some((name, sha256)) => (name, sha256.to_owned()),
            None => match self.floating()?.remove(&item.floating_key()) {
                Some(known) => (known.file, known.sha256),
                None => return Ok(None),
            },
        };
        let file = self.downloads.join(name);
        Ok(is(&file, &sha256)?.then_some(Deb { file, sha256 }))
    }

    fn download(&self, missing: &[Item<'_>]) -> Result<()> {
        let planned: Vec<(&Item<'_>, Result<Remote>)> =
            missing.iter().map(|item| (item, self.remote(item))).collect();
        let remotes: Vec<Remote> =
            planned.iter().filter_map(|(_, remote)| remote.as_ref().ok().cloned()).collect();
        let archives: Vec<Archive> =
            self.archives.borrow().values().filter_map(|archive| archive.as_ref().ok().cloned()).collect();
        let partial = self.downloads.join("partial");
        let mut downloaded = Ok(());
        // Any of them knows how to download: they differ in their indexes only.
        if let Some(archive) = archives.first().filter(|_| !remotes.is_empty()) {
            let bytes = remotes.iter().map(|remote| remote.size).sum();
            self.progress.say(format!("download {}", amount::planned(remotes.len(), "file", bytes)));
            downloaded = download(archive, &remotes, &partial, self.progress);
        }
        for (item, remote) in planned {
            remote
                .and_then(|remote| self.accept(item, &remote, downloaded.as_ref().err()))
                .or_else(|error| self.fall_back(item, error))
                .with_context(|| format!("cannot get {} of Debian {}", item.name(), item.index()))?;
        }
        Ok(())
    }

    /// The index entry of an item.
    fn remote(&self, item: &Item<'_>) -> Result<Remote> {
        let archive = self.archive(item.index())?;
        let name = item.name();
        let files = match item {
            Item::Package(_) => archive.packages(&[&name])?,
            Item::Source(_) => archive.source(&name)?,
        };
        let pinned = item.pinned();
        let wanted = |file: &Remote| match (item, &pinned) {
            (Item::Source(source), _) => file.name == source.file,
            _ => true,
        };
        let mut found = files.into_iter().find(wanted).with_context(|| format!("no file of {name}"))?;
        if let Some((file, sha256)) = pinned {
            ensure!(found.sha256 == sha256, "{file} has SHA-256 {} there, not {sha256}", found.sha256);
            found.name = file;
        }
        Ok(found)
    }

    /// Moves a downloaded file from `partial` into the folder of downloads, if it has the right content.
    /// `failure` is why the download failed.
    fn accept(&self, item: &Item<'_>, remote: &Remote, failure: Option<&anyhow::Error>) -> Result<()> {
        let file = self.downloads.join("partial").join(&remote.name);
        if !is(&file, &remote.sha256)? {
            return Err(failure.map_or_else(|| anyhow!("apt brought no such file"), |e| anyhow!("{e:#}")));
        }
        fs::rename(&file, self.downloads.join(&remote.name))
            .with_context(|| format!("cannot move {}", file.display()))?;
        if item.pinned().is_some() {
            return Ok(());
        }
        let mut known = self.floating()?;
        let (file, sha256) = (remote.name.clone(), remote.sha256.clone());
        known.insert(item.floating_key(), Floating { file, sha256 });
        write_atomically(&self.floating_file(), toml::to_string(&known)?)
    }

    /// Searches for a pinned file in the fallback folders; `error` is why the mirror could not serve it.
    fn fall_back(&self, item: &Item<'_>, error: anyhow::Error) -> Result<()> {
        let Some((name, sha256)) = item.pinned() else { return Err(error) };
        for folder in &self.fallbacks {
            let file = folder.join(&name);
            if is(&file, sha256)? {
                self.progress.say(format!("{name}: not from the mirror but from {}", folder.display()));
                let target = self.downloads.join(&name);
                fs::copy(&file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
                return Ok(());
            }
        }
        let folders: Vec<String> = self.fallbacks.iter().map(|f| f.display().to_string()).collect();
        Err(anyhow!("{error:#}; it is not in {} either", folders.join(" or ")))
    }

    fn floating(&self) -> Result<BTreeMap<String, Floating>> {
        let file = self.floating_file();
        if file.is_file() { read_toml(&file) } else { Ok(BTreeMap::new()) }
    }

    /// The archive that has `index`. Each index is read once per run.
    fn archive(&self, index: Index<'_>) -> Result<Archive> {
        let name = index.to_string();
        let known = self.archives.borrow().get(&name).cloned();
        let archive = known.unwrap_or_else(|| {
            let archive = self.open(index).map_err(|error| format!("{error:#}"));
            self.archives.borrow_mut().insert(name, archive.clone());
            archive
        });
        archive.map_err(|reason| anyhow!(reason))
    }

    fn open(&self, index: Index<'_>) -> Result<Archive> {
        let repositories = sources::read_repositories(&sources::folder())?;
        let mirror = sources::debian_mirror(&repositories, &sources::own_codename()?)?;
        let Index { suite, arch } = index;
        let signed = sources::signed_by();
        // Sources are the same for all architectures.
        let kinds: &[&str] = if arch == Arch::X86_64.debian() { &["deb", "deb-src"] } else { &["deb"] };
        let line = |kind: &&str| format!("{kind} [arch={arch}{signed}] {mirror} {suite} main\n");
        let lines: Vec<String> = kinds.iter().map(line).collect();
        self.progress.say(format!("read the package index of {index}"));
        Archive::open(&self.apt.join(index.to_string()), &lines.concat(), arch, self.progress)
            .with_context(|| format!("the mirror {mirror} is of no use for {index}"))
    }
}

/// One of Debian's package indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Index<'a> {
    suite: &'a str,
    /// Debian's name of the architecture.
    arch: &'a str,
}

impl<'a> Index<'a> {
    /// The index that lists a package. A package of the architecture `all` is in the index of every
    /// architecture.
    fn of(package: &'a Package) -> Self {
        let arch = if package.arch == "all" { Arch::X86_64.debian() } else { &package.arch };
        Self { suite: &package.suite, arch }
    }
}

impl std::fmt::Display for Index<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.arch {
            "amd64" => out.write_str(self.suite),
            arch => write!(out, "{}-{arch}", self.suite),
        }
    }
}

/// Parses the output of `apt-cache depends`.
fn first_dependency(depends: &str) -> Option<&str> {
    depends.lines().find_map(|line| line.trim_start().strip_prefix("Depends: "))
}

/// Whether a file is there and has the hash.
fn is(file: &Path, sha256: &str) -> Result<bool> {
    Ok(file.is_file() && sha256_file(file)? == sha256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apt::test_archive::TestArchive;

    fn fetcher<'a>(folder: &Path, progress: &'a Progress) -> Fetcher<'a> {
        let fetcher =
            Fetcher::below(&folder.join("downloads"), vec![folder.join("fallback")], progress).unwrap();
        // The suite is known to be unreachable, so nothing here touches the network.
        fetcher.archives.borrow_mut().insert("gone".into(), Err("no route to the mirror".into()));
        fetcher
    }

    fn package(sha256: &str) -> Package {
        let text = format!(
            "name='lib'\nsuite='gone'\narch='all'\nuse='runtime'\nversion='1:2'\nsha256='{sha256}'\n"
        );
        toml::from_str(&text).unwrap()
    }

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_fallback_serves_what_the_mirror_has_not() {
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::new("test");
        let fetcher = fetcher(folder.path(), &progress);
        fs::create_dir(folder.path().join("fallback")).unwrap();
        fs::write(folder.path().join("fallback/lib_1%3a2_all.deb"), "abc").unwrap();
        let package = package(ABC);
        let found = fetcher.packages(&[&package]).unwrap();
        assert_eq!(fs::read_to_string(&found[0].file).unwrap(), "abc");
        assert_eq!(found[0].sha256, ABC);

        // A damaged download is noticed and replaced.
        fs::write(&found[0].file, "abd").unwrap();
        assert_eq!(fs::read_to_string(&fetcher.packages(&[&package]).unwrap()[0].file).unwrap(), "abc");
    }

    #[test]
    fn a_package_that_is_nowhere_is_named_with_the_mirrors_reason_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::new("test");
        let fetcher = fetcher(folder.path(), &progress);
        fs::create_dir(folder.path().join("fallback")).unwrap();
        fs::write(folder.path().join("fallback/lib_1%3a2_all.deb"), "not it").unwrap();
        let message = format!("{:#}", fetcher.packages(&[&package(ABC)]).unwrap_err());
        for part in ["lib=1:2", "gone", "no route to the mirror", "fallback"] {
            assert!(message.contains(part), "{part} is not in {message}");
        }
        assert_eq!(message.lines().count(), 1, "{message}");
    }

    #[test]
    fn what_a_killed_set_up_left_is_completed_and_only_then_used() {
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::new("test");
        let fetcher = fetcher(folder.path(), &progress);
        let test = TestArchive::new();
        fetcher.archives.borrow_mut().insert("test".into(), Ok(test.open().unwrap()));
        test.forget_requests();
        let text = format!(
            "name='loopbox-test'\nsuite='test'\narch='all'\nuse='runtime'\nversion='1.0'\nsha256='{}'\n",
            test.sha256()
        );
        let package: Package = toml::from_str(&text).unwrap();
        // A part under the final name, as a copy that was cut leaves it, and one in the folder of parts.
        let name = package.file_name("1.0");
        let half = &test.content()[..test.content().len() / 2];
        fs::write(fetcher.downloads.join(&name), half).unwrap();
        let part = fetcher.downloads.join("partial").join(&name);
        fs::write(&part, half).unwrap();
        fs::File::options().write(true).open(&part).unwrap().set_modified(TestArchive::modified()).unwrap();

        let found = fetcher.packages(&[&package]).unwrap();
        assert_eq!(fs::read(&found[0].file).unwrap(), test.content());
        assert_eq!(test.ranges(), [Some(half.len() as u64)], "only the rest was downloaded");
        assert!(!part.exists());
        // And it is not asked for again.
        fetcher.packages(&[&package]).unwrap();
        assert_eq!(test.ranges().len(), 1);
    }

    #[test]
    fn a_meta_package_names_what_is_behind_it() {
        let depends =
            "linux-image-arm64-16k\n  Depends: linux-image-6.12.107+deb13-arm64-16k\n  Depends: other\n";
        assert_eq!(first_dependency(depends), Some("linux-image-6.12.107+deb13-arm64-16k"));
        assert_eq!(first_dependency("linux-image-arm64-16k\n"), None);
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::new("test");
        let fetcher = fetcher(folder.path(), &progress);
        fetcher.archives.borrow_mut().insert("gone-arm64".into(), Err("no route to the mirror".into()));
        let missing = fetcher.behind("kernel", "gone", Arch::Arm64).unwrap_err();
        let message = format!("{missing:#}");
        assert_eq!(message, "cannot get kernel of Debian gone-arm64: no route to the mirror");
        // What is there is used without the archive.
        fs::write(fetcher.downloads.join("kernel_arm64.deb"), "abc").unwrap();
        assert!(fetcher.behind("kernel", "gone", Arch::Arm64).unwrap().is_file());
    }

    #[test]
    fn each_file_is_downloaded_once() {
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::new("test");
        let fetcher = fetcher(folder.path(), &progress);
        let source = |file: &str| -> Source {
            let text =
                format!("name='art'\nversion='1'\nsuite='gone'\nfile='{file}'\nsha256='{ABC}'\nunpack=[]\n");
            toml::from_str(&text).unwrap()
        };
        let (upstream, debian, package) = (source("art.orig.tar"), source("art.debian.tar"), package(ABC));
        let items = [&upstream, &debian, &upstream].map(Item::Source);
        let items = [&items[..], &[Item::Package(&package), Item::Package(&package)]].concat();
        let missing = fetcher.missing(&items).unwrap();
        let mut files: Vec<String> = missing.iter().filter_map(Item::pinned).map(|(file, _)| file).collect();
        files.sort();
        assert_eq!(files, ["art.debian.tar", "art.orig.tar", "lib_1%3a2_all.deb"]);
    }

    #[test]
    fn a_floating_package_keeps_the_version_that_was_downloaded_first() {
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::new("test");
        let test = TestArchive::new();
        let package: Package =
            toml::from_str("name='loopbox-test'\nsuite='test'\narch='all'\nuse='runtime'\n").unwrap();
        let first = fetcher(folder.path(), &progress);
        first.archives.borrow_mut().insert("test".into(), Ok(test.open().unwrap()));
        let found = first.packages(&[&package]).unwrap();
        assert_eq!(found[0].sha256, test.sha256());
        // Another run does not need the archive.
        let again = fetcher(folder.path(), &progress);
        again.archives.borrow_mut().insert("test".into(), Err("no route to the mirror".into()));
        assert_eq!(again.packages(&[&package]).unwrap()[0].file, found[0].file);
    }
}
