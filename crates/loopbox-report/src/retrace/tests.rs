//! Names that a mapping restores, in all parts of a report.

use super::*;
use crate::derive::java_stack;
use crate::diagnose::diagnose;
use crate::load::limits::TRACE_BYTES;
use crate::load::system_trace::unpack;
use crate::model::Analysis;
use crate::render::json::ReportView;
use crate::test_support::ReportBuilder;
use loopbox_format::model::{Location, MethodId};
use loopbox_format::report::Decoded;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A mapping as R8 writes it: an inlined call (two lines for one range), overloads distinguished by range, a
/// kept class, an outline with its call sites, a synthesized lambda class.
const MAPPING: &str = "\
# compiler: R8
# compiler_version: 8.5.35
# min_api: 24
# pg_map_id: 5ac1e0f
# pg_map_hash: SHA-256 5ac1e0f7aa55b40ba3f81a4f4a6bca0c4c1f2d7f9ab9aa31b2cf24a8a4f4c001
com.example.shop.Main -> com.example.shop.Main:
# {\"id\":\"sourceFile\",\"fileName\":\"Main.kt\"}
    10:12:void onCreate(android.os.Bundle):31:33 -> onCreate
com.example.shop.cart.CartStore -> a.b:
# {\"id\":\"sourceFile\",\"fileName\":\"CartStore.kt\"}
    1:3:void load(java.lang.String):40:42 -> a
    4:4:int com.example.shop.cart.Price.sum(java.util.List):7:7 -> a
    4:4:void load(java.lang.String):44 -> a
    5:6:void save(com.example.shop.cart.Item,int):60:61 -> a
    void clear() -> b
com.example.shop.cart.Item -> a.c:
com.example.shop.cart.CartStore$$ExternalSyntheticLambda0 -> a.d:
# {\"id\":\"com.android.tools.r8.synthesized\"}
    1:1:void run():0:0 -> run
      # {\"id\":\"com.android.tools.r8.synthesized\"}
com.example.shop.R8$$Outline -> a.o:
# {\"id\":\"com.android.tools.r8.synthesized\"}
    1:2:int outline():0:1 -> a
      # {\"id\":\"com.android.tools.r8.outline\"}
com.example.shop.Checkout -> a.e:
    4:4:void pay():80:80 -> a
    27:27:void pay():0:0 -> a
      # {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{\"1\":4,\"2\":5},\"outline\":\"La/o;->a()I\"}
";

fn mapping() -> Mapping {
    Mapping::parse(MAPPING.as_bytes()).unwrap()
}

fn retraced(mut decoded: Decoded) -> Result<Vec<String>, MappingMismatch> {
    mapping().retrace(&mut decoded.report)?;
    Ok(stacks(&decoded))
}

/// Each run of equal stacks, with the number of its samples.
fn stacks(decoded: &Decoded) -> Vec<String> {
    let a = Analysis::new(decoded);
    let mut out = Vec::new();
    for tree in &a.trees {
        assert_eq!(tree.error, None);
        for run in tree.stack_runs() {
            let stack: Vec<String> = tree.stack(run.top).iter().map(|&f| a.frames[f].full()).collect();
            out.push(format!("{} x{}", stack.join(" > "), run.end - run.start));
        }
    }
    out
}

/// ART's trace has line numbers but no dex pcs. The line numbers identify inlined frames and overloads.
/// Classes of locks are renamed, too.
#[test]
fn retrace_renames_the_systems_trace() {
    let trace = "\"main\" prio=5 tid=1 Blocked\n  | sysTid=4321 nice=0\n  at a.b.a(SourceFile:4)\n  \
                 - waiting to lock <0x0000002a> (a a.c) held by thread 2\n  at a.o.a(SourceFile:1)\n  at a.e.a(SourceFile:27)\n  \
                 at a.b.b(SourceFile)\n  at com.example.shop.Main.onCreate(SourceFile:11)\n\n\
                 \"b\" prio=5 tid=2 Native\n  | sysTid=77 nice=0\n  at a.e.x(Native method)\n  \
                 - locked <0x0000002a> (a java.lang.Class<a.c>)\n";
    let mut decoded = ReportBuilder::new()
        .running(1, 1_000)
        .tree(1, &[("com.example.shop.Main.onCreate:11 a.b.a:4", 5)])
        .system_trace(trace)
        .build();
    mapping().retrace(&mut decoded.report).unwrap();
    let a = Analysis::new(&decoded);
    let diagnosis = diagnose(&a);
    let json = serde_json::to_value(ReportView::new(&a, &diagnosis)).unwrap();
    assert_eq!(json["system_trace"]["apart"], Value::Null);
    assert_eq!(
        json["system_trace"]["main"]["lines"],
        json!([
            "at com.example.shop.cart.Price.sum(Price.kt:7)",
            "at com.example.shop.cart.CartStore.load(CartStore.kt:44)",
            "- waiting to lock a com.example.shop.cart.Item <0x0000002a>, held by b (thread 2)",
            "at com.example.shop.Checkout.pay(Checkout.java:80)",
            "at com.example.shop.cart.CartStore.clear",
            "at com.example.shop.Main.onCreate(Main.kt:32)",
        ])
    );
    assert_eq!(
        json["threads"]["threads"][0]["trace"]["lines"],
        json!([
            "at com.example.shop.Checkout.x(Native method)",
            "- locked the class com.example.shop.cart.Item <0x0000002a>"
        ])
    );
    assert_eq!(json["locks"]["waits"][0]["object"], "a com.example.shop.cart.Item");
}

#[test]
fn retrace_of_the_longest_trace_leaves_out_its_end_and_no_report() {
    let thread = "\"b\" prio=5 tid=2 Native\n  at a.b.a(SourceFile:4)\n\n";
    let trace = thread.repeat(TRACE_BYTES / thread.len());
    let mut decoded = ReportBuilder::new().running(1, 1_000).system_trace(&trace).build();
    mapping().retrace(&mut decoded.report).unwrap();
    let (text, issue) = unpack(&decoded.report.system_trace);
    assert_eq!(issue, None);
    assert!(text.ends_with('\n') && text.len() > TRACE_BYTES - 200, "{}", text.len());
    assert!(text.contains("CartStore.load") && !text.contains("a.b.a"));
    assert!(Analysis::new(&decoded).issues.is_empty());
}

#[test]
fn retrace_expands_inlined_frames_and_joins_equal_callers() {
    let report = ReportBuilder::new()
        .running(1, 1_000)
        .tree(
            1,
            &[
                ("com.example.shop.Main.onCreate:11 a.b.a:2", 5),
                ("com.example.shop.Main.onCreate:11 a.b.a:4", 3),
            ],
        )
        .build();
    assert_eq!(
        retraced(report).unwrap(),
        [
            "com.example.shop.Main.onCreate(Main.kt:32) > com.example.shop.cart.CartStore.load(CartStore.kt:41) x5",
            "com.example.shop.Main.onCreate(Main.kt:32) > com.example.shop.cart.CartStore.load(CartStore.kt:44) \
             > com.example.shop.cart.Price.sum(Price.kt:7) x3"
        ]
    );
}

#[test]
fn retrace_without_lines_distinguishes_overloads_by_descriptor() {
    let report = ReportBuilder::new().running(1, 1_000).tree(1, &[("a.b.a", 2), ("a.b.b", 1)]).with(|r| {
        r.symbols.methods[0].signature = "(La/c;I)V".into();
    });
    let mut decoded = report.build();
    mapping().retrace(&mut decoded.report).unwrap();
    let method = &decoded.report.symbols.methods[0];
    assert_eq!((method.class.as_str(), method.name.as_str()), ("com.example.shop.cart.CartStore", "save"));
    assert_eq!(method.signature, "(Lcom/example/shop/cart/Item;I)V");
    assert_eq!(decoded.report.symbols.methods[1].name, "clear");
}

#[test]
fn retrace_gives_the_position_of_an_outline_to_its_caller() {
    let report = ReportBuilder::new().running(1, 1_000).tree(1, &[("a.e.a:27 a.o.a:1", 4)]).build();
    assert_eq!(retraced(report).unwrap(), ["com.example.shop.Checkout.pay(Checkout.java:80) x4"]);
}

#[test]
fn retrace_deobfuscates_messages_and_the_queue() {
    let mut decoded = ReportBuilder::new()
        .single("a.c", 400, 300)
        .running(7, 900)
        .doing("android.os.Handler", "a.d", 800)
        .pending("Message 0: { when=-5s21ms callback=a.d obj=a.c@1f target=android.os.Handler }")
        .pending("Message 1: { when=0 what=3 a.b target=a.b }")
        .build();
    mapping().retrace(&mut decoded.report).unwrap();
    let r = &decoded.report;
    let detail = r.history[0].details[0].message.as_ref().unwrap();
    assert_eq!(detail.target, "com.example.shop.cart.Item");
    let MainState::Running(running) = &r.main else { panic!() };
    assert_eq!(
        running.message.as_ref().unwrap().callback,
        "com.example.shop.cart.CartStore$$ExternalSyntheticLambda0"
    );
    assert_eq!(
        r.pending.lines,
        [
            "Message 0: { when=-5s21ms callback=com.example.shop.cart.CartStore$$ExternalSyntheticLambda0 \
             obj=com.example.shop.cart.Item@1f target=android.os.Handler }",
            "Message 1: { when=0 what=3 a.b target=com.example.shop.cart.CartStore }"
        ]
    );
}

#[test]
fn retrace_refuses_a_mapping_of_another_build_and_changes_nothing() {
    let with_id = |id: &str| {
        let mut decoded = ReportBuilder::new().running(1, 1_000).tree(1, &[("a.b.a:2", 5)]).build();
        decoded.report.symbols.methods[0].source_file = format!("r8-map-id-{id}");
        decoded
    };
    let full = "5ac1e0f7aa55b40ba3f81a4f4a6bca0c4c1f2d7f9ab9aa31b2cf24a8a4f4c001";
    assert!(retraced(with_id("5ac1e0f")).is_ok());
    assert!(retraced(with_id(full)).is_ok());
    let mut other = with_id("77777777");
    let before = other.report.clone();
    let error = mapping().retrace(&mut other.report).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the mapping is of another build: its id is 5ac1e0f, and that of the report is 77777777"
    );
    assert_eq!(other.report, before);

    let stranger = ReportBuilder::new().running(1, 1_000).tree(1, &[("x.Y.z", 5), ("q.r.s", 1)]).build();
    assert_eq!(retraced(stranger).unwrap_err(), MappingMismatch::NoClass { classes: 2 });

    let stacks = "a.b.q:90 a.b.r:91 a.e.s:92 a.e.t:93 a.b.u:94 a.b.a:2";
    let shuffled = ReportBuilder::new().running(1, 1_000).tree(1, &[(stacks, 5)]).build();
    assert_eq!(retraced(shuffled).unwrap_err(), MappingMismatch::FewMethods { found: 1, looked_up: 6 });

    let platform = ReportBuilder::new().running(1, 1_000).tree(1, &[("android.os.Looper.loop", 5)]).build();
    assert_eq!(retraced(platform).unwrap_err(), MappingMismatch::NothingToDo);
}

#[test]
fn parse_refuses_other_files() {
    assert_eq!(Mapping::parse(b"").unwrap_err(), MappingError::Empty);
    for other in [&b"PK\x03\x04\0\0"[..], b"{\"version\":3}", b"# only\n# comments\n", b"\xff\xfe\x00"] {
        assert_eq!(Mapping::parse(other).unwrap_err(), MappingError::NotAMapping, "{other:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn retrace_of_forged_mappings_and_reports_does_not_panic(
        at in 0..MAPPING.len(), flip in 1_u8..127, cut in 0..MAPPING.len(),
        locations in proptest::collection::vec((0_u32..12, prop_oneof![Just(None), (0_u32..30).prop_map(Some), Just(Some(u32::MAX))]), 1..8),
    ) {
        let mut bytes = MAPPING.as_bytes().to_vec();
        bytes[at] ^= flip;
        bytes.truncate(cut.max(at));
        if let Ok(mapping) = Mapping::parse(&*bytes) {
            let stack = "com.example.shop.Main.onCreate:11 a.b.a:4 a.o.a:1 a.e.a:27 a.d.run:1";
            let mut decoded = ReportBuilder::new().running(1, 1_000).tree(1, &[(stack, 4), ("a.b.b", 2)]).build();
            for (i, (method, line)) in locations.into_iter().enumerate() {
                if let Some(location) = decoded.report.symbols.locations.get_mut(i) {
                    *location = Location::Frame { method: MethodId(method), dex_pc: line, line };
                }
            }
            let _ = mapping.retrace(&mut decoded.report);
            Analysis::new(&decoded);
        }
    }
}

#[test]
fn retrace_deobfuscates_locks_and_other_threads() {
    let report = ReportBuilder::new()
        .running(1, 6_000)
        .looper_tree(1, &[("com.example.shop.Main.onCreate:10", 50)])
        .waits_for("a.c", "sync", "java.lang.Thread.run a.b.a:4")
        .thread("sync", Some("java.lang.Thread.run a.b.a:4"));
    let mut decoded = report.build();
    mapping().retrace(&mut decoded.report).unwrap();
    let analysis = Analysis::new(&decoded);
    let wait = &analysis.locks.waits[0];
    assert_eq!(wait.object, "a com.example.shop.cart.Item");
    let stack = java_stack(&analysis, &wait.holder.as_ref().unwrap().stack);
    let frames =
        ["com.example.shop.cart.Price.sum", "com.example.shop.cart.CartStore.load", "java.lang.Thread.run"];
    assert!(
        stack.iter().zip(frames).all(|(have, want)| have.starts_with(want)) && stack.len() == 3,
        "{stack:?}"
    );
    let other = analysis.threads.threads[0].stack.as_ref().unwrap();
    assert_eq!(java_stack(&analysis, other), stack, "and so do the other threads");
}

/// A class: its names in the source and in the report, and its methods.
#[derive(Debug, Clone)]
struct SomeClass {
    original: usize,
    obfuscated: usize,
    methods: Vec<SomeMethod>,
}

#[derive(Debug, Clone)]
struct SomeMethod {
    name: usize,
    original: usize,
    /// The index of the class that the method was inlined from.
    of: Option<usize>,
    lines: Option<(u8, u8)>,
    parameters: bool,
    comment: u8,
}

fn some_class() -> impl Strategy<Value = SomeClass> {
    let method = (
        0..4_usize,
        0..4_usize,
        proptest::option::of(0..9_usize),
        proptest::option::of((1..9_u8, 0..4_u8)),
        any::<bool>(),
        0..8_u8,
    )
        .prop_map(|(name, original, of, lines, parameters, comment)| SomeMethod {
            name,
            original,
            of,
            lines,
            parameters,
            comment,
        });
    (0..9_usize, 0..9_usize, proptest::collection::vec(method, 0..8))
        .prop_map(|(original, obfuscated, methods)| SomeClass { original, obfuscated, methods })
}

fn written(classes: &[SomeClass]) -> String {
    let mut out = String::from("# compiler: R8\n# min_api: 26\n");
    for class in classes {
        let _ = writeln!(out, "com.shop.C{} -> a.c{}:", class.original, class.obfuscated);
        if class.original % 3 > 0 {
            let _ = writeln!(out, "# {{\"id\":\"sourceFile\",\"fileName\":\"F{}.kt\"}}", class.original);
        }
        if class.original % 4 == 3 {
            out.push_str("# {\"id\":\"com.android.tools.r8.synthesized\"}\n");
        }
        out.push_str("    int field -> a\n");
        for method in &class.methods {
            let range = method.lines.map(|(from, len)| format!("{from}:{}:", from + len)).unwrap_or_default();
            let of = method.of.map(|of| format!("com.shop.C{of}.")).unwrap_or_default();
            let parameters = if method.parameters { "com.shop.C1" } else { "" };
            let source = method
                .lines
                .map(|(from, len)| format!(":{}:{}", 10 + from, 10 + from + len))
                .unwrap_or_default();
            let _ = writeln!(
                out,
                "    {range}void {of}m{}({parameters}){source} -> m{}",
                method.original, method.name
            );
            // Of one method all lines say the same.
            let receiver = method.of.unwrap_or(class.original);
            out.push_str(match (receiver * 5 + method.original) % 6 {
                1 => "      # {\"id\":\"com.android.tools.r8.synthesized\"}\n",
                2 => "      # {\"id\":\"com.android.tools.r8.outline\"}\n",
                _ => "",
            });
            out.push_str(match method.comment {
                1 => "      # {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{\"1\":4,\"2\":5},\"outline\":\"La/c2;->m0()I\"}\n",
                2 => "      # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(La/c1;)V\"}\n",
                _ => "",
            });
        }
    }
    out
}

proptest! {
    /// The part of a mapping that is kept for a report gives the same result as the whole mapping.
    #[test]
    fn a_report_is_retraced_by_a_part_as_by_the_whole(
        classes in proptest::collection::vec(some_class(), 1..9),
        frames in proptest::collection::vec((0..9_usize, 0..5_usize, 0..12_u32, any::<bool>()), 1..12),
        other in (0..9_usize, 0..9_usize, 0..9_usize),
        searched in any::<bool>(),
    ) {
        let text = written(&classes);
        let stack: Vec<String> = frames.iter().map(|(class, method, line, _)| match line {
            0 => format!("a.c{class}.m{method}"),
            line => format!("a.c{class}.m{method}:{line}"),
        }).collect();
        let mut trace = String::new();
        for frame in &stack {
            let (name, line) = frame.split_once(':').unwrap_or((frame, "0"));
            let _ = writeln!(trace, "  at {name}(SourceFile:{line})\n  - locked <0x01> (a a.c{})", other.2);
        }
        let mut report = ReportBuilder::new()
            .running(1, 1_000)
            .doing(&format!("a.c{}", other.0), &format!("a.c{}", other.1), 1)
            .tree(1, &[(&stack.join(" "), 5)])
            .pending(&format!("Message 0: {{ when=-1ms callback=a.c{} target=a.c{} }}", other.1, other.2))
            .system_trace(&format!("\"main\" prio=5 tid=1 Blocked\n  | sysTid=4321 nice=0\n{trace}\n"))
            .build()
            .report;
        for (method, (.., has_signature)) in report.symbols.methods.iter_mut().zip(&frames) {
            method.signature = if *has_signature { "(La/c1;)V".into() } else { "()V".into() };
        }
        let mut mapping = Mapping::parse(text.as_bytes()).unwrap();
        if searched {
            mapping.text.forget_places();
        }
        let (mut by_part, mut by_whole) = (report.clone(), report);
        let part = mapping.retrace(&mut by_part);
        let names = Names::of(&mut by_whole);
        let whole = mapping.retrace_by(text.as_bytes(), &names, &mut by_whole);
        prop_assert_eq!(part, whole);
        prop_assert_eq!(by_part, by_whole, "{}", text);
    }
}

#[test]
fn a_mapping_that_is_all_about_one_method_is_refused() {
    let mut text = String::from("com.shop.C -> a.b:\n");
    for line in 0..90_000 {
        let _ = writeln!(
            text,
            "    {line}:{line}:void com.shop.D.someMethodName{line}(java.lang.String):1:1 -> a"
        );
    }
    let report = ReportBuilder::new().running(1, 1_000).tree(1, &[("a.b.a:7", 5)]).build().report;
    let refused = Mapping::parse(text.as_bytes()).unwrap().retrace(&mut report.clone()).unwrap_err();
    assert_eq!(refused, MappingMismatch::TooMuch { max_mib: 4 });
    // Of a method that the report does not name there may be any number of lines.
    let other = text.replace(" -> a\n", " -> z\n");
    assert_eq!(Mapping::parse(other.as_bytes()).unwrap().retrace(&mut report.clone()), Ok(()));
}
