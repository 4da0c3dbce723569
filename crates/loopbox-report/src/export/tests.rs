//! Each JSON format is read back as its viewer reads it, and must have the stacks and times of the report.

use super::*;
use crate::diagnose::diagnose;
use crate::model::Frame;
use crate::render::flame;
use crate::test_support::{OUTSIDE, ReportBuilder};
use loopbox_format::model::{End, Token, Uptime};
use proptest::prelude::*;
use serde_json::Value;

fn analysis() -> Analysis {
    let report = ReportBuilder::new()
        .group(40, 310, 20)
        .single("com.example.Sync", 900, 300)
        .running(43, 5_000)
        .doing("com.example.Main", "com.example.Main$1", 4_900)
        .tree(41, &[("a.A.a b.B.b:7", 4)])
        .looper_tree(
            43,
            &[("a.A.a b.B.b:7", 30), ("a.A.a", 2), ("a.A.a b.B.b:9 c.C.c!", 5), ("a.A.a b.B.b:7", 1)],
        )
        .with(|r| r.trees[1].sample_deltas_ns[20] = 70_000_000)
        .with(|r| r.history[1].details[0].end = End::Missed)
        .statistic("threads", "31")
        .build();
    Analysis::new(&report)
}

fn json(format: Format, a: &Analysis) -> Value {
    let mut out = Vec::new();
    write(format, a, &diagnose(a), &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// The stack of each sample with its time, from the analysis itself.
fn expected(a: &Analysis, name: impl Fn(&Frame) -> String) -> Vec<(Uptime, Vec<String>)> {
    let mut all = Vec::new();
    for tree in &a.trees {
        for run in tree.stack_runs() {
            let stack: Vec<String> = tree.stack(run.top).iter().map(|&f| name(&a.frames[f])).collect();
            all.extend((run.start..run.end).map(|s| (tree.sample_ns[s as usize], stack.clone())));
        }
    }
    all
}

fn u(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap_or_else(|| panic!("not a count: {value}"))).unwrap()
}

#[test]
fn speedscope_has_every_stack_with_its_time() {
    let a = analysis();
    let file = json(Format::Speedscope, &a);
    assert_eq!(file["activeProfileIndex"], 1);
    let mut got = Vec::new();
    for (profile, tree) in file["profiles"].as_array().unwrap().iter().zip(&a.trees) {
        let mut at = tree.sample_ns[0];
        let samples = profile["samples"].as_array().unwrap();
        for (stack, weight) in samples.iter().zip(profile["weights"].as_array().unwrap()) {
            let names = stack.as_array().unwrap().iter();
            let names: Vec<String> =
                names.map(|f| file["shared"]["frames"][u(f)]["name"].as_str().unwrap().into()).collect();
            got.push((at, names));
            at += weight.as_u64().unwrap();
        }
        assert_eq!(at - tree.sample_ns[0], profile["endValue"].as_u64().unwrap());
    }
    let mut want = expected(&a, Frame::qualified);
    want.dedup_by(|next, kept| next.1 == kept.1 && next.0 > a.trees[1].sample_ns[0]);
    // Runs of equal stacks are one sample; of the first tree only the first is left by the dedup above.
    want.retain(|(at, _)| *at >= a.trees[1].sample_ns[0] || *at == a.trees[0].sample_ns[0]);
    assert_eq!(got, want);
}

#[test]
fn firefox_has_every_stack_with_its_time() {
    let a = analysis();
    let file = json(Format::Firefox, &a);
    let thread = &file["threads"][0];
    let string = |at: &Value| thread["stringArray"][u(at)].as_str().unwrap().to_string();
    let stack = |at: &Value| {
        let mut at = at.clone();
        let mut names = Vec::new();
        while !at.is_null() {
            let frame = &thread["stackTable"]["frame"][u(&at)];
            let func = &thread["frameTable"]["func"][u(frame)];
            names.push(string(&thread["funcTable"]["name"][u(func)]));
            at = thread["stackTable"]["prefix"][u(&at)].clone();
        }
        names.reverse();
        names
    };
    let samples = &thread["samples"];
    let mut now = 0.0;
    let mut got = Vec::new();
    for (at, delta) in samples["timeDeltas"].as_array().unwrap().iter().enumerate() {
        now += delta.as_f64().unwrap();
        got.push((now, stack(&samples["stack"][at])));
    }
    let start = a.history[0].start_ns;
    let mut want: Vec<_> =
        expected(&a, Frame::full).into_iter().map(|(at, s)| ((at - start) as f64 / 1e6, s)).collect();
    got.retain(|(_, stack)| !stack.is_empty());
    for (got, want) in got.iter_mut().zip(&mut want) {
        got.0 = (got.0 * 1e3).round();
        want.0 = (want.0 * 1e3).round();
    }
    assert_eq!(got, want);
    // The sample of 70 ms weighs seven of the others.
    assert!(samples["weight"].as_array().unwrap().contains(&7.into()));
    let names: Vec<String> = thread["markers"]["name"].as_array().unwrap().iter().map(string).collect();
    assert_eq!(names, ["Message", "Message", "History", "History"]);
}

#[test]
fn chrome_has_every_stack_with_its_time() {
    let a = analysis();
    let file = json(Format::Chrome, &a);
    let events = file["traceEvents"].as_array().unwrap();
    let of = |category: &str| events.iter().filter(|e| e["cat"] == category).cloned().collect::<Vec<_>>();
    // As an importer reads them: in the order of the file, each end closes the last begin event.
    let (mut open, mut states) = (Vec::<String>::new(), vec![(0.0, Vec::new())]);
    for event in of("stack") {
        let (at, name) = (event["ts"].as_f64().unwrap(), event["name"].as_str().unwrap().to_owned());
        assert!(states.last().unwrap().0 <= at, "in order of time");
        match event["ph"].as_str() {
            Some("B") => open.push(name),
            Some("E") => assert_eq!(open.pop(), Some(name), "an end of what is open"),
            other => panic!("{other:?}"),
        }
        states.push((at, open.clone()));
    }
    assert_eq!(open.len(), 0);
    for (at, want) in expected(&a, Frame::qualified) {
        let at = at.0 as f64 / 1e3 + 1.0;
        let (_, got) = states.iter().rev().find(|(since, _)| *since < at).unwrap();
        assert_eq!(*got, want);
    }
    let messages = of("message");
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["args"]["end"], "not seen: this is the latest that it can be");
    assert_eq!(messages[1]["dur"], 5_000_000.0);
    assert_eq!(of("history").len(), 2);
    let dump = events.iter().find(|e| e["name"] == "dump").unwrap();
    assert_eq!(dump["args"]["threads"], "31");
    assert!(events.iter().all(|e| e["ph"] == "M" || e["ts"].is_number()));
}

/// The token of what ran outside of messages is a number that is too large for readers of JSON, and that
/// means nothing to people. So no export contains this number.
#[test]
fn every_export_names_what_ran_outside_of_messages() {
    let stack = "android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce! \
                 android.view.InputEventReceiver.dispatchInputEvent com.example.Main.dispatchTouchEvent";
    let report = ReportBuilder::new().group(98, 310, 20).outside(6_000, true).tree(OUTSIDE, &[(stack, 590)]);
    let a = Analysis::new(&report.build());
    for format in Format::ALL {
        let mut out = Vec::new();
        write(format, &a, &diagnose(&a), &mut out).unwrap();
        let text = String::from_utf8_lossy(&out);
        assert!(!text.contains("922337203"), "{}: {text}", format.name());
        if !matches!(format, Format::Collapsed | Format::MatrixFps | Format::OtelJank) {
            assert!(text.contains("outside of messages"), "{}: {text}", format.name());
        }
    }
    let file = json(Format::Json, &a);
    let now = &file["current"];
    assert_eq!((now["state"].as_str(), now["token"].as_str()), (Some("outside"), Some("after-98")));
    assert_eq!((now["age_ms"].as_f64(), now["at_most"].as_bool()), (Some(6_000.0), Some(false)));
    assert_eq!((now["place"].as_str(), now["has_tree"].as_bool()), (Some("input"), Some(true)));
    assert_eq!(file["trees"][0]["token"], "after-98");
    assert_eq!(file["trees"][0]["title"], "in input, outside of messages, after #98 (at the dump)");
    assert_eq!(file["verdict"]["causes"][0]["token"], "after-98");
    let chrome = json(Format::Chrome, &a);
    let events = chrome["traceEvents"].as_array().unwrap();
    let message = events.iter().find(|event| event["cat"] == "message").unwrap();
    assert_eq!(
        (&message["name"], &message["dur"]),
        (&"outside of messages, in input".into(), &6_000_000.0.into())
    );
    assert_eq!(json(Format::Speedscope, &a)["activeProfileIndex"], 0);
    let mut svg = Vec::new();
    flame::write(&a, flame::TreeChoice { token: Some(Token(OUTSIDE)), merged: false }, &mut svg).unwrap();
    assert!(String::from_utf8(svg).unwrap().contains("in input, outside of messages, after #98"));
    let missing = flame::TreeChoice { token: Some(Token(7)), merged: false };
    let error = flame::write(&a, missing, io::sink()).unwrap_err().to_string();
    assert_eq!(error, "no stacks of message #7; there are stacks of after-98");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
    fn exports_of_any_report_are_well_formed(
        times in proptest::collection::vec(prop_oneof![0_u64..2_000_000_000, Just(u64::MAX), Just(u64::MAX - 5)], 12),
        nodes in proptest::collection::vec((0_u32..9, 0_u32..3, prop_oneof![0_u32..6, Just(u32::MAX)], 0_u32..4), 0..30),
        pid in prop_oneof![Just(0), Just(u32::MAX), Just(17)],
    ) {
        use loopbox_format::model::{LocationId, TreeNode};
        let t = |i: usize| times[i % times.len()];
        let mut decoded = ReportBuilder::new()
            .group(u32::MAX, 310, 20)
            .single("com.example.Sync", 900, 300)
            .running(43, 5_000)
            .tree(41, &[("a.A.a b.B.b:7", 4)])
            .tree(43, &[("a.A.a b.B.b:7", 30), ("a.A.a", 2)])
            .build();
        let r = &mut decoded.report;
        r.meta.process.pid = pid;
        r.meta.dumped_at.uptime_ns = Uptime(t(0));
        r.meta.dumped_at.unix_ms = t(1);
        r.meta.limits.sample_interval_ns = t(2);
        for (i, record) in r.history.iter_mut().enumerate() {
            (record.start_ns, record.wall_ns, record.cpu_ns) = (Uptime(t(3 + i)), t(4 + i), Some(t(5 + i)));
            record.details.iter_mut().for_each(|d| (d.start_ns, d.wall_ns) = (Uptime(t(6)), t(7)));
        }
        for (i, tree) in r.trees.iter_mut().enumerate() {
            tree.start_ns = Uptime(t(8 + i));
            tree.sample_deltas_ns.clone_from(&times);
            tree.phases[0].interval_ns = t(9);
            tree.nodes = nodes
                .iter()
                .map(|&(location, skip, count, children)| TreeNode { location: LocationId(location), skip, count, children })
                .collect();
        }
        let a = Analysis::new(&decoded);
        for format in [Format::Json, Format::Chrome, Format::Firefox, Format::Speedscope] {
            json(format, &a);
        }
        for format in [Format::Perfetto, Format::Collapsed] {
            write(format, &a, &diagnose(&a), &mut Vec::new()).unwrap();
        }
        for merged in [false, true] {
            let _ = flame::write(&a, flame::TreeChoice { token: None, merged }, io::sink());
        }
    }
}
