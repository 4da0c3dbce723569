//! The library's size, what its bytes are used for, and the limit that keeps it from growing unnoticed.
//!
//! `jni-glue/android/size.toml` records the sizes of the last accepted build. A later build may be smaller,
//! or larger by a small allowance. A build that grew by more fails, and names the crates that grew. `--bless`
//! records the new sizes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use goblin::elf::Elf;
use goblin::elf::section_header::{SHF_ALLOC, SHT_NOBITS};
use goblin::elf::sym::{STT_FUNC, STT_OBJECT};
use serde::{Deserialize, Serialize};

use crate::abi::Abi;

/// What the arm64 library may weigh without symbols, in bytes.
pub(crate) const ARM64_BUDGET: u64 = 400_000;

/// A total may grow by this share without being recorded.
const ALLOWED_PERCENT: u64 = 2;

/// A crate may grow by this many bytes (or a tenth) without being recorded.
const ALLOWED_CRATE_BYTES: u64 = 2_048;

/// Crates that every Rust library contains; bytes are counted for the first other crate that a symbol names.
const STANDARD: [&str; 6] = ["core", "alloc", "std", "compiler_builtins", "hashbrown", "rustc_demangle"];

/// Sizes of one library, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    /// The file that ships.
    pub(crate) stripped: u64,
    /// Code and named data by crate, then the rest by section (`.rodata`, `.eh_frame`, `.rela.dyn`, ...).
    pub(crate) crates: BTreeMap<String, u64>,
}

/// The recorded sizes.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ratchet {
    /// The compiler of the recorded build. Sizes from another compiler cannot be compared byte by byte.
    toolchain: String,
    #[serde(default)]
    abi: BTreeMap<String, Sizes>,
    /// The sizes of the archives, by name. They are for the documents only: no build is compared with them.
    #[serde(default)]
    pub(crate) archives: BTreeMap<String, u64>,
}

impl Sizes {
    /// Measures a library: its length by the stripped file, its contents by the symbols of the unstripped
    /// file.
    pub(crate) fn measure(unstripped: &[u8], stripped: &[u8]) -> Result<Self> {
        let elf = Elf::parse(unstripped).context("not an ELF file")?;
        Ok(Self { stripped: stripped.len() as u64, crates: by_crate(&elf) })
    }

    /// A table of the bytes of each crate and section, the largest first.
    pub(crate) fn table(&self) -> String {
        let mut rows: Vec<_> = self.crates.iter().collect();
        rows.sort_by_key(|(name, bytes)| (std::cmp::Reverse(**bytes), name.as_str()));
        rows.into_iter().fold(String::new(), |mut text, (name, bytes)| {
            let _ = writeln!(text, "{bytes:>9}  {name}");
            text
        })
    }
}

impl Ratchet {
    /// The recorded sizes.
    ///
    /// # Errors
    /// When there are none: a lost file must not switch the ratchet off unnoticed.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| {
            format!("cannot read {}; `cargo xtask android --bless` writes it", file.display())
        })?;
        toml::from_str(&text).with_context(|| format!("in {}", file.display()))
    }

    /// Whether the recorded sizes are from another compiler, so that they cannot be compared.
    pub(crate) fn is_of_another(&self, toolchain: &str) -> bool {
        self.toolchain != toolchain
    }

    /// Records sizes, and drops those of other compilers.
    pub(crate) fn record(&mut self, toolchain: &str, abi: Abi, sizes: Sizes) {
        if self.toolchain != toolchain {
            toolchain.clone_into(&mut self.toolchain);
            self.abi.clear();
        }
        self.abi.insert(abi.name().into(), sizes);
    }

    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let head = "# Sizes of the last accepted build, in bytes: the file that ships, then what it consists of.\n\
                    # Written by `cargo xtask android --bless`; see docs/size.md for what they mean.\n";
        let text = format!("{head}{}", toml::to_string(self)?);
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    /// What is wrong with new sizes, in words; empty when all is well.
    pub(crate) fn faults(&self, toolchain: &str, abi: Abi, sizes: &Sizes) -> Vec<String> {
        let mut faults = Vec::new();
        if abi == Abi::Arm64 && sizes.stripped > ARM64_BUDGET {
            faults.push(format!("{abi} weighs {} bytes, the budget is {ARM64_BUDGET}", sizes.stripped));
        }
        if self.is_of_another(toolchain) {
            return faults;
        }
        let Some(recorded) = self.abi.get(abi.name()) else {
            faults.push(format!("nothing is recorded for {abi}; `cargo xtask android --bless` does it"));
            return faults;
        };
        let allowed = recorded.stripped + recorded.stripped * ALLOWED_PERCENT / 100;
        if sizes.stripped <= allowed {
            return faults;
        }
        faults.push(format!(
            "{abi} grew from {} to {} bytes; make it smaller, or accept it with `cargo xtask android --bless`",
            recorded.stripped, sizes.stripped
        ));
        for (name, bytes) in &sizes.crates {
            let before = recorded.crates.get(name).copied().unwrap_or(0);
            if *bytes > before + (before / 10).max(ALLOWED_CRATE_BYTES) {
                faults.push(format!("  {name}: {before} -> {bytes}"));
            }
        }
        faults
    }
}

fn by_crate(elf: &Elf<'_>) -> BTreeMap<String, u64> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    // Several names for the same bytes (merged functions) count once.
    let mut seen = std::collections::BTreeSet::new();
    let mut left: Vec<u64> = elf.section_headers.iter().map(in_file).collect();
    for symbol in &elf.syms {
        let named = matches!(symbol.st_type(), STT_FUNC | STT_OBJECT) && symbol.st_size > 0;
        if !named || !seen.insert(symbol.st_value) {
            continue;
        }
        let Some(left) = left.get_mut(symbol.st_shndx) else { continue };
        let bytes = symbol.st_size.min(*left);
        *left -= bytes;
        if bytes > 0 {
            let name = elf.strtab.get_at(symbol.st_name).unwrap_or_default();
            *sizes.entry(crate_of(name)).or_default() += bytes;
        }
    }
    for (section, left) in elf.section_headers.iter().zip(left) {
        if left > 0 {
            let name = elf.shdr_strtab.get_at(section.sh_name).unwrap_or("?");
            *sizes.entry(name.into()).or_default() += left;
        }
    }
    sizes
}

/// Bytes of a loaded section in the file.
fn in_file(section: &goblin::elf::SectionHeader) -> u64 {
    let loaded = section.sh_flags & u64::from(SHF_ALLOC) != 0 && section.sh_type != SHT_NOBITS;
    if loaded { section.sh_size } else { 0 }
}

/// The crate that a symbol exists for: the first crate in its name that is not part of the standard library,
/// so that `drop_in_place::<Report>` counts for the crate of `Report`.
fn crate_of(symbol: &str) -> String {
    let Ok(demangled) = rustc_demangle::try_demangle(symbol) else {
        return "(no Rust name)".into();
    };
    let text = format!("{demangled:#}");
    let heads: Vec<&str> = path_heads(&text).collect();
    let head = heads.iter().find(|head| !STANDARD.contains(head)).or(heads.first());
    head.map_or_else(|| "(no crate)".into(), |name| (*name).to_owned())
}

/// The first parts of all paths in a demangled name: `<a::B as c::D>::e` has `a` and `c`.
fn path_heads(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices("::").filter_map(move |(at, _)| {
        let before = text.get(..at)?;
        let start = before.rfind(|c| !is_word(c)).map_or(0, |i| i + 1);
        let continues = before.get(..start)?.ends_with("::");
        let head = before.get(start..)?;
        (!continues && head.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')).then_some(head)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn sizes(stripped: u64, crates: &[(&str, u64)]) -> Sizes {
        Sizes { stripped, crates: crates.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect() }
    }

    #[test]
    fn symbols_count_for_the_crate_they_are_there_for() {
        let heads = |text| path_heads(text).collect::<Vec<_>>();
        assert_eq!(heads("<a::b::C as d::E<f::G>>::h"), ["a", "d", "f"]);
        assert_eq!(heads("core::ptr::drop_in_place::<loopbox_format::Report>"), ["core", "loopbox_format"]);
        assert_eq!(crate_of("_ZN4core3ptr13drop_in_place17h0123456789abcdefE"), "core");
        let debug = "_$LT$loopbox_art..Walk$u20$as$u20$core..fmt..Debug$GT$";
        let symbol = format!("_ZN{}{debug}3fmt17h0123456789abcdefE", debug.len());
        assert_eq!(crate_of(&symbol), "loopbox_art");
        assert_eq!(crate_of("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate");
        assert_eq!(crate_of("memcpy"), "(no Rust name)");
    }

    #[test]
    fn all_loaded_bytes_are_accounted_for() {
        let library = sample::library(&[]);
        let elf = Elf::parse(&library).unwrap();
        let expected: u64 = elf.section_headers.iter().map(in_file).sum();
        let found = Sizes::measure(&library, &library).unwrap();
        assert_eq!(found.crates.values().sum::<u64>(), expected);
        assert!(found.crates.contains_key(".eh_frame") && found.crates.contains_key("(no Rust name)"));
        assert!(found.table().lines().count() == found.crates.len());
    }

    #[test]
    fn growth_beyond_the_allowance_fails_and_names_the_crate() {
        let mut ratchet = Ratchet::default();
        let recorded = sizes(100_000, &[("jni", 30_000), ("std", 60_000)]);
        ratchet.record("rustc 1", Abi::Arm64, recorded);
        let faults =
            |total, jni| ratchet.faults("rustc 1", Abi::Arm64, &sizes(total, &[("jni", jni), ("new", 1)]));
        assert!(faults(102_000, 32_000).is_empty());
        let grown = faults(110_000, 40_000).join("\n");
        assert!(grown.contains("100000 to 110000") && grown.contains("jni: 30000 -> 40000"), "{grown}");
        assert!(!grown.contains("new"), "{grown}");
        assert!(ratchet.faults("rustc 2", Abi::Arm64, &sizes(110_000, &[])).is_empty(), "another compiler");
        let unknown = ratchet.faults("rustc 1", Abi::X86, &sizes(110_000, &[])).join("\n");
        assert!(unknown.contains("--bless"), "{unknown}");
    }

    #[test]
    fn the_budget_holds_whatever_is_recorded() {
        let mut ratchet = Ratchet::default();
        let heavy = sizes(ARM64_BUDGET + 1, &[]);
        ratchet.record("rustc 1", Abi::Arm64, heavy.clone());
        assert_eq!(ratchet.faults("rustc 1", Abi::Arm64, &heavy).len(), 1);
        assert_eq!(ratchet.faults("rustc 2", Abi::Arm64, &heavy).len(), 1);
    }

    #[test]
    fn what_is_recorded_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("size.toml");
        let missing = format!("{:#}", Ratchet::read(&file).unwrap_err());
        assert!(missing.contains("--bless"), "{missing}");
        let mut ratchet = Ratchet::default();
        ratchet.record("rustc 1", Abi::Arm, sizes(5, &[("(no crate)", 1), (".text", 4)]));
        ratchet.write(&file).unwrap();
        assert_eq!(Ratchet::read(&file).unwrap(), ratchet);
        ratchet.record("rustc 2", Abi::X86, sizes(6, &[]));
        assert_eq!(ratchet.abi.len(), 1, "sizes of another compiler are forgotten");
    }
}
