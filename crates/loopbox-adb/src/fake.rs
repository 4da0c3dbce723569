//! A fake `adb` for tests: a script, with a folder in place of a device. It supports only what [`crate::Adb`]
//! calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::Adb;

/// The serial number of the device.
pub const SERIAL: &str = "emulator-5554";

/// The script of `pm`: lists the apps, as Android's package manager does.
const PM: &str = "for app in \"$DEVICE\"/data/*; do echo \"package:$(basename \"$app\")\"; done";
/// The script of `run-as`: runs a command as an app, when the app is debuggable, which means that it has no
/// file `.release`.
const RUN_AS: &str = "app=\"$1\"; shift; [ -d \"$DEVICE/data/$app\" ] || { echo \"run-as: unknown package: $app\" >&2; exit 1; }\n\
    [ ! -e \"$DEVICE/data/$app/.release\" ] || { echo \"run-as: package not debuggable: $app\" >&2; exit 1; }\n\
    cd \"$DEVICE/data/$app\" && exec \"$@\"";

/// A fake `adb` with its device.
#[derive(Debug)]
pub struct FakeAdb {
    device: TempDir,
}

impl FakeAdb {
    /// A fake adb whose list of devices is this text, in adb's format.
    ///
    /// # Errors
    /// When there is no folder for it.
    pub fn new(devices: &str) -> Result<Self> {
        let fake = Self { device: TempDir::new()? };
        fs::create_dir_all(fake.folder().join("data"))?;
        fs::write(fake.folder().join("devices"), devices)?;
        write_program(&fake.program(), include_str!("fake-adb.sh"))?;
        fake.device_program("pm", PM)?;
        fake.device_program("run-as", RUN_AS)?;
        Ok(fake)
    }

    /// A fake adb with one device that is ready.
    ///
    /// # Errors
    /// When there is no folder for it.
    pub fn ready() -> Result<Self> {
        Self::new("emulator-5554          device product:sdk model:Pixel_8 transport_id:1\n")
    }

    /// The path of the program `adb`.
    pub fn program(&self) -> PathBuf {
        self.folder().join("host/adb")
    }

    /// A `PATH` that begins with the program's folder.
    pub fn path(&self) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        format!("{}:{path}", self.folder().join("host").display())
    }

    /// The program as [`Adb`].
    pub fn adb(&self) -> Adb {
        Adb::at(self.program())
    }

    /// The folder that is the device: `bin` has its programs, `data` one folder for each app.
    pub fn folder(&self) -> &Path {
        self.device.path()
    }

    /// Puts a program on the device, a script for `sh`. The variable `DEVICE` names the folder of the device.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn device_program(&self, name: &str, script: &str) -> Result<()> {
        write_program(&self.folder().join("bin").join(name), &format!("#!/bin/sh\n{script}\n"))
    }

    /// Sets a script that the device's shell reads before each command, as Android's shell reads `mkshrc`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn profile(&self, script: &str) -> Result<()> {
        write(&self.folder().join("profile"), script.as_bytes())
    }

    /// Puts a file into the data of an app.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, app: &str, file: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.folder().join("data").join(app).join(file);
        write(&path, bytes)?;
        Ok(path)
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().with_context(|| format!("{} has no folder", path.display()))?;
    fs::create_dir_all(folder)?;
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a program by another process, `install`. If this process wrote the file, another test could start a
/// child process at that moment. The child would have the file open for writing, and then the kernel does not
/// execute the file.
fn write_program(path: &Path, script: &str) -> Result<()> {
    let text = path.with_extension("text");
    write(&text, script.as_bytes())?;
    let installed = Command::new("install").args(["-m", "755"]).arg(text).arg(path).status();
    ensure!(installed.context("install")?.success(), "cannot write {}", path.display());
    Ok(())
}
