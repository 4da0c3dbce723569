//! `loopbox report` in a real browser.

#[path = "support/browser.rs"]
mod browser;
mod support;

use browser::Browser;
use loopbox_format::model::Breadcrumb;
use loopbox_report::test_frames::{ARTICLE_TRACE, SessionBuilder};
use loopbox_report::test_support::{OUTSIDE, ReportBuilder, full};
use std::path::Path;
use support::pages::{everything, groups_of, page_of, pictures};
use support::tools::npm_file;
use support::{Files, loopbox};

#[test]
fn page_of_a_full_report_opens_and_every_control_works() {
    let files = Files::new();
    let threads = full()
        .thread("sync", Some("java.lang.Thread.run com.example.Sync.run:9"))
        .thread("RenderThread", None);
    let page = page_of(&files, threads);
    let len = std::fs::metadata(&page).unwrap().len();
    assert!(len < 1 << 20, "a full report is {len} bytes");
    let mut b = Browser::open(&page, 1280, 900, false);
    assert_eq!(
        b.js("document.querySelector('#verdict h2').textContent.includes('The running message')"),
        true
    );
    assert_eq!(b.js("document.querySelectorAll('#tree option').length"), 11);
    let threads = b.js("document.getElementById('threads').textContent");
    let threads = threads.as_str().unwrap();
    assert!(
        threads.starts_with("sync (tid 7000) waits") && threads.contains("stack: RenderThread"),
        "{threads}"
    );
    let drawn = b.js("performance.getEntriesByType('navigation')[0].loadEventEnd");
    println!("a full report of {len} bytes was drawn {drawn} ms after its opening");

    // The timeline: the running message ends at the dump and is selected; a click elsewhere selects a record.
    let running = b.js("document.getElementById('details').textContent");
    assert!(running.as_str().unwrap().contains("Running message"), "{running}");
    b.click("#timeline", 0.2, 40.0);
    let details = b.js("document.getElementById('details').textContent");
    assert!(details.as_str().unwrap().starts_with("Record "), "{details}");
    let span =
        |b: &mut Browser| b.js("loopbox.timeline().view[1] - loopbox.timeline().view[0]").as_f64().unwrap();
    let whole = span(&mut b);
    b.click("[data-zoom=in]", 0.5, 10.0);
    let half = span(&mut b);
    assert!((whole / half - 2.0).abs() < 0.01, "{whole} to {half}");
    b.js("document.getElementById('timeline').focus()");
    b.key("0");
    assert!((span(&mut b) - whole).abs() < 1.0);
    b.key("Home");
    assert_eq!(b.js("loopbox.timeline().selected"), 0);
    b.key("ArrowRight");
    assert_eq!(b.js("loopbox.timeline().selected"), 1);

    // The stacks: click zooms in, Escape out; the keys move; merging and search work.
    let state = |b: &mut Browser, what: &str| b.js(&format!("loopbox.stacks().{what}"));
    assert_eq!(state(&mut b, "focus"), serde_json::Value::Null);
    b.click("#flame", 0.5, 3.5 * 19.0);
    assert!(state(&mut b, "focus").as_str().unwrap().starts_with("com.example.shop.feature"));
    assert!(b.js("document.getElementById('frame').textContent").as_str().unwrap().contains("samples"));
    b.js("document.getElementById('flame').focus()");
    b.key("ArrowUp");
    b.key("ArrowUp");
    assert!(state(&mut b, "selected").as_str().unwrap().contains("Handler.dispatchMessage"));
    b.key("Escape");
    assert_eq!(state(&mut b, "focus"), serde_json::Value::Null);
    let in_time = state(&mut b, "nodes").as_u64().unwrap();
    b.click("[data-mode=merged]", 0.5, 10.0);
    let merged = state(&mut b, "nodes").as_u64().unwrap();
    assert!(merged < in_time, "{merged} of {in_time}");
    b.js("(() => { const s = document.getElementById('search'); s.value = 'feature3.'; s.dispatchEvent(new Event('input')); })()");
    let about = b.js("document.getElementById('stacks-about').textContent");
    assert!(about.as_str().unwrap().contains("found in "), "{about}");
    b.js("(() => { const t = document.getElementById('tree'); t.value = t.options[3].value; t.dispatchEvent(new Event('change')); })()");
    assert_eq!(b.js("String(loopbox.stacks().token) === document.getElementById('tree').value"), true);

    b.picture(&pictures().join("1280-light.png"));
    assert_eq!(b.problems(), Vec::<String>::new());
}

#[test]
fn page_fits_a_narrow_dark_screen() {
    let files = Files::new();
    let locked = full()
        .waits_for("com.example.shop.Db", "sync-1", "java.lang.Thread.run com.example.shop.Sync.run:9")
        .interrupted(98, &[("/apex/com.android.runtime/lib64/bionic/libc.so", &[0xAB; 20], 0x9_C2C4)]);
    let page = page_of(&files, locked);
    let mut b = Browser::open(&page, 400, 800, true);
    let locks = b.js("document.getElementById('locks').textContent");
    assert!(
        locks.as_str().unwrap().contains("main waits for a com.example.shop.Db, held by sync-1"),
        "{locks}"
    );
    let main = b.js("document.getElementById('main-thread').textContent");
    let main = main.as_str().unwrap();
    assert!(main.starts_with("main waits for a lock, a condition or a thread's end (futex)"), "{main}");
    assert!(main.contains("#00 pc 000000000009c2c4  /apex/com.android.runtime"), "{main}");
    assert_eq!(b.js("innerWidth"), 400, "nothing makes the page wider than the screen");
    assert_eq!(b.js("document.documentElement.scrollWidth <= innerWidth"), true);
    b.picture(&pictures().join("400-dark.png"));
    assert_eq!(b.problems(), Vec::<String>::new());
}

/// A page with display frames, on a screen of this width.
fn page_with_frames(files: &Files, width: u32, dark: bool) -> Browser {
    let trace = [&ARTICLE_TRACE[..], &[17, 17, 801, 17]].concat();
    let session = SessionBuilder::new().scroll_with("com.example.shop.Feed", &trace, Some(98)).build();
    let page = page_of(files, full().with(|report| report.frames = session));
    Browser::open(&page, width, 900, dark)
}

#[test]
fn page_with_display_frames_has_a_lane_of_them() {
    let files = Files::new();
    let mut b = page_with_frames(&files, 1280, false);
    assert_eq!(b.js("loopbox.timeline().frames"), 87);
    assert_eq!(b.js("document.querySelector('#lane-labels').lastChild.textContent"), "frames");
    b.click("[data-zoom=frames]", 0.5, 10.0);
    let view = b.js("loopbox.timeline().view");
    let (from, to) = (view[0].as_f64().unwrap(), view[1].as_f64().unwrap());
    assert!((to - from - 2_427.0).abs() < 1.0, "{view}");
    // 40 ms into the last but one frame, which stood for 801 ms.
    let x = (to - 20.0 - 17.0 - 801.0 + 40.0 - from) / (to - from);
    b.hover("#timeline", x, 175.0);
    let hover = b.js("document.getElementById('hover').textContent");
    let hover = hover.as_str().unwrap();
    assert!(
        hover.starts_with("frame of com.example.shop.Feed, stood 801 ms of 17 ms, 47 refreshes too long"),
        "{hover}"
    );
    b.picture(&pictures().join("frames-1280-light.png"));
    assert_eq!(b.problems(), Vec::<String>::new());

    let mut b = page_with_frames(&files, 400, true);
    assert_eq!(b.js("document.documentElement.scrollWidth <= innerWidth"), true);
    b.click("[data-zoom=frames]", 0.5, 10.0);
    b.picture(&pictures().join("frames-400-dark.png"));
    assert_eq!(b.problems(), Vec::<String>::new());
    // A report without display frames has neither the lane nor the button.
    let page = page_of(&files, full());
    let mut b = Browser::open(&page, 1280, 900, false);
    assert_eq!(b.js("document.querySelector('[data-zoom=frames]').hidden && loopbox.timeline().frames"), 0);
}

#[test]
fn page_shows_the_messages_of_a_loop_that_a_message_runs() {
    let files = Files::new();
    let report = ReportBuilder::new()
        .single("com.example.Dialog", 5_000, 900)
        .single("com.example.Sync", 1_000, 300)
        .group(9, 200, 100)
        .running(12, 200);
    let page = page_of(
        &files,
        report.with(|report| {
            // It ends last, so the newest record has it.
            let outer = report.history[0].details.remove(0);
            report.history[1].details[0].start_ns = outer.start_ns.plus(2_000_000_000);
            report.history[2].details.push(outer);
        }),
    );
    let mut b = Browser::open(&page, 1280, 900, false);
    let view = b.js("loopbox.timeline().view");
    let (from, to) = (view[0].as_f64().unwrap(), view[1].as_f64().unwrap());
    let mut under = |second: f64| {
        // The first of the messages began 6.5 s before the dump.
        let at_ms = -6_500.0 + second * 1e3;
        b.hover("#timeline", (at_ms - from) / (to - from), 112.0);
        b.js("document.getElementById('hover').textContent").as_str().unwrap().to_owned()
    };
    let (before, inside, after) = (under(1.0), under(2.5), under(4.0));
    assert!(before.contains("Dialog") && after.contains("Dialog"), "{before}; {after}");
    assert!(inside.contains("Sync"), "{inside}");
    b.picture(&pictures().join("nested-1280-light.png"));
    assert_eq!(b.problems(), Vec::<String>::new());
}

#[test]
fn page_with_breadcrumbs_has_a_lane_and_rows_of_them() {
    let files = Files::new();
    let marked = || {
        full().with(|report| {
            let dump_ns = report.meta.dumped_at.uptime_ns;
            report.breadcrumbs = [(8_000, "open cart"), (2_000, "<img src=x onerror=alert(1)>")]
                .map(|(before_ms, name)| Breadcrumb {
                    at_ns: dump_ns - before_ms * 1_000_000,
                    name: name.into(),
                })
                .into();
        })
    };
    let mut b = Browser::open(&page_of(&files, marked()), 1280, 900, false);
    assert_eq!(b.js("loopbox.timeline().breadcrumbs"), 2);
    assert_eq!(b.js("document.querySelector('#lane-labels').lastChild.textContent"), "app");
    let rows = "[...document.querySelectorAll('#history tr')].map((row) => row.textContent).filter((text) => \
                text.includes('breadcrumb: '))";
    let rows = b.js(rows);
    assert!(rows[0].as_str().unwrap().starts_with("\u{2212}2.000 sbreadcrumb: <img src=x"), "{rows}");
    assert!(rows[1].as_str().unwrap().starts_with("\u{2212}8.000 sbreadcrumb: open cart"), "{rows}");
    assert_eq!(b.js("document.querySelectorAll('img').length"), 0);
    b.click("[data-zoom=last]", 0.5, 10.0);
    let view = b.js("loopbox.timeline().view");
    let (from, to) = (view[0].as_f64().unwrap(), view[1].as_f64().unwrap());
    b.hover("#timeline", (-7_000.0 - from) / (to - from), 168.0);
    let hover = b.js("document.getElementById('hover').textContent");
    assert!(hover.as_str().unwrap().starts_with("breadcrumb open cart, \u{2212}8.000 s"), "{hover}");
    b.picture(&pictures().join("breadcrumbs-1280-light.png"));
    assert_eq!(b.problems(), Vec::<String>::new());
    let mut b = Browser::open(&page_of(&files, marked()), 400, 900, true);
    assert_eq!(b.js("document.documentElement.scrollWidth <= innerWidth"), true);
    assert_eq!(b.problems(), Vec::<String>::new());
}

#[test]
fn page_of_a_hang_outside_of_messages_shows_its_stacks() {
    let stack = "android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce! \
                 android.view.InputEventReceiver.dispatchInputEvent com.example.Main.dispatchTouchEvent";
    let outside = ReportBuilder::new()
        .group(98, 310, 9_000)
        .worked_outside(700)
        .outside(6_000, true)
        .tree(OUTSIDE, &[(stack, 590)])
        .tree(OUTSIDE - 3, &[("android.os.MessageQueue.next com.example.Trim.queueIdle", 40)]);
    let files = Files::new();
    let page = page_of(&files, outside);
    let mut b = Browser::open(&page, 1280, 900, false);
    let details = b.js("document.getElementById('details').textContent");
    assert!(details.as_str().unwrap().starts_with("Busy outside of messages, in input"), "{details}");
    // Its number is beyond what the page's numbers can represent: it goes by a text.
    assert_eq!(b.js("loopbox.stacks().token"), "after-98");
    b.js("(() => { const t = document.getElementById('tree'); t.value = 'after-95'; t.dispatchEvent(new Event('change')); })()");
    assert_eq!(b.js("loopbox.stacks().token"), "after-95");
    let titles = b.js("document.getElementById('tree').textContent");
    let titles = titles.as_str().unwrap();
    assert!(titles.contains("in an idle handler, outside of messages, after #95"), "{titles}");
    b.js("document.getElementById('timeline').focus()");
    b.key("Home");
    b.key("ArrowRight");
    let details = b.js("document.getElementById('details').textContent");
    assert!(details.as_str().unwrap().starts_with("Record 2: busy outside of messages"), "{details}");
    let history = b.js("document.getElementById('history').textContent");
    assert!(history.as_str().unwrap().contains("busy outside of messages"), "{history}");
    b.picture(&pictures().join("1280-outside.png"));
    assert_eq!(b.problems(), Vec::<String>::new());
}

#[test]
fn page_of_an_empty_report_opens() {
    let files = Files::new();
    let page = page_of(&files, ReportBuilder::new());
    let mut b = Browser::open(&page, 1280, 800, false);
    assert!(b.js("document.body.textContent").as_str().unwrap().contains("No stack tree is in this report"));
    assert_eq!(b.problems(), Vec::<String>::new());
}

#[test]
fn page_shows_text_of_a_hostile_report_and_does_not_run_it() {
    let evil = "</script><img src=x onerror=alert(1)><script>alert(2)</script>{{script}}<!--";
    let report = ReportBuilder::new()
        .single(evil, 900, 10)
        .running(2, 5_500)
        .doing(evil, evil, 5_000)
        .looper_tree(2, &[("com.evil.A.run", 400)])
        .statistic(evil, evil)
        .pending(&format!("Message 0: {{ when=-1ms callback={} target=H }}", evil.replace(' ', "_")))
        .with(|r| {
            r.meta.process.name = evil.into();
            r.symbols.methods.iter_mut().for_each(|m| m.name = evil.into());
        });
    let files = Files::new();
    let page = page_of(&files, report);
    let mut b = Browser::open(&page, 1280, 800, false);
    assert_eq!(b.js("document.images.length"), 0);
    assert_eq!(b.js("document.scripts.length"), 2);
    assert_eq!(b.js("document.querySelector('h1').textContent"), evil);
    assert_eq!(b.problems(), Vec::<String>::new());
}

#[test]
fn what_happened_is_shown_without_a_script_and_can_be_copied() {
    let files = Files::new();
    let page = page_of(&files, everything());
    let mut b = Browser::open(&page, 1280, 900, false);
    let stack = b.js("document.getElementById('stack').textContent");
    let stack = stack.as_str().unwrap();
    let mut lines = stack.lines();
    assert!(lines.next().unwrap().starts_with("#00 pc 000000000009c2c4  /apex/"), "{stack}");
    assert_eq!(lines.next(), Some("at com.example.shop.Tree.walk(Tree.java:12)"), "{stack}");
    assert!(
        stack.contains("… the line above 58 more times\nat com.example.shop.Main.run(Main.java:3)"),
        "{stack}"
    );
    b.click("[data-copy=stack] button", 0.5, 10.0);
    assert_eq!(b.js("String(getSelection())").as_str().unwrap().trim(), stack.trim());
    let anr = b.js("document.getElementById('anr').textContent");
    let anr = anr.as_str().unwrap();
    assert!(anr.contains("process ended byANR (6)") && anr.contains("Input dispatching"), "{anr}");
    assert!(b.js("document.getElementById('machine').textContent").as_str().unwrap().contains("775 MiB"));
    b.click("[data-mode=merged]", 0.5, 10.0);
    // Sixty calls on top of each other are one box: Looper, Handler, Main.run and it.
    assert_eq!(b.js("loopbox.stacks().nodes"), 4);
    b.without_script();
    // Scripts of the page are off; the protocol's own are not.
    b.call("Emulation.setScriptExecutionDisabled", &serde_json::json!({"value": false}));
    let verdict = b.js("document.getElementById('verdict').textContent");
    assert!(verdict.as_str().unwrap().contains("Look at "), "{verdict}");
    assert_eq!(b.js("document.getElementById('stack').textContent"), stack);
    assert_eq!(b.js("document.querySelector('noscript').offsetHeight > 0"), true);
}

#[test]
fn who_waits_for_whom_is_drawn_and_the_systems_trace_is_shown() {
    let stack = "scenario.Holders.main:59 android.os.Looper.loop:214 scenario.Holders$1.run:53 scenario.Holders.pay:117";
    let report = ReportBuilder::new().running(46, 5_200).tree(46, &[(stack, 515)]).with(|report| {
        report.meta.process.pid = 29_423;
        report.meta.dumped_at.unix_ms = 1_795_362_133_000;
    });
    let trace = include_str!("../../loopbox-report/tests/traces/art10-deadlock.txt");
    let files = Files::new();
    let page = page_of(&files, report.system_trace(trace));
    let mut b = Browser::open(&page, 400, 900, true);
    let drawn =
        "[...document.querySelectorAll('#graph-section svg text')].map((text) => text.textContent).join('|')";
    let boxes = "main|waits for a Holders$Basket|holder|waits for a Holders$Price";
    assert_eq!(b.js(drawn), boxes);
    assert_eq!(b.js("document.querySelectorAll('#graph-section .back').length"), 1);
    assert_eq!(b.js("document.documentElement.scrollWidth <= innerWidth"), true);
    let ink = b.js("getComputedStyle(document.querySelector('#graph-section text')).fill");
    assert_eq!(ink, "rgb(229, 233, 240)", "light on dark");
    let shown = b.js("document.getElementById('trace').textContent");
    let shown = shown.as_str().unwrap();
    assert!(shown.contains("of 14 threads") && shown.contains("main Blocked"), "{shown}");
    assert!(
        shown
            .contains("- waiting to lock a scenario.Holders$Basket <0x0218d5e9>, held by holder (thread 12)"),
        "{shown}"
    );
    let threads = b.js("document.getElementById('threads').textContent");
    let threads = threads.as_str().unwrap();
    assert!(
        threads.contains("holder (tid 29487) Blocked") && threads.contains("native: #00 pc "),
        "{threads}"
    );
    b.js("document.querySelectorAll('details').forEach((folded) => folded.open = true)");
    let axe = npm_file("axe-core", "4.14.1", "axe.min.js");
    assert_eq!(b.axe(&axe), Vec::<String>::new());
    b.picture(&pictures().join("400-graph.png"));
    assert_eq!(b.problems(), Vec::<String>::new());
    b.without_script();
    b.call("Emulation.setScriptExecutionDisabled", &serde_json::json!({"value": false}));
    assert_eq!(b.js(drawn), boxes);
    let mut b = Browser::open(&page, 1280, 900, false);
    b.picture(&pictures().join("1280-graph.png"));
}

#[test]
fn the_timeline_shows_what_is_under_the_pointer() {
    let files = Files::new();
    let page = page_of(&files, everything());
    let mut b = Browser::open(&page, 1280, 900, false);
    assert_eq!(
        b.js("document.getElementById('lane-labels').innerText.split('\\n').join()"),
        "main,CPU,by name,pending"
    );
    b.js("document.getElementById('timeline').scrollIntoView({ block: 'center' })");
    assert_eq!(b.js("document.getElementById('hover').hidden"), true);
    b.hover("#timeline", 0.9, 40.0);
    let tip = b.js("document.getElementById('hover').textContent");
    let tip = tip.as_str().unwrap();
    assert!(
        tip.contains("ActivityThread$H")
            && tip.contains(", running, 10.00 s, 70 % on the CPU, from −10.000 s"),
        "{tip}"
    );
    let inside = "(() => { const tip = document.getElementById('hover').getBoundingClientRect(), \
                  canvas = document.getElementById('timeline').getBoundingClientRect(); \
                  return tip.left >= 0 && tip.right <= innerWidth && tip.top >= canvas.bottom && tip.bottom <= innerHeight; })()";
    assert_eq!(b.js(inside), true);
    b.view(&pictures().join("1280-hover.png"));
    b.hover("#timeline", 0.975, 140.0);
    let tip = b.js("document.getElementById('hover').textContent");
    assert!(tip.as_str().unwrap().contains("com.example.shop.Ticker"), "{tip}");
    b.hover("h1", 0.1, 5.0);
    assert_eq!(b.js("document.getElementById('hover').hidden"), true);
    assert_eq!(b.problems(), Vec::<String>::new());
}

#[test]
fn a_group_shows_its_trend() {
    let files = Files::new();
    let mut b = Browser::open(&groups_of(&files), 1280, 900, true);
    let trend = b.js(
        "[...document.querySelectorAll('.trend')].map((svg) => svg.getAttribute('aria-label')).join('; ')",
    );
    let wanted = "5.2.1 (50201): 1 of 2 reports (50 %), 5.3.0 (50300): 1 of 1 reports (100 %); \
                  5.2.1 (50201): 1 of 2 reports (50 %), 5.3.0 (50300): 0 of 1 reports (0 %)";
    assert_eq!(trend, wanted);
    assert_eq!(b.js("getComputedStyle(document.querySelector('.trend rect')).fill"), "rgb(224, 122, 122)");
    assert_eq!(b.problems(), Vec::<String>::new());
}

#[test]
fn the_page_of_a_trace_alone_shows_it_and_says_what_a_recorder_would_know() {
    let files = Files::new();
    let trace = include_str!("../../loopbox-report/tests/traces/blocked.txt");
    let (file, html) = (files.bytes("anr_1", trace.as_bytes()), files.path("r.html"));
    assert_eq!(loopbox(&["report", file, "-o", html]).code, 0);
    let mut b = Browser::open(Path::new(html), 1280, 900, false);
    let mut text = |id: &str| b.js(&format!("document.getElementById('{id}').textContent")).to_string();
    let verdict = text("verdict");
    assert!(verdict.contains("held by thread sync in Thread.sleep"), "{verdict}");
    assert!(verdict.contains("a recorder in the app knows besides"), "{verdict}");
    let shown = text("trace");
    assert!(shown.contains("main Blocked") && shown.contains("ErrorId: 5f2b0f3c"), "{shown}");
    let stacks = text("stacks-about");
    assert!(stacks.contains("its length says nothing of time"), "{stacks}");
    let tree = text("tree");
    assert!(tree.contains("the main thread in the system's trace"), "{tree}");
    let threads = text("threads");
    assert!(threads.contains("sync (tid 4340) Sleeping"), "{threads}");
    b.picture(&pictures().join("trace.png"));
}
