//! `testbed.toml`: what a program needs to know to boot a testbed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use loopbox_setup::arch::Arch;
use loopbox_setup::cache::mark_used;
use loopbox_setup::command::path_list;
use loopbox_setup::files::write_atomically;
use loopbox_setup::package::read_toml;

/// Name of the file in a testbed's folder. It is written last, so a folder with it is complete.
pub(crate) const FILE: &str = "testbed.toml";

/// The content of `testbed.toml`. Paths are relative to its folder unless they are absolute; libraries
/// without a folder are found by the library path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the testbed, for example `art10`.
    pub name: String,
    /// Version of the Android Runtime, for example `10`.
    pub art: String,
    /// The level in `Build.VERSION.SDK_INT`.
    pub api_level: u32,
    /// Debian's version of the runtime.
    pub package_version: String,
    /// Processor architecture, for example `x86_64`.
    pub arch: String,
    /// Dexed jars for `-Xbootclasspath`, in order.
    pub boot_class_path: Vec<PathBuf>,
    /// `boot_class_path` with the hidden members of the framework marked. The marks take effect with
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
    /// Libraries to open before `libart` (`RTLD_NOW | RTLD_GLOBAL`), in order.
    pub dlopen_first: Vec<String>,
    /// The command that runs the host program: the program's path is appended to these words. Empty when the
    /// host program is run directly.
    pub runner: Vec<String>,
    /// Environment of the host program.
    pub env: BTreeMap<String, String>,
    /// The jars, headers and libraries to compile other code against.
    pub build: Build,
}

/// The `[build]` part of `testbed.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Jars of class files, for `javac -bootclasspath`.
    pub java_class_path: Vec<PathBuf>,
    /// The jar in `java_class_path` that is not part of `system`.
    pub framework: PathBuf,
    /// The Java library for `javac --system`, which sources of Java 9 and newer need.
    pub system: PathBuf,
    /// Hash of everything that the testbed was made from.
    pub key: String,
    /// For a testbed of another architecture: headers and libraries of its system, for a cross compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sysroot: Option<PathBuf>,
}

impl Manifest {
    /// Writes `testbed.toml` into a folder, in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = toml::to_string(self).context("cannot write the manifest")?;
        write_atomically(&folder.join(FILE), text)
    }
}

/// A finished testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Testbed {
    /// The folder of `testbed.toml`; its content does not change, even when the testbed is built again.
    pub dir: PathBuf,
    /// The content of `testbed.toml`.
    pub manifest: Manifest,
}

impl Testbed {
    /// Reads a finished testbed. `folder` may be a link.
    ///
    /// # Errors
    /// When there is no valid `testbed.toml` or a file that it names is missing.
    pub fn open(folder: &Path) -> Result<Self> {
        let dir =
            fs::canonicalize(folder).with_context(|| format!("there is no testbed {}", folder.display()))?;
        let testbed = Self { manifest: read_toml(&dir.join(FILE))?, dir };
        let manifest = &testbed.manifest;
        let files = manifest
            .boot_class_path
            .iter()
            .chain(&manifest.boot_class_path_hidden_api)
            .chain(&manifest.build.java_class_path);
        for file in files {
            ensure!(testbed.dir.join(file).is_file(), "{} has no {}", testbed.dir.display(), file.display());
        }
        Ok(testbed)
    }

    /// Jars of class files to compile against, absolute.
    pub fn java_class_path(&self) -> Vec<PathBuf> {
        self.manifest.build.java_class_path.iter().map(|jar| self.dir.join(jar)).collect()
    }

    /// The architecture that the testbed's programs are compiled for.
    ///
    /// # Errors
    /// When the manifest names an architecture that this crate does not know.
    pub fn arch(&self) -> Result<Arch> {
        self.manifest.arch.parse().with_context(|| self.dir.display().to_string())
    }

    /// Headers and libraries for a cross compiler. Asking for them marks them as used, so that they are not
    /// removed.
    ///
    /// # Errors
    /// When the testbed has none, because the machine's own compiler builds for it.
    pub fn sysroot(&self) -> Result<PathBuf> {
        let sysroot =
            self.manifest.build.sysroot.clone().context("a testbed of this machine has no sysroot")?;
        mark_used(&sysroot)?;
        Ok(sysroot)
    }

    /// A command that runs `main` of a class on this testbed, with a host program that boots runtimes
    /// (`lab-host` of this repository). `jar` is the dexed app. `libraries` is the folder of the app's native
    /// libraries. The caller can add more options of the host program, then `--` and the arguments of `main`.
    pub fn java(&self, host: &Path, jar: &Path, libraries: &Path, class: &str) -> Command {
        let mut command = self.command(host);
        command.env("LOOPBOX_HOST_TESTBED", &self.dir);
        command.arg("--testbed").arg(self.dir.join(FILE)).arg("--app").arg(jar);
        command.arg("-D").arg(format!("java.library.path={}", libraries.display()));
        command.args(["--main", class]);
        command
    }

    /// A command that runs a host program in the environment that the testbed needs. The caller can add
    /// arguments of the program. Variables that the testbed sets replace inherited ones.
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

/// The variables that name Android's folders. The folders are empty; the runtime only requires that they
/// exist.
pub(crate) fn environment(home: &Path) -> BTreeMap<String, String> {
    let root = home.join("root").display().to_string();
    let mut environment = BTreeMap::new();
    for name in ["ROOT", "RUNTIME_ROOT", "ART_ROOT", "I18N_ROOT", "TZDATA_ROOT"] {
        environment.insert(format!("ANDROID_{name}"), root.clone());
    }
    environment.insert("ANDROID_DATA".into(), home.join("data").display().to_string());
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A testbed of empty files.
    pub(crate) fn sample(folder: &Path) -> Testbed {
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
                framework: "c.jar".into(),
                system: "system".into(),
                key: "k".into(),
                sysroot: None,
            },
        };
        for file in ["core.jar", "hidden.jar", "c.jar"] {
            fs::write(folder.join(file), "").unwrap();
        }
        manifest.write(folder).unwrap();
        Testbed::open(folder).unwrap()
    }

    fn variable(command: &Command, name: &str) -> Option<String> {
        let (_, value) = command.get_envs().find(|(n, _)| *n == name)?;
        Some(value?.to_string_lossy().into_owned())
    }

    #[test]
    fn a_manifest_survives_its_file_and_a_testbed_without_its_files_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let testbed = sample(folder.path());
        assert_eq!(testbed, Testbed::open(folder.path()).unwrap());
        fs::remove_file(folder.path().join("c.jar")).unwrap();
        assert!(Testbed::open(folder.path()).unwrap_err().to_string().contains("c.jar"));
        assert!(Testbed::open(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_host_program_runs_with_the_testbeds_variables() {
        let folder = tempfile::tempdir().unwrap();
        let testbed = sample(folder.path());
        let command = testbed.command(Path::new("/host"));
        assert_eq!(command.get_program(), "/host");
        let lib = testbed.dir.join("lib").display().to_string();
        assert_eq!(variable(&command, "LD_LIBRARY_PATH").unwrap(), format!("{lib}:/opt/lib"));
        assert_eq!(variable(&command, "LD_PRELOAD").unwrap(), "liba.so:libb.so");
        assert_eq!(variable(&command, "ANDROID_ROOT").unwrap(), "/r");
    }

    #[test]
    fn a_runner_gets_the_host_program_as_argument() {
        let folder = tempfile::tempdir().unwrap();
        let mut testbed = sample(folder.path());
        testbed.manifest.runner = vec!["lib/ld.so".into(), "--library-path".into(), "/l".into()];
        testbed.manifest.library_path.clear();
        testbed.manifest.preload.clear();
        let command = testbed.command(Path::new("/host"));
        assert_eq!(command.get_program(), testbed.dir.join("lib/ld.so").as_os_str());
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--library-path", "/l", "/host"]);
        assert_eq!(variable(&command, "LD_LIBRARY_PATH"), None);
        assert!(command.get_envs().any(|(name, value)| name == "LD_PRELOAD" && value.is_none()));
    }
}
