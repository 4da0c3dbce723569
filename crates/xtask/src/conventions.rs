//! Rules for every crate and every source that ships, checked by tests because nothing else in the workspace
//! would notice a violation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use loopbox_setup::command;
use loopbox_setup::files::files_below;
use loopbox_setup::workspace::{cargo, root};
use serde_json::Value;

/// The lints of a crate that runs inside of apps, where a panic would end the app.
const NO_PANIC: &str = "#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::indexing_slicing
    )
)]
";

/// All packages of the workspace, as cargo lists them.
fn all_packages() -> Vec<Value> {
    let metadata = ["metadata", "--format-version=1", "--no-deps", "--locked"];
    let metadata: Value = serde_json::from_str(&command::run(cargo().args(metadata)).unwrap()).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The packages below `crates`.
fn packages() -> Vec<Value> {
    let crates = root().join("crates");
    let below: Vec<Value> =
        all_packages().into_iter().filter(|package| folder(package).starts_with(&crates)).collect();
    assert!(below.len() > 10, "{} packages", below.len());
    below
}

fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

#[test]
fn published_crates_have_what_a_registry_and_its_readers_ask_for() {
    let packages = packages();
    let published: Vec<&Value> = packages.iter().filter(|package| is_published(package)).collect();
    assert!(published.iter().any(|package| package["name"] == "loopbox-cli"), "the command is published");
    for package in &published {
        let name = &package["name"];
        let count = |key: &str| package[key].as_array().unwrap().len();
        assert!(package["description"].is_string() && package["license"].is_string(), "{name}");
        assert!((1..=5).contains(&count("keywords")) && (1..=5).contains(&count("categories")), "{name}");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = fs::read(folder(package).join(licence)).unwrap();
            assert!(own == fs::read(root().join(licence)).unwrap(), "{name}: {licence}");
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            let needed = &dependency["name"];
            let ours = packages.iter().find(|package| package["name"] == *needed);
            // `cargo publish` leaves out what only tests need and what has no version.
            if ours.is_some() && dependency["kind"] == "dev" && dependency["req"] == "*" {
                continue;
            }
            assert!(ours.is_none_or(is_published), "{name} needs {needed}, which is not published");
            assert_ne!(dependency["req"], "*", "{name} needs any version of {needed}");
        }
    }
}

#[test]
fn crates_need_each_other_in_no_cycle_tests_included() {
    let packages = all_packages();
    let names: Vec<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let needs = |package: &Value| -> Vec<String> {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let needed = dependencies.filter_map(|dependency| dependency["name"].as_str());
        needed.filter(|name| names.contains(name)).map(str::to_owned).collect()
    };
    let mut left: BTreeMap<&str, Vec<String>> =
        names.iter().copied().zip(packages.iter().map(needs)).collect();
    assert!(left.values().map(Vec::len).sum::<usize>() > 50, "the dependencies were read");
    loop {
        let before = left.len();
        let of_others: BTreeSet<String> = left.keys().map(ToString::to_string).collect();
        left.retain(|_, needs| needs.iter().any(|name| of_others.contains(name)));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "in a cycle, or needing one that is: {left:#?}");
}

/// The paths below cargo's target folder that cargo writes when it builds one target of a package. Only paths
/// that a target of another package can have, too, are listed: a test program is left out, because its name
/// has a hash.
fn outputs(target: &Value) -> Vec<String> {
    let name = target["name"].as_str().unwrap();
    let crate_name = name.replace('-', "_");
    let is = |kind: &str| target["kind"].as_array().unwrap().contains(&kind.into());
    let mut outputs = Vec::new();
    if target["doc"] == true {
        outputs.push(format!("doc/{crate_name}"));
    }
    match () {
        () if is("bin") => outputs.push(format!("debug/{name}")),
        () if is("example") => {
            let types = target["crate_types"].as_array().unwrap();
            let file = if types.contains(&"bin".into()) { name.into() } else { format!("lib{crate_name}") };
            outputs.push(format!("debug/examples/{file}"));
        }
        () if ["lib", "rlib", "dylib", "cdylib", "staticlib", "proc-macro"].into_iter().any(is) => {
            outputs.push(format!("debug/lib{crate_name}"));
        }
        () => {}
    }
    outputs
}

#[test]
fn no_two_targets_write_one_file_or_folder() {
    let mut writers = BTreeMap::<String, Vec<String>>::new();
    for package in all_packages() {
        for target in package["targets"].as_array().unwrap() {
            for output in outputs(target) {
                let writer = format!("{} of {}", target["kind"], package["name"]);
                writers.entry(output).or_default().push(writer);
            }
        }
    }
    for output in ["doc/loopbox", "debug/libloopbox", "debug/loopbox", "debug/libart_probe"] {
        assert!(writers.contains_key(output), "{output}: {writers:#?}");
    }
    writers.retain(|_, writers| writers.len() > 1);
    assert!(writers.is_empty(), "written by several at once: {writers:#?}");
}

#[test]
fn libraries_have_a_readme_with_an_example_as_landing_page() {
    for package in packages() {
        let is_library = |target: &Value| target["kind"].as_array().unwrap().contains(&"lib".into());
        let library =
            package["targets"].as_array().unwrap().iter().find(|target| is_library(target)).cloned();
        if library.is_none() && !is_published(&package) {
            continue;
        }
        let (name, folder) = (&package["name"], folder(&package));
        assert_eq!(package["readme"], "README.md", "{name}");
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let Some(library) = library else { continue };
        let source = fs::read_to_string(library["src_path"].as_str().unwrap()).unwrap();
        assert!(source.starts_with("#![doc = include_str!(\"../README.md\")]\n"), "{name}");
        // Compiled by the step `documentation`; `text` and `ignore` would not be.
        let mut blocks = readme.split("```").skip(1).step_by(2).filter_map(|block| block.split('\n').next());
        assert!(blocks.any(|kind| ["", "no_run", "rust,no_run"].contains(&kind)), "{name} has no example");
    }
}

#[test]
fn crates_that_run_in_apps_refuse_what_could_panic() {
    let in_apps = ["format", "recorder", "store", "art", "agent"];
    let roots = in_apps.map(|name| format!("crates/loopbox-{name}/src/lib.rs"));
    for file in roots.iter().map(String::as_str).chain(["jni-glue/src/lib.rs", "jni-glue/inhouse/src/lib.rs"])
    {
        let source = fs::read_to_string(root().join(file)).unwrap();
        assert!(source.contains(NO_PANIC), "{file}");
    }
}

#[test]
fn sources_that_others_compile_name_their_licence() {
    let folders = ["java", "inhouse", "ktx", "noop", "screen", "startup", "integrations", "sample"]
        .map(|part| format!("jni-glue/{part}"));
    let files = folders.iter().flat_map(|folder| files_below(&root().join(folder)).unwrap());
    // Declarations of other libraries are there to compile against and go nowhere.
    let ships = |file: &PathBuf| {
        file.extension().is_some_and(|kind| kind == "java" || kind == "kt")
            && !file.iter().any(|part| part == "declarations")
    };
    let mut seen = 0;
    for file in files.filter(ships) {
        let source = fs::read_to_string(&file).unwrap();
        let first = source.lines().next();
        assert_eq!(first, Some("// SPDX-License-Identifier: MIT OR Apache-2.0"), "{}", file.display());
        seen += 1;
    }
    assert!(seen > 30, "{seen} sources");
}

/// The crates that cargo builds for these packages, each with its version and features. `edges` are the kinds
/// of dependencies that count.
fn built_with(packages: &[&str], edges: &str) -> BTreeSet<String> {
    let tree = ["tree", "--locked", "--prefix=none", "--format={p} [{f}]", "--edges", edges];
    let printed = command::run(cargo().args(tree).args(packages)).unwrap();
    let lines = printed.lines().map(|line| line.trim_end_matches(" (*)").replace(" (proc-macro)", ""));
    lines.filter(|line| !line.is_empty() && !line.starts_with("loopbox-features ")).collect()
}

#[test]
fn what_the_test_command_builds_of_a_part_is_built_as_for_the_whole() {
    let on_testbeds = ["-plab-host", "-plab-probe", "-ploopbox-jni", "-ploopbox-inhouse"];
    let parts: [(&[&str], &str); 4] = [
        (&["-pxtask"], "normal"),
        (&on_testbeds, "normal"),
        (&["-ploopbox-cli", "-pxtask"], "normal"),
        // Its documentation.
        (&["--workspace"], "normal"),
    ];
    // What macros and build scripts are built with has separate features.
    for others in [",build", ",no-proc-macro"] {
        let built = |packages: &[&str], edges: &str| built_with(packages, &[edges, others].concat());
        let whole = built(&["--workspace"], "normal,dev");
        assert!(whole.len() > 150, "{} crates", whole.len());
        for (packages, edges) in parts {
            let part = built(packages, edges);
            let apart: Vec<&String> = part.difference(&whole).collect();
            assert!(apart.is_empty(), "{packages:?} compiles these again, see tests/features: {apart:#?}");
        }
    }
}

/// No program may use the clone's path at its compile time: cargo uses existing programs in a copied clone,
/// so they may have been compiled in another clone.
#[test]
fn no_program_asks_the_compiler_where_the_clone_is() {
    let asked = concat!("env!(", "\"CARGO_MANIFEST_DIR\"");
    for folder in ["crates", "tests", "jni-glue"] {
        for file in files_below(&root().join(folder)).unwrap() {
            if file.extension().is_some_and(|kind| kind == "rs") {
                assert!(!fs::read_to_string(&file).unwrap().contains(asked), "{}", file.display());
            }
        }
    }
}

/// A unit test in a target that is not built for tests would never run.
#[test]
fn targets_without_a_test_program_have_no_unit_tests() {
    let mut seen = 0;
    for package in all_packages() {
        let targets = package["targets"].as_array().unwrap().iter();
        for target in targets.filter(|target| target["test"] == false && target["kind"][0] != "custom-build")
        {
            seen += 1;
            let path = Path::new(target["src_path"].as_str().unwrap());
            let is_crate = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
            let files =
                if is_crate { files_below(path.parent().unwrap()).unwrap() } else { vec![path.into()] };
            for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "rs")) {
                let text = fs::read_to_string(file).unwrap();
                let has_test = text.lines().any(|line| line.trim() == "#[test]");
                assert!(!has_test, "{} is not built for tests: `{}`", file.display(), target["name"]);
            }
        }
    }
    assert!(seen > 20, "{seen} targets");
}

#[test]
fn sources_begin_with_what_they_are_for() {
    let tracked = command::run(command::command("git", ["ls-files", "*.rs"]).current_dir(root())).unwrap();
    let says = |text: &str| {
        let mut lines = text.lines().skip_while(|line| line.is_empty() || line.starts_with("#!["));
        // A library has its README there.
        text.contains("#![doc = include_str!") || lines.next().is_some_and(|line| line.starts_with("//! "))
    };
    assert!(says("#![no_main]\n\n//! Runs it.\n") && !says("use std::fs;\n") && !says("//!\n"));
    let silent: Vec<&str> =
        tracked.lines().filter(|name| !says(&fs::read_to_string(root().join(name)).unwrap())).collect();
    assert!(silent.is_empty(), "without a first line that begins with //! : {silent:#?}");
}

/// The most columns of a line of prose: longer lines cannot be read in one go.
const COLUMNS: usize = 110;

/// Whether a line may be longer than [`COLUMNS`]: it belongs to a table, or has a word that cannot be broken.
fn has_to_be_long(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches(['/', '!', '*', '-', ' ']);
    line.trim_start().starts_with('|') || words.starts_with('[') || !words.contains(' ')
}

/// The lines of comments in Rust, Java and Kotlin, and of paragraphs in a document, without code and tables.
fn prose<'l>(path: &Path, text: &'l str) -> impl Iterator<Item = (usize, &'l str)> {
    let is_document = path.extension().is_some_and(|kind| kind == "md");
    let marks: &[&str] =
        if path.extension().is_some_and(|kind| kind == "rs") { &["//"] } else { &["//", "/*", "*"] };
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let words = line.trim_start();
        let is_comment = marks.iter().any(|mark| words.starts_with(mark));
        let words = if is_comment { words.trim_start_matches(['/', '!', '*']).trim_start() } else { words };
        if words.starts_with("```") && is_comment != is_document {
            is_code = !is_code;
        }
        (is_document || is_comment) && !is_code && !has_to_be_long(line)
    })
}

#[test]
fn comments_and_documents_are_wrapped() {
    let tracked = command::run(
        command::command("git", ["ls-files", "*.rs", "*.md", "*.java", "*.kt"]).current_dir(root()),
    )
    .unwrap();
    let mut long = Vec::new();
    for name in tracked.lines() {
        let path = root().join(name);
        let text = fs::read_to_string(&path).unwrap();
        let of_file = prose(&path, &text).filter(|(_, line)| line.chars().count() > COLUMNS);
        long.extend(of_file.map(|(number, line)| format!("{name}:{number}: {line}")));
    }
    assert!(long.is_empty(), "more than {COLUMNS} columns:\n{}", long.join("\n"));
}

#[test]
fn a_line_of_a_table_or_of_code_may_be_long() {
    let long = "word ".repeat(30);
    let text = format!("{long}\n| {long} |\n```\n{long}\n```\n* {long}\n[{long}]: x\n");
    let lines: Vec<usize> = prose(Path::new("a.md"), &text)
        .filter(|(_, line)| line.chars().count() > COLUMNS)
        .map(|(number, _)| number)
        .collect();
    assert_eq!(lines, [1, 6]);
    let text = format!("let a = \"{long}\";\n/// {long}\n//! ```\n//! {long}\n//! ```\n// {long}\n");
    let lines: Vec<usize> = prose(Path::new("a.rs"), &text)
        .filter(|(_, line)| line.chars().count() > COLUMNS)
        .map(|(number, _)| number)
        .collect();
    assert_eq!(lines, [2, 6]);
}

/// The page with the table of words that are not used.
const STYLE: &str = "docs/style.md";

/// The words of the first column of the table in [`STYLE`], in lower case.
fn words_to_avoid(style: &str) -> Vec<String> {
    let rows = style.lines().skip_while(|line| *line != "| not | but |").skip(2);
    let cells = rows.map_while(|line| line.strip_prefix("| ")?.split(" | ").next());
    cells.flat_map(|cell| cell.split(", ")).map(str::to_lowercase).collect()
}

/// Whether a text has a word, with no letter or digit directly before or after it. A quoted word does not
/// count: it is a name. A word before "up" does not count, either: "look up" is a standard term.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + word.len()..];
        let after = rest.chars().next();
        let is_lookup = rest.starts_with(" up") || rest.starts_with("-up");
        let is_quoted = before == after && matches!(before, Some('"' | '`'));
        !is_quoted && !is_lookup && ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[test]
fn words_that_the_style_avoids_are_not_used() {
    let words = words_to_avoid(&fs::read_to_string(root().join(STYLE)).unwrap());
    assert!(words.len() >= 5, "the table of {STYLE} is not found: {words:?}");
    let kinds = ["*.rs", "*.java", "*.kt", "*.md", "*.c", "*.h"];
    let mut list = command::command("git", ["ls-files"]);
    let tracked = command::run(list.args(kinds).current_dir(root())).unwrap();
    let mut found = Vec::new();
    for name in tracked.lines().filter(|name| *name != STYLE) {
        let text = fs::read_to_string(root().join(name)).unwrap().to_lowercase();
        for (number, line) in (1..).zip(text.lines()) {
            let used = words.iter().filter(|word| has_word(line, word));
            found.extend(used.map(|word| format!("{name}:{number}: {word}")));
        }
    }
    assert!(found.is_empty(), "{STYLE} has what to write instead:\n{}", found.join("\n"));
}

#[test]
fn a_word_is_found_whole() {
    assert!(has_word("a tale.", "tale") && has_word("play_tale", "tale") && !has_word("stale", "tale"));
    assert!(
        !has_word("| `tale` |", "tale") && !has_word("\"tale\": 1", "tale") && has_word("\"tale of", "tale")
    );
    assert_eq!(words_to_avoid("| not | but |\n|---|---|\n| One, two | three |\n\n| x | y |"), ["one", "two"]);
}
