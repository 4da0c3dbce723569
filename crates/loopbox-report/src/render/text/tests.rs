//! What a terminal shows of a report.

use super::*;
use crate::diagnose::diagnose;
use crate::model::{Analysis, SourceFunction};
use crate::test_support::{OUTSIDE, ReportBuilder, message};
use loopbox_format::model::{Breadcrumb, Detail, DumpReason, End, Feature, MainState, NamedBy, Uptime};
use loopbox_format::report::Decoded;

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn shown(report: &Decoded, options: Options) -> String {
    let analysis = Analysis::new(report);
    plain(&show(&analysis, &diagnose(&analysis), options))
}

fn shop() -> ReportBuilder {
    ReportBuilder::new()
        .idle(2_400)
        .group(41, 310, 240)
        .single("com.example.shop.FeedHandler", 712, 650)
        .group(3, 180, 20)
        .with(|report| {
            let record = report.history.last_mut().unwrap();
            record.closed = false;
            record.dropped_details = 2;
            record.checktime_late_ns = Some(751_000_000);
            record.details.push(Detail {
                token: record.first_token.next(),
                start_ns: record.start_ns + 9_000_000,
                wall_ns: 120_000_000,
                wait_ns: None,
                end: End::Threw,
                message: Some(message("android.app.ActivityThread$H", "", 159)),
            });
        })
        .running(46, 5_200)
        .doing("android.os.Handler", "com.example.shop.Checkout$1", 5_050)
        .looper_tree(
            46,
            &[
                ("com.example.shop.Checkout$1.run:31 com.example.shop.Cart.total:88 java.util.ArrayList.get:436", 200),
                ("com.example.shop.Checkout$1.run:31 com.example.shop.Cart.total:88", 300),
                ("com.example.shop.Checkout$1.run:33 com.example.shop.Log.write:12", 2),
                ("com.example.shop.Checkout$1.run:33 com.example.shop.Log.write:12 java.io.FileOutputStream.write!", 2),
                ("com.example.shop.Checkout$1.run:33 com.example.shop.Cart.save", 11),
            ],
        )
        .pending("Looper (main, tid 2) {a1b2c3}")
        .pending("  Message 0: { when=-5s21ms what=3 target=com.example.shop.FeedHandler }")
        .pending("  (Total messages: 1, polling=false, quitting=false)")
        .statistic("mem.available_bytes", "812345678")
}

/// A breadcrumb appears before the first record that began after it. Breadcrumbs of the running message come
/// last. The file may have breadcrumbs of several threads out of order; they appear in order of time.
#[test]
fn show_has_breadcrumbs_between_the_records() {
    let left = |at_ms: u64, name: &str| Breadcrumb { at_ns: Uptime(at_ms * 1_000_000), name: name.into() };
    let report = shop()
        .with(|report| {
            let dump_ms = report.meta.dumped_at.uptime_ns.0 / 1_000_000;
            report.breadcrumbs = [(60_000, "start"), (4_500, "pay"), (5_395, "\u{1b}[31mtap"), (100, "last")]
                .map(|(before_ms, name)| left(dump_ms - before_ms, name))
                .into();
        })
        .build();
    let shown = shown(&report, Options::default());
    let (_, history) = shown.split_once("HISTORY").unwrap();
    let (history, _) = history.split_once("NOW").unwrap();
    let seen: Vec<&str> = history.lines().filter(|line| !line.trim().is_empty()).collect();
    let at = |what: &str| seen.iter().position(|line| line.contains(what)).unwrap();
    assert_eq!(at("breadcrumb: start"), 2, "{history}");
    assert!(at("still open") < at("breadcrumb: \u{fffd}[31mtap"), "{history}");
    assert!(at("breadcrumb: \u{fffd}[31mtap") < at("#44 android"), "{history}");
    assert_eq!(
        (at("breadcrumb: pay"), at("breadcrumb: last")),
        (seen.len() - 2, seen.len() - 1),
        "{history}"
    );
    let row = seen[at("breadcrumb: start")];
    assert_eq!(row, "           -60.000 s  14:12:20.000           breadcrumb: start", "{history}");
}

#[test]
fn show_of_a_full_report() {
    insta::assert_snapshot!(shown(&shop().build(), Options::default()));
}

#[test]
fn show_full_folds_no_calls() {
    let text = shown(&shop().build(), Options { full: true });
    assert!(text.contains("FileOutputStream.write(Native method)"), "{text}");
    assert!(!text.contains("shorter call"), "{text}");
}

#[test]
fn show_prints_the_heaviest_path_of_earlier_trees() {
    let report = shop()
        .looper_tree(
            42,
            &[("com.example.shop.FeedHandler.handleMessage:9 com.example.shop.Json.parse:70", 66)],
        )
        .build();
    let text = shown(&report, Options::default());
    let at = text.find("EARLIER STACKS").expect("the section");
    assert!(text[at..].contains("Json.parse(Json.java:70)"), "{text}");
}

#[test]
fn show_starts_with_features_that_are_off_and_with_damage() {
    let mut report = shop()
        .with(|report| {
            let sampler = report.features.iter_mut().find(|f| f.feature == Feature::Sampler).unwrap();
            sampler.on = false;
            sampler.detail = "unknown ART".into();
            report.trees.clear();
        })
        .build();
    report
        .damage
        .push(loopbox_format::container::Damage { offset: 4_711, what: "section TREE is damaged".into() });
    let text = shown(&report, Options::default());
    let head: String = text.lines().take(8).collect::<Vec<_>>().join("\n");
    assert!(head.contains("! sampler is off: unknown ART"), "{head}");
    assert!(head.contains("! the file is damaged"), "{head}");
    assert!(text.contains("offset 4711: section TREE is damaged"), "{text}");
    assert!(text.contains("no stack of the message was sampled"), "{text}");
}

#[test]
fn show_of_an_empty_report() {
    let report = ReportBuilder::new().build();
    insta::assert_snapshot!(shown(&report, Options::default()));
}

#[test]
fn show_prints_the_top_of_other_threads_stacks() {
    let stack = "java.lang.Thread.run:919 com.example.shop.Sync.run:12 com.example.shop.Sync.upload:40 \
                 java.net.Socket.write:9 java.net.Socket.write0!";
    let report = shop()
        .thread("sync", Some(stack))
        .thread("RenderThread", None)
        .with(|report| report.threads.left_out = 3)
        .build();
    let text = shown(&report, Options::default());
    let at = text.find("OTHER THREADS  5").expect("the section");
    assert!(
        text[at..]
            .contains("  sync (tid 7000) waits, cpu 1.25 s\n      at java.net.Socket.write0(Native method)")
    );
    assert!(text[at..].contains("      and 2 more\n"), "{text}");
    assert!(!text[at..].contains("Thread.run"), "{text}");
    assert!(
        text[at..].contains("without a Java stack: RenderThread\n  3 more are not in the report"),
        "{text}"
    );
    let text = shown(&report, Options { full: true });
    assert!(text.contains("      at java.lang.Thread.run(Thread.java:919)"), "{text}");
}

#[test]
fn show_of_a_hang_outside_of_messages() {
    let stack = "android.os.Looper.loop:160 android.os.MessageQueue.next:323 android.os.MessageQueue.nativePollOnce! \
                 android.view.InputEventReceiver.dispatchInputEvent:185 com.example.shop.Main.dispatchTouchEvent:44 \
                 com.example.shop.Cart.total:88";
    let report = ReportBuilder::new()
        .group(98, 310, 9_000)
        .outside(6_000, false)
        .with(|r| r.meta.reason = DumpReason::Hang)
        .tree(OUTSIDE, &[(stack, 590)])
        .pending("Message 0: { when=-5s21ms what=3 target=com.example.shop.FeedHandler }")
        .pending("(Total messages: 1, polling=false, quitting=false)")
        .build();
    insta::assert_snapshot!(shown(&report, Options::default()));
}

#[test]
fn show_says_at_most_where_no_end_was_seen() {
    let report = ReportBuilder::new().single("com.shop.Dialog", 2_000, 100).group(3, 180, 20).with(|r| {
        let of_single = r.history[0].details[0].clone();
        let group = r.history.last_mut().unwrap();
        group.details.push(Detail {
            token: group.first_token,
            start_ns: group.start_ns,
            wall_ns: 60_000_000,
            ..of_single
        });
        r.history
            .iter_mut()
            .flat_map(|record| &mut record.details)
            .for_each(|detail| detail.end = End::Missed);
    });
    let text = shown(&report.build(), Options::default());
    for line in [
        "com.shop.Dialog what=1, waited 3.0 ms, at most so long: its end was not seen",
        "messages from #2, slowest at most 60 ms",
        "An earlier message (#1) took at most 2.00 s",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

/// The recorder was installed in the middle of a message. That message began with the process, and is named
/// by its stack.
#[test]
fn show_of_a_cold_start() {
    let stack = "android.app.ActivityThread$H.handleMessage:1859 \
                 android.app.ActivityThread.handleBindApplication:6469 com.example.shop.App.onCreate:30";
    let fib = format!("{stack}{}", " com.example.shop.Fib.fib:9".repeat(41));
    let report = ReportBuilder::new()
        .running(1, 6_000)
        .doing("android.app.ActivityThread$H", "", 5_400)
        .with(|r| {
            let MainState::Running(running) = &mut r.main else { panic!("a message is running") };
            r.meta.process.started_ns = Some(running.start_ns);
            r.meta.process.installed_ns = running.start_ns + 400_000_000;
            let message = running.message.as_mut().unwrap();
            (message.what, message.named_by) = (Some(110), NamedBy::Stack);
        })
        .looper_tree(1, &[(&fib, 540)])
        .with(|r| r.trees[0].sample_deltas_ns[0] = 450_000_000)
        .build();
    let text = shown(&report, Options::default());
    let head: Vec<&str> =
        text.lines().filter(|line| !line.contains("Fib.fib(Fib.java:9)") || line.contains('×')).collect();
    insta::assert_snapshot!(head.join("\n"));
}

/// When only the stack names a message, its `what` is unknown. Then the text shows no `what`: `what=0` would
/// be a known value.
#[test]
fn show_leaves_out_what_is_not_known() {
    let named = |what| {
        let report = shop().with(|r| {
            let detail = r.history[3].details[0].message.as_mut().unwrap();
            (detail.target, detail.component, detail.what) = ("com.example.shop.H".into(), None, what);
        });
        let text = shown(&report.build(), Options::default());
        let line = text.lines().find(|line| line.contains("com.example.shop.H")).unwrap().to_owned();
        line.split("#44 ").nth(1).unwrap().to_owned()
    };
    assert_eq!(named(None), "com.example.shop.H, threw an exception");
    assert_eq!(named(Some(0)), "com.example.shop.H what=0, threw an exception");
}

#[test]
fn show_of_an_idle_main_thread_has_its_stack() {
    let waits = "android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce!";
    let report = ReportBuilder::new().group(98, 310, 9_000).idle_at_dump(8_000).tree(OUTSIDE, &[(waits, 1)]);
    let text = shown(&report.build(), Options::default());
    let now = text.split("NOW  ").nth(1).unwrap();
    assert!(
        now.starts_with("no message was running, for 8.00 s\n  main's stacks of that time:\n  1 stack over"),
        "{now}"
    );
    assert!(now.contains("android.os.MessageQueue.nativePollOnce(Native method)"), "{now}");
    assert!(!text.contains("EARLIER STACKS"), "{text}");
    assert!(text.contains("Main was free, for 8.00 s"), "{text}");
}

fn in_futex() -> Decoded {
    let libc = ("/apex/com.android.runtime/lib64/bionic/libc.so", &[0xAB, 0x12][..], 0x9_C2C4);
    shop().interrupted(98, &[libc, ("/data/app/lib/arm64/libshop.so", &[], 0x44)]).build()
}

#[test]
fn show_prints_what_the_kernel_says_of_main_and_its_native_stack() {
    let text = shown(&in_futex(), Options::default());
    let at = text.find("MAIN THREAD").expect("the section");
    let section: Vec<&str> = text[at..].lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        section,
        [
            "MAIN THREAD  waits for a lock, a condition or a thread's end (futex), as the kernel says",
            "  at +0.001 s: waits, in futex(?, 0x80), sleeps in futex_wait_queue",
            "  in the next 250 ms it ran 1.0 ms, waited 2.0 ms for a processor, had 3 page faults, 1 of them from disk",
            "  native stack at -0.002 s, innermost frame first:",
            "    #00 pc 000000000009c2c4  /apex/com.android.runtime/lib64/bionic/libc.so (BuildId: ab12)",
            "    #01 pc 0000000000000044  /data/app/lib/arm64/libshop.so",
        ]
    );
}

#[test]
fn show_of_a_long_native_stack_is_short_unless_full() {
    let mut report = in_futex();
    let native = report.report.main_thread.native.as_mut().unwrap();
    native.frames = vec![native.frames[0]; 40];
    let short = shown(&report, Options::default());
    assert!(short.contains("    #11 pc ") && !short.contains("    #12 pc "), "{short}");
    assert!(short.contains("    and 28 more (all with --full)"), "{short}");
    assert!(shown(&report, Options { full: true }).contains("    #39 pc "));
    report.report.main_thread.native = None;
    assert!(shown(&report, Options::default()).contains("no SIGQUIT stopped the main thread"));
}

#[test]
fn native_stack_prints_functions_inlined_ones_first() {
    let mut analysis = Analysis::new(&in_futex());
    let native = analysis.main_thread.as_mut().unwrap().native.as_mut().unwrap();
    native.symbolize(|module, address| {
        let function = |name: &str, line, inlined| SourceFunction {
            name: name.into(),
            file: Some("shop/lock.c".into()),
            line,
            inlined,
        };
        match (module.file_name(), address) {
            ("libshop.so", 0x43) => {
                vec![function("lock", Some(7), true), function("checkout", None, false)]
            }
            _ => vec![],
        }
    });
    let text = plain(&native_stack(&analysis));
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "    #01 pc 0000000000000044  /data/app/lib/arm64/libshop.so (checkout)",
            "         lock at shop/lock.c:7 (inlined)",
            "         checkout in shop/lock.c",
        ]
    );
}
