//! Runs the library that ships, unchanged, in a Linux process.
//!
//! It imports symbols with bionic's versions from `libc.so`, `libdl.so` and `liblog.so`. Libraries of these
//! names are generated here from its import table. They jump to glibc's function where both C libraries agree
//! (`plain.txt`), and translate where they do not (`shim.c`). Only the system is substituted; ART, the Looper
//! and the library itself are the real ones. Differences in the kernel, the loader and memory tagging of a
//! phone are not covered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use loopbox_android_pack::symbols::{Imports, SymbolList, read_names};
use loopbox_android_pack::{Abi, Library, data, ensure, folder};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command::run;
use loopbox_setup::tools::CompilerTools;
use loopbox_testbed::{Arch, Testbed};

use crate::derive;

/// The version of the steps that build the shim. It is part of the cache key. Change it whenever the steps
/// change.
pub(super) const RECIPE: u32 = 2;

/// The version node of a substitute library when no import from that library has a version.
const USUAL_VERSION: &str = "LIBC";

/// What a library that is linked for Android needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needed {
    /// The version node of each library that is needed, by SONAME.
    pub(super) libraries: BTreeMap<String, String>,
    /// The SONAME of the library of each import.
    pub(super) imports: BTreeMap<String, String>,
}

impl Needed {
    /// The needs of the library that ships, found from its imports. The result also has libraries from which
    /// this ABI imports nothing.
    fn by(imported: &BTreeSet<String>, imports: &Imports) -> Self {
        let mut needed = Self::default();
        for (soname, versions) in imports.libraries() {
            needed.add_library(soname, versions.keys().next().map(String::as_str));
        }
        for name in imported {
            // Newer symbols are in libc; weak references to them are resolved here.
            let soname = imports.library_of(name).unwrap_or("libc.so");
            needed.imports.insert(name.clone(), soname.to_owned());
        }
        needed
    }

    pub(super) fn add_library(&mut self, soname: &str, version: Option<&str>) {
        self.libraries.insert(soname.to_owned(), version.unwrap_or(USUAL_VERSION).to_owned());
    }
}

/// A testbed in which the shipped library loads.
#[derive(Debug)]
pub struct Shipped {
    /// The testbed with the substitutes loaded first.
    pub testbed: Testbed,
    /// The folder of the shipped library, for `java.library.path`.
    pub libraries: PathBuf,
    /// The substitutes for Android's libraries, to be loaded before everything else, in this order.
    pub stand_ins: Vec<PathBuf>,
}

/// Builds the library of an ABI as it ships, the substitutes that it needs, and a testbed with them.
///
/// # Errors
/// When it cannot be built, or imports something that is not known to be the same in glibc.
pub fn shipped(abi: Abi, testbed: &Testbed) -> Result<Shipped> {
    let imports = SymbolList::read(&data("bionic-symbols.toml"))?.of(abi);
    with_stand_ins(&ensure(abi)?, &imports, testbed)
}

fn with_stand_ins(library: &Library, imports: &Imports, testbed: &Testbed) -> Result<Shipped> {
    let cache = Cache::open(&folder().join("cache"))?;
    let sources = data("shim");
    let needed = Needed::by(&library.imports, imports);
    let key = Key::new("shim", RECIPE).with_path(&sources)?.with(&format!("{needed:?}"));
    let key = key.with(library.abi.name());
    let libraries = cache.step("shim", &key, |out| needed.make(&[&sources], testbed, out))?;
    let stand_ins: Vec<PathBuf> = needed.libraries.keys().map(|soname| libraries.join(soname)).collect();
    let derived = folder().join("testbeds").join(format!("{}-{}", testbed.manifest.name, library.abi));
    let testbed = load_first(testbed, &stand_ins, &derived)?;
    let libraries = library.file.parent().context("a library without a folder")?.to_owned();
    Ok(Shipped { testbed, libraries, stand_ins })
}

/// A testbed, described in `folder`, that preloads these libraries before everything else. ART's libsigchain
/// is preloaded, too. If it came first, its `sigaction`, which has glibc's types, would replace that of the
/// substitutes.
pub(super) fn load_first(testbed: &Testbed, files: &[PathBuf], folder: &Path) -> Result<Testbed> {
    derive(testbed, folder, |manifest| {
        manifest.preload.splice(0..0, files.iter().map(|file| file.display().to_string()));
    })
}

impl Needed {
    /// Compiles the substitutes into `out`. Each folder of `sources` has a `shim.c` and a `plain.txt`.
    pub(super) fn make(&self, sources: &[&Path], testbed: &Testbed, out: &Path) -> Result<()> {
        let arch = testbed.arch()?;
        let code: Vec<PathBuf> = sources.iter().map(|folder| folder.join("shim.c")).collect();
        let (mut text, mut plain) = (String::new(), BTreeSet::new());
        for (folder, code) in sources.iter().zip(&code) {
            text += &fs::read_to_string(code).with_context(|| format!("cannot read {}", code.display()))?;
            plain.extend(read_names(&folder.join("plain.txt"))?);
        }
        let jumps = self.jumps(&text, &plain)?;
        for (soname, version) in &self.libraries {
            let empty = BTreeMap::new();
            let targets = jumps.get(soname.as_str()).unwrap_or(&empty);
            let file = |extension: &str| out.join(format!("{soname}.{extension}"));
            write(&file("S"), &trampolines(targets, version, arch))?;
            write(&file("map"), &version_script(targets, version))?;
            let mut cc = match arch {
                Arch::X86_64 => Command::new("cc"),
                other => CompilerTools::ensure()?.for_arch(other, &testbed.sysroot()?),
            };
            cc.args(["-shared", "-fPIC", "-O2", "-w", "-ffunction-sections", "-fvisibility=hidden"]);
            cc.arg(format!("-Wl,--gc-sections,-soname,{soname},--version-script={}", file("map").display()));
            // The compiler may be one for C++, which C files by their name would be to it.
            cc.args(["-x", "assembler"]).arg(file("S")).args(["-x", "c"]).args(&code);
            cc.args(["-x", "none", "-o"]).arg(out.join(soname)).args(["-ldl", "-lpthread"]);
            run(&mut cc).with_context(|| format!("cannot make the substitute for {soname}"))?;
        }
        Ok(())
    }

    /// For each Android library, the functions that are imported from it, each with the function that it
    /// jumps to.
    fn jumps(&self, code: &str, plain: &BTreeSet<String>) -> Result<BTreeMap<&str, BTreeMap<&str, String>>> {
        let mut jumps: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
        let mut unknown = Vec::new();
        for (name, soname) in &self.imports {
            let translation = format!("shim_{name}");
            let target = if code.contains(&format!("{translation}(")) {
                translation
            } else if plain.contains(name) {
                name.clone()
            } else {
                unknown.push(name.as_str());
                continue;
            };
            jumps.entry(soname).or_default().insert(name, target);
        }
        if !unknown.is_empty() {
            bail!("are these the same in glibc? Put them into plain.txt or shim.c: {}", unknown.join(", "));
        }
        Ok(jumps)
    }
}

/// Assembly with one jump per function. A function here is called `name@VERSION`, because glibc's function
/// that it jumps to may have the same name.
fn trampolines(targets: &BTreeMap<&str, String>, version: &str, arch: Arch) -> String {
    let mut text = String::from(".section .note.GNU-stack,\"\",%progbits\n.text\n");
    for (name, target) in targets {
        let own = format!("stand_in_{name}");
        let jump = match arch {
            Arch::X86_64 => format!("jmp *{target}@GOTPCREL(%rip)"),
            // x16 is the register that a call may lose on its way (AAPCS64, IP0).
            Arch::Arm64 => format!("adrp x16, :got:{target}; ldr x16, [x16, :got_lo12:{target}]; br x16"),
            // `Launcher::with_shipped_library` refuses these.
            Arch::X86 | Arch::Arm => String::from(".error \"no jump for 32 bits\""),
        };
        let _ = writeln!(text, ".globl {own}\n.type {own}, %function\n{own}: {jump}");
        let _ = writeln!(text, ".symver {own}, {name}@{version}");
    }
    text
}

fn version_script(targets: &BTreeMap<&str, String>, version: &str) -> String {
    let names: Vec<&str> = targets.keys().copied().collect();
    let global = if names.is_empty() { String::new() } else { format!("global: {};", names.join("; ")) };
    format!("{version} {{ {global} local: *; }};\n")
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The needs of a library that imports these symbols.
    fn needed(imported: &[&str]) -> Needed {
        let text = r#"
            [[library]]
            soname = "libc.so"
            version = "LIBC"
            symbols = ["abort", "open"]
            [[library]]
            soname = "liblog.so"
            version = "LIBLOG"
            symbols = ["__android_log_write"]
            [[optional]]
            symbol = "getrandom"
            since = 28
            without = "reads /dev/urandom"
        "#;
        let imports = SymbolList::parse(text).unwrap().of(Abi::X86_64);
        Needed::by(&names(imported), &imports)
    }

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_import_goes_to_its_library_and_to_glibc_or_a_translation() {
        let needed = needed(&["abort", "open", "__android_log_write", "getrandom"]);
        let code = "int shim_open(void) {}\nint shim___android_log_write(int x) {}";
        let found = needed.jumps(code, &names(&["abort", "getrandom"])).unwrap();
        let libc = BTreeMap::from([
            ("abort", "abort".into()),
            ("getrandom", "getrandom".into()),
            ("open", "shim_open".into()),
        ]);
        assert_eq!(found["libc.so"], libc);
        assert_eq!(found["liblog.so"]["__android_log_write"], "shim___android_log_write");
        let version = &needed.libraries["liblog.so"];
        assert_eq!(
            version_script(&found["liblog.so"], version),
            "LIBLOG { global: __android_log_write; local: *; };\n"
        );
    }

    #[test]
    fn an_import_that_was_not_compared_with_glibc_is_named() {
        let error = needed(&["abort", "open"]).jumps("", &names(&["abort"])).unwrap_err();
        assert!(error.to_string().ends_with("open"), "{error}");
    }
}
