//! The library with a substitute for the VM, on this machine: no ART, no Java, no sampler.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use lab_bionic::compile_for_host;
use lab_bionic::scenario::{Local, SCENARIOS};
use lab_launch::{Build, programs_of_this_machine};

struct Host {
    folder: tempfile::TempDir,
}

impl Local for Host {
    fn command(&self, scenario: &str, folder: &str) -> Command {
        let mut drive = Command::new(self.folder.path().join("drive"));
        drive.args(["libloopbox.so", "libart.so"].map(|name| self.folder.path().join(name)));
        drive.arg(self.path(folder)).arg(scenario);
        drive
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn the_library_does_everything_under_a_stand_in_for_the_vm() -> Result<()> {
    let library = programs_of_this_machine(Build::Dev)?.join("libloopbox.so");
    let host = Host { folder: tempfile::tempdir()? };
    compile_for_host(host.folder.path())?;
    std::fs::copy(library, host.folder.path().join("libloopbox.so"))?;
    for (name, scenario) in SCENARIOS {
        scenario(&host).map_err(|error| error.context(name))?;
    }
    Ok(())
}
