//! What becomes of a blown fuse: a process that ended in the middle of something dangerous keeps the sampler off for
//! the next starts, until enough of them went well, or until the system has another libart.

use crate::identity::BuildId;
use std::fs;
use std::path::Path;

const NAME: &str = "sampler.off";
const MAGIC: [u8; 4] = *b"LBSO";
/// How many starts the sampler stays off.
pub const CLEAN_STARTS: u8 = 5;
const LEN: usize = 4 + 2 + 32;

/// The sampler is off at this start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disarmed {
    /// In the middle of what the process ended, by the sampler's own numbers.
    pub phase: u8,
    /// How many more starts it is off.
    pub starts_left: u8,
}

/// Notes in `dir` what [`count_start`] is told as `blown`, for a process that finds it and may never sample itself.
pub fn disarm(dir: &Path, libart: BuildId, blown: &[(BuildId, u8)]) {
    if let Some(&(_, phase)) = blown.iter().find(|(id, _)| *id == libart) {
        write(dir, libart, Disarmed { phase, starts_left: CLEAN_STARTS });
    }
}

/// Counts this start of the app in `dir` and says whether the sampler is off.
///
/// `blown` has the build id of libart and the phase of each process that was found to have ended in the middle of
/// something dangerous. Only what happened with the libart of this process counts. What cannot be written is not
/// counted: then the sampler is off at the start that has found the blown fuse, and on at the next.
pub fn count_start(dir: &Path, libart: BuildId, blown: &[(BuildId, u8)]) -> Option<Disarmed> {
    let path = dir.join(NAME);
    let before = fs::read(&path).ok();
    let known = before.as_deref().and_then(|bytes| read(bytes, libart));
    let now = match blown.iter().find(|(id, _)| *id == libart) {
        Some(&(_, phase)) => Some(Disarmed { phase, starts_left: CLEAN_STARTS }),
        None => known.filter(|known| known.starts_left > 0),
    };
    if let Some(now) = now {
        let now = Disarmed { starts_left: now.starts_left.saturating_sub(1), ..now };
        write(dir, libart, now);
        return Some(now);
    }
    if before.is_some() {
        // Done with, of another libart, or not ours at all.
        let _ = fs::remove_file(&path);
    }
    None
}

fn write(dir: &Path, libart: BuildId, now: Disarmed) {
    let mut bytes = [0; LEN];
    let raw = libart.to_raw();
    let fields = MAGIC.iter().chain([&now.phase, &now.starts_left]).chain(&raw);
    bytes.iter_mut().zip(fields).for_each(|(to, from)| *to = *from);
    let _ = fs::write(dir.join(NAME), bytes);
}

fn read(bytes: &[u8], libart: BuildId) -> Option<Disarmed> {
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (&[phase, starts_left], id) = rest.split_first_chunk::<2>()?;
    (*magic == MAGIC && id == libart.to_raw()).then_some(Disarmed { phase, starts_left })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_blown_fuse_keeps_the_sampler_off_for_so_many_starts() {
        let dir = tempfile::tempdir().unwrap();
        let id = BuildId::new(b"art");
        let start = |blown: &[(BuildId, u8)]| count_start(dir.path(), id, blown);
        assert_eq!(start(&[]), None, "nothing happened");
        for left in (0..CLEAN_STARTS).rev() {
            let blown = [(id, 3)];
            let blown = if left == CLEAN_STARTS - 1 { &blown[..] } else { &[] };
            assert_eq!(start(blown), Some(Disarmed { phase: 3, starts_left: left }));
        }
        assert_eq!(start(&[]), None, "armed again");
        assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    }

    #[test]
    fn who_finds_it_need_not_be_who_samples() {
        let dir = tempfile::tempdir().unwrap();
        let (id, other) = (BuildId::new(b"art"), BuildId::new(b"other"));
        disarm(dir.path(), id, &[(other, 2)]);
        assert_eq!(count_start(dir.path(), id, &[]), None);
        disarm(dir.path(), id, &[(other, 2), (id, 3)]);
        let off = count_start(dir.path(), id, &[]);
        assert_eq!(off, Some(Disarmed { phase: 3, starts_left: CLEAN_STARTS - 1 }));
    }

    #[test]
    fn blowing_again_counts_anew() {
        let dir = tempfile::tempdir().unwrap();
        let id = BuildId::new(b"art");
        assert!(count_start(dir.path(), id, &[(id, 2)]).is_some());
        assert!(count_start(dir.path(), id, &[]).is_some());
        let again = count_start(dir.path(), id, &[(id, 4)]).unwrap();
        assert_eq!(again, Disarmed { phase: 4, starts_left: CLEAN_STARTS - 1 });
    }

    #[test]
    fn another_libart_is_another_matter() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (BuildId::new(b"old"), BuildId::new(b"new"));
        assert_eq!(count_start(dir.path(), new, &[(old, 2)]), None);
        assert!(count_start(dir.path(), old, &[(old, 2)]).is_some());
        assert_eq!(count_start(dir.path(), new, &[]), None, "the system was updated");
        assert_eq!(count_start(dir.path(), old, &[]), None, "and forgot");
    }

    #[test]
    fn a_file_that_says_something_else_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let id = BuildId::new(b"art");
        for bytes in [&b""[..], b"LBS", &[0xFF; 38], &[0xFF; 4000]] {
            fs::write(dir.path().join(NAME), bytes).unwrap();
            assert_eq!(count_start(dir.path(), id, &[]), None);
            assert!(!dir.path().join(NAME).exists());
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_off_this_once() {
        let id = BuildId::new(b"art");
        let nowhere = Path::new("/proc/self/nowhere");
        assert!(count_start(nowhere, id, &[(id, 3)]).is_some());
        assert_eq!(count_start(nowhere, id, &[]), None);
    }
}
