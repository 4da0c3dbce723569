//! ANR traces as files: every command that reads a report also reads them.

mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use support::{Files, loopbox, shop_bytes};

const BLOCKED: &str = include_str!("../../loopbox-report/tests/traces/blocked.txt");
const HEADLINE: &str =
    "Main waits for the monitor of a com.example.shop.Store, held by thread sync in Thread.sleep";
const MAPPING: &str = r#"# compiler: R8
com.example.shop.Cart -> a.b:
# {"id":"sourceFile","fileName":"Cart.kt"}
    1:4:int total():40:43 -> a
com.example.shop.Store -> a.c:
# {"id":"sourceFile","fileName":"Store.kt"}
"#;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The trace [`BLOCKED`] with names that R8 obfuscated.
fn obfuscated() -> String {
    let frames = BLOCKED.replace("com.example.shop.Cart.total(Cart.kt:40)", "a.b.a(SourceFile:1)");
    frames.replace("com.example.shop.Store", "a.c")
}

/// Runs the command with this on its standard input.
fn piped(args: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopbox"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let out = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn every_command_reads_a_trace() {
    let files = Files::new();
    let file = files.bytes("anr_2026-11-26-12-00-05-612", BLOCKED.as_bytes());
    for args in [
        &["show", file][..],
        &[file],
        &["show", "--json", file],
        &["diagnose", file],
        &["diagnose", "--json", file],
        &["diagnose", "--format", "markdown", file],
        &["report", file],
        &["cluster", file],
        &["export", "-f", "json", file],
    ] {
        let run = loopbox(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
        assert!(run.stdout.contains("com.example.shop.Store"), "{args:?}: {}", run.stdout);
        assert!(run.stdout.contains("held by thread sync"), "{args:?}: {}", run.stdout);
    }
    for args in
        [&["flame", file][..], &["export", "-f", "collapsed", file], &["export", "-f", "speedscope", file]]
    {
        let run = loopbox(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
        assert!(run.stdout.contains("Cart.total"), "{args:?}: {}", run.stdout);
    }
    let table = files.path("table.parquet");
    assert_eq!(loopbox(&["export", "-f", "parquet", file, "-o", table]).code, 0);
    let shown = loopbox(&["show", file]).stdout;
    assert!(shown.contains("a recorder in the app knows besides"), "{shown}");
    for wrong in ["unknown recorder", "HISTORY", "PENDING", "installed"] {
        assert!(!shown.contains(wrong), "{wrong}: {shown}");
    }
    assert_eq!(loopbox(&["check", file]).code, 1, "it is no report");
}

#[test]
fn a_trace_is_read_as_it_comes_out_of_mail_bug_reports_and_editors() {
    let files = Files::new();
    let utf16: Vec<u8> =
        [0xFEFF].into_iter().chain(BLOCKED.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let old = BLOCKED.replace("Cart.total", "Cart.old");
    let bug_report = zip(&[
        ("version.txt", b"2.0"),
        ("bugreport-shiba-2026-11-26.txt", b"== dumpstate"),
        ("FS/data/anr/anr_2026-11-25-10-00-00-000", old.as_bytes()),
        ("FS/data/anr/anr_2026-11-26-12-00-05-612", BLOCKED.as_bytes()),
    ]);
    let older = format!(
        "== dumpstate\n------ VM TRACES AT LAST ANR (/data/anr/traces.txt: 2026) ------\n{BLOCKED}\n------ END ------\n"
    );
    let older = zip(&[("bugreport-x.txt", older.as_bytes())]);
    for (name, bytes, note) in [
        ("t.gz", gzip(BLOCKED.as_bytes()), ""),
        ("t.txt", utf16, ""),
        (
            "bugreport.zip",
            bug_report,
            "FS/data/anr/anr_2026-11-26-12-00-05-612, the last of 2 traces in the archive",
        ),
        ("older.zip", older, ""),
        ("t.zip.gz", gzip(&zip(&[("traces.txt", BLOCKED.as_bytes())])), ""),
    ] {
        let run = loopbox(&["diagnose", files.bytes(name, &bytes)]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        assert!(run.stdout.contains(HEADLINE), "{name}: {}", run.stdout);
        assert!(
            run.stderr.contains(note) && (note.is_empty() == run.stderr.is_empty()),
            "{name}: {}",
            run.stderr
        );
    }
    let (code, out, _) = piped(&["diagnose", "-"], BLOCKED.as_bytes());
    assert!(code == 0 && out.contains(HEADLINE), "{out}");
}

#[test]
fn a_trace_is_found_in_a_text_of_any_length() {
    let files = Files::new();
    let line = "11-26 12:00:00.000  99  99 I Tag: a line of a log that says nothing\n";
    let in_front = line.repeat(400_000) + BLOCKED;
    assert!(in_front.len() > 20 << 20);
    let threads: String = (100..9_000).fold(BLOCKED.replace("----- end 4321 -----\n", ""), |text, tid| {
        text + &format!(
            "\"pool-{tid}\" prio=5 tid={tid} Waiting\n  | sysTid={tid}\n{}\n",
            "  at a.B.c(B.java:1)\n".repeat(8)
        )
    });
    for (name, text) in [("log.txt", in_front), ("threads.txt", threads)] {
        let run = loopbox(&["diagnose", files.bytes(name, text.as_bytes())]);
        assert!(run.stdout.contains(HEADLINE), "{name}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn of_a_trace_that_was_cut_what_came_is_shown() {
    let files = Files::new();
    let mut long = BLOCKED.to_owned();
    for n in 0..9_000_u32 {
        let _ = writeln!(long, "{:x}", n.wrapping_mul(2_654_435_761));
    }
    let packed = gzip(long.as_bytes());
    let run = loopbox(&["diagnose", files.bytes("cut.gz", &packed[..packed.len() - 9_000])]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stdout.contains(HEADLINE), "{}", run.stdout);
    assert!(run.stderr.contains("the gzip file is damaged or cut behind"), "{}", run.stderr);
    // A report that was cut is none.
    let report = gzip(&shop_bytes());
    let run = loopbox(&["show", files.bytes("r.gz", &report[..report.len() - 9])]);
    assert!(run.code == 1 && run.stderr.contains("a gzip file that cannot be unpacked"), "{}", run.stderr);
}

#[test]
fn of_several_processes_one_is_chosen_and_said() {
    let files = Files::new();
    let other = BLOCKED.replace("4321", "900").replace("com.example.shop", "com.example.other");
    let file = files.bytes("traces.txt", format!("{BLOCKED}\n{other}").as_bytes());
    let run = loopbox(&["diagnose", file]);
    assert!(run.code == 0 && run.stdout.contains(HEADLINE), "{}", run.stdout);
    let note = "shown is com.example.shop (pid 4321), the first of 2 processes: --process NAME takes another";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    for process in ["com.example.other", "900"] {
        let run = loopbox(&["diagnose", "--process", process, file]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.contains("com.example.other.Store"), "{}", run.stdout);
    }
    let run = loopbox(&["diagnose", "--process", "none", file]);
    assert!(
        run.code == 1 && run.stderr.contains("it has 2 (com.example.shop, com.example.other, …)"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_of_another_kind_says_what_is_read() {
    let files = Files::new();
    for (name, bytes) in [
        ("log.txt", &b"11-26 12:00:00.000 I ActivityManager: Start proc\n"[..]),
        ("crash.txt", b"java.lang.Error: no\n\tat a.B.c(B.java:1)\n"),
        ("picture.jpg", b"\xff\xd8\xff\xe0"),
    ] {
        let run = loopbox(&["show", files.bytes(name, bytes)]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{name}");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        for accepted in
            [".lbx", "/data/anr", "traces.txt", "ApplicationExitInfo", "Play Console", "Crashlytics", "gzip"]
        {
            assert!(run.stderr.contains(accepted), "{name}: {}", run.stderr);
        }
    }
}

#[test]
fn a_small_file_does_not_become_a_large_one() {
    let files = Files::new();
    let bomb = gzip(&"\"main\" prio=5 tid=1 Native\n  at a.B.c(B.java:1)\n".repeat(3_000_000).into_bytes());
    assert!(bomb.len() < 1 << 20);
    for (name, bytes) in [("bomb.gz", bomb.clone()), ("bomb.zip", zip(&[("anr_1", &bomb)]))] {
        let run = loopbox(&["show", files.bytes(name, &bytes)]);
        assert!(
            run.code == 1 && run.stderr.contains("larger than a report can be"),
            "{name}: {}",
            run.stderr
        );
    }
    let mapping = files.bytes("mapping.txt.gz", &gzip(&b"a -> b:\n"[..].repeat(100)));
    let run = loopbox(&["retrace", "--mapping", mapping, files.path("bomb.gz")]);
    assert!(run.code == 1 && run.stderr.contains("larger than a report can be"), "{}", run.stderr);
}

#[test]
fn a_trace_and_any_other_text_are_retraced() {
    let files = Files::new();
    let mapping = files.bytes("mapping.txt", MAPPING.as_bytes());
    let packed = files.bytes("mapping.txt.gz", &gzip(MAPPING.as_bytes()));
    let file = files.bytes("anr.txt", obfuscated().as_bytes());
    for mapping in [mapping, packed] {
        let run = loopbox(&["retrace", file, "--mapping", mapping]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert_eq!(run.stdout, BLOCKED, "the text of the source, and no other change");
        let run = loopbox(&["diagnose", file, "--mapping", mapping]);
        assert!(run.code == 0 && run.stdout.contains(HEADLINE), "{}{}", run.stdout, run.stderr);
    }
    let log = "11-26 12:00:00.000  99  99 E AndroidRuntime: \tat a.b.a(SourceFile:3)\nCaused by: a.c: no\n";
    let wanted = "11-26 12:00:00.000  99  99 E AndroidRuntime: \tat com.example.shop.Cart.total(Cart.kt:42)\nCaused by: \
                  com.example.shop.Store: no\n";
    for args in [&["retrace", "--mapping", mapping][..], &["retrace", "-", "--mapping", mapping]] {
        assert_eq!(piped(args, log.as_bytes()), (0, wanted.to_owned(), String::new()), "{args:?}");
    }
    let out = files.path("out.txt");
    assert_eq!(loopbox(&["retrace", file, "--mapping", mapping, "-o", out]).code, 0);
    assert_eq!(fs::read_to_string(out).unwrap(), BLOCKED);
}

#[test]
fn a_text_without_renamed_names_reports_what_was_missing() {
    let files = Files::new();
    let mapping = files.bytes("mapping.txt", MAPPING.as_bytes());
    for (text, says) in [
        ("no frame at all\n", "no frame, lock or exception of the app is in the text"),
        ("  at z.Z.z(SourceFile:1)\n", "its class z.Z is not in the mapping under another name"),
        ("  at z.Z.z(SourceFile:1)\n  at z.Y.z(SourceFile:1)\n", "none of its 2 classes (z.Y, z.Z, …)"),
    ] {
        let (code, out, error) = piped(&["retrace", "--mapping", mapping], text.as_bytes());
        assert_eq!((code, out.as_str()), (2, text), "{error}");
        assert!(error.contains("nothing was renamed") && error.contains(says), "{error}");
    }
    let (code, _, error) = piped(&["retrace", "--mapping", mapping], b"\xff\xd8\xff\0\0\0\0");
    assert_eq!(code, 1, "{error}");
}

#[test]
fn several_files_are_a_line_each_and_their_groups() {
    let files = Files::new();
    let trace = files.bytes("anr_1", BLOCKED.as_bytes());
    let report = files.report("r.lbx");
    let run = loopbox(&[trace, report]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("{trace}: {HEADLINE} (medium confidence)")), "{}", run.stdout);
    assert!(lines[1].starts_with(&format!("{report}: The running message")), "{}", run.stdout);
    assert!(run.stdout.contains("2 reports"), "{}", run.stdout);
    assert_eq!(loopbox(&["show", "--json", trace, report]).code, 64);
    let run = loopbox(&[trace, files.path("typo.lbx")]);
    assert!(run.code == 2 && run.stderr.contains("typo.lbx: No such file"), "{}", run.stderr);
}

#[test]
fn a_file_that_does_not_exist_is_no_subcommand() {
    let files = Files::new();
    for name in ["typo.lbx", "typo.lbr"] {
        let run = loopbox(&[name]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert_eq!(run.stderr, format!("loopbox: {name}: No such file or directory (os error 2)\n"));
    }
    assert_eq!(loopbox(&[files.path("none")]).code, 1);
    assert_eq!(loopbox(&["shwo"]).code, 64);
}

#[test]
fn what_has_nothing_to_write_says_so() {
    let files = Files::new();
    let bytes =
        loopbox_format::report::encode(&loopbox_report::test_support::ReportBuilder::new().build().report);
    let empty = files.bytes("empty.lbx", &bytes.unwrap());
    let run = loopbox(&["export", "-f", "collapsed", empty]);
    assert!(run.stderr.contains("the report has no stacks"), "{}", run.stderr);
    let table = files.path("screens.parquet");
    let run = loopbox(&["export", "-f", "parquet-screens", empty, "-o", table]);
    assert!(run.code == 0 && run.stderr.contains("the table has no row"), "{}", run.stderr);
    let run = loopbox(&["monitor", empty]);
    assert!(run.code == 1 && run.stderr.contains("this is a report"), "{}", run.stderr);
}
