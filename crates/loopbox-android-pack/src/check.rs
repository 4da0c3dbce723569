//! The requirements that a library must meet before it ships, checked on the finished file.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Context, Result, bail};
use goblin::elf::dynamic::{
    DF_1_NODELETE, DF_1_NOW, DF_BIND_NOW, DF_TEXTREL, DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1, DT_HASH, DT_RPATH,
    DT_RUNPATH, DT_TEXTREL,
};
use goblin::elf::header::ET_DYN;
use goblin::elf::note::NT_GNU_BUILD_ID;
use goblin::elf::program_header::{PF_W, PF_X, PT_GNU_RELRO, PT_GNU_STACK, PT_LOAD, PT_TLS};
use goblin::elf::sym::STB_WEAK;
use goblin::elf::{Elf, Sym};

use crate::abi::Abi;
use crate::build_machine;
use crate::symbols::Imports;
use crate::unwinding;

/// Page size that Google Play requires since Android 15; it also works on devices with 4 KiB pages.
const PAGE: u64 = 0x4000;

/// The dynamic tag of relative relocations in a compact form, which the loaders before API 28 do not know.
const DT_RELR: u64 = 36;
const DT_ANDROID_REL: u64 = 0x6000_000f;
const DT_ANDROID_RELA: u64 = 0x6000_0011;
const DT_ANDROID_RELR: u64 = 0x6fff_e000;

/// The values that a library is compared with.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) abi: Abi,
    pub(crate) soname: &'a str,
    pub(crate) imports: &'a Imports,
    pub(crate) exports: &'a BTreeSet<String>,
    /// Functions that every unwinder must pass through, by name and address.
    pub(crate) unwound: &'a [(String, u64)],
    /// Pieces of text that must not occur in it: paths of the build machine.
    pub(crate) forbidden: &'a [String],
}

/// One requirement, and whether the library satisfies it.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    /// What was found, or what is wrong.
    pub(crate) outcome: Result<String, String>,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, text) = match &self.outcome {
            Ok(text) => ("ok  ", text),
            Err(text) => ("FAIL", text),
        };
        write!(f, "{word} {:<18} {text}", self.name)
    }
}

/// Runs all checks on the bytes of a library. An error means that it is not an ELF file.
pub(crate) fn check(bytes: &[u8], rules: &Rules<'_>) -> Result<Vec<Check>> {
    let elf = Elf::parse(bytes).context("not an ELF file")?;
    let one = |name, outcome| Check { name, outcome };
    Ok(vec![
        one("machine", machine(&elf, rules.abi)),
        one("soname", soname(&elf, rules.soname)),
        one("needed libraries", needed(&elf, rules.imports)),
        one("symbol versions", versions(&elf, rules.imports)),
        one("imports", imports(&elf, rules.imports)),
        one("exports", exports(&elf, rules.exports)),
        one("16 KiB pages", pages(&elf)),
        one("relocations", relocations(&elf)),
        one("search paths", search_paths(&elf)),
        one("unloading", unloading(&elf)),
        one("segments", segments(&elf)),
        one("symbol hash", symbol_hash(&elf)),
        one("thread locals", thread_locals(&elf)),
        one("unwinding", unwinding::check(bytes, &elf, rules.unwound)),
        one("build id", build_id(bytes, &elf)),
        one("no traces", no_traces(bytes, rules.forbidden)),
    ])
}

/// Fails when a check failed, with the texts of the failed checks.
pub(crate) fn verdict(checks: &[Check]) -> Result<()> {
    let failed: Vec<String> = checks.iter().filter(|c| c.outcome.is_err()).map(ToString::to_string).collect();
    if !failed.is_empty() {
        bail!("the library must not ship:\n{}", failed.join("\n"));
    }
    Ok(())
}

/// The build id in hexadecimal, as Android's tombstones print it.
pub(crate) fn build_id(bytes: &[u8], elf: &Elf<'_>) -> Result<String, String> {
    let notes = elf.iter_note_headers(bytes).into_iter().flatten().flatten();
    let mut ids = notes.filter(|note| note.name == "GNU" && note.n_type == NT_GNU_BUILD_ID);
    match ids.next() {
        Some(note) if note.desc.len() == 20 => {
            Ok(note.desc.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
        }
        Some(note) => Err(format!("{} bytes long, SHA-1 has 20", note.desc.len())),
        None => Err("none: tombstones could not be matched with symbols".into()),
    }
}

/// The dynamic symbols that the library imports, and whether each reference is weak.
pub(crate) fn imported<'a>(elf: &Elf<'a>) -> Vec<(&'a str, bool)> {
    let undefined = |symbol: &Sym| symbol.is_import() && symbol.st_name != 0;
    let symbols = elf.dynsyms.iter().filter(undefined);
    symbols.filter_map(|s| Some((elf.dynstrtab.get_at(s.st_name)?, s.st_bind() == STB_WEAK))).collect()
}

fn machine(elf: &Elf<'_>, abi: Abi) -> Result<String, String> {
    let header = &elf.header;
    if header.e_type != ET_DYN {
        return Err(format!("not a shared object but type {}", header.e_type));
    }
    if header.e_machine != abi.elf_machine() || elf.is_64 != abi.is_64_bit() {
        return Err(format!(
            "machine {} with {} bits is not {abi}",
            header.e_machine,
            if elf.is_64 { 64 } else { 32 }
        ));
    }
    Ok(abi.name().into())
}

fn soname(elf: &Elf<'_>, wanted: &str) -> Result<String, String> {
    match elf.soname {
        Some(name) if name == wanted => Ok(name.into()),
        // Without it the loaders up to API 22 see every path as another library.
        Some(name) => Err(format!("{name}, not {wanted}")),
        None => Err("none".into()),
    }
}

fn needed(elf: &Elf<'_>, imports: &Imports) -> Result<String, String> {
    let other: Vec<&str> =
        elf.libraries.iter().copied().filter(|name| !imports.allows_library(name)).collect();
    if other.is_empty() { Ok(elf.libraries.join(", ")) } else { Err(other.join(", ")) }
}

fn versions(elf: &Elf<'_>, imports: &Imports) -> Result<String, String> {
    let mut good = BTreeSet::new();
    let mut bad = Vec::new();
    for need in elf.verneed.iter().flat_map(goblin::elf::symver::VerneedSection::iter) {
        let file = elf.dynstrtab.get_at(need.vn_file).unwrap_or("?");
        for version in &need {
            let name = elf.dynstrtab.get_at(version.vna_name).unwrap_or("?");
            if imports.allows_version(file, name) {
                good.insert(format!("{file}: {name}"));
            } else {
                bad.push(format!("{file}: {name}"));
            }
        }
    }
    if bad.is_empty() { Ok(good.into_iter().collect::<Vec<_>>().join(", ")) } else { Err(bad.join(", ")) }
}

fn imports(elf: &Elf<'_>, allowed: &Imports) -> Result<String, String> {
    let found = imported(elf);
    let unlisted: Vec<String> = found
        .iter()
        .filter(|(name, weak)| !allowed.allows(name, *weak))
        .map(|(name, weak)| if *weak { format!("{name} (weak)") } else { (*name).to_owned() })
        .collect();
    if unlisted.is_empty() {
        Ok(format!("{}, all listed", found.len()))
    } else {
        Err(format!(
            "not in the list of what Android {} has: {}",
            crate::symbols::MIN_API,
            unlisted.join(", ")
        ))
    }
}

fn exports(elf: &Elf<'_>, wanted: &BTreeSet<String>) -> Result<String, String> {
    let defined = elf.dynsyms.iter().filter(|symbol| !symbol.is_import() && symbol.st_name != 0);
    let found: BTreeSet<&str> = defined.filter_map(|symbol| elf.dynstrtab.get_at(symbol.st_name)).collect();
    let wanted: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    let list = |names: Vec<&&str>| names.into_iter().copied().collect::<Vec<_>>().join(", ");
    let extra = list(found.difference(&wanted).collect());
    let missing = list(wanted.difference(&found).collect());
    match (extra.is_empty(), missing.is_empty()) {
        (true, true) => Ok(list(found.iter().collect())),
        (false, true) => Err(format!("not in the list: {extra}")),
        (true, false) => Err(format!("missing: {missing}")),
        (false, false) => Err(format!("not in the list: {extra}; missing: {missing}")),
    }
}

fn pages(elf: &Elf<'_>) -> Result<String, String> {
    let loads: Vec<_> = elf.program_headers.iter().filter(|h| h.p_type == PT_LOAD).collect();
    for load in &loads {
        if load.p_align != PAGE {
            return Err(format!("the segment at {:#x} is aligned to {:#x}", load.p_vaddr, load.p_align));
        }
        if load.p_vaddr % PAGE != load.p_offset % PAGE {
            return Err(format!(
                "the segment at {:#x} lies at {:#x} in the file",
                load.p_vaddr, load.p_offset
            ));
        }
    }
    for relro in elf.program_headers.iter().filter(|h| h.p_type == PT_GNU_RELRO) {
        let end = relro.p_vaddr.wrapping_add(relro.p_memsz);
        if !end.is_multiple_of(PAGE) {
            return Err(format!("read-only data after relocation ends at {end:#x}, inside a page"));
        }
    }
    if loads.is_empty() { Err("no segment".into()) } else { Ok(format!("{} segments", loads.len())) }
}

fn dynamic(elf: &Elf<'_>, tag: u64) -> Option<u64> {
    elf.dynamic.as_ref()?.dyns.iter().find(|entry| entry.d_tag == tag).map(|entry| entry.d_val)
}

fn relocations(elf: &Elf<'_>) -> Result<String, String> {
    let flags = dynamic(elf, DT_FLAGS).unwrap_or(0);
    if dynamic(elf, DT_TEXTREL).is_some() || flags & DF_TEXTREL != 0 {
        return Err("in the code (refused since API 23)".into());
    }
    let newer = [DT_RELR, DT_ANDROID_REL, DT_ANDROID_RELA, DT_ANDROID_RELR];
    if let Some(tag) = newer.into_iter().find(|tag| dynamic(elf, *tag).is_some()) {
        return Err(format!("packed (dynamic tag {tag:#x}), which the oldest loaders do not know"));
    }
    let now = dynamic(elf, DT_BIND_NOW).is_some()
        || flags & DF_BIND_NOW != 0
        || dynamic(elf, DT_FLAGS_1).unwrap_or(0) & DF_1_NOW != 0;
    if !now {
        return Err("bound lazily: a missing symbol would show at its first call".into());
    }
    Ok(format!("{} in data, {} of functions", elf.dynrelas.len() + elf.dynrels.len(), elf.pltrelocs.len()))
}

fn search_paths(elf: &Elf<'_>) -> Result<String, String> {
    let tags = [(DT_RPATH, "RPATH"), (DT_RUNPATH, "RUNPATH")];
    match tags.into_iter().find(|(tag, _)| dynamic(elf, *tag).is_some()) {
        Some((_, name)) => Err(name.into()),
        None => Ok("none".into()),
    }
}

fn unloading(elf: &Elf<'_>) -> Result<String, String> {
    if dynamic(elf, DT_FLAGS_1).unwrap_or(0) & DF_1_NODELETE == 0 {
        return Err("possible: handlers that stay would be gone".into());
    }
    Ok("never".into())
}

fn segments(elf: &Elf<'_>) -> Result<String, String> {
    let headers = &elf.program_headers;
    if headers.iter().any(|h| h.p_type == PT_LOAD && h.p_flags & (PF_W | PF_X) == PF_W | PF_X) {
        return Err("one is both writable and executable".into());
    }
    // Android's unwinders, up to 9 for one reason and 10 for another.
    if headers.iter().any(|h| h.p_type == PT_LOAD && h.p_flags & PF_X != 0 && h.p_offset != 0) {
        return Err("the code is not in the first: traces of Android 10 and older would end at it".into());
    }
    match headers.iter().find(|h| h.p_type == PT_GNU_STACK) {
        Some(stack) if stack.p_flags & PF_X == 0 => {}
        Some(_) => return Err("asks for an executable stack".into()),
        None => return Err("no GNU_STACK: the loader would make the stack executable".into()),
    }
    if headers.iter().any(|h| h.p_type == PT_GNU_RELRO) {
        Ok("code first and not writable, plain stack, read-only after relocation".into())
    } else {
        Err("no GNU_RELRO".into())
    }
}

fn symbol_hash(elf: &Elf<'_>) -> Result<String, String> {
    // The loaders of API 21 and 22 know only the old table.
    if dynamic(elf, DT_HASH).is_some() { Ok("DT_HASH".into()) } else { Err("no DT_HASH".into()) }
}

fn thread_locals(elf: &Elf<'_>) -> Result<String, String> {
    if elf.program_headers.iter().any(|h| h.p_type == PT_TLS) {
        return Err("a TLS segment: bionic has none before API 29".into());
    }
    Ok("none of the ELF kind".into())
}

fn no_traces(bytes: &[u8], forbidden: &[String]) -> Result<String, String> {
    match build_machine::find(bytes, forbidden) {
        Some(text) => Err(format!("names a path of the machine that built it: {text}")),
        None => Ok(format!("of {} folders of this machine", forbidden.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::symbols::SymbolList;

    const LIST: &str = "
        [[library]]
        soname = 'libc.so'
        version = 'LIBC'
        symbols = ['abort']
        [[optional]]
        symbol = 'getrandom'
        since = 28
        without = 'nothing is random'
    ";

    /// The failed checks of a library built for the test machine.
    fn failures(bytes: &[u8]) -> Vec<String> {
        failures_with(bytes, &["/home/builder/project"])
    }

    fn failures_with(bytes: &[u8], forbidden: &[&str]) -> Vec<String> {
        let abi = if cfg!(target_arch = "x86_64") { Abi::X86_64 } else { Abi::Arm64 };
        let imports = SymbolList::parse(LIST).unwrap().of(abi);
        let exports = BTreeSet::from(["JNI_OnLoad".to_owned()]);
        let forbidden: Vec<String> = forbidden.iter().map(|text| (*text).to_owned()).collect();
        let rules = Rules {
            abi,
            soname: "libsample.so",
            imports: &imports,
            exports: &exports,
            unwound: &[],
            forbidden: &forbidden,
        };
        let checks = check(bytes, &rules).unwrap();
        checks.iter().filter(|check| check.outcome.is_err()).map(ToString::to_string).collect()
    }

    #[track_caller]
    fn only(failures: &[String], words: &[&str]) {
        assert_eq!(failures.len(), 1, "{failures:?}");
        for word in words {
            assert!(failures[0].contains(word), "{word}: {failures:?}");
        }
    }

    #[test]
    fn a_good_library_passes() {
        assert_eq!(failures(&sample::library(&[])), [""; 0]);
    }

    #[test]
    fn each_broken_promise_is_found() {
        let broken = |flag: &str| failures(&sample::library(&[flag]));
        only(&broken("-Wl,-soname,other.so"), &["soname", "other.so"]);
        only(&broken("-Wl,--build-id=none"), &["build id", "none"]);
        only(&broken("-Wl,--build-id=0x1234"), &["build id", "2 bytes"]);
        only(&broken("-Wl,--hash-style=gnu"), &["symbol hash", "DT_HASH"]);
        only(&broken("-Wl,-rpath,/opt/lib"), &["search paths", "RUNPATH"]);
        only(&broken("-Wl,-rpath,/opt/lib,--disable-new-dtags"), &["search paths", "RPATH"]);
        only(&broken("-Wl,-z,execstack"), &["segments", "stack"]);
        only(&broken("-Wl,-z,separate-code"), &["segments", "not in the first"]);
        only(&failures(&sample::library_without("-Wl,-z,nodelete")), &["unloading", "possible"]);
        only(&broken("-Wl,-z,lazy"), &["relocations", "lazily"]);
        let open = sample::library_with("int more(void) { return 1; }", &["-fvisibility=default"]);
        only(&failures(&open), &["exports", "not in the list: more"]);
        let small = broken("-Wl,-z,max-page-size=0x1000,-z,common-page-size=0x1000");
        only(&small, &["16 KiB", "0x1000"]);
    }

    #[test]
    fn what_android_has_not_is_named() {
        let with = |more: &str| failures(&sample::library_with(more, &["-fvisibility=hidden"]));
        let newer = with("extern void *memfd_create(void); void *use(void) { return memfd_create(); }");
        only(&newer, &["imports", "memfd_create", "Android 21"]);
        let weak = with(
            "extern int other(void) __attribute__((weak)); int (*volatile use)(void); \
             __attribute__((constructor)) void set(void) { use = other; }",
        );
        only(&weak, &["imports", "other (weak)"]);
        let thread_local = with(
            "__thread int t __attribute__((tls_model(\"initial-exec\"))); \
             __attribute__((constructor)) void set(void) { t = 1; }",
        );
        only(&thread_local, &["thread locals", "API 29"]);
    }

    #[test]
    fn other_libraries_and_their_versions_are_found() {
        let failures = failures(&sample::library(&["-Wl,--no-as-needed", "-l:libm.so.6"]));
        only(&failures, &["needed libraries", "libm.so.6"]);
        let versioned = sample::library_with(
            "extern int puts(const char *); __attribute__((constructor)) void say(void) { puts(\"\"); }",
            &["-l:libc.so.6"],
        );
        let failures = self::failures(&versioned).join("\n");
        for words in ["FAIL needed libraries", "FAIL symbol versions", "GLIBC_2.", "FAIL imports", "puts"] {
            assert!(failures.contains(words), "{words}: {failures}");
        }
    }

    #[test]
    fn a_path_of_the_machine_is_found() {
        let library =
            sample::library_with("const char *volatile path = \"/home/builder/project/x.rs\";", &[]);
        only(&failures(&library), &["no traces", "/home/builder/project"]);
        assert_eq!(failures_with(&library, &["/home/somebody"]), [""; 0]);
    }

    #[test]
    fn a_program_or_rubbish_is_refused() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(!failures(&program).is_empty());
        let imports = SymbolList::parse(LIST).unwrap().of(Abi::Arm64);
        let rules = Rules {
            abi: Abi::Arm64,
            soname: "libsample.so",
            imports: &imports,
            exports: &BTreeSet::new(),
            unwound: &[],
            forbidden: &[],
        };
        assert!(check(b"#!/bin/sh", &rules).is_err());
        let checks = check(&sample::library(&[]), &rules).unwrap();
        let message = verdict(&checks).unwrap_err().to_string();
        assert!(message.contains("machine") && message.contains("exports"), "{message}");
    }
}
