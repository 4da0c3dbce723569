//! `loopbox symbolize` and `report --symbols`, on code of the command itself.

mod support;

use loopbox_format::report::encode;
use loopbox_report::test_support::ReportBuilder;
use object::{Object, ObjectSymbol};
use std::fs;
use support::{Files, loopbox};

const COMMAND: &str = env!("CARGO_BIN_EXE_loopbox");

/// A report with a native stack of main. The innermost frame is the start of this command's `main`; its
/// caller is in a library that does not exist.
fn report(files: &Files) -> &'static str {
    let bytes = fs::read(COMMAND).unwrap();
    let elf = object::File::parse(&*bytes).unwrap();
    let main = elf.symbols().find(|symbol| {
        symbol
            .name()
            .is_ok_and(|name| name.starts_with("_ZN7loopbox4main17h") || name.ends_with("_7loopbox4main"))
    });
    let main = main.expect("a function main").address();
    let own = ("/data/app/lib/libown.so", elf.build_id().unwrap().expect("a build id"), main);
    let other = ("/system/lib64/libother.so", &[0xAB, 0xCD, 0xEF][..], 0x40);
    let stack = [own, other, ("/memfd:jit-cache", &[][..], 0x80)];
    let report = ReportBuilder::new().running(46, 5_200).interrupted(98, &stack).build().report;
    files.bytes("native.lbx", &encode(&report).unwrap())
}

/// A folder with the command's own file under another name.
fn symbols(files: &Files) -> &'static str {
    let folder = files.path("symbols");
    fs::create_dir_all(format!("{folder}/obj")).unwrap();
    fs::copy(COMMAND, format!("{folder}/obj/libown.so.debug")).unwrap();
    folder
}

#[test]
fn symbolize_names_frames_and_says_what_is_missing() {
    let files = Files::new();
    let run = loopbox(&["symbolize", report(&files), "--symbols", symbols(&files)]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("/data/app/lib/libown.so (loopbox::main) (BuildId: "), "{}", run.stdout);
    assert!(run.stdout.contains("crates/loopbox-cli/src/main.rs:"), "{}", run.stdout);
    let (_, missing) = run.stdout.split_once("  symbols to look for:\n").expect("the list");
    assert_eq!(
        missing.lines().collect::<Vec<_>>(),
        [
            "    /system/lib64/libother.so, build id abcdef: no file has this build id",
            "    /memfd:jit-cache: it has no build id to look for",
        ]
    );
}

#[test]
fn symbolize_json_has_functions_and_what_is_missing() {
    let files = Files::new();
    let run = loopbox(&["symbolize", report(&files), "--symbols", symbols(&files), "--format", "json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["schema"], "loopbox.symbolize/1");
    assert_eq!(json["native"]["frames"][0]["functions"][0]["name"], "loopbox::main");
    assert_eq!(json["native"]["frames"][0]["functions"][0]["inlined"], false);
    assert_eq!(json["missing"][0]["build_id"], "abcdef");
    assert_eq!(json["missing"].as_array().unwrap().len(), 2);
}

#[test]
fn symbolize_without_any_symbols_prints_the_bare_frames() {
    let files = Files::new();
    let empty = files.path("empty");
    fs::create_dir(empty).unwrap();
    let run = loopbox(&["symbolize", report(&files), "--symbols", empty]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stdout.contains("#01 pc 0000000000000040  /system/lib64/libother.so (BuildId: abcdef)"));
    assert_eq!(run.stdout.matches("no file has this build id").count(), 2, "{}", run.stdout);
}

#[test]
fn symbolize_says_when_there_is_nothing_to_do() {
    let files = Files::new();
    let run = loopbox(&["symbolize", files.report("shop.lbx"), "--symbols", "."]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("the report has no native stack"), "{}", run.stderr);
    let run = loopbox(&["symbolize", report(&files), "--symbols", "/no/such/folder"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("cannot search for symbols: /no/such/folder: "), "{}", run.stderr);
    assert_eq!(loopbox(&["symbolize", report(&files)]).code, 64);
}

#[test]
fn report_names_frames_in_the_page() {
    let files = Files::new();
    let run = loopbox(&["report", report(&files), "--symbols", symbols(&files)]);
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains("libown.so (loopbox::main)"));
    let missing: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(missing.len(), 2, "{missing:?}");
    assert!(missing[0].contains("no symbols: /system/lib64/libother.so, build id abcdef: "), "{missing:?}");
}
