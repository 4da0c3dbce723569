//! Downloads files of archives, and continues interrupted downloads.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::amount;
use super::archive::{Archive, Remote, reason};
use crate::command::run;
use crate::files::{remove, sha256_file};
use crate::progress::Progress;

/// apt's own downloader. `apt-get download` starts again from the beginning when a part of the file exists;
/// this one requests only the rest, if the file on the server is unchanged. Both use the machine's proxies
/// and check the hash.
const HELPER: &str = "/usr/lib/apt/apt-helper";

/// The time between two lines of progress.
const REPORT_EACH: Duration = Duration::from_secs(5);

/// Downloads all missing files into `folder`, which may contain parts from an interrupted download. A file is
/// only complete when its hash is right.
///
/// # Errors
/// When a file cannot be downloaded: one line with the reason. Other files may be complete then.
pub fn download(archive: &Archive, files: &[Remote], folder: &Path, progress: &Progress) -> Result<()> {
    let mut missing = Vec::new();
    for file in files {
        if !is_whole(file, folder)? {
            missing.push(file);
        }
    }
    let first = fetch(archive, &missing, folder, progress);
    // Of a part that does not belong to the file apt makes `<name>.FAILED`: such files are downloaded from
    // the start.
    let mut spoilt = Vec::new();
    for file in missing {
        let failed = folder.join(format!("{}.FAILED", file.name));
        if failed.exists() {
            remove(&failed)?;
            spoilt.push(file);
        }
    }
    if spoilt.is_empty() { first } else { fetch(archive, &spoilt, folder, progress) }
}

fn is_whole(file: &Remote, folder: &Path) -> Result<bool> {
    let path = folder.join(&file.name);
    match fs::metadata(&path) {
        Ok(about) if about.len() == file.size => Ok(sha256_file(&path)? == file.sha256),
        Ok(about) if about.len() > file.size => remove(&path).map(|()| false),
        _ => Ok(false),
    }
}

fn fetch(archive: &Archive, files: &[&Remote], folder: &Path, progress: &Progress) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let mut helper = archive.command(HELPER);
    helper.args(["-q", "download-file"]).current_dir(folder);
    for file in files {
        helper.arg(&file.uri).arg(folder.join(&file.name)).arg(format!("SHA256:{}", file.sha256));
    }
    let (stop, stopped) = channel::<()>();
    let result = thread::scope(|scope| {
        scope.spawn(move || report(files, folder, progress, &stopped));
        let result = run(&mut helper);
        drop(stop);
        result
    });
    result.map(drop).map_err(|error| anyhow!(reason(&format!("{error:#}"))))
}

/// Reports every few seconds how much has been downloaded, until the other end of `stopped` is closed.
fn report(files: &[&Remote], folder: &Path, progress: &Progress, stopped: &std::sync::mpsc::Receiver<()>) {
    let total = files.iter().map(|file| file.size).sum();
    let there = || {
        let sizes =
            files.iter().map(|file| fs::metadata(folder.join(&file.name)).map_or(0, |about| about.len()));
        sizes.sum()
    };
    let (start, before) = (Instant::now(), there());
    while stopped.recv_timeout(REPORT_EACH) == Err(RecvTimeoutError::Timeout) {
        progress.say(amount::reached(there(), total, start.elapsed(), before));
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_archive::TestArchive;
    use super::*;

    struct Case {
        test: TestArchive,
        archive: Archive,
        file: Remote,
        folder: tempfile::TempDir,
    }

    impl Case {
        fn new() -> Self {
            let test = TestArchive::new();
            let archive = test.open().unwrap();
            let file = archive.packages(&["loopbox-test"]).unwrap().remove(0);
            test.forget_requests();
            Self { test, archive, file, folder: tempfile::tempdir().unwrap() }
        }

        /// Puts a file where the download will be, with the time of the file on the server.
        fn put(&self, content: &[u8]) {
            let path = self.folder.path().join(&self.file.name);
            fs::write(&path, content).unwrap();
            fs::File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_modified(TestArchive::modified())
                .unwrap();
        }

        fn download(&self) -> Result<()> {
            let progress = Progress::new("test");
            download(&self.archive, std::slice::from_ref(&self.file), self.folder.path(), &progress)
        }

        /// Expects the whole file, and nothing next to it.
        fn expect_whole(&self) {
            assert_eq!(fs::read(self.folder.path().join(&self.file.name)).unwrap(), self.test.content());
            assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn an_interrupted_download_goes_on_where_it_ended() {
        let case = Case::new();
        let cut = case.test.content().len() / 3;
        case.put(&case.test.content()[..cut]);
        case.download().unwrap();
        case.expect_whole();
        assert_eq!(case.test.ranges(), [Some(cut as u64)], "only the rest was asked for");
    }

    #[test]
    fn a_connection_that_ends_early_is_no_whole_file() {
        let case = Case::new();
        case.test.cut_answers(u32::MAX, 100_000);
        case.download().unwrap_err();
        let there = fs::metadata(case.folder.path().join(&case.file.name)).map_or(0, |about| about.len());
        assert!(there < case.file.size, "{there}");
        case.test.cut_answers(0, 0);
        case.test.forget_requests();
        case.download().unwrap();
        case.expect_whole();
    }

    #[test]
    fn a_part_of_something_else_is_thrown_away() {
        let case = Case::new();
        case.put(&vec![0; 500_000]);
        case.download().unwrap();
        case.expect_whole();
        assert_eq!(case.test.ranges(), [Some(500_000), None], "the rest first, then all of it");
    }

    #[test]
    fn a_damaged_whole_file_and_one_that_is_too_long_are_downloaded_again() {
        let case = Case::new();
        let size = case.test.content().len();
        for wrong in [vec![0; size], vec![0; size + 1]] {
            case.put(&wrong);
            case.download().unwrap();
            case.expect_whole();
        }
    }

    #[test]
    fn what_is_there_is_not_asked_for() {
        let case = Case::new();
        case.put(case.test.content());
        case.download().unwrap();
        case.expect_whole();
        assert!(case.test.ranges().is_empty());
    }
}
