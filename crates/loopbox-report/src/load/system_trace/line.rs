//! One line of the trace: the grammar of ART's `Thread::Dump` and `Monitor::DescribeLocks`, and of
//! debuggerd's backtraces, which the system takes when ART does not answer.

use crate::model::framework::in_class_object;
use crate::model::{FrameKind, LockAction, locked_object, several};

/// A line with a known meaning.
#[derive(Debug, PartialEq)]
pub(in crate::load) enum Line<'t> {
    /// A field of the ANR, by the system's own names: `Subject`, `Frozen`, …
    Field(&'t str, &'t str),
    /// The system asked for the trace of this process, at this uptime in milliseconds.
    Asked(u32, u64),
    /// The first line of ART's part, or of a native backtrace: the process, and when the part was written.
    Begin(u32, &'t str),
    /// The first line of the list of the kernel functions in which the threads of the process sleep: the
    /// process, and when the list was written. The system writes the list when ART does not answer.
    Channels(u32, &'t str),
    /// A line of the list that [`Line::Channels`] begins: the thread, and the kernel function.
    Channel(u32, &'t str),
    /// The beginning of ART's list of the threads that it knows.
    Threads,
    End,
    Thread(Header<'t>),
    /// A line of attributes of a thread.
    Attributes(&'t str),
    Java(JavaFrame<'t>),
    Lock(Lock<'t>),
    Native(&'t str),
    /// Any other line in a stack.
    Note(&'t str),
    /// A blank line, which ends a thread.
    Blank,
    /// A line without a known meaning.
    Other,
}

/// The first line of a thread.
#[derive(Debug, Default, PartialEq)]
pub(in crate::load) struct Header<'t> {
    pub(in crate::load) name: &'t str,
    pub(in crate::load) daemon: bool,
    pub(in crate::load) tid: Option<u32>,
    pub(in crate::load) sys_tid: Option<u32>,
    pub(in crate::load) state: &'t str,
}

#[derive(Debug, PartialEq)]
pub(in crate::load) struct JavaFrame<'t> {
    pub(in crate::load) class: &'t str,
    pub(in crate::load) method: &'t str,
    pub(in crate::load) file: &'t str,
    pub(in crate::load) line: Option<u32>,
    pub(in crate::load) kind: FrameKind,
}

#[derive(Debug, PartialEq)]
pub(in crate::load) struct Lock<'t> {
    pub(in crate::load) action: LockAction,
    class: &'t str,
    of_class: &'t str,
    pub(in crate::load) id: Option<u64>,
    pub(in crate::load) holder: Option<u32>,
}

impl Lock<'_> {
    pub(in crate::load) fn object(&self) -> String {
        locked_object(self.class, self.of_class)
    }
}

/// Reads a line. `in_thread` is whether the line is part of a thread, which began before it and has not
/// ended.
pub(in crate::load) fn read(line: &str, in_thread: bool) -> Line<'_> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Line::Blank;
    }
    if line.starts_with('"') {
        return header(trimmed).map_or(Line::Other, Line::Thread);
    }
    if let Some(dashed) = trimmed.strip_prefix("----- ") {
        return dashes(dashed.trim_end_matches([' ', '-'])).unwrap_or(Line::Other);
    }
    if !in_thread {
        return outside_threads(trimmed);
    }
    if let Some(attributes) = trimmed.strip_prefix("| ") {
        return Line::Attributes(attributes);
    }
    if let Some(frame) = trimmed.strip_prefix("at ") {
        return java(frame).map_or(Line::Note(trimmed), Line::Java);
    }
    if let Some(action) = trimmed.strip_prefix("- ") {
        return lock(action).map_or(Line::Note(trimmed), Line::Lock);
    }
    if trimmed.starts_with("native: #") || trimmed.starts_with('#') {
        return Line::Native(trimmed);
    }
    Line::Note(trimmed)
}

/// Fields that the system and ART write before the threads, as `name: value`. Memory in KiB and ART's
/// statistics are not included.
const FIELDS: [&str; 17] = [
    "Subject",
    "ErrorId",
    "Frozen",
    "DumpLatency",
    "TimeoutStart",
    "Timeout",
    "Debug Store",
    "Cmd line",
    "Build fingerprint",
    "ABI",
    "Process",
    "PID",
    "Package",
    "Foreground",
    "Build",
    "SystemUptimeMs",
    "Process-Runtime",
];

fn outside_threads(line: &str) -> Line<'_> {
    if line.starts_with("DALVIK THREADS") {
        return Line::Threads;
    }
    if let Some((tid, channel)) = line.strip_prefix("sysTid=").and_then(|rest| rest.split_once(' ')) {
        return tid.parse().map_or(Line::Other, |tid| Line::Channel(tid, channel.trim()));
    }
    let field = line.split_once(':').filter(|(name, _)| FIELDS.contains(name));
    field.map_or(Line::Other, |(name, value)| Line::Field(name, value.trim()))
}

fn dashes(text: &str) -> Option<Line<'_>> {
    if text.starts_with("end ") {
        return Some(Line::End);
    }
    if let Some(asked) = text.strip_prefix("dumping pid: ") {
        let (pid, uptime_ms) = asked.split_once(" at ")?;
        return Some(Line::Asked(pid.trim().parse().ok()?, uptime_ms.trim().parse().ok()?));
    }
    let of = |text: &'_ str| -> Option<u32> { text.trim().parse().ok() };
    if let Some((pid, at)) =
        text.strip_prefix("Waiting Channels: pid ").and_then(|rest| rest.split_once(" at "))
    {
        return Some(Line::Channels(of(pid)?, at.trim()));
    }
    let (pid, at) = text.strip_prefix("pid ")?.split_once(" at ")?;
    Some(Line::Begin(of(pid)?, at.trim()))
}

/// Parses the first line of a thread. ART writes `"main" prio=5 tid=1 Native`, `"RenderThread" daemon prio=7
/// tid=19 Native` or `"mali-cmar-backe" prio=5 (not attached)`. debuggerd writes `"main" sysTid=4711`. The
/// Play Console shows `"main" tid=1 Native`. A name may have quotes.
fn header(line: &str) -> Option<Header<'_>> {
    let after_name = [" prio=", " daemon prio=", " sysTid=", " tid=", " daemon tid="];
    let quote = after_name.into_iter().filter_map(|after| line.rfind(&format!("\"{after}"))).max()?;
    let (name, rest) = (line.get(1..quote), &line[quote + 1..]);
    let word = |key: &str| {
        let at = rest.find(key)? + key.len();
        rest[at..].split(' ').next()
    };
    let number = |key: &str| word(key)?.parse().ok();
    let tid: Option<u32> = number(" tid=");
    // What follows the number.
    let state =
        tid.and_then(|_| rest.rsplit_once(" tid=")?.1.split_once(' ')).map_or("", |(_, state)| state.trim());
    Some(Header {
        name: name.unwrap_or_default(),
        daemon: rest.starts_with(" daemon "),
        tid,
        sys_tid: number(" sysTid="),
        state,
    })
}

/// Parses a Java frame: `com.example.Main$1.run(Main.java:17)`. For a native method, ART writes `Native
/// method`. For a file or a line that it does not know, ART writes `unavailable` or -1. A source may have
/// brackets and blanks; the Play Console puts a blank before it.
fn java(frame: &str) -> Option<JavaFrame<'_>> {
    let (name, place) = frame.strip_suffix(')')?.split_once('(')?;
    let (class, method) = several::class_and_method(name.trim_end())?;
    if place.eq_ignore_ascii_case("Native method") {
        return Some(JavaFrame { class, method, file: "", line: None, kind: FrameKind::Native });
    }
    let (file, line) = match place.rsplit_once(':') {
        Some((file, line)) if line.parse::<i64>().is_ok() => (file, line.parse().ok()),
        _ => (place, None),
    };
    let file = if file == "unavailable" { "" } else { file };
    Some(JavaFrame { class, method, file, line, kind: FrameKind::Java })
}

/// Parses a lock: `waiting to lock <0x0d3b5c8a> (a java.lang.Class<com.example.Shop>) held by thread 23`.
/// Android 4 writes `held by tid=23 (sync)` at the end.
fn lock(text: &str) -> Option<Lock<'_>> {
    const ACTIONS: [(&str, LockAction); 4] = [
        ("locked ", LockAction::Holds),
        ("waiting to lock ", LockAction::Wants),
        ("waiting on ", LockAction::WaitsOn),
        ("sleeping on ", LockAction::SleepsOn),
    ];
    let (action, rest) =
        ACTIONS.into_iter().find_map(|(words, action)| Some((action, text.strip_prefix(words)?)))?;
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let held = ["thread ", "tid="].into_iter().find_map(|by| rest.split_once(&format!(" held by {by}")));
    let (object, holder) = held.map_or((rest, None), |(object, holder)| (object, number(holder)));
    let id = object.strip_prefix('<').and_then(|object| object.split_once('>')).and_then(|(id, _)| {
        let hex = id.strip_prefix("@addr=").unwrap_or(id).strip_prefix("0x")?;
        u64::from_str_radix(hex, 16).ok()
    });
    let class = object.split_once("(a ").and_then(|(_, class)| class.strip_suffix(')')).unwrap_or_default();
    Some(Lock { action, class, of_class: in_class_object(class).unwrap_or_default(), id, holder })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_known_by_its_first_line_whatever_its_name() {
        let of = |line| match read(line, false) {
            Line::Thread(header) => header,
            other => panic!("{line}: {other:?}"),
        };
        let main = Header { name: "main", tid: Some(1), state: "Native", ..Header::default() };
        assert_eq!(of("\"main\" prio=5 tid=1 Native"), main);
        let odd = of("\"a \" prio=5 tid=7 \"b\" daemon prio=5 tid=12 TimedWaiting");
        assert_eq!(
            (odd.name, odd.daemon, odd.tid, odd.state),
            ("a \" prio=5 tid=7 \"b", true, Some(12), "TimedWaiting")
        );
        let native = of("\"mali-cmar-backe\" prio=5 (not attached)");
        assert_eq!((native.name, native.tid, native.state), ("mali-cmar-backe", None, ""));
        let starting = of("\"x\" prio=5 tid=3 Native (still starting up)");
        assert_eq!(starting.state, "Native (still starting up)");
        assert_eq!(of("\"main\" sysTid=4711").sys_tid, Some(4_711));
        let play = of("\"main\" tid=1 Waiting");
        assert_eq!((play.name, play.tid, play.state), ("main", Some(1), "Waiting"));
        assert_eq!(read("\"no thread\"", false), Line::Other);
    }

    #[test]
    fn locks_are_read_with_their_holder() {
        let of = |line| match read(line, true) {
            Line::Lock(lock) => (lock.action, lock.object(), lock.id, lock.holder),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(
            of("  - waiting to lock <0x0d3b5c8a> (a java.lang.Object) held by thread 23"),
            (LockAction::Wants, "a java.lang.Object".into(), Some(0x0d3b_5c8a), Some(23))
        );
        assert_eq!(
            of("  - locked <@addr=0x12c40000> (a java.lang.Class<com.example.Shop>)"),
            (LockAction::Holds, "the class com.example.Shop".into(), Some(0x12c4_0000), None)
        );
        assert_eq!(of("  - waiting on <0x1> (a a.b)"), (LockAction::WaitsOn, "a a.b".into(), Some(1), None));
        assert_eq!(of("  - sleeping on <0x1> (a a.b)").0, LockAction::SleepsOn);
        assert_eq!(
            of("  - waiting to lock an unknown object held by thread 3"),
            (LockAction::Wants, "an unknown object".into(), None, Some(3))
        );
        assert_eq!(
            of("  - waiting to lock <0x41e0a5b8> (a java.lang.Object) held by tid=12 (sync)"),
            (LockAction::Wants, "a java.lang.Object".into(), Some(0x41e0_a5b8), Some(12))
        );
        assert_eq!(read("  - something new", true), Line::Note("- something new"));
    }

    #[test]
    fn frames_are_read_with_their_place() {
        let of = |line| match read(line, true) {
            Line::Java(frame) => (frame.class, frame.method, frame.file, frame.line, frame.kind),
            other => panic!("{line}: {other:?}"),
        };
        let main = ("com.example.Main$1", "run", "Main.java", Some(17), FrameKind::Java);
        assert_eq!(of("  at com.example.Main$1.run(Main.java:17)"), main);
        assert_eq!(of("  at a.B.c(Native method)"), ("a.B", "c", "", None, FrameKind::Native));
        let several = ("a.B", "c or a.C.d or 2 more", "B.java", None, FrameKind::Java);
        assert_eq!(of("  at a.B.c or a.C.d or 2 more(B.java)"), several);
        assert_eq!(of("  at a.B.<init>(unavailable:-1)"), ("a.B", "<init>", "", None, FrameKind::Java));
        assert_eq!(of("  at a.B.c (B.java:3)"), ("a.B", "c", "B.java", Some(3), FrameKind::Java));
        assert_eq!(of("  at a.B.c(Native Method)").4, FrameKind::Native);
        assert_eq!(
            of("  at a.B.c(:own.lib@1@2.3 (190400-0):12)"),
            ("a.B", "c", ":own.lib@1@2.3 (190400-0)", Some(12), FrameKind::Java)
        );
        let native =
            "native: #00 pc 000000000009b5f8  /apex/com.android.runtime/lib64/bionic/libc.so (syscall+28)";
        assert_eq!(read(&format!("  {native}"), true), Line::Native(native));
        assert_eq!(
            read("    #01 pc 0004e8  /system/lib64/libart.so", true),
            Line::Native("#01 pc 0004e8  /system/lib64/libart.so")
        );
        assert_eq!(read("  (no managed stack frames)", true), Line::Note("(no managed stack frames)"));
        assert_eq!(read("  at nothing", true), Line::Note("at nothing"));
    }

    #[test]
    fn the_lines_around_the_threads() {
        assert_eq!(
            read("----- pid 77 at 2026-11-22 15:30:15.123+0100 -----", false),
            Line::Begin(77, "2026-11-22 15:30:15.123+0100")
        );
        assert_eq!(read("----- dumping pid: 77 at 123456", false), Line::Asked(77, 123_456));
        assert_eq!(
            read("----- Waiting Channels: pid 77 at 2026-11-22 15:30:15.123456789+0100 -----", false),
            Line::Channels(77, "2026-11-22 15:30:15.123456789+0100")
        );
        assert_eq!(read("sysTid=78        do_freezer_trap", false), Line::Channel(78, "do_freezer_trap"));
        assert_eq!(read("DALVIK THREADS (4):", false), Line::Threads);
        assert_eq!(read("----- end 77 -----", true), Line::End);
        assert_eq!(
            read("Subject: Input dispatching timed out", false),
            Line::Field("Subject", "Input dispatching timed out")
        );
        assert_eq!(read("Frozen: true", false), Line::Field("Frozen", "true"));
        assert_eq!(read("RssKb: 180112", false), Line::Other);
        assert_eq!(read("  | sysTid=7 nice=0", true), Line::Attributes("sysTid=7 nice=0"));
        assert_eq!(read("Zygote loaded classes=1", false), Line::Other);
        assert_eq!(read("", true), Line::Blank);
    }
}
