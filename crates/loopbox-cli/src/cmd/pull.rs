//! `loopbox pull`.

use crate::config::app_packages;
use crate::destination::write_file;
use crate::input;
use crate::options::{PackageOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result, bail};
use loopbox_adb::{Device, Server, choose, quoted, successful};
use loopbox_report::Analysis;
use loopbox_report::diagnose::diagnose;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The most that a list of files may have.
const MAX_LIST: u64 = 16 << 20;
/// What finds reports, and rings with the tries to adopt them in their names. The app chose their folder.
const FIND: &str = r"find . -type f \( -name '*.lbx' -o -name '*.lbr' -o -name '*.lbr.*' \)";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The app has to be debuggable, and the device needs Android 7 or newer. adb has to be installed; its server is found
as adb finds it (ANDROID_ADB_SERVER_ADDRESS, ANDROID_ADB_SERVER_PORT).

Examples:
  loopbox pull
  loopbox pull com.example.shop
  loopbox pull com.example.shop --serial emulator-5554 -o pulled/"
)]
pub(crate) struct Args {
    /// The application id; without it, the devices are listed, and the apps on them that have reports.
    package: Option<String>,
    /// Asks this device, when there are several.
    #[arg(long, value_name = "SERIAL")]
    serial: Option<String>,
    /// Writes the files into this folder instead of one called as the app.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    packages: PackageOptions,
    #[command(flatten)]
    terminal: TerminalOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let server = Server::from_env();
    let devices = server.devices()?;
    let Some(package) = &args.package else { return list(args, &server, &devices) };
    // It becomes a word of a command on the device.
    if !package.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_')) {
        bail!("{package}: not an application id");
    }
    let device = choose(&devices, args.serial.as_deref())?;
    pull(args, &server, &device.serial, package)
}

/// Prints the devices, and the apps on them that have reports.
fn list(args: &Args, server: &Server, devices: &[Device]) -> Result<Outcome> {
    if devices.is_empty() {
        bail!("no device: connect one, and allow USB debugging on it");
    }
    let mut text = String::new();
    let mut complete = true;
    for device in
        devices.iter().filter(|device| args.serial.as_ref().is_none_or(|serial| *serial == device.serial))
    {
        let _ = writeln!(
            text,
            "{}  {}  {}",
            output::harmless(&device.serial),
            device.state,
            output::harmless(&device.about)
        );
        if device.state != "device" {
            continue;
        }
        match apps(server, &device.serial) {
            Ok(apps) if apps.is_empty() => text.push_str("  no debuggable app has a report\n"),
            Ok(apps) => {
                for (app, files) in apps {
                    let _ = writeln!(text, "  {}  {files} reports and rings", output::harmless(&app));
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

/// The apps with their number of files. Those that are not debuggable have none for us.
fn apps(server: &Server, serial: &str) -> Result<BTreeMap<String, u64>> {
    let script = format!(
        "for p in $(pm list packages -3 | cut -d: -f2); do run-as $p {FIND} 2>/dev/null | sed \"s|^|$p |\"; done; true"
    );
    let found = server.shell(serial, &script, MAX_LIST)?;
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

fn pull(args: &Args, server: &Server, serial: &str, package: &str) -> Result<Outcome> {
    let found = server.shell(serial, &format!("run-as {package} {FIND}"), MAX_LIST)?;
    let list = String::from_utf8_lossy(&found.stdout).into_owned();
    let files: BTreeSet<&str> = list.lines().filter(|line| line.starts_with("./")).collect();
    if files.is_empty() {
        // run-as says so when the app is not there, or not debuggable.
        if found.code != 0 {
            bail!("{serial}: {package}: {}", output::harmless(&found.complaint()));
        }
        bail!("{serial}: {package} has no report");
    }
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(package));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let packages = app_packages(&args.packages)?;
    let (mut text, mut pulled) = (String::new(), 0);
    for file in &files {
        let taken = take(server, serial, package, file).and_then(|bytes| {
            let target = folder.join(local_name(file).context("a name that is none")?);
            write_file(&target, |mut out| Ok(out.write_all(&bytes)?))?;
            Ok(target)
        });
        match taken {
            Ok(target) => {
                pulled += 1;
                let _ = writeln!(
                    text,
                    "{}: {}",
                    output::harmless(&target.display().to_string()),
                    headline(&target, &packages)
                );
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
fn take(server: &Server, serial: &str, package: &str, file: &str) -> Result<Vec<u8>> {
    let command = format!("run-as {package} cat {}", quoted(file));
    Ok(successful(server.shell(serial, &command, input::MAX_LEN)?)?.stdout)
}

/// What a file of the device is called here: its path without the separators, so that none is outside of the folder, and no two
/// are one.
fn local_name(file: &str) -> Option<String> {
    let parts: Vec<&str> = file.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let name: String =
        parts.join("-").chars().map(|c| if c.is_control() || c == '\\' { '_' } else { c }).collect();
    // A ring that was tried before has the number of tries at the end; what it is stays the ending.
    let name = match name.rsplit_once(".lbr.") {
        Some((name, tries)) => format!("{name}.{tries}.lbr"),
        None => name,
    };
    (!name.is_empty()).then_some(name)
}

/// What a pulled file is about, or why that is unknown.
fn headline(file: &Path, packages: &loopbox_report::AppPackages) -> String {
    match input::decode(file) {
        Ok(decoded) => diagnose(&Analysis::with_packages(&decoded, packages)).headline,
        Err(error) => format!("not readable: {:#}", error.root_cause()),
    }
}
