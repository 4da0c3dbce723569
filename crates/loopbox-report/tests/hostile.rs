//! No decoded report, whatever it contains, makes a function of this crate panic or use unbounded memory.

use loopbox_format::container::Damage;
use loopbox_format::model::*;
use loopbox_format::model::{Token, Uptime};
use loopbox_format::report::Decoded;
use loopbox_report::cluster::{self, Clusters, Sighting};
use loopbox_report::diagnose::{Diagnosis, diagnose};
use loopbox_report::export::parquet::{ReportRow, ScreenRow, Table};
use loopbox_report::export::{self, Format};
use loopbox_report::json::ReportView;
use loopbox_report::retrace::Mapping;
use loopbox_report::smoothness::FramesOnce;
use loopbox_report::{Analysis, flame, html, invariant_violations, text};
use proptest::collection::vec;
use proptest::prelude::*;

/// A number that breaks arithmetic more often than a random one.
fn nasty() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..10_u64,
        0..20_000_000_000_u64,
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(1 << 63),
        any::<u64>()
    ]
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![0..12_u32, Just(u32::MAX), any::<u32>()]
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("android.os.MessageQueue".to_string()),
        Just("android.os.BinderProxy".to_string()),
        Just("transactNative".to_string()),
        Just("\u{1b}[31m</script>\u{202E}\r\n".to_string()),
        "\\PC{0,12}",
        Just("x".repeat(5_000)),
    ]
}

fn message() -> impl Strategy<Value = Option<Message>> {
    proptest::option::of((word(), word(), any::<i32>(), any::<bool>()).prop_map(
        |(target, callback, what, h)| Message {
            target,
            callback,
            what: (what != 0).then_some(what),
            component: h.then_some(Component::ActivityThread),
            named_by: NamedBy::Stack,
        },
    ))
}

fn detail() -> impl Strategy<Value = Detail> {
    (nasty(), nasty(), nasty(), proptest::option::of(nasty()), message()).prop_map(
        |(token, start_ns, wall_ns, wait_ns, message)| Detail {
            token: Token(token),
            start_ns: Uptime(start_ns),
            wall_ns,
            wait_ns,
            end: End::Missed,
            message,
        },
    )
}

fn record() -> impl Strategy<Value = Record> {
    let kind = prop_oneof![
        Just(RecordKind::Group),
        Just(RecordKind::Single),
        Just(RecordKind::Idle),
        Just(RecordKind::Frozen),
        Just(RecordKind::Unseen)
    ];
    let times =
        (nasty(), nasty(), nasty(), nasty(), proptest::option::of(nasty()), proptest::option::of(nasty()));
    let rest = (nasty(), nasty(), small(), nasty(), vec(detail(), 0..4), any::<bool>());
    (kind, times, rest).prop_map(|(kind, t, r)| Record {
        kind,
        seq: r.0,
        first_token: Token(r.1),
        count: r.2,
        start_ns: Uptime(t.0),
        wall_ns: t.1,
        work_ns: t.2,
        idle_ns: t.3,
        cpu_ns: t.4,
        checktime_late_ns: t.5,
        slowest: (r.2 % 4 != 0).then_some(Slowest { token: Token(r.1), wall_ns: r.3 }),
        details: r.4,
        dropped_details: r.2,
        closed: r.5,
    })
}

fn tree() -> impl Strategy<Value = StackTree> {
    let node = (small(), small(), small(), small()).prop_map(|(location, skip, count, children)| TreeNode {
        location: LocationId(location),
        skip,
        count,
        children,
    });
    let phase =
        (small(), nasty()).prop_map(|(first_sample, interval_ns)| Phase { first_sample, interval_ns });
    (nasty(), nasty(), vec(phase, 0..3), vec(nasty(), 0..20), vec(node, 0..30), small(), nasty()).prop_map(
        |(token, start_ns, phases, sample_deltas_ns, nodes, missed_samples, stop)| StackTree {
            token: Token(token),
            start_ns: Uptime(start_ns),
            source: StackSource::JavaApi,
            phases,
            sample_deltas_ns,
            nodes,
            missed_samples,
            longest_stop_ns: stop,
            total_stop_ns: stop,
        },
    )
}

fn main_state() -> impl Strategy<Value = MainState> {
    let running = (nasty(), nasty(), nasty(), proptest::option::of(nasty()), small(), message());
    prop_oneof![
        Just(MainState::Unknown),
        nasty().prop_map(|since_ns| MainState::Idle { since_ns: Uptime(since_ns) }),
        (nasty(), nasty(), proptest::option::of(nasty()), nasty(), proptest::option::of(nasty())).prop_map(
            |(token, after_ns, start_ns, as_of_ns, cpu_ns)| MainState::Outside(Outside {
                token: Token(token),
                after_ns: Uptime(after_ns),
                start_ns: start_ns.map(Uptime),
                as_of_ns: Uptime(as_of_ns),
                cpu_ns
            })
        ),
        running.prop_map(|(token, start_ns, as_of_ns, cpu_ns, depth, message)| MainState::Running(Running {
            token: Token(token),
            start_ns: Uptime(start_ns),
            as_of_ns: Uptime(as_of_ns),
            cpu_ns,
            depth,
            message
        })),
    ]
    // The values in the making would be too large for the stack of a test.
    .boxed()
}

fn symbols() -> impl Strategy<Value = Symbols> {
    let method = (word(), word()).prop_map(|(class, name)| Method {
        class,
        name,
        signature: String::new(),
        source_file: String::new(),
    });
    let location = prop_oneof![
        (small(), proptest::option::of(small()), proptest::option::of(small()))
            .prop_map(|(method, dex_pc, line)| Location::Frame { method: MethodId(method), dex_pc, line }),
        small().prop_map(|frames| Location::Elided { frames }),
    ];
    (vec(method, 0..5), vec(location, 0..8)).prop_map(|(methods, locations)| Symbols { methods, locations })
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        (any::<i32>(), any::<i32>())
            .prop_map(|(ms, what)| format!("Message 1: {{ when={ms}ms what={what} target=a.B }}")),
        any::<i32>().prop_map(|ms| format!("Message 1: {{ when=-{}d9h barrier={ms} }}", ms.unsigned_abs())),
        Just("(Total messages: 9, polling=true, quitting=false)".to_string()),
        word(),
    ]
}

fn system_call() -> impl Strategy<Value = SystemCall> {
    let number = prop_oneof![Just(29), Just(98), Just(128), Just(u32::MAX), any::<u32>()];
    let source = prop_oneof![Just(SystemCallSource::Registers), Just(SystemCallSource::Proc)];
    (proptest::option::of(number), vec(proptest::option::of(nasty()), 0..8), word(), source).prop_map(
        |(number, arguments, descriptor, source)| SystemCall { number, arguments, descriptor, source },
    )
}

fn native_stack() -> impl Strategy<Value = NativeStack> {
    let source = prop_oneof![
        Just(NativeFrameSource::Pc),
        Just(NativeFrameSource::Link),
        Just(NativeFrameSource::FramePointer)
    ];
    let frame = (source, proptest::option::of(small()), nasty())
        .prop_map(|(source, module, offset)| NativeFrame { source, module, offset });
    let module =
        (word(), vec(any::<u8>(), 0..90)).prop_map(|(path, build_id)| NativeModule { path, build_id });
    (nasty(), vec(frame, 0..600), vec(module, 0..4)).prop_map(|(captured_ns, frames, modules)| NativeStack {
        captured_ns: Uptime(captured_ns),
        frames,
        modules,
    })
}

/// Any data of the kernel about the main thread. The strategy is boxed: as part of the other strategies'
/// types it would need more stack than a test has.
fn main_thread() -> BoxedStrategy<MainThread> {
    let progress = (nasty(), proptest::option::of(nasty()), proptest::option::of(nasty()), nasty(), nasty())
        .prop_map(|(over_ns, ran_ns, waited_ns, minor_faults, major_faults)| Progress {
            over_ns,
            ran_ns,
            waited_ns,
            user_ns: minor_faults,
            kernel_ns: major_faults,
            minor_faults,
            major_faults,
        });
    let state = prop_oneof![Just(b'R'), Just(b'S'), Just(b'D'), Just(b'T'), any::<u8>()];
    let state = proptest::option::of(state);
    let (call, progress) =
        (proptest::option::of(system_call().boxed()), proptest::option::of(progress).boxed());
    (nasty(), state, word(), call, progress, proptest::option::of(native_stack().boxed()))
        .prop_map(|(captured_ns, state, wchan, system_call, progress, native)| MainThread {
            captured_ns: Uptime(captured_ns),
            state,
            wchan,
            system_call,
            progress,
            native,
        })
        .boxed()
}

/// A line in one of the forms that the lines of ART's trace have, with arbitrary words and numbers; sometimes
/// an empty line or a single word.
fn trace_line() -> impl Strategy<Value = String> {
    (0..12_u8, word(), small()).prop_map(|(kind, word, number)| match kind {
        0 => format!("\"{word}\" daemon prio=5 tid={number} {word}"),
        1 => "\"main\" prio=5 tid=1 Blocked".to_owned(),
        2 => format!("  | sysTid={number} nice=0"),
        3 => format!("  | state={word} schedstat=( {number} 1 2 )"),
        4 => format!("  at {word}.{word}({word}:{number})"),
        5 => format!("  - waiting to lock <0x{number:08x}> (a {word}) held by thread {}", number % 3),
        6 => format!("  - locked <0x{number:08x}> (a java.lang.Class<{word}>)"),
        7 => format!("  native: #{number} pc {number:x}  /{word} ({word}+{number}) (BuildId: {word})"),
        8 => format!("----- dumping pid: {number} at {}", u64::from(number) << 32),
        9 => format!("----- pid {number} at {word} -----"),
        10 => String::new(),
        _ => word,
    })
}

fn packed(lines: &[String]) -> PackedTrace {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, lines.join("\n").as_bytes()).unwrap();
    PackedTrace { gzip: gzip.finish().unwrap(), offset: usize::MAX }
}

fn report() -> impl Strategy<Value = Report> {
    let meta = (word(), nasty(), nasty(), nasty(), small());
    let statistic = (
        prop_oneof![Just("main.ran_ns".to_string()), Just("main.waited_for_cpu_ns".to_string()), word()],
        word(),
    );
    let whole = (
        meta,
        vec(record(), 0..6),
        main_state(),
        vec(line(), 0..6),
        symbols(),
        vec(tree(), 0..3),
        vec(statistic, 0..4),
        nasty(),
        (main_thread(), prop_oneof![Just("arm64-v8a".to_string()), word()], vec(trace_line(), 0..30)),
    );
    whole.prop_map(|(meta, history, main, lines, symbols, trees, statistics, captured_ns, kernel)| {
        let (main_thread, abi, trace) = kernel;
        let mut report = Report { history, main, symbols, trees, main_thread, ..Report::default() };
        report.meta.process.abi = abi;
        report.meta.process.name = meta.0;
        report.meta.dumped_at = ClockPair { uptime_ns: Uptime(meta.1), unix_ms: meta.2 };
        report.meta.process.installed_ns = Uptime(meta.3);
        report.meta.process.api_level = meta.4;
        report.pending = Pending {
            source: PendingSource::LooperDump,
            captured_ns: Uptime(captured_ns),
            lines,
            dropped_lines: u32::MAX,
        };
        let holder = LockHolder {
            name: report.meta.process.name.clone(),
            tid: meta.4,
            stack: [0, meta.4, 3].map(LocationId).to_vec(),
        };
        let wait = LockWait { class: "C".into(), of_class: String::new(), holder: Some(holder) };
        report.locks =
            LockChain { captured_ns: Uptime(meta.3), waits: vec![wait; 2], deadlock: meta.1 % 2 == 0 };
        report.system_trace = packed(&trace);
        report.statistics = statistics.into_iter().map(|(name, value)| Statistic { name, value }).collect();
        report
    })
}

fn no_control(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !(c.is_control() || ('\u{202A}'..='\u{202E}').contains(&c)))
}

/// Exports the report in every format and adds it to groups. The test is that all of these calls return.
fn exported_and_grouped(decoded: &Decoded, a: &Analysis, diagnosis: &Diagnosis) {
    let mut out = Vec::new();
    for format in Format::ALL {
        out.clear();
        export::write(format, a, diagnosis, &mut out).unwrap();
    }
    for merged in [false, true] {
        let _ = flame::write(a, flame::TreeChoice { token: None, merged }, &mut out);
    }
    let _ = export::tree_text(&decoded.report, a, None);
    let mut table = Table::new(&mut out).unwrap();
    table.write(&[ReportRow::new(a, diagnosis, "a.lbx")]).unwrap();
    table.finish().unwrap();
    let mut table = Table::new(&mut out).unwrap();
    table.write(&ScreenRow::all(a, &FramesOnce::default(), "a.lbx")).unwrap();
    table.finish().unwrap();
    let mut clusters = Clusters::default();
    clusters.add(Sighting::new(a, diagnosis, "a.lbx"));
    clusters.add(Sighting::of_stall(a, diagnosis, "a.jsonl"));
    clusters.add_janks(Sighting::of_janks(a, &FramesOnce::default(), "a.lbx"));
    let summary = clusters.summary(0, 0);
    assert!(no_control(&anstream::adapter::strip_str(&cluster::text(&summary, 9)).to_string()));
    assert!(!cluster::html(&summary, 9).contains("<script"));
    let mapping =
        Mapping::parse(b"a.B -> android.os.MessageQueue:\n    1:9:void c():1:9 -> transactNative\n").unwrap();
    let _ = mapping.retrace(&mut decoded.report.clone());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_view_of_any_report_is_rendered(report in report(), damage in vec((any::<usize>(), word()), 0..3)) {
        let damage = damage.into_iter().map(|(offset, what)| Damage { offset, what }).collect();
        let decoded = Decoded { report, damage };
        let analysis = Analysis::new(&decoded);
        let diagnosis = diagnose(&analysis);
        exported_and_grouped(&decoded, &analysis, &diagnosis);
        for full in [false, true] {
            let plain = anstream::adapter::strip_str(&text::show(&analysis, &diagnosis, text::Options { full })).to_string();
            prop_assert!(no_control(&plain), "{plain:?}");
        }
        prop_assert!(no_control(&anstream::adapter::strip_str(&text::diagnosis(&analysis, &diagnosis)).to_string()));
        prop_assert!(no_control(&anstream::adapter::strip_str(&text::native_stack(&analysis)).to_string()));
        for cause in &diagnosis.causes {
            prop_assert!(cause.score.is_finite() && !cause.title.is_empty());
        }
        serde_json::to_string(&ReportView::new(&analysis, &diagnosis)).unwrap();
        let page = html::page(&analysis, &diagnosis).unwrap();
        prop_assert_eq!(page.matches("<script").count(), 2);
        let _ = invariant_violations(&analysis);
    }
}

/// The lists are as long as those of the largest possible file.
#[test]
fn loading_cuts_a_huge_report_to_the_limits() {
    let nodes = (0..900_000)
        .map(|_| TreeNode { location: LocationId(0), skip: 0, count: u32::MAX, children: 1 })
        .collect();
    let deep = StackTree {
        token: Token(1),
        start_ns: Uptime::ZERO,
        source: StackSource::Art,
        phases: vec![Phase { first_sample: 0, interval_ns: 1 }],
        sample_deltas_ns: vec![1; 1_500_000],
        nodes,
        missed_samples: 0,
        longest_stop_ns: 0,
        total_stop_ns: 0,
    };
    let wide_nodes =
        (0..900_000).map(|_| TreeNode { location: LocationId(0), skip: 0, count: 1, children: 0 }).collect();
    let wide = StackTree { token: Token(2), nodes: wide_nodes, ..deep.clone() };
    let class = "c".repeat(1 << 20);
    let method = Method { class, name: "m".into(), signature: String::new(), source_file: String::new() };
    let report = Report {
        trees: vec![deep, wide],
        symbols: Symbols {
            methods: vec![method],
            locations: vec![Location::Frame { method: MethodId(0), dex_pc: Some(0), line: None }],
        },
        pending: Pending {
            source: PendingSource::LooperDump,
            lines: vec!["Message 0: { when=-1ms what=1 target=a.B }".into(); 200_000],
            ..Pending::default()
        },
        statistics: vec![Statistic { name: "n".into(), value: "v".into() }; 300_000],
        breadcrumbs: vec![Breadcrumb { at_ns: Uptime(1), name: "\u{1b}[31m".repeat(90_000) }; 1_000],
        ..Report::default()
    };
    let decoded = Decoded { report, damage: Vec::new() };
    let analysis = Analysis::new(&decoded);
    let issues: Vec<&str> = analysis.issues.iter().map(|issue| issue.what.as_str()).collect();
    for what in
        ["pending lines", "statistics", "breadcrumbs", "stack tree of message #1", "stack tree of message #2"]
    {
        assert!(issues.iter().any(|issue| issue.starts_with(what)), "{what} in {issues:?}");
    }
    let diagnosis = diagnose(&analysis);
    assert!(text::show(&analysis, &diagnosis, text::Options { full: true }).len() < 64 << 20);
    assert!(html::page(&analysis, &diagnosis).unwrap().len() < 32 << 20);
    for format in Format::ALL {
        let mut out = Vec::new();
        export::write(format, &analysis, &diagnosis, &mut out).unwrap();
        assert!(out.len() < 128 << 20, "{format:?}: {}", out.len());
    }
    assert!(export::tree_text(&decoded.report, &analysis, None).is_err());
}
