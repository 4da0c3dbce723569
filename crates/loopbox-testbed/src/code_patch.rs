//! Repairs of machine code in a library of exactly known content.
//!
//! Debian's build of ART 14 has two faults that keep it from starting, and a fault of AOSP's that ends it
//! occasionally. ART 11 has a fault of AOSP's that shows when its compiler is on. The repairs are data in
//! `tests/testbed/code-patches`: each replaces given bytes at virtual addresses of one file whose SHA-256 is
//! given. Any other file is refused.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use loopbox_setup::files::sha256_file;

/// A file below `tests/testbed/code-patches`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodePatches {
    /// Name of the library.
    pub(crate) file: String,
    /// SHA-256 that the library must have before the patches.
    sha256: String,
    patch: Vec<CodePatch>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CodePatch {
    /// What is wrong and what the new code does.
    why: String,
    #[serde(rename = "write")]
    writes: Vec<Write>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Write {
    /// Virtual address.
    address: u64,
    /// The bytes that are expected at the address, as hexadecimal digits. The new bytes replace them.
    old: String,
    /// The new bytes.
    new: String,
}

impl CodePatches {
    /// Reads `library`, applies all patches and writes the result to `out`.
    pub(crate) fn apply(&self, library: &Path, out: &Path) -> Result<()> {
        let found = sha256_file(library)?;
        ensure!(
            found == self.sha256,
            "{} has SHA-256 {found}; the repairs are known for {} only",
            library.display(),
            self.sha256
        );
        let mut bytes = fs::read(library).with_context(|| format!("cannot read {}", library.display()))?;
        for patch in &self.patch {
            ensure!(!patch.why.trim().is_empty(), "a code patch does not say why");
            for write in &patch.writes {
                write.apply(&mut bytes)?;
            }
        }
        fs::write(out, bytes).with_context(|| format!("cannot write {}", out.display()))
    }
}

impl Write {
    fn apply(&self, elf: &mut [u8]) -> Result<()> {
        let (old, new) = (from_hex(&self.old)?, from_hex(&self.new)?);
        ensure!(old.len() == new.len(), "{:#x}: the new code has another length", self.address);
        let start = file_offset(elf, self.address)?;
        let place = elf.get_mut(start..start + old.len()).context("a patch ends outside of the file")?;
        ensure!(place == old, "{:#x}: other code is there than expected", self.address);
        place.copy_from_slice(&new);
        Ok(())
    }
}

/// The file offset of a virtual address in a 64-bit little-endian ELF file, by its loadable segments.
fn file_offset(elf: &[u8], address: u64) -> Result<usize> {
    let word = |at: usize| -> Result<u64> {
        let bytes =
            elf.get(at..).and_then(|rest| rest.first_chunk::<8>()).context("the ELF file is too short")?;
        Ok(u64::from_le_bytes(*bytes))
    };
    ensure!(elf.starts_with(b"\x7fELF\x02\x01"), "not a 64-bit ELF file");
    let headers = word(0x20)? as usize;
    let count = (word(0x38)? & 0xffff) as usize;
    for header in (0..count).map(|i| headers + 56 * i) {
        let is_load = word(header)? & 0xffff_ffff == 1;
        let (offset, start, size) = (word(header + 8)?, word(header + 16)?, word(header + 32)?);
        if is_load && address.checked_sub(start).is_some_and(|into| into < size) {
            return Ok((address - start + offset) as usize);
        }
    }
    bail!("{address:#x} is in no segment")
}

fn from_hex(text: &str) -> Result<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    ensure!(digits.len().is_multiple_of(2), "odd number of hexadecimal digits in {text:?}");
    digits
        .chunks(2)
        .map(|pair| {
            u8::from_str_radix(&pair.iter().collect::<String>(), 16).with_context(|| format!("{text:?}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one segment: addresses from 0x1000 on are file offsets from 0x78 on.
    fn elf() -> Vec<u8> {
        let mut elf = vec![0; 0x80];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[0x20] = 0x40; // program headers
        elf[0x38] = 1;
        elf[0x40] = 1; // loadable
        elf[0x48] = 0x78; // file offset
        elf[0x51] = 0x10; // address 0x1000
        elf[0x60] = 8; // size
        elf[0x78..].copy_from_slice(b"abcdefgh");
        elf
    }

    fn patches(sha256: &str, address: u64, old: &str, new: &str) -> CodePatches {
        toml::from_str(&format!(
            "file='l'\nsha256='{sha256}'\n[[patch]]\nwhy='w'\n[[patch.write]]\naddress={address}\nold='{old}'\nnew='{new}'\n"
        ))
        .unwrap()
    }

    #[test]
    fn the_repairs_of_the_repository_keep_the_length_of_the_code() {
        for (file, count) in [("art14", 3), ("art11-jit", 1)] {
            let file = crate::paths::specs().join(format!("code-patches/{file}.toml"));
            let patches: CodePatches = loopbox_setup::package::read_toml(&file).unwrap();
            assert_eq!(patches.patch.len(), count);
            for write in patches.patch.iter().flat_map(|p| &p.writes) {
                let (old, new) = (from_hex(&write.old).unwrap(), from_hex(&write.new).unwrap());
                assert_eq!(old.len(), new.len(), "{:#x}", write.address);
            }
        }
    }

    #[test]
    fn replaces_known_code_of_a_known_file_only() {
        let folder = tempfile::tempdir().unwrap();
        let (library, out) = (folder.path().join("l"), folder.path().join("out"));
        fs::write(&library, elf()).unwrap();
        let hash = sha256_file(&library).unwrap();
        patches(&hash, 0x1002, "63 64", "58 59").apply(&library, &out).unwrap();
        assert_eq!(&fs::read(&out).unwrap()[0x78..], b"abXYefgh");

        let refused = |p: CodePatches| p.apply(&library, &out).unwrap_err().to_string();
        assert!(refused(patches("00", 0x1002, "63", "58")).contains("SHA-256"));
        assert!(refused(patches(&hash, 0x1002, "64", "58")).contains("other code"));
        assert!(refused(patches(&hash, 0x1002, "6364", "58")).contains("length"));
        assert!(refused(patches(&hash, 0x2000, "63", "58")).contains("no segment"));
    }
}
