#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

/// One file: the rows of an ART generation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// Android release whose ART this is, as in `"12"`.
    pub generation: String,
    /// API levels whose platform build has this ART.
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
    /// The build's C++ library: `libc++` on devices, `libstdc++` in Debian's builds. `std::string` has a
    /// different size in each, which changes the offsets of later members.
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
    /// How the numbers were verified; the forms are listed in `docs/sampler.md`.
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

/// Members of `art::Runtime`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// `thread_list_`.
    pub thread_list: u32,
    /// `java_vm_`.
    pub java_vm: u32,
}

/// Members of `art::ThreadList`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadList {
    /// `list_`: the linked list of threads.
    pub list: u32,
}

/// Members of `art::Thread`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// `tls32_.thin_lock_thread_id`.
    pub thin_lock_id: u32,
    /// `tls32_.tid`: the kernel's thread id.
    pub tid: u32,
    /// `tlsPtr_.jni_env`.
    pub jni_env: u32,
    /// `tlsPtr_.self`.
    #[serde(rename = "self")]
    pub self_: u32,
}

/// Members of `art::StackVisitor`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visitor {
    /// Size of the object.
    pub size: u32,
    /// `context_`.
    pub context: u32,
    /// `check_suspended_`.
    pub check_suspended: u32,
}

/// Members of `art::ArtMethod`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Size of the object.
    pub size: u32,
    /// `dex_method_index_`.
    pub dex_method_index: u32,
    /// The place of the code item.
    pub code: Code,
    /// `ptr_sized_fields_.data_`.
    pub data: u32,
}

/// How an `ArtMethod` leads to its code item.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Code {
    /// At this offset: a `u32`, the distance of the code item from the start of the dex data.
    Offset(u32),
    /// At this offset: a pointer, bit 0 set for compact dex.
    Pointer(u32),
}

/// Members of `art::mirror::Class`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// `dex_cache_`.
    pub dex_cache: u32,
    /// `access_flags_`.
    pub access_flags: u32,
    /// `dex_class_def_idx_`.
    pub class_def: u32,
}

/// Members of `art::mirror::DexCache`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DexCache {
    /// `dex_file_`.
    pub dex_file: u32,
}

/// Members of `art::DexFile`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DexFile {
    /// `begin_`.
    pub begin: u32,
    /// The member with the begin of the dex data; absent where the data begins at `begin` (8.x).
    pub data: Option<u32>,
    /// `string_ids_`.
    pub string_ids: u32,
    /// `type_ids_`.
    pub type_ids: u32,
    /// `proto_ids_`.
    pub proto_ids: u32,
    /// `method_ids_`.
    pub method_ids: u32,
    /// `class_defs_`.
    pub class_defs: u32,
}

/// Reads every `*.toml` of the folder and validates all of them together. The oldest generation comes first.
///
/// # Errors
/// What is wrong, and in which file.
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
///
/// # Errors
/// What is wrong, and in which row.
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

    /// How many pointer-sized members there are from `thread_list_` to `java_vm_`.
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
            "runtime.java_vm: outside of where discovery searches",
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> std::path::PathBuf {
        std::env::current_dir().unwrap().join("../../offsets")
    }

    fn text() -> String {
        std::fs::read_to_string(folder().join("art-14.toml")).unwrap()
    }

    /// The error of the validation for a table in which `from` is replaced by `to`.
    fn refused(from: &str, to: &str) -> String {
        let text = text();
        assert!(text.contains(from), "{from}");
        parse(&text.replacen(from, to, 1)).unwrap_err()
    }

    #[test]
    fn the_tables_hold_every_generation_and_architecture() {
        let generations = load(&folder()).unwrap();
        let of = |g: &str| generations.iter().find(|x| x.generation == g).unwrap();
        for name in ["8.0", "8.1", "9", "10", "11", "12", "13", "14", "15", "16"] {
            for arch in ["arm64", "arm", "x86_64"] {
                assert!(
                    of(name).rows.iter().any(|r| r.arch == arch && r.stdlib == "libc++"),
                    "{name} {arch}"
                );
            }
        }
        assert_eq!(of("8.0").rows.iter().filter(|r| r.arch == "arm64").count(), 2, "both builds of 8.0");
        let levels: Vec<u32> = generations.iter().flat_map(|g| g.api_levels.clone()).collect();
        assert_eq!(levels, (26..=36).collect::<Vec<u32>>());
    }

    #[test]
    fn a_number_typed_wrong_is_refused() {
        assert!(refused("thread_list = 584", "thread_list = 548").contains("not word-aligned"));
        assert!(refused("java_vm = 632", "java_vm = 624x").contains("expected"));
        assert!(refused("java_vm = 632", "java_vm = 672").contains("4 to 8 words"));
        assert!(refused("tid = 12", "tid = 16").contains("follows thin_lock_id"));
        assert!(refused("self = 224", "self = 216").contains("two words after jni_env"));
        assert!(refused("size = 496", "size = 504").contains("ends after check_suspended_"));
        assert!(refused("dex_method_index = 8", "dex_method_index = 12").contains("code"));
        assert!(refused("class_def = 80", "class_def = 72").contains("16 after access_flags"));
        assert!(refused("method_ids = 104", "method_ids = 112").contains("follow each other"));
        assert!(refused("list = 8192", "list = 4096").contains("65536 bits"));
    }

    #[test]
    fn a_row_without_origin_is_refused() {
        assert!(refused("verified = [\"layout-dump\"]", "verified = []").contains("verified"));
        assert!(refused("verified = [\"layout-dump\"]", "verified = [\"trust me\"]").contains("verified"));
        assert!(refused("arch = \"arm64\"", "arch = \"arm65\"").contains("arch"));
        assert!(refused("source = \"android-14.0.0_r1\"", "source = \"\"").contains("source"));
        assert!(refused("api_levels = [34]", "api_levels = [25]").contains("API level 25"));
        assert!(refused("label", "lable").contains("unknown field"));
    }
}
