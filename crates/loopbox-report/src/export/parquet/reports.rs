//! One report as a row.

use super::Column::{Flag, Integer, Json, Real, Text, Time};
use super::{Column, Row, object};
use crate::cluster::Problem;
use crate::diagnose::{Confidence, Diagnosis};
use crate::model::anr_words::exit_reason;
use crate::model::time::ms;
use crate::model::version::version_code;
use crate::model::{Analysis, Identity, Overdue, PendingQueue};
use loopbox_format::model::{MainState, Named, RecordKind};
use std::borrow::Cow;

/// One report as a row.
#[derive(Debug, Clone)]
pub struct ReportRow {
    path: String,
    dumped_at: Option<i64>,
    reason: &'static str,
    process: String,
    app_version: String,
    device: String,
    api_level: Option<i64>,
    abi: String,
    user: String,
    cause: String,
    confidence: Option<&'static str>,
    headline: String,
    culprit: Option<String>,
    group_id: String,
    frames: String,
    state: &'static str,
    message: String,
    age_ms: Option<f64>,
    cpu_ms: Option<f64>,
    history_ms: Option<f64>,
    history_messages: Option<i64>,
    history_work_ms: Option<f64>,
    history_idle_ms: Option<f64>,
    slowest_ms: Option<f64>,
    late_ms: Option<f64>,
    pending: Option<i64>,
    overdue_ms: Option<f64>,
    samples: i64,
    statistics: String,
    annotations: String,
    app_version_code: Option<i64>,
    anr: &'static str,
    exit_reason: Cow<'static, str>,
    exit_description: String,
    report_id: String,
    pid: Option<i64>,
    recorder: String,
    mapping_id: String,
    is_hang: bool,
}

impl Row for ReportRow {
    const SCHEMA: &'static str = "loopbox.table/1";
    const NAME: &'static str = "report";
    const COLUMNS: &'static [(&'static str, Column<Self>)] = &[
        ("path", Text(|r| &r.path)),
        ("dumped_at", Time(|r| r.dumped_at)),
        ("reason", Text(|r| r.reason)),
        ("process", Text(|r| &r.process)),
        ("app_version", Text(|r| &r.app_version)),
        ("device", Text(|r| &r.device)),
        ("api_level", Integer(|r| r.api_level)),
        ("abi", Text(|r| &r.abi)),
        ("user", Text(|r| &r.user)),
        ("cause", Text(|r| &r.cause)),
        ("confidence", Text(|r| r.confidence.unwrap_or_default())),
        ("headline", Text(|r| &r.headline)),
        ("culprit", Text(|r| r.culprit.as_deref().unwrap_or_default())),
        ("group_id", Text(|r| &r.group_id)),
        ("frames", Text(|r| &r.frames)),
        ("state", Text(|r| r.state)),
        ("message", Text(|r| &r.message)),
        ("age_ms", Real(|r| r.age_ms)),
        ("cpu_ms", Real(|r| r.cpu_ms)),
        ("history_ms", Real(|r| r.history_ms)),
        ("history_messages", Integer(|r| r.history_messages)),
        ("history_work_ms", Real(|r| r.history_work_ms)),
        ("history_idle_ms", Real(|r| r.history_idle_ms)),
        ("slowest_ms", Real(|r| r.slowest_ms)),
        ("late_ms", Real(|r| r.late_ms)),
        ("pending", Integer(|r| r.pending)),
        ("overdue_ms", Real(|r| r.overdue_ms)),
        ("samples", Integer(|r| Some(r.samples))),
        ("statistics", Json(|r| &r.statistics)),
        ("annotations", Json(|r| &r.annotations)),
        ("app_version_code", Integer(|r| r.app_version_code)),
        ("anr", Text(|r| r.anr)),
        ("exit_reason", Text(|r| &r.exit_reason)),
        ("exit_description", Text(|r| &r.exit_description)),
        ("report_id", Text(|r| &r.report_id)),
        ("pid", Integer(|r| r.pid)),
        ("recorder", Text(|r| &r.recorder)),
        ("analyzer", Text(|_| Identity::ANALYZER)),
        ("signature", Integer(|_| Some(Identity::SIGNATURE.into()))),
        ("mapping_id", Text(|r| &r.mapping_id)),
        ("is_hang", Flag(|r| r.is_hang)),
    ];
}

impl ReportRow {
    /// The row of a report with its diagnosis. `path` is the name of the report in the table.
    pub fn new(a: &Analysis, diagnosis: &Diagnosis, path: &str) -> Self {
        let problem = Problem::new(a, diagnosis);
        let process = &a.meta.process;
        let sum = |of: fn(&loopbox_format::model::Record) -> u64| {
            ms(a.history.iter().fold(0_u64, |sum, record| sum.saturating_add(of(record))))
        };
        // The system's trace alone has no history.
        let recorded = !a.is_trace_alone();
        let work = a.history.iter().filter(|r| matches!(r.kind, RecordKind::Group | RecordKind::Single));
        // State, message, age and CPU time.
        let (state, message, age_ns, cpu_ns) = match &a.main {
            MainState::Running(running) => (
                "running",
                a.title_of(running.token, running.message.as_ref()),
                Some(running.age_ns()),
                running.cpu_ns,
            ),
            MainState::Outside(outside) => {
                let place = a.outside_words(outside.token).map(str::to_owned);
                ("outside", place, Some(outside.age_ns()), outside.cpu_ns)
            }
            MainState::Idle { .. } => ("idle", None, None, None),
            _ => ("unknown", None, None, None),
        };
        let user = a.meta.annotations.iter().find(|(name, _)| name == "user");
        Self {
            path: path.to_string(),
            dumped_at: a.wall_clock().unix_ms(a.dump_ns),
            reason: a.meta.reason.name(),
            is_hang: a.may_be_of_hang(),
            process: process.name.clone(),
            app_version: process.app_version.clone(),
            device: process.device.clone(),
            api_level: Some(i64::from(process.api_level)).filter(|level| *level > 0),
            abi: process.abi.clone(),
            user: user.map(|(_, value)| value.clone()).unwrap_or_default(),
            confidence: diagnosis.confidence.map(Confidence::as_str),
            culprit: diagnosis.causes.first().and_then(|cause| cause.culprit.clone()),
            headline: diagnosis.headline.clone(),
            group_id: problem.signature.id(),
            frames: problem.signature.frames.join(" > "),
            cause: problem.cause,
            state,
            message: message.unwrap_or_default(),
            age_ms: age_ns.map(ms),
            cpu_ms: cpu_ns.map(ms),
            history_ms: recorded.then(|| ms(a.history_span_ns())),
            history_messages: recorded
                .then(|| work.fold(0_i64, |sum, r| sum.saturating_add(i64::from(r.count)))),
            history_work_ms: recorded.then(|| sum(|r| r.work_ns)),
            history_idle_ms: recorded.then(|| sum(|r| r.idle_ns)),
            slowest_ms: a.history.iter().filter_map(|r| Some(r.slowest?.wall_ns)).max().map(ms),
            late_ms: a.history.iter().filter_map(|r| r.checktime_late_ns).max().map(ms),
            pending: a.queue.entries_in_all().map(i64::from),
            overdue_ms: overdue_ms(&a.queue),
            samples: a.trees.iter().map(|tree| i64::from(tree.samples())).sum(),
            statistics: object(a.statistics.iter().map(|f| (f.name.as_str(), f.value.as_str()))),
            annotations: object(
                a.meta.annotations.iter().map(|(name, value)| (name.as_str(), value.as_str())),
            ),
            app_version_code: version_code(&process.app_version),
            anr: a.anr.verdict.name(),
            exit_reason: a.anr.exit.as_ref().map(exit_reason).unwrap_or_default(),
            exit_description: a.anr.exit.as_ref().map(|exit| exit.description.clone()).unwrap_or_default(),
            report_id: a.identity.report_id.clone(),
            // A trace that names no process has 0.
            pid: (process.pid != 0).then(|| process.pid.into()),
            recorder: a.meta.producer.clone(),
            mapping_id: a.identity.mapping_id.clone(),
        }
    }
}

/// How long the oldest message had been due when the queue was read; `None` without a message, or when that
/// is not known.
fn overdue_ms(queue: &PendingQueue) -> Option<f64> {
    match queue.longest_overdue(queue.captured_ns) {
        Overdue::By(ns) => Some(ms(ns)),
        Overdue::None => queue.messages().next().map(|_| 0.0),
        Overdue::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Table, documented, written};
    use super::*;
    use crate::diagnose::diagnose;
    use crate::test_support::{OUTSIDE, ReportBuilder};
    use bytes::Bytes;
    use loopbox_format::model::{AnrVerdict, DumpReason, ProcessExit, Report};
    use loopbox_format::report::Decoded;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use std::collections::BTreeMap;

    fn table(rows: &[ReportRow]) -> SerializedFileReader<Bytes> {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out).unwrap();
        rows.chunks(2).for_each(|rows| table.write(rows).unwrap());
        table.finish().unwrap();
        SerializedFileReader::new(Bytes::from(out)).unwrap()
    }

    #[test]
    fn table_rows_are_read_back() {
        let report = ReportBuilder::new()
            .group(40, 310, 20)
            .running(43, 5_000)
            .doing("a.H", "", 4_000)
            .tree(43, &[("a.A.a", 500)])
            .pending("Message 0: { when=-5s21ms what=3 target=a.H }")
            .pending("(Total messages: 1, polling=false, quitting=false)")
            .statistic("threads", "31")
            .with(|r| {
                r.meta.process.app_version = "5.10.0 (51000)".into();
                r.anr.verdict = AnrVerdict::Confirmed;
                r.anr.exit =
                    Some(ProcessExit { reason: ProcessExit::ANR, description: "bg anr".into(), unix_ms: 1 });
            });
        let row = |decoded: &Decoded, path: &str| {
            let analysis = Analysis::new(decoded);
            ReportRow::new(&analysis, &diagnose(&analysis), path)
        };
        let whole = row(&report.build(), "one.lbx");
        let empty = Decoded { report: Report::default(), damage: Vec::new() };
        let empty = row(&empty, "two.lbx");
        let reader = table(&[whole, empty.clone(), empty]);
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let schema = metadata.iter().find(|entry| entry.key == "loopbox.schema").unwrap();
        assert_eq!(schema.value.as_deref(), Some("loopbox.table/1"));
        let rows: Vec<BTreeMap<String, String>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                row.unwrap()
                    .get_column_iter()
                    .map(|(name, value)| (name.clone(), value.to_string()))
                    .collect()
            })
            .collect();
        assert_eq!(rows.len(), 3);
        let shown = |row: usize, names: [&str; 4]| names.map(|name| rows[row][name].clone());
        assert_eq!(
            shown(0, ["path", "age_ms", "cpu_ms", "user"]),
            ["\"one.lbx\"", "5000.0", "4000.0", "\"7f3a\""]
        );
        assert_eq!(
            shown(0, ["history_messages", "pending", "overdue_ms", "samples"]),
            ["40", "1", "5021.0", "500"]
        );
        assert_eq!(
            shown(0, ["app_version_code", "anr", "exit_reason", "exit_description"]),
            ["51000", "\"confirmed\"", "\"ANR\"", "\"bg anr\""]
        );
        assert_eq!(
            shown(1, ["app_version_code", "anr", "exit_reason", "exit_description"]),
            ["null", "\"unknown\"", "null", "null"]
        );
        assert_eq!(rows[0]["statistics"], r#""{"threads":"31"}""#);
        assert_eq!(
            shown(1, ["app_version", "age_ms", "dumped_at", "state"]),
            ["null", "null", "null", "\"unknown\""]
        );
    }

    #[test]
    fn what_a_system_trace_alone_does_not_have_is_null() {
        let mut a = Analysis::new(&ReportBuilder::new().idle(3_000).build());
        let diagnosis = diagnose(&a);
        let row = ReportRow::new(&a, &diagnosis, "a.lbx");
        assert!(row.history_ms.is_some() && row.history_idle_ms == Some(3_000.0) && row.api_level.is_some());
        a.meta.process.api_level = 0;
        a.meta.reason = DumpReason::SystemTrace;
        let row = ReportRow::new(&a, &diagnosis, "anr.txt");
        assert_eq!(
            (row.api_level, row.history_ms, row.history_idle_ms, row.slowest_ms),
            (None, None, None, None)
        );
    }

    #[test]
    fn what_ran_outside_of_messages_has_a_state_and_an_age() {
        let stack = "android.os.MessageQueue.next com.shop.Trim.queueIdle";
        let report = ReportBuilder::new().outside(6_000, true).tree(OUTSIDE, &[(stack, 590)]).build();
        let analysis = Analysis::new(&report);
        let row = ReportRow::new(&analysis, &diagnose(&analysis), "r.lbx");
        assert_eq!((row.state, row.message.as_str()), ("outside", "an idle handler"));
        assert_eq!((row.age_ms, row.cpu_ms, row.cause.as_str()), (Some(6_000.0), Some(5_700.0), "outside"));
    }

    /// Compares the names, the order and the types of the columns.
    #[test]
    fn columns_are_those_of_the_documentation() {
        let docs = include_str!("../../../../../docs/parquet.md");
        assert_eq!(documented(docs, "Columns"), written::<ReportRow>());
    }
}
