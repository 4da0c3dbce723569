//! `bed.toml`: what a program has to know to boot a bed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::arch::Arch;
use super::cache::mark_used;
use super::run::path_list;
use super::spec::read_toml;

/// Name of the file in a bed's folder. It is written last: a folder with it is complete.
pub(crate) const FILE: &str = "bed.toml";

/// The content of `bed.toml`. Paths are relative to its folder unless they are absolute; libraries without a
/// folder are found by the library path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the bed, for example `art10`.
    pub name: String,
    /// Version of the Android Runtime, for example `10`.
    pub art: String,
    /// The level that `Build.VERSION.SDK_INT` says.
    pub api_level: u32,
    /// Debian's version of the runtime.
    pub package_version: String,
    /// Processor architecture, for example `x86_64`.
    pub arch: String,
    /// Dexed jars for `-Xbootclasspath`, in order.
    pub boot_class_path: Vec<PathBuf>,
    /// The same with the hidden members of the framework marked; effective with
    /// `-Xhidden-api-policy:enabled` and a target level of 28 or more (`VMRuntime.setTargetSdkVersion`).
    pub boot_class_path_hidden_api: Vec<PathBuf>,
    /// Folders for `LD_LIBRARY_PATH`.
    pub library_path: Vec<PathBuf>,
    /// Libraries for `LD_PRELOAD`.
    pub preload: Vec<String>,
    /// Options for `JNI_CreateJavaVM`, without the class paths.
    pub vm_options: Vec<String>,
    /// The runtime's library.
    pub libart: String,
    /// Libraries to open before it (`RTLD_NOW | RTLD_GLOBAL`), in order.
    pub dlopen_first: Vec<String>,
    /// A command that runs the host program, its path comes after these arguments; empty: run it directly.
    pub runner: Vec<String>,
    /// Environment of the host program.
    pub env: BTreeMap<String, String>,
    /// What compiles against the bed.
    pub build: Build,
}

/// The `[build]` part of `bed.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Jars of class files, for `javac -bootclasspath`.
    pub java_class_path: Vec<PathBuf>,
    /// The dx compiler: `java -cp <dx> com.android.dx.command.Main --dex`.
    pub dx: PathBuf,
    /// Hash of everything that the bed was made from.
    pub key: String,
    /// For a bed of another architecture: headers and libraries of its system, for a cross compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sysroot: Option<PathBuf>,
}

impl Manifest {
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let text = toml::to_string(self).context("cannot write the manifest")?;
        let new = folder.join("bed.toml.new");
        fs::write(&new, text).with_context(|| format!("cannot write {}", new.display()))?;
        fs::rename(&new, folder.join(FILE)).with_context(|| format!("cannot write {}", folder.display()))
    }
}

/// A bed that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bed {
    /// The folder of `bed.toml`; it stays as it is, even when the bed is built anew.
    pub dir: PathBuf,
    /// The content of `bed.toml`.
    pub manifest: Manifest,
}

impl Bed {
    /// Reads a finished bed. `folder` may be a link.
    ///
    /// # Errors
    /// When there is no valid `bed.toml` or a file that it names is missing.
    pub fn open(folder: &Path) -> Result<Self> {
        let dir =
            fs::canonicalize(folder).with_context(|| format!("there is no bed {}", folder.display()))?;
        let bed = Self { manifest: read_toml(&dir.join(FILE))?, dir };
        let manifest = &bed.manifest;
        let files = manifest
            .boot_class_path
            .iter()
            .chain(&manifest.boot_class_path_hidden_api)
            .chain(&manifest.build.java_class_path)
            .chain([&manifest.build.dx]);
        for file in files {
            ensure!(bed.dir.join(file).is_file(), "{} has no {}", bed.dir.display(), file.display());
        }
        Ok(bed)
    }

    /// Jars of class files to compile against, absolute.
    pub fn java_class_path(&self) -> Vec<PathBuf> {
        self.manifest.build.java_class_path.iter().map(|jar| self.dir.join(jar)).collect()
    }

    /// What the bed's programs are compiled for.
    pub(crate) fn arch(&self) -> Result<Arch> {
        let name = &self.manifest.arch;
        Arch::from_name(name).with_context(|| format!("{}: unknown architecture {name}", self.dir.display()))
    }

    /// Headers and libraries for a cross compiler. Looking for them keeps them from being removed as unused.
    pub(crate) fn sysroot(&self) -> Result<PathBuf> {
        let sysroot = self.manifest.build.sysroot.clone().context("a bed of this machine has no sysroot")?;
        mark_used(&sysroot)?;
        Ok(sysroot)
    }

    /// A command that runs a host program in the environment that the bed needs. Arguments of the program can be
    /// added. Variables that the bed sets replace inherited ones.
    pub fn command(&self, host: &Path) -> Command {
        let mut command = match self.manifest.runner.split_first() {
            None => Command::new(host),
            Some((runner, arguments)) => {
                let mut command = Command::new(self.dir.join(runner));
                command.args(arguments).arg(host);
                command
            }
        };
        command.envs(&self.manifest.env);
        let set = |command: &mut Command, name: &str, value: OsString| {
            if value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        };
        let folders = path_list(self.manifest.library_path.iter().map(|folder| self.dir.join(folder)));
        set(&mut command, "LD_LIBRARY_PATH", folders.into());
        set(&mut command, "LD_PRELOAD", self.manifest.preload.join(":").into());
        command
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A bed of empty files.
    pub(crate) fn sample(folder: &Path) -> Bed {
        let manifest = Manifest {
            name: "art10".into(),
            art: "10".into(),
            api_level: 29,
            package_version: "1".into(),
            arch: "x86_64".into(),
            boot_class_path: vec!["core.jar".into()],
            boot_class_path_hidden_api: vec!["hidden.jar".into()],
            library_path: vec!["lib".into(), "/opt/lib".into()],
            preload: vec!["liba.so".into(), "libb.so".into()],
            vm_options: vec!["-Xmx64m".into()],
            libart: "libart.so.0".into(),
            dlopen_first: vec!["liblog.so.0".into()],
            runner: Vec::new(),
            env: [("ANDROID_ROOT".to_owned(), "/r".to_owned())].into(),
            build: Build {
                java_class_path: vec!["c.jar".into()],
                dx: "dx.jar".into(),
                key: "k".into(),
                sysroot: None,
            },
        };
        for file in ["core.jar", "hidden.jar", "c.jar", "dx.jar"] {
            fs::write(folder.join(file), "").unwrap();
        }
        manifest.write(folder).unwrap();
        Bed::open(folder).unwrap()
    }

    fn variable(command: &Command, name: &str) -> Option<String> {
        let (_, value) = command.get_envs().find(|(n, _)| *n == name)?;
        Some(value?.to_string_lossy().into_owned())
    }

    #[test]
    fn a_manifest_survives_its_file_and_a_bed_without_its_files_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let bed = sample(folder.path());
        assert_eq!(bed, Bed::open(folder.path()).unwrap());
        fs::remove_file(folder.path().join("dx.jar")).unwrap();
        assert!(Bed::open(folder.path()).unwrap_err().to_string().contains("dx.jar"));
        assert!(Bed::open(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_host_program_runs_with_the_beds_variables() {
        let folder = tempfile::tempdir().unwrap();
        let bed = sample(folder.path());
        let command = bed.command(Path::new("/host"));
        assert_eq!(command.get_program(), "/host");
        let lib = bed.dir.join("lib").display().to_string();
        assert_eq!(variable(&command, "LD_LIBRARY_PATH").unwrap(), format!("{lib}:/opt/lib"));
        assert_eq!(variable(&command, "LD_PRELOAD").unwrap(), "liba.so:libb.so");
        assert_eq!(variable(&command, "ANDROID_ROOT").unwrap(), "/r");
    }

    #[test]
    fn a_runner_gets_the_host_program_as_argument() {
        let folder = tempfile::tempdir().unwrap();
        let mut bed = sample(folder.path());
        bed.manifest.runner = vec!["lib/ld.so".into(), "--library-path".into(), "/l".into()];
        bed.manifest.library_path.clear();
        bed.manifest.preload.clear();
        let command = bed.command(Path::new("/host"));
        assert_eq!(command.get_program(), bed.dir.join("lib/ld.so").as_os_str());
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--library-path", "/l", "/host"]);
        assert_eq!(variable(&command, "LD_LIBRARY_PATH"), None);
        assert!(command.get_envs().any(|(name, value)| name == "LD_PRELOAD" && value.is_none()));
    }
}
