//! Compares the list of Android's symbols with the libraries of real devices.
//!
//! The list says which library has a symbol at [`MIN_API`](crate::symbols::MIN_API) and with which version.
//! Each import of ours is in it, or the build fails. A device's own export tables show whether the list is
//! right for that device.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use goblin::elf::Elf;

use crate::abi::Abi;
use crate::device::Device;
use crate::symbols::SymbolList;

/// The largest number of symbols that a field of the table lists by name. A longer list is replaced by its
/// length.
const NAMED: usize = 4;

/// What a device provides for one ABI.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of its folder.
    pub folder: String,
    /// Its API level, where it has a `build.prop`.
    pub level: Option<u32>,
    /// The ABI.
    pub abi: Abi,
    /// How many of the list's symbols it has.
    pub there: usize,
    /// The symbols that it has without the requested version, which is allowed at its level.
    pub without_version: Vec<String>,
    /// The optional symbols, newer than the oldest supported Android, that are missing on the device.
    pub absent: Vec<String>,
    /// The statements of the list that are wrong for the device.
    pub faults: Vec<String>,
}

/// Compares the list with every device below `folder`, which may itself be a device. When `abis` is empty,
/// all ABIs of a device are compared.
///
/// # Errors
/// When there is no device, or a library of one is no ELF file.
pub fn compare(list: &SymbolList, folder: &Path, abis: &[Abi]) -> Result<Vec<Row>> {
    let wanted = |abi: &Abi| abis.is_empty() || abis.contains(abi);
    let mut rows = Vec::new();
    for device in Device::below(folder)? {
        for abi in device.abis()?.into_iter().filter(wanted) {
            rows.push(row(list, &device, abi)?);
        }
    }
    ensure!(!rows.is_empty(), "{} has no libc.so below system/lib or system/lib64", folder.display());
    Ok(rows)
}

/// The rows as a Markdown table, and the faults below it.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| folder | API level | ABI | there | without its version | newer, not there | wrong |\n|---|---|---|---|---|---|---|\n",
    );
    let words = |all: &[String]| match all.len() {
        0 => "none".to_owned(),
        1..=NAMED => all.join(", "),
        many => format!("{many} symbols"),
    };
    for row in rows {
        let level = row.level.map_or_else(|| "?".into(), |level| level.to_string());
        let (folder, abi, there, wrong) = (&row.folder, row.abi, row.there, row.faults.len());
        let (without, absent) = (words(&row.without_version), words(&row.absent));
        let _ = writeln!(text, "| {folder} | {level} | {abi} | {there} | {without} | {absent} | {wrong} |");
    }
    for row in rows {
        for fault in &row.faults {
            let _ = writeln!(text, "{} {}: {fault}", row.folder, row.abi);
        }
    }
    text
}

/// A library's exports: the versions of each symbol (none for an unversioned one), and the version nodes that
/// it defines.
#[derive(Debug, Default)]
struct Exports {
    symbols: BTreeMap<String, BTreeSet<String>>,
    nodes: BTreeSet<String>,
}

/// What a device has for an ABI.
fn row(list: &SymbolList, device: &Device, abi: Abi) -> Result<Row> {
    let mut exports: BTreeMap<&str, Exports> = BTreeMap::new();
    for group in list.groups(abi) {
        let soname = group.soname.as_str();
        if let Some(file) = device.library(soname, abi).filter(|_| !exports.contains_key(soname)) {
            let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let found = Exports::read(&bytes).with_context(|| file.display().to_string())?;
            exports.insert(soname, found);
        }
    }
    let level = device.level();
    let mut row = Row {
        folder: device.name(),
        level,
        abi,
        there: 0,
        without_version: Vec::new(),
        absent: Vec::new(),
        faults: Vec::new(),
    };
    for group in list.groups(abi) {
        let due = group.version_since.is_none_or(|since| level.is_some_and(|level| level >= since));
        for symbol in &group.symbols {
            row.compare(&exports, &group.soname, symbol, &group.version, due);
        }
    }
    for optional in list.optional() {
        let there = exports.values().any(|library| library.symbols.contains_key(&optional.symbol));
        if there {
            row.there += 1;
        } else if level.is_some_and(|level| level >= optional.since) {
            row.faults.push(format!("{} is not there, though since {}", optional.symbol, optional.since));
        } else {
            row.absent.push(optional.symbol.clone());
        }
    }
    Ok(row)
}

impl Exports {
    fn read(bytes: &[u8]) -> Result<Self> {
        let elf = Elf::parse(bytes).context("not an ELF file")?;
        let mut names = BTreeMap::new();
        for node in elf.verdef.iter().flat_map(goblin::elf::symver::VerdefSection::iter) {
            // The first name is the node's own, the others are its parents'. Node 1 is the file's.
            if let Some(name) = node.iter().next().and_then(|aux| elf.dynstrtab.get_at(aux.vda_name))
                && node.vd_ndx > 1
            {
                names.insert(node.vd_ndx, name.to_owned());
            }
        }
        let mut exports = Self { nodes: names.values().cloned().collect(), ..Self::default() };
        for (at, symbol) in elf.dynsyms.iter().enumerate() {
            let Some(name) = elf.dynstrtab.get_at(symbol.st_name) else { continue };
            if symbol.is_import() || name.is_empty() {
                continue;
            }
            let version = elf.versym.as_ref().and_then(|all| all.get_at(at)).map(|version| version.version());
            let versions = exports.symbols.entry(name.to_owned()).or_default();
            versions.extend(version.and_then(|version| names.get(&version)).cloned());
        }
        Ok(exports)
    }
}

impl Row {
    /// Compares one symbol that a library must have according to the list. `due`: the symbol must also have
    /// this version, if the library has versions.
    fn compare(
        &mut self,
        exports: &BTreeMap<&str, Exports>,
        soname: &str,
        symbol: &str,
        version: &str,
        due: bool,
    ) {
        let library = exports.get(soname);
        let Some((library, versions)) = library.and_then(|all| Some((all, all.symbols.get(symbol)?))) else {
            let elsewhere = exports.iter().find(|(_, library)| library.symbols.contains_key(symbol));
            self.faults.push(match elsewhere {
                Some((other, _)) => format!("{symbol} is in {other}, not in {soname}"),
                None => format!("{symbol} is not in {soname}"),
            });
            return;
        };
        self.there += 1;
        if versions.contains(version) {
            return;
        }
        // A linker accepts any reference to a library that does not define the node.
        if library.nodes.contains(version) || due && !library.nodes.is_empty() {
            let found: Vec<&str> = versions.iter().map(String::as_str).collect();
            self.faults.push(format!("{symbol} of {soname} has not the version {version} but {found:?}"));
        } else {
            self.without_version.push(symbol.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::Command;

    const LIST: &str = r#"
        [[library]]
        soname = "libc.so"
        version = "LIBC"
        symbols = ["abort", "open"]
        [[library]]
        soname = "liblog.so"
        version = "LIBLOG"
        version_since = 29
        symbols = ["__android_log_write"]
        [[optional]]
        symbol = "getrandom"
        since = 28
        without = "reads /dev/urandom"
    "#;

    /// A temporary folder with a simulated device, whose libraries are for this machine's ABI.
    struct Sample(tempfile::TempDir);

    impl Sample {
        fn new(level: u32) -> Self {
            let sample = Self(tempfile::tempdir().unwrap());
            sample.file("system/build.prop", &format!("a=b\nro.build.version.sdk={level}\n"));
            sample
        }

        fn path(&self, file: &str) -> PathBuf {
            let path = self.0.path().join("phone").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        }

        fn file(&self, file: &str, text: &str) {
            fs::write(self.path(file), text).unwrap();
        }

        /// A library with these functions, in these version nodes: `LIBC { open; }`.
        fn library(&self, file: &str, functions: &[&str], nodes: &str) {
            let code: Vec<String> =
                functions.iter().map(|name| format!("void {name}(void) {{}}\n")).collect();
            self.file("lib.c", &code.concat());
            self.file("lib.map", nodes);
            let mut cc = Command::new("cc");
            cc.args(["-shared", "-fPIC", "-nostdlib", "-fno-builtin", "-w", "-o"]).arg(self.path(file));
            cc.arg(self.path("lib.c"));
            if !nodes.is_empty() {
                cc.arg(format!("-Wl,--version-script={}", self.path("lib.map").display()));
            }
            assert!(cc.status().unwrap().success());
        }

        fn row(&self) -> Row {
            let list = SymbolList::parse(LIST).unwrap();
            let mut rows = compare(&list, self.0.path(), &[]).unwrap();
            assert_eq!(rows.len(), 1, "{rows:?}");
            rows.remove(0)
        }
    }

    const LIBC: &str = "system/lib64/libc.so";
    const LIBLOG: &str = "system/lib64/liblog.so";

    #[test]
    fn a_device_that_has_all_has_no_fault() {
        let sample = Sample::new(30);
        sample.library(
            LIBC,
            &["abort", "open", "getrandom"],
            "LIBC { global: abort; open; }; LIBC_P { global: getrandom; };",
        );
        let real = "apex/com.android.runtime/lib64/bionic/liblog.so";
        sample.library(real, &["__android_log_write"], "LIBLOG { global: *; };");
        std::os::unix::fs::symlink(format!("/{real}"), sample.path(LIBLOG)).unwrap();
        let row = sample.row();
        assert_eq!((row.there, row.level), (4, Some(30)));
        assert_eq!((row.faults, row.absent, row.without_version), (vec![], vec![], vec![]));
        assert_eq!((row.folder.as_str(), row.abi), ("phone", Abi::X86_64));
    }

    #[test]
    fn a_version_node_that_came_later_is_no_fault_before() {
        let device = |level: u32, nodes: &str| {
            let sample = Sample::new(level);
            sample.library(LIBC, &["abort", "open"], "");
            sample.library(LIBLOG, &["__android_log_write", "other"], nodes);
            sample.row()
        };
        for nodes in ["", "LIBC { global: other; };"] {
            let row = device(25, nodes);
            assert_eq!(row.faults, [""; 0]);
            assert!(row.without_version.contains(&"__android_log_write".to_owned()), "{row:?}");
            assert_eq!(row.absent, ["getrandom"]);
        }
        let row = device(29, "LIBC { global: other; };");
        assert_eq!(row.faults.len(), 2, "{row:?}");
        assert!(
            row.faults[0].contains("__android_log_write of liblog.so has not the version LIBLOG"),
            "{row:?}"
        );
        assert_eq!(row.faults[1], "getrandom is not there, though since 28");
    }

    #[test]
    fn what_is_missing_or_elsewhere_is_named() {
        let sample = Sample::new(25);
        sample.library(LIBC, &["open", "abort"], "LIBC { global: abort; }; OTHER { global: open; };");
        sample.library(LIBLOG, &[], "");
        let row = sample.row();
        assert_eq!(
            row.faults,
            [
                "open of libc.so has not the version LIBC but [\"OTHER\"]",
                "__android_log_write is not in liblog.so"
            ]
        );
        sample.library(LIBC, &["abort", "__android_log_write"], "");
        let faults = sample.row().faults;
        assert_eq!(faults, ["open is not in libc.so", "__android_log_write is in libc.so, not in liblog.so"]);
        let text = table(&[sample.row()]);
        assert!(text.contains("| phone | 25 | x86_64 | 1 | abort | getrandom | 2 |\n"), "{text}");
        assert!(text.contains("phone x86_64: open is not in libc.so\n"), "{text}");
        assert!(compare(&SymbolList::parse(LIST).unwrap(), sample.0.path(), &[Abi::Arm]).is_err());
    }
}
