//! Twenty causes, each in three versions of an app, obfuscated and not: `loopbox cluster` makes twenty groups
//! from them.
//!
//! The reports are generated. Each version has different lines and numbers of anonymous classes; R8 gives
//! each class and method another name in each version, and writes a mapping of the build.

mod support;

use loopbox_format::model::{LockHolder, Report};
use loopbox_report::test_support::{OUTSIDE, ReportBuilder};
use serde_json::Value;
use support::builds::{APP, Build, of_version};
use support::{Files, loopbox, recorded};

const VERSIONS: u32 = 3;
/// A cause that shows in the stacks of the running message.
struct Cause {
    /// The rule of the verdict.
    rule: &'static str,
    /// CPU time of the main thread in the running message, which took six seconds.
    cpu_ms: u64,
    stack: &'static str,
}

const fn waits(rule: &'static str, stack: &'static str) -> Cause {
    Cause { rule, cpu_ms: 20, stack }
}

const PARK: &str = "java.util.concurrent.locks.LockSupport.park:190 sun.misc.Unsafe.park!";
const CAUSES: [Cause; 16] = [
    waits("sleep", "Sleeper$1.run:10 Sleeper.rest:20 java.lang.Thread.sleep!"),
    Cause { rule: "current-slow", cpu_ms: 5_900, stack: "Tax$1.run:10 Tax.sum:20" },
    waits("lock", "Ledger$1.run:10 Ledger.book:20 java.util.concurrent.locks.ReentrantLock.lock:285 PARK"),
    waits("lock", "Mailbox$1.run:10 Mailbox.take:20 java.lang.Object.wait!"),
    waits("lock", "Crew$1.run:10 Crew.finish:20 java.lang.Thread.join:1720 java.lang.Object.wait!"),
    waits("lock", "Quote$1.run:10 Quote.fetch:20 java.util.concurrent.FutureTask.get:188 PARK"),
    waits("lock", "Loader$1.run:10 Loader.block:20 kotlinx.coroutines.BuildersKt.runBlocking:1 PARK"),
    waits(
        "io",
        "android.app.ActivityThread.handleStopActivity:4 android.app.QueuedWork.waitToFinish:1 libcore.io.Linux.fsync!",
    ),
    waits(
        "io",
        "Settings$1.run:10 Settings.theme:20 android.app.SharedPreferencesImpl.awaitLoadedLocked:2 java.lang.Object.wait!",
    ),
    waits("io", "Orders$1.run:10 Orders.all:20 android.database.sqlite.SQLiteConnection.nativeExecute!"),
    waits(
        "io",
        "Exporter$1.run:10 Exporter.write:20 java.io.FileOutputStream.write:3 libcore.io.Linux.writeBytes!",
    ),
    waits("io", "Api$1.run:10 Api.call:20 java.net.Socket.connect:4 libcore.io.Linux.connect!"),
    waits(
        "binder",
        "Apps$1.run:10 Apps.list:20 android.content.pm.IPackageManager$Stub$Proxy.getPackageInfo:5 android.os.BinderProxy.transactNative!",
    ),
    waits("native", "Codec$1.run:10 Codec.decode:20 Codec.nativeDecode!"),
    waits("io", "Startup$1.run:10 Startup.warm:20 java.lang.Runtime.nativeLoad!"),
    waits("gc", "Images$1.run:10 Images.trim:20 java.lang.Runtime.gc:6 java.lang.Runtime.nativeGc!"),
];

/// A stack with the full names of the app's classes.
fn in_full(stack: &str) -> String {
    let stack = stack.replace("PARK", PARK);
    let frame = |frame: &str| {
        if frame.split('.').count() > 2 { frame.to_owned() } else { format!("{APP}shop.{frame}") }
    };
    stack.split(' ').map(frame).collect::<Vec<_>>().join(" ")
}

/// Each cause with its rule, and its report in the first version.
fn reports() -> Vec<(&'static str, Report)> {
    let in_message = |cause: &Cause| {
        let stack = in_full(cause.stack);
        let callback =
            stack.split('.').find(|part| part.ends_with("$1")).map(|class| format!("{APP}shop.{class}"));
        let report = ReportBuilder::new().group(45, 310, 240).running(46, 6_000);
        report
            .doing("android.os.Handler", &callback.unwrap_or_default(), cause.cpu_ms)
            .looper_tree(46, &[(&stack, 590)])
    };
    let mut reports: Vec<(&'static str, Report)> = CAUSES
        .iter()
        .map(|cause| {
            let report = in_message(cause);
            let native = [("/apex/com.android.runtime/lib64/bionic/libc.so", &[1_u8; 20][..], 7)];
            let report = if cause.rule == "native" { report.interrupted(98, &native) } else { report };
            let report = report.watched(6_000, 0);
            (cause.rule, report.build().report)
        })
        .collect();
    let holder = "java.lang.Thread.run:919 com.example.shop.Sync.run:9";
    let monitor = in_message(&waits("lock", "Basket$1.run:10 Basket.add:20"));
    reports.push(("lock", monitor.waits_for("com.example.shop.Basket", "sync", holder).build().report));
    let deadlock = in_message(&waits("lock", "Till$1.run:10 Till.pay:20"));
    let deadlock = deadlock.waits_for("com.example.shop.Till", "sync", holder).with(|report| {
        let mut back = report.locks.waits[0].clone();
        back.holder =
            Some(LockHolder { name: "main".into(), tid: report.meta.process.pid, stack: Vec::new() });
        report.locks.waits.push(back);
        report.locks.deadlock = true;
    });
    reports.push(("lock", deadlock.build().report));
    for stack in [
        "android.os.MessageQueue.next:335 android.os.MessageQueue.nativePollOnce! \
         android.view.InputEventReceiver.dispatchInputEvent:194 com.example.shop.Canvas.dispatchTouchEvent:20",
        "android.os.MessageQueue.next:395 com.example.shop.Trim$1.queueIdle:20",
    ] {
        let outside =
            ReportBuilder::new().group(98, 310, 9_000).outside(6_000, true).tree(OUTSIDE, &[(stack, 590)]);
        reports.push(("outside", outside.build().report));
    }
    reports
}

#[test]
fn twenty_causes_of_three_versions_are_twenty_groups() {
    let files = Files::new();
    let folder = files.path("reports");
    std::fs::create_dir(folder).unwrap();
    let reports = reports();
    assert_eq!(reports.len(), 20);
    let mut arguments = vec!["cluster".to_owned(), "--json".into(), folder.into()];
    for version in 1..=VERSIONS {
        let mut build = Build::new(version, &[]);
        for (nth, (_, report)) in reports.iter().enumerate() {
            let plain = of_version(report, version);
            let mut obfuscated = plain.clone();
            build.obfuscate(&mut obfuscated);
            for (kind, report) in [("plain", plain), ("obfuscated", obfuscated)] {
                std::fs::write(format!("{folder}/{nth:02}-{version}-{kind}.lbx"), recorded(&report)).unwrap();
            }
        }
        let mapping = files.bytes(&format!("mapping-{version}.txt"), build.mapping().as_bytes());
        arguments.extend(["--mapping".into(), mapping.into()]);
    }
    let run = loopbox(&arguments);
    // Those that are not obfuscated have no mapping.
    assert_eq!(run.code, 2, "{}", run.stderr);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let groups = json["groups"].as_array().unwrap();
    let titles: Vec<String> =
        groups.iter().map(|group| format!("{} {}", group["reports"], group["frames"])).collect();
    assert_eq!((json["reports"].as_u64(), groups.len()), (Some(120), 20), "{titles:#?}");
    for group in groups {
        assert_eq!(group["reports"], 6, "{group:#}");
        assert_eq!(group["obfuscated_version"], "", "{group:#}");
        assert_eq!(group["versions"]["count"], 3);
        let path = group["representative"]["path"].as_str().unwrap();
        let nth: usize = path.rsplit('/').next().unwrap()[..2].parse().unwrap();
        let causes: Vec<&Value> =
            group["top_causes"].as_array().unwrap().iter().map(|cause| &cause["name"]).collect();
        assert_eq!(causes, [reports[nth].0], "{group:#}");
    }
}
