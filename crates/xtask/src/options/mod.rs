//! Everything that is generated from `jni-glue/options.toml`, the table of the library's options. The results
//! are committed, so that a reader of `Config.java` sees the whole file. The test fails where a file differs
//! from the table; it writes the files when `LOOPBOX_BLESS` is set.

mod java;
mod pages;
mod rust;
mod table;

use std::fs;

use java::Builder;
use loopbox_setup::workspace::root;
use table::Table;

/// Generated lines of a file. In the file they are between a line that begins with `after` and one that
/// begins with `before`.
struct Part {
    file: &'static str,
    after: String,
    before: &'static str,
    lines: String,
}

impl Part {
    /// The file with these lines in place of the old ones.
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

/// Lines between two comments of a source that is otherwise written by hand.
fn marked(file: &'static str, what: &str, lines: String) -> Part {
    let after = format!("// Made from jni-glue/options.toml: {what}");
    Part { file, after, before: "// End of what is made from jni-glue/options.toml", lines }
}

const CONFIG: &str = "jni-glue/java/io/loopbox/Config.java";
const FRAME_CONFIG: &str = "jni-glue/java/io/loopbox/FrameConfig.java";
const MONITOR_CONFIG: &str = "jni-glue/java/io/loopbox/MonitorConfig.java";
const SETTINGS: &str = "jni-glue/java/io/loopbox/internal/recording/Settings.java";
const FRAME_SETTINGS: &str = "jni-glue/java/io/loopbox/internal/recording/FrameSettings.java";
const MONITOR_SETTINGS: &str = "jni-glue/java/io/loopbox/internal/recording/MonitorSettings.java";
const API: &str = "jni-glue/api/loopbox.api";
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
    let config = Builder { class: "Config", options: &table.options };
    let frames = Builder { class: "FrameConfig", options: &table.frames };
    let monitor = Builder { class: "MonitorConfig", options: &table.monitor };
    let parts = [
        marked(CONFIG, "setters", java::setters(&config)),
        marked(FRAME_CONFIG, "setters", java::setters(&frames)),
        marked(MONITOR_CONFIG, "setters", java::setters(&monitor)),
        marked(SETTINGS, "fields", java::fields(&table.options)),
        marked(FRAME_SETTINGS, "fields", java::fields(&table.frames)),
        marked(MONITOR_SETTINGS, "fields", java::fields(&table.monitor)),
        marked(SETTINGS, "numbers", java::numbers(&table)),
        marked(MANIFEST, "manifest", java::manifest(&table)),
        marked(ARGUMENTS, "arguments", java::arguments(&table)),
        marked(CALLS, "calls", java::calls(&table.options)),
        marked(CALLS, "frame calls", java::calls(&table.frames)),
        marked(CALLS, "monitor calls", java::calls(&table.monitor)),
        marked(NUMBERS, "numbers", rust::numbers(&table)),
        marked(BOUNDS, "bounds", rust::bounds(&table)),
        marked(DRIVER, "numbers", rust::c_numbers(&table)),
        Part {
            file: API,
            after: "public io.loopbox.Config$Builder();".into(),
            before: "public io.loopbox.Config$Builder annotate(",
            lines: pages::api(&config),
        },
        Part {
            file: API,
            after: "public io.loopbox.FrameConfig$Builder();".into(),
            before: "public io.loopbox.FrameConfig build();",
            lines: pages::api(&frames),
        },
        Part {
            file: API,
            after: "public io.loopbox.MonitorConfig$Builder();".into(),
            before: "public io.loopbox.MonitorConfig build();",
            lines: pages::api(&monitor),
        },
        Part {
            file: "docs/integrate.md",
            after: "| `Builder(directory)` |".into(),
            before: "| `annotate` |",
            lines: pages::rows(&table.options),
        },
        Part {
            file: "docs/frames.md",
            after: "|---|---|---|---|---|".into(),
            before: "Windows of Activities are found",
            lines: pages::switches(&table.frames),
        },
        Part {
            file: "docs/monitor.md",
            after: "|---|---|---|---|".into(),
            before: "## Files",
            lines: pages::rows(&table.monitor) + "\n",
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
