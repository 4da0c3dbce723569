//! Installs packages on this machine.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::amount;
use super::lock::Waiting;
use crate::command::{Outcome, command, run};
use crate::progress::Progress;

/// Between two lines of progress.
const REPORT_EACH: Duration = Duration::from_secs(5);

/// Installs packages by the machine's own apt. Of `one | other` the first that this release of Debian has. Waits for other package managers, finishes what a killed one left half
/// done, and says beforehand how much will be downloaded. Progress goes to standard error.
///
/// # Errors
/// When the user is not root, with the command to give to an administrator; else what apt says.
pub fn install(packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    ensure!(is_root()?, "{}", advice(packages));
    let progress = Progress::new("apt");
    let waiting = Waiting::default();
    progress.say("read the package index");
    waiting.run(&progress, || apt_get(&["-qq", "update"]))?;
    finish_interrupted(waiting, &progress)?;
    let packages: Vec<&str> = packages.iter().map(|names| choose(names, is_available)).collect();
    let packages = packages.as_slice();
    let plan =
        run(apt_get(&["-qq", "--print-uris", "install", "--yes", "--no-install-recommends"]).args(packages))
            .with_context(|| format!("cannot install {}", packages.join(", ")))?;
    let (count, bytes) = planned(&plan);
    progress.say(format!(
        "install {}: {} to download",
        packages.join(", "),
        amount::planned(count, "package", bytes)
    ));
    let install = ["-qq", "install", "--yes", "--no-install-recommends", "-o", "APT::Status-Fd=1"];
    waiting
        .run_with(&progress, || followed(apt_get(&install).args(packages), &progress))
        .with_context(|| format!("cannot install {}", packages.join(", ")))?;
    Ok(())
}

/// What to tell a user who may not install.
fn advice(packages: &[&str]) -> String {
    let packages: Vec<&str> = packages.iter().map(|names| choose(names, |_| true)).collect();
    format!("as root: apt-get install {}", packages.join(" "))
}

/// Of `one | other` the first that is available; the first of all if none is, so that apt can say what is wrong.
fn choose(names: &str, is_available: impl Fn(&str) -> bool) -> &str {
    let all = || names.split('|').map(str::trim);
    all().find(|name| is_available(name)).or_else(|| all().next()).unwrap_or(names)
}

fn is_available(name: &str) -> bool {
    run(&mut command("apt-cache", ["show", "--no-all-versions", name])).is_ok()
}

/// A set-up that was killed may leave packages unpacked but not configured: apt refuses to work until that is done.
fn finish_interrupted(waiting: Waiting, progress: &Progress) -> Result<()> {
    if run(&mut command("dpkg", ["--audit"]))?.trim().is_empty() {
        return Ok(());
    }
    progress.say("finish an installation that was interrupted");
    waiting.run(progress, || {
        let mut dpkg = command("dpkg", ["--configure", "--pending"]);
        dpkg.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C");
        dpkg
    })?;
    waiting.run(progress, || apt_get(&["-qq", "--yes", "--fix-broken", "install"]))?;
    Ok(())
}

/// Number and bytes of the downloads in what `--print-uris` printed.
fn planned(uris: &str) -> (usize, u64) {
    let sizes = uris
        .lines()
        .filter(|line| line.starts_with('\''))
        .filter_map(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok());
    sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size))
}

/// Runs apt to its end and says how far it is, from the lines that it writes for programs (`APT::Status-Fd`).
fn followed(apt: &mut Command, progress: &Progress) -> Result<Outcome> {
    apt.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = apt.spawn().context("cannot run apt-get")?;
    let stdout = child.stdout.take().context("no standard output")?;
    let mut stderr = child.stderr.take().context("no standard error")?;
    let errors = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What cannot be read is missing in an error message, no more.
        let _ = stderr.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let mut text = String::new();
    let mut said = Instant::now();
    for line in BufReader::new(stdout).lines() {
        let line = line.context("cannot read what apt-get says")?;
        match stage(&line) {
            Some(stage) if said.elapsed() >= REPORT_EACH => {
                progress.say(stage);
                said = Instant::now();
            }
            Some(_) => {}
            None => text = text + &line + "\n",
        }
    }
    let status = child.wait().context("cannot wait for apt-get")?;
    Ok(Outcome { program: "apt-get".into(), status, text, errors: errors.join().unwrap_or_default() })
}

/// `download 45 %` of `dlstatus:12:45.20:…`, `install 10 %, chromium` of `pmstatus:chromium:10.33:…`.
fn stage(line: &str) -> Option<String> {
    let mut fields = line.split(':');
    let kind = fields.next()?;
    let subject = fields.next()?;
    // The name of a package may have its architecture behind it, with a colon too.
    let percent = fields.find_map(|field| field.parse::<f64>().ok())?;
    match kind {
        "dlstatus" => Some(format!("download {percent:.0} %")),
        "pmstatus" => Some(format!("install {percent:.0} %, {subject}")),
        _ => None,
    }
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut apt = command("apt-get", arguments);
    apt.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C");
    apt
}

/// Whether this process may install packages.
///
/// # Errors
/// When the kernel does not say who runs it.
pub fn is_root() -> Result<bool> {
    let status = fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    Ok(effective_user(&status) == Some(0))
}

/// The effective user id in a `/proc/<pid>/status`: the second number of the `Uid:` line.
fn effective_user(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::test_archive::TestArchive;
    use super::*;

    #[test]
    fn the_plan_counts_what_is_to_be_downloaded() {
        let test = TestArchive::new();
        test.update().unwrap();
        let uris =
            run(&mut test.apt_get(&["-qq", "--print-uris", "install", "--yes", "loopbox-test"])).unwrap();
        assert_eq!(planned(&uris), (1, test.content().len() as u64));
        assert_eq!(planned("W: nothing\n"), (0, 0));
    }

    #[test]
    fn the_first_available_alternative_is_chosen() {
        assert_eq!(choose("jdk-17 | jdk-21", |_| true), "jdk-17");
        assert_eq!(choose("jdk-17 | jdk-21", |name| name == "jdk-21"), "jdk-21");
        assert_eq!(choose("jdk-17 | jdk-21", |_| false), "jdk-17");
        assert_eq!(advice(&["jdk-17 | jdk-21", "dpkg"]), "as root: apt-get install jdk-17 dpkg");
    }

    #[test]
    fn apts_lines_for_programs_become_progress() {
        assert_eq!(stage("dlstatus:1:12.1435:Retrieving file 1 of 1").unwrap(), "download 12 %");
        assert_eq!(stage("pmstatus:libc6:amd64:10.4:x").unwrap(), "install 10 %, libc6");
        assert_eq!(stage("pmstatus:npm:33.333:Unpacking npm").unwrap(), "install 33 %, npm");
        assert_eq!(stage("Setting up npm (9.2.0) ..."), None);
    }

    #[test]
    fn a_followed_run_keeps_what_apt_says_beside_its_progress() {
        let test = TestArchive::new();
        test.update().unwrap();
        let arguments =
            ["-qq", "--yes", "-o", "APT::Status-Fd=1", "--download-only", "install", "loopbox-test"];
        let outcome = followed(&mut test.apt_get(&arguments), &Progress::new("test")).unwrap();
        assert!(outcome.status.success() && outcome.text.is_empty(), "{outcome:?}");
        assert!(test.path("cache/archives/loopbox-test_1.0_all.deb").is_file());
        let outcome =
            followed(&mut test.apt_get(&["install", "no-such-package"]), &Progress::new("test")).unwrap();
        assert!(outcome.errors.contains("no-such-package"), "{outcome:?}");
    }

    #[test]
    fn reads_the_effective_user() {
        assert_eq!(effective_user("Name:\tx\nUid:\t1000\t0\t1000\t1000\n"), Some(0));
        assert_eq!(effective_user("Name:\tx\n"), None);
    }
}
