//! The layers of the README: a module imports from lower layers only.

use std::fs;
use std::path::{Path, PathBuf};

/// Each top-level module with the modules that it may import.
const LAYERS: [(&str, &[&str]); 9] = [
    ("model", &[]),
    ("load", &["model"]),
    ("derive", &["model"]),
    ("diagnose", &["model"]),
    ("retrace", &["model", "load"]),
    ("smoothness", &["model"]),
    ("render", &["model", "derive", "diagnose", "smoothness"]),
    ("cluster", &["model", "diagnose", "smoothness", "render"]),
    ("export", &["model", "derive", "diagnose", "smoothness", "render", "cluster"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    below
        .filter(|path| {
            path.extension().is_some_and(|e| e == "rs") && !path.to_string_lossy().ends_with("tests.rs")
        })
        .collect()
}

#[test]
fn modules_import_from_lower_layers_only() {
    let src = std::env::current_dir().unwrap().join("src");
    for (module, allowed) in LAYERS {
        let files = sources(&src.join(module));
        assert!(files.len() > 1, "{module} has no files");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            for path in lines.flat_map(|line| line.split("crate::").skip(1)) {
                let name = path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                let fine = name == module || allowed.contains(&name);
                assert!(fine, "{} imports crate::{name}", file.display());
            }
        }
    }
    let folders = fs::read_dir(&src).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), LAYERS.len(), "each folder of src is in LAYERS");
}

/// The prefixes of the names of the platform's classes.
const PLATFORM: [&str; 7] = ["android.", "java.", "dalvik.", "libcore.", "sun.", "jdk.", "com.android."];
/// The only files that may name classes of the platform: the tables of frames, of waits for other threads,
/// and of packages.
const TABLES: [&str; 3] = ["model/framework.rs", "model/lock_kind.rs", "model/class_names.rs"];
/// Names that begin like a class of the platform but are none: an attribute of OpenTelemetry, and what R8
/// writes into mappings.
const OTHERS: [&str; 2] = ["android.os.api_level", "com.android.tools.r8."];

#[test]
fn names_of_the_framework_stand_in_one_table() {
    let src = std::env::current_dir().unwrap().join("src");
    let (mut read, mut in_tables) = (0, 0);
    let for_tests = ["test_support.rs", "test_causes.rs"];
    for file in sources(&src).iter().filter(|file| !for_tests.iter().any(|name| file.ends_with(name))) {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let names = lines.flat_map(|line| line.split('"').skip(1).step_by(2)).filter(|literal| {
            PLATFORM.iter().any(|start| literal.starts_with(start))
                && !OTHERS.iter().any(|other| literal.starts_with(other))
        });
        read += 1;
        for name in names {
            let is_table = TABLES.iter().any(|table| file.ends_with(table));
            assert!(is_table, "{}: {name} belongs into model/framework.rs", file.display());
            in_tables += 1;
        }
    }
    assert!(read > 50 && in_tables > 50, "{in_tables} names in {read} files");
}

/// Methods that give an absent input a default value. In a rule the default would be taken for a measured
/// value.
const DEFAULTS: [&str; 6] =
    ["unwrap_or(0", "unwrap_or(false", "unwrap_or(true", "map_or(0", "map_or(false", "map_or(true"];

#[test]
fn rules_give_absent_inputs_no_default() {
    let mut read = 0;
    for file in sources(&std::env::current_dir().unwrap().join("src/diagnose")) {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (nth, line) in code.lines().enumerate() {
            read += 1;
            let found = DEFAULTS.iter().find(|default| line.contains(*default));
            assert_eq!(found, None, "{}:{}: {line}", file.display(), nth + 1);
            assert!(!line.contains("unwrap_or_default"), "{}:{}: {line}", file.display(), nth + 1);
        }
    }
    assert!(read > 1_000, "the rules were read");
}
