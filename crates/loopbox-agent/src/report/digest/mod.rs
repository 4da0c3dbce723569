//! A report in one line, for services that accept no files.

mod about;
mod causes;
mod line;
mod names;

use line::Line;
use loopbox_format::code::{Owner, Owners};
use loopbox_format::looper::summarize_queue;
use loopbox_format::model::{
    Anr, AnrVerdict, DumpReason, End, Location, LocationId, MIN_HANG_NS, MainState, Named, PendingSource,
    ProcessExit, Report, own_ns,
};
use loopbox_format::report::Evidence;
use loopbox_format::{stacks, text};
use names::name;

/// The maximum size of a digest in bytes. Crash services cut values at 1,024 bytes or characters, and some
/// add to a value.
const MAX_BYTES: usize = 900;

/// At most `FRAMES` frames of the running message's last stack are named, and `SLOWEST` messages of the
/// history.
const FRAMES: usize = 6;
const SLOWEST: usize = 3;

/// What may still be added to a report's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileState {
    /// The queue or the other threads are still missing, as in the first file of a report.
    First,
    /// The report is complete, but the process that wrote it may add more evidence.
    Open,
    /// The process adds nothing more to it.
    Closed,
}

impl FileState {
    fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

/// The summary for a reader that does not know the rest of the format, one line for each of: the reason of
/// the report, the process, its id, the time (Unix, ms), the digest, the verdict, what may still come, the
/// label of a requested report, and what [`about::write`] adds.
pub(super) fn lines(report: &Report, state: FileState, with_annotations: bool) -> String {
    let mut text = Line::default();
    text.text(trigger(report)).end();
    text.text(&report.meta.process.name).end();
    text.number(report.meta.process.pid.into()).end();
    text.number(report.meta.dumped_at.unix_ms).end();
    text.text(&digest(report, with_annotations)).end();
    text.text(report.anr.verdict.name()).end().text(state.word()).end();
    if let DumpReason::Requested(label) = &report.meta.reason {
        text.text(label);
    }
    about::write(report, text.end());
    text.0
}

/// Updates the summary of a file that gets more evidence. A first file stays a first file.
pub(super) fn update(lines: &str, known: &Evidence, state: FileState) -> String {
    let anr = &known.anr;
    let mut text = Line::default();
    for (nth, line) in lines.split('\n').enumerate() {
        if about::is_warning(nth, line) {
            continue;
        }
        if nth > 0 {
            text.end();
        }
        match nth {
            4 => text.text(&update_digest(line, anr)),
            5 => text.text(anr.verdict.name()),
            6 if line != FileState::First.word() => text.text(state.word()),
            about::DURATION => about::update_duration(line, anr, &mut text),
            _ => text.raw(line),
        };
    }
    about::write_warnings(&known.warnings, &mut text);
    text.0
}

/// Returns the digest `line` with the verdict of `anr` at its beginning. If the message has ended, its whole
/// duration is added after the time that it had run when the report was written.
fn update_digest(line: &str, anr: &Anr) -> String {
    let prefixes = [AnrVerdict::Confirmed, AnrVerdict::Probable, AnrVerdict::Hang].map(prefix);
    let bare = prefixes.iter().find_map(|&known| line.strip_prefix(known)).unwrap_or(line);
    let end = text::find(bare, " | ").unwrap_or(bare.len());
    let (main, rest) = bare.split_at_checked(end).unwrap_or((bare, ""));
    let mut line = Line::default();
    line.text(prefix(anr.verdict)).text(main);
    if let Some(ns) = anr.ended_after_ns
        && !main.ends_with(IN_ALL)
    {
        line.text(", ").ms(ns).text(IN_ALL);
    }
    line.text(rest);
    line.within(MAX_BYTES)
}

const IN_ALL: &str = " in all";

/// Why the report was written.
fn trigger(report: &Report) -> &'static str {
    let crashed = |exit: &ProcessExit| matches!(exit.reason, ProcessExit::CRASH | ProcessExit::CRASH_NATIVE);
    match &report.meta.reason {
        DumpReason::Recovered { crash_signal: Some(_) } => "crash",
        DumpReason::Recovered { .. } if report.anr.exit.as_ref().is_some_and(crashed) => "crash",
        DumpReason::Recovered { .. } if is_of_frames_alone(report) => "frames",
        reason => reason.name(),
    }
}

/// Whether an earlier process's report has no hang, as far as is known.
pub(super) fn is_calm(report: &Report) -> bool {
    ran_short(report) && report.anr.exit.as_ref().is_none_or(|exit| exit.reason != ProcessExit::ANR)
}

/// Whether no message had run for long.
pub(super) fn ran_short(report: &Report) -> bool {
    report.anr.ran_ns < MIN_HANG_NS
}

/// Whether the report exists only because display frames were recorded.
fn is_of_frames_alone(report: &Report) -> bool {
    is_calm(report) && !report.frames.is_empty()
}

fn prefix(verdict: AnrVerdict) -> &'static str {
    match verdict {
        AnrVerdict::Confirmed => "ANR: ",
        AnrVerdict::Probable => "probably an ANR: ",
        AnrVerdict::Hang => "hang: ",
        _ => "",
    }
}

/// The digest: what the main thread does, what is known about the cause, where the main thread is, what it
/// did before, what waits, and the annotations if `with_annotations` is set. At most 900 bytes.
fn digest(report: &Report, with_annotations: bool) -> String {
    let mut line = Line::default();
    let stack = last_stack(report).unwrap_or_default();
    main(report, &mut line);
    causes::write(report, &stack, &mut line);
    at(report, &stack, &mut line);
    slowest(report, &mut line);
    pending(report, &mut line);
    for (name, value) in report.meta.annotations.iter().filter(|_| with_annotations) {
        line.text(" | ").text(name).text("=").text(value);
    }
    line.within(MAX_BYTES)
}

fn main(report: &Report, line: &mut Line) {
    line.text(prefix(report.anr.verdict));
    match &report.main {
        MainState::Running(running) => {
            line.text("main runs ");
            name(running.message.as_ref(), line);
            line.text(" for ").ms(running.age_ns());
            causes::write_no_processor(report, line);
        }
        MainState::Outside(outside) => {
            let since = if outside.start_ns.is_some() { " for " } else { " for at most " };
            line.text("main busy outside of messages").text(since).ms(outside.age_ns());
            causes::write_no_processor(report, line);
        }
        MainState::Idle { since_ns } => {
            line.text("main idle for ").ms(report.meta.dumped_at.uptime_ns.since(*since_ns));
        }
        _ => {
            line.text("main unknown");
        }
    }
}

/// Writes where main is: the innermost frames of `stack`. The first frame of the app, or else of a library,
/// is written however deep it is: it says more than another frame of the platform.
fn at(report: &Report, stack: &[LocationId], line: &mut Line) {
    let frame = |location| {
        let found = report.symbols.location(location);
        let Some(&Location::Frame { method, line, .. }) = found else { return None };
        Some((report.symbols.method(method)?, line))
    };
    let owners = Owners::of_report(report);
    let first = |wanted| {
        let mut frames = stack.iter().rev();
        frames.position(|&at| {
            frame(at).is_some_and(|(method, _)| owners.owner(&method.class, &method.source_file) == wanted)
        })
    };
    let below = first(Owner::App).or_else(|| first(Owner::Library)).filter(|&nth| nth >= FRAMES);
    let on_top = if below.is_some() { FRAMES - 1 } else { FRAMES };
    let mut before = " | at ";
    for (nth, &location) in stack.iter().rev().enumerate() {
        if nth >= on_top && Some(nth) != below {
            continue;
        }
        let Some((method, number)) = frame(location) else { continue };
        if nth > on_top {
            line.text(" < \u{2026}");
        }
        line.text(before).text(&method.class).text(".").text(&method.name);
        if let Some(number) = number {
            line.text(":").number(number.into());
        }
        before = " < ";
    }
}

/// The last stack of the running message, or of what runs outside of messages, outermost frame first; `None`
/// where there is none.
fn last_stack(report: &Report) -> Option<Vec<LocationId>> {
    let token = match &report.main {
        MainState::Running(running) => running.token,
        MainState::Outside(outside) => outside.token,
        _ => return None,
    };
    let tree = report.trees.last().filter(|tree| tree.token == token)?;
    stacks::stacks(tree).ok()?.last()
}

/// Writes the slowest messages before the running one.
fn slowest(report: &Report, line: &mut Line) {
    let mut below = u64::MAX;
    let mut before = " | before: ";
    for _ in 0..SLOWEST {
        let details = report.history.iter().flat_map(|record| &record.details);
        let own = details.map(|detail| (detail, own_ns(&report.history, detail)));
        let Some((next, ns)) = own.filter(|(_, ns)| *ns < below).max_by_key(|(_, ns)| *ns) else { return };
        below = ns;
        line.text(before);
        name(next.message.as_ref(), line);
        let most = next.end == End::Missed || ns < next.wall_ns;
        line.text(if most { " at most " } else { " " }).ms(ns);
        before = ", ";
    }
}

fn pending(report: &Report, line: &mut Line) {
    if let PendingSource::Unavailable(_) = report.pending.source {
        return;
    }
    let queue = summarize_queue(&report.pending);
    line.text(" | ");
    match queue.total {
        // As far as the removed ones were read: the framework counts them, too.
        Some(total) => line.number(total.saturating_sub(queue.removed).into()),
        // Without the framework's last line nobody knows how many there were.
        None => line.text("at least ").number(queue.read.into()),
    };
    line.text(" waiting");
    causes::write_flood(report, line);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use loopbox_format::model::Token;
    use loopbox_format::model::Uptime;
    use loopbox_format::model::{
        AnrWarning, Detail, LocationId, Message, Method, NamedBy, Outside, Phase, Process, RecentFrame,
        Record, RecordKind, Running, Slowest, StackSource, StackTree, TreeNode,
    };

    fn message(target: &str, callback: &str) -> Message {
        Message {
            target: target.into(),
            callback: callback.into(),
            what: Some(7),
            component: None,
            named_by: NamedBy::Stack,
        }
    }

    /// The digest with the annotations.
    pub(super) fn digest(report: &Report) -> String {
        super::digest(report, true)
    }

    pub(super) fn hung() -> Report {
        let running = Running {
            token: Token(3),
            start_ns: Uptime(1_000_000_000),
            as_of_ns: Uptime(6_021_000_000),
            cpu_ns: None,
            depth: 1,
            message: Some(message("android.os.Handler", "com.example.Sync")),
        };
        let mut report = Report { main: MainState::Running(running), ..Report::default() };
        for (name, line) in [("main", None), ("run", Some(12)), ("parse", Some(40))] {
            let method = report.symbols.push_method(Method {
                class: "com.example.Sync".into(),
                name: name.into(),
                signature: String::new(),
                source_file: String::new(),
            });
            report.symbols.push_location(Location::Frame { method, dex_pc: Some(0), line });
        }
        let node =
            |location, children| TreeNode { location: LocationId(location), skip: 0, count: 1, children };
        report.trees.push(StackTree {
            token: Token(3),
            start_ns: Uptime(1_000_000_000),
            source: StackSource::Art,
            phases: vec![Phase { first_sample: 0, interval_ns: 10_000_000 }],
            sample_deltas_ns: vec![50_000_000],
            nodes: vec![node(0, 1), node(1, 1), node(2, 0)],
            missed_samples: 0,
            longest_stop_ns: 0,
            total_stop_ns: 0,
        });
        report.meta.annotations.push(("scene".into(), "Cart".into()));
        report
    }

    #[test]
    fn a_hang_in_one_line() {
        let mut report = hung();
        assert_eq!(
            digest(&report),
            "main runs com.example.Sync what=7 for 5021 ms | at com.example.Sync.parse:40 < com.example.Sync.run:12 < com.example.Sync.main | scene=Cart"
        );
        report.anr.verdict = AnrVerdict::Confirmed;
        assert!(digest(&report).starts_with("ANR: main runs com.example.Sync"));
        report.pending.source = PendingSource::LooperDump;
        let message = |nth| format!("Message {nth}: {{ when=-5ms what=1 target=a.B }}");
        report.pending.lines = vec!["Looper".into(), message(0), message(1)];
        report.pending.dropped_lines = 4;
        assert!(digest(&report).contains("| at least 2 waiting |"), "{}", digest(&report));
        report.pending.lines.push("(Total messages: 5, polling=false, quitting=false)".into());
        assert!(digest(&report).contains("| 5 waiting |"), "{}", digest(&report));
    }

    #[test]
    fn what_runs_in_no_message_is_identified_by_its_stack() {
        let mut report = hung();
        let token = Token::outside_before(Token(4));
        report.trees[0].token = token;
        let outside = Outside {
            token,
            after_ns: Uptime(1_000_000_000),
            start_ns: None,
            as_of_ns: Uptime(7_000_000_000),
            cpu_ns: Some(1),
        };
        report.main = MainState::Outside(outside.clone());
        let at =
            " | at com.example.Sync.parse:40 < com.example.Sync.run:12 < com.example.Sync.main | scene=Cart";
        assert_eq!(digest(&report), ["main busy outside of messages for at most 6000 ms", at].concat());
        report.main = MainState::Outside(Outside { start_ns: Some(Uptime(2_000_000_000)), ..outside });
        assert_eq!(digest(&report), ["main busy outside of messages for 5000 ms", at].concat());
    }

    #[test]
    fn the_first_frame_of_the_app_is_named_however_deep_it_is() {
        let mut report = hung();
        let write = ["java.io.RandomAccessFile", "libcore.io.IoBridge", "libcore.io.BlockGuardOs"];
        let deep =
            [&write[..], &["java.lang.ThreadLocal", "okhttp3.A", "java.lang.B", "java.lang.C"]].concat();
        for class in deep {
            let method =
                Method { class: class.into(), name: "f".into(), ..report.symbols.methods[0].clone() };
            let method = report.symbols.push_method(method);
            let location = report.symbols.push_location(Location::Frame { method, dex_pc: None, line: None });
            let tree = &mut report.trees[0];
            tree.nodes.last_mut().unwrap().children = 1;
            tree.nodes.push(TreeNode { location, skip: 0, count: 1, children: 0 });
        }
        let (c, local) = ("java.lang.C.f < java.lang.B.f", "java.lang.ThreadLocal.f");
        let guard = "libcore.io.BlockGuardOs.f";
        let at =
            format!(" | at {c} < okhttp3.A.f < {local} < {guard} < \u{2026} < com.example.Sync.parse:40 |");
        assert!(digest(&report).contains(&at), "{}", digest(&report));
        // Among those on top it is in its place.
        for (method, at) in [
            (4, format!(" | at {c} < okhttp3.A.f < {local} < {guard} < com.example.Own.f |")),
            (7, format!(" | at {c} < com.example.Own.f < {local} < {guard} < libcore.io.IoBridge.f |")),
        ] {
            let mut own = report.clone();
            own.symbols.methods[method].class = "com.example.Own".into();
            assert!(digest(&own).contains(&at), "{}", digest(&own));
        }
        // Where there is none of the app, that of a library.
        for method in &mut report.symbols.methods {
            method.class = method.class.replace("okhttp3", "java.lang").replace("com.example", "okio");
        }
        let at = " < \u{2026} < okio.Sync.parse:40 |";
        assert!(digest(&report).contains(at), "{}", digest(&report));
    }

    #[test]
    fn it_fits_whatever_the_names_are() {
        let mut report = hung();
        report.meta.annotations = vec![("k".into(), "\u{fc}\n".repeat(900))];
        let line = digest(&report);
        assert!(line.len() <= 900 && line.len() > 896, "{} bytes", line.len());
        assert!(line.ends_with('\u{2026}') && !line.contains('\n'));
    }

    #[test]
    fn the_slowest_messages_come_first_and_numbers_have_their_sign() {
        let mut report = Report { main: MainState::Idle { since_ns: Uptime::ZERO }, ..Report::default() };
        report.meta.dumped_at.uptime_ns = Uptime(1_500_000_000);
        let detail = |token: Token, wall_ms: u64, what: Option<i32>| Detail {
            token,
            start_ns: Uptime::ZERO,
            wall_ns: wall_ms * 1_000_000,
            wait_ns: None,
            end: End::Returned,
            message: Some(Message { what, ..message("a.H", "") }),
        };
        let details = vec![
            detail(Token(1), 60, Some(1)),
            detail(Token(2), 700, Some(-2)),
            detail(Token(3), 61, Some(3)),
            Detail { end: End::Missed, ..detail(Token(4), 70, None) },
        ];
        report.history.push(Record {
            kind: RecordKind::Group,
            seq: 1,
            first_token: Token(1),
            count: 4,
            start_ns: Uptime::ZERO,
            wall_ns: 900_000_000,
            work_ns: 900_000_000,
            idle_ns: 0,
            cpu_ns: None,
            checktime_late_ns: None,
            slowest: Some(Slowest { token: Token(2), wall_ns: 700_000_000 }),
            details,
            dropped_details: 0,
            closed: true,
        });
        assert_eq!(
            digest(&report),
            "main idle for 1500 ms | before: a.H what=-2 700 ms, a.H at most 70 ms, a.H what=3 61 ms"
        );
    }

    #[test]
    fn evidence_that_comes_later_changes_the_summary() {
        let mut report = hung();
        report.anr.verdict = AnrVerdict::Probable;
        let first = lines(&report, FileState::First, false);
        let open = lines(&report, FileState::Open, false);
        let of = |anr: Anr| Evidence { anr, ..Evidence::default() };
        let ended =
            of(Anr { verdict: AnrVerdict::Hang, ended_after_ns: Some(6_012_000_000), ..Anr::default() });
        let known = update(&open, &ended, FileState::Open);
        let parts: Vec<&str> = known.split('\n').collect();
        assert!(
            parts[4].starts_with("hang: main runs com.example.Sync what=7 for 5021 ms, 6012 ms in all | at ")
        );
        assert_eq!(parts[5..8], ["hang", "open", ""]);
        assert_eq!(parts[about::DURATION], "6012");
        let confirmed = of(Anr { verdict: AnrVerdict::Confirmed, ..ended.anr });
        let closed = update(&known, &confirmed, FileState::Closed);
        let parts: Vec<&str> = closed.split('\n').collect();
        assert!(
            parts[4].starts_with("ANR: main runs com.example.Sync what=7 for 5021 ms, 6012 ms in all | at ")
        );
        assert_eq!(parts[5..8], ["confirmed", "closed", ""]);
        // What is no part of the verdict stays as it is.
        assert_eq!(parts[10..], open.split('\n').collect::<Vec<_>>()[10..]);
        assert!(update(&first, &confirmed, FileState::Closed).contains("\nconfirmed\nfirst\n"));
        let old = "hang\nshop\n7\n0\nmain runs a";
        assert_eq!(
            update(old, &confirmed, FileState::Closed),
            "hang\nshop\n7\n0\nANR: main runs a, 6012 ms in all"
        );
    }

    #[test]
    fn warnings_of_the_system_are_the_last_lines_and_are_replaced() {
        let warning = |id| AnrWarning { at_ns: Uptime(1), id, kind: 5, consumed_ms: 10, timeout_ms: 20 };
        let mut report = Report { anr_warnings: vec![warning(-7)], ..hung() };
        report.meta.annotations = vec![("anr_warning".into(), "of the app".into())];
        let before = lines(&report, FileState::Open, false);
        assert!(before.ends_with("\nanr_warning\t-7\t5\t10\t20"), "{before}");
        let known = Evidence { warnings: vec![warning(8), warning(9)], ..Evidence::default() };
        let after = update(&before, &known, FileState::Open);
        let tail: Vec<&str> = after.rsplit('\n').take(3).collect();
        assert_eq!(tail[..2], ["anr_warning\t9\t5\t10\t20", "anr_warning\t8\t5\t10\t20"]);
        assert!(tail[2].starts_with("com.example.Sync\tmain\t"), "{after}");
        assert!(after.contains("\nanr_warning\tof the app\n"), "{after}");
    }

    #[test]
    fn a_process_that_crashed_left_a_report_of_a_crash() {
        let mut report = Report::default();
        for (crash_signal, exit, word) in [
            (None, None, "recovered"),
            (Some(6), None, "crash"),
            (None, Some(4), "crash"),
            (None, Some(6), "recovered"),
        ] {
            report.meta.reason = DumpReason::Recovered { crash_signal };
            report.anr.exit =
                exit.map(|reason| ProcessExit { reason, description: String::new(), unix_ms: 0 });
            assert_eq!(trigger(&report), word);
        }
        // Without a hang, what is left is of frames, where those were recorded.
        report.anr.exit = None;
        report.frames.recent.push(RecentFrame::default());
        assert_eq!(trigger(&report), "frames");
        report.anr.ran_ns = MIN_HANG_NS;
        assert_eq!(trigger(&report), "recovered");
    }

    #[test]
    fn the_summary_has_its_lines_whatever_the_annotations_are() {
        let mut report = hung();
        report.meta.reason = DumpReason::Requested("two\nlines".into());
        report.meta.process = Process { pid: 4711, name: "com.example:push".into(), ..Process::default() };
        report.meta.dumped_at.unix_ms = 1_700_000_000_123;
        let lines = lines(&report, FileState::Closed, false);
        let lines: Vec<&str> = lines.split('\n').collect();
        assert_eq!(lines[..4], ["requested", "com.example:push", "4711", "1700000000123"]);
        assert_eq!(lines[4], super::digest(&report, false));
        assert_eq!(lines[5..8], ["unknown", "closed", "two lines"]);
    }

    #[test]
    fn the_digest_has_no_annotations_unless_asked() {
        assert!(!super::digest(&hung(), false).contains("Cart"));
        assert!(super::digest(&hung(), true).ends_with(" | scene=Cart"));
    }

    #[test]
    fn the_summary_says_what_an_app_sends_by_itself() {
        let mut report = hung();
        report.meta.process.app_version = "5.2 (502)".into();
        report.meta.annotations.push(("user".into(), "u\t1\n2".into()));
        report.symbols.methods[2].source_file = "Sync.java".into();
        let lines = lines(&report, FileState::Closed, false);
        let lines: Vec<&str> = lines.split('\n').collect();
        let id = loopbox_format::problem::of_report(&report).id();
        assert_eq!(
            lines[8..],
            [
                "5.2 (502)",
                "5021",
                &id,
                "com.example.Sync.parse",
                "scene\tCart\tuser\tu 1 2",
                "com.example.Sync\tparse\tSync.java\t40",
                "com.example.Sync\trun\t\t12",
                "com.example.Sync\tmain\t\t0"
            ]
        );
        report.main = MainState::Idle { since_ns: Uptime::ZERO };
        let lines = super::lines(&report, FileState::Closed, false);
        assert_eq!(lines.split('\n').nth(11), Some("main idle"));
        assert_eq!(lines.split('\n').count(), 13, "no stack");
    }

    #[test]
    fn a_deep_stack_is_cut_at_its_bottom() {
        let mut report = hung();
        report.symbols.methods.iter_mut().for_each(|method| method.class = "c".repeat(9_000));
        let lines = lines(&report, FileState::Closed, false);
        let lines: Vec<&str> = lines.split('\n').collect();
        assert_eq!(lines.len(), 14);
        assert!(lines[13].ends_with("\tparse\t\t40"));
    }
}
