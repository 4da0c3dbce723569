//! Report files: writing, rewriting their evidence, deleting old ones.

use super::digest::{self, FileState};
use super::lifecycle::ReportFile;
use crate::error::WriteError;
use crate::session::Session;
use crate::sys::{descriptors, log};
use loopbox_format::model::{Anr, Report};
use loopbox_format::report::{Evidence, encode, update_evidence};
use loopbox_recorder::classify;
use loopbox_store::{Outlives, ReportPolicy, create_directory, enforce, replace_report, write_report};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Writes a report under this name, and replaces an earlier one of that name.
pub(super) fn write(session: &Session, name: &str, report: &Report, outlives: Outlives) -> Option<PathBuf> {
    let directory = &session.settings.directory;
    // The app may have deleted the directory; the ring is gone then, this report need not be.
    if let Some(_inside) = session.gate.enter() {
        let _ = create_directory(directory);
    }
    let written = encode(report).map_err(WriteError::from).and_then(|bytes| {
        let write = || write_report(directory, name, &bytes, outlives, || session.gate.enter());
        Ok(descriptors::open(write)?)
    });
    let warn = |error: &WriteError| {
        if session.gate.is_closed() {
            return;
        }
        log::failed("a report could not be written to ", directory.as_os_str().as_bytes(), error);
    };
    written.inspect_err(warn).ok()
}

/// Writes a report again, over its file. When the app has taken the file away, nothing is written: the app
/// keeps the earlier version.
pub(super) fn write_again(session: &Session, file: &ReportFile, report: &Report, outlives: Outlives) {
    if let Ok(bytes) = encode(report) {
        replace(session, file, &bytes, outlives);
    }
}

/// Changes the evidence in a file, and the information on what may still be added. False when the file is
/// gone or cannot be written.
pub(super) fn rewrite(
    session: &Session,
    file: &ReportFile,
    state: FileState,
    change: &mut dyn FnMut(&mut Evidence),
) -> bool {
    let Ok(bytes) = descriptors::open(|| fs::read(&file.path)) else { return false };
    let updated = update_evidence(&bytes, change, |lines, known| digest::update(lines, known, state));
    let Ok(Some(bytes)) = updated else { return false };
    // The complete report was flushed; what is added to it is not worth another wait.
    replace(session, file, &bytes, Outlives::Process)
}

/// Replaces the evidence in a hang's file by the newer evidence of `report`, a report of the same hang. The
/// file already has the queue. False when the file is gone or cannot be written.
pub(super) fn put_evidence(session: &Session, file: &ReportFile, report: &Report) -> bool {
    rewrite(session, file, FileState::Open, &mut |known| {
        let overdue_ns = known.anr.overdue_ns;
        known.anr = Anr { overdue_ns, ..report.anr.clone() };
        known.anr.verdict = classify(&known.anr);
        known.warnings.clone_from(&report.anr_warnings);
    })
}

fn replace(session: &Session, file: &ReportFile, bytes: &[u8], outlives: Outlives) -> bool {
    let directory = &session.settings.directory;
    let write = || replace_report(directory, &file.name, bytes, outlives, || session.gate.enter());
    let written = descriptors::open(write);
    if let Err(error) = &written
        && error.raw_os_error() != Some(libc::ENOENT)
        && !session.gate.is_closed()
    {
        log::failed("a report could not be written again", b"", &error);
    }
    written.is_ok()
}

/// Deletes old reports.
pub(super) fn delete_old(session: &Session, newest: &Path) {
    let Some(_inside) = session.gate.enter() else { return };
    let directory = &session.settings.directory;
    if let Err(error) = descriptors::open(|| enforce(directory, &ReportPolicy::default(), Some(newest))) {
        log::failed("old reports could not be deleted from ", directory.as_os_str().as_bytes(), &error);
    }
}
