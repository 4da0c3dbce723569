//! Each place where main can hang, with its headline: no verdict contradicts the report's own evidence.

use super::*;
use crate::test_support::{OUTSIDE, ReportBuilder, message};
use loopbox_format::model::{Component, Feature, MainState, Message, NamedBy, PendingSource, Report, Uptime};

const S: u64 = 1_000_000_000;
const NEXT: &str = "android.os.Looper.loop:160 android.os.MessageQueue.next:323";
const TOUCH: &str =
    "android.view.InputEventReceiver.dispatchInputEvent:185 com.shop.Main.dispatchTouchEvent:44";
const CART: &str = "com.shop.Cart.total:88";
const BIND: &str =
    "android.app.ActivityThread$H.handleMessage:1859 android.app.ActivityThread.handleBindApplication:6469";

/// A minute of an app that has little to do, 98 messages in all.
fn calm() -> ReportBuilder {
    ReportBuilder::new().idle(20_000).group(60, 300, 4_000).idle(4_000).group(38, 110, 900)
}

fn with_cart(report: ReportBuilder, place: &str) -> ReportBuilder {
    report.tree(OUTSIDE, &[(&format!("{NEXT} {place} {CART}"), 590)])
}

fn poll(place: &str) -> String {
    format!("android.os.MessageQueue.nativePollOnce! {place}")
}

/// The queue with one message that has been due for `ms` milliseconds.
fn overdue(report: ReportBuilder, ms: u64, polling: bool) -> ReportBuilder {
    report
        .pending(&format!(
            "Message 0: {{ when=-{}s{}ms what=3 target=com.shop.Feed }}",
            ms / 1_000,
            ms % 1_000
        ))
        .pending(&format!("(Total messages: 1, polling={polling}, quitting=false)"))
}

/// A message that has been running since the process started. The recorder was installed a second after the
/// start.
fn cold_start(age_ms: u64, above: &str) -> ReportBuilder {
    ReportBuilder::new()
        .running(1, age_ms)
        .doing("android.app.ActivityThread$H", "", age_ms * 9 / 10)
        .with(|r| {
            let MainState::Running(running) = &mut r.main else { panic!() };
            r.meta.process.started_ns = Some(running.start_ns);
            r.meta.process.installed_ns = running.start_ns + S;
            let named = message("android.app.ActivityThread$H", "", 110);
            running.message = Some(Message { named_by: NamedBy::Stack, ..named });
        })
        .looper_tree(1, &[(&format!("{BIND} {above}"), (age_ms / 10 - 10) as u32)])
}

/// A message that creates a service: only the stack identifies it, with or without its `what`.
fn service(what: Option<i32>) -> ReportBuilder {
    let stack = "android.app.ActivityThread$H.handleMessage android.app.ActivityThread.access$1500 \
                 android.app.ActivityThread.handleCreateService com.shop.Sync.onCreate";
    calm()
        .running(99, 6_000)
        .doing("android.app.ActivityThread$H", "", 5_900)
        .with(|r| {
            let MainState::Running(running) = &mut r.main else { panic!() };
            let message = running.message.as_mut().unwrap();
            (message.what, message.component) = (what, Some(Component::ActivityThread));
        })
        .looper_tree(99, &[(stack, 590)])
}

fn displaced(report: ReportBuilder) -> ReportBuilder {
    report.with(|r| {
        let hook = r.features.iter_mut().find(|state| state.feature == Feature::Hook).unwrap();
        hook.on = false;
        hook.detail = "displaced by another library; was Printer".into();
    })
}

/// Adds the data that show a starved machine. [`measured`] adds those of the message itself.
fn starved_machine(report: ReportBuilder) -> ReportBuilder {
    report
        .statistic("psi.cpu.some_avg10_percent", "82.0")
        .statistic("main.ran_ns", "1000000000")
        .statistic("main.waited_for_cpu_ns", "4000000000")
        .with(|r| r.history.iter_mut().for_each(|record| record.checktime_late_ns = Some(800_000_000)))
}

/// Adds what the kernel counted of main since the first check of the message.
fn measured(report: ReportBuilder, ran_ms: u64, starved_ms: u64) -> ReportBuilder {
    report.watched(ran_ms, starved_ms)
}

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) report: ReportBuilder,
    /// The beginning of the headline.
    headline: &'static str,
    /// A part of the first cause's evidence.
    evidence: &'static str,
}

fn case(name: &'static str, report: ReportBuilder, headline: &'static str, evidence: &'static str) -> Case {
    Case { name, report, headline, evidence }
}

pub(super) fn cold_starts() -> Vec<Case> {
    let provider = "android.app.ActivityThread.installContentProviders:6940 com.shop.Files.onCreate:12";
    let create = "android.app.Instrumentation.callApplicationOnCreate:1182 com.shop.App.onCreate:30";
    vec![
        case(
            "Application.onCreate",
            cold_start(6_000, create),
            "The running message (#1) has taken 6.00 s, most of it in App.onCreate",
            "1.00 s of it before the recorder was installed: no stacks of that part",
        ),
        case(
            "a start whose greater part was not recorded",
            cold_start(6_000, create)
                .with(|r| {
                    r.meta.process.installed_ns += 4 * S;
                    r.trees.clear();
                })
                .looper_tree(1, &[(&format!("{BIND} {create} java.lang.Thread.sleep!"), 90)]),
            "The running message (#1) has taken 6.00 s, last seen in App.onCreate",
            "5.00 s of it before the recorder was installed: no stacks of that part",
        ),
        case(
            "a provider at the start",
            cold_start(6_000, provider),
            "The running message (#1) has taken 6.00 s, most of it in Files.onCreate",
            "publishing the content providers, which it is at, is given 10.00 s by the system",
        ),
        case(
            "a start that no hook saw",
            ReportBuilder::new()
                .with(|r| r.main = MainState::Unknown)
                .looper_tree(OUTSIDE, &[(&format!("{BIND} {create}"), 590)]),
            "Main was busy in a message that no hook saw, for 5.90 s, most of it in App.onCreate",
            "it was called through android.app.ActivityThread$H.handleMessage(ActivityThread.java:1859)",
        ),
    ]
}

pub(super) fn outside_of_messages() -> Vec<Case> {
    let sleeping = format!("{NEXT} {} com.shop.Retry.run java.lang.Thread.sleep!", poll(TOUCH));
    vec![
        case(
            "touch",
            with_cart(calm().outside(6_000, true), &poll(TOUCH)),
            "Main was busy outside of messages, in input, for 6.00 s, most of it in Cart.total",
            "it was called through com.shop.Main.dispatchTouchEvent(Main.java:44)",
        ),
        case(
            "touch, begin unknown",
            with_cart(calm().outside(6_000, false), &poll(TOUCH)),
            "Main was busy outside of messages, in input, for at most 6.00 s, most of it in Cart.total",
            "message #98 had ended 6.00 s before the dump",
        ),
        case(
            "a touch handler that sleeps",
            calm().outside(6_000, true).with(no_cpu).tree(OUTSIDE, &[(&sleeping, 590)]),
            "Main (in input, outside of messages, after #98, 6.00 s) sleeps, called from Retry.run",
            "",
        ),
        case(
            "a touch handler that waits for a lock",
            with_cart(calm().outside(6_000, true).with(no_cpu), &poll(TOUCH)).waits_for(
                "com.shop.Db",
                "sync-1",
                "java.lang.Thread.run com.shop.Sync.run:9",
            ),
            "Main (in input, outside of messages, after #98, 6.00 s) waits for the monitor of a com.shop.Db, held by \
             thread sync-1 in Sync.run",
            "",
        ),
        case(
            "idle handler",
            with_cart(calm().outside(7_000, true), "com.shop.Trim.queueIdle:5"),
            "Main was busy outside of messages, in an idle handler, for 7.00 s, most of it in Cart.total",
            "it was called through com.shop.Trim.queueIdle(Trim.java:5)",
        ),
        case(
            "descriptor",
            with_cart(
                calm().outside(6_000, true),
                &poll("android.os.MessageQueue.dispatchEvents:300 com.shop.Pipe.onFileDescriptorEvents:7"),
            ),
            "Main was busy outside of messages, in a file descriptor's callback, for 6.00 s",
            "it was called through com.shop.Pipe.onFileDescriptorEvents(Pipe.java:7)",
        ),
        case(
            "without a stack",
            calm().outside(6_000, true),
            "Main was busy outside of messages (no stack), for 6.00 s",
            "main was on the CPU for 5.70 s of that (95 %)",
        ),
        case(
            "just over, then a young message",
            with_cart(calm().idle(6_000).running(99, 40), &poll(TOUCH))
                .with(|r| r.trees[0].start_ns = Uptime(93_700_000_000)),
            "Main had been busy outside of messages, after #98, in input, for 5.90 s, most of it in Cart.total",
            "the running message (#99) is only 40 ms old",
        ),
    ]
}

fn no_cpu(report: &mut Report) {
    if let MainState::Outside(outside) = &mut report.main {
        outside.cpu_ns = Some(9_000_000);
    }
}

pub(super) fn reported_as_idle() -> Vec<Case> {
    let dispatched = format!("android.os.Handler.dispatchMessage:107 com.shop.H.handleMessage:4 {CART}");
    let unread = |r: &mut Report| {
        r.pending.source = PendingSource::Unavailable("main does not respond".into());
    };
    vec![
        case(
            "the Looper does not wait, and is late",
            overdue(calm().idle_at_dump(6_000), 6_000, false),
            "Main was busy outside of messages (no stack), for 6.00 s",
            "the first message of the queue has been due for 6.00 s, and the Looper did not wait for one",
        ),
        case(
            "the same with a stack",
            overdue(with_cart(calm().idle_at_dump(6_000), &poll(TOUCH)), 5_000, false),
            "Main was busy outside of messages, in input, for at most 6.00 s, most of it in Cart.total",
            "main's stack is not in nativePollOnce, where an idle main thread waits",
        ),
        case(
            "a stack alone",
            with_cart(calm().idle_at_dump(6_000).with(unread), "com.shop.Trim.queueIdle:5"),
            "Main was busy outside of messages, in an idle handler, for at most 6.00 s, most of it in Cart.total",
            "main's stack is not in nativePollOnce",
        ),
        case(
            "the Looper waits, and a message is late",
            overdue(calm().idle_at_dump(6_000), 4_000, true),
            "Unclear: main had run no message for 6.00 s, and may not have been idle",
            "",
        ),
        case(
            "it used the CPU",
            calm()
                .idle(9_000)
                .with(|r| r.history.last_mut().unwrap().cpu_ns = Some(3_600_000_000))
                .idle_at_dump(3_000),
            "Unclear: main had run no message for 3.00 s, and may not have been idle",
            "",
        ),
        case(
            "a displaced hook",
            displaced(calm().idle_at_dump(7_000)),
            "Not enough data: the hook into the main Looper was off",
            "displaced by another library; was Printer",
        ),
        case(
            "a displaced hook that says so while it is on",
            displaced(calm().idle_at_dump(7_000)).with(|r| r.features[0].on = true),
            "Not enough data: another library has displaced the hook into the main Looper",
            "displaced by another library; was Printer",
        ),
        case(
            "a message behind a displaced hook",
            displaced(calm().idle_at_dump(7_000))
                .tree(OUTSIDE, &[(&format!("android.os.Looper.loop:160 {dispatched}"), 690)]),
            "Main was busy in a message that no hook saw, for at most 7.00 s, most of it in Cart.total",
            "the hook may have missed messages: displaced by another library; was Printer",
        ),
        case(
            "a message where the app wants no hook",
            calm()
                .with(|r| {
                    (r.features[0].on, r.features[0].detail) = (false, "none, as the app wants it".into());
                    r.history.clear();
                })
                .outside(6_000, false)
                .tree(OUTSIDE, &[(&format!("android.os.Looper.loop:160 {dispatched}"), 590)]),
            "Main was busy in a message that no hook saw, for at most 6.00 s, most of it in Cart.total",
            "main was last seen to wait for a message 6.00 s before the dump",
        ),
        case(
            "a young message behind a busy queue",
            overdue(calm().idle(20_000).running(99, 30), 8_000, false),
            "Unclear: the running message is only 30 ms old",
            "",
        ),
        case(
            "idle indeed",
            calm()
                .idle_at_dump(8_000)
                .pending("(Total messages: 0, polling=true, quitting=false)")
                .tree(OUTSIDE, &[(&format!("{NEXT} {}", poll("").trim_end()), 1)])
                .with(|r| r.trees[0].sample_deltas_ns = vec![8 * S]),
            "Main was free, for 8.00 s: the hang is elsewhere",
            "the Looper waited in nativePollOnce",
        ),
    ]
}

pub(super) fn starved_or_not() -> Vec<Case> {
    let spin = [("com.shop.A.run com.shop.A.parse:4", 60), ("com.shop.A.run com.shop.A.draw:9", 50)];
    let slow =
        |cpu_ms| calm().running(99, 1_240).doing("android.os.Handler", "", cpu_ms).looper_tree(99, &spin);
    let held = |cpu_ms| {
        let stack = [("com.shop.Feed.show:20 com.shop.Feed.update:41", 118)];
        calm().running(99, 1_240).doing("android.os.Handler", "", cpu_ms).looper_tree(99, &stack)
    };
    let chain = |report: ReportBuilder| report.waits_for("com.shop.Feed", "sync-1", "com.shop.Sync.run:9");
    let one = |stack: &str| {
        calm().running(99, 1_240).doing("android.os.Handler", "", 60).looper_tree(99, &[(stack, 118)])
    };
    vec![
        case(
            "a lock chain on a starved machine",
            measured(starved_machine(chain(held(20))), 1_240, 1),
            "The running message (#99, 1.24 s) waits for the monitor of a com.shop.Feed, held by thread sync-1",
            "",
        ),
        case(
            "a monitor on a starved machine, main waited for no CPU",
            measured(starved_machine(held(20)), 1_240, 1),
            "The running message (#99, 1.24 s) seems to wait for a monitor in Feed.update",
            "",
        ),
        case(
            "native code on a starved machine, main counted for its last 40 ms only",
            measured(starved_machine(one("com.shop.A.run com.shop.Codec.decode!")), 1_240, 30)
                .with(|r| r.anr.hang_threshold_ns = Some(2 * 1_200_000_000)),
            "The running message (#99) has taken 1.24 s, most of it in Codec.decode",
            "",
        ),
        case(
            "a sleep on a starved machine",
            starved_machine(one("com.shop.Retry.run java.lang.Thread.sleep!")),
            "The running message (#99, 1.24 s) sleeps, called from Retry.run",
            "",
        ),
        case(
            "binder on a starved machine",
            starved_machine(one(
                "com.shop.A.run com.shop.IShop$Stub$Proxy.get android.os.BinderProxy.transactNative!",
            )),
            "The running message (#99, 1.24 s) waits for a binder call, IShop.get, called from A.run",
            "",
        ),
        case(
            "native code on a starved machine",
            starved_machine(one("com.shop.A.run com.shop.Codec.decode!")),
            "The running message (#99) has taken 1.24 s, most of it in Codec.decode",
            "",
        ),
        case(
            "main waited for a CPU",
            measured(slow(300), 1_240, 620),
            "Main was starved of CPU time: who took it is not known",
            "main waited for a CPU for 620 ms of the last 740 ms (84 %)",
        ),
        case(
            "it ran, the machine notwithstanding",
            measured(starved_machine(slow(1_200)), 1_240, 2),
            "The running message (#99) has taken 1.24 s",
            "",
        ),
    ]
}

pub(super) fn named_by_their_stacks() -> Vec<Case> {
    let fib = format!("com.shop.A.run:3{}", " com.shop.Fib.fib:9".repeat(41));
    vec![
        case(
            "a service",
            service(Some(114)),
            "The running message (#99) has taken 6.00 s, most of it in Sync.onCreate",
            "CREATE_SERVICE is given 20.00 s (3 min 20 s in the background) by the system",
        ),
        case(
            "a service whose what is unknown",
            service(None),
            "The running message (#99) has taken 6.00 s, most of it in Sync.onCreate",
            "a service that was started as one in the foreground must say so within 10.00 s",
        ),
        case(
            "recursion",
            calm().running(99, 5_200).looper_tree(99, &[(&fib, 510)]),
            "The running message (#99) has taken 5.20 s, most of it in Fib.fib ×41",
            "sampled in com.shop.Fib.fib(Fib.java:9) ×41, 5.10 s in its own code",
        ),
    ]
}

#[test]
fn each_place_has_its_headline() {
    let tables =
        [cold_starts(), outside_of_messages(), reported_as_idle(), starved_or_not(), named_by_their_stacks()];
    let mut wrong = Vec::new();
    for Case { name, report, headline, evidence } in tables.into_iter().flatten() {
        let v = diagnose(&Analysis::new(&report.build()));
        let evidence_of_first = v.causes.first().map(|cause| cause.evidence.join("\n")).unwrap_or_default();
        let mut right = v.headline.starts_with(headline) && evidence_of_first.contains(evidence);
        // These three send the reader elsewhere: they are reported where they are true, and nowhere else.
        for (rule, words) in
            [("main-free", "Main was free"), ("no-data", "Not enough"), ("starved", "Main was starved")]
        {
            right &= v.causes.iter().any(|cause| cause.rule == rule) == headline.starts_with(words);
        }
        let texts = v.causes.iter().flat_map(|cause| cause.evidence.iter().chain([&cause.title]));
        right &= texts.chain(&v.caveats).all(|text| !text.contains("92233720"));
        if !right {
            wrong.push(format!("{name}: {v:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_starved_machine_is_a_caveat_of_other_causes() {
    let report = starved_machine(service(Some(114)));
    let v = diagnose(&Analysis::new(&report.build()));
    assert!(
        v.caveats.iter().any(|caveat| caveat.contains("CPU pressure: tasks were stalled for 82 %")),
        "{v:#?}"
    );
    let v = diagnose(&Analysis::new(&service(Some(114)).build()));
    assert!(v.caveats.iter().all(|caveat| !caveat.contains("short of")), "{v:#?}");
}

/// Six seconds of code that allocates, with the statistics of collections.
fn full_heap(cpu_ms: u64, waited_ms: u64) -> ReportBuilder {
    calm()
        .running(99, 6_000)
        .doing("com.shop.Feed", "", cpu_ms)
        .looper_tree(99, &[("com.shop.Feed.show:3 com.shop.Feed.decode:9", 590)])
        .statistic("heap.used_bytes", "950")
        .statistic("heap.max_bytes", "1000")
        .statistic("gc.lately.ms", "4000")
        .statistic("gc.lately.blocking_count", "9")
        .statistic("gc.lately.blocking_time_ms", &waited_ms.to_string())
}

#[test]
fn a_full_heap_is_distinguished_from_slow_code_on_a_starved_machine_too() {
    let rules = |report: ReportBuilder| -> Vec<&str> {
        diagnose(&Analysis::new(&report.build())).causes.iter().map(|cause| cause.rule).collect()
    };
    // 4.4 of the 5.5 s since the first check: the rest is shared by main's code and by what it waits for.
    let starved = |report| measured(starved_machine(report), 6_000, 4_400);
    assert_eq!(rules(starved(full_heap(200, 1_600)))[..3], ["starved", "gc", "current-slow"]);
    assert_eq!(rules(starved(full_heap(200, 600)))[..2], ["starved", "gc"]);
    // Main had its part of the CPU and used it.
    assert_eq!(rules(starved(full_heap(1_000, 1_600)))[..2], ["starved", "current-slow"]);
    assert!(!rules(starved(full_heap(1_000, 600))).contains(&"gc"));
    assert!(!rules(starved(full_heap(200, 300))).contains(&"gc"));
    // All but nothing was left, which says nothing of who slept.
    assert!(!rules(measured(starved_machine(full_heap(10, 600)), 6_000, 5_400)).contains(&"gc"));

    let report = diagnose(&Analysis::new(&starved(full_heap(200, 1_600)).build()));
    let slept = "of the time for which main did not wait for a CPU, it slept for 82 %";
    assert!(report.causes[1].evidence.iter().any(|line| line == slept), "{report:#?}");
}
