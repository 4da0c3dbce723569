//! The reports that a run left, in words.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use lab_launch::reports;
use loopbox_format::model::{DumpReason, MainState, Report};
use loopbox_format::report::{Decoded, decode};
use loopbox_report::Analysis;
use loopbox_report::diagnose::diagnose;

/// One paragraph for each report of `folder`, oldest first; `shown` is the folder's path as it is printed.
///
/// # Errors
/// When the folder or a file cannot be read.
pub(super) fn listed(folder: &Path, shown: &Path) -> Result<String> {
    let files = reports(folder)?;
    if files.is_empty() {
        return Ok(format!("no report in {} (java.io.tmpdir)\n", shown.display()));
    }
    let mut text = String::new();
    for file in files {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let path = shown.join(file.file_name().context("a report without a name")?);
        let _ = writeln!(text, "{}", path.display());
        match decode(&bytes) {
            Ok(decoded) => text.push_str(&of(&decoded)),
            Err(error) => {
                let _ = writeln!(text, "  damaged: {error}");
            }
        }
    }
    text.push_str("cargo run -p loopbox-cli -- show FILE shows one\n");
    Ok(text)
}

fn of(decoded: &Decoded) -> String {
    let diagnosis = diagnose(&Analysis::new(decoded));
    let sure =
        diagnosis.confidence.map_or(String::new(), |sure| format!(" ({sure:?} confidence)").to_lowercase());
    format!("  reason:  {}\n  verdict: {}{sure}\n", reason(&decoded.report), diagnosis.headline)
}

fn reason(report: &Report) -> String {
    match &report.meta.reason {
        DumpReason::Requested(words) if words.is_empty() => "the app asked for it".into(),
        DumpReason::Requested(words) => format!("the app asked for it: {words}"),
        DumpReason::SigQuit => "SIGQUIT".into(),
        DumpReason::Hang if matches!(report.main, MainState::Idle { .. } | MainState::Unknown) => {
            "main slept while messages were due".into()
        }
        DumpReason::Hang => "a message took too long".into(),
        DumpReason::Recovered { crash_signal: None } => "an earlier process was killed".into(),
        DumpReason::Recovered { crash_signal: Some(signal) } => {
            format!("an earlier process crashed with signal {signal}")
        }
        _ => "unknown to this version".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_reports_and_a_damaged_report_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let shown = Path::new("target/run/1");
        assert_eq!(listed(folder.path(), shown).unwrap(), "no report in target/run/1 (java.io.tmpdir)\n");
        fs::write(folder.path().join("a.lbx"), "not a report").unwrap();
        let text = listed(folder.path(), shown).unwrap();
        assert!(text.starts_with("target/run/1/a.lbx\n  damaged: "), "{text}");
    }
}
