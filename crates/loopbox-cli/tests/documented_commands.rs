//! The commands in the documentation run, and the help texts are those that are checked in.

mod support;

use loopbox_adb::fake::FakeAdb;
use loopbox_format::report::encode;
use loopbox_report::cluster::Known;
use loopbox_report::test_frames::SessionBuilder;
use loopbox_report::test_support::ReportBuilder;
use object::Object;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use support::{Files, OpenPage, loopbox, shop_bytes};

/// Pages with commands in code blocks.
const PAGES: [&str; 10] = [
    "crates/loopbox-cli/README.md",
    "docs/clustering.md",
    "docs/diff.md",
    "docs/fleet.md",
    "docs/frames.md",
    "docs/json.md",
    "docs/monitor.md",
    "docs/native-frames.md",
    "docs/parquet.md",
    "docs/reading-a-report.md",
];
/// A mapping of the build that all reports of [`workspace`] come from.
const MAPPING: &str = "com.example.shop.Cart -> a.b:\n    1:1:int total():88:88 -> a\n";

/// A folder with the symbols of the native code in all reports of [`workspace`]. That native code is the
/// program `loopbox` itself, so its file is in the folder. The folder is made once because it is large.
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
    for folder in ["reports", "reports-5.2", "reports-5.3", "base", "variant"] {
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
    let report = |version: &str| {
        let report = obfuscated.clone().with(|report| {
            report.meta.process.pid += u32::from(version.starts_with("5.3"));
            report.meta.process.app_version = version.into();
        });
        encode(&report.build().report).unwrap()
    };
    for name in ["FILE", "hang.lbx", "reports/one.lbx", "reports-5.2/one.lbx", "base/a.lbx"] {
        files.bytes(name, &report("5.2 (502)"));
    }
    for name in ["reports/two.lbx", "reports-5.3/two.lbx", "variant/b.lbx"] {
        files.bytes(name, &report("5.3 (503)"));
    }
    let stall = br#"{"v":1,"t":"2026-11-22T20:10:02.588+00:00","level":2,"wall_ms":731.2}"#;
    fs::create_dir(files.dir().join("uiperf")).unwrap();
    for name in ["uiperf-2026-11-22.jsonl", "uiperf/uiperf-2026-11-22.jsonl"] {
        files.bytes(name, stall);
    }
    let trace = include_str!("../../loopbox-report/tests/traces/blocked.txt");
    let trace = trace.replace("com.example.shop.Cart.total(Cart.kt:40)", "a.b.a(SourceFile:1)");
    for name in ["anr_2026-11-26-18-47-24-123", "anr_2026-11-26", "traces.txt", "logcat.txt"] {
        files.bytes(name, trace.as_bytes());
    }
    files.bytes("known.json", Known::default().to_json().unwrap().as_bytes());
    // One packet of a system's trace, which has the number of its writer.
    files.bytes("profile.perfetto-trace", &[0x0a, 2, 10 << 3, 1]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(MAPPING.as_bytes()).unwrap();
    files.bytes("mapping.txt.gz", &packed.finish().unwrap());
    for name in ["mapping.txt", "mapping-5.2.txt", "mapping-5.3.txt"] {
        files.bytes(name, MAPPING.as_bytes());
    }
    std::os::unix::fs::symlink(symbols, files.path("symbols")).unwrap();
    fs::rename(files.ring(), files.path("pulled.lbr")).unwrap();
    files
}

/// A device with an app that has a report.
fn device() -> FakeAdb {
    let device = FakeAdb::ready().unwrap();
    device.put("com.example.shop", "no_backup/loopbox/hang.lbx", &shop_bytes()).unwrap();
    device
}

/// The commands in the `sh` blocks of a page, without comments and without the programs that they are piped
/// into.
fn documented_commands(page: &str) -> Vec<String> {
    let text = fs::read_to_string(std::env::current_dir().unwrap().join("../..").join(page)).unwrap();
    let blocks = text.split("```").skip(1).step_by(2);
    let shell_blocks = blocks.filter_map(|block| block.strip_prefix("sh\n"));
    let lines = shell_blocks.flat_map(str::lines);
    let starts = lines.filter_map(|line| Some(&line[line.find("loopbox ")?..]));
    let end = |line: &str| ["  ", " #", " |", ";"].iter().filter_map(|end| line.find(end)).min();
    let commands = starts.map(|line| line[..end(line).unwrap_or(line.len())].to_string());
    // One that goes on until it is ended has its own test.
    let commands = commands.filter(|command| !command.starts_with("loopbox open"));
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
        let device = device();
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
        trycmd::TestCases::new().env("PATH", device.path()).case(cases.path().join("page.md")).run();
    }
}

/// The commands under `Examples` in the help of a command; with an empty name, those in the help of `loopbox`
/// itself.
fn examples(command: &str) -> Vec<String> {
    let help = if command.is_empty() { loopbox(&["--help"]) } else { loopbox(&[command, "--help"]) };
    let below = help.stdout.split_once("\nExamples").map_or("", |(_, below)| below);
    let block = below.split_once(":\n").map_or("", |(_, block)| block);
    block.lines().map_while(|line| line.strip_prefix("  ")).map(str::to_owned).collect()
}

/// The names of all commands, as the overview lists them.
fn commands() -> Vec<String> {
    let help = loopbox(&["--help"]).stdout;
    let list = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let named = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_example_in_the_help_runs() {
    let commands = commands();
    assert!(commands.len() > 12, "{commands:?}");
    let folder = Path::new(env!("CARGO_BIN_EXE_loopbox")).parent().unwrap();
    for command in commands.iter().map(String::as_str).chain([""]) {
        let examples = examples(command);
        assert!(!examples.is_empty(), "`loopbox {command} --help` has no example");
        let files = workspace();
        let device = device();
        for example in examples {
            if example.starts_with("loopbox open") {
                // It goes on until it is ended, and is not to start this machine's browser.
                let page = OpenPage::of(&example.split(' ').skip(2).collect::<Vec<_>>(), files.dir());
                assert!(page.url.starts_with("http://127.0.0.1:"), "{example}: {}", page.url);
                continue;
            }
            let mut shell = std::process::Command::new("sh");
            shell.args(["-e", "-c", &example]).current_dir(files.dir());
            let out = shell
                .env("PATH", format!("{}:{}", folder.display(), device.path()))
                .env("HOME", files.dir())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&out.stderr);
            assert!(out.status.success() && said.is_empty(), "{example}: {:?} {said}", out.status);
        }
    }
}

#[test]
fn documented_formats_can_be_exported() {
    let files = workspace();
    let page = fs::read_to_string("../../docs/exports.md").unwrap();
    let formats: Vec<&str> = page
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    for format in &formats {
        // The only one that is not of reports.
        let file = files.path(if *format == "parquet-stalls" { "uiperf-2026-11-22.jsonl" } else { "FILE" });
        let run = loopbox(&["export", file, "--format", format, "-o", files.path(format)]);
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
