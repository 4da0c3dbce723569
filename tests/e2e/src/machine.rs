//! What a test does to the machine around a process: control groups, and other work.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// A control group of one test.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
    /// The control file that [`Self::set`] writes.
    pub file: &'static str,
}

impl Cgroup {
    /// A control group that has `file`, of either version; `None` where none can be created.
    pub fn with(file: &'static str) -> Option<Self> {
        let (controller, _) = file.split_once('.')?;
        let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
        // The second version has all controllers in one tree, once they are asked for.
        for root in roots {
            let _ = fs::write(Path::new(root).join("cgroup.subtree_control"), format!("+{controller}"));
        }
        let first = Path::new(roots[0]).join(controller);
        for root in [first.as_path(), roots[0].as_ref(), roots[1].as_ref()] {
            let path = root.join(format!("loopbox-test-{}-{controller}", std::process::id()));
            if root.join("cgroup.procs").exists() && fs::create_dir(&path).is_ok() {
                let group = Self { path, file };
                if group.path.join(file).exists() {
                    return Some(group);
                }
            }
        }
        None
    }

    /// Writes to the control file [`Self::file`].
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn set(&self, value: &str) -> Result<()> {
        fs::write(self.path.join(self.file), value)
            .with_context(|| format!("cannot set {} to {value}", self.file))
    }

    /// Puts a process into the group.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn add(&self, pid: u32) -> Result<()> {
        fs::write(self.path.join("cgroup.procs"), pid.to_string()).context("cannot enter a cgroup")
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Empty when its process is reaped.
        for _ in 0..100 {
            if fs::remove_dir(&self.path).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Processes that keep every processor busy.
#[derive(Debug)]
pub struct Hogs(Vec<Child>);

impl Hogs {
    /// Starts this many processes for each processor.
    ///
    /// # Errors
    /// When there is no shell.
    pub fn start(each: usize) -> Result<Self> {
        let processors = std::thread::available_parallelism()?.get() * each;
        let hog = || Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        Ok(Self((0..processors).map(|_| hog()).collect::<Result<_, _>>()?))
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            let _ = hog.kill();
            let _ = hog.wait();
        }
    }
}

/// Whether this process runs as root, which is needed to send signals as another user, and for cgroups and
/// mounts. If not, prints that `what` was left out.
pub fn is_root(what: &str) -> bool {
    let root = has_root();
    if !root {
        println!("left out: {what} takes more rights than this process has");
    }
    root
}

/// Sends SIGQUIT as the system does at an ANR: as the user `system`, or as the present user where this
/// process is not root.
///
/// # Errors
/// When it cannot be sent.
pub fn quit_as_system(pid: u32) -> Result<()> {
    let root = has_root();
    let mut command = Command::new(if root { "setpriv" } else { "env" });
    if root {
        command.args(["--reuid=1000", "--clear-groups", "--inh-caps=+kill", "--ambient-caps=+kill"]);
    }
    let status = command.args(["kill", "-QUIT"]).arg(pid.to_string()).status();
    ensure!(status.context("cannot send the signal")?.success(), "the signal was not sent");
    Ok(())
}

fn has_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
