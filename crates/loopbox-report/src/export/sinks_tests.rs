//! A text of a report stays text in every output: no reader acts on it as markup or commands.

use crate::cluster::diff::{self, Comparison, Gate, SideInput};
use crate::cluster::{self, Clusters, Sighting};
use crate::diagnose::{Diagnosis, diagnose};
use crate::export::{self, Format, TicketFormat, ticket};
use crate::json::ReportView;
use crate::smoothness::{FramesOnce, Smoothness};
use crate::test_frames::SessionBuilder;
use crate::test_support::ReportBuilder;
use crate::{Analysis, flame, html, is_hidden, json_text, smoothness_views, text};
use loopbox_format::container::Damage;
use loopbox_format::model::{
    DumpReason, FeatureState, Message, PackedTrace, PendingSource, ProcessExit, Report, Statistic, SystemWord,
};
use loopbox_format::text::BoundedStr;
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

/// A text with something special for each reader: a terminal, HTML, XML, CommonMark and its extensions in
/// trackers, Slack, collapsed stacks, a shell. It also has a separate line that seems to be ours.
const EVIL: &str = "EVIL\u{1b}[31mX\u{1b}]0;t\u{7}<!channel><@U1> <img src=x onerror=alert(1)></script></title>-->]]> *b* _i_ \
    `c` ```` ~~s~~ [x](http://evil.example) www.evil.example @all #12 | ; \" ' & &amp; \\ $(id) \u{202E}\u{200F}\u{9b}2J\
    \u{2028}\u{FFFF}\u{0}\t\r\nloopbox: FORGED\n- FORGED\n| FORGED |";

/// A hostile name, as it may occur in a list of names.
fn evil(what: &str) -> String {
    format!("{what}.{EVIL}")
}

/// A report of which every text is hostile.
fn hostile() -> Report {
    let stack = "com.example.shop.Checkout.run:31 com.example.shop.Cart.sum:9";
    let trace = format!(
        "----- pid 42 at {EVIL} -----\nCmd line: {EVIL}\n\"main\" prio=5 tid=1 Blocked {EVIL}\n  | sysTid=42\n  at {0}.{0}({0}:1)\n  - \
         waiting to lock <0x01> (a {0}) held by thread 2\n  native: #00 pc 1  /{0} ({0}+4)\n\n\"{0}\" prio=5 tid=2 Native\n  | \
         sysTid=43\n  at {0}.{0}({0}:2)\n{EVIL}\n----- end 42 -----\n",
        EVIL.replace(['\r', '\n'], " ")
    );
    let report = ReportBuilder::new()
        .single("com.example.shop.Checkout", 1_200, 900)
        .running(46, 5_200)
        .doing("android.os.Handler", "com.example.shop.Checkout$1", 100)
        .looper_tree(46, &[(stack, 515)])
        .waits_for("com.example.Db", "writer", "java.lang.Thread.run com.example.Sync.run:9")
        .thread("pool", Some("java.lang.Thread.run"))
        .interrupted(98, &[("/lib/libc.so", &[1, 2, 3], 4)])
        .system_trace(&trace)
        .pending("Message 0: { when=-1ms what=1 target=a.B }")
        .statistic("a", "b");
    let mut report = report.build().report;
    report.frames = SessionBuilder::new().scroll_with("Feed", &[17, 17, 900, 17], Some(46)).build();
    for scene in &mut report.frames.scenes {
        scene.name = BoundedStr::new(&EVIL[..EVIL.char_indices().nth(60).unwrap().0]);
    }
    let meta = &mut report.meta;
    (meta.producer, meta.reason) = (evil("producer"), DumpReason::Requested(evil("reason")));
    let process = &mut meta.process;
    for text in [&mut process.name, &mut process.abi, &mut process.app_version, &mut process.device] {
        *text = evil("process");
    }
    meta.annotations = vec![(evil("key"), evil("value"))];
    report.anr.system = Some(SystemWord::NotResponding(evil("system")));
    report.anr.exit = Some(ProcessExit { reason: 6, description: evil("exit"), unix_ms: 1_795_362_133_000 });
    let hostile = |message: &mut Message| {
        (message.target, message.callback) = (evil("a.Target"), evil("a.Callback"));
    };
    report
        .history
        .iter_mut()
        .flat_map(|r| &mut r.details)
        .filter_map(|d| d.message.as_mut())
        .for_each(hostile);
    if let loopbox_format::model::MainState::Running(running) = &mut report.main {
        running.message.iter_mut().for_each(hostile);
    }
    for method in &mut report.symbols.methods {
        (method.class, method.name) = (evil("com.example.Class"), evil("method"));
        (method.signature, method.source_file) = (evil("signature"), evil("../../File"));
    }
    for wait in &mut report.locks.waits {
        (wait.class, wait.of_class) = (evil("Lock"), evil("Of"));
        wait.holder.iter_mut().for_each(|holder| holder.name = evil("holder"));
    }
    let main = &mut report.main_thread;
    main.wchan = evil("wchan");
    main.system_call.iter_mut().for_each(|call| call.descriptor = evil("/data/file"));
    main.native.iter_mut().flat_map(|n| &mut n.modules).for_each(|module| module.path = evil("/lib"));
    report.threads.threads.iter_mut().for_each(|thread| thread.name = evil("thread"));
    report.pending.lines = vec![
        format!("Message 0: {{ when=-1ms what=1 target={0} callback={0} obj={0} }}", evil("a.B")),
        evil("unread"),
    ];
    report.features = report
        .features
        .iter()
        .map(|f| FeatureState { on: false, detail: evil("off"), ..f.clone() })
        .collect();
    report.statistics = vec![Statistic { name: evil("name"), value: evil("value") }];
    report.lost = vec![evil("lost")];
    report.digest = evil("digest");
    report
}

/// The texts in a value, found in its debug output.
fn texts(debug: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut rest = debug;
    while let Some((_, from)) = rest.split_once('"') {
        let end = from.char_indices().scan(false, |escaped, (at, c)| {
            let is_end = c == '"' && !*escaped;
            *escaped = c == '\\' && !*escaped;
            Some((at, is_end))
        });
        let Some((end, _)) = end.into_iter().find(|(_, is_end)| *is_end) else { break };
        texts.push(&from[..end]);
        rest = &from[end + 1..];
    }
    texts
}

#[test]
fn every_text_of_the_hostile_report_is_hostile() {
    let report = hostile();
    // One text that it has in place of the queue.
    let shown = format!("{report:?}{:?}", PendingSource::Unavailable(evil("why")));
    let texts = texts(&shown);
    assert!(texts.len() > 40, "{}", texts.len());
    let harmless: Vec<_> = texts.iter().filter(|text| !text.contains("EVIL")).collect();
    assert_eq!(harmless, [] as [&&str; 0], "of {shown}");
}

struct Case {
    report: Report,
    analysis: Analysis,
    diagnosis: Diagnosis,
}

/// The hostile report, and a variant of it without the running message and with an unreadable queue. The two
/// lead to different texts.
fn cases() -> Vec<Case> {
    let whole = hostile();
    let mut bare = hostile();
    bare.main = loopbox_format::model::MainState::Unknown;
    bare.pending.source = PendingSource::Unavailable(evil("why"));
    bare.locks.waits.clear();
    bare.system_trace = PackedTrace::default();
    let case = |report: Report| {
        let damage = vec![Damage { offset: 9, what: evil("damage") }];
        let decoded = loopbox_format::report::Decoded { report, damage };
        let analysis = Analysis::new(&decoded);
        let diagnosis = diagnose(&analysis);
        Case { report: decoded.report, analysis, diagnosis }
    };
    [whole, bare].map(case).into()
}

impl Case {
    fn view(&self) -> ReportView<'_> {
        ReportView::new(&self.analysis, &self.diagnosis)
    }

    fn ticket(&self, format: TicketFormat) -> String {
        ticket(format, &self.analysis, &self.diagnosis, &evil("//host/path")).unwrap()
    }

    fn clusters(&self) -> Clusters {
        let mut clusters = Clusters::default();
        clusters.add(Sighting::new(&self.analysis, &self.diagnosis, &evil("path")));
        clusters
    }

    fn smoothness(&self) -> Smoothness {
        let mut smoothness = Smoothness::default();
        smoothness.add(&self.analysis, &FramesOnce::default(), &evil("path"));
        smoothness
    }

    fn comparison(&self) -> Comparison {
        let side = |clusters| SideInput { name: evil("side"), clusters, skipped: 0, duplicates: 0 };
        Comparison::new(&side(Clusters::default()), &side(self.clusters()), None, Gate::Worse)
    }
}

/// Fails where a terminal would act on a text of the report, or the text could pass for a line of ours.
fn assert_for_terminal(what: &str, text: &str) {
    assert!(text.contains("EVIL"), "{what} says nothing of the report: {text}");
    // Styles are ours, and that one is not.
    assert!(!text.contains("\u{1b}[31mX"), "{what}: {text:?}");
    let plain = anstream::adapter::strip_str(text).to_string();
    let bad: Vec<char> = plain.chars().filter(|&c| c != '\n' && is_hidden(c)).collect();
    assert_eq!(bad, [], "{what}: {plain:?}");
    let forged: Vec<&str> = plain.lines().filter(|line| line.starts_with("loopbox: F")).collect();
    assert_eq!(forged, [""; 0], "{what}");
    assert!(
        !plain.lines().any(|line| line.starts_with("- FORGED") || line.starts_with("| FORGED")),
        "{what}: {plain}"
    );
}

#[test]
fn a_terminal_gets_nothing() {
    for case in cases() {
        let (analysis, diagnosis) = (&case.analysis, &case.diagnosis);
        for full in [false, true] {
            assert_for_terminal("show", &text::show(analysis, diagnosis, text::Options { full }));
        }
        assert_for_terminal("diagnose", &text::diagnosis(analysis, diagnosis));
        assert_for_terminal("symbolize", &text::native_stack(analysis));
        assert_for_terminal("cluster", &cluster::text(&case.clusters().summary(0, 0), 9));
        assert_for_terminal("diff", &diff::text(&case.comparison()));
        assert_for_terminal("frames", &smoothness_views::text(&case.smoothness().view(0), 9));
        if let Ok(tree) = export::tree_text(&case.report, &case.analysis, None) {
            assert_for_terminal("tree", &tree);
            let fields: Vec<&str> = tree.trim_end_matches(';').split(';').collect();
            assert_eq!(fields.len() % 4, 0, "{tree}");
            assert!(
                fields.chunks(4).all(|node| node[1..].iter().all(|n| n.parse::<u64>().is_ok())),
                "{tree}"
            );
        }
    }
}

/// Fails where a text of the report becomes markup: elements, or characters that XML does not allow.
fn assert_for_a_browser(what: &str, page: &str) {
    assert!(page.contains("EVIL"), "{what} says nothing of the report");
    for markup in ["<img", "<!channel", "<@U1", "</script></title>", "]]>"] {
        assert!(!page.contains(markup), "{what}: {markup}");
    }
    let bad: Vec<char> = page.chars().filter(|&c| !matches!(c, '\n' | '\t') && is_hidden(c)).collect();
    assert_eq!(bad, [], "{what}");
}

#[test]
fn a_page_and_a_drawing_show_it() {
    for case in cases() {
        let page = html::page(&case.analysis, &case.diagnosis).unwrap();
        assert_for_a_browser("report", &page);
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
        assert_eq!(page.matches("</title").count(), page.matches("<title").count());
        let summary = case.clusters().summary(0, 0);
        assert_for_a_browser("cluster", &cluster::html(&summary, 9));
        let sighting = Sighting::new(&case.analysis, &case.diagnosis, &evil("path"));
        assert_for_a_browser("list", &cluster::list(&[(0, sighting)], 9));
        assert_for_a_browser("frames", &smoothness_views::html(&case.smoothness().view(0), 9));
        assert_for_a_browser("junit", &diff::junit(&case.comparison()));
        let mut svg = Vec::new();
        let choice = flame::TreeChoice { token: None, merged: true };
        flame::write(&case.analysis, choice, &mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        // The library's own script is in a section that ends so.
        assert_for_a_browser("flame", &svg.replace("]]>", ""));
        assert_eq!(svg.matches("]]>").count(), svg.matches("<![CDATA[").count());
    }
}

/// Fails where CommonMark or a tracker would read a text as more than text.
fn assert_for_a_tracker(what: &str, markdown: &str) {
    assert!(markdown.contains("EVIL"), "{what} says nothing of the report");
    let (mut text, mut in_code) = (String::new(), false);
    for event in Parser::new_ext(markdown, Options::all()) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(pulldown_cmark::TagEnd::CodeBlock) => in_code = false,
            Event::Text(part) if !in_code => text.push_str(&part),
            Event::Html(html) | Event::InlineHtml(html) => panic!("{what}: HTML {html} in {markdown}"),
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strikethrough) => {
                panic!("{what}: {event:?} in {markdown}")
            }
            Event::End(_) | Event::SoftBreak | Event::HardBreak => text.push('\n'),
            _ => {}
        }
    }
    for calls in ["@all", "#12", "http://", "www.evil"] {
        assert!(!text.contains(calls), "{what}: {calls} in {text}");
    }
    assert!(!text.lines().any(|line| line.trim_start().starts_with("FORGED")), "{what}: {text}");
    assert!(!markdown.chars().any(|c| c != '\n' && is_hidden(c)), "{what}: {markdown:?}");
}

#[test]
fn a_tracker_makes_no_markup_of_it_and_calls_nobody() {
    for case in cases() {
        assert_for_a_tracker("ticket", &case.ticket(TicketFormat::Markdown));
        assert_for_a_tracker("diff", &diff::markdown(&case.comparison()));
    }
}

/// Calls `each` with every string of a JSON value, and with the name that it has.
fn strings<'v>(name: &'v str, value: &'v Value, each: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => each(name, text),
        Value::Array(values) => values.iter().for_each(|value| strings(name, value, each)),
        Value::Object(members) => members.iter().for_each(|(name, value)| strings(name, value, each)),
        _ => {}
    }
}

#[test]
fn slack_calls_nobody() {
    for case in cases() {
        let message: Value = serde_json::from_str(&case.ticket(TicketFormat::Slack)).unwrap();
        let mut seen = 0;
        strings("", &message, &mut |name, text| {
            if name != "text" {
                return;
            }
            seen += usize::from(text.contains("EVIL"));
            assert!(!text.contains(['<', '>']), "{text}");
            let entities = ["amp;", "lt;", "gt;"];
            assert!(
                text.split('&').skip(1).all(|rest| entities.iter().any(|e| rest.starts_with(e))),
                "{text}"
            );
            assert!(!text.chars().any(|c| c != '\n' && is_hidden(c)), "{text:?}");
            assert!(
                !text.lines().any(|line| line.starts_with("loopbox: F") || line.starts_with("- F")),
                "{text}"
            );
            // In code these are what they are.
            let quoted =
                text.lines().filter(|line| !text.starts_with("```\n") && !line.starts_with("Look at `"));
            for line in quoted {
                assert!(
                    !line.contains(" *b* ") && !line.contains(" _i_ ") && !line.contains("~~s~~"),
                    "{line}"
                );
            }
            assert_eq!(text.matches("```").count(), if text.starts_with("```\n") { 2 } else { 0 }, "{text}");
        });
        assert!(seen > 3, "{message}");
        let blocks = message["blocks"].as_array().unwrap();
        let objects = blocks.iter().flat_map(|block| [&block["text"], &block["elements"][0]]);
        for object in objects.filter(|object| object["type"] == "mrkdwn") {
            assert_eq!(object["verbatim"], true);
        }
    }
}

#[test]
fn code_scanning_gets_no_address_but_below_the_sources() {
    for case in cases() {
        let log: Value = serde_json::from_str(&case.ticket(TicketFormat::Sarif)).unwrap();
        strings("", &log, &mut |name, text| {
            if name == "uri" {
                assert!(!text.starts_with("//") && !text.contains(".."), "{text}");
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/%".contains(c);
                assert!(text.chars().all(is_plain), "{text}");
            }
        });
    }
}

#[test]
fn json_is_the_same_value_and_harmless_on_a_terminal() {
    for case in cases() {
        let mut texts = vec![
            ("show", json_text(&case.view()).unwrap()),
            ("cluster", json_text(&case.clusters().summary(0, 0)).unwrap()),
            ("diff", json_text(&case.comparison()).unwrap()),
            ("frames", json_text(&case.smoothness().view(0)).unwrap()),
            ("slack", case.ticket(TicketFormat::Slack)),
            ("sarif", case.ticket(TicketFormat::Sarif)),
        ];
        for format in Format::ALL
            .into_iter()
            .filter(|format| format.is_text() && !matches!(format, Format::Collapsed | Format::MatrixFps))
        {
            let mut out = Vec::new();
            export::write(format, &case.analysis, &case.diagnosis, &mut out).unwrap();
            texts.push((format.name(), String::from_utf8(out).unwrap()));
        }
        for (what, text) in texts {
            assert!(text.contains("EVIL"), "{what} says nothing of the report");
            let bad: Vec<char> = text.chars().filter(|&c| c != '\n' && is_hidden(c)).collect();
            assert_eq!(bad, [], "{what}");
            serde_json::from_str::<Value>(&text).unwrap();
        }
        // One line for each screen.
        let mut out = Vec::new();
        export::write(Format::MatrixFps, &case.analysis, &case.diagnosis, &mut out).unwrap();
        let lines = String::from_utf8(out).unwrap();
        assert!(lines.lines().count() == 1 && lines.contains("EVIL"), "{lines}");
        serde_json::from_str::<Value>(&lines).unwrap();
    }
}

#[test]
fn a_collapsed_stack_is_one_line_with_its_frames_and_its_time() {
    for case in cases() {
        let mut out = Vec::new();
        export::write(Format::Collapsed, &case.analysis, &case.diagnosis, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let deepest =
            case.analysis.trees.iter().flat_map(|tree| &tree.nodes).map(|node| node.depth as usize + 1).max();
        assert!(text.contains("EVIL"), "{text}");
        for line in text.lines() {
            let (stack, time) = line.split_once(' ').unwrap();
            assert!(time.parse::<u64>().is_ok() && !stack.chars().any(is_hidden), "{line:?}");
            assert!(stack.split(';').count() <= deepest.unwrap(), "{line}");
        }
    }
}

#[test]
fn a_trace_has_harmless_strings() {
    for case in cases() {
        let mut out = Vec::new();
        export::write(Format::Perfetto, &case.analysis, &case.diagnosis, &mut out).unwrap();
        let has = |part: &str| out.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(
            has("EVIL") && !has("\u{1b}[31mX") && !has("\u{202E}") && !has("\u{9b}") && !has("\nloopbox")
        );
    }
}
