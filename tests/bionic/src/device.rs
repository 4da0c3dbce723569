//! A root folder made of a device's libraries, in which the driver runs: its own linker and C library, this machine's kernel.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::Abi;
use loopbox_android_pack::device::Device;
use loopbox_setup::command::run;
use loopbox_setup::jar;

use crate::driver::compile_for_device;
use crate::log::{Line, Log};
use crate::properties::area;
use crate::story::{Local, STORIES, Stage, Story, apart, whole};

/// Where the driver is on the device.
pub(crate) const HERE: &str = "/data/local/tmp";
/// The emulator there.
const EMULATOR: &str = "/emulator";
/// From this level on, libraries are loaded out of an APK.
const FROM_AN_APK: u32 = 23;
/// And from this one on, namespaces are linked to each other.
const NAMESPACES: u32 = 26;
/// A function of a liblog that only looks like one.
const FAKE_LOG: &[u8] = b"fakeLogWritev";
/// Of the log.
const WARNING: u8 = 5;
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
    let here = root.folder.join(plain(HERE));
    compile_for_device(device, abi, &here)?;
    let log = Log::listen(&root.folder)?;
    let begun = Instant::now();
    let mut lines = Vec::new();
    let mut tell = |name, story: &Story, stage: &dyn Stage| {
        let told = story(stage);
        // There is room for ten lines.
        lines.extend(log.lines());
        (name, told)
    };
    let mut stories: Vec<_> = STORIES.into_iter().map(|(name, story)| tell(name, &story, &root)).collect();
    let since = |least| device.level().is_none_or(|level| level >= least);
    if since(FROM_AN_APK) {
        let packed = Packed::make(&root, &here, abi)?;
        stories.push(tell("the same from an APK", &(whole as Story), &packed));
        if since(NAMESPACES) {
            stories.push(tell("and in an isolated namespace", &(apart as Story), &packed));
        }
    }
    if has_log(device, abi)? {
        stories.push(("log lines", says_why(&lines)));
    }
    Ok(Row { folder: device.name(), level: device.level(), abi, stories, took: begun.elapsed() })
}

/// Whether the device's liblog writes to the log. That of a build for tests writes to standard error.
fn has_log(device: &Device, abi: Abi) -> Result<bool> {
    let file =
        device.library("liblog.so", abi).with_context(|| format!("{} has no liblog.so", device.name()))?;
    let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(!bytes.windows(FAKE_LOG.len()).any(|some| some == FAKE_LOG))
}

/// The log says that the sampler is off, because the stand-in is no ART, as a warning.
fn says_why(lines: &[Line]) -> Result<()> {
    let is_it = |line: &Line| {
        line.tag == "loopbox" && line.priority == WARNING && line.text.starts_with("sampling is off")
    };
    ensure!(lines.iter().any(is_it), "the log has {lines:?}");
    Ok(())
}

/// The rows as a Markdown table, and below it what was wrong. A story that a row has not leaves its cell empty.
pub fn table(rows: &[Row]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.stories) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let mut text = format!(
        "| folder | API level | ABI | {} | time |\n|---|---|---|{}---|\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let mut wrong = String::new();
    for Row { folder, level, abi, stories, took } in rows {
        let level = level.map_or_else(|| "?".into(), |level| level.to_string());
        let word = |name: &&str| match stories.iter().find(|(story, _)| story == name) {
            Some((_, Ok(()))) => "ok",
            Some((_, Err(_))) => "**wrong**",
            None => "",
        };
        let words = names.iter().map(word).collect::<Vec<_>>().join(" | ");
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

impl Root {
    /// Runs the driver with the libraries of a place.
    fn drive(&self, libraries: &str, folder: &str, story: &str) -> Command {
        let mut enter = self.enter(&[]);
        enter.arg(format!("{HERE}/drive"));
        enter.args(["libloopbox.so", "libart.so"].map(|name| format!("{libraries}/{name}")));
        enter.arg(format!("{HERE}/{folder}")).arg(story);
        enter
    }
}

impl Local for Root {
    fn command(&self, story: &str, folder: &str) -> Command {
        self.drive(HERE, folder, story)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(plain(HERE)).join(name)
    }
}

/// The same root, with both libraries in an APK: not packed, and at multiples of the largest page, so that they can be mapped.
struct Packed<'a> {
    root: &'a Root,
    libraries: String,
}

impl<'a> Packed<'a> {
    fn make(root: &'a Root, here: &Path, abi: Abi) -> Result<Self> {
        let entry = |name: &str| -> Result<_> {
            let file = here.join(name);
            let content = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            Ok((format!("lib/{abi}/{name}"), content))
        };
        let entries = [entry("libloopbox.so")?, entry("libart.so")?];
        jar::write_aligned(&here.join("base.apk"), &entries, 16 << 10)?;
        Ok(Self { root, libraries: format!("{HERE}/base.apk!/lib/{abi}") })
    }
}

impl Local for Packed<'_> {
    fn command(&self, story: &str, folder: &str) -> Command {
        self.root.drive(&self.libraries, &format!("packed/{folder}"), story)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path("packed").join(name)
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
