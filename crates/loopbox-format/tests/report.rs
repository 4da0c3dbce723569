//! The report as a file: what is written is read back, and damage costs as little as possible.

use loopbox_format::codec::encode as encode_payload;
use loopbox_format::container::{self, crc32};
use loopbox_format::model::*;
use loopbox_format::model::{Token, Uptime};
use loopbox_format::report::{Decoded, Evidence, decode, encode, update_evidence};
use proptest::prelude::*;

fn message(what: i32) -> Message {
    Message {
        target: "android.app.ActivityThread$H".into(),
        callback: String::new(),
        what: (what != 7).then_some(what),
        component: Some(Component::ActivityThread),
        named_by: NamedBy::Observer,
    }
}

fn sample() -> Report {
    let detail = |token| Detail {
        token,
        start_ns: Uptime(7),
        wall_ns: 8,
        wait_ns: Some(9),
        end: End::Returned,
        message: Some(message(159)),
    };
    let record = |seq| Record {
        kind: RecordKind::Group,
        seq,
        first_token: Token(40),
        count: 3,
        start_ns: Uptime(1_000),
        wall_ns: 330,
        work_ns: 310,
        idle_ns: 20,
        cpu_ns: Some(200),
        checktime_late_ns: None,
        slowest: Some(Slowest { token: Token(41), wall_ns: 210 }),
        details: vec![detail(Token(40)), detail(Token(41))],
        dropped_details: 1,
        closed: true,
    };
    Report {
        meta: Meta {
            producer: "loopbox test".into(),
            reason: DumpReason::SigQuit,
            process: Process {
                app_version: "5.2.1 (50201)".into(),
                device: "Google Pixel 8".into(),
                ..Process::default()
            },
            annotations: vec![("user".into(), "7f3a".into())],
            ..Meta::default()
        },
        history: vec![record(1), record(2)],
        main: MainState::Running(Running {
            token: Token(43),
            start_ns: Uptime(2_000),
            as_of_ns: Uptime(9_000),
            cpu_ns: None,
            depth: 1,
            message: Some(message(0)),
        }),
        anr: Anr {
            verdict: AnrVerdict::Probable,
            ran_ns: 6_900,
            hang_threshold_ns: Some(5_000),
            frozen_ns: 100,
            starved_ns: 20,
            ended_after_ns: None,
            overdue_ns: Some(5_021),
            before_ns: 8,
            debugged: false,
            signal: Some(QuitSignal { origin: SignalOrigin::System, pid: 1_234, uid: 1_000, count: 1 }),
            system: Some(SystemWord::Silent),
            exit: Some(ProcessExit { reason: ProcessExit::ANR, description: "bg anr".into(), unix_ms: 7 }),
        },
        anr_warnings: Vec::new(),
        breadcrumbs: Vec::new(),
        anr_info: None,
        cpu_use: None,
        pending: Pending {
            source: PendingSource::LooperDump,
            captured_ns: Uptime(9_100),
            lines: vec!["Message 0: { when=-5s21ms what=3 target=a.B }".into()],
            dropped_lines: 2,
        },
        symbols: Symbols {
            methods: vec![Method {
                class: "a.B".into(),
                name: "run".into(),
                signature: "()V".into(),
                source_file: "B.java".into(),
            }],
            locations: vec![
                Location::Frame { method: MethodId(0), dex_pc: Some(4), line: Some(17) },
                Location::Elided { frames: 3 },
            ],
        },
        trees: vec![StackTree {
            token: Token(43),
            start_ns: Uptime(2_000),
            source: StackSource::Art,
            phases: vec![Phase { first_sample: 0, interval_ns: 10 }],
            sample_deltas_ns: vec![50, 10, 11],
            nodes: vec![TreeNode { location: LocationId(0), skip: 0, count: 3, children: 0 }],
            missed_samples: 0,
            longest_stop_ns: 12,
            total_stop_ns: 30,
        }],
        locks: LockChain {
            captured_ns: Uptime(9_050),
            waits: vec![LockWait {
                class: "java.lang.Object".into(),
                of_class: String::new(),
                holder: Some(LockHolder {
                    name: "db".into(),
                    tid: 77,
                    stack: vec![LocationId(0), LocationId(1)],
                }),
            }],
            deadlock: false,
        },
        main_thread: MainThread {
            captured_ns: Uptime(9_010),
            state: Some(b'S'),
            wchan: "futex_wait_queue".into(),
            system_call: Some(SystemCall {
                number: Some(98),
                arguments: vec![None, Some(128), Some(u64::MAX)],
                descriptor: String::new(),
                source: SystemCallSource::Registers,
            }),
            progress: Some(Progress {
                over_ns: 40,
                ran_ns: Some(1),
                waited_ns: None,
                user_ns: 2,
                kernel_ns: 3,
                minor_faults: 4,
                major_faults: 5,
            }),
            native: Some(NativeStack {
                captured_ns: Uptime(9_005),
                frames: vec![
                    NativeFrame { source: NativeFrameSource::Pc, module: Some(0), offset: 0x9_c2c4 },
                    NativeFrame { source: NativeFrameSource::Link, module: Some(0), offset: 0x9_d000 },
                    NativeFrame { source: NativeFrameSource::FramePointer, module: None, offset: 7 },
                ],
                modules: vec![NativeModule {
                    path: "/apex/com.android.runtime/lib64/bionic/libc.so".into(),
                    build_id: vec![0xab, 0xcd, 0x01],
                }],
            }),
        },
        threads: OtherThreads {
            captured_ns: Uptime(9_060),
            threads: vec![
                OtherThread {
                    name: "db".into(),
                    tid: 77,
                    state: b'S',
                    cpu_ns: Some(300),
                    stack: Some(vec![LocationId(0), LocationId(1)]),
                },
                OtherThread { name: "RenderThread".into(), tid: 78, state: b'R', cpu_ns: None, stack: None },
            ],
            left_out: 2,
        },
        frames: FrameSession::default(),
        features: vec![FeatureState { feature: Feature::Sampler, on: false, detail: "unknown ART".into() }],
        statistics: vec![Statistic { name: "threads".into(), value: "12".into() }],
        digest: "sigquit\ncom.example\n7\n0\nmain runs a.B".into(),
        system_trace: PackedTrace::default(),
        lost: vec!["ring offset 4352: slot was being written when the process ended".into()],
    }
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let bytes = encode(&sample()).unwrap();
    let decoded = decode(&bytes).unwrap();
    assert_eq!(decoded.report, sample());
    assert_eq!(decoded.damage, []);
}

#[test]
fn who_used_the_processors_is_read_back_and_unknown_where_it_was_not_counted() {
    let used = CpuUse { over_ns: 6_400, main_ns: 20, process_ns: Some(9_000), processors: None };
    let report = Report { cpu_use: Some(used), ..sample() };
    let bytes = encode(&report).unwrap();
    assert_eq!(decode(&bytes).unwrap().report, report);
    assert_eq!(bytes.len() - encode(&sample()).unwrap().len(), 16 + 9, "a separate section");
    assert_eq!(decode(&encode(&sample()).unwrap()).unwrap().report.cpu_use, None);
    let of_no_time = Report { cpu_use: Some(CpuUse::default()), ..sample() };
    assert_eq!(decode(&encode(&of_no_time).unwrap()).unwrap().report.cpu_use, None);
}

#[test]
fn a_verdict_that_comes_later_replaces_the_first() {
    let first = encode(&sample()).unwrap();
    let said = SystemWord::NotResponding("Input".into());
    let later = |known: &mut Evidence| {
        assert_eq!(known.anr, sample().anr);
        known.anr.verdict = AnrVerdict::Confirmed;
        known.anr.system = Some(said.clone());
    };
    let summarise = |lines: &str, known: &Evidence| {
        assert_eq!((lines, known.anr.verdict), (sample().digest.as_str(), AnrVerdict::Confirmed));
        "closed".to_owned()
    };
    let bytes = update_evidence(&first, later, summarise).unwrap().unwrap();
    let decoded = decode(&bytes).unwrap();
    let anr = Anr { verdict: AnrVerdict::Confirmed, system: Some(said.clone()), ..sample().anr };
    assert_eq!(decoded.report, Report { anr, digest: "closed".into(), ..sample() });
    assert_eq!(&bytes[16..20], b"DIGE", "a reader of the summary alone finds it at the start");
    assert_eq!(decoded.damage, []);
    assert_eq!(update_evidence(&first[..first.len() / 2], |_| (), |_, _| String::new()).unwrap(), None);
}

#[test]
fn what_the_system_says_of_an_anr_is_read_back_and_may_come_later() {
    let warning = |id| AnrWarning { at_ns: Uptime(9), id, kind: 5, consumed_ms: 10_000, timeout_ms: 20_000 };
    let warned = Report { anr_warnings: vec![warning(7)], ..sample() };
    let bytes = encode(&warned).unwrap();
    assert_eq!(decode(&bytes).unwrap().report, warned);
    let info = AnrInfo { id: 8, kind: 5, timeout_ms: 20_000, user_perceptible: true };
    let more = |known: &mut Evidence| {
        assert_eq!((&known.warnings[..], known.info), (&[warning(7)][..], None));
        known.warnings.push(warning(8));
        known.info = Some(info);
    };
    let bytes = update_evidence(&bytes, more, |lines, _| lines.to_owned()).unwrap().unwrap();
    let whole = Report { anr_warnings: vec![warning(7), warning(8)], anr_info: Some(info), ..sample() };
    let decoded = decode(&bytes).unwrap();
    assert_eq!((decoded.report, decoded.damage), (whole.clone(), vec![]));
    let of: Vec<bool> = whole.anr_warnings.iter().map(|warning| warning.is_of(&info)).collect();
    assert_eq!(of, [false, true]);
    assert_eq!(decode(&encode(&whole).unwrap()).unwrap().report, whole);
}

#[test]
fn breadcrumbs_are_read_back_and_cost_a_file_without_any_nothing() {
    let one = |at, name: &str| Breadcrumb { at_ns: Uptime(at), name: name.into() };
    let left = Report { breadcrumbs: vec![one(5, "tap \u{1f6d2}"), one(6, "")], ..sample() };
    let bytes = encode(&left).unwrap();
    let decoded = decode(&bytes).unwrap();
    assert_eq!((decoded.report, decoded.damage), (left, vec![]));
    let tag = |bytes: &[u8]| bytes.windows(4).any(|tag| tag == b"CRUM");
    assert_eq!((tag(&bytes), tag(&encode(&sample()).unwrap())), (true, false));
}

/// A value in which nothing is known encodes to zeros and gets no section.
#[test]
fn nothing_known_is_zeros_and_has_no_section() {
    let nothing = [
        encode_payload(&Anr::default()),
        encode_payload(&LockChain::default()),
        encode_payload(&MainThread::default()),
        encode_payload(&OtherThreads::default()),
        encode_payload(&Vec::<Breadcrumb>::new()),
        encode_payload(&Vec::<AnrWarning>::new()),
        encode_payload(&Vec::<String>::new()),
    ];
    for payload in nothing {
        assert!(payload.unwrap().iter().all(|byte| *byte == 0));
    }
    let bytes = encode(&Report::default()).unwrap();
    let tags: Vec<_> = container::read(&bytes).unwrap().sections.iter().map(|s| s.tag.to_string()).collect();
    assert_eq!(tags, ["META", "MAIN", "HIST", "FEAT", "SYMB", "PEND", "STAT"]);
    let known = Report { lost: vec![String::new()], ..Report::default() };
    assert_eq!(decode(&encode(&known).unwrap()).unwrap().report, known);
}

/// The app fills records with bounded strings in fixed arrays; the host tools read them as owned values.
#[test]
fn bounded_and_owned_records_have_the_same_bytes() {
    use loopbox_format::text::BoundedStr;
    let owned = &sample().history[0];
    let bounded: Vec<Detail<BoundedStr<64>>> = owned
        .details
        .iter()
        .map(|d| Detail {
            token: d.token,
            start_ns: d.start_ns,
            wall_ns: d.wall_ns,
            wait_ns: d.wait_ns,
            end: d.end,
            message: d.message.as_ref().map(|m| Message {
                target: BoundedStr::new(&m.target),
                callback: BoundedStr::new(&m.callback),
                what: m.what,
                component: m.component,
                named_by: m.named_by,
            }),
        })
        .collect();
    let in_place = Record {
        kind: owned.kind,
        seq: owned.seq,
        first_token: owned.first_token,
        count: owned.count,
        start_ns: owned.start_ns,
        wall_ns: owned.wall_ns,
        work_ns: owned.work_ns,
        idle_ns: owned.idle_ns,
        cpu_ns: owned.cpu_ns,
        checktime_late_ns: owned.checktime_late_ns,
        slowest: owned.slowest,
        details: bounded.as_slice(),
        dropped_details: owned.dropped_details,
        closed: owned.closed,
    };
    assert_eq!(encode_payload(&in_place).unwrap(), encode_payload(owned).unwrap());
}

/// A golden checksum: the bytes of format 1.0 do not change by accident.
#[test]
fn the_bytes_of_this_version_stay_as_they_are() {
    let bytes = encode(&sample()).unwrap();
    assert_eq!((bytes.len(), crc32(&bytes)), (GOLDEN_LEN, GOLDEN_CRC));
}
const GOLDEN_LEN: usize = 1_073;
const GOLDEN_CRC: u32 = 2_733_840_914;

#[test]
fn a_file_cut_anywhere_is_an_error_or_a_marked_salvage() {
    let bytes = encode(&sample()).unwrap();
    let mut salvaged = 0;
    for len in 0..bytes.len() {
        if let Ok(decoded) = decode(&bytes[..len]) {
            assert!(!decoded.damage.is_empty(), "cut at {len} went unnoticed");
            salvaged += usize::from(decoded.report.meta == sample().meta);
        }
    }
    assert!(salvaged > bytes.len() / 2, "the head of a cut file can be read: {salvaged} of {}", bytes.len());
}

#[test]
fn a_flipped_byte_costs_one_section_at_most() {
    let bytes = encode(&sample()).unwrap();
    let whole = sample();
    // The prologue's magic and major version decide about the whole file; its minor version and reserve do
    // not.
    for at in 16..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x20;
        let Decoded { report, damage } = decode(&bytes).unwrap();
        assert!(!damage.is_empty(), "flip at {at} went unnoticed");
        let lost = [
            report.meta != whole.meta,
            report.main != whole.main,
            report.history != whole.history,
            report.features != whole.features,
            report.symbols != whole.symbols,
            report.trees != whole.trees,
            report.pending != whole.pending,
            report.locks != whole.locks,
            report.main_thread != whole.main_thread,
            report.threads != whole.threads,
            report.statistics != whole.statistics,
            report.lost != whole.lost,
        ];
        assert!(lost.iter().filter(|l| **l).count() <= 1, "flip at {at} lost {lost:?}");
    }
}

#[test]
fn a_damaged_section_is_not_also_reported_as_missing() {
    let mut bytes = encode(&sample()).unwrap();
    let at = bytes.windows(4).position(|window| window == b"PEND").unwrap();
    bytes[at + 20] ^= 1;
    let damage = decode(&bytes).unwrap().damage;
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert_eq!(damage[0].what, "section PEND is damaged (checksum differs)");
}

proptest! {
    #[test]
    fn arbitrary_sections_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = b"\x89LBX\r\n\x1a\n\x01\0\0\0\0\0\0\0".to_vec();
        bytes.extend(tail);
        let _ = decode(&bytes);
    }
}

/// One record of each kind, made of increasing bytes, so that each field has a different value.
fn with_frames() -> Report {
    fn records<R: loopbox_format::display_frames::FrameRecord>() -> Vec<R> {
        let bytes: Vec<u8> = (0..2 * R::BYTES).map(|i| (i % 113) as u8 + 1).collect();
        bytes.chunks(R::BYTES).map(|bytes| loopbox_format::display_frames::read(bytes).unwrap()).collect()
    }
    let frames = FrameSession {
        scenes: records(),
        gestures: records(),
        janks: records(),
        recent: records(),
        stages: records(),
    };
    Report { frames, ..sample() }
}

#[test]
fn frames_are_read_back_as_they_were_written() {
    let decoded = decode(&encode(&with_frames()).unwrap()).unwrap();
    assert_eq!(decoded.report, with_frames());
    assert_eq!(decoded.damage, []);
}

/// The section as the Java part of the app appends it: last, and not encoded.
#[test]
fn the_systems_trace_is_kept_as_it_is() {
    let gzip = vec![0x1F, 0x8B, 1, 2, 3];
    let system_trace = PackedTrace { gzip: gzip.clone(), offset: 0 };
    let bytes = encode(&Report { system_trace, ..sample() }).unwrap();
    let at = bytes.windows(4).position(|window| window == b"TRAC").unwrap();
    assert_eq!((at, &bytes[at + 16..at + 21]), (encode(&sample()).unwrap().len() - 20, gzip.as_slice()));
    let report = decode(&bytes).unwrap().report;
    assert_eq!((report.system_trace.offset, report.system_trace.gzip), (at + 16, gzip));
}

/// The sections that the Java part of the app appends when the report's process is gone.
#[test]
fn annotations_that_were_added_later_stand_behind_the_others() {
    let file = encode(&sample()).unwrap();
    let with = |payloads: &[&[u8]]| {
        let mut all = container::Writer::new().append(&file, &[]).unwrap();
        payloads.iter().for_each(|payload| all.section(container::Tag(*b"NOTE"), payload));
        let Decoded { report, damage } = decode(&all.finish()).unwrap();
        assert_eq!(damage, []);
        report
    };
    let mut wanted = sample();
    let later = [("system_profile", "/data/anr.perfetto-trace"), ("two", "lines\nof it")];
    wanted.meta.annotations.extend(later.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(with(&[b"system_profile\n/data/anr.perfetto-trace", b"two\nlines\nof it"]), wanted);
    assert_eq!(with(&[b"no value", b"\xff\n", b""]), sample(), "none of it is an annotation");
}

#[test]
fn the_bytes_of_frames_stay_as_they_are() {
    let bytes = encode(&with_frames()).unwrap();
    assert_eq!((bytes.len(), crc32(&bytes)), (GOLDEN_FRAMES_LEN, GOLDEN_FRAMES_CRC));
}
const GOLDEN_FRAMES_LEN: usize = GOLDEN_LEN + 5 * (16 + 8) + 2 * (704 + 96 + 112 + 32 + 64);
const GOLDEN_FRAMES_CRC: u32 = 2_249_045_562;

#[test]
fn a_flipped_byte_among_frames_costs_one_list() {
    let bytes = encode(&with_frames()).unwrap();
    let whole = with_frames().frames;
    let first = bytes.windows(4).position(|window| window == b"FRAM").unwrap();
    for at in first..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x20;
        let Decoded { report, damage } = decode(&bytes).unwrap();
        assert!(!damage.is_empty(), "flip at {at} went unnoticed");
        let FrameSession { scenes, gestures, janks, recent, stages } = report.frames;
        let lost = [
            scenes != whole.scenes,
            gestures != whole.gestures,
            janks != whole.janks,
            recent != whole.recent,
            stages != whole.stages,
        ];
        assert!(lost.iter().filter(|l| **l).count() <= 1, "flip at {at} lost {lost:?}");
        assert_eq!(report.history, sample().history);
    }
}
