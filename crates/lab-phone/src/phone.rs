//! The device: what it reports about itself, and its folder for the files of a run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use loopbox_adb::{Adb, quoted, successful};
use loopbox_android_pack::Abi;

use crate::app::App;

/// The limit for a file's size in bytes: more than a jar of the boot class path, a report or a ring has.
const MAX_FILE: u64 = 256 << 20;
/// The properties that are read with `getprop`, in this order.
const PROPERTIES: [&str; 6] = [
    "ro.product.manufacturer",
    "ro.product.model",
    "ro.build.fingerprint",
    "ro.build.version.release",
    "ro.build.version.sdk",
    "ro.product.cpu.abi",
];
/// The first API level that reports the versions of its modules.
const FIRST_WITH_MODULES: u32 = 29;

/// A device that adb knows.
#[derive(Debug)]
pub struct Phone {
    adb: Adb,
    serial: String,
    folder: String,
}

/// What a device reports about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Manufacturer and model.
    pub name: String,
    /// Which build it runs: `ro.build.fingerprint`.
    pub fingerprint: String,
    /// Android's version: `14`.
    pub release: String,
    /// `ro.build.version.sdk`.
    pub api_level: u32,
    /// The ABI that it prefers.
    pub abi: Abi,
    /// The module that contains ART, and its version code; `None` where ART is a part of the system.
    pub art_module: Option<String>,
    /// The kernel's release.
    pub kernel: String,
}

impl Phone {
    /// The device of this serial number, with a folder on it.
    ///
    /// # Errors
    /// When the folder's path is not absolute, or has characters that a shell may interpret.
    pub(crate) fn of(adb: &Adb, serial: &str, folder: &str) -> Result<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
        if !folder.starts_with('/') || folder.len() < 2 || !folder.chars().all(plain) {
            bail!("{folder:?} is no folder that is emptied and removed without a doubt");
        }
        Ok(Self { adb: adb.clone(), serial: serial.to_owned(), folder: folder.to_owned() })
    }

    /// Runs a command that has to succeed.
    pub(crate) fn shell(&self, command: &str) -> Result<String> {
        let output = self.adb.shell(&self.serial, command, MAX_FILE)?;
        let output = successful(output).with_context(|| format!("{}: {command}", self.serial))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What the device reports about itself.
    ///
    /// # Errors
    /// When it reports less than every Android does.
    pub(crate) fn about(&self) -> Result<About> {
        let asked = PROPERTIES.map(|name| format!("getprop {name}; ")).concat();
        let said = self.shell(&format!("{asked} uname -r"))?;
        let [manufacturer, model, fingerprint, release, api_level, abi, kernel] =
            said.lines().map(str::trim).collect::<Vec<_>>()[..]
        else {
            bail!("{} does not say what it is: {said:?}", self.serial);
        };
        let api_level = api_level.parse().with_context(|| format!("{api_level} is no API level"))?;
        let art_module = if api_level >= FIRST_WITH_MODULES {
            art_module(&self.shell("pm list packages --apex-only --show-versioncode")?)
        } else {
            None
        };
        Ok(About {
            name: format!("{manufacturer} {model}"),
            fingerprint: fingerprint.to_owned(),
            release: release.to_owned(),
            api_level,
            abi: abi.parse()?,
            art_module,
            kernel: kernel.to_owned(),
        })
    }

    /// Puts the library and the scripted apps into the folder, read-only: newer Androids refuse dex files
    /// that could be changed.
    pub(crate) fn prepare(&self, library: &Path, apps: &Path) -> Result<()> {
        self.shell(&format!("rm -rf {0} && mkdir -p {0}", self.folder))?;
        for (file, name) in [(library, "libloopbox.so"), (apps, "apps.jar")] {
            self.adb.push(&self.serial, file, &format!("{}/{name}", self.folder), 0o444)?;
        }
        Ok(())
    }

    /// Removes everything from the device again.
    pub(crate) fn remove(&self) -> Result<()> {
        self.shell(&format!("rm -rf {}", self.folder)).map(drop)
    }

    /// The folder of a scenario's reports, on the device.
    pub(crate) fn folder_of(&self, scenario: &str) -> String {
        format!("{}/{scenario}", self.folder)
    }

    /// Starts a class's `main` in a process of the shell's user, as the system starts its own commands. Its
    /// reports go into the folder of `scenario`.
    pub(crate) fn start(&self, scenario: &str, class: &str, arguments: &[String]) -> Result<App> {
        let (folder, reports) = (&self.folder, self.folder_of(scenario));
        let words = arguments.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let command = format!(
            "mkdir -p {reports} && cd {folder} && echo \"SCRIPT pid $$\" && export CLASSPATH={folder}/apps.jar && \
             exec app_process -Djava.library.path={folder} -Dloopbox.dir={reports} {folder} {class} {words}"
        );
        App::new(self.adb.clone(), self.serial.clone(), self.adb.start(&self.serial, &command)?)
    }

    /// The content of a file of the device.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>> {
        let output = self.adb.shell(&self.serial, &format!("cat {}", quoted(path)), MAX_FILE)?;
        Ok(successful(output).with_context(|| path.to_owned())?.stdout)
    }

    /// The names of the files in the folder of a scenario.
    pub(crate) fn files(&self, scenario: &str) -> Result<Vec<String>> {
        Ok(self.shell(&format!("ls {}", self.folder_of(scenario)))?.lines().map(str::to_owned).collect())
    }

    /// Copies the reports of a scenario into a folder of this machine.
    pub(crate) fn pull_reports(&self, scenario: &str, to: &Path) -> Result<Vec<PathBuf>> {
        fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
        let mut pulled = Vec::new();
        for name in self.files(scenario)?.iter().filter(|name| is_called(name, "lbx") && !name.contains('/'))
        {
            let bytes = self.read(&format!("{}/{name}", self.folder_of(scenario)))?;
            let file = to.join(name);
            fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
            pulled.push(file);
        }
        Ok(pulled)
    }

    /// The jars of the boot class path, which every process of the device has before its own jars.
    pub(crate) fn boot_class_path(&self) -> Result<Vec<String>> {
        let path = self.shell("echo \"$BOOTCLASSPATH\"")?;
        Ok(path.trim().split(':').filter(|jar| !jar.is_empty()).map(str::to_owned).collect())
    }
}

/// Whether a name ends with a dot and `ending`, which is given without the dot.
pub(crate) fn is_called(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|own| own == ending)
}

/// Finds the module that contains ART in the package manager's list. A line of the list:
/// `package:com.google.android.art versionCode:341411000`.
fn art_module(packages: &str) -> Option<String> {
    let modules = packages.lines().filter_map(|line| line.trim().strip_prefix("package:")?.split_once(' '));
    let has_art = |name: &str| name.ends_with(".android.art") || name.ends_with(".android.runtime");
    // ART had been in the module `runtime`, which is still there for bionic, when it got its own module.
    let mut all: Vec<(&str, &str)> = modules.filter(|(name, _)| has_art(name)).collect();
    all.sort_by_key(|(name, _)| !is_called(name, "art"));
    let (name, version) = all.first()?;
    Some(format!("{name} {}", version.trim().trim_start_matches("versionCode:")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_that_has_art_is_found() {
        let list = "package:com.android.runtime versionCode:1\r\npackage:com.google.android.art versionCode:341411000\n\
                    package:com.google.android.adbd versionCode:3\n";
        assert_eq!(art_module(list).unwrap(), "com.google.android.art 341411000");
        assert_eq!(
            art_module("package:com.android.runtime versionCode:290000000").unwrap(),
            "com.android.runtime 290000000"
        );
        assert_eq!(art_module("package:com.android.adbd versionCode:3\n"), None);
    }

    #[test]
    fn only_a_folder_without_surprises_is_emptied() {
        let phone = |folder: &str| Phone::of(&Adb::at("adb"), "x", folder);
        assert!(phone("/data/local/tmp/loopbox").is_ok());
        for folder in ["", "/", "tmp", "/data/local/tmp /", "/tmp/$HOME", "/tmp/*"] {
            assert!(phone(folder).is_err(), "{folder}");
        }
    }
}
