//! Reports on disk: each complete or missing, and with limits on their number and size.

use crate::files::file_age::Clock;
use crate::memory::may_grow_to;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a report's name ends in.
const EXTENSION: &str = ".lbx";
/// The end of a report's name until the file is complete.
const UNFINISHED: &str = ".lbx.new";
/// A report that is still unfinished at this age is abandoned: its writer has ended.
const UNFINISHED_AGE: Duration = Duration::from_mins(10);

/// The part of a report's name that marks a report that the app requested. Such a report is deleted before
/// those of hangs and ANRs.
pub const REQUESTED: &str = "-requested-";

/// How much space reports may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportPolicy {
    /// How many reports are kept.
    pub max_files: usize,
    /// How many bytes all reports may have together.
    pub max_bytes: u64,
    /// How old a report may become, by its file time. A report with an impossible time, because the phone's
    /// clock was wrong, does not count as old.
    pub max_age: Duration,
}

impl Default for ReportPolicy {
    fn default() -> Self {
        Self { max_files: 16, max_bytes: 8 << 20, max_age: Duration::from_hours(14 * 24) }
    }
}

/// What a report must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlives {
    /// The report must survive the end of the process, whatever the reason. For this it is enough that the
    /// kernel has the data: the writer does not wait until the data is on the disk.
    Process,
    /// A power loss as well: waits until the data is on the disk, which may take seconds.
    PowerLoss,
}

/// Writes `bytes` as `dir/name.lbx`. They are first written to a temporary file in the same directory, so
/// that a file of that name is always a complete report: after a power loss, too, with
/// [`Outlives::PowerLoss`]. A report of that name is replaced. The directory is never flushed: on f2fs that
/// would write everything that the whole file system has pending, and a power loss can only remove the name
/// of a report that was written moments before.
///
/// `enter` is called right before the file gets its name, and its result is dropped right after. If it
/// returns nothing, the file is given up.
///
/// # Errors
/// The system's error; nothing is left behind then. `InvalidInput` for a name that is not a plain file name,
/// `Interrupted` when `enter` returns nothing.
pub fn write_report<G>(
    dir: &Path,
    name: &str,
    bytes: &[u8],
    outlives: Outlives,
    enter: impl FnOnce() -> Option<G>,
) -> io::Result<PathBuf> {
    write_if(dir, name, bytes, outlives, |_| Ok(()), enter)
}

/// Writes `bytes` in place of the report of that name, as [`write_report`] does, unless the app has taken the
/// report. A report that the app has uploaded and deleted does not come back, even if that happens while this
/// function writes and flushes. Only a deletion between the last check and the rename goes unnoticed. The
/// kernel could prevent that: with `RENAME_EXCHANGE`, renameat2(2) replaces only an existing file. But bionic
/// has this call only since API 30, and a system call that is not allowed ends the app.
///
/// # Errors
/// `NotFound` when there is no report of that name any more, and those of [`write_report`]; nothing is left
/// behind then.
pub fn replace_report<G>(
    dir: &Path,
    name: &str,
    bytes: &[u8],
    outlives: Outlives,
    enter: impl FnOnce() -> Option<G>,
) -> io::Result<PathBuf> {
    write_if(dir, name, bytes, outlives, is_there, enter)
}

fn is_there(path: &Path) -> io::Result<()> {
    fs::symlink_metadata(path).map(drop)
}

/// Writes a report if `wanted` returns no error for its path. `wanted` is called twice: before anything is
/// written, and right before the file gets its name.
fn write_if<G>(
    dir: &Path,
    name: &str,
    bytes: &[u8],
    outlives: Outlives,
    wanted: impl Fn(&Path) -> io::Result<()>,
    enter: impl FnOnce() -> Option<G>,
) -> io::Result<PathBuf> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if !may_grow_to(bytes.len() as u64) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let path = dir.join(format!("{name}{EXTENSION}"));
    let unfinished = dir.join(format!("{name}.{}{UNFINISHED}", std::process::id()));
    wanted(&path)?;
    let written = write_new(&unfinished, bytes, outlives).and_then(|()| {
        let Some(_inside) = enter() else { return Err(io::ErrorKind::Interrupted.into()) };
        wanted(&path)?;
        fs::rename(&unfinished, &path)
    });
    if let Err(error) = written {
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    Ok(path)
}

fn write_new(path: &Path, bytes: &[u8], outlives: Outlives) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW);
    let mut file = match options.open(path) {
        // Of an earlier process with our pid.
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => {
            fs::remove_file(path)?;
            options.open(path)?
        }
        opened => opened?,
    };
    file.write_all(bytes)?;
    if outlives == Outlives::PowerLoss { file.sync_all() } else { Ok(()) }
}

/// Deletes the reports of `dir` that exceed `policy`. Reports that the app requested ([`REQUESTED`]) are
/// deleted before all others, and older reports before newer ones; so a requested report never displaces
/// another one. Also deletes the unfinished files of dead writers. `spare` is never deleted. Returns how many
/// files were deleted.
pub fn enforce(dir: &Path, policy: &ReportPolicy, spare: Option<&Path>) -> io::Result<usize> {
    let clock = Clock::now();
    let mut reports = Vec::new();
    let mut deleted = 0;
    for entry in fs::read_dir(dir)?.flatten() {
        let path = entry.path();
        let Ok(about) = entry.metadata() else { continue };
        let name = entry.file_name();
        // A time that is not known is one that cannot be.
        let at = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if !about.is_file() {
            continue;
        }
        if name.as_bytes().ends_with(UNFINISHED.as_bytes()) {
            clock.settle(&path, at);
            deleted += usize::from(clock.is_older(at, UNFINISHED_AGE) && fs::remove_file(&path).is_ok());
        } else if name.len() > EXTENSION.len() && name.as_bytes().ends_with(EXTENSION.as_bytes()) {
            clock.settle(&path, at);
            let is_spare = spare.is_some_and(|spare| spare.as_os_str() == path.as_os_str());
            let rank = (!has(name.as_bytes(), REQUESTED), is_spare, clock.order(at));
            let report = (rank, about.len(), path.into_os_string());
            // What is deleted first comes last.
            let place = reports.partition_point(|other| *other > report);
            reports.insert(place, report);
            // One more file than may stay: however many the directory has, no more are kept in order.
            if reports.len() > policy.max_files
                && let Some(((_, is_spare, _), _, path)) = reports.pop()
            {
                deleted += usize::from(!is_spare && fs::remove_file(&path).is_ok());
            }
        }
    }
    let mut bytes = 0;
    for ((_, is_spare, (_, at)), len, path) in reports {
        bytes += len;
        let too_much = bytes > policy.max_bytes || clock.is_older(at, policy.max_age);
        deleted += usize::from(too_much && !is_spare && fs::remove_file(&path).is_ok());
    }
    Ok(deleted)
}

fn has(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window == part.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_report_that_is_taken_while_it_is_written_again_does_not_come_back() {
        let dir = tempfile::tempdir().unwrap();
        write_report(dir.path(), "r", b"first", Outlives::Process, || Some(())).unwrap();
        let checks = Cell::new(0);
        let taken_meanwhile = |path: &Path| {
            checks.set(checks.get() + 1);
            if checks.get() == 2 {
                assert_eq!(fs::read_dir(dir.path())?.count(), 2, "the new one is written");
                fs::remove_file(path)?;
            }
            is_there(path)
        };
        let written = write_if(dir.path(), "r", b"second", Outlives::PowerLoss, taken_meanwhile, || Some(()));
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(
            (checks.get(), fs::read_dir(dir.path()).unwrap().count()),
            (2, 0),
            "checks, and files left"
        );
    }
}
