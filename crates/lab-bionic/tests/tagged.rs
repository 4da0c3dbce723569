//! The library that ships for 64-bit Arm, with tagged memory: each wrong use of the heap ends the process.
//!
//! QEMU's user emulation has the instructions, and glibc's allocator tags its memory. The allocator changes
//! the tag of a block when the block is freed.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use lab_bionic::compile_for_arm64;
use lab_bionic::scenario::{Local, tagged};
use lab_launch::{Shipped, shipped};
use loopbox_android_pack::Abi;
use loopbox_testbed as testbed;

/// Enables tags, with faults at the access itself.
const TAGGING: &str = "glibc.mem.tagging=3";

struct Emulated<'a> {
    shipped: &'a Shipped,
    /// The folder of the compiled driver and libraries.
    programs: PathBuf,
    reports: PathBuf,
    is_tagged: bool,
}

impl Local for Emulated<'_> {
    fn command(&self, scenario: &str, folder: &str) -> Command {
        let mut drive = self.shipped.testbed.command(&self.programs.join("drive"));
        drive.arg(self.shipped.libraries.join("libloopbox.so")).arg(self.programs.join("libart.so"));
        drive.arg(self.path(folder)).arg(scenario);
        if self.is_tagged {
            drive.env("GLIBC_TUNABLES", TAGGING);
        }
        drive
    }

    fn path(&self, name: &str) -> PathBuf {
        self.reports.join(name)
    }
}

#[test]
fn nothing_in_the_library_that_ships_uses_memory_that_is_not_its_own() -> Result<()> {
    let testbed = testbed::ensure("art11-arm64")?;
    let shipped = shipped(Abi::Arm64, &testbed)?;
    let folder = tempfile::tempdir()?;
    compile_for_arm64(&testbed, folder.path())?;
    let emulated = |name: &str, is_tagged| Emulated {
        shipped: &shipped,
        programs: folder.path().to_owned(),
        reports: folder.path().join(name),
        is_tagged,
    };
    tagged(&emulated("plain", false), &emulated("tagged", true), &|ended| {
        ensure!(ended.how.contains("SIGSEGV"), "by another signal");
        Ok(())
    })
}
