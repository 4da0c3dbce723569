//! The id of a recording: files with the same recording have the same id.

use super::system_trace::unpack;
use loopbox_format::model::{DumpReason, Meta, Named as _, Record, RecordKind, Report, StackTree, Uptime};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// Bytes of an id: enough that two of a billion recordings do not share one by chance.
const LEN: usize = 16;

/// A hash of what the recorder wrote about the moment of the report: the process, both clocks, the times of
/// the messages and of the samples.
///
/// Names of classes and methods are not part of the hash, so retracing does not change the id. Parts that are
/// added to the file later (queue, threads, the system's trace, annotations), and data that host tools
/// derive, are not part of it either. The file's name and place are never used.
///
/// A report that consists of a system's trace alone has none of these times. Its id is made of the process,
/// the time and the lines about threads. If the trace names no process or no time, the id is made of the
/// whole text of the trace, and retracing changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReportId([u8; LEN]);

impl ReportId {
    /// The id of a decoded report.
    pub fn of(report: &Report) -> Self {
        let mut hash = Hash(Sha256::new());
        hash.meta(&report.meta);
        if matches!(report.meta.reason, DumpReason::SystemTrace) {
            hash.trace(report);
        } else {
            hash.list(report.history.iter().filter(|record| is_of_messages(record)), Hash::record);
            hash.list(report.trees.iter(), Hash::tree);
        }
        let whole: [u8; 32] = hash.0.finalize().into();
        let mut id = [0; LEN];
        id.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
        Self(id)
    }
}

impl fmt::Display for ReportId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Whether a record has messages. Other records may still change while the report is completed.
fn is_of_messages(record: &Record) -> bool {
    record.closed && matches!(record.kind, RecordKind::Group | RecordKind::Single)
}

struct Hash(Sha256);

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn optional(&mut self, number: Option<u64>) {
        self.0.update([u8::from(number.is_some())]);
        self.number(number.unwrap_or_default());
    }

    fn list<'t, T: 't>(&mut self, items: impl Iterator<Item = &'t T>, put: fn(&mut Self, &T)) {
        let mut count = 0;
        for item in items {
            put(self, item);
            count += 1;
        }
        self.number(count);
    }

    fn meta(&mut self, meta: &Meta) {
        self.bytes(meta.producer.as_bytes());
        self.bytes(meta.reason.name().as_bytes());
        if let DumpReason::Requested(words) = &meta.reason {
            self.bytes(words.as_bytes());
        }
        let process = &meta.process;
        for text in [&process.name, &process.abi, &process.app_version, &process.device] {
            self.bytes(text.as_bytes());
        }
        for number in [process.pid, process.api_level] {
            self.number(number.into());
        }
        self.optional(process.started_ns.map(|Uptime(at)| at));
        for number in [process.installed_ns.0, meta.dumped_at.uptime_ns.0, meta.dumped_at.unix_ms] {
            self.number(number);
        }
    }

    fn record(&mut self, record: &Record) {
        for number in [
            record.seq,
            record.first_token.0,
            record.count.into(),
            record.start_ns.0,
            record.wall_ns,
            record.work_ns,
            record.idle_ns,
        ] {
            self.number(number);
        }
        self.optional(record.cpu_ns);
    }

    fn tree(&mut self, tree: &StackTree) {
        self.number(tree.token.0);
        self.number(tree.start_ns.0);
        self.list(tree.sample_deltas_ns.iter(), |hash, delta| hash.number(*delta));
    }

    fn trace(&mut self, report: &Report) {
        // What cannot be unpacked is not there for any other reader either.
        let (text, _) = unpack(&report.system_trace);
        let meta = &report.meta;
        let is_named = meta.process.pid != 0 && meta.dumped_at.unix_ms != 0;
        let has_no_name = |line: &&str| line.trim_start().starts_with('|');
        for line in text.lines().filter(|line| !is_named || has_no_name(line)) {
            self.bytes(line.trim().as_bytes());
        }
    }
}

/// The id of R8's mapping that the report's frames name, or by which [`crate::retrace`] has restored the
/// names; empty when neither is known.
pub(crate) fn mapping_id(report: &Report) -> &str {
    let retraced = report.statistics.iter().find(|statistic| statistic.name == MAPPING_ID);
    retraced.map(|statistic| statistic.value.as_str()).or_else(|| named_mapping(report)).unwrap_or_default()
}

/// Whether names were deobfuscated by a mapping that has an id.
pub fn is_retraced(report: &Report) -> bool {
    report.statistics.iter().any(|statistic| statistic.name == MAPPING_ID)
}

/// The statistic in which retracing keeps the mapping's id, because the frames do not name it any more.
pub(crate) const MAPPING_ID: &str = "mapping.id";
/// The start of the source file name that R8 writes in a build with a mapping. The mapping's id follows.
pub(crate) const MAP_ID_FILE: &str = "r8-map-id-";

/// The id of the mapping that the report's frames name; `None` when they name none.
pub(crate) fn named_mapping(report: &Report) -> Option<&str> {
    report.symbols.methods.iter().find_map(|method| method.source_file.strip_prefix(MAP_ID_FILE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::TraceFile;
    use crate::retrace::Mapping;
    use crate::test_support::ReportBuilder;

    fn report() -> ReportBuilder {
        let report = ReportBuilder::new().group(45, 310, 240).single("a.b", 712, 650).running(46, 5_200);
        report.doing("a.b", "", 5_050).looper_tree(46, &[("a.b.c:31 a.b.d:88", 200)])
    }

    fn id(report: ReportBuilder) -> ReportId {
        ReportId::of(&report.build().report)
    }

    #[test]
    fn retracing_keeps_the_id_and_leaves_that_of_the_mapping() {
        let mut report = report().build().report;
        let r8 = |report: &mut Report| {
            report.symbols.methods.iter_mut().for_each(|m| m.source_file = "r8-map-id-4be9".into());
        };
        r8(&mut report);
        let before = ReportId::of(&report);
        assert_eq!((mapping_id(&report), is_retraced(&report)), ("4be9", false));
        let mapping = "# pg_map_id: 4be9\ncom.shop.Cart -> a.b:\n    1:99:void add():1:99 -> c\n    1:99:void sum():1:99 -> d\n";
        Mapping::parse(mapping).unwrap().retrace(&mut report).unwrap();
        assert!(report.symbols.methods.iter().any(|method| method.class == "com.shop.Cart"));
        assert_eq!(ReportId::of(&report), before);
        assert_eq!((mapping_id(&report), is_retraced(&report)), ("4be9", true));
    }

    #[test]
    fn what_is_added_later_keeps_the_id() {
        let later =
            report().thread("sync", None).pending("Looper").statistic("worker.nice", "10").with(|r| {
                r.meta.annotations.push(("ticket".into(), "7".into()));
                r.anr.ended_after_ns = Some(1);
                r.digest = "hang".into();
            });
        assert_eq!(id(later), id(report()));
    }

    #[test]
    fn another_process_instant_or_recording_has_another_id() {
        let ids = [
            id(report()),
            id(report().with(|r| r.meta.process.pid += 1)),
            id(report().with(|r| r.meta.process.device = "Google Pixel 9".into())),
            id(report().with(|r| r.meta.dumped_at.unix_ms += 1)),
            id(report().with(|r| r.meta.dumped_at.uptime_ns.0 += 1)),
            id(report().with(|r| r.history[0].work_ns += 1)),
            id(report().with(|r| r.trees[0].sample_deltas_ns[0] += 1)),
        ];
        for (nth, id) in ids.iter().enumerate() {
            assert!(!ids[..nth].contains(id), "{nth}");
        }
    }

    #[test]
    fn a_trace_that_names_process_and_time_keeps_its_id_when_retraced() {
        let trace = |pid: u32, class: &str, tid: u32| {
            let text = format!(
                "----- pid {pid} at 2026-11-26 10:00:00.123456789+0100 -----\nCmd line: com.shop\n\n\
                 DALVIK THREADS (1):\n\"main\" prio=5 tid=1 Runnable\n  | sysTid={tid} nice=0\n  at {class}.run(A.java:7)\n\n\
                 ----- end {pid} -----\n"
            );
            ReportId::of(&TraceFile::read(text.as_bytes()).unwrap().first().report())
        };
        assert_eq!(trace(7, "a.b", 7), trace(7, "com.shop.Cart", 7));
        assert_ne!(trace(7, "a.b", 7), trace(8, "a.b", 7));
        assert_ne!(trace(7, "a.b", 7), trace(7, "a.b", 8));
    }

    #[test]
    fn traces_that_name_no_process_are_not_one_because_of_it() {
        let trace = |class: &str| {
            let text = format!(
                "\"main\" prio=5 tid=1 Runnable\n  at {class}.run(A.java:7)\n  at java.lang.Thread.run(Thread.java:1)\n"
            );
            ReportId::of(&TraceFile::read(text.as_bytes()).unwrap().first().report())
        };
        assert_eq!(trace("com.shop.Cart"), trace("com.shop.Cart"));
        assert_ne!(trace("com.shop.Cart"), trace("com.shop.Feed"));
    }
}
