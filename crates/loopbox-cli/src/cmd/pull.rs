//! `loopbox pull`.

use crate::config::app_packages;
use crate::destination::write_file;
use crate::input;
use crate::options::{PackageOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result, bail};
use loopbox_adb::{Adb, Device, choose, quoted, successful};
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, harmless, is_hidden};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The most bytes that a list of files may have.
const MAX_LIST: u64 = 16 << 20;
/// The command that finds reports and rings. A ring's name may end in the number of tries to make a report of
/// it. The command searches all folders, because the app chose the one for reports.
const FIND: &str = r"find . -type f \( -name '*.lbx' -o -name '*.lbr' -o -name '*.lbr.*' \)";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The app has to be debuggable, and the device needs Android 7 or newer. adb is looked for in the PATH, then in the SDK that
ANDROID_HOME names.

Examples:
  loopbox pull
  loopbox pull com.example.shop
  loopbox pull com.example.shop --serial emulator-5554 -o pulled/"
)]
pub(crate) struct Args {
    /// The application id; without it, the devices are listed, and the apps on them that have reports.
    package: Option<String>,
    /// Uses the device with this serial number, when there are several.
    #[arg(long, value_name = "SERIAL")]
    serial: Option<String>,
    /// Writes the files into this folder instead of one named after the app.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    packages: PackageOptions,
    #[command(flatten)]
    terminal: TerminalOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let adb = Adb::from_env();
    let devices = adb.devices()?;
    let Some(package) = &args.package else { return list(args, &adb, &devices) };
    // It becomes a word of a command on the device.
    if !package.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_')) {
        bail!("{package}: not an application id");
    }
    let device = choose(&devices, args.serial.as_deref())?;
    pull(args, &adb, &device.serial, package)
}

/// Prints the devices, and the apps on them that have reports.
fn list(args: &Args, adb: &Adb, devices: &[Device]) -> Result<Outcome> {
    if devices.is_empty() {
        bail!("no device: connect one, and allow USB debugging on it");
    }
    let mut text = String::new();
    let mut complete = true;
    for device in
        devices.iter().filter(|device| args.serial.as_ref().is_none_or(|serial| *serial == device.serial))
    {
        let _ = writeln!(text, "{}  {}  {}", harmless(&device.serial), device.state, harmless(&device.about));
        if device.state != "device" {
            continue;
        }
        match apps(adb, &device.serial) {
            Ok(apps) if apps.is_empty() => text.push_str("  no debuggable app has a report\n"),
            Ok(apps) => {
                for (app, files) in apps {
                    let _ = writeln!(text, "  {}  {files} reports and rings", harmless(&app));
                }
            }
            Err(error) => {
                complete = false;
                output::print_error(format_args!("{error:#}"));
            }
        }
    }
    output::write_text(&text, &args.terminal)?;
    Ok(if complete { Outcome::Complete } else { Outcome::Partial })
}

/// The apps with their number of files. An app that is not debuggable is left out, because its files cannot
/// be read.
fn apps(adb: &Adb, serial: &str) -> Result<BTreeMap<String, u64>> {
    let script = format!(
        "for p in $(pm list packages -3 | cut -d: -f2); do run-as \"$p\" {FIND} 2>/dev/null | while read -r f; do \
             printf '%s %s\\n' \"$p\" \"$f\"; done; done; true"
    );
    let found = adb.shell(serial, &script, MAX_LIST)?;
    let mut apps = BTreeMap::new();
    for line in String::from_utf8_lossy(&found.stdout).lines() {
        if let Some((app, path)) = line.split_once(' ')
            && path.starts_with("./")
        {
            *apps.entry(app.to_owned()).or_default() += 1;
        }
    }
    Ok(apps)
}

fn pull(args: &Args, adb: &Adb, serial: &str, package: &str) -> Result<Outcome> {
    // A name may have a line break in it.
    let found = adb.shell(serial, &format!("run-as {package} {FIND} -print0"), MAX_LIST)?;
    let list = String::from_utf8_lossy(&found.stdout).into_owned();
    let files: BTreeSet<&str> = list.split('\0').filter(|file| file.starts_with("./")).collect();
    if files.is_empty() {
        // run-as says so when the app is not there, or not debuggable.
        if found.code != 0 {
            bail!("{serial}: {package}: {}", harmless(&found.complaint()));
        }
        bail!("{serial}: {package} has no report");
    }
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(package));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let packages = app_packages(&args.packages)?;
    let (mut text, mut pulled) = (String::new(), 0);
    for (file, name) in local_names(&files) {
        let taken = take(adb, serial, package, file).and_then(|bytes| put(&folder, &name, &bytes));
        match taken {
            Ok(target) => {
                pulled += 1;
                let _ = writeln!(text, "{}: {}", output::shown(&target), headline(&target, &packages));
            }
            Err(error) => output::print_error(format_args!("{file}: {error:#}")),
        }
    }
    output::write_text(&text, &args.terminal)?;
    match pulled {
        0 => bail!("{serial}: none of {} files could be pulled", files.len()),
        n if n == files.len() => Ok(Outcome::Complete),
        _ => Ok(Outcome::Partial),
    }
}

/// The bytes of a file of the app.
fn take(adb: &Adb, serial: &str, package: &str, file: &str) -> Result<Vec<u8>> {
    let command = format!("run-as {package} cat {}", quoted(file));
    Ok(successful(adb.shell(serial, &command, input::MAX_LEN)?)?.stdout)
}

/// The names under which the files of a device are written here: none is outside of the folder, and no two
/// are equal. A name is the path without its separators. Paths that would get the same name in this way get
/// their [`whole_name`] instead.
fn local_names<'f>(files: &BTreeSet<&'f str>) -> Vec<(&'f str, String)> {
    let mut of_name = BTreeMap::<String, u32>::new();
    for file in files {
        // Some file systems take two letters for one.
        *of_name.entry(short_name(file).to_lowercase()).or_default() += 1;
    }
    let is_one = |name: &String| of_name.get(&name.to_lowercase()) == Some(&1);
    let name = |file| Some(short_name(file)).filter(is_one).unwrap_or_else(|| whole_name(file));
    files.iter().map(|file| (*file, name(file))).collect()
}

fn parts(file: &str) -> impl Iterator<Item = &str> {
    file.split('/').filter(|part| !matches!(*part, "" | "." | ".."))
}

fn short_name(file: &str) -> String {
    let name = parts(file).collect::<Vec<_>>().join("-");
    let name: String = name.chars().map(|c| if is_hidden(c) || c == '\\' { '_' } else { c }).collect();
    // A ring that was tried before has the number of tries at the end; what it is stays the ending.
    match name.rsplit_once(".lbr.") {
        Some((name, tries)) => format!("{name}.{tries}.lbr"),
        None => name,
    }
}

/// The path with `-` for its separators. Every other `-`, and all that [`short_name`] would replace, is
/// percent-encoded.
fn whole_name(file: &str) -> String {
    let escaped = |part: &str| {
        part.chars().fold(String::new(), |mut out, c| {
            if is_hidden(c) || matches!(c, '\\' | '-' | '%') {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "%{byte:02X}");
                }
            } else {
                out.push(c);
            }
            out
        })
    };
    parts(file).map(escaped).collect::<Vec<_>>().join("-")
}

/// Writes a file that was pulled, and returns its path. An existing file of the same name with other bytes is
/// not overwritten: it may be what the device had before, or another file.
fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let (stem, end) =
        name.rsplit_once('.').map_or((name, String::new()), |(stem, end)| (stem, format!(".{end}")));
    let mut target = folder.join(name);
    for nth in 2.. {
        let is_same_len = |about: std::fs::Metadata| about.is_file() && about.len() == bytes.len() as u64;
        match std::fs::metadata(&target).map(is_same_len) {
            Ok(true) if std::fs::read(&target).is_ok_and(|there| there == bytes) => return Ok(target),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) => return Err(error).with_context(|| target.display().to_string()),
        }
        target = folder.join(format!("{stem}~{nth}{end}"));
    }
    write_file(&target, |mut out| Ok(out.write_all(bytes)?))?;
    Ok(target)
}

/// What a pulled file is about, or why that is unknown.
fn headline(file: &Path, packages: &loopbox_report::AppPackages) -> String {
    match input::decode_report(file) {
        Ok(decoded) => diagnose(&Analysis::with_packages(&decoded, packages)).headline,
        Err(error) => format!("not readable: {:#}", error.root_cause()),
    }
}
