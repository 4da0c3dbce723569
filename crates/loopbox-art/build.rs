//! Compiles the rows of `offsets/*.toml` that fit the target into a constant table.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use loopbox_art_tables::{Code, Row, Suspend, load};

fn main() {
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../offsets");
    println!("cargo::rerun-if-changed={}", folder.display());
    let generations = match load(&folder) {
        Ok(generations) => generations,
        Err(e) => {
            println!("cargo::error=offset tables: {e}");
            return;
        }
    };
    let target = env::var("CARGO_CFG_TARGET_ARCH").expect("set by cargo");
    let arch = if target == "aarch64" { "arm64" } else { &target };
    // Name layouts depend on the word size alone: of those of the same size, each once, the newest first.
    let word = if arch.ends_with("64") { 8 } else { 4 };
    let rows = generations.iter().flat_map(|g| &g.rows).filter(|r| r.word() == word);
    let mut layouts: Vec<String> = Vec::new();
    for layout in rows.map(names).rev() {
        if !layouts.contains(&layout) {
            layouts.push(layout);
        }
    }
    let mut out = String::from("pub(crate) static ROWS: &[Row] = &[\n");
    for generation in &generations {
        for row in generation.rows.iter().filter(|r| r.arch == arch) {
            let own = names(row);
            let at = layouts.iter().position(|layout| *layout == own).expect("has those of every row");
            emit(&mut out, &generation.generation, &generation.api_levels, row, at);
        }
    }
    out.push_str("];\n");
    let count = layouts.len();
    writeln!(out, "pub(crate) static NAME_LAYOUTS: [NameLayout; {count}] = [{}];", layouts.join(",\n"))
        .expect("a String takes all");
    let path = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("offsets.rs");
    fs::write(path, out).expect("OUT_DIR is writable");
}

fn emit(out: &mut String, generation: &str, api_levels: &[u32], row: &Row, layout: usize) {
    let suspend = match row.suspend {
        Suspend::BoolBool => "BoolBool",
        Suspend::ReasonBool => "ReasonBool",
        Suspend::ReasonAttempt => "ReasonAttempt",
    };
    let [first, last] = [api_levels.first(), api_levels.last()].map(|level| level.expect("is validated"));
    assert!(api_levels.iter().copied().eq(*first..=*last), "levels of {generation} that follow each other");
    writeln!(
        out,
        "Row {{ id: Text::new({:?}), generation: Text::new({generation:?}), api_levels: ({first}, {last}), device: {}, suspend: SuspendAbi::{suspend}, \
         thread_list: {}, java_vm: {}, list: {}, thin_lock_id: {}, jni_env: {}, visitor_size: {}, \
         names: {layout} }},",
        row.id,
        row.stdlib == "libc++",
        row.runtime.thread_list,
        row.runtime.java_vm,
        row.thread_list.list,
        row.thread.thin_lock_id,
        row.thread.jni_env,
        row.visitor.size,
    )
    .expect("a String takes all");
}

fn names(row: &Row) -> String {
    let code = match row.method.code {
        Code::Offset(at) => format!("Code::Offset({at})"),
        Code::Pointer(at) => format!("Code::Pointer({at})"),
    };
    let d = &row.dex_file;
    format!(
        "NameLayout {{ dex_method_index: {}, code: {code}, method_data: {}, class_dex_cache: {}, class_access_flags: {}, \
         class_def: {}, dex_cache_dex_file: {}, begin: {}, data: {}, string_ids: {}, type_ids: {}, proto_ids: {}, \
         method_ids: {}, class_defs: {} }}",
        row.method.dex_method_index,
        row.method.data,
        row.class.dex_cache,
        row.class.access_flags,
        row.class.class_def,
        row.dex_cache.dex_file,
        d.begin,
        d.data.unwrap_or(d.begin),
        d.string_ids,
        d.type_ids,
        d.proto_ids,
        d.method_ids,
        d.class_defs,
    )
}
