//! The commands in the documentation run, and the help text is the one that is checked in.

mod support;

use loopbox_format::report::encode;
use loopbox_report::test_frames::SessionBuilder;
use loopbox_report::test_support::ReportBuilder;
use object::Object;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use support::{Files, loopbox};

/// Pages with commands in code blocks.
const PAGES: [&str; 7] = [
    "crates/loopbox-cli/README.md",
    "docs/clustering.md",
    "docs/frames.md",
    "docs/json.md",
    "docs/native-frames.md",
    "docs/parquet.md",
    "docs/reading-a-report.md",
];
/// A mapping of the build that all reports of [`workspace`] are of.
const MAPPING: &str = "com.example.shop.Cart -> a.b:\n    1:1:int total():88:88 -> a\n";

/// A folder with the symbols of the native code in all reports of [`workspace`]: the command itself, made once because it
/// is large.
fn symbols() -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("symbols");
        fs::create_dir_all(&folder).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_loopbox"), folder.join("loopbox")).unwrap();
        folder
    });
    FOLDER.clone()
}

/// The files that documented commands name.
fn workspace() -> Files {
    let files = Files::new();
    for folder in ["reports", "base", "variant"] {
        fs::create_dir(files.dir().join(folder)).unwrap();
    }
    let symbols = symbols();
    let own = fs::read(symbols.join("loopbox")).unwrap();
    let own = object::File::parse(&*own).unwrap();
    let build_id = own.build_id().unwrap().expect("a build id");
    let obfuscated = ReportBuilder::new()
        .running(46, 5_200)
        .interrupted(98, &[("/data/app/lib/libshop.so", build_id, own.entry())])
        .doing("android.os.Handler", "com.example.shop.Checkout", 5_050)
        .looper_tree(46, &[("com.example.shop.Checkout.run:4 a.b.a:1", 515)])
        .with(|report| {
            report.frames = SessionBuilder::new().scroll("com.example.Feed", &[17, 98, 17]).build();
        });
    let report = encode(&obfuscated.build().report).unwrap();
    for name in ["FILE", "hang.lbx", "reports/one.lbx", "reports/two.lbx", "base/a.lbx", "variant/b.lbx"] {
        files.bytes(name, &report);
    }
    for name in ["mapping.txt", "mapping-5.2.txt", "mapping-5.3.txt"] {
        files.bytes(name, MAPPING.as_bytes());
    }
    std::os::unix::fs::symlink(symbols, files.path("symbols")).unwrap();
    fs::rename(files.ring(), files.path("pulled.lbr")).unwrap();
    files
}

/// The commands in the `sh` blocks of a page, without comments, and without what they are piped into.
fn documented_commands(page: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page)).unwrap();
    let blocks = text.split("```").skip(1).step_by(2);
    let shell_blocks = blocks.filter_map(|block| block.strip_prefix("sh\n"));
    let lines = shell_blocks.flat_map(str::lines);
    let starts = lines.filter_map(|line| Some(&line[line.find("loopbox ")?..]));
    let end = |line: &str| ["  ", " #", " |", ";"].iter().filter_map(|end| line.find(end)).min();
    let commands = starts.map(|line| line[..end(line).unwrap_or(line.len())].to_string());
    // No shell runs them: a pattern and a variable stand for files.
    commands
        .map(|command| {
            command.replace("reports/*.lbx", "reports/one.lbx reports/two.lbx").replace("\"$f\"", "FILE")
        })
        .collect()
}

#[test]
fn documented_commands_succeed() {
    for page in PAGES {
        let commands = documented_commands(page);
        assert!(!commands.is_empty(), "{page} has no command");
        let files = workspace();
        let mut case = String::new();
        for command in &commands {
            let _ = write!(case, "```console\n$ {command}\n...\n\n```\n\n");
        }
        // trycmd runs the commands of NAME.md in the folder NAME.in.
        let cases = tempfile::tempdir().unwrap();
        fs::write(cases.path().join("page.md"), case).unwrap();
        fs::rename(files.dir(), cases.path().join("page.in")).unwrap();
        println!("{page}: {commands:#?}");
        trycmd::TestCases::new().case(cases.path().join("page.md")).run();
    }
}

#[test]
fn documented_formats_can_be_exported() {
    let files = workspace();
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exports.md")).unwrap();
    let formats: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    for format in &formats {
        let run = loopbox(&["export", files.path("FILE"), "--format", format, "-o", files.path(format)]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{format}");
        assert!(fs::metadata(files.path(format)).unwrap().len() > 0, "{format}");
    }
    let unknown = loopbox(&["export", "FILE", "--format", "none"]).stderr;
    let known = unknown.split_once("[possible values: ").unwrap().1.split(']').next().unwrap();
    assert_eq!(formats.join(", "), known, "the page lists all formats");
}

#[test]
fn help_is_the_one_checked_in() {
    trycmd::TestCases::new().env("COLUMNS", "100").case("tests/cmd/*.trycmd").run();
}
