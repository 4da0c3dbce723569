//! The parts of a testbed, as data: `tests/testbed/common.toml` and `tests/testbed/<name>.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use loopbox_setup::arch::Arch;
use loopbox_setup::package::{Package, Pins, Source, Use, read_toml};
use serde::Deserialize;

use crate::levels::{Level, Levels};
use crate::name::{Compiled, Name};
use crate::paths;

/// `tests/testbed/common.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Common {
    #[serde(rename = "package")]
    pub(crate) packages: Vec<Package>,
    /// The pins by the architecture's name.
    pins: BTreeMap<String, Pins>,
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
    /// Sources of ours below `tests/testbed/native`.
    #[serde(default)]
    pub(crate) shims: Vec<String>,
    /// File names of the libraries to link.
    pub(crate) link: Vec<String>,
}

/// A library that only has to be there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StubLibrary {
    /// A C source below `tests/testbed/native`.
    pub(crate) source: String,
    /// File names of the resulting libraries.
    pub(crate) names: Vec<String>,
}

/// The framework classes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Framework {
    pub(crate) source: Source,
    /// Folders of the archive; each of `files` is relative to one of them.
    pub(crate) roots: Vec<String>,
    pub(crate) files: Vec<String>,
    /// Members that `framework-hidden.jar` hides, each in the form `Lpkg/Class;->name`.
    pub(crate) blocked: Vec<String>,
}

/// `tests/testbed/<name>.toml`: one Android Runtime.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuntimeSpec {
    pub(crate) name: String,
    pub(crate) art: String,
    pub(crate) api_level: u32,
    pub(crate) package_version: String,
    pub(crate) libart: String,
    pub(crate) dlopen_first: Vec<String>,
    pub(crate) preload: Vec<String>,
    /// Symbolic links to create in the folder of the libraries: the name of each link, and the file it points
    /// to.
    #[serde(default)]
    pub(crate) links: BTreeMap<String, String>,
    /// Whether the dynamic loader and libc are those of the testbed's own packages, because the machine's may
    /// be too old.
    #[serde(default)]
    pub(crate) own_libc: bool,
    /// Folders below `tests/testbed/patches`. Their classes come before core.jar in the class path.
    #[serde(default)]
    pub(crate) patches: Vec<String>,
    /// Additional options of the VM.
    #[serde(default)]
    pub(crate) vm_options: Vec<String>,
    /// A file below `tests/testbed` with repairs of the machine code of a library.
    pub(crate) code_patches: Option<String>,
    /// A file as in `code_patches`, with repairs that only a testbed with the JIT compiler needs.
    pub(crate) jit_code_patches: Option<String>,
    #[serde(rename = "package")]
    pub(crate) packages: Vec<Package>,
    /// Hashes for other architectures, by their names. An architecture with an entry has a testbed of this
    /// runtime.
    #[serde(default)]
    pub(crate) pins: BTreeMap<String, Pins>,
    /// The suffixes (`jit`, `aot`, `arm64-jit`) for which this runtime has no testbed, each with the reason.
    #[serde(default)]
    pub(crate) off: BTreeMap<String, String>,
}

/// `tests/testbed/arch/<arch>.toml`: what testbeds need in addition when their architecture is not the
/// machine's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Foreign {
    /// The emulator: a file of the package whose use is `Use::Emulator`. `None` where the machine's processor
    /// runs the programs.
    pub(crate) emulator: Option<String>,
    /// Options of the emulator.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// Libraries to load before all others.
    #[serde(default)]
    pub(crate) preload: Vec<String>,
    #[serde(rename = "stub", default)]
    pub(crate) stubs: Vec<StubLibrary>,
    #[serde(rename = "package")]
    pub(crate) packages: Vec<Package>,
}

/// `tests/testbed/compiler/common.toml`: what the builds of the compilers of all runtimes have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerCommon {
    /// Macros.
    pub defines: Vec<String>,
    /// Folders of headers inside the source.
    pub include: Vec<String>,
    /// Sources outside the list of the build file.
    pub extra: Vec<String>,
    /// Headers whose enumerations become printable.
    pub operators: Vec<String>,
    /// Headers that are read once for all sources.
    pub precompiled: Vec<String>,
    /// Sources that declare what another source of their folder declares, too: each is compiled alone.
    pub alone: Vec<String>,
}

/// `tests/testbed/compiler/<testbed>.toml`: where the compiler of a runtime comes from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerSpec {
    /// The top folder of the archive, if it has one.
    pub folder: PathBuf,
    /// Macros of this version.
    pub defines: Vec<String>,
    /// The upstream archive.
    pub source: Source,
    /// Debian's patches of the source.
    pub packaging: Source,
    /// The packages with the headers that the sources include.
    #[serde(rename = "package")]
    pub packages: Vec<Package>,
}

/// How a compiler is built.
#[derive(Debug)]
pub struct Compiler {
    /// What the builds for all runtimes have in common.
    pub common: CompilerCommon,
    /// What is specific to this runtime.
    pub own: CompilerSpec,
}

/// `tests/testbed/compiler/aot/<testbed>.toml`: how the ahead-of-time compiler is built from the source of
/// the runtime's compiler.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AotSpec {
    /// Files and folders of the archive that are needed in addition to those of the runtime's compiler.
    pub(crate) unpack: Vec<String>,
    /// Folders of headers inside the source, in addition to those for the runtime's compiler.
    pub(crate) include: Vec<String>,
    pub(crate) sources: Vec<String>,
    /// Headers of dex2oat whose enumerations become printable.
    pub(crate) operators: Vec<String>,
    /// Files of the testbed's libraries to link to.
    pub(crate) libraries: Vec<String>,
}

/// `tests/testbed/libcxx/<testbed>.toml`: how the runtime itself is built with LLVM's C++ library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LibcxxSpec {
    /// The file in `tests/testbed/compiler` that names the runtime's source, headers and macros.
    pub(crate) runtime: String,
    /// Debian's makefile, which lists the sources.
    pub(crate) makefile: String,
    /// The names of the makefile's lists, each with the folder of its files.
    pub(crate) lists: BTreeMap<String, String>,
    /// Sources outside the lists.
    pub(crate) extra: Vec<String>,
    /// Assembly code that a program of the source generates from files.
    #[serde(rename = "generate")]
    pub(crate) generated: Vec<Generated>,
    /// Headers whose enumerations become printable.
    pub(crate) operators: Vec<String>,
    /// Headers that are read once for all sources.
    pub(crate) precompiled: Vec<String>,
    /// Macros in addition to those of the file `runtime`.
    pub(crate) defines: Vec<String>,
    /// Debian's libraries that the runtime is linked to.
    pub(crate) libraries: Vec<String>,
    /// The source archive of the libraries that the runtime passes C++ strings and streams to: they must be
    /// built with the same C++ library.
    pub(crate) source: Source,
    /// Files of the archive `source` that are compiled into the runtime, and the folders of their headers.
    pub(crate) sources: Vec<String>,
    pub(crate) include: Vec<String>,
    /// The packages with the C++ library.
    #[serde(rename = "package")]
    pub(crate) packages: Vec<Package>,
}

/// A file that a program of the runtime's source generates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Generated {
    pub(crate) program: String,
    pub(crate) file: String,
    /// The inputs: assembly files, and folders of which all assembly files are used.
    pub(crate) of: Vec<String>,
}

/// How a runtime is built with LLVM's C++ library.
#[derive(Debug)]
pub(crate) struct Libcxx {
    /// Source, headers and macros.
    pub(crate) compiler: Compiler,
    pub(crate) own: LibcxxSpec,
}

/// Everything that `tests/testbed` contains about one testbed.
#[derive(Debug)]
pub(crate) struct Spec {
    /// `tests/testbed`.
    pub(crate) folder: PathBuf,
    pub(crate) arch: Arch,
    pub(crate) common: Common,
    pub(crate) testbed: RuntimeSpec,
    /// The runtime's compiler, for a testbed that has one.
    pub(crate) compiler: Option<Compiler>,
    /// The compiler that compiles all methods before they run, for a testbed that has one.
    pub(crate) aot: Option<AotSpec>,
    /// The emulator that runs the testbed's programs, for a testbed of another architecture.
    pub(crate) foreign: Option<Foreign>,
    /// How the runtime is built, for a testbed that does not use Debian's build.
    pub(crate) libcxx: Option<Libcxx>,
    /// The framework level whose classes come before the testbed's own.
    pub(crate) level: Option<Level>,
    /// The folder of a user's own build of a runtime, whose libraries take precedence over those of packages.
    pub(crate) local: Option<PathBuf>,
}

impl Spec {
    /// Reads the specification of a testbed. When there is no such testbed, the error names those that exist.
    pub(crate) fn load(folder: &Path, name: &str) -> Result<Self> {
        let known = names(folder)?;
        let parts = Name::parse(name);
        let base = Name { framework: None, ..parts.clone() }.to_string();
        if !known.contains(&base) {
            if let Some((runtime, ending)) = name.split_once('-')
                && known.iter().any(|n| n == runtime)
                && let Some(why) =
                    read_toml::<RuntimeSpec>(&folder.join(format!("{runtime}.toml")))?.off.get(ending)
            {
                bail!("there is no testbed {name}: {why}");
            }
            bail!(
                "there is no testbed {name:?}; there are: {}; and each with the framework of another API level, as \
                art11-fw35",
                known.join(", ")
            );
        }
        let Name { runtime, framework, arch, compiled } = parts;
        let level = match framework {
            Some(framework) => Some(Levels::load(folder)?.level(framework)?),
            None => None,
        };
        let mut testbed: RuntimeSpec = read_toml(&folder.join(format!("{runtime}.toml")))?;
        let mut common: Common = read_toml(&folder.join("common.toml"))?;
        let none = Pins::new();
        for (packages, pins) in [(&mut testbed.packages, &testbed.pins), (&mut common.packages, &common.pins)]
        {
            let pins = pins.get(arch.name()).unwrap_or(&none);
            let all = std::mem::take(packages).into_iter();
            *packages = all.map(|package| package.for_arch(arch, pins)).collect();
        }
        let compiler =
            if compiled == Compiled::Never { None } else { Some(read_compiler(folder, &runtime)?) };
        let aot = match compiled {
            Compiled::Aot => Some(read_toml(&folder.join(format!("compiler/aot/{runtime}.toml")))?),
            Compiled::Never | Compiled::Jit => None,
        };
        let foreign = match arch {
            Arch::X86_64 => None,
            other => Some(read_toml(&folder.join(format!("arch/{}.toml", other.name())))?),
        };
        let own = folder.join(format!("libcxx/{runtime}.toml"));
        let libcxx = if own.is_file() {
            let own: LibcxxSpec = read_toml(&own)?;
            Some(Libcxx { compiler: read_compiler(folder, &own.runtime)?, own })
        } else {
            None
        };
        name.clone_into(&mut testbed.name);
        if let Some(level) = &level {
            testbed.vm_options.extend(level.vm_options());
        }
        let folder = folder.to_owned();
        Ok(Self { folder, arch, common, testbed, compiler, aot, foreign, libcxx, level, local: None })
    }

    /// What is compiled from the runtime's source package, and how; `None` when nothing is.
    pub(crate) fn source_build(&self) -> Option<&Compiler> {
        self.compiler.as_ref().or(self.libcxx.as_ref().map(|libcxx| &libcxx.compiler))
    }

    /// All packages that must be downloaded. Of two with the same name, the later one is used in the testbed.
    pub(crate) fn packages(&self) -> Vec<&Package> {
        let of_foreign = self.foreign.iter().flat_map(|foreign| &foreign.packages);
        let of_compiler = self.source_build().into_iter().flat_map(|compiler| &compiler.own.packages);
        let of_libcxx = self.libcxx.iter().flat_map(|libcxx| &libcxx.own.packages);
        self.common
            .packages
            .iter()
            .chain(of_foreign)
            .chain(&self.testbed.packages)
            .chain(of_compiler)
            .chain(of_libcxx)
            .collect()
    }

    /// The packages that the natives are compiled and linked with, for every testbed of the architecture.
    pub(crate) fn sysroot(&self) -> Vec<&Package> {
        let wanted = |p: &&Package| matches!(p.purpose, Use::Headers | Use::Link | Use::Runtime);
        let of_foreign = self.foreign.iter().flat_map(|foreign| &foreign.packages);
        self.common.packages.iter().chain(of_foreign).filter(wanted).collect()
    }

    /// The packages whose libraries go into the testbed. A package of the testbed replaces the common one of
    /// the same name.
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

/// How the compiler of a runtime (`art11`) is built.
///
/// # Errors
/// When there is no such compiler.
pub fn compiler(runtime: &str) -> Result<Compiler> {
    read_compiler(&paths::specs(), runtime)
}

fn read_compiler(folder: &Path, runtime: &str) -> Result<Compiler> {
    let compilers = folder.join("compiler");
    Ok(Compiler {
        common: read_toml(&compilers.join("common.toml"))?,
        own: read_toml(&compilers.join(format!("{runtime}.toml")))?,
    })
}

/// Names of all testbeds with their own framework, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let file = entry?.file_name();
        let Some(runtime) = file.to_str().and_then(|f| f.strip_suffix(".toml")) else { continue };
        if runtime == "common" {
            continue;
        }
        let spec: RuntimeSpec = read_toml(&folder.join(&file))?;
        let mut add = |arch, compiled| {
            let runtime = runtime.to_owned();
            names.push(Name { runtime, framework: None, arch, compiled }.to_string());
        };
        add(Arch::X86_64, Compiled::Never);
        if folder.join("compiler").join(&file).is_file() {
            add(Arch::X86_64, Compiled::Jit);
        }
        if folder.join("compiler/aot").join(&file).is_file() {
            add(Arch::X86_64, Compiled::Aot);
        }
        for arch in spec.pins.keys() {
            add(arch.parse()?, Compiled::Never);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_testbed_of_the_repository_reads_and_pins_its_runtime() {
        let folder = paths::specs();
        let names = names(&folder).unwrap();
        assert!(names.iter().any(|n| n == "art10"), "{names:?}");
        assert!(names.iter().any(|n| n == "art11-jit"), "{names:?}");
        assert!(names.iter().any(|n| n == "art11-aot"), "{names:?}");
        assert!(Spec::load(&folder, "art11-libcxx").unwrap().libcxx.is_some());
        assert!(Spec::load(&folder, "art11").unwrap().libcxx.is_none());
        for name in names {
            let spec = Spec::load(&folder, &name).unwrap();
            assert_eq!(spec.testbed.name, name);
            assert_eq!(Name::parse(&name).to_string(), name);
            let libart = spec.packages().into_iter().find(|p| p.name == "android-libart").unwrap();
            assert_eq!(libart.pin().unwrap().version, spec.testbed.package_version);
            if let Some(compiler) = spec.source_build() {
                assert_eq!(compiler.own.source.version, spec.testbed.package_version, "of its libart");
                assert_eq!(compiler.own.packaging.version, spec.testbed.package_version, "of its libart");
            }
            for package in spec.packages() {
                assert!(!package.is_half_pinned(), "{}", package.name);
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
    fn all_testbeds_share_one_sysroot_and_replace_common_libraries_by_their_own() {
        let testbed = |name: &str| Spec::load(&paths::specs(), name).unwrap();
        let (art10, art14) = (testbed("art10"), testbed("art14"));
        assert_eq!(art10.sysroot(), art14.sysroot());
        let zlib = |spec: &Spec| -> Vec<String> {
            spec.runtime().iter().filter(|p| p.name == "zlib1g").map(|p| p.suite.clone()).collect()
        };
        assert_eq!(zlib(&art10), ["bookworm"]);
        assert_eq!(zlib(&art14), ["trixie"]);
    }

    #[test]
    fn an_unknown_testbed_is_refused_with_the_known_ones() {
        let message = Spec::load(&paths::specs(), "art99").unwrap_err().to_string();
        assert!(message.contains("art99") && message.contains("art10"), "{message}");
    }

    #[test]
    fn a_testbed_that_is_off_says_why() {
        let message = Spec::load(&paths::specs(), "art14-jit").unwrap_err().to_string();
        assert!(
            message.starts_with("there is no testbed art14-jit: ") && message.contains("clang"),
            "{message}"
        );
    }
}
