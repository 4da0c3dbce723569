//! Ten causes, each in twenty variants: `loopbox cluster` makes ten groups from them in each setting for
//! which docs/clustering.md promises that.
//!
//! The reports are generated for five versions, each with different lines, numbers of anonymous classes and
//! names of R8. In each version a cause has four stacks: the plain one, one with frames of device makers, one
//! with a deeper recursion, and one with different internals of the platform.

mod support;

use loopbox_format::model::Report;
use loopbox_report::test_support::ReportBuilder;
use serde_json::Value;
use support::builds::{APP, Build, of_version};
use support::{Files, loopbox, recorded};

const VERSIONS: u32 = 5;
const SHAPES: usize = 4;

/// For each cause, the frames that the dispatch of the message calls, outermost first. The stack with a
/// deeper recursion has the part in brackets repeatedly; the other stacks of the cause have it once.
const CAUSES: [&str; 10] = [
    "Sleeper$1.run:10 Sleeper.rest:20 java.lang.Thread.sleep!",
    "Tax$1.run:10 [Tax.sum:20]",
    "Orders$1.run:10 Orders.all:20 DB.query:30 android.database.sqlite.SQLiteConnection.nativeExecute!",
    "Feed$1.run:10 Feed.bind:20 UI.draw:30",
    "Importer$1.run:10 Json.value:20 [Json.array:30 Json.value:20]",
    "Tree$1.run:10 Tree.open:20 [Node.visit:30 Leaf.visit:40 Node.visit:30 Leaf.visit:40] Node.visit:30",
    "Ledger$1.run:10 Ledger.book:20 java.util.concurrent.locks.LockSupport.park:190 sun.misc.Unsafe.park!",
    "Exporter$1.run:10 Exporter.write:20 java.io.FileOutputStream.write:3 libcore.io.Linux.writeBytes!",
    "Apps$1.run:10 Apps.list:20 android.content.pm.IPackageManager$Stub$Proxy.getPackageInfo:5 \
     android.os.BinderProxy.transactNative!",
    "Codec$1.run:10 Codec.decode:20 Codec.nativeDecode!",
];
/// Parts of the names of the classes from which the app's other code is called. A manifest or a layout names
/// such classes, so R8 may keep their names.
const ENTRIES: [&str; 10] = [
    ".Sleeper$",
    ".Tax$",
    ".Orders$",
    ".Feed$",
    ".Importer$",
    ".Tree$",
    ".Ledger$",
    ".Exporter$",
    ".Apps$",
    ".Codec$",
];
/// What makers of devices put between an app's frames.
const MAKERS: [&str; 4] = [
    "com.oplus.view.OplusHook.call:7",
    "com.samsung.android.app.SemTrace.run:8",
    "com.mediatek.boostfwk.Boost.begin:9",
    "miui.util.Watch.run:6",
];

/// The stack of a cause in one of its shapes, with the full names of the app's classes.
fn stack(cause: &str, shape: usize) -> String {
    let (before, rest) = cause.split_once('[').unwrap_or((cause, ""));
    let (again, after) = rest.split_once(']').unwrap_or_default();
    let times = if shape == 2 { 6 } else { 1 };
    let again = vec![again; times].join(" ");
    let whole = [before, &again, after].concat();
    let in_full = |frame: &str| match frame.split('.').count() {
        0..=2 => format!("{APP}shop.{frame}"),
        _ => frame.to_owned(),
    };
    let frames = whole.split_whitespace().map(in_full).enumerate();
    let mut stack: Vec<String> = Vec::new();
    for (nth, frame) in frames {
        match (shape, nth) {
            (1, 1..) => stack.push(MAKERS[nth % MAKERS.len()].to_owned()),
            (3, 0) => stack.push("android.os.Handler.handleCallback:938".to_owned()),
            _ => {}
        }
        stack.push(frame);
    }
    stack.join(" ")
}

fn report(cause: &str, shape: usize) -> Report {
    let callback = format!("{APP}shop.{}", cause.split('.').next().unwrap_or_default());
    let report = ReportBuilder::new().group(45, 310, 240).running(46, 6_000);
    let report = report.doing("android.os.Handler", &callback, 2_000);
    report.looper_tree(46, &[(&stack(cause, shape), 590)]).build().report
}

/// Groups all variants, and expects one group for each cause. `r8`: the reports are obfuscated, except for
/// the classes with these names. `mapped`: the command gets the mapping of each version.
fn groups_are_the_causes(r8: Option<&'static [&'static str]>, mapped: bool) {
    let files = Files::new();
    let folder = files.path("reports");
    std::fs::create_dir(folder).unwrap();
    let mut arguments = vec!["cluster".to_owned(), "--json".into(), folder.into()];
    for version in 1..=VERSIONS {
        let mut build = Build::new(version, r8.unwrap_or_default());
        for (nth, cause) in CAUSES.iter().enumerate() {
            for shape in 0..SHAPES {
                let mut report = of_version(&report(cause, shape), version);
                if r8.is_some() {
                    build.obfuscate(&mut report);
                }
                files.bytes(&format!("reports/{nth}-{version}-{shape}.lbx"), &recorded(&report));
            }
        }
        if mapped {
            let mapping = files.bytes(&format!("mapping-{version}.txt"), build.mapping().as_bytes());
            arguments.extend(["--mapping".into(), mapping.into()]);
        }
    }
    let run = loopbox(&arguments);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let groups = json["groups"].as_array().unwrap();
    let titles: Vec<String> =
        groups.iter().map(|group| format!("{} {}", group["reports"], group["frames"])).collect();
    assert_eq!((json["reports"].as_u64(), groups.len()), (Some(200), CAUSES.len()), "{titles:#?}");
    for group in groups {
        let of = (&group["reports"], &group["versions"]["count"], &group["obfuscated_version"]);
        assert_eq!(of, (&20.into(), &5.into(), &"".into()), "{titles:#?}");
        let frames: Vec<&str> =
            group["frames"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let path = group["representative"]["path"].as_str().unwrap();
        let nth: usize = path.rsplit('/').next().unwrap()[..1].parse().unwrap();
        assert!(frames[0].contains(ENTRIES[nth]), "{frames:?} of cause {nth}");
        assert_eq!(frames.contains(&"…"), r8.is_some() && !mapped, "{frames:?}");
    }
}

#[test]
fn variants_with_their_names_are_grouped_by_cause() {
    groups_are_the_causes(None, false);
}

#[test]
fn variants_of_obfuscated_builds_with_their_mappings_are_grouped_by_cause() {
    groups_are_the_causes(Some(&[]), true);
}

#[test]
fn variants_of_obfuscated_builds_whose_entries_kept_their_names_are_grouped_by_cause() {
    groups_are_the_causes(Some(&ENTRIES), false);
}
