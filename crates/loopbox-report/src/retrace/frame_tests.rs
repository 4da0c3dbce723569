//! Single frames: which methods and lines of the source a mapping has for them.

use super::stack_frames::Above;
use super::*;
use crate::model::Analysis;
use crate::test_support::ReportBuilder;
use loopbox_format::model::{Location, MethodId};
use loopbox_format::report::Decoded;

/// A frame of a report.
struct Seen {
    class: &'static str,
    method: &'static str,
    descriptor: &'static str,
    file: &'static str,
    line: Option<u32>,
    dex_pc: u32,
}

fn seen(name: &'static str, descriptor: &'static str, line: Option<u32>, dex_pc: u32) -> Seen {
    let (class, method) = name.rsplit_once('.').unwrap();
    Seen { class, method, descriptor, file: "SourceFile", line, dex_pc }
}

impl Seen {
    fn of_file(self, file: &'static str) -> Self {
        Self { file, ..self }
    }
}

/// The frames of a stack in the source, outermost first, as the views show them.
fn source(mapping: &str, stack: &[Seen]) -> Vec<String> {
    // A frame of a class that the mapping has, so that it is about the report.
    let names: Vec<String> = stack.iter().map(|frame| format!("{}.{}", frame.class, frame.method)).collect();
    let mut decoded = ReportBuilder::new().running(1, 1_000).tree(1, &[(&names.join(" "), 3)]).build();
    let symbols = &mut decoded.report.symbols;
    for (at, frame) in stack.iter().enumerate() {
        let method = &mut symbols.methods[at];
        (method.signature, method.source_file) = (frame.descriptor.into(), frame.file.into());
        let method = MethodId(u32::try_from(at).unwrap());
        symbols.locations[at] = Location::Frame { method, dex_pc: Some(frame.dex_pc), line: frame.line };
    }
    Mapping::parse(mapping.as_bytes()).unwrap().retrace(&mut decoded.report).unwrap();
    frames(&decoded)
}

fn frames(decoded: &Decoded) -> Vec<String> {
    let analysis = Analysis::new(decoded);
    assert_eq!(analysis.issues, []);
    let tree = &analysis.trees[0];
    let stack = tree.stack_runs().into_iter().next().map(|run| tree.stack(run.top)).unwrap_or_default();
    stack.into_iter().map(|frame| analysis.frames[frame].full()).collect()
}

/// The frames of the source for a frame of ART's own trace, which has no descriptor.
fn printed(mapping: &str, frame: &str) -> Vec<String> {
    let members = Members::read(mapping.as_bytes());
    let positions = Positions::default();
    let printed = Retracer::new(&members, &positions).printed_frame(frame, &mut Above::default()).unwrap();
    printed.into_iter().map(|printed| printed.frame).collect()
}

/// The head of a mapping.
fn head(version: &str, min_api: u32) -> String {
    format!("# compiler: R8\n# compiler_version: {version}\n# min_api: {min_api}\n")
}

#[test]
fn a_name_that_r8_made_up_is_no_methods() {
    let mapping = head("9.0.32", 21)
        + "org.app.Widget -> x:\n# {\"id\":\"sourceFile\",\"fileName\":\"Widgets.kt\"}\n    \
           1:5:void setMax(int):10:10 -> m\n    1:5:void Widget.setMax(int):0 -> m\n      \
           # {\"id\":\"com.android.tools.r8.synthesized\"}\n    6:9:void setMax(int):11:11 -> m\n    \
           1:9:void Widget$0.m$1(java.lang.Object,int):0:0 -> s\n      \
           # {\"id\":\"com.android.tools.r8.synthesized\"}\n";
    assert_eq!(printed(&mapping, "x.m(SourceFile)"), ["org.app.Widget.setMax(Widgets.kt)"]);
    assert_eq!(printed(&mapping, "x.m(SourceFile:3)"), ["org.app.Widget.setMax(Widgets.kt:10)"]);
    assert_eq!(
        source(&mapping, &[seen("x.m", "(I)V", Some(7), 6)]),
        ["org.app.Widget.setMax(Widgets.kt:11)"]
    );
    // One that was made up as a whole is no frame of the source.
    assert_eq!(printed(&mapping, "x.s(SourceFile:4)"), [""; 0]);
    let stack = [seen("x.s", "(Ljava/lang/Object;I)V", Some(4), 3), seen("x.m", "(I)V", Some(7), 6)];
    assert_eq!(source(&mapping, &stack), ["org.app.Widget.setMax(Widgets.kt:11)"]);
}

#[test]
fn the_source_file_is_the_mappings_wherever_in_the_method_a_frame_is() {
    let mapping = head("9.0.32", 21)
        + "org.app.EmptyMap -> x:\n# {\"id\":\"sourceFile\",\"fileName\":\"Maps.kt\"}\n    \
           1:5:boolean has(java.lang.Object):10:10 -> m\n    6:9:boolean has(java.lang.Object):11:11 -> m\n";
    assert_eq!(printed(&mapping, "x.m(SourceFile)"), ["org.app.EmptyMap.has(Maps.kt)"]);
    // Of a position that the mapping does not have the line is not known; the method is.
    assert_eq!(printed(&mapping, "x.m(SourceFile:77)"), ["org.app.EmptyMap.has(Maps.kt)"]);
    assert_eq!(printed(&mapping, "x.m(SourceFile:3)"), ["org.app.EmptyMap.has(Maps.kt:10)"]);
    let one =
        head("9.0.32", 21) + "org.app.EmptyMap -> x:\n    1:5:boolean has(java.lang.Object):10:10 -> m\n";
    assert_eq!(printed(&one, "x.m(SourceFile:77)"), ["org.app.EmptyMap.has(EmptyMap.java)"]);
}

#[test]
fn a_method_that_the_mapping_does_not_have_keeps_its_line() {
    let mapping = head("9.0.32", 21)
        + "org.app.Kept -> org.app.Kept:\n# {\"id\":\"sourceFile\",\"fileName\":\"Kept.kt\"}\n    \
           1:5:void a():10:10 -> a\n";
    assert_eq!(source(&mapping, &[seen("org.app.Kept.b", "()V", Some(5), 3)]), ["org.app.Kept.b(Kept.kt:5)"]);
    assert_eq!(printed(&mapping, "org.app.Kept.b(SourceFile:5)"), ["org.app.Kept.b(Kept.kt:5)"]);
    // A dex pc is no line of the source.
    let frame = seen("org.app.Kept.b", "()V", None, 3);
    assert_eq!(source(&mapping, &[frame]), ["org.app.Kept.b(dex pc 0x3)"]);
}

#[test]
fn the_residual_signature_decides_between_overloads() {
    let mapping = head("9.0.32", 21)
        + "org.app.List2 -> x:\n# {\"id\":\"sourceFile\",\"fileName\":\"List2.kt\"}\n    \
           1:5:java.util.List sorted(java.lang.Iterable,org.app.Cmp):10:10 -> y\n      \
           # {\"id\":\"com.android.tools.r8.residualsignature\",\
           \"signature\":\"(Ljava/lang/Iterable;Lk;)Ljava/util/List;\"}\n    \
           1:5:java.util.List drop(java.util.List,int):20:20 -> y\n    \
           6:9:java.util.List drop(java.util.List,int):21:21 -> y\n\
           org.app.Cmp -> c:\n";
    let of = |descriptor, line| source(&mapping, &[seen("x.y", descriptor, line, 40)]);
    // `Lk;` is no class of the mapping: only its own words know it.
    assert_eq!(of("(Ljava/lang/Iterable;Lk;)Ljava/util/List;", None), ["org.app.List2.sorted(List2.kt:10)"]);
    assert_eq!(of("(Ljava/util/List;I)Ljava/util/List;", None), ["org.app.List2.drop(dex pc 0x28)"]);
    assert_eq!(of("(Ljava/util/List;I)Ljava/util/List;", Some(3)), ["org.app.List2.drop(List2.kt:20)"]);
    assert_eq!(
        of("(Ljava/lang/Iterable;Lk;)Ljava/util/List;", Some(3)),
        ["org.app.List2.sorted(List2.kt:10)"]
    );
    // The one with a signature is not this one, and the other may be.
    assert_eq!(of("(Ljava/util/Set;)V", None), ["org.app.List2.drop(dex pc 0x28)"]);
    // ART prints none.
    assert_eq!(printed(&mapping, "x.y(SourceFile)"), ["org.app.List2.sorted or drop(List2.kt)"]);
    assert_eq!(printed(&mapping, "x.y(SourceFile:8)"), ["org.app.List2.drop(List2.kt:21)"]);
}

#[test]
fn one_of_several_methods_is_said_as_such() {
    let mapping = head("9.0.32", 21)
        + "org.app.Src -> x:\n# {\"id\":\"sourceFile\",\"fileName\":\"Src.kt\"}\n    \
           int read(byte[]) -> r\n    int skip(java.nio.ByteBuffer) -> r\n    \
           1:4:void one():1:4 -> m\n    5:8:void org.app.Other.two():5:8 -> m\n    \
           9:9:void three():9:9 -> m\n    \
           10:10:void four():9:9 -> m\n    11:11:void five():9:9 -> m\n";
    assert_eq!(printed(&mapping, "x.r(SourceFile:5)"), ["org.app.Src.read or skip(Src.kt:5)"]);
    assert_eq!(printed(&mapping, "x.r(SourceFile)"), ["org.app.Src.read or skip(Src.kt)"]);
    assert_eq!(source(&mapping, &[seen("x.r", "([B)I", Some(5), 3)]), ["org.app.Src.read(Src.kt:5)"]);
    assert_eq!(
        printed(&mapping, "x.m(SourceFile)"),
        ["org.app.Src.one or org.app.Other.two or three or 2 more(Src.kt)"]
    );
}

/// The app's outermost frame in the recorder's own stack of main and in ART's trace, each retraced: class and
/// method. The last value is why the trace was left aside.
fn outermost(mapping: &str, stack: &str, trace: &str) -> ([(String, String); 2], Option<String>) {
    let trace = format!("\"main\" prio=5 tid=1 Native\n  | sysTid=4321 nice=0\n  at {trace}\n\n");
    let mut decoded =
        ReportBuilder::new().running(1, 1_000).tree(1, &[(stack, 5)]).system_trace(&trace).build();
    Mapping::parse(mapping.as_bytes()).unwrap().retrace(&mut decoded.report).unwrap();
    let a = Analysis::new(&decoded);
    let read = a.system_trace.as_ref().unwrap();
    let stacks = [a.last_stack().unwrap(), read.main().unwrap().java()];
    let names = stacks.map(|stack| {
        let frame = stack.iter().map(|&id| &a.frames[id]).find(|frame| frame.is_of_app()).unwrap();
        (frame.class.clone(), frame.method.clone())
    });
    (names, read.apart.clone())
}

#[test]
fn a_frame_of_several_methods_is_one_frame_in_the_trace_and_the_stack() {
    let mapping = head("9.0.32", 21)
        + "org.app.Src -> x:\n# {\"id\":\"sourceFile\",\"fileName\":\"Src.kt\"}\n    \
           int read(byte[]) -> r\n    int skip(java.nio.ByteBuffer) -> r\n    \
           1:4:void one():1:4 -> m\n    5:8:void org.app.Other.two():5:8 -> m\n    \
           9:9:void three():9:9 -> m\n    \
           1:1:void a():1:1 -> n\n    2:2:void b():2:2 -> n\n    3:3:void c():3:3 -> n\n    \
           4:4:void d():4:4 -> n\n";
    let of = |stack, trace| outermost(&mapping, stack, trace);
    let all = "one or org.app.Other.two or three";
    for (stack, trace, ours, theirs) in [
        ("x.m", "x.m(SourceFile)", all, all),
        // Only one of them has a line.
        ("x.m:1", "x.m(SourceFile)", "one", all),
        ("x.m", "x.m(SourceFile:9)", all, "three"),
        ("x.m:1", "x.m(SourceFile:1)", "one", "one"),
        // Not all of them are named.
        ("x.n", "x.n(SourceFile:4)", "a or b or c or 1 more", "d"),
    ] {
        let names = [ours, theirs].map(|method| ("org.app.Src".to_owned(), method.to_owned()));
        assert_eq!(of(stack, trace), (names, None));
    }
    let ([_, theirs], apart) = of("x.m", "x.m(SourceFile:6)");
    assert_eq!((theirs, apart), (("org.app.Other".into(), "two".into()), None));
    // Other methods of the same class.
    for (stack, ours) in [("x.m:1", "one"), ("x.m", all)] {
        let (_, apart) = of(stack, "x.r(SourceFile)");
        assert_eq!(
            apart.unwrap(),
            format!("main was in other code by then (Src.read or skip, not Src.{ours})")
        );
    }
}

/// In a build without line tables, ART's own traces have the dex pc as the line. R8's mapping has it as the
/// line, too.
#[test]
fn a_dex_pc_is_the_line_of_a_build_without_tables() {
    let mapping = head("8.11.18", 26)
        + "com.example.Cart -> a.b:\n# {\"id\":\"sourceFile\",\"fileName\":\"Cart.kt\"}\n    \
           0:0:int com.example.Price.sum(java.util.List):7:7 -> a\n    0:0:void load():44 -> a\n    \
           1:9:void load():45:45 -> a\n";
    let of = |pc| source(&mapping, &[seen("a.b.a", "()V", None, pc)]);
    // A call may be a method's first instruction.
    assert_eq!(of(0), ["com.example.Cart.load(Cart.kt:44)", "com.example.Price.sum(Price.kt:7)"]);
    assert_eq!(of(4), ["com.example.Cart.load(Cart.kt:45)"]);
    assert_eq!(of(40), ["com.example.Cart.load(dex pc 0x28)"]);
}

#[test]
fn the_dex_pc_is_no_line_of_a_method_with_a_separate_table() {
    let body = "com.example.Cart -> a.b:\n# {\"id\":\"sourceFile\",\"fileName\":\"Cart.kt\"}\n    \
                5:5:void save(int):60:60 -> c\n    6:6:void save(int):61:61 -> c\n    \
                0:1:void save():70:70 -> c\n    2:4:void save():71:71 -> c\n";
    let of = |version, descriptor, pc, line| {
        source(&(head(version, 26) + body), &[seen("a.b.c", descriptor, line, pc)]).concat()
    };
    for version in ["8.11.18", "9.5.28"] {
        assert_eq!(of(version, "(I)V", 9, Some(5)), "com.example.Cart.save(Cart.kt:60)");
        assert_eq!(of(version, "(I)V", 6, None), "com.example.Cart.save(dex pc 0x6)");
    }
    // Since 9.1 one of them has none; the numbers of the others come after its own.
    assert_eq!(of("9.5.28", "()V", 3, None), "com.example.Cart.save(Cart.kt:71)");
    assert_eq!(of("8.11.18", "()V", 3, None), "com.example.Cart.save(dex pc 0x3)");
    assert_eq!(of("9.5.28", "", 3, None), "com.example.Cart.save(dex pc 0x3)", "which of them is not known");
}

/// Some recorders regarded R8's shared line tables as damaged, so their reports have no lines. Retracing
/// gives what ART would have printed.
#[test]
fn a_line_that_was_not_read_is_the_dex_pc_and_one_where_r8_shares_tables() {
    let body = "com.example.Cart -> a.b:\n# {\"id\":\"sourceFile\",\"fileName\":\"Cart.kt\"}\n    \
                1:4:void load():40:40 -> a\n    5:9:void load():45:45 -> a\n";
    let of = |version, min_api, file| {
        let mapping = head(version, min_api) + body;
        let frame = |pc| seen("a.b.a", "()V", None, pc).of_file(file);
        [0, 3, 4].map(|pc| source(&mapping, &[frame(pc)]).concat())
    };
    let lines = |lines: [&str; 3]| lines.map(|line| format!("com.example.Cart.load({line})"));
    let shared = lines(["Cart.kt:40", "Cart.kt:40", "Cart.kt:45"]);
    for min_api in [21, 26, 36] {
        assert_eq!(of("9.5.28", min_api, "r8-map-id-5ac1e0f"), shared, "min_api {min_api}");
    }
    assert_eq!(of("8.11.18", 21, "SourceFile"), shared);
    assert_eq!(of("8.11.18", 26, "SourceFile"), lines(["dex pc 0x0", "Cart.kt:40", "Cart.kt:40"]));
    // What an older R8 did below 26 was not examined.
    assert_eq!(of("3.1.51", 21, "SourceFile"), lines(["dex pc 0x0", "dex pc 0x3", "dex pc 0x4"]));
}

#[test]
fn a_method_of_one_position_has_it_everywhere() {
    let mapping = head("9.5.28", 21)
        + "com.example.Cart -> a.b:\n    0:65535:void com.example.Price.log():7:7 -> a\n    \
        0:65535:void load():44:44 -> a\n";
    for line in [None, Some(3)] {
        let frames = source(&mapping, &[seen("a.b.a", "()V", line, 2)]);
        assert_eq!(frames, ["com.example.Cart.load(Cart.java:44)", "com.example.Price.log(Price.java:7)"]);
    }
}

/// R8 numbers outlined code after the method itself; another method with the same name may use these numbers
/// as lines.
#[test]
fn a_position_of_outlined_code_is_no_line() {
    let mapping = head("9.5.28", 21)
        + "org.app.Text -> a:\n# {\"id\":\"sourceFile\",\"fileName\":\"Text.kt\"}\n    \
           1:4:java.lang.String last(java.lang.CharSequence):0:0 -> l\n    \
           1:4:java.lang.String Text.last(java.lang.CharSequence):0 -> l\n      \
           # {\"id\":\"com.android.tools.r8.synthesized\"}\n      \
           # {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{\"1\":6,\"3\":8},\
           \"outline\":\"Lv;e()V\"}\n    \
           5:5:java.lang.String last(java.lang.CharSequence):20:20 -> l\n    \
           6:6:java.lang.String last(java.lang.CharSequence):30:30 -> l\n    \
           8:8:void org.app.Check.range():9:9 -> l\n    \
           8:8:java.lang.String last(java.lang.CharSequence):31 -> l\n    \
           6:8:java.lang.String last(java.lang.String):50:52 -> l\n\
           org.app.Outline -> v:\n    1:5:void m():0:0 -> e\n      \
           # {\"id\":\"com.android.tools.r8.outline\"}\n";
    assert_eq!(printed(&mapping, "a.l(SourceFile:6)"), ["org.app.Text.last(Text.kt:50)"]);
    let of = |outlined| {
        let caller = seen("a.l", "(Ljava/lang/CharSequence;)Ljava/lang/String;", Some(2), 1);
        source(&mapping, &[caller, seen("v.e", "()V", Some(outlined), 9)])
    };
    assert_eq!(of(1), ["org.app.Text.last(Text.kt:30)"]);
    assert_eq!(of(3), ["org.app.Text.last(Text.kt:31)", "org.app.Check.range(Check.kt:9)"]);
}
