//! A root folder made of a device's libraries, in which the driver runs: its own linker and C library, this machine's kernel.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use loopbox_android_pack::Abi;
use loopbox_android_pack::device::Device;
use loopbox_setup::command::run;

use crate::driver::compile_for_device;
use crate::properties::area;
use crate::story::{Local, STORIES};

/// Where the driver is on the device.
pub(crate) const HERE: &str = "/data/local/tmp";
/// The emulator there.
const EMULATOR: &str = "/emulator";
/// Mounts this machine's processes into a root and goes there; the id of the process stays the same.
const ENTER: &str = "root=$1; shift; mount --rbind /proc \"$root/proc\" && exec chroot \"$root\" \"$@\"";

/// What was seen on a device.
#[derive(Debug)]
pub struct Row {
    /// The name of its folder.
    pub folder: String,
    /// Its API level, when its `build.prop` is there.
    pub level: Option<u32>,
    /// The ABI.
    pub abi: Abi,
    /// For each story that was played, its name, and what was wrong.
    pub stories: Vec<(&'static str, Result<()>)>,
    /// How long they took together.
    pub took: Duration,
}

impl Row {
    /// Whether all stories are as they should be.
    pub fn good(&self) -> bool {
        self.stories.iter().all(|(_, told)| told.is_ok())
    }
}

/// Plays all stories on a device, in a root that is made below `out`. Takes the rights to change root and to mount.
///
/// # Errors
/// When the root cannot be made.
pub fn play(device: &Device, abi: Abi, library: &Path, out: &Path) -> Result<Row> {
    let root = Root::make(device, abi, library, &out.join(format!("{}-{abi}", device.name())))?;
    compile_for_device(device, abi, &root.folder.join(plain(HERE)))?;
    let begun = Instant::now();
    let stories = STORIES.into_iter().map(|(name, story)| (name, story(&root))).collect();
    Ok(Row { folder: device.name(), level: device.level(), abi, stories, took: begun.elapsed() })
}

/// The rows as a Markdown table, all of the same stories, and below it what was wrong.
pub fn table(rows: &[Row]) -> String {
    let names: Vec<&str> = rows.iter().take(1).flat_map(|row| &row.stories).map(|(name, _)| *name).collect();
    let mut text = format!(
        "| folder | API level | ABI | {} | time |\n|---|---|---|{}---|\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let mut wrong = String::new();
    for Row { folder, level, abi, stories, took } in rows {
        let level = level.map_or_else(|| "?".into(), |level| level.to_string());
        let words = stories.iter().map(|(_, told)| if told.is_ok() { "ok" } else { "**wrong**" });
        let words = words.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "| {folder} | {level} | {abi} | {words} | {} s |", took.as_secs());
        for (name, told) in stories {
            if let Err(error) = told {
                let _ = writeln!(wrong, "\n{folder} {abi}, {name}: {error:#}");
            }
        }
    }
    text + &wrong
}

/// A device's root.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) folder: PathBuf,
    emulated: bool,
}

impl Root {
    /// Copies the device's files into `folder`, and what a running device has besides: a few devices, and properties.
    pub(crate) fn make(device: &Device, abi: Abi, library: &Path, folder: &Path) -> Result<Self> {
        let emulator = emulator(abi)?;
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        let here = folder.join(plain(HERE));
        for made in [folder.join("dev"), folder.join("proc"), here.clone()] {
            fs::create_dir_all(&made).with_context(|| format!("cannot create {}", made.display()))?;
        }
        run(Command::new("cp").args(["-a", "--"]).arg(device.root().join(".")).arg(folder))?;
        let nodes = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
        run(Command::new("cp").args(["-a", "--"]).args(nodes).arg(folder.join("dev")))?;
        let level = device.level().unwrap_or_default().to_string();
        let properties = [("ro.build.version.sdk", level.as_str()), ("ro.product.model", "device")];
        let file = folder.join("dev/__properties__");
        fs::write(&file, area(&properties)).with_context(|| format!("cannot write {}", file.display()))?;
        fs::copy(library, here.join("libloopbox.so"))
            .with_context(|| format!("cannot copy {}", library.display()))?;
        if let Some(emulator) = &emulator {
            let to = folder.join(plain(EMULATOR));
            fs::copy(emulator, &to).with_context(|| format!("cannot copy {}", emulator.display()))?;
        }
        Ok(Self { folder: folder.to_owned(), emulated: emulator.is_some() })
    }

    /// A command that runs a program of the root, which comes after these options of the emulator, if there is one.
    pub(crate) fn enter(&self, options: &[&str]) -> Command {
        let mut enter = Command::new("unshare");
        enter.args(["--mount", "--propagation", "private", "sh", "-c", ENTER, "sh"]).arg(&self.folder);
        if self.emulated {
            enter.arg(EMULATOR).args(options);
        }
        enter
    }
}

impl Local for Root {
    fn command(&self, story: &str, folder: &str) -> Command {
        let mut enter = self.enter(&[]);
        let here = |name: &str| format!("{HERE}/{name}");
        enter.args(["drive", "libloopbox.so", "libart.so", folder].map(here)).arg(story);
        enter
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(plain(HERE)).join(name)
    }
}

/// A path of the device, from its root.
pub(crate) fn plain(path: &str) -> &str {
    path.trim_start_matches('/')
}

/// QEMU's user mode emulator for an ABI that this machine's processor has not.
fn emulator(abi: Abi) -> Result<Option<PathBuf>> {
    let name = match abi {
        Abi::X86 | Abi::X86_64 => return Ok(None),
        Abi::Arm64 => "qemu-aarch64",
        Abi::Arm => "qemu-arm",
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    // It must need no libraries in the device's root.
    let found =
        folders.iter().map(|folder| folder.join(format!("{name}-static"))).find(|file| file.is_file());
    found.map(Some).with_context(|| format!("no {name}-static: apt-get install qemu-user-static"))
}
