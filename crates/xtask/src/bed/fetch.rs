//! Gets Debian packages and sources, by apt with a source list and state of its own, and checks their hashes.
//!
//! Nothing here is installed. The mirror's address comes from the machine's apt configuration, its signatures
//! are checked with the machine's Debian keyring. Packages that the mirror no longer has are looked for in
//! `../shared/deb-cache` next to the repository and in the folder that `LOOPBOX_DEB_CACHE` names.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};

use super::apt_config;
use super::arch::Arch;
use super::cache::{remove, sha256_file};
use super::paths;
use super::progress::Progress;
use super::run::{command, run};
use super::spec::{Package, Source, read_toml};

/// Keys of the Debian archive, from the package debian-archive-keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A package file that is there and is what it should be.
#[derive(Debug, Clone)]
pub(crate) struct Deb {
    pub(crate) file: PathBuf,
    pub(crate) sha256: String,
}

/// What a floating package was when it was first downloaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Floating {
    file: String,
    sha256: String,
}

/// Downloads into `target/bed/dl`.
pub(crate) struct Fetcher<'a> {
    progress: &'a Progress,
    apt: PathBuf,
    downloads: PathBuf,
    /// Folders to look in when the mirror has no such file.
    fallbacks: Vec<PathBuf>,
    /// Indexes that were read, and what went wrong with the others.
    indexes: RefCell<BTreeMap<String, std::result::Result<(), String>>>,
}

impl<'a> Fetcher<'a> {
    pub(crate) fn new(beds: &Path, progress: &'a Progress) -> Result<Self> {
        let downloads = beds.join("dl");
        fs::create_dir_all(&downloads).with_context(|| format!("cannot create {}", downloads.display()))?;
        let mut fallbacks: Vec<PathBuf> =
            env::var_os("LOOPBOX_DEB_CACHE").map(PathBuf::from).into_iter().collect();
        fallbacks.push(paths::repository().join("../shared/deb-cache"));
        Ok(Self { progress, apt: beds.join("apt"), downloads, fallbacks, indexes: RefCell::default() })
    }

    /// All packages, in the given order; those that are not there yet are downloaded, suite by suite.
    pub(crate) fn packages(&self, packages: &[&Package]) -> Result<Vec<Deb>> {
        let mut missing: BTreeMap<Index<'_>, Vec<&Package>> = BTreeMap::new();
        for package in packages {
            let of_index = missing.entry(Index::of(package)).or_default();
            let asked = of_index.iter().any(|p| wanted(p) == wanted(package));
            if !asked && self.present(package)?.is_none() {
                of_index.push(package);
            }
        }
        for (index, packages) in missing.into_iter().filter(|(_, packages)| !packages.is_empty()) {
            self.download(index, &packages)?;
        }
        packages
            .iter()
            .map(|p| self.present(p)?.with_context(|| format!("{} vanished after its download", p.name)))
            .collect()
    }

    /// The upstream archive of a source package.
    pub(crate) fn source(&self, source: &Source) -> Result<Deb> {
        let deb = Deb { file: self.downloads.join(&source.file), sha256: source.sha256.clone() };
        if is(&deb.file, &deb.sha256)? {
            return Ok(deb);
        }
        self.progress.say(format!("download the source of {} {}", source.name, source.version));
        let wanted = format!("{}={}", source.name, source.version);
        let fetched = self.in_scratch(|scratch| {
            let index = Index { suite: &source.suite, arch: Arch::X86_64.debian() };
            self.apt(index, scratch, &["source", "--download-only", &wanted])?;
            self.accept(&scratch.join(&source.file), &source.sha256)
        });
        fetched
            .or_else(|error| self.fall_back(&source.file, &source.sha256, &error))
            .with_context(|| format!("cannot get the source of {} {}", source.name, source.version))?;
        Ok(deb)
    }

    /// A package that was downloaded before, if it is unharmed.
    fn present(&self, package: &Package) -> Result<Option<Deb>> {
        let (name, sha256) = match package.pin() {
            Some(pin) => (package.file_name(pin.version), pin.sha256.to_owned()),
            None => match self.floating()?.remove(&floating_name(package)) {
                Some(known) => (known.file, known.sha256),
                None => return Ok(None),
            },
        };
        let file = self.downloads.join(name);
        Ok(is(&file, &sha256)?.then_some(Deb { file, sha256 }))
    }

    fn download(&self, index: Index<'_>, packages: &[&Package]) -> Result<()> {
        self.progress.say(format!("download {} packages of {index}", packages.len()));
        self.in_scratch(|scratch| {
            // One call for all; apt refuses the lot for one that is gone, then each is tried alone.
            let wanted: Vec<String> = packages.iter().map(|p| wanted(p)).collect();
            let mut arguments = vec!["download"];
            arguments.extend(wanted.iter().map(String::as_str));
            let all = self.apt(index, scratch, &arguments);
            for package in packages {
                let one = match &all {
                    Ok(()) => Ok(()),
                    Err(_) => self.apt(index, scratch, &["download", &self::wanted(package)]),
                };
                one.and_then(|()| self.take(package, scratch))
                    .or_else(|error| match package.pin() {
                        Some(pin) => self.fall_back(&package.file_name(pin.version), pin.sha256, &error),
                        None => Err(error),
                    })
                    .with_context(|| format!("cannot get {} of Debian {index}", self::wanted(package)))?;
            }
            Ok(())
        })
    }

    /// Moves a downloaded package from the scratch folder to the others.
    fn take(&self, package: &Package, scratch: &Path) -> Result<()> {
        if let Some(pin) = package.pin() {
            return self.accept(&scratch.join(package.file_name(pin.version)), pin.sha256);
        }
        let prefix = format!("{}_", package.name);
        let file = fs::read_dir(scratch)?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .find(|name| name.starts_with(&prefix))
            .with_context(|| format!("apt brought no file of {}", package.name))?;
        let sha256 = sha256_file(&scratch.join(&file))?; // apt checked it against its signed index
        self.accept(&scratch.join(&file), &sha256)?;
        let mut known = self.floating()?;
        known.insert(floating_name(package), Floating { file, sha256 });
        write_atomically(&self.floating_file(), &toml::to_string(&known)?)
    }

    fn accept(&self, file: &Path, sha256: &str) -> Result<()> {
        ensure!(file.is_file(), "apt brought no file {}", file.display());
        let found = sha256_file(file)?;
        ensure!(found == sha256, "{} has SHA-256 {found}, not {sha256}", file.display());
        let name = file.file_name().context("a package without a name")?;
        fs::rename(file, self.downloads.join(name)).with_context(|| format!("cannot move {}", file.display()))
    }

    /// Looks for a pinned file in the fallback folders; `error` is what the mirror said.
    fn fall_back(&self, name: &str, sha256: &str, error: &anyhow::Error) -> Result<()> {
        for folder in &self.fallbacks {
            let file = folder.join(name);
            if is(&file, sha256)? {
                self.progress.say(format!("{name}: not from the mirror but from {}", folder.display()));
                let target = self.downloads.join(name);
                fs::copy(&file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
                return Ok(());
            }
        }
        let folders: Vec<String> = self.fallbacks.iter().map(|f| f.display().to_string()).collect();
        Err(anyhow!("{error:#}; it is not in {} either", folders.join(" or ")))
    }

    fn floating_file(&self) -> PathBuf {
        self.downloads.join("floating.toml")
    }

    fn floating(&self) -> Result<BTreeMap<String, Floating>> {
        let file = self.floating_file();
        if file.is_file() { read_toml(&file) } else { Ok(BTreeMap::new()) }
    }

    fn in_scratch<T>(&self, work: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let scratch = self.downloads.join(format!("scratch-{}", std::process::id()));
        remove(&scratch)?;
        fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
        let result = work(&scratch);
        remove(&scratch)?;
        result
    }

    /// Runs apt-get for an index, which is read before, once per run.
    fn apt(&self, index: Index<'_>, folder: &Path, arguments: &[&str]) -> Result<()> {
        let name = index.to_string();
        let known = self.indexes.borrow().get(&name).cloned();
        let state = known.unwrap_or_else(|| {
            let state = self.update(index).map_err(|error| format!("{error:#}"));
            self.indexes.borrow_mut().insert(name.clone(), state.clone());
            state
        });
        state.map_err(|reason| anyhow!(reason))?;
        apt_get(&self.apt.join(name), folder, arguments)
    }

    fn update(&self, index: Index<'_>) -> Result<()> {
        let state = self.apt.join(index.to_string());
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(state.join(folder))
                .with_context(|| format!("cannot create {}", state.display()))?;
        }
        let mirror = mirror()?;
        let signed =
            if Path::new(KEYRING).is_file() { format!(" signed-by={KEYRING}") } else { String::new() };
        let Index { suite, arch } = index;
        // Sources are the same for all architectures.
        let kinds: &[&str] = if arch == Arch::X86_64.debian() { &["deb", "deb-src"] } else { &["deb"] };
        let line = |kind: &&str| format!("{kind} [arch={arch}{signed}] {mirror} {suite} main\n");
        let lines: Vec<String> = kinds.iter().map(line).collect();
        write_atomically(&state.join("sources.list"), &lines.concat())?;
        // What is installed here is of no interest, and nothing of another architecture is.
        write_atomically(&state.join("status"), "")?;
        write_atomically(&state.join("apt.conf"), &configuration(&state, arch))?;
        self.progress.say(format!("read the package index of {index}"));
        apt_get(&state, &state, &["update"])
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
    /// The one that lists a package. Those for all architectures are in every one.
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

fn wanted(package: &Package) -> String {
    match package.pin() {
        Some(pin) => format!("{}={}", package.name, pin.version),
        None => package.name.clone(),
    }
}

fn floating_name(package: &Package) -> String {
    format!("{}/{}", Index::of(package), package.name)
}

/// Whether a file is there and has the hash. A file with another hash is removed by the next download only.
fn is(file: &Path, sha256: &str) -> Result<bool> {
    Ok(file.is_file() && sha256_file(file)? == sha256)
}

/// The mirror that this machine's own apt uses. `LOOPBOX_APT_CONFIG` names another folder than `/etc/apt`.
fn mirror() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let codename =
        apt_config::codename(&release).context("/etc/os-release names no release: not a Debian?")?;
    let folder = env::var_os("LOOPBOX_APT_CONFIG").map_or_else(|| PathBuf::from("/etc/apt"), PathBuf::from);
    apt_config::debian_mirror(&apt_config::read_repositories(&folder)?, &codename)
}

/// apt's own settings: read after the machine's, so that proxies stay and everything else is ours.
fn configuration(state: &Path, arch: &str) -> String {
    let state = state.display();
    format!(
        "#clear APT::Update;\n\
         #clear DPkg::Post-Invoke;\n\
         Dir::Etc::sourcelist \"{state}/sources.list\";\n\
         Dir::Etc::sourceparts \"-\";\n\
         Dir::Etc::preferences \"/dev/null\";\n\
         Dir::Etc::preferencesparts \"-\";\n\
         Dir::State::lists \"{state}/lists\";\n\
         Dir::Cache \"{state}/cache\";\n\
         Dir::State::status \"{state}/status\";\n\
         APT::Architecture \"{arch}\";\n\
         APT::Architectures {{ \"{arch}\"; }};\n\
         APT::Sandbox::User \"root\";\n\
         APT::Update::Error-Mode \"any\";\n\
         Acquire::Languages \"none\";\n\
         Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n\
         Acquire::Retries \"2\";\n\
         Acquire::http::Timeout \"20\";\n\
         Acquire::https::Timeout \"20\";\n"
    )
}

fn apt_get(state: &Path, folder: &Path, arguments: &[&str]) -> Result<()> {
    let mut apt: Command = command("apt-get", ["-qq", "-c"]);
    apt.arg(state.join("apt.conf")).args(arguments).current_dir(folder).env("LC_ALL", "C");
    match run(&mut apt) {
        Ok(_) => Ok(()),
        Err(error) => bail!("{}", apt_reason(&format!("{error:#}"))),
    }
}

/// The one line of apt's many that says why.
fn apt_reason(output: &str) -> String {
    let lines = || output.lines().map(str::trim);
    let telling =
        ["NO_PUBKEY", "Could not resolve", "Temporary failure", "Could not connect", "Unable to connect"];
    let reason = lines()
        .find(|line| telling.iter().any(|word| line.contains(word)))
        .or_else(|| lines().find(|line| line.starts_with("E:")))
        .or_else(|| lines().find(|line| line.starts_with("W:")))
        .unwrap_or(output);
    reason.trim_start_matches("E: ").trim_start_matches("W: ").to_owned()
}

fn write_atomically(file: &Path, text: &str) -> Result<()> {
    let new = file.with_extension(format!("new-{}", std::process::id()));
    fs::write(&new, text).with_context(|| format!("cannot write {}", new.display()))?;
    fs::rename(&new, file).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetcher<'a>(folder: &Path, progress: &'a Progress) -> Fetcher<'a> {
        let mut fetcher = Fetcher::new(&folder.join("beds"), progress).unwrap();
        fetcher.fallbacks = vec![folder.join("fallback")];
        // The suite is known to be unreachable, so nothing here touches the network.
        fetcher.indexes.borrow_mut().insert("gone".into(), Err("no route to the mirror".into()));
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
    fn apts_reason_is_found_in_its_output() {
        let output = "apt-get failed (exit status: 100)\n  E: Failed to fetch http://m/x  Temporary failure resolving 'm'\n  E: Some index files failed";
        assert!(apt_reason(output).contains("Temporary failure resolving 'm'"));
        assert_eq!(
            apt_reason("x\nE: Version '1' for 'p' was not found\n"),
            "Version '1' for 'p' was not found"
        );
        assert_eq!(apt_reason("plain"), "plain");
    }
}
