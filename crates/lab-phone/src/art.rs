//! The ART that the device runs. Its library is copied and compared with the tables of `offsets/`, even where
//! the sampler is off. A row for an unknown ART can be made from the copy.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use loopbox_testbed::libart::{self, Report};

use crate::stage::Stage;

const SCENARIO: &str = "art";
/// The names of the library: in a release, and in a debug build. Debian's name has a number at its end.
const NAMES: [&str; 2] = ["libart.so", "libartd.so"];

/// The ART that was found.
#[derive(Debug)]
pub(crate) struct Art {
    /// Where it lies on the device.
    pub(crate) path: String,
    /// The copy of the library on this machine.
    pub(crate) copy: PathBuf,
    /// The comparison of its symbols and code with each row.
    pub(crate) report: Report,
}

pub(crate) fn read(stage: &Stage<'_>) -> Result<Art> {
    let words = [format!("dir={}", stage.phone.folder_of(SCENARIO)), "wait=3600000".into()];
    let mut app = stage.phone.start(SCENARIO, "scenario.Killed", &words)?;
    app.wait_for("SCRIPT installed")?;
    let maps = stage.phone.read(&format!("/proc/{}/maps", app.pid()));
    app.kill()?;
    let path = mapped(&String::from_utf8_lossy(&maps?)).context("the process maps no libart")?;
    let bytes = stage.phone.read(&path)?;
    fs::create_dir_all(stage.out).with_context(|| format!("cannot create {}", stage.out.display()))?;
    let copy = stage.out.join("libart.so");
    fs::write(&copy, bytes).with_context(|| format!("cannot write {}", copy.display()))?;
    let report = libart::compare(&copy)?;
    Ok(Art { path, copy, report })
}

/// The path of the library in the memory map of a process.
fn mapped(maps: &str) -> Option<String> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let is_art = |path: &&str| {
        path.rsplit('/').next().is_some_and(|name| NAMES.iter().any(|art| name.starts_with(art)))
    };
    paths.into_iter().find(is_art).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_in_a_memory_map() {
        let maps = "12c00000-2ac00000 rw-p 00000000 00:01 1034 /dev/ashmem/dalvik-main space (deleted)\n\
                    7a1f000000-7a1f100000 r--p 00000000 07:30 25 /apex/com.android.art/lib64/libart-compiler.so\n\
                    7a20000000-7a20190000 r--p 00000000 07:30 24 /apex/com.android.art/lib64/libart.so\n\
                    7a20200000-7a20900000 r-xp 00200000 07:30 24 /apex/com.android.art/lib64/libart.so\n\
                    7fe0000000-7fe0021000 rw-p 00000000 00:00 0 [stack]\n";
        assert_eq!(mapped(maps).unwrap(), "/apex/com.android.art/lib64/libart.so");
        assert_eq!(mapped("7fe0000000-7fe0021000 rw-p 00000000 00:00 0 [stack]\n"), None);
    }
}
