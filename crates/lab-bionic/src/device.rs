//! A root folder made of a device's libraries, in which the driver runs with the device's linker and C
//! library and with this machine's kernel.

use std::fmt::{self, Display, Formatter, Write as _};
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
use crate::scenario::{Ended, Local, SCENARIOS, apart, tagged, whole};

/// Where the driver is on the device.
pub(crate) const HERE: &str = "/data/local/tmp";
/// The emulator's path in a device's root.
const EMULATOR: &str = "/emulator";
/// From this level on, libraries are loaded out of an APK.
const FROM_AN_APK: u32 = 23;
/// From this level on, the library is run in an isolated linker namespace, too.
const NAMESPACES: u32 = 26;
/// The name of a function that only the liblog of a test build has. Such a liblog writes to standard error.
const FAKE_LOG: &[u8] = b"fakeLogWritev";
/// The socket that a liblog writes to. The liblog of some builds of Android 5 writes to a device node of the
/// kernel instead, which does not exist here.
const LOG_SOCKET: &[u8] = b"/dev/socket/logdw";
/// The linker's option that enables tagged memory with synchronous faults: a fault occurs at the access
/// itself. Linkers before Android 12 do not know the option.
const TAGGING: (&str, &str) = ("MEMTAG_OPTIONS", "sync");
/// The name of an access fault that is detected at the access itself, because the tag is wrong.
const FAULT: &str = "SEGV_MTESERR";
/// The first words of an error message of the allocator that tags its memory. Some builds have another
/// allocator.
const SCUDO: &[u8] = b"Scudo ERROR";
/// The emulator's options for a processor with tagged memory. `pauth-impdef` signs return addresses with a
/// fast cipher, because the real one would cost more time than everything else.
const WITH_TAGS: [&str; 2] = ["-cpu", "max,pauth-impdef=on"];
/// Priority of a warning in the log.
const WARNING: u8 = 5;
/// A shell script: mounts this machine's `/proc` into the root `$1`, and runs the other arguments as a
/// command in that root. The process keeps its id.
const ENTER: &str = "root=$1; shift; mount --rbind /proc \"$root/proc\" && exec chroot \"$root\" \"$@\"";

/// Which Android version a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// This API level, as `build.prop` gives it.
    Is(u32),
    /// Unknown, because there is no `build.prop`.
    Unknown,
    /// There is no API level, because it is not an Android system.
    NoAndroid,
}

impl Level {
    pub(crate) fn of(device: &Device) -> Self {
        device.level().map_or(Self::Unknown, Self::Is)
    }
}

impl Display for Level {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(level) => write!(to, "{level}"),
            Self::Unknown => to.write_str("?"),
            Self::NoAndroid => to.write_str("-"),
        }
    }
}

/// The results on a device.
#[derive(Debug)]
pub struct Row {
    /// The name of the device's folder.
    pub folder: String,
    /// Its API level.
    pub level: Level,
    /// The ABI.
    pub abi: Abi,
    /// For each scenario that was run, its name and what was wrong.
    pub scenarios: Vec<(&'static str, Result<()>)>,
    /// How long all scenarios took together.
    pub took: Duration,
}

impl Row {
    /// Whether all scenarios succeeded.
    pub fn good(&self) -> bool {
        self.scenarios.iter().all(|(_, result)| result.is_ok())
    }
}

/// Runs all scenarios on a device, in a root that is made below `out`. Needs the rights for `chroot` and
/// `mount`.
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
    let mut outcome = |name, result| {
        // There is room for ten lines.
        lines.extend(log.lines());
        (name, result)
    };
    let mut scenarios: Vec<_> =
        SCENARIOS.into_iter().map(|(name, scenario)| outcome(name, scenario(&root))).collect();
    let since = |least| device.level().is_none_or(|level| level >= least);
    if since(FROM_AN_APK) {
        let packed = Packed::make(&root, &here, abi)?;
        scenarios.push(outcome("the same from an APK", whole(&packed)));
        if since(NAMESPACES) {
            scenarios.push(outcome("and in an isolated namespace", apart(&packed)));
        }
    }
    if tags_memory(device, abi)? {
        let caught = |_: &Ended| says_fault(&log.lines());
        scenarios.push(outcome("with tagged memory", tagged(&root, &Tagged(&root), &caught)));
    }
    if has_log(device, abi)? {
        scenarios.push(("log lines", says_why(&lines)));
    }
    Ok(Row { folder: device.name(), level: Level::of(device), abi, scenarios, took: begun.elapsed() })
}

/// Whether the device's liblog writes to the log's socket. The liblog of a test build writes to standard
/// error.
fn has_log(device: &Device, abi: Abi) -> Result<bool> {
    let file =
        device.library("liblog.so", abi).with_context(|| format!("{} has no liblog.so", device.name()))?;
    Ok(has(&file, LOG_SOCKET)? && !has(&file, FAKE_LOG)?)
}

/// Whether scenarios with tagged memory can run: the device's linker must be able to enable tags, and its
/// allocator must set them. The emulated processor always supports tags.
fn tags_memory(device: &Device, abi: Abi) -> Result<bool> {
    let (Abi::Arm64, Some(linker), Some(libc)) = (abi, device.linker(abi), device.library("libc.so", abi))
    else {
        return Ok(false);
    };
    Ok(has(&linker, TAGGING.0.as_bytes())? && has(&libc, SCUDO)?)
}

fn has(file: &Path, text: &[u8]) -> Result<bool> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(bytes.windows(text.len()).any(|some| some == text))
}

/// Checks that the log has a warning that the sampler is off. It is off because the substitute for libart is
/// not an ART.
fn says_why(lines: &[Line]) -> Result<()> {
    let is_it = |line: &Line| {
        line.tag == "loopbox" && line.priority == WARNING && line.text.starts_with("sampling is off")
    };
    ensure!(lines.iter().any(is_it), "the log has {lines:?}");
    Ok(())
}

/// Checks that the log shows that a process has used memory with a wrong tag. The exit status may not show
/// this fault: Android's linker has a handler for it, which cannot always send the signal again.
fn says_fault(lines: &[Line]) -> Result<()> {
    ensure!(lines.iter().any(|line| line.text.contains(FAULT)), "the log has {lines:?}");
    Ok(())
}

/// The rows as a Markdown table, and below it the failures. A cell is empty where the scenario was not run on
/// the device.
pub fn table(rows: &[Row]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.scenarios) {
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
    for Row { folder, level, abi, scenarios, took } in rows {
        let word = |name: &&str| match scenarios.iter().find(|(scenario, _)| scenario == name) {
            Some((_, Ok(()))) => "ok",
            Some((_, Err(_))) => "**wrong**",
            None => "",
        };
        let words = names.iter().map(word).collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "| {folder} | {level} | {abi} | {words} | {} s |", took.as_secs());
        for (name, result) in scenarios {
            if let Err(error) = result {
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
    /// Copies the device's files into `folder`, and adds what only a running device has: nodes in `/dev` and
    /// the system properties.
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

    /// A command that runs a program of the root; the caller appends the program and its arguments. `options`
    /// are for the emulator, and have no effect when the root needs no emulator.
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
    /// Runs the driver with the libraries in the folder `libraries`. `options` are those of [`Root::enter`].
    fn drive(&self, options: &[&str], libraries: &str, folder: &str, scenario: &str) -> Command {
        let mut enter = self.enter(options);
        enter.arg(format!("{HERE}/drive"));
        enter.args(["libloopbox.so", "libart.so"].map(|name| format!("{libraries}/{name}")));
        enter.arg(format!("{HERE}/{folder}")).arg(scenario);
        enter
    }
}

impl Local for Root {
    fn command(&self, scenario: &str, folder: &str) -> Command {
        self.drive(&[], HERE, folder, scenario)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(plain(HERE)).join(name)
    }
}

/// A device's root with `libloopbox.so` and `libart.so` in an APK: not compressed, and aligned to the largest
/// page size, so that they can be mapped.
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
    fn command(&self, scenario: &str, folder: &str) -> Command {
        self.root.drive(&[], &self.libraries, &format!("packed/{folder}"), scenario)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path("packed").join(name)
    }
}

/// A device's root, with tagged memory.
struct Tagged<'a>(&'a Root);

impl Local for Tagged<'_> {
    fn command(&self, scenario: &str, folder: &str) -> Command {
        let mut drive = self.0.drive(&WITH_TAGS, HERE, &format!("tagged/{folder}"), scenario);
        drive.env(TAGGING.0, TAGGING.1);
        drive
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path("tagged").join(name)
    }
}

/// A path on the device, relative to its root.
pub(crate) fn plain(path: &str) -> &str {
    path.trim_start_matches('/')
}

/// QEMU's user mode emulator for an ABI that this machine's processor does not support.
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

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn a_row_has_the_level_that_is_known_and_a_cell_for_each_scenario_of_any_row() {
        let row = |folder: &str, level, scenarios| Row {
            folder: folder.to_owned(),
            level,
            abi: Abi::Arm64,
            scenarios,
            took: Duration::from_secs(7),
        };
        let rows = [
            row("a", Level::Is(35), vec![("x", Ok(())), ("y", Err(anyhow!("it fell")))]),
            row("b", Level::Unknown, vec![("x", Ok(()))]),
            row("c", Level::NoAndroid, vec![("y", Ok(()))]),
        ];
        let seen = table(&rows);
        let lines: Vec<&str> = seen.lines().collect();
        assert_eq!(lines[0], "| folder | API level | ABI | x | y | time |");
        assert_eq!(lines[2], "| a | 35 | arm64-v8a | ok | **wrong** | 7 s |");
        assert_eq!(lines[3], "| b | ? | arm64-v8a | ok |  | 7 s |");
        assert_eq!(lines[4], "| c | - | arm64-v8a |  | ok | 7 s |");
        assert_eq!(lines[6], "a arm64-v8a, y: it fell");
        assert_eq!(rows.map(|row| row.good()), [false, true, true]);
    }
}
