//! A Rust compiler, a standard library and a linker for Android.
//!
//! There are two ways to get one. With `ANDROID_NDK_HOME` set, the workspace's own Rust compiles (with
//! targets added by `rustup target add`) and the NDK's clang links, as `cargo ndk` does. Otherwise everything
//! comes from Debian: a compiler that knows the Android targets, the sources of its standard library, and
//! lld. They are unpacked below `target/android`, and nothing is installed.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::abi::Abi;
use crate::link;
use crate::stubs;
use crate::symbols::{Imports, MIN_API};
use loopbox_setup::apt::{PinnedPackage, Release};
use loopbox_setup::arch::Arch;
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command::{command, path_list, run};
use loopbox_setup::files::{exclusive, remove, write_atomically};
use loopbox_setup::progress::Progress;

/// The oldest compiler that can build the workspace: `rust-version` of its manifest.
const RUST_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// A part of the cache key. It has to change when the standard library is built in another way.
const STD_RECIPE: u32 = 4;

/// Features of the standard library. Backtraces are not among them: they would add a DWARF reader and an
/// unwinder to every app, to print what Android's tombstones print anyway.
const STD_FEATURES: &str = "-Zbuild-std-features=optimize_for_size";

/// A panic becomes a trap instruction: its message would go to a standard error that Android discards, and
/// the text and its formatting take 60 KB. This option is unstable, so it is used only with the compiler that
/// this project unpacks itself.
const TRAP: [&str; 2] = ["-Zunstable-options", "-Cpanic=immediate-abort"];

/// Where the compiler, linker and libraries come from.
#[derive(Debug)]
pub(crate) enum Toolchain {
    /// Debian's packages, unpacked.
    Debian(Debian),
    /// An NDK of the machine, with the workspace's compiler.
    Ndk(Ndk),
}

/// How one target is compiled.
#[derive(Debug)]
pub(crate) struct Target {
    /// Environment for cargo, besides the flags.
    pub(crate) environment: Vec<(String, OsString)>,
    /// Flags for the compiler.
    pub(crate) flags: Vec<String>,
}

/// Debian's compiler and linker.
#[derive(Debug)]
pub struct Debian {
    work: PathBuf,
    root: PathBuf,
    cache: Cache,
    version: String,
}

/// An Android NDK.
#[derive(Debug)]
pub(crate) struct Ndk {
    bin: PathBuf,
    revision: String,
    rustc: String,
}

impl Toolchain {
    /// Finds the NDK that the environment names, else sets Debian's packages up in `work`.
    pub(crate) fn ensure(work: &Path, update: bool, progress: &Progress) -> Result<Self> {
        match env::var_os("ANDROID_NDK_HOME").filter(|home| !home.is_empty()) {
            Some(home) => Ok(Self::Ndk(Ndk::find(Path::new(&home))?)),
            None => Ok(Self::Debian(Debian::ensure(work, update, progress)?)),
        }
    }

    /// What built a library, for the record of sizes.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Debian(debian) => debian.version.clone(),
            Self::Ndk(ndk) => format!("{}, NDK {}", ndk.rustc, ndk.revision),
        }
    }

    /// Prepares a target: its standard library, and what it links against.
    pub(crate) fn target(&self, abi: Abi, imports: &Imports, progress: &Progress) -> Result<Target> {
        match self {
            Self::Debian(debian) => debian.target(abi, imports, progress),
            Self::Ndk(ndk) => ndk.target(abi),
        }
    }

    /// Folders whose names must not be found in a library.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        match self {
            Self::Debian(debian) => vec![debian.root.clone()],
            Self::Ndk(ndk) => vec![ndk.bin.clone()],
        }
    }
}

impl Debian {
    /// Finds the unpacked compiler below `work`, or gets it.
    pub fn ensure(work: &Path, update: bool, progress: &Progress) -> Result<Self> {
        let cache = Cache::open(&work.join("cache"))?;
        let record = record(work);
        let find = || find_root(&cache, &read_record(&record)?);
        let root = if let Some(root) = find().filter(|_| !update) {
            root
        } else {
            let _lock = exclusive(&work.join("toolchain.lock"), || {
                progress.say("wait for another set-up of the compiler");
            })?;
            match find().filter(|_| !update) {
                Some(root) => root, // the other one has just made it
                None => fetch(work, &cache, &record, progress)?,
            }
        };
        let mut debian = Self { work: work.to_owned(), root, cache, version: String::new() };
        debian.version = debian.check_compiler()?;
        Ok(debian)
    }

    /// The compiler's version, which must be able to build the workspace.
    fn check_compiler(&self) -> Result<String> {
        let about = run(Command::new(self.rustc()).arg("-vV").envs(self.libraries()?))
            .context("the unpacked compiler does not run")?;
        let release = about
            .lines()
            .find_map(|line| line.strip_prefix("release: "))
            .context("no release in rustc -vV")?;
        ensure!(
            numbers(release) >= numbers(RUST_VERSION),
            "Debian's newest Rust for this release is {release}, the workspace needs {RUST_VERSION}: \
             does the machine's apt configuration have the security archive?"
        );
        let llvm = about.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or("?");
        Ok(format!("rustc {release}, LLVM {llvm}, Debian"))
    }

    fn rustc(&self) -> PathBuf {
        self.root.join("usr/bin/rustc")
    }

    /// The search path that the unpacked programs need.
    fn libraries(&self) -> Result<Vec<(String, OsString)>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(self.root.join("usr/lib"))? {
            let path = entry?.path();
            if path.to_string_lossy().ends_with("-linux-gnu") {
                folders.push(path);
            }
        }
        folders.sort();
        folders.extend(env::var_os("LD_LIBRARY_PATH").iter().flat_map(env::split_paths));
        Ok(vec![("LD_LIBRARY_PATH".into(), path_list(&folders).into())])
    }

    /// The newest unpacked lld.
    fn lld(&self) -> Result<PathBuf> {
        let bin = self.root.join("usr/bin");
        let mut found = Vec::new();
        for entry in fs::read_dir(&bin).with_context(|| format!("cannot read {}", bin.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(version) = name.strip_prefix("ld.lld-").and_then(|v| v.parse::<u32>().ok()) {
                found.push((version, path));
            }
        }
        found.into_iter().max().map(|(_, path)| path).context("no lld was unpacked")
    }

    /// The settings that make cargo use this compiler.
    pub fn environment(&self) -> Result<Vec<(String, OsString)>> {
        let mut environment = self.libraries()?;
        environment.push(("RUSTC".into(), self.rustc().into()));
        Ok(environment)
    }

    fn target(&self, abi: Abi, imports: &Imports, progress: &Progress) -> Result<Target> {
        let lld = self.lld()?;
        let linker_key = Key::new("linker", link::FRONT_VERSION).with(&lld.display().to_string());
        let linker =
            self.cache.step("linker", &linker_key, |out| link::write_front(&lld, &out.join("android-ld")))?;
        let key = Key::new("stubs", 1).with(abi.name()).with(&format!("{imports:?}"));
        let with_libraries = self.libraries()?;
        let stubs =
            self.cache.step("stubs", &key, |out| stubs::make(imports, abi, &lld, &with_libraries, out))?;
        let mut flags = vec![
            format!("--sysroot={}", self.standard_library(abi, progress)?.display()),
            format!("--remap-path-prefix={}=/rust", self.root.display()),
        ];
        flags.extend(TRAP.map(str::to_owned));
        flags.extend([
            format!("-Clinker={}", linker.join("android-ld").display()),
            // Debian's compiler gives its linker -Wl, arguments whatever the flavour.
            "-Clinker-flavor=gcc".into(),
            format!("-Lnative={}", stubs.display()),
        ]);
        flags.extend(link::flags(abi));
        let mut environment = self.environment()?;
        environment.push(("RUSTC_BOOTSTRAP".into(), "1".into()));
        Ok(Target { environment, flags })
    }

    /// Builds the standard library for a target once per compiler, optimised for size like the library
    /// itself.
    fn standard_library(&self, abi: Abi, progress: &Progress) -> Result<PathBuf> {
        let triple = abi.triple();
        let key = Key::new("std", STD_RECIPE).with(&self.version).with(&self.root.display().to_string());
        let key = key.with(triple).with(STD_MANIFEST).with(STD_FEATURES).with(&TRAP.join(" "));
        self.cache.step(&format!("std-{}", abi.name()), &key, |out| {
            progress.say(format!("build the standard library for {triple}, one to three minutes"));
            let mut flags = vec![
                // What is linked to it is optimised as a whole: machine code made here would not be used.
                "-Clinker-plugin-lto".to_owned(),
                format!("--remap-path-prefix={}=/rust", self.root.display()),
                link::NO_UNWIND_TABLES.to_owned(),
            ];
            flags.extend(TRAP.map(str::to_owned));
            let how = ["build", "--quiet", "--release", STD_FEATURES, "-Zbuild-std=std,panic_abort"];
            self.compile_standard_library(triple, &how, &flags, out)
        })
    }

    /// Compiles the sources of the standard library into the sysroot `out`; `how` are cargo's arguments.
    fn compile_standard_library(
        &self,
        triple: &str,
        how: &[&str],
        flags: &[String],
        out: &Path,
    ) -> Result<()> {
        let source = out.join("source");
        fs::create_dir_all(source.join("src"))?;
        fs::write(source.join("Cargo.toml"), STD_MANIFEST)?;
        fs::write(source.join("src/lib.rs"), "#![no_std]\n")?;
        let vendor = self.root.join("usr/lib/rustlib/src/rust/library/vendor");
        let vendor = fs::canonicalize(&vendor).with_context(|| format!("no {}", vendor.display()))?;
        let mut cargo = cargo();
        cargo.args(how).arg("--target").arg(triple).current_dir(&source).envs(self.environment()?);
        // Its dependencies come with its sources: nothing is asked of a registry.
        cargo.args(["--config", "source.crates-io.replace-with=\"debian\"", "--config"]);
        cargo.arg(format!("source.debian.directory={:?}", vendor.display().to_string()));
        cargo.env("RUSTC_BOOTSTRAP", "1").env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        run(cargo.env("CARGO_TARGET_DIR", source.join("target")))?;
        let libraries = out.join("lib/rustlib").join(triple).join("lib");
        fs::create_dir_all(&libraries)?;
        let profile = if how.contains(&"--release") { "release" } else { "debug" };
        for entry in fs::read_dir(source.join("target").join(triple).join(profile).join("deps"))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.extension().is_some_and(|e| e == "rlib") && !name.contains(STD_CRATE) {
                fs::rename(&path, libraries.join(name))?;
            }
        }
        fs::remove_dir_all(&source).context("cannot remove the build folder of the standard library")
    }

    /// The standard library for Linux on another architecture, for tests. Debian's package is used if
    /// possible. Otherwise the library is compiled from the sources that came with the compiler: a Debian
    /// archive may have the package only for another version of the compiler, or may have an index that does
    /// not match its signature.
    ///
    /// # Errors
    /// When the library can neither be downloaded nor compiled.
    pub fn linux_standard_library(&self, arch: Arch, progress: &Progress) -> Result<PathBuf> {
        let record = record(&self.work);
        let packages = read_record(&record).with_context(|| format!("cannot read {}", record.display()))?;
        let version = packages.iter().find_map(|package| package.strip_prefix("rustc-web="));
        let version = version.with_context(|| format!("no rustc-web in {}", record.display()))?;
        let package = format!("libstd-rust-web-dev={version}");
        let key = Key::new("std-linux", 2).with(&package).with(arch.debian());
        let sysroot = self.cache.step(&format!("std-{}", arch.triplet()), &key, |out| {
            let Err(why) = self.unpack_linux_standard_library(arch, &package, out, progress) else {
                return Ok(());
            };
            remove(out)?;
            let triple = arch.rust_triple();
            progress.say(format!("{why:#}: compile the standard library for {triple}, one to two minutes"));
            let no_debug = "profile.dev.debug=false";
            let how = ["build", "--quiet", "--config", no_debug, "-Zbuild-std=std,panic_unwind,test"];
            // As Debian has it: traces go through it.
            let flags = ["-Cforce-unwind-tables=yes".to_owned()];
            self.compile_standard_library(triple, &how, &flags, &out.join("usr"))
        })?;
        Ok(sysroot.join("usr"))
    }

    fn unpack_linux_standard_library(
        &self,
        arch: Arch,
        package: &str,
        out: &Path,
        progress: &Progress,
    ) -> Result<()> {
        let downloads = self.work.join(format!("downloads-{}", arch.debian()));
        let pinned = STD_PACKAGES.iter().find(|pinned| pinned.arch == arch);
        if let Some(pinned) = pinned.filter(|_| package == STD_PACKAGE) {
            let own = Release::read(&self.work.join("apt"), Arch::X86_64, progress)?;
            match own.unpack_pinned(package, pinned, &downloads, out, progress) {
                Ok(()) => return Ok(()),
                Err(why) => progress.say(format!("{why:#}: ask the index for {}", arch.debian())),
            }
        }
        let release = Release::read(&self.work.join(format!("apt-{}", arch.debian())), arch, progress)?;
        release.unpack(&BTreeSet::from([package.to_owned()]), &downloads, out, progress)
    }
}

/// The file with the names of the compiler's packages.
fn record(work: &Path) -> PathBuf {
    work.join("toolchain.txt")
}

/// The Debian package of the standard library whose files for other architectures are in [`STD_PACKAGES`].
/// With another version of the compiler the indexes of these architectures are read instead.
const STD_PACKAGE: &str = "libstd-rust-web-dev=1.96.0+dfsg1-1~deb12u2";
const STD_PACKAGES: [PinnedPackage; 3] = [
    PinnedPackage {
        arch: Arch::Arm64,
        size: 34_203_300,
        sha256: "02419380801b9f61391294823659b17b90f7a863ca3bbccb9140d2f0f8a2c910",
    },
    PinnedPackage {
        arch: Arch::X86,
        size: 35_229_876,
        sha256: "53a1b4f2d2ceb68b6c116f0a1a4d5892141dc4e1e41829fc3613e3e7d7135025",
    },
    PinnedPackage {
        arch: Arch::Arm,
        size: 33_581_552,
        sha256: "b9f9dd1d03a903680f918cb2bba00a2a3d76558545d5e6a8061072ab461bb989",
    },
];

/// A crate that uses nothing: only its standard library is wanted.
const STD_CRATE: &str = "only_std";
const STD_MANIFEST: &str = "[package]\nname = \"only_std\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
    [profile.release]\nopt-level = \"z\"\npanic = \"abort\"\ncodegen-units = 1\ndebug = \"line-tables-only\"\n\n\
    [workspace]\n";

/// Gets Debian's compiler, its sources and the linker of the same LLVM.
fn fetch(work: &Path, cache: &Cache, record: &Path, progress: &Progress) -> Result<PathBuf> {
    let release = Release::read(&work.join("apt"), Arch::X86_64, progress)?;
    let mut packages = release.with_libraries(&["rustc-web", "rust-web-src"])?;
    let llvm = packages.iter().find_map(|package| package.split('=').next()?.strip_prefix("libllvm"));
    let lld = format!("lld-{}", llvm.context("Debian's Rust needs no libllvm: its packaging has changed")?);
    packages.extend(release.with_libraries(&[&lld])?);
    let root = cache.step("toolchain", &root_key(&packages), |out| {
        release.unpack(&packages, &work.join("downloads"), out, progress)
    })?;
    let lines: Vec<&str> = packages.iter().map(String::as_str).collect();
    write_atomically(record, lines.join("\n") + "\n")?;
    Ok(root)
}

fn root_key(packages: &BTreeSet<String>) -> Key {
    packages.iter().fold(Key::new("toolchain", 1), |key, package| key.with(package))
}

fn read_record(file: &Path) -> Option<BTreeSet<String>> {
    Some(fs::read_to_string(file).ok()?.lines().map(str::to_owned).collect())
}

/// The unpacked packages, if they exist.
fn find_root(cache: &Cache, packages: &BTreeSet<String>) -> Option<PathBuf> {
    cache.step("toolchain", &root_key(packages), |_| bail!("not there yet")).ok()
}

impl Ndk {
    /// Finds the compiler drivers in an NDK folder.
    pub(crate) fn find(home: &Path) -> Result<Self> {
        let prebuilt = home.join("toolchains/llvm/prebuilt");
        let hosts = fs::read_dir(&prebuilt)
            .with_context(|| format!("ANDROID_NDK_HOME={}: no {}", home.display(), prebuilt.display()))?;
        let mut bins: Vec<PathBuf> = hosts.filter_map(|host| Some(host.ok()?.path().join("bin"))).collect();
        bins.sort();
        let bin = bins.into_iter().find(|bin| bin.is_dir());
        let bin = bin.with_context(|| format!("no compilers below {}", prebuilt.display()))?;
        let about = fs::read_to_string(home.join("source.properties")).unwrap_or_default();
        let revision = about.lines().find_map(|line| line.strip_prefix("Pkg.Revision"));
        let revision =
            revision.map_or("of unknown revision", |rest| rest.trim_start_matches([' ', '=']).trim());
        let rustc = run(&mut command("rustc", ["-V"]))?;
        Ok(Self { bin, revision: revision.into(), rustc: rustc.trim().into() })
    }

    fn target(&self, abi: Abi) -> Result<Target> {
        let folder = run(&mut command("rustc", ["--print", "target-libdir", "--target", abi.triple()]))?;
        ensure!(
            Path::new(folder.trim()).is_dir(),
            "this Rust has no standard library for {abi}: rustup target add {}",
            abi.triple()
        );
        self.flags(abi)
    }

    fn flags(&self, abi: Abi) -> Result<Target> {
        let linker = self.bin.join(format!("{}{MIN_API}-clang", abi.ndk_prefix()));
        ensure!(
            linker.is_file(),
            "the NDK has no {}: is it older than r26 or not complete?",
            linker.display()
        );
        let mut flags = vec![format!("-Clinker={}", linker.display())];
        flags.extend(link::flags(abi));
        Ok(Target { environment: Vec::new(), flags })
    }
}

/// The cargo that runs this program, without the environment variables that it set for this program.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for variable in [
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
    ] {
        cargo.env_remove(variable);
    }
    cargo
}

/// The numbers of a version, for comparison: `1.96.0-beta` is 1, 96, 0.
fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A folder as an NDK has it, with a driver for some ABIs.
    fn fake_ndk(home: &Path, abis: &[Abi]) {
        let bin = home.join("toolchains/llvm/prebuilt/linux-x86_64/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(home.join("source.properties"), "Pkg.Desc = Android NDK\nPkg.Revision = 27.2.12479018\n")
            .unwrap();
        for abi in abis {
            let driver = bin.join(format!("{}21-clang", abi.ndk_prefix()));
            fs::write(&driver, "#!/bin/sh\nexit 0\n").unwrap();
            fs::set_permissions(&driver, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    #[test]
    fn an_ndk_links_with_its_own_driver_and_the_same_flags() {
        let folder = tempfile::tempdir().unwrap();
        fake_ndk(folder.path(), &[Abi::Arm64, Abi::Arm]);
        let ndk = Ndk::find(folder.path()).unwrap();
        assert_eq!(ndk.revision, "27.2.12479018");
        let target = ndk.flags(Abi::Arm).unwrap();
        let linker = target.flags.iter().find_map(|flag| flag.strip_prefix("-Clinker=")).unwrap();
        assert!(linker.ends_with("/bin/armv7a-linux-androideabi21-clang"), "{linker}");
        assert!(link::flags(Abi::Arm).iter().all(|flag| target.flags.contains(flag)));
        assert!(target.environment.is_empty(), "the workspace's own compiler compiles");
        let name = Toolchain::Ndk(ndk).name();
        assert!(name.starts_with("rustc ") && name.ends_with("NDK 27.2.12479018"), "{name}");
    }

    #[test]
    fn what_an_ndk_lacks_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let message = format!("{:#}", Ndk::find(folder.path()).unwrap_err());
        assert!(message.contains("ANDROID_NDK_HOME") && message.contains("prebuilt"), "{message}");
        fake_ndk(folder.path(), &[Abi::Arm64]);
        let ndk = Ndk::find(folder.path()).unwrap();
        let message = ndk.flags(Abi::X86).unwrap_err().to_string();
        assert!(message.contains("i686-linux-android21-clang"), "{message}");
    }

    #[test]
    fn versions_compare_by_their_numbers() {
        assert!(numbers("1.96.0") > numbers("1.95"));
        assert!(numbers("1.100.0") > numbers("1.96.0"));
        assert!(numbers("1.85.0+dfsg3") < numbers("1.95.0"));
        assert_eq!(numbers("1.96.0-nightly"), [1, 96, 0]);
    }

    #[test]
    fn the_record_of_packages_finds_what_was_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        let record = folder.path().join("toolchain.txt");
        assert_eq!(read_record(&record), None);
        fs::write(&record, "a=1\nb=2\n").unwrap();
        let packages = read_record(&record).unwrap();
        assert_eq!(find_root(&cache, &packages), None);
        let root = cache.step("toolchain", &root_key(&packages), |_| Ok(())).unwrap();
        assert_eq!(find_root(&cache, &packages), Some(root));
    }
}
