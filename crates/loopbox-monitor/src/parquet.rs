//! One stall as a row of a table, for SQL engines: the same form as the tables of reports
//! (`docs/parquet.md`).

use crate::line::{Base, DisplayFrames, Sample, Stall};
use crate::summary::{Phases, average};
use loopbox_report::Analysis;
use loopbox_report::cluster::Problem;
use loopbox_report::diagnose::Diagnosis;
use loopbox_report::export::parquet::Column::{self, Integer, Json, Real, Text, Time};
use loopbox_report::export::parquet::Row;

/// One stall.
#[derive(Debug, Clone)]
pub struct StallRow {
    path: String,
    stall: Stall,
    base: Base,
    app_version_code: Option<i64>,
    cause: String,
    culprit: Option<String>,
    group_id: String,
    frames: String,
    proc_cpu: [Option<f64>; 3],
    sys_cpu: [Option<f64>; 3],
    free_mb: Option<i64>,
    rss_mb: Option<i64>,
    own: String,
}

impl Row for StallRow {
    const SCHEMA: &'static str = "loopbox.stalls/1";
    const NAME: &'static str = "stall";
    const COLUMNS: &'static [(&'static str, Column<Self>)] = &[
        ("path", Text(|r| &r.path)),
        ("began_at", Time(|r| r.stall.began_ms().and_then(|ms| ms.try_into().ok()))),
        ("local_day", Text(|r| r.stall.day())),
        ("process", Text(|r| known(r.base.process.as_ref()))),
        ("pid", Integer(|r| Some(r.stall.pid))),
        ("app_version", Text(|r| known(r.base.app.as_ref()))),
        ("app_version_code", Integer(|r| r.app_version_code)),
        ("device", Text(|r| known(r.base.device.as_ref()))),
        ("api_level", Integer(|r| Some(r.base.api.into()).filter(|api| *api > 0))),
        ("user", Text(|r| known(r.base.user.as_ref()))),
        ("level", Integer(|r| Some(r.stall.level.into()))),
        ("wall_ms", Real(|r| Some(r.stall.wall_ms))),
        ("cpu_ms", Real(|r| r.stall.cpu_ms)),
        ("wait_ms", Real(|r| r.stall.wait_ms)),
        ("message", Text(|r| &r.stall.message)),
        ("screen", Text(|r| &r.stall.scene)),
        ("cause", Text(|r| &r.cause)),
        ("culprit", Text(|r| known(r.culprit.as_ref()))),
        ("group_id", Text(|r| &r.group_id)),
        ("frames", Text(|r| &r.frames)),
        ("dropped", Integer(|r| r.stall.dropped_frames().and_then(|frames| frames.try_into().ok()))),
        ("screen_frames", Integer(|r| r.frames().and_then(|f| f.scene_frames.try_into().ok()))),
        ("screen_fps", Real(|r| r.frames().and_then(|frames| frames.scene_fps))),
        ("screen_hitch_ms_per_s", Real(|r| r.frames().and_then(|frames| frames.scene_hitch_ms_per_s))),
        ("samples", Integer(|r| Some(r.stall.stack_samples.into()))),
        ("proc_cpu_before", Real(|r| r.proc_cpu[0])),
        ("proc_cpu_during", Real(|r| r.proc_cpu[1])),
        ("proc_cpu_after", Real(|r| r.proc_cpu[2])),
        ("sys_cpu_before", Real(|r| r.sys_cpu[0])),
        ("sys_cpu_during", Real(|r| r.sys_cpu[1])),
        ("sys_cpu_after", Real(|r| r.sys_cpu[2])),
        ("free_mb", Integer(|r| r.free_mb)),
        ("rss_mb", Integer(|r| r.rss_mb)),
        ("own_samples", Json(|r| &r.own)),
    ];
}

fn known(text: Option<&String>) -> &str {
    text.map_or("", String::as_str)
}

impl StallRow {
    fn frames(&self) -> Option<&DisplayFrames> {
        self.stall.display_frames.as_ref()
    }

    /// The row of a stall, made from its report ([`crate::as_report`]) and that report's diagnosis. `path` is
    /// the file's name in the table.
    pub fn new(stall: &Stall, base: &Base, a: &Analysis, diagnosis: &Diagnosis, path: &str) -> Self {
        let problem = Problem::new(a, diagnosis);
        let phases = Phases::of(stall);
        let averages =
            |field: fn(&Sample) -> Option<f64>| phases.each().map(|samples| average(samples, field));
        // The last one says how much was left when it was over.
        let last = |field: fn(&Sample) -> Option<u64>| -> Option<i64> {
            stall.samples.iter().rev().find_map(field).and_then(|value| value.try_into().ok())
        };
        let own = stall.samples.iter().rev().find(|sample| !sample.x.is_empty());
        Self {
            path: path.to_owned(),
            app_version_code: loopbox_report::version_code(known(base.app.as_ref())),
            group_id: problem.signature.id(),
            frames: problem.signature.frames.join(" > "),
            cause: problem.cause,
            culprit: diagnosis.causes.first().and_then(|cause| cause.culprit.clone()),
            proc_cpu: averages(|sample| sample.proc_cpu),
            sys_cpu: averages(|sample| sample.sys_cpu),
            free_mb: last(|sample| sample.free_mb),
            rss_mb: last(|sample| sample.rss_mb),
            own: own.and_then(|sample| serde_json::to_string(&sample.x).ok()).unwrap_or_default(),
            stall: stall.clone(),
            base: base.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_report::export::parquet::{documented, written};

    #[test]
    fn columns_are_those_of_the_documentation() {
        let docs = include_str!("../../../docs/parquet.md");
        assert_eq!(documented(docs, "Stalls"), written::<StallRow>());
    }
}
