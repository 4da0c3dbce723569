//! What a bed consists of, as data: `tests/bed/common.toml` and `tests/bed/<name>.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::arch::Arch;

/// What a package is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Use {
    /// Android's own libraries: the bed's `lib` folder.
    Android,
    /// Other shared libraries that those need: the bed's `lib` folder too.
    Runtime,
    /// Headers for the natives.
    Headers,
    /// Shared libraries that the natives are linked to and that every bed has in its own version.
    Link,
    /// The dx compiler.
    Dx,
    /// ICU for Java, at compile time only.
    Icu4j,
    /// What runs programs of another architecture.
    Emulator,
}

/// A Debian binary package.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Debian release to take it from.
    pub(crate) suite: String,
    /// `amd64` or `all`.
    pub(crate) arch: String,
    #[serde(rename = "use")]
    pub(crate) purpose: Use,
    /// Version and SHA-256 of a pinned package; neither of one that floats.
    version: Option<String>,
    sha256: Option<String>,
}

/// The exact file that a pinned package must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pin<'a> {
    pub(crate) version: &'a str,
    pub(crate) sha256: &'a str,
}

impl Package {
    /// What the package must be, unless it floats.
    pub(crate) fn pin(&self) -> Option<Pin<'_>> {
        Some(Pin { version: self.version.as_deref()?, sha256: self.sha256.as_deref()? })
    }

    /// The same package for another architecture, whose SHA-256 are `pins`.
    fn for_arch(mut self, arch: Arch, pins: &Pins) -> Self {
        if arch == Arch::Arm64 && self.arch == "amd64" {
            arch.debian().clone_into(&mut self.arch);
            self.sha256 = pins.get(&self.name).cloned();
        }
        self
    }

    /// Name of the file as apt stores it; `:` of an epoch is escaped.
    pub(crate) fn file_name(&self, version: &str) -> String {
        format!("{}_{}_{}.deb", self.name, version.replace(':', "%3a"), self.arch)
    }
}

/// A Debian source package, of which one upstream archive is used.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) suite: String,
    /// The upstream archive.
    pub(crate) file: String,
    pub(crate) sha256: String,
    /// Files and folders of the archive that are used.
    pub(crate) unpack: Vec<String>,
}

/// SHA-256 of the arm64 files of pinned packages, by name; their versions are those of the amd64 ones.
pub(crate) type Pins = BTreeMap<String, String>;

/// `tests/bed/common.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Common {
    #[serde(rename = "package")]
    pub(crate) packages: Vec<Package>,
    arm64: Pins,
    pub(crate) libcore: Libcore,
    pub(crate) framework: Framework,
}

/// The Java library and its natives.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Libcore {
    pub(crate) source: Source,
    pub(crate) java: Vec<JavaFiles>,
    #[serde(rename = "library")]
    pub(crate) libraries: Vec<NativeLibrary>,
    #[serde(rename = "stub")]
    pub(crate) stubs: Vec<StubLibrary>,
}

/// File groups of an AOSP build file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JavaFiles {
    pub(crate) blueprint: String,
    pub(crate) groups: Vec<String>,
}

/// One shared library of libcore's natives.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NativeLibrary {
    pub(crate) name: String,
    /// Folder to which the names in the group are relative.
    pub(crate) folder: String,
    pub(crate) blueprint: String,
    pub(crate) group: String,
    /// Sources outside the group.
    #[serde(default)]
    pub(crate) extra: Vec<String>,
    /// Sources of the group that are not built.
    #[serde(default)]
    pub(crate) leave_out: Vec<String>,
    /// Sources of ours below `tests/bed/native`.
    #[serde(default)]
    pub(crate) shims: Vec<String>,
    /// File names of the libraries to link.
    pub(crate) link: Vec<String>,
}

/// A library that only has to be there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StubLibrary {
    /// A C source below `tests/bed/native`.
    pub(crate) source: String,
    /// File names of the libraries that it becomes.
    pub(crate) names: Vec<String>,
}

/// The framework classes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Framework {
    pub(crate) source: Source,
    /// Folder of the archive to which `files` are relative.
    pub(crate) root: String,
    pub(crate) files: Vec<String>,
    /// Members that `framework-hidden.jar` hides, `Lpkg/Class;->name`.
    pub(crate) blocked: Vec<String>,
}

/// `tests/bed/<name>.toml`: one Android Runtime.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BedSpec {
    pub(crate) name: String,
    pub(crate) art: String,
    pub(crate) api_level: u32,
    pub(crate) package_version: String,
    pub(crate) libart: String,
    pub(crate) dlopen_first: Vec<String>,
    pub(crate) preload: Vec<String>,
    /// Further names of libraries, and the files that they are.
    #[serde(default)]
    pub(crate) links: BTreeMap<String, String>,
    /// Whether the dynamic loader and libc are those of the bed's own packages, because the machine's may be too old.
    #[serde(default)]
    pub(crate) own_libc: bool,
    /// Folders below `tests/bed/patches` whose classes go before core.jar.
    #[serde(default)]
    pub(crate) patches: Vec<String>,
    /// Repairs of machine code.
    pub(crate) code_patches: Option<String>,
    #[serde(rename = "package")]
    pub(crate) packages: Vec<Package>,
    /// There is a bed for arm64 when there are these.
    arm64: Option<Pins>,
    /// Why there is no bed of this runtime with that ending (`jit`, `aot`, `arm64-jit`).
    #[serde(default)]
    off: BTreeMap<String, String>,
}

/// `tests/bed/arch/<arch>.toml`: what the beds of an architecture other than the machine's need beside the rest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Foreign {
    /// The emulator, a file of the package with that use.
    pub(crate) emulator: String,
    /// Its options.
    pub(crate) options: Vec<String>,
    /// Libraries to load before all others.
    pub(crate) preload: Vec<String>,
    #[serde(rename = "stub")]
    pub(crate) stubs: Vec<StubLibrary>,
    #[serde(rename = "package")]
    pub(crate) packages: Vec<Package>,
}

/// `tests/bed/compiler/common.toml`: what the builds of all runtimes' compilers share.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompilerCommon {
    /// Macros.
    pub(crate) defines: Vec<String>,
    /// Folders of headers inside the source.
    pub(crate) include: Vec<String>,
    /// Sources outside the list of the build file.
    pub(crate) extra: Vec<String>,
    /// Headers whose enumerations become printable.
    pub(crate) operators: Vec<String>,
}

/// `tests/bed/compiler/<bed>.toml`: where the compiler of a runtime comes from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompilerSpec {
    /// The folder of the archive that holds everything, if there is one.
    pub(crate) folder: PathBuf,
    /// Macros of this version.
    pub(crate) defines: Vec<String>,
    pub(crate) source: Source,
    /// Debian's patches of the source.
    pub(crate) packaging: Source,
    /// Headers.
    #[serde(rename = "package")]
    pub(crate) packages: Vec<Package>,
}

/// How a compiler is built.
#[derive(Debug)]
pub(crate) struct Compiler {
    pub(crate) common: CompilerCommon,
    pub(crate) own: CompilerSpec,
}

/// `tests/bed/compiler/ahead/<bed>.toml`: how the program that compiles ahead of time is built, from the same source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ahead {
    /// Further files and folders of the archive.
    pub(crate) unpack: Vec<String>,
    /// Further folders of headers inside the source.
    pub(crate) include: Vec<String>,
    pub(crate) sources: Vec<String>,
    /// Headers of dex2oat whose enumerations become printable.
    pub(crate) operators: Vec<String>,
    /// Files of the bed's libraries to link to.
    pub(crate) libraries: Vec<String>,
}

/// How methods of a bed come to be machine code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compiled {
    /// Not at all.
    Never,
    /// While they run.
    Jit,
    /// Before they run.
    Ahead,
}

/// The name of a bed, taken apart: `art11-arm64-jit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// The runtime's file below `tests/bed`, without its ending.
    pub(crate) runtime: String,
    pub(crate) arch: Arch,
    pub(crate) compiled: Compiled,
}

impl Name {
    pub(crate) fn parse(name: &str) -> Self {
        let ending = |text, compiled| Some((name.strip_suffix(text)?, compiled));
        let (rest, compiled) = ending("-jit", Compiled::Jit)
            .or_else(|| ending("-aot", Compiled::Ahead))
            .unwrap_or((name, Compiled::Never));
        let (runtime, arch) = match rest.strip_suffix("-arm64") {
            Some(runtime) => (runtime, Arch::Arm64),
            None => (rest, Arch::X86_64),
        };
        Self { runtime: runtime.to_owned(), arch, compiled }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let arch = if self.arch == Arch::Arm64 { "-arm64" } else { "" };
        let compiled = match self.compiled {
            Compiled::Never => "",
            Compiled::Jit => "-jit",
            Compiled::Ahead => "-aot",
        };
        write!(out, "{}{arch}{compiled}", self.runtime)
    }
}

/// Everything that `tests/bed` says about one bed.
#[derive(Debug)]
pub(crate) struct Spec {
    /// `tests/bed`.
    pub(crate) folder: PathBuf,
    pub(crate) arch: Arch,
    pub(crate) common: Common,
    pub(crate) bed: BedSpec,
    /// The runtime's compiler, for a bed that has one.
    pub(crate) compiler: Option<Compiler>,
    /// What compiles all methods before they run, for a bed that has it.
    pub(crate) ahead: Option<Ahead>,
    /// What runs it, for a bed of another architecture.
    pub(crate) foreign: Option<Foreign>,
}

impl Spec {
    /// Reads the specification of a bed. Fails when there is no such bed, naming those that are.
    pub(crate) fn load(folder: &Path, name: &str) -> Result<Self> {
        let known = names(folder)?;
        if !known.iter().any(|n| n == name) {
            if let Some((runtime, ending)) = name.split_once('-')
                && known.iter().any(|n| n == runtime)
                && let Some(why) =
                    read_toml::<BedSpec>(&folder.join(format!("{runtime}.toml")))?.off.get(ending)
            {
                bail!("there is no bed {name}: {why}");
            }
            bail!("there is no bed {name:?}; there are: {}", known.join(", "));
        }
        let Name { runtime, arch, compiled } = Name::parse(name);
        let mut bed: BedSpec = read_toml(&folder.join(format!("{runtime}.toml")))?;
        let mut common: Common = read_toml(&folder.join("common.toml"))?;
        let none = Pins::new();
        for (packages, pins) in
            [(&mut bed.packages, bed.arm64.as_ref().unwrap_or(&none)), (&mut common.packages, &common.arm64)]
        {
            let all = std::mem::take(packages).into_iter();
            *packages = all.map(|package| package.for_arch(arch, pins)).collect();
        }
        let compilers = folder.join("compiler");
        let compiler = if compiled == Compiled::Never {
            None
        } else {
            Some(Compiler {
                common: read_toml(&compilers.join("common.toml"))?,
                own: read_toml(&compilers.join(format!("{runtime}.toml")))?,
            })
        };
        let ahead = match compiled {
            Compiled::Ahead => Some(read_toml(&compilers.join(format!("ahead/{runtime}.toml")))?),
            Compiled::Never | Compiled::Jit => None,
        };
        let foreign = match arch {
            Arch::X86_64 => None,
            Arch::Arm64 => Some(read_toml(&folder.join("arch/arm64.toml"))?),
        };
        name.clone_into(&mut bed.name);
        Ok(Self { folder: folder.to_owned(), arch, common, bed, compiler, ahead, foreign })
    }

    /// All packages that have to be downloaded. Of two of the same name the later one counts in the bed.
    pub(crate) fn packages(&self) -> Vec<&Package> {
        let of_foreign = self.foreign.iter().flat_map(|foreign| &foreign.packages);
        let of_compiler = self.compiler.iter().flat_map(|compiler| &compiler.own.packages);
        self.common.packages.iter().chain(of_foreign).chain(&self.bed.packages).chain(of_compiler).collect()
    }

    /// The packages that the natives are compiled and linked with, for whatever bed of the architecture.
    pub(crate) fn sysroot(&self) -> Vec<&Package> {
        let wanted = |p: &&Package| matches!(p.purpose, Use::Headers | Use::Link | Use::Runtime);
        let of_foreign = self.foreign.iter().flat_map(|foreign| &foreign.packages);
        self.common.packages.iter().chain(of_foreign).filter(wanted).collect()
    }

    /// The packages whose libraries go into the bed. One of the bed replaces the common one of the same name.
    pub(crate) fn runtime(&self) -> Vec<&Package> {
        let mut by_name = BTreeMap::new();
        for package in
            self.packages().into_iter().filter(|p| matches!(p.purpose, Use::Android | Use::Runtime))
        {
            by_name.insert(package.name.as_str(), package);
        }
        by_name.into_values().collect()
    }
}

/// Names of all beds, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let file = entry?.file_name();
        let Some(runtime) = file.to_str().and_then(|f| f.strip_suffix(".toml")) else { continue };
        if runtime == "common" {
            continue;
        }
        let spec: BedSpec = read_toml(&folder.join(&file))?;
        let mut add = |arch, compiled| {
            names.push(Name { runtime: runtime.to_owned(), arch, compiled }.to_string());
        };
        add(Arch::X86_64, Compiled::Never);
        if folder.join("compiler").join(&file).is_file() {
            add(Arch::X86_64, Compiled::Jit);
        }
        if folder.join("compiler/ahead").join(&file).is_file() {
            add(Arch::X86_64, Compiled::Ahead);
        }
        if spec.arm64.is_some() {
            add(Arch::Arm64, Compiled::Never);
        }
    }
    names.sort();
    Ok(names)
}

/// Reads a TOML file; the error names the file.
pub(crate) fn read_toml<T: DeserializeOwned>(file: &Path) -> Result<T> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not valid", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bed::paths;

    #[test]
    fn every_bed_of_the_repository_reads_and_pins_its_runtime() {
        let folder = paths::specs();
        let names = names(&folder).unwrap();
        assert!(names.iter().any(|n| n == "art10"), "{names:?}");
        assert!(names.iter().any(|n| n == "art11-jit"), "{names:?}");
        assert!(names.iter().any(|n| n == "art11-aot"), "{names:?}");
        for name in names {
            let spec = Spec::load(&folder, &name).unwrap();
            assert_eq!(spec.bed.name, name);
            assert_eq!(Name::parse(&name).to_string(), name);
            let libart = spec.packages().into_iter().find(|p| p.name == "android-libart").unwrap();
            assert_eq!(libart.pin().unwrap().version, spec.bed.package_version);
            if let Some(compiler) = &spec.compiler {
                assert_eq!(compiler.own.source.version, spec.bed.package_version, "of its libart");
                assert_eq!(compiler.own.packaging.version, spec.bed.package_version, "of its libart");
            }
            for package in spec.packages() {
                assert_eq!(package.version.is_some(), package.sha256.is_some(), "{}", package.name);
                assert!(
                    package.purpose != Use::Android || package.pin().is_some(),
                    "{} floats",
                    package.name
                );
                assert!(package.pin().is_none_or(|p| p.sha256.len() == 64), "{}", package.name);
            }
        }
    }

    #[test]
    fn all_beds_share_one_sysroot_and_replace_common_libraries_by_their_own() {
        let bed = |name: &str| Spec::load(&paths::specs(), name).unwrap();
        let (art10, art14) = (bed("art10"), bed("art14"));
        assert_eq!(art10.sysroot(), art14.sysroot());
        let zlib = |spec: &Spec| -> Vec<String> {
            spec.runtime().iter().filter(|p| p.name == "zlib1g").map(|p| p.suite.clone()).collect()
        };
        assert_eq!(zlib(&art10), ["bookworm"]);
        assert_eq!(zlib(&art14), ["trixie"]);
    }

    #[test]
    fn an_unknown_bed_is_refused_with_the_known_ones() {
        let message = Spec::load(&paths::specs(), "art99").unwrap_err().to_string();
        assert!(message.contains("art99") && message.contains("art10"), "{message}");
    }

    #[test]
    fn a_bed_that_is_off_says_why() {
        let message = Spec::load(&paths::specs(), "art14-jit").unwrap_err().to_string();
        assert!(message.starts_with("there is no bed art14-jit: ") && message.contains("clang"), "{message}");
    }

    #[test]
    fn file_names_escape_the_epoch() {
        let package: Package = toml::from_str(
            "name='a-b'\nsuite='s'\narch='amd64'\nuse='android'\nversion='1:2.3'\nsha256='00'\n",
        )
        .unwrap();
        assert_eq!(package.file_name(package.pin().unwrap().version), "a-b_1%3a2.3_amd64.deb");
    }
}
