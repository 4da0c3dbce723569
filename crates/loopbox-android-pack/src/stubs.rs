//! Link stubs: shared objects that only have the listed symbols of Android's libraries, without code.
//!
//! An NDK contains such stubs, too. With them `-z defs` reports, at link time and by name, every import that
//! the lowest supported API level does not have.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::abi::Abi;
use crate::symbols::Imports;
use loopbox_setup::command::{command, run};

/// Makes the stubs of all libraries in `out`, with the linker `lld`.
pub(crate) fn make(
    imports: &Imports,
    abi: Abi,
    lld: &Path,
    environment: &[(String, OsString)],
    out: &Path,
) -> Result<()> {
    for (soname, versions) in imports.libraries() {
        let file = |extension: &str| out.join(format!("{soname}.{extension}"));
        write(&file("ld"), &definitions(versions))?;
        write(&file("map"), &version_script(versions))?;
        let mut link =
            command(lld, ["-m", abi.emulation(), "-shared", "-soname", soname, "--hash-style=both"]);
        link.arg("--version-script").arg(file("map")).arg("-o").arg(out.join(soname)).arg(file("ld"));
        run(link.envs(environment.iter().cloned()))
            .with_context(|| format!("cannot make the stub of {soname} for {abi}"))?;
    }
    // std names libunwind; nothing of it is used when a panic aborts and no backtrace is taken.
    write(&out.join("libunwind.a"), "!<arch>\n")
}

/// A linker script that defines every symbol at the same address: only names matter.
fn definitions(versions: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut text = String::from("stub_address = 0x10000;\n");
    for symbol in versions.values().flatten() {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{symbol} = stub_address;");
    }
    text
}

fn version_script(versions: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut text = String::new();
    for (version, symbols) in versions.iter().filter(|(_, symbols)| !symbols.is_empty()) {
        let names: Vec<&str> = symbols.iter().map(String::as_str).collect();
        let _ = writeln!(text, "{version} {{ global: {}; local: *; }};", names.join("; "));
    }
    if text.is_empty() {
        text.push_str("{ local: *; };\n");
    }
    text
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::tests::list;

    #[test]
    fn scripts_name_every_symbol_with_its_version() {
        let imports = list().of(Abi::Arm);
        let libc = imports.libraries().find(|(soname, _)| *soname == "libc.so").unwrap().1;
        assert_eq!(
            definitions(libc),
            "stub_address = 0x10000;\nabort = stub_address;\nmmap64 = stub_address;\nopen = stub_address;\n"
        );
        assert_eq!(version_script(libc), "LIBC { global: abort; mmap64; open; local: *; };\n");
        let nothing = BTreeMap::from([("LIBC".to_owned(), BTreeSet::new())]);
        assert_eq!(version_script(&nothing), "{ local: *; };\n", "a library of which nothing is used");
    }
}
