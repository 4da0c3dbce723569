//! The testbed's description and the process environment that it asks for.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable that has the testbed's path in a process that already runs in the testbed's
/// environment.
const READY: &str = "LOOPBOX_HOST_TESTBED";

/// The parts of `testbed.toml` that booting needs.
#[derive(Debug, Deserialize)]
pub(crate) struct Testbed {
    pub(crate) api_level: u32,
    boot_class_path: Vec<PathBuf>,
    /// The jars of the boot class path that have the runtime's hidden-API flags.
    #[serde(default)]
    boot_class_path_hidden_api: Vec<PathBuf>,
    library_path: Vec<PathBuf>,
    preload: Vec<PathBuf>,
    pub(crate) vm_options: Vec<String>,
    libart: PathBuf,
    dlopen_first: Vec<PathBuf>,
    #[serde(default)]
    runner: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The folder that relative paths are relative to.
    #[serde(skip)]
    dir: PathBuf,
}

impl Testbed {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut testbed: Self =
            toml::from_str(&text).with_context(|| format!("{} is not a testbed", path.display()))?;
        testbed.dir = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(testbed)
    }

    /// The boot class path for the VM, with or without hidden-API flags.
    ///
    /// # Errors
    /// When the testbed has no boot class path with hidden-API flags.
    pub(crate) fn boot_class_path(&self, hidden_api: bool) -> Result<OsString> {
        if !hidden_api {
            return Ok(self.join(&self.boot_class_path));
        }
        if self.boot_class_path_hidden_api.is_empty() {
            bail!("the testbed has no boot class path with hidden-API flags");
        }
        Ok(self.join(&self.boot_class_path_hidden_api))
    }

    /// The libraries to open, in this order; libart is the last. Plain names are found by the library path.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &Path> {
        self.dlopen_first.iter().chain([&self.libart]).map(PathBuf::as_path)
    }

    /// Makes sure that this process runs in the testbed's environment. The dynamic linker reads its variables
    /// only at the start of a process, so this replaces the process with the same program once.
    ///
    /// # Errors
    /// When the program cannot be executed again. It returns `Ok` only in the program that was executed
    /// again.
    pub(crate) fn enter(&self) -> Result<()> {
        if std::env::var_os(READY).as_deref() == Some(self.dir.as_os_str()) {
            return Ok(());
        }
        let this = std::env::current_exe().context("cannot find this program")?;
        let mut argv = self.runner.iter().map(|part| self.absolute(Path::new(part)).into_os_string());
        let mut command = match argv.next() {
            None => Command::new(&this),
            Some(runner) => {
                let mut command = Command::new(runner);
                command.args(argv).arg(&this);
                command
            }
        };
        command
            .args(std::env::args_os().skip(1))
            .envs(self.env.iter().map(|(name, value)| (name, self.absolute(Path::new(value)))))
            .env("LD_LIBRARY_PATH", self.join(&self.library_path))
            .env("LD_PRELOAD", self.join(&self.preload))
            .env(READY, &self.dir);
        Err(command.exec()).context("cannot start again in the testbed's environment")
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        let in_testbed = self.dir.join(path);
        if in_testbed.exists() { in_testbed } else { path.to_path_buf() }
    }

    fn join(&self, paths: &[PathBuf]) -> OsString {
        paths
            .iter()
            .map(|path| self.absolute(path).into_os_string())
            .collect::<Vec<_>>()
            .join(OsString::from(":").as_os_str())
    }
}
