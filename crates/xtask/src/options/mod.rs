//! All that is made from `jni-glue/options.toml`, the table of the library's options. What is made is committed, so
//! that a reader of `Config.java` sees it whole. The test fails where a file is not what the table says; it writes
//! the files when `LOOPBOX_BLESS` is set.

mod java;
mod pages;
mod rust;
mod table;

use std::fs;

use loopbox_setup::workspace::root;
use table::Table;

/// Lines of a file, between two that begin so.
struct Part {
    file: &'static str,
    after: String,
    before: &'static str,
    lines: String,
}

impl Part {
    /// The file with these lines in it.
    fn put_into(&self, text: &str) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let find = |from: usize, mark: &str| {
            let found = lines[from..].iter().position(|line| line.trim_start().starts_with(mark));
            from + found.unwrap_or_else(|| panic!("{} has no line {mark:?}", self.file))
        };
        let after = find(0, &self.after) + 1;
        let before = find(after, self.before);
        [&lines[..after].concat(), &self.lines, &lines[before..].concat()].map(String::as_str).concat()
    }
}

/// Between two comments of a source that is otherwise written by hand.
fn marked(file: &'static str, what: &str, lines: String) -> Part {
    let after = format!("// Made from jni-glue/options.toml: {what}");
    Part { file, after, before: "// End of what is made from jni-glue/options.toml", lines }
}

const CONFIG: &str = "jni-glue/java/io/loopbox/Config.java";
const SETTINGS: &str = "jni-glue/java/io/loopbox/internal/Settings.java";
const MANIFEST: &str = "jni-glue/startup/java/io/loopbox/startup/ManifestOptions.java";
const ARGUMENTS: &str = "tests/app/scenario/Options.java";
const CALLS: &str = "tests/kotlin/Uses.kt";
const NUMBERS: &str = "crates/loopbox-agent/src/session/numbers.rs";
const BOUNDS: &str = "crates/loopbox-recorder/src/options.rs";
const DRIVER: &str = "crates/lab-bionic/drive/numbers.h";

#[test]
fn what_is_made_from_the_table_of_options_is_up_to_date() {
    let file = root().join("jni-glue/options.toml");
    let table: Table = toml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let parts = [
        marked(CONFIG, "setters", java::setters(&table)),
        marked(SETTINGS, "fields", java::fields(&table)),
        marked(SETTINGS, "numbers", java::numbers(&table)),
        marked(MANIFEST, "manifest", java::manifest(&table)),
        marked(ARGUMENTS, "arguments", java::arguments(&table)),
        marked(CALLS, "calls", java::calls(&table)),
        marked(NUMBERS, "numbers", rust::numbers(&table)),
        marked(BOUNDS, "bounds", rust::bounds(&table)),
        marked(DRIVER, "numbers", rust::c_numbers(&table)),
        Part {
            file: "jni-glue/api/loopbox.api",
            after: "public io.loopbox.Config$Builder();".into(),
            before: "public io.loopbox.Config$Builder annotate(",
            lines: pages::api(&table),
        },
        Part {
            file: "docs/integrate.md",
            after: "| `Builder(directory)` |".into(),
            before: "| `annotate` |",
            lines: pages::rows(&table),
        },
    ];
    let mut differ = Vec::new();
    for part in parts {
        let path = root().join(part.file);
        let is = fs::read_to_string(&path).unwrap();
        let made = part.put_into(&is);
        if is == made {
            continue;
        }
        if std::env::var_os("LOOPBOX_BLESS").is_some() {
            fs::write(path, made).unwrap();
        } else {
            differ.push(part.file);
        }
    }
    assert!(
        differ.is_empty(),
        "not of options.toml: {differ:?}; LOOPBOX_BLESS=1 cargo test -p xtask options writes them"
    );
}
