//! The commands' JSON output matches the schemas in `docs/schema`.

mod support;

use loopbox_format::model::{Anr, AnrVerdict, ProcessExit, QuitSignal, SignalOrigin, SystemWord, Token};
use loopbox_report::test_frames::SessionBuilder;
use loopbox_report::test_support::{OUTSIDE, ReportBuilder, full};
use std::path::Path;
use support::tools::{npm_file, python};
use support::{Files, loopbox, recorded, shop};

/// The path of a published schema.
fn schema(name: &str) -> String {
    let path = std::env::current_dir().unwrap().join("../../docs/schema").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// Checks that all files match the schema.
fn check(schema: &str, files: &[&'static str]) {
    let arguments: Vec<&str> = [schema].into_iter().chain(files.iter().copied()).collect();
    assert_eq!(python("schema_check.py", &arguments).trim(), format!("{} valid", files.len()));
}

/// A trace; [`BINDER`] is the stack of main in it.
const TRACE: &str = include_str!("../../loopbox-report/tests/traces/android14-binder.txt");
const BINDER: &str =
    "com.example.shop.Cart$1.run:31 com.example.shop.Cart.load:44 android.os.BinderProxy.transactNative!";

/// Reports of all kinds.
fn reports() -> Vec<(&'static str, ReportBuilder)> {
    let locked = full()
        .waits_for("com.example.shop.Db", "sync-1", "java.lang.Thread.run com.example.shop.Sync.run:9")
        .thread("sync", Some("java.lang.Thread.run com.example.Sync.run:9"))
        .thread("RenderThread", None)
        .interrupted(98, &[("/apex/com.android.runtime/lib64/bionic/libc.so", &[0xAB; 20], 0x9_C2C4)])
        .with(|report| {
            report.lost = vec!["ring offset 7: slot is damaged".into()];
            report.anr = Anr {
                verdict: AnrVerdict::Confirmed,
                ran_ns: 10_000_000_000,
                hang_threshold_ns: Some(5_000_000_000),
                overdue_ns: Some(6_000_000_000),
                ended_after_ns: Some(11_000_000_000),
                signal: Some(QuitSignal { origin: SignalOrigin::System, pid: 9, uid: 1_000, count: 1 }),
                system: Some(SystemWord::NotResponding("Input".into())),
                exit: Some(ProcessExit { reason: ProcessExit::ANR, description: "anr".into(), unix_ms: 7 }),
                ..Anr::default()
            };
        });
    let stack = "android.os.MessageQueue.next com.example.Trim.queueIdle";
    let outside =
        ReportBuilder::new().group(98, 310, 9_000).outside(6_000, true).tree(OUTSIDE, &[(stack, 590)]);
    assert!(Token(OUTSIDE).is_outside());
    vec![
        ("shop", shop()),
        ("locked", locked),
        ("outside", outside),
        ("idle", ReportBuilder::new().group(3, 30, 0).idle_at_dump(4_000)),
        ("empty", ReportBuilder::new()),
        (
            "traced",
            ReportBuilder::new().running(46, 5_200).looper_tree(46, &[(BINDER, 515)]).system_trace(TRACE),
        ),
        ("of another moment", shop().system_trace(TRACE)),
    ]
}

#[test]
fn reports_and_verdicts_are_of_the_published_schema() {
    let files = Files::new();
    let mut lbx: Vec<&str> = Vec::new();
    for (name, report) in reports() {
        lbx.push(files.bytes(&format!("{name}.lbx"), &recorded(&report.build().report)));
    }
    lbx.push(files.damaged("damaged.lbx"));
    for (arguments, schema) in [
        (&["show", "--json"][..], schema("report-1.schema.json")),
        (&["diagnose", "--json"], schema("report-1.schema.json#/$defs/verdict")),
    ] {
        let printed = |file: &&str| {
            let run = loopbox(&[arguments, &[*file]].concat());
            files.bytes(
                &format!("{}.json", Path::new(file).file_stem().unwrap().display()),
                run.stdout.as_bytes(),
            )
        };
        check(&schema, &lbx.iter().map(printed).collect::<Vec<_>>());
    }
}

#[test]
fn every_published_schema_is_printed_by_its_name() {
    let names = loopbox(&["schema"]).stdout;
    let mut printed: Vec<String> = names.lines().map(|name| format!("{name}-1.schema.json")).collect();
    for (name, file) in names.lines().zip(&printed) {
        let run = loopbox(&["schema", name]);
        assert_eq!((run.code, run.stdout), (0, std::fs::read_to_string(schema(file)).unwrap()), "{name}");
    }
    let folder = std::fs::read_dir(Path::new(&schema("report-1.schema.json")).parent().unwrap()).unwrap();
    let mut published: Vec<String> =
        folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    printed.sort();
    published.sort();
    assert_eq!(printed, published);
    assert_eq!(loopbox(&["schema", "reports"]).code, 64);
}

#[test]
fn groups_are_of_the_published_schema() {
    let files = Files::new();
    for (name, report) in reports() {
        files.bytes(&format!("{name}.lbx"), &recorded(&report.build().report));
    }
    let folder = files.dir().to_str().unwrap();
    let groups = loopbox(&["cluster", "--json", folder]).stdout;
    let session = SessionBuilder::new().scroll_with("Feed", &[17, 117, 17], Some(46)).build();
    let report = shop().with(|report| report.frames = session).build().report;
    let janks =
        loopbox(&["cluster", "--json", "--jank", files.bytes("janks.lbx", &recorded(&report))]).stdout;
    let printed =
        [files.bytes("groups.json", groups.as_bytes()), files.bytes("janks.json", janks.as_bytes())];
    check(&schema("cluster-1.schema.json"), &printed);
}

#[test]
fn display_frames_are_of_the_published_schemas() {
    let files = Files::new();
    let session = |times: &[u64]| SessionBuilder::new().scroll_with("Feed", times, Some(46)).build();
    let report = |name: &str, times: &[u64]| {
        let report = shop().with(|report| report.frames = session(times)).build().report;
        files.bytes(name, &recorded(&report))
    };
    let (smooth, janky) = (report("smooth.lbx", &[17, 17, 17]), report("janky.lbx", &[17, 117, 17]));
    let printed = |name: &str, arguments: &[&str]| {
        files.bytes(name, loopbox(&[&["frames", "--json"], arguments].concat()).stdout.as_bytes())
    };
    check(&schema("frames-1.schema.json"), &[printed("frames.json", &[janky])]);
    let compared = printed("compared.json", &[smooth, "--compare", janky, "--fail-if", "hitch>+10%"]);
    check(&schema("frames-compare-1.schema.json"), &[compared]);
    check(
        &schema("report-1.schema.json"),
        &[files.bytes("show.json", loopbox(&["show", "--json", janky]).stdout.as_bytes())],
    );
}

#[test]
fn tickets_for_code_scanning_are_of_the_sarif_standard() {
    let standard = npm_file("@microsoft/jest-sarif", "1.0.0-beta.0", "lib/schemas/sarif-2.1.0-rtm.5.json");
    let files = Files::new();
    let mut logs = Vec::new();
    for (name, report) in reports() {
        let lbx = files.bytes(&format!("{name}.lbx"), &recorded(&report.build().report));
        let run = loopbox(&["diagnose", "--format", "sarif", lbx]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}");
        logs.push(files.bytes(&format!("{name}.sarif"), run.stdout.as_bytes()));
    }
    let standard = [standard.to_str().unwrap()];
    let arguments: Vec<&str> = standard.into_iter().chain(logs.iter().copied()).collect();
    assert_eq!(python("schema_check.py", &arguments).trim(), "7 valid");
}
