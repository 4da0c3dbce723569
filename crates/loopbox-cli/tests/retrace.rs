//! `loopbox retrace` and `--mapping` as a user runs them.

mod support;

use loopbox_format::report::encode;
use loopbox_report::test_support::ReportBuilder;
use support::{Files, loopbox};

const MAPPING: &str = "\
# compiler: R8
# pg_map_id: 5ac1e0f
com.example.shop.Cart -> a.b:
    1:1:int com.example.shop.Price.sum(java.util.List):7:7 -> a
    1:1:int total():88 -> a
com.example.shop.Checkout$1 -> a.c:
    4:4:void run():31:31 -> run
";

fn obfuscated(files: &Files) -> &'static str {
    let report = ReportBuilder::new()
        .running(46, 5_200)
        .doing("android.os.Handler", "a.c", 5_050)
        .looper_tree(46, &[("a.c.run:4 a.b.a:1", 515)])
        .with(|r| r.symbols.methods[2].source_file = "r8-map-id-5ac1e0f".into());
    files.bytes("obfuscated.lbx", &encode(&report.build().report).unwrap())
}

#[test]
fn mapping_deobfuscates_the_output_of_every_command() {
    let files = Files::new();
    let file = obfuscated(&files);
    let mapping = files.bytes("mapping.txt", MAPPING.as_bytes());
    for args in [
        &["retrace", file][..],
        &["show", file],
        &["show", "--json", file],
        &["diagnose", file],
        &["report", file],
        &["flame", file],
        &["export", "-f", "collapsed", file],
        &["export", "-f", "json", file],
    ] {
        let args = [args, &["--mapping", mapping]].concat();
        let run = loopbox(&args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
        assert!(run.stdout.contains("com.example.shop.Price"), "{args:?}: {}", run.stdout);
        assert!(!run.stdout.contains("a.b.a"), "{args:?}: {}", run.stdout);
    }
}

#[test]
fn retrace_writes_a_report() {
    let files = Files::new();
    let mapping = files.bytes("mapping.txt", MAPPING.as_bytes());
    let out = files.path("plain.lbx");
    let file = obfuscated(&files);
    let run = loopbox(&["retrace", file, "--mapping", mapping, "-o", out]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    let with_mapping = loopbox(&["show", file, "--mapping", mapping]).stdout;
    assert_eq!(loopbox(&["show", out]).stdout, with_mapping);
}

#[test]
fn mapping_of_another_build_is_a_warning_and_changes_nothing() {
    let files = Files::new();
    let file = obfuscated(&files);
    let other = files.bytes("other.txt", MAPPING.replace("5ac1e0f", "0000000").as_bytes());
    let run = loopbox(&["show", file, "--mapping", other]);
    assert_eq!(run.code, 2);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("not deobfuscated: the mapping is of another build"), "{}", run.stderr);
    assert!(run.stdout.contains("a.b.a"), "{}", run.stdout);

    let out = files.path("out.lbx");
    let run = loopbox(&["retrace", file, "--mapping", other, "-o", out]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(!std::path::Path::new(out).exists());

    let right = files.bytes("mapping.txt", MAPPING.as_bytes());
    let run = loopbox(&["show", file, "--mapping", other, "--mapping", right]);
    assert_eq!(run.code, 0, "of several mappings the matching one is used: {}", run.stderr);
}

#[test]
fn mapping_of_another_kind_is_one_line() {
    let files = Files::new();
    let file = obfuscated(&files);
    let folder = files.dir().to_str().unwrap();
    for (mapping, words) in [
        (files.bytes("empty.txt", b""), "the mapping is empty"),
        (files.bytes("x.zip", b"PK\x03\x04\0\xff"), "not a ProGuard or R8 mapping"),
        (files.path("none.txt"), "No such file"),
        (folder, "Is a directory"),
    ] {
        for command in ["show", "retrace", "flame"] {
            let run = loopbox(&[command, file, "--mapping", mapping]);
            assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{command} {mapping}");
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
            assert!(run.stderr.contains(mapping) && run.stderr.contains(words), "{}", run.stderr);
        }
    }
    assert_eq!(loopbox(&["retrace", file]).code, 64);
}
