//! Reads and validates `offsets/*.toml`, the ART layout tables.
//!
//! Shared by this crate's build script, which compiles the rows of the target in, and by
//! `cargo xtask offsets`. Wrong data fails the build: a row that breaks one of the rules below was
//! typed wrong, and a wrong row would be looked at inside somebody's app.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

/// One file: the rows of an ART generation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// Android release whose ART this is, as in `"12"`.
    pub generation: String,
    /// API levels whose platform build carries it.
    pub api_levels: Vec<u32>,
    /// The rows, one per build variant and architecture.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

/// The layout of one build on one architecture. All numbers are byte offsets or sizes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Unique name, as in `"29-arm64"`.
    pub id: String,
    /// What the build is, in words.
    pub label: String,
    /// `arm64`, `arm`, `x86_64` or `x86`.
    pub arch: String,
    /// `libc++` on devices, `libstdc++` for Debian's builds: `std::string` members shift what follows.
    pub stdlib: String,
    /// Which signature `ThreadList::SuspendThreadByThreadId` has.
    pub suspend: Suspend,
    /// `art::Runtime`.
    pub runtime: Runtime,
    /// `art::ThreadList`.
    pub thread_list: ThreadList,
    /// `art::Thread`.
    pub thread: Thread,
    /// `art::StackVisitor`.
    pub visitor: Visitor,
    /// `art::ArtMethod`.
    pub method: Method,
    /// `art::mirror::Class`.
    pub class: Class,
    /// `art::mirror::DexCache`.
    pub dex_cache: DexCache,
    /// `art::DexFile`.
    pub dex_file: DexFile,
    /// Where the numbers come from: the source tag or the package.
    pub source: String,
    /// How they were verified; the forms are listed in `docs/sampler.md`.
    pub verified: Vec<String>,
}

/// Signatures of `ThreadList::SuspendThreadByThreadId`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suspend {
    /// `(uint32_t, bool, bool*)`: 8.0.
    BoolBool,
    /// `(uint32_t, SuspendReason, bool*)`: 8.1 to 14.
    ReasonBool,
    /// `(uint32_t, SuspendReason, int attempt_of_4)`: 14 QPR3 on.
    ReasonAttempt,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    pub thread_list: u32,
    pub java_vm: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadList {
    pub list: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    pub thin_lock_id: u32,
    pub tid: u32,
    pub jni_env: u32,
    #[serde(rename = "self")]
    pub self_: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visitor {
    pub size: u32,
    pub context: u32,
    pub check_suspended: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    pub size: u32,
    pub dex_method_index: u32,
    pub code: Code,
    pub data: u32,
}

/// How an `ArtMethod` leads to its code item.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Code {
    /// At this offset: a `u32`, the code item's place after the dex data's begin.
    Offset(u32),
    /// At this offset: a pointer, bit 0 set for compact dex.
    Pointer(u32),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    pub dex_cache: u32,
    pub access_flags: u32,
    pub class_def: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DexCache {
    pub dex_file: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DexFile {
    pub begin: u32,
    /// Absent where the data begins at `begin` (8.x).
    pub data: Option<u32>,
    pub string_ids: u32,
    pub type_ids: u32,
    pub proto_ids: u32,
    pub method_ids: u32,
    pub class_defs: u32,
}

/// Reads every `*.toml` of the folder, validates all of them together, oldest generation first.
pub fn load(folder: &Path) -> Result<Vec<Generation>, String> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    paths.sort();
    let mut generations = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        generations.push(parse(&text).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    if generations.is_empty() {
        return Err(format!("{}: no tables", folder.display()));
    }
    generations.sort_by_key(|g| g.api_levels.first().copied());
    unique(&generations)?;
    Ok(generations)
}

/// Parses and validates one file.
pub fn parse(text: &str) -> Result<Generation, String> {
    let generation: Generation = toml::from_str(text).map_err(|e| e.to_string())?;
    if generation.generation.is_empty() || generation.api_levels.is_empty() || generation.rows.is_empty() {
        return Err("generation, api_levels and rows must not be empty".into());
    }
    if let Some(level) = generation.api_levels.iter().find(|l| !(26..=99).contains(*l)) {
        return Err(format!("API level {level} is not one this project supports"));
    }
    for row in &generation.rows {
        row.validate().map_err(|e| format!("row {}: {e}", row.id))?;
    }
    Ok(generation)
}

fn unique(generations: &[Generation]) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    for row in generations.iter().flat_map(|g| &g.rows) {
        if !ids.insert(&row.id) {
            return Err(format!("row {} appears twice", row.id));
        }
    }
    Ok(())
}

impl Row {
    /// Size of a pointer of the row's architecture.
    pub fn word(&self) -> u32 {
        if self.arch.ends_with("64") { 8 } else { 4 }
    }

    /// Pointer-sized members from `thread_list_` to `java_vm_`.
    pub fn slots(&self) -> u32 {
        self.runtime.java_vm.saturating_sub(self.runtime.thread_list) / self.word()
    }

    fn validate(&self) -> Result<(), String> {
        let word = self.word();
        let rule = |ok: bool, what: &str| if ok { Ok(()) } else { Err(what.to_owned()) };
        rule(["arm64", "arm", "x86_64", "x86"].contains(&self.arch.as_str()), "arch is unknown")?;
        rule(["libc++", "libstdc++"].contains(&self.stdlib.as_str()), "stdlib is unknown")?;
        rule(!self.label.is_empty() && !self.source.is_empty(), "label and source are required")?;
        rule(
            self.id.ends_with(&self.arch) || self.id.contains(&format!("-{}-", self.arch)),
            "id must name the arch",
        )?;
        let forms = ["layout-dump", "device ", "run "];
        let known = |v: &String| {
            forms.iter().any(|f| v.strip_prefix(f).is_some_and(|rest| f.ends_with(' ') != rest.is_empty()))
        };
        rule(
            !self.verified.is_empty() && self.verified.iter().all(known),
            "verified: layout-dump, device … or run …",
        )?;

        let aligned = |n: u32| n.is_multiple_of(word);
        rule(
            aligned(self.runtime.thread_list) && aligned(self.runtime.java_vm),
            "runtime: not word-aligned",
        )?;
        rule(
            (200..2000).contains(&self.runtime.java_vm),
            "runtime.java_vm: outside of where discovery looks",
        )?;
        rule((4..=8).contains(&self.slots()), "runtime: 4 to 8 words lie between thread_list_ and java_vm_")?;
        rule(
            aligned(self.thread_list.list) && self.thread_list.list >= 65536 / 8,
            "thread_list.list: follows 65536 bits",
        )?;
        rule(matches!(self.thread.thin_lock_id, 8 | 12), "thread.thin_lock_id: 8 or 12")?;
        rule(self.thread.tid == self.thread.thin_lock_id + 4, "thread.tid: follows thin_lock_id")?;
        rule(self.thread.self_ == self.thread.jni_env + 2 * word, "thread.self: two words after jni_env")?;
        rule(
            aligned(self.thread.jni_env) && (96..600).contains(&self.thread.jni_env),
            "thread.jni_env: out of range",
        )?;
        rule(
            aligned(self.visitor.context) && self.visitor.context >= 9 * word,
            "visitor.context: after cur_depth_",
        )?;
        rule(
            self.visitor.check_suspended == self.visitor.context + word,
            "visitor.check_suspended: follows context_",
        )?;
        rule(
            self.visitor.size == self.visitor.check_suspended + word,
            "visitor.size: ends after check_suspended_",
        )?;
        rule(self.visitor.size <= 1024, "visitor.size: larger than the buffer allows")?;
        rule(matches!(self.method.dex_method_index, 8 | 12), "method.dex_method_index: 8 or 12")?;
        rule((24..=48).contains(&self.method.size), "method.size: 24 to 48")?;
        rule(self.method.data + 2 * word == self.method.size, "method.data: last but one word")?;
        let code_ok = match self.method.code {
            Code::Offset(at) => at == 8 && self.method.dex_method_index == 12,
            Code::Pointer(at) => at == self.method.data && self.method.dex_method_index == 8,
        };
        rule(code_ok, "method.code: offset 8 before ART 12, the data pointer since")?;
        rule(
            self.class.dex_cache == 16 && self.dex_cache.dex_file == 16,
            "class.dex_cache, dex_cache.dex_file: 16",
        )?;
        rule(self.class.class_def == self.class.access_flags + 16, "class.class_def: 16 after access_flags")?;
        let d = &self.dex_file;
        rule(d.begin == word, "dex_file.begin: the first member after the vtable")?;
        rule(d.data.is_none_or(|data| data == 3 * word), "dex_file.data: the fourth word")?;
        let order = [d.string_ids, d.type_ids, d.type_ids + word, d.method_ids, d.proto_ids, d.class_defs];
        let consecutive = order.windows(2).all(|w| w[1] == w[0] + word);
        rule(
            aligned(d.string_ids) && consecutive,
            "dex_file: string, type, field, method, proto, class tables follow each other",
        )
    }
}
