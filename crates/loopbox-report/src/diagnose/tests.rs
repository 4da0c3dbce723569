//! Tests each rule on a scenario that it is for, and on a similar one that it is not for.

use super::*;
use crate::test_support::{ReportBuilder, message};
use loopbox_format::model::{Detail, End, LockChain, MainState, Report};

pub(super) fn diagnosis(report: ReportBuilder) -> Diagnosis {
    diagnose(&Analysis::new(&report.build()))
}

/// The rule and the confidence of the first cause.
pub(super) fn first(v: &Diagnosis) -> (&'static str, Option<Confidence>) {
    (v.primary_cause().map_or("unclear", |cause| cause.rule), v.confidence)
}

#[track_caller]
pub(super) fn expect(report: ReportBuilder, rule: &str, confidence: Confidence) -> Diagnosis {
    let v = diagnosis(report);
    assert_eq!(first(&v), (rule, Some(confidence)), "{v:#?}");
    v
}

pub(super) fn calm() -> ReportBuilder {
    ReportBuilder::new().idle(20_000).group(30, 300, 4_000).idle(4_000).group(12, 110, 900)
}

pub(super) fn evidence(v: &Diagnosis) -> String {
    v.causes.iter().flat_map(|c| c.evidence.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn current_slow_names_the_hot_method() {
    let report =
        calm().running(99, 5_200).doing("android.os.Handler", "com.shop.Checkout$1", 5_100).looper_tree(
            99,
            &[
                ("com.shop.Checkout$1.run:31 com.shop.Cart.total:88 java.util.ArrayList.get:436", 200),
                ("com.shop.Checkout$1.run:31 com.shop.Cart.total:88", 300),
            ],
        );
    let v = expect(report, "current-slow", Confidence::High);
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Cart.total(Cart.java:88)"));
    assert!(v.headline.contains("5.20 s") && v.headline.contains("Cart.total"), "{}", v.headline);
    assert!(evidence(&v).contains("3.00 s in its own code"), "{v:#?}");
}

#[test]
fn current_slow_ignores_a_young_message() {
    let v = diagnosis(calm().running(99, 40));
    assert!(v.causes.iter().all(|c| c.rule != "current-slow" && c.rule != "history"), "{v:#?}");
}

#[test]
fn current_slow_has_medium_confidence_for_one_second() {
    let v = diagnosis(calm().running(99, 1_300));
    assert_eq!(first(&v), ("current-slow", Some(Confidence::Medium)), "{v:#?}");
}

#[test]
fn history_names_the_earlier_message() {
    let report = calm()
        .single("com.shop.SyncHandler", 6_400, 6_000)
        .group(3, 60, 0)
        .running(99, 120)
        .looper_tree(99, &[("com.shop.Innocent.run", 7)]);
    let v = expect(report, "history", Confidence::High);
    assert!(v.headline.contains("6.40 s"), "{}", v.headline);
    assert!(evidence(&v).contains("a victim"), "{v:#?}");
}

#[test]
fn history_ignores_what_a_loop_inside_of_a_message_took() {
    let outer = |report: &mut Report| {
        let [.., head, waits, tail] = report.history.as_mut_slice() else { panic!("three records") };
        let (token, start_ns) = (head.first_token, head.start_ns);
        let wall_ns = tail.start_ns.plus(tail.wall_ns).since(start_ns);
        assert!(waits.wall_ns > 40_000_000_000 && wall_ns > waits.wall_ns);
        let (end, message) = (End::Returned, Some(message("com.shop.Dialog", "", 1)));
        tail.details.push(Detail { token, start_ns, wall_ns, wait_ns: None, end, message });
    };
    let dialog = calm().group(2, 80, 10).idle(46_000).group(2, 60, 900).with(outer);
    let v = diagnosis(dialog.running(99, 120));
    assert!(v.causes.iter().all(|c| c.rule != "history"), "{v:#?}");
}

#[test]
fn history_ignores_a_message_that_ended_long_ago() {
    let v = diagnosis(calm().single("com.shop.SyncHandler", 6_400, 6_000).idle(30_000).running(99, 20));
    assert!(v.causes.iter().all(|c| c.rule != "history"), "{v:#?}");
}

#[test]
fn history_names_many_short_messages() {
    let mut report = ReportBuilder::new();
    for _ in 0..40 {
        report = report.group(9, 300, 5);
    }
    let v = diagnosis(report.running(500, 35));
    assert_eq!(first(&v), ("history", Some(Confidence::Medium)), "{v:#?}");
    assert!(v.headline.contains("many messages"), "{}", v.headline);
}

#[test]
fn history_names_the_handlers_of_many_messages_with_their_shares() {
    let mut report = ReportBuilder::new();
    for _ in 0..30 {
        report = report.single("com.shop.Prices", 150, 140).single("com.shop.Badges", 75, 70).group(9, 75, 0);
    }
    let v = diagnosis(report.running(500, 35));
    assert!(v.headline.contains("many messages"), "{}", v.headline);
    let shares = v.causes[0].evidence.iter().find(|line| line.starts_with("of those kept by name")).unwrap();
    assert!(
        shares.contains("com.shop.Prices what=1 (4.50 s in 30 messages, 50 %); com.shop.Badges"),
        "{shares}"
    );
    assert!(shares.ends_with("25 %); 25 % to others or without a name"), "{shares}");
}

#[test]
fn binder_names_interface_and_method() {
    let stack = "com.shop.Launcher.onResume:12 android.app.ApplicationPackageManager.getPackageInfo:210 \
                 android.content.pm.IPackageManager$Stub$Proxy.getPackageInfo:3700 \
                 android.os.BinderProxy.transact:510 android.os.BinderProxy.transactNative!";
    let report = calm()
        .running(99, 6_000)
        .doing("android.app.ActivityThread$H", "", 40)
        .looper_tree(99, &[(stack, 590)]);
    let v = expect(report, "binder", Confidence::High);
    assert!(
        v.headline.contains("IPackageManager.getPackageInfo, called from Launcher.onResume"),
        "{}",
        v.headline
    );
}

#[test]
fn binder_names_the_caller_of_the_apps_own_proxy() {
    let stack = "com.shop.Launcher.onResume:12 com.shop.IShop$Stub$Proxy.price:40 \
                 android.os.BinderProxy.transact:510 android.os.BinderProxy.transactNative!";
    let report =
        calm().running(99, 6_000).doing("android.os.Handler", "", 40).looper_tree(99, &[(stack, 590)]);
    let v = expect(report, "binder", Confidence::High);
    assert!(v.headline.contains("IShop.price, called from Launcher.onResume"), "{}", v.headline);
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Launcher.onResume(Launcher.java:12)"));
}

#[test]
fn binder_ignores_a_short_call_in_a_long_computation() {
    let call = "com.shop.A.run com.shop.IShop$Stub$Proxy.get android.os.BinderProxy.transactNative!";
    let report =
        calm().running(99, 6_000).looper_tree(99, &[("com.shop.A.run com.shop.A.sum", 500), (call, 90)]);
    let v = expect(report, "current-slow", Confidence::High);
    assert!(v.causes.iter().all(|c| c.rule != "binder"), "{v:#?}");
}

#[test]
fn lock_goes_by_its_frames() {
    let stack = "com.shop.Feed.show com.shop.Feed.await java.util.concurrent.CountDownLatch.await \
                 java.util.concurrent.locks.LockSupport.park sun.misc.Unsafe.park!";
    let report =
        calm().running(99, 5_500).doing("android.os.Handler", "", 15).looper_tree(99, &[(stack, 540)]);
    let v = expect(report, "lock", Confidence::High);
    assert!(v.headline.contains("in CountDownLatch.await, called from Feed.await"), "{}", v.headline);
}

const PARK: &str = "java.util.concurrent.locks.ReentrantLock.lock java.util.concurrent.locks.LockSupport.park sun.misc.Unsafe.park!";

fn waits(stack: &str) -> ReportBuilder {
    calm().running(99, 5_500).doing("android.os.Handler", "", 15).looper_tree(99, &[(stack, 540)])
}

#[test]
fn lock_hints_at_threads_in_the_same_code() {
    let report = waits(&format!("com.shop.Feed.show:3 com.shop.Store.get:17 {PARK}"))
        .thread("idle", Some("com.other.Pool.run:3 java.lang.Object.wait!"))
        .thread("writer", Some("com.shop.Store$1.run:40 com.shop.Disk.flush:9 java.io.FileDescriptor.sync!"))
        .thread("RenderThread", None);
    let v = expect(report, "lock", Confidence::High);
    assert!(v.headline.contains("in ReentrantLock.lock, called from Store.get"), "{}", v.headline);
    assert!(!v.headline.contains("deadlock"), "{}", v.headline);
    let hints: Vec<&String> =
        v.causes[0].evidence.iter().filter(|line| line.starts_with("thread ")).collect();
    assert_eq!(
        hints,
        [
            "thread writer (7001): main may wait for it: it is in java.io.FileDescriptor.sync(Native method), called from \
          com.shop.Store$1.run(Store.java:40)"
        ]
    );
}

#[test]
fn lock_sees_what_may_be_a_deadlock_of_two_locks() {
    let report = waits(&format!("com.shop.Cart.checkout:8 com.shop.Store.get:17 {PARK}")).thread(
        "sync",
        Some(&format!("com.shop.Sync.run:2 com.shop.Store.put:30 com.shop.Cart.total:5 {PARK}")),
    );
    let v = expect(report, "lock", Confidence::High);
    // A guess is no part of a title.
    assert!(
        v.headline.ends_with("waits for a lock in ReentrantLock.lock, called from Store.get"),
        "{}",
        v.headline
    );
    assert!(evidence(&v).contains("each may have what the other waits for"), "{v:#?}");
}

#[test]
fn lock_names_who_may_be_joined() {
    let report = waits("com.shop.Main.onPause:3 java.lang.Thread.join:1200 java.lang.Object.wait!").thread(
        "uploader",
        Some("java.lang.Thread.run:900 com.shop.Upload.run:7 java.net.SocketInputStream.read:5"),
    );
    let v = expect(report, "lock", Confidence::High);
    assert!(v.headline.contains("in Thread.join, called from Main.onPause"), "{}", v.headline);
    assert!(evidence(&v).contains("thread uploader (7000): main may wait for its end"), "{v:#?}");
}

#[test]
fn lock_hints_at_no_thread_without_code_in_common() {
    let report = waits(&format!("com.shop.Store.get:17 {PARK}"))
        .thread("other", Some("com.vendor.Loop.run:1 java.lang.Thread.sleep!"));
    let v = expect(report, "lock", Confidence::High);
    assert!(!evidence(&v).contains("thread other"), "{v:#?}");
}

/// Main in a native method of the app, with `cpu_ms` of CPU time. The signal interrupted the system call
/// `call` (its number on arm64).
fn in_native(cpu_ms: u64, call: u32) -> ReportBuilder {
    let libraries: [(&str, &[u8], u64); 2] = [
        ("/apex/com.android.runtime/lib64/bionic/libc.so", &[1; 20], 0x9_C2C4),
        ("/data/app/lib/libshop.so", &[2; 20], 0x4711),
    ];
    calm()
        .running(99, 5_500)
        .doing("android.os.Handler", "", cpu_ms)
        .looper_tree(99, &[("com.shop.Photo.show:3 com.shop.Codec.decode!", 540)])
        .interrupted(call, &libraries)
        .watched(5_500, 0)
}

#[test]
fn native_names_the_wait_that_the_kernel_reports() {
    let v = expect(in_native(20, 98), "native", Confidence::High);
    assert!(
        v.headline.contains("waits in native code, in Codec.decode: it waits for a lock, a condition or a thread's end (futex)"),
        "{}",
        v.headline
    );
    assert!(evidence(&v).contains("native code: libshop.so at pc 0x4711"), "{v:#?}");
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Codec.decode(Native method)"));
    let v = expect(in_native(20, 63), "native", Confidence::High);
    assert!(v.headline.contains("it waits for data to read (read"), "{}", v.headline);
}

#[test]
fn native_ignores_a_computation_and_what_java_knows_better() {
    expect(in_native(5_300, 98), "current-slow", Confidence::High);
    // Without its CPU time a wait cannot be distinguished from a computation that waited when the kernel was
    // asked.
    let unknown = in_native(20, 98).with(|report| {
        let MainState::Running(running) = &mut report.main else { panic!() };
        running.cpu_ns = None;
    });
    expect(unknown, "current-slow", Confidence::Medium);
    // It computed whenever it had a CPU: the futex is where the sampler had it stopped.
    let starved = |cpu_ms, starved_ms: u64| {
        let report = in_native(cpu_ms, 98).with(|report| {
            let anr = &mut report.anr;
            (anr.ran_ns, anr.hang_threshold_ns, anr.starved_ns) =
                (5_500_000_000, Some(5_000_000_000), starved_ms * 1_000_000);
        });
        diagnosis(report).causes.iter().any(|cause| cause.rule == "native")
    };
    assert!(!starved(700, 4_500), "it computed");
    assert!(!starved(330, 3_400), "it computed, and was stopped for a quarter of the time");
    assert!(starved(60, 1_500), "it waited for a CPU before it waited in native code");
    let sleeps = in_native(20, 115).with(|report| report.trees.clear());
    let sleeps = sleeps.looper_tree(99, &[("com.shop.Photo.show:3 java.lang.Thread.sleep!", 540)]);
    let v = expect(sleeps, "sleep", Confidence::High);
    assert!(v.causes.iter().all(|cause| cause.rule != "native"), "{v:#?}");
}

#[test]
fn lock_finds_a_monitor_by_a_constant_stack_without_cpu() {
    let stacks = [("com.shop.Feed.show:20 com.shop.Feed.update:41", 540)];
    let report = calm().running(99, 5_500).doing("android.os.Handler", "", 15).looper_tree(99, &stacks);
    let v = expect(report.clone().watched(5_500, 0), "lock", Confidence::High);
    assert!(v.headline.contains("monitor in Feed.update"), "{}", v.headline);
    // A starved machine shows the same.
    let v = expect(report, "lock", Confidence::Medium);
    let slow = v.causes.iter().find(|cause| cause.rule == "current-slow").unwrap();
    assert_eq!(slow.confidence, Confidence::Medium, "{v:#?}");
    assert!(evidence(&v).contains("not sure: whether main waited for a CPU was not measured"), "{v:#?}");
    // The same stack with the CPU is an endless loop.
    let busy = calm().running(99, 5_500).doing("android.os.Handler", "", 5_400).looper_tree(99, &stacks);
    let v = expect(busy, "current-slow", Confidence::High);
    assert!(v.causes.iter().all(|c| c.rule != "lock"), "{v:#?}");
}

#[test]
fn io_separates_preferences_and_files() {
    let wait = "android.app.ActivityThread.handleStopActivity android.app.QueuedWork.waitToFinish \
                java.io.FileDescriptor.sync libcore.io.Linux.fsync!";
    let v = expect(
        calm()
            .running(99, 5_500)
            .doing("android.app.ActivityThread$H", "", 90)
            .looper_tree(99, &[(wait, 540)]),
        "io",
        Confidence::High,
    );
    assert!(v.headline.contains("shared preferences"), "{}", v.headline);
    let read = "com.shop.Disk.load java.io.FileInputStream.read libcore.io.Linux.readBytes!";
    let v = expect(calm().running(99, 5_500).looper_tree(99, &[(read, 540)]), "io", Confidence::High);
    assert!(v.headline.contains("works on files"), "{}", v.headline);
}

#[test]
fn sleep_and_gc_go_by_their_frames() {
    let sleep = "com.shop.Retry.run java.lang.Thread.sleep java.lang.Thread.sleep!";
    let report =
        calm().running(99, 5_500).doing("android.os.Handler", "", 9).looper_tree(99, &[(sleep, 540)]);
    expect(report, "sleep", Confidence::High);
    let gc = "com.shop.Trim.run java.lang.System.gc java.lang.Runtime.gc!";
    expect(calm().running(99, 5_500).looper_tree(99, &[(gc, 540)]), "gc", Confidence::High);
}

#[test]
fn starved_outranks_the_code_on_the_stack() {
    let late = |report: ReportBuilder| {
        report.with(|r| r.history.iter_mut().for_each(|r| r.checktime_late_ns = Some(750_000_000)))
    };
    let stacks = [("com.shop.A.run com.shop.A.parse:4", 60), ("com.shop.A.run com.shop.A.draw:9", 60)];
    let report = late(calm().group(2, 300, 900).group(2, 300, 900))
        .running(99, 3_000)
        .doing("android.os.Handler", "", 500)
        .looper_tree(99, &stacks)
        .statistic("psi.cpu.some_avg10_percent", "71.4");
    expect(report.clone().watched(3_000, 2_000), "starved", Confidence::High);
    // That main waited for a CPU, and for nothing else, was not counted.
    let v = expect(report, "starved", Confidence::Medium);
    assert_eq!((v.causes[1].rule, v.causes[1].confidence), ("current-slow", Confidence::Medium), "{v:#?}");
    // The same message on a healthy machine with the CPU is slow code.
    let report = calm().running(99, 3_000).looper_tree(99, &stacks);
    let v = expect(report, "current-slow", Confidence::High);
    assert!(v.causes.iter().all(|c| c.rule != "starved"), "{v:#?}");
}

#[test]
fn starved_goes_by_what_the_kernel_counted_where_no_lock_could_be_read() {
    let stacks = [("com.shop.A.run com.shop.A.parse:4", 60), ("com.shop.A.run com.shop.A.draw:9", 60)];
    let report = |starved_ms| {
        let report = calm().running(99, 6_000).doing("android.os.Handler", "", 200).looper_tree(99, &stacks);
        report.watched(6_000, starved_ms).statistic("psi.cpu.some_avg10_percent", "82.0")
    };
    // On a starved machine no thread can be asked in time.
    let unchecked = |r: &mut Report| r.locks = LockChain::default();
    expect(report(5_000).with(unchecked), "starved", Confidence::High);
    let v = diagnosis(report(2_600).with(unchecked));
    let starved = v.causes.iter().find(|cause| cause.rule == "starved").unwrap();
    assert_eq!(starved.confidence, Confidence::Medium, "{v:#?}");
    // A chain of one instant does not hide it, either; of a part of the time it does.
    let chain = |report: ReportBuilder| report.waits_for("com.shop.Db", "sync", "com.shop.Sync.run:9");
    let has_starved = |report| diagnosis(report).causes.iter().any(|cause| cause.rule == "starved");
    assert!(has_starved(chain(report(5_000))) && !has_starved(chain(report(2_600))));
}

#[test]
fn a_wait_to_be_notified_does_not_hide_the_better_name_of_the_wait() {
    let prefs = "com.shop.A.run:3 android.app.SharedPreferencesImpl.getString \
                 android.app.SharedPreferencesImpl.awaitLoadedLocked java.lang.Object.wait!";
    let report =
        calm().running(99, 5_500).doing("android.os.Handler", "", 9).looper_tree(99, &[(prefs, 540)]);
    let unheld = |report: ReportBuilder, class: &str| {
        report.waits_for(class, "", "com.shop.A.run").with(|r| r.locks.waits[0].holder = None)
    };
    let v = expect(unheld(report, "java.lang.Object"), "io", Confidence::High);
    assert!(v.headline.contains("A.run"), "{}", v.headline);
    // Nothing better is known of a wait in the app itself, and the object's class helps.
    let own = "com.shop.Latch.await:3 java.lang.Object.wait!";
    let report = calm().running(99, 5_500).doing("android.os.Handler", "", 9).looper_tree(99, &[(own, 540)]);
    expect(unheld(report, "com.shop.Latch"), "lock", Confidence::High);
}

#[test]
fn the_platforms_own_lock_does_not_hide_what_is_done_under_it() {
    let stack = "android.app.ActivityThread.handleStopActivity:9 android.app.QueuedWork.waitToFinish:7 \
                 android.app.QueuedWork.processPendingWork:30";
    let report =
        calm().running(99, 5_500).doing("android.os.Handler", "", 9).looper_tree(99, &[(stack, 540)]);
    let report = report.waits_for("java.lang.Object", "queued-work-loo", "java.io.FileDescriptor.sync!");
    let v = expect(report, "io", Confidence::High);
    assert!(v.headline.contains("waits for shared preferences"), "{}", v.headline);
    let writer = v.causes.iter().find(|cause| cause.rule == "lock").unwrap();
    assert!(writer.title.contains("held by thread queued-work-loo"), "{v:#?}");
}

#[test]
fn loading_code_takes_cpu_time() {
    let stack = "com.shop.Plugins.load:3 dalvik.system.DexPathList.makeDexElements dalvik.system.DexFile.openDexFileNative!";
    let report =
        calm().running(99, 5_500).doing("android.os.Handler", "", 5_200).looper_tree(99, &[(stack, 540)]);
    let v = expect(report, "io", Confidence::High);
    assert!(v.headline.contains("loads code") && v.headline.contains("Plugins.load"), "{}", v.headline);
}

fn parked(report: ReportBuilder, deadlock: bool) -> ReportBuilder {
    let sync = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
    let report = report.statistic("parked.1.for", sync).statistic("parked.1.owner", "writer");
    let report = report.statistic("parked.at_ns", &crate::test_support::NOW_NS.to_string());
    let report = report.statistic("parked.deadlock", &deadlock.to_string());
    if deadlock { report.statistic("parked.2.for", sync).statistic("parked.2.owner", "main") } else { report }
}

#[test]
fn lock_names_the_owner_of_a_lock_of_java_util_concurrent() {
    let waiting = || {
        let store = format!("com.shop.Store.get:17 {PARK}");
        waits(&store).thread("writer", Some("com.shop.Store$1.run:40 java.io.FileDescriptor.sync!"))
    };
    let v = expect(parked(waiting(), false), "lock", Confidence::High);
    let held =
        "waits for a java.util.concurrent.locks.ReentrantLock, held by thread writer in FileDescriptor.sync";
    assert!(v.headline.ends_with(held), "{}", v.headline);
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Store.get(Store.java:17)"));
    assert_eq!(v.causes.iter().filter(|cause| cause.rule == "lock").count(), 1, "{v:#?}");
    let v = expect(parked(waiting(), true), "lock", Confidence::High);
    assert!(v.headline.ends_with("ReentrantLock, in a cycle with writer"), "{}", v.headline);
}

#[test]
fn lock_ignores_an_owner_of_one_instant_while_main_computes() {
    let report = calm().running(99, 6_000).looper_tree(99, &[("com.shop.A.run com.shop.A.sum", 590)]);
    let v = expect(parked(report, false), "current-slow", Confidence::High);
    assert!(v.causes.iter().all(|cause| cause.rule != "lock"), "{v:#?}");
}

fn collecting(stack: &str, used: u64, waited_ms: u64) -> ReportBuilder {
    let report = calm().running(99, 6_000).looper_tree(99, &[(stack, 590)]);
    let report = report.statistic("heap.used_bytes", &used.to_string()).statistic("heap.max_bytes", "1000");
    let report = report.statistic("gc.lately.ms", "2500").statistic("gc.lately.blocking_count", "40");
    report.statistic("gc.lately.blocking_time_ms", &waited_ms.to_string())
}

#[test]
fn gc_goes_by_figures_of_a_full_heap() {
    let fills = "com.shop.Feed.show:3 com.shop.Feed.decode:9";
    let v = expect(collecting(fills, 950, 2_000), "gc", Confidence::High);
    assert!(v.headline.contains("allocates in a full heap") && v.headline.contains("Feed.decode"), "{v:#?}");
    assert!(
        evidence(&v).contains("40 collections that threads had to wait for took 80 % of the last 2.50 s"),
        "{v:#?}"
    );
    assert!(evidence(&v).contains("95 % of the heap's limit is in use"), "{v:#?}");
}

#[test]
fn gc_ignores_room_in_the_heap_short_collections_and_waits() {
    let fills = "com.shop.Feed.show:3 com.shop.Feed.decode:9";
    let sleeps = "com.shop.Feed.show:3 java.lang.Thread.sleep!";
    for report in [collecting(fills, 500, 2_000), collecting(fills, 950, 300), collecting(sleeps, 950, 2_000)]
    {
        let v = diagnosis(report);
        assert!(v.causes.iter().all(|cause| cause.rule != "gc"), "{v:#?}");
    }
}

#[test]
fn starved_ignores_one_late_wake_up() {
    let report = calm().with(|r| r.history.last_mut().unwrap().checktime_late_ns = Some(320_000_000));
    let v = diagnosis(report.running(99, 5_200).looper_tree(99, &[("com.shop.A.run", 500)]));
    assert_eq!(first(&v).0, "current-slow", "{v:#?}");
}

#[test]
fn frozen_between_messages_and_inside_one() {
    // A user who reads a screen for five minutes leaves the same gap as a process that is frozen for them.
    let v = diagnosis(calm().idle(300_000).group(2, 40, 10).running(99, 1_200));
    assert_ne!(first(&v).0, "frozen", "{v:#?}");
    let frozen = v.causes.iter().find(|cause| cause.rule == "frozen").unwrap();
    assert!(frozen.title.contains("5 min") && frozen.confidence < Confidence::Medium, "{frozen:#?}");
    let inside = calm()
        .running(99, 95_000)
        .doing("android.os.Handler", "", 200)
        .looper_tree(99, &[("com.shop.A.run", 300)])
        .with(|r| {
            r.trees[0].sample_deltas_ns[200] = 80_000_000_000;
        });
    expect(inside, "frozen", Confidence::High);
    // Slow code that was sampled all the time was not frozen.
    let awake = calm().running(99, 95_000).looper_tree(99, &[("com.shop.A.run", 9_000)]);
    expect(awake, "current-slow", Confidence::High);
}

#[test]
fn main_free_and_outside_go_by_idle_time_and_its_cpu_time() {
    let free = calm().idle(9_000).idle_cpu_read().idle_at_dump(8_000);
    let whole = free.clone().pending("(Total messages: 0, polling=true, quitting=false)");
    let v = expect(whole, "main-free", Confidence::High);
    assert!(v.headline.contains("elsewhere"), "{}", v.headline);
    assert!(evidence(&v).contains("no pending message was overdue by a second"), "{v:#?}");
    // A queue that was not read says nothing of the messages in it.
    let v = diagnosis(free);
    assert_eq!(first(&v), ("unclear", None), "{v:#?}");
    assert!(!evidence(&v).contains("no pending message"), "{v:#?}");
    assert!(evidence(&v).contains("not sure: the queue was not read to its end"), "{v:#?}");
    let busy = calm()
        .idle(9_000)
        .with(|r| r.history.last_mut().unwrap().cpu_ns = Some(8_500_000_000))
        .running(99, 10);
    expect(busy, "outside", Confidence::Medium);
}

#[test]
fn no_data_names_the_reason() {
    let v = diagnosis(ReportBuilder::new().with(|r| {
        r.main = MainState::Unknown;
        r.features[0].on = false;
        r.features[0].detail = "the Printer was replaced".into();
    }));
    assert_eq!(first(&v).0, "no-data", "{v:#?}");
    assert!(evidence(&v).contains("the Printer was replaced"));
    let nothing_wrong = diagnosis(calm().running(99, 200));
    assert!(nothing_wrong.causes.iter().all(|c| c.rule == "main-free"), "{nothing_wrong:#?}");
}

#[test]
fn unclear_headline_says_why() {
    let v = diagnosis(ReportBuilder::new().group(20, 1_500, 1_500).running(99, 300));
    assert_eq!(v.confidence, None, "{v:#?}");
    assert!(v.headline.starts_with("Unclear: the running message is only 300 ms old"), "{}", v.headline);
    assert!(v.caveats.iter().any(|c| c.contains("history reaches back only")), "{v:#?}");
}

#[test]
fn current_slow_names_the_time_out_of_a_component_message() {
    let report = calm()
        .running(99, 11_000)
        .doing("android.app.ActivityThread$H", "", 10_500)
        .with(|r| {
            if let MainState::Running(running) = &mut r.main {
                running.message.as_mut().unwrap().what = Some(113);
            }
        })
        .looper_tree(99, &[("com.shop.BootReceiver.onReceive", 1_000)]);
    let v = expect(report, "current-slow", Confidence::High);
    assert!(evidence(&v).contains("RECEIVER is given 10.00 s (60.00 s in the background)"), "{v:#?}");
}

#[test]
fn lock_names_the_holder_and_its_activity() {
    let held = |cpu_ms| {
        calm()
            .running(99, 5_500)
            .doing("android.os.Handler", "", cpu_ms)
            .looper_tree(99, &[("com.shop.Feed.show:20 com.shop.Feed.update:41", 540)])
            .waits_for(
                "com.shop.Feed",
                "sync-1",
                "java.lang.Thread.run com.shop.Sync.run:9 libcore.io.Linux.fsync!",
            )
    };
    let v = expect(held(15), "lock", Confidence::High);
    assert!(v.headline.contains("held by thread sync-1 in Linux.fsync"), "{}", v.headline);
    assert!(
        evidence(&v).contains("Linux.fsync(Native method), called from com.shop.Sync.run(Sync.java:9)"),
        "{v:#?}"
    );
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Feed.update(Feed.java:41)"));
    // A lock met by chance at the end of a long computation is not the cause.
    expect(held(5_400), "current-slow", Confidence::High);
    let deadlock = held(15)
        .waits_for("com.shop.Db", "main", "com.shop.Feed.update:41")
        .with(|r| r.locks.deadlock = true);
    let v = expect(deadlock, "lock", Confidence::High);
    assert!(v.headline.starts_with("Deadlock: "), "{}", v.headline);
}
