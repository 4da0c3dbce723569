//! Derives rows of the tables from Debian's sources of ART: clang computes the class layouts for each
//! architecture.

mod dump;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use loopbox_art_tables::{Code, Generation, Row, Suspend};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command::{command, for_each, run};
use loopbox_setup::fetch::Fetcher;
use loopbox_setup::package::{Package, Source};
use loopbox_setup::progress::Progress;
use loopbox_setup::tools::{CompilerTools, Tools};
use loopbox_setup::{unpack, workspace};
use loopbox_testbed::{Compiler, compiler};

use dump::Dump;

/// The version of the steps' code: it changes when the code changes what they produce.
const VERSION: u32 = 1;

/// `sources.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    defines: Vec<String>,
    #[serde(rename = "version")]
    versions: Vec<Version>,
    #[serde(rename = "package")]
    packages: Vec<Package>,
}

/// A version of ART.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Version {
    art: String,
    /// The prefix of the ids of its rows.
    rows: String,
    /// AOSP's name of the source.
    tag: String,
    /// The source package; `None` for the version whose source is already specified for the compiler of the
    /// testbed `art11`.
    source: Option<Source>,
}

/// A platform whose class layouts are computed.
#[derive(Debug, Clone, Copy)]
struct Target {
    /// The suffix of the row's id.
    row: &'static str,
    triple: &'static str,
    /// Whether the classes are compiled as for devices, with LLVM's C++ library and Android's macros.
    /// Otherwise they are compiled as Debian does it.
    device: bool,
}

const TARGETS: [Target; 6] = [
    Target { row: "arm64", triple: "aarch64-linux-gnu", device: true },
    Target { row: "arm", triple: "arm-linux-gnueabihf", device: true },
    Target { row: "x86_64", triple: "x86_64-linux-gnu", device: true },
    Target { row: "x86", triple: "i686-linux-gnu", device: true },
    Target { row: "arm64-debian", triple: "aarch64-linux-gnu", device: false },
    Target { row: "x86_64-debian", triple: "x86_64-linux-gnu", device: false },
];

/// Computes the layout of every version for every target and compares it with the rows; prints one line for
/// each.
///
/// # Errors
/// When something cannot be had or compiled, or when a row differs or is missing.
pub(super) fn check(generations: &[Generation]) -> Result<()> {
    let found = derive()?;
    let mut wrong = Vec::new();
    for layout in &found {
        let row = generations.iter().flat_map(|g| &g.rows).find(|row| row.id == layout.id);
        let Some(row) = row else {
            println!("{}: there is no such row; {} says\n{}", layout.id, layout.tag, layout.as_row());
            wrong.push(layout.id.as_str());
            continue;
        };
        let differences = layout.differences(row);
        if differences.is_empty() {
            println!(
                "{}: {} laid out by clang agrees in {} numbers",
                row.id,
                layout.tag,
                layout.numbers.len()
            );
        } else {
            println!("{}: {}", row.id, differences.join(", "));
            wrong.push(layout.id.as_str());
        }
    }
    ensure!(wrong.is_empty(), "rows that are not what clang says: {}", wrong.join(", "));
    Ok(())
}

/// One version's layout for one target.
#[derive(Debug)]
struct Layout {
    id: String,
    tag: String,
    numbers: BTreeMap<&'static str, u32>,
    suspend: Suspend,
}

fn derive() -> Result<Vec<Layout>> {
    let progress = Progress::new("layouts");
    let clang = CompilerTools::ensure()?.clang;
    Tools::ensure()?; // g++ brings the headers of libstdc++ and glibc for this machine
    let spec: Spec = toml::from_str(include_str!("sources.toml")).context("sources.toml is not valid")?;
    let Compiler { common, own } = compiler("art11")?;
    let fetcher = Fetcher::new(&progress)?;
    let cache = Cache::open(&workspace::set_up().join("layouts"))?;
    let debs = fetcher.packages(&spec.packages.iter().chain(&own.packages).collect::<Vec<_>>())?;
    let key = debs.iter().fold(Key::new("layout-headers", VERSION), |key, deb| key.with(&deb.sha256));
    let headers =
        cache.step("layout-headers", &key, |out| unpack::packages(&debs.iter().collect::<Vec<_>>(), out))?;
    let mut units = Vec::new();
    for version in &spec.versions {
        let (source, folder) = match &version.source {
            Some(source) => (source, Path::new("")),
            None => (&own.source, own.folder.as_path()),
        };
        let archive = fetcher.source(source)?;
        let key = Key::new("layout-source", VERSION).with(&archive.sha256);
        let unpacked = cache.step("layout-source", &key, |out| unpack::source(&archive, source, out))?;
        units.extend(TARGETS.map(|target| (version, unpacked.join(folder), target)));
    }
    let work = tempfile::tempdir().context("no temporary folder")?;
    let file = work.path().join("dump.cc");
    fs::write(&file, include_str!("dump.cc")).context("cannot write dump.cc")?;
    progress.say(format!("lay out {} versions for {} targets", spec.versions.len(), TARGETS.len()));
    let found = Mutex::new(Vec::new());
    for_each(&units, |(version, source, target)| {
        let id = format!("{}-{}", version.rows, target.row);
        let mut clang = compile(&clang, &headers, *target);
        clang.args(common.defines.iter().chain(&spec.defines).map(|define| format!("-D{define}")));
        for folder in &common.include {
            clang.arg("-I").arg(source.join(folder));
        }
        let android = headers.join("usr/include/android");
        clang.arg("-I").arg(&android).arg("-I").arg(android.join("nativehelper"));
        // Only this one header: the other headers of this folder are of another architecture.
        let xml = work.path().join(&id);
        unpack::place(&headers.join("usr/include/tinyxml2.h"), &xml.join("tinyxml2.h"))?;
        let text = run(clang.arg("-I").arg(xml).arg(&file))
            .with_context(|| format!("cannot lay out ART {} for {}", version.art, target.row))?;
        let layout = Layout::of(id, &version.tag, &Dump::parse(&text))?;
        found.lock().unwrap_or_else(PoisonError::into_inner).push(layout);
        Ok(())
    })?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

fn compile(clang: &Path, headers: &Path, target: Target) -> Command {
    // libc++ brings some functions in along the way, libstdc++ does not.
    let flags = ["-std=gnu++17", "-w", "-include", "cmath", "-include", "optional", "-fsyntax-only"];
    let mut clang = command(clang, flags);
    clang.args(["-Xclang", "-fdump-record-layouts", "-target", target.triple]);
    let here = target.triple == "x86_64-linux-gnu";
    let own = headers.join("usr").join(target.triple).join("include");
    let mut system: Vec<PathBuf> = Vec::new();
    if target.device {
        clang.args(["-nostdinc++", "-DART_TARGET", "-DART_TARGET_ANDROID"]);
        system.push(headers.join("usr/lib/llvm-14/include/c++/v1"));
    } else if !here {
        clang.arg("-nostdinc++");
        let gnu = own.join("c++/12");
        system.extend([gnu.join(target.triple), gnu]);
        system.rotate_left(1);
    }
    if !here {
        system.push(own);
    }
    for folder in system {
        clang.arg("-isystem").arg(folder);
    }
    clang
}

impl Layout {
    fn of(id: String, tag: &str, dump: &Dump) -> Result<Self> {
        let mut numbers = BTreeMap::new();
        for (name, class, field) in FIELDS {
            let found = match field {
                Some(field) => dump.field(class, field),
                None => dump.size(class),
            };
            numbers.insert(
                name,
                found.with_context(|| format!("{tag}: no {class}::{}", field.unwrap_or("size")))?,
            );
        }
        // Names that changed: code items are reached by an offset before ART 12, data_begin_ became a range
        // in 14.
        let code = dump.field("ArtMethod", "dex_code_item_offset_");
        numbers.insert(
            if code.is_some() { "method.code.offset" } else { "method.code.pointer" },
            code.or_else(|| dump.field("ArtMethod", "data_")).context("no code item")?,
        );
        let data = dump.field("DexFile", "data_begin_").or_else(|| dump.field("DexFile", "data_"));
        numbers.extend(data.map(|data| ("dex_file.data", data)));
        let suspend = match dump.size("SuspendForm") {
            Some(1) => Suspend::BoolBool,
            Some(2) => Suspend::ReasonBool,
            Some(3) => Suspend::ReasonAttempt,
            other => anyhow::bail!("{tag}: SuspendThreadByThreadId has form {other:?}"),
        };
        Ok(Self { id, tag: tag.to_owned(), numbers, suspend })
    }

    fn differences(&self, row: &Row) -> Vec<String> {
        let of_row = numbers(row);
        let names = self.numbers.keys().chain(of_row.keys()).collect::<std::collections::BTreeSet<_>>();
        let mut all: Vec<String> = names
            .into_iter()
            .filter(|name| of_row.get(*name) != self.numbers.get(*name))
            .map(|name| {
                format!(
                    "{name} is {:?} in the table, {:?} for clang",
                    of_row.get(name),
                    self.numbers.get(name)
                )
            })
            .collect();
        if row.suspend != self.suspend {
            all.push(format!("suspend is {:?} in the table, {:?} for clang", row.suspend, self.suspend));
        }
        all
    }

    /// The layout as it would be in a table.
    fn as_row(&self) -> String {
        let mut tables: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, number) in &self.numbers {
            let (table, field) = name.split_once('.').unwrap_or((name, ""));
            let field = match field.split_once('.') {
                Some((field, form)) => format!("{field} = {{ {form} = {number} }}"),
                None => format!("{field} = {number}"),
            };
            tables.entry(table).or_default().push(field);
        }
        let lines = tables.iter().map(|(table, fields)| format!("  {table} = {{ {} }}\n", fields.join(", ")));
        lines.collect()
    }
}

/// A number's name in the tables, its class, and its member (`None`: the class's size).
const FIELDS: [(&str, &str, Option<&str>); 23] = [
    ("runtime.thread_list", "Runtime", Some("thread_list_")),
    ("runtime.java_vm", "Runtime", Some("java_vm_")),
    ("thread_list.list", "ThreadList", Some("list_")),
    ("thread.thin_lock_id", "Thread", Some("thin_lock_thread_id")),
    ("thread.tid", "Thread", Some("tid")),
    ("thread.jni_env", "Thread", Some("jni_env")),
    ("thread.self", "Thread", Some("self")),
    ("visitor.size", "StackVisitor", None),
    ("visitor.context", "StackVisitor", Some("context_")),
    ("visitor.check_suspended", "StackVisitor", Some("check_suspended_")),
    ("method.size", "ArtMethod", None),
    ("method.dex_method_index", "ArtMethod", Some("dex_method_index_")),
    ("method.data", "ArtMethod", Some("data_")),
    ("class.dex_cache", "mirror::Class", Some("dex_cache_")),
    ("class.access_flags", "mirror::Class", Some("access_flags_")),
    ("class.class_def", "mirror::Class", Some("dex_class_def_idx_")),
    ("dex_cache.dex_file", "mirror::DexCache", Some("dex_file_")),
    ("dex_file.begin", "DexFile", Some("begin_")),
    ("dex_file.string_ids", "DexFile", Some("string_ids_")),
    ("dex_file.type_ids", "DexFile", Some("type_ids_")),
    ("dex_file.proto_ids", "DexFile", Some("proto_ids_")),
    ("dex_file.method_ids", "DexFile", Some("method_ids_")),
    ("dex_file.class_defs", "DexFile", Some("class_defs_")),
];

/// The numbers of a row, by their names in [`FIELDS`].
fn numbers(row: &Row) -> BTreeMap<&'static str, u32> {
    let (thread, visitor, method, class, dex) =
        (&row.thread, &row.visitor, &row.method, &row.class, &row.dex_file);
    let code = match method.code {
        Code::Offset(at) => ("method.code.offset", at),
        Code::Pointer(at) => ("method.code.pointer", at),
    };
    let data = dex.data.map(|data| ("dex_file.data", data));
    [
        ("runtime.thread_list", row.runtime.thread_list),
        ("runtime.java_vm", row.runtime.java_vm),
        ("thread_list.list", row.thread_list.list),
        ("thread.thin_lock_id", thread.thin_lock_id),
        ("thread.tid", thread.tid),
        ("thread.jni_env", thread.jni_env),
        ("thread.self", thread.self_),
        ("visitor.size", visitor.size),
        ("visitor.context", visitor.context),
        ("visitor.check_suspended", visitor.check_suspended),
        ("method.size", method.size),
        ("method.dex_method_index", method.dex_method_index),
        ("method.data", method.data),
        ("class.dex_cache", class.dex_cache),
        ("class.access_flags", class.access_flags),
        ("class.class_def", class.class_def),
        ("dex_cache.dex_file", row.dex_cache.dex_file),
        ("dex_file.begin", dex.begin),
        ("dex_file.string_ids", dex.string_ids),
        ("dex_file.type_ids", dex.type_ids),
        ("dex_file.proto_ids", dex.proto_ids),
        ("dex_file.method_ids", dex.method_ids),
        ("dex_file.class_defs", dex.class_defs),
        code,
    ]
    .into_iter()
    .chain(data)
    .collect()
}
