//! SIGQUIT, as the system sends it at an ANR: a report is written, and the runtime's own thread gets the
//! signal afterwards.

use anyhow::{Context, Result, ensure};
use lab_reports::{feature, read};
use loopbox_format::model::{DumpReason, Feature};

use crate::stage::Stage;

const SCENARIO: &str = "sigquit";

/// The results of the scenario.
#[derive(Debug)]
pub(crate) struct SigQuit {
    /// The detail of the report's SIGQUIT feature, which says how the handler works.
    pub(crate) how: String,
}

pub(crate) fn play(stage: &Stage<'_>) -> Result<SigQuit> {
    let dir = format!("dir={}", stage.phone.folder_of(SCENARIO));
    let app = stage.phone.start(SCENARIO, "scenario.Forwarded", &["mode=plain".into(), dir])?;
    let said = app.finish()?;
    ensure!(said.iter().any(|line| line == "SCRIPT forwarded"), "the signal was not handed on: {said:?}");
    let mut reports =
        stage.reports(SCENARIO)?.into_iter().map(|file| read(&file)).collect::<Result<Vec<_>>>()?;
    reports.retain(|report| report.meta.reason == DumpReason::SigQuit);
    let report = reports.first().context("no report is of the signal")?;
    let (on, how) = feature(report, Feature::SigQuit);
    ensure!(on, "the handler is off: {how}");
    Ok(SigQuit { how: how.to_owned() })
}
