//! Handles a blown fuse. A process that ended in the middle of something dangerous keeps the sampler off for
//! the next starts of the same process. The more often that happens, the longer it stays off, until the app
//! or the system's libart changes.

use crate::identity::BuildId;
use loopbox_format::container::crc32;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const MAGIC: [u8; 4] = *b"LBSO";
const ENDING: &str = ".off";
/// For how many starts the sampler is off when the fuse has blown once, twice, and three times or more.
pub const STARTS_OFF: [u8; 3] = [5, 25, 125];
/// The fuse blows at the second [`Suspicion::Strike`] if fewer than this many starts of the process are
/// between it and the first.
pub const STRIKE_STARTS: u8 = 20;
const LEN: usize = 4 + 4 + 4 + 32;

/// How much the end of a process in a dangerous phase counts against the sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspicion {
    /// The end may be chance: the system kills apps all the time.
    Strike,
    /// The sampler ended the process, or blocked the main thread.
    Certain,
}

/// What the fuse belongs to: a process of the app, in this version, with this libart. A new version of the
/// app or another libart begins with an intact fuse.
#[derive(Debug, Clone, Copy)]
pub struct FuseSubject<'a> {
    /// The process's name, `package` or `package:name`.
    pub process: &'a str,
    /// The app's version, as it names itself; may be empty.
    pub app_version: &'a str,
    /// The build id of ART's library.
    pub libart: BuildId,
}

/// Why the sampler is off at this start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlownFuse {
    /// The phase in which the process ended, by the sampler's own numbers.
    pub phase: u8,
    /// For how many more starts the sampler is off, after this one.
    pub starts_left: u8,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    phase: u8,
    starts_left: u8,
    /// How often the fuse has blown.
    blown: u8,
    /// How many starts ago a strike was recorded, plus 1; 0 for none.
    strike_age: u8,
}

/// Records in `dir` that a process ended in the middle of something dangerous. Any process of the app may
/// detect that. If the earlier record cannot be read, or the new one cannot be written, the new one is lost
/// and the earlier one stays.
pub fn suspect(dir: &Path, subject: &FuseSubject<'_>, phase: u8, suspicion: Suspicion) {
    let Ok(known) = read(dir, subject) else { return };
    let mut state = known.unwrap_or_default();
    if suspicion == Suspicion::Strike && state.strike_age == 0 {
        state.strike_age = 1;
    } else {
        let step = usize::from(state.blown).min(STARTS_OFF.len() - 1);
        let starts_left = STARTS_OFF.get(step).copied().unwrap_or(u8::MAX);
        state = State { phase, starts_left, blown: state.blown.saturating_add(1), strike_age: 0 };
    }
    write(dir, subject, state);
}

/// Counts this start of the process in `dir`. Returns why the sampler is off at this start; `None` when it is
/// on.
///
/// # Errors
/// When the record cannot be read. It stays, and whether the fuse is blown is not known.
pub fn count_start(dir: &Path, subject: &FuseSubject<'_>) -> io::Result<Option<BlownFuse>> {
    let Some(known) = read(dir, subject)? else {
        // Of another version, or not ours at all.
        let _ = fs::remove_file(path(dir, subject.process));
        return Ok(None);
    };
    let mut state = known;
    if state.strike_age > 0 {
        state.strike_age = if state.strike_age < STRIKE_STARTS { state.strike_age + 1 } else { 0 };
    }
    let off = state.starts_left > 0;
    state.starts_left = state.starts_left.saturating_sub(1);
    if state != known {
        write(dir, subject, state);
    }
    Ok(off.then_some(BlownFuse { phase: state.phase, starts_left: state.starts_left }))
}

/// The file for `process`. Its name has the first 64 characters of the process's name, with `_` for those
/// that are unsafe in a file name, and a checksum of the whole name.
fn path(dir: &Path, process: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let readable: String = process.chars().take(64).map(plain).collect();
    dir.join(format!("sampler-{readable}-{:08x}{ENDING}", crc32(process.as_bytes())))
}

/// Writes over the earlier record, which stays where the disk has no room for another one.
fn write(dir: &Path, subject: &FuseSubject<'_>, State { phase, starts_left, blown, strike_age }: State) {
    let app = crc32(subject.app_version.as_bytes()).to_le_bytes();
    let raw = subject.libart.to_raw();
    let bytes = [&MAGIC[..], &[phase, starts_left, blown, strike_age], &app, &raw].concat();
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path(dir, subject.process));
    if let Ok(mut file) = file
        && file.write_all(&bytes).is_ok()
    {
        // What is not ours may be longer.
        let _ = file.set_len(LEN as u64);
    }
}

fn read(dir: &Path, subject: &FuseSubject<'_>) -> io::Result<Option<State>> {
    match fs::read(path(dir, subject.process)) {
        Ok(bytes) => Ok(decode(bytes, subject)),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The state that a record of this subject has.
fn decode(record: Vec<u8>, subject: &FuseSubject<'_>) -> Option<State> {
    let bytes: [u8; LEN] = record.try_into().ok()?;
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (&[phase, starts_left, blown, strike_age], rest) = rest.split_first_chunk::<4>()?;
    let (app, libart) = rest.split_first_chunk::<4>()?;
    let same = *magic == MAGIC
        && *app == crc32(subject.app_version.as_bytes()).to_le_bytes()
        && libart == subject.libart.to_raw();
    same.then_some(State { phase, starts_left, blown, strike_age })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use Suspicion::{Certain, Strike};
    use lab_seccomp::while_refused;

    fn subject(process: &str) -> FuseSubject<'_> {
        FuseSubject { process, app_version: "5.2", libart: BuildId::new(b"art") }
    }

    /// For how many starts the sampler is off from now on.
    fn starts_off(dir: &Path, subject: &FuseSubject<'_>) -> usize {
        (0..1_000).take_while(|_| count_start(dir, subject).unwrap().is_some()).count()
    }

    #[test]
    fn a_blown_fuse_keeps_the_sampler_off_the_longer_the_more_often_it_blows() {
        let dir = tempfile::tempdir().unwrap();
        let app = subject("com.shop");
        assert_eq!(count_start(dir.path(), &app).unwrap(), None, "nothing happened");
        for starts in [5, 25, 125, 125] {
            suspect(dir.path(), &app, 3, Certain);
            let first = BlownFuse { phase: 3, starts_left: starts - 1 };
            assert_eq!(count_start(dir.path(), &app).unwrap(), Some(first));
            assert_eq!(starts_off(dir.path(), &app), usize::from(starts) - 1);
        }
    }

    #[test]
    fn two_strikes_within_twenty_starts_blow_it() {
        let dir = tempfile::tempdir().unwrap();
        let app = subject("com.shop");
        suspect(dir.path(), &app, 3, Strike);
        for _ in 1..STRIKE_STARTS {
            assert_eq!(count_start(dir.path(), &app).unwrap(), None, "one is chance");
        }
        suspect(dir.path(), &app, 4, Strike);
        assert_eq!(count_start(dir.path(), &app).unwrap(), Some(BlownFuse { phase: 4, starts_left: 4 }));
        assert_eq!(starts_off(dir.path(), &app), 4);

        suspect(dir.path(), &app, 3, Strike);
        for _ in 0..STRIKE_STARTS {
            assert_eq!(count_start(dir.path(), &app).unwrap(), None);
        }
        suspect(dir.path(), &app, 3, Strike);
        assert_eq!(count_start(dir.path(), &app).unwrap(), None, "the first is forgotten");
    }

    #[test]
    fn each_process_has_a_separate_fuse_whichever_process_finds_it() {
        let dir = tempfile::tempdir().unwrap();
        let long = "com.shop:".repeat(40);
        suspect(dir.path(), &subject("com.shop:push"), 3, Certain);
        suspect(dir.path(), &subject(&long), 3, Certain);
        assert_eq!(count_start(dir.path(), &subject("com.shop")).unwrap(), None);
        assert_eq!(count_start(dir.path(), &subject("com.shop_push")).unwrap(), None);
        assert!(count_start(dir.path(), &subject("com.shop:push")).unwrap().is_some());
        assert!(count_start(dir.path(), &subject(&long)).unwrap().is_some());
    }

    #[test]
    fn another_libart_or_another_app_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let app = subject("com.shop");
        let newer = FuseSubject { app_version: "5.3", ..app };
        let updated = FuseSubject { libart: BuildId::new(b"newer"), ..app };
        for other in [newer, updated] {
            suspect(dir.path(), &app, 2, Certain);
            assert!(count_start(dir.path(), &app).unwrap().is_some());
            assert_eq!(count_start(dir.path(), &other).unwrap(), None);
            assert_eq!(count_start(dir.path(), &app).unwrap(), None, "and forgot");
        }
    }

    #[test]
    fn a_file_that_says_something_else_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let app = subject("com.shop");
        for bytes in [&b""[..], b"LBS", &[0xFF; LEN], &[0xFF; 4000]] {
            fs::write(path(dir.path(), app.process), bytes).unwrap();
            assert_eq!(count_start(dir.path(), &app).unwrap(), None);
            assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
        }
    }

    #[test]
    fn a_record_that_cannot_be_read_is_unknown_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let app = subject("com.shop");
        suspect(dir.path(), &app, 3, Certain);
        let unread = while_refused(&[libc::SYS_read], libc::EIO, || {
            suspect(dir.path(), &app, 4, Strike);
            count_start(dir.path(), &app)
        });
        assert_eq!(unread.unwrap_err().raw_os_error(), Some(libc::EIO));
        assert_eq!(count_start(dir.path(), &app).unwrap(), Some(BlownFuse { phase: 3, starts_left: 4 }));
    }

    #[test]
    fn a_full_disk_leaves_the_earlier_record() {
        let dir = tempfile::tempdir().unwrap();
        let app = subject("com.shop");
        suspect(dir.path(), &app, 3, Certain);
        let first = Some(BlownFuse { phase: 3, starts_left: 4 });
        while_refused(&[libc::SYS_write], libc::ENOSPC, || {
            suspect(dir.path(), &app, 4, Certain);
            assert_eq!(count_start(dir.path(), &app).unwrap(), first);
        });
        assert_eq!(count_start(dir.path(), &app).unwrap(), first, "that start could not be counted");
    }

    #[test]
    fn a_record_replaces_a_longer_file_that_says_something_else() {
        let dir = tempfile::tempdir().unwrap();
        let app = subject("com.shop");
        fs::write(path(dir.path(), app.process), [0xFF; 4000]).unwrap();
        suspect(dir.path(), &app, 3, Certain);
        assert_eq!(starts_off(dir.path(), &app), 5);
    }

    #[test]
    fn a_directory_that_cannot_be_written_does_no_harm() {
        let nowhere = Path::new("/proc/self/nowhere");
        suspect(nowhere, &subject("com.shop"), 3, Certain);
        assert_eq!(count_start(nowhere, &subject("com.shop")).unwrap(), None);
    }
}
