//! Installs packages on this machine.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::amount;
use super::lock::Waiting;
use crate::command::{Outcome, command, outcome, run};
use crate::progress::Progress;

/// The time between two lines of progress.
const REPORT_EACH: Duration = Duration::from_secs(5);

/// Installs packages with the machine's own apt. Of `one | other` it takes the first that this Debian release
/// has. It waits for other package managers, and completes what a killed package manager left unfinished.
/// Before the download it reports how much there is to download. Progress goes to standard error.
///
/// # Errors
/// When the user is not root; the error has the command to give to an administrator. When apt fails, with its
/// reason.
pub fn install(packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    ensure!(is_root()?, "{}", advice(packages));
    Target::default().install(packages, &Progress::new("apt"))
}

/// Where packages are installed: by default on this machine.
#[derive(Debug, Default)]
struct Target {
    /// Options that make apt install somewhere else; empty for this machine.
    apt: Vec<String>,
    /// Options that make dpkg install somewhere else; empty for this machine.
    dpkg: Vec<String>,
}

impl Target {
    fn install(&self, packages: &[&str], progress: &Progress) -> Result<()> {
        let waiting = Waiting::default();
        progress.say("read the package index");
        // An archive of this machine that is out of order need not have the packages. apt then uses its older
        // index, or none, and fails in the end.
        let read = waiting.outcome(progress, || outcome(&mut self.apt("apt-get", &["-qq", "update"])))?;
        let unread = read.into_text().err();
        if let Some(reason) = &unread {
            progress.say(format!("go on with the package indexes that can be read: {reason:#}"));
        }
        let installed = self.install_known(packages, waiting, progress);
        match (installed, unread) {
            (Err(fault), Some(reason)) => {
                Err(fault.context(format!("not all package indexes could be read: {reason:#}")))
            }
            (installed, _) => installed,
        }
    }

    /// Installs packages from the indexes that apt already has.
    fn install_known(&self, packages: &[&str], waiting: Waiting, progress: &Progress) -> Result<()> {
        self.finish_interrupted(waiting, progress)?;
        let packages: Vec<&str> =
            packages.iter().map(|names| choose(names, |name| self.is_available(name))).collect();
        let context = || format!("cannot install {}", packages.join(", "));
        let plan = ["-qq", "--print-uris", "install", "--yes", "--no-install-recommends"];
        let plan = run(self.apt("apt-get", &plan).args(&packages)).with_context(context)?;
        let (count, bytes) = planned(&plan);
        progress.say(format!(
            "install {}: download {}, then unpack",
            packages.join(", "),
            amount::planned(count, "package", bytes)
        ));
        let install = ["-qq", "install", "--yes", "--no-install-recommends", "-o", "APT::Status-Fd=1"];
        waiting
            .run_with(progress, || followed(self.apt("apt-get", &install).args(&packages), progress))
            .with_context(context)?;
        Ok(())
    }

    /// Configures packages that a killed set-up left unpacked: apt refuses to work until they are configured.
    fn finish_interrupted(&self, waiting: Waiting, progress: &Progress) -> Result<()> {
        if run(&mut self.dpkg(&["--audit"]))?.trim().is_empty() {
            return Ok(());
        }
        progress.say("finish an installation that was interrupted");
        waiting.run(progress, || self.dpkg(&["--configure", "--pending"]))?;
        waiting.run(progress, || self.apt("apt-get", &["-qq", "--yes", "--fix-broken", "install"]))?;
        Ok(())
    }

    fn is_available(&self, name: &str) -> bool {
        run(&mut self.apt("apt-cache", &["show", "--no-all-versions", name])).is_ok()
    }

    fn apt(&self, program: &str, arguments: &[&str]) -> Command {
        quiet(program, &self.apt, arguments)
    }

    fn dpkg(&self, arguments: &[&str]) -> Command {
        quiet("dpkg", &self.dpkg, arguments)
    }
}

/// A command that asks nothing and answers in the locale that [`super::lock`] reads.
fn quiet(program: &str, options: &[String], arguments: &[&str]) -> Command {
    let mut command = command(program, options);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C");
    command
}

/// The advice for a user who may not install packages.
fn advice(packages: &[&str]) -> String {
    let packages: Vec<&str> = packages.iter().map(|names| choose(names, |_| true)).collect();
    format!("as root: apt-get install {}", packages.join(" "))
}

/// Of `one | other` the first that is available; if none is, the first one, so that apt can report the error.
fn choose(names: &str, is_available: impl Fn(&str) -> bool) -> &str {
    let all = || names.split('|').map(str::trim);
    all().find(|name| is_available(name)).or_else(|| all().next()).unwrap_or(names)
}

/// The number of downloads and their size in bytes, from the output of `--print-uris`.
fn planned(uris: &str) -> (usize, u64) {
    let sizes = uris
        .lines()
        .filter(|line| line.starts_with('\''))
        .filter_map(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok());
    sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size))
}

/// Runs apt to its end and reports its progress, from the lines that it writes for programs
/// (`APT::Status-Fd`).
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
    let mut reported = Instant::now();
    for line in BufReader::new(stdout).lines() {
        let line = line.context("cannot read what apt-get says")?;
        match stage(&line) {
            Some(stage) if reported.elapsed() >= REPORT_EACH => {
                progress.say(stage);
                reported = Instant::now();
            }
            Some(_) => {}
            None => text = text + &line + "\n",
        }
    }
    let status = child.wait().context("cannot wait for apt-get")?;
    Ok(Outcome { program: "apt-get".into(), status, text, errors: errors.join().unwrap_or_default() })
}

/// The progress in a line of apt's status: `download 45 %` for `dlstatus:12:45.20:…`, `install 10 %,
/// chromium` for `pmstatus:chromium:10.33:…`; `None` for other lines.
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
    use std::sync::mpsc::channel;

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
    fn a_followed_run_keeps_what_apt_prints_besides_its_progress() {
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

    /// A system in a folder, with nothing installed.
    fn other_system(test: &TestArchive) -> Target {
        let root = test.path("system");
        let database = root.join("var/lib/dpkg");
        fs::create_dir_all(database.join("updates")).unwrap();
        fs::create_dir_all(database.join("info")).unwrap();
        fs::write(database.join("status"), "").unwrap();
        let status = format!("Dir::State::status={}", database.join("status").display());
        let root = format!("--root={}", root.display());
        let apt = vec!["-c".into(), test.path("apt.conf").display().to_string(), "-o".into(), status];
        let apt = [apt, vec!["-o".into(), format!("DPkg::Options::={root}")]].concat();
        Target { apt, dpkg: vec![root] }
    }

    fn state(target: &Target) -> String {
        run(&mut target.dpkg(&["--status", "loopbox-test"])).unwrap_or_default()
    }

    #[test]
    fn a_package_is_announced_and_installed() {
        if !is_root().unwrap() {
            println!("not root: dpkg installs nothing, not even in a folder");
            return;
        }
        let test = TestArchive::new();
        let target = other_system(&test);
        let (send, lines) = channel();
        target.install(&["no-such-package | loopbox-test"], &Progress::to_channel("test", send)).unwrap();
        assert!(state(&target).contains("Status: install ok installed"), "{}", state(&target));
        assert!(test.path("system/data").is_file());
        let lines: Vec<String> = lines.into_iter().collect();
        let plan = "install loopbox-test: download 1 package, 2 MB, about 1 s at 2 MB/s, then unpack";
        assert!(lines.iter().any(|line| line.ends_with(plan)), "{lines:?}");
    }

    #[test]
    fn a_package_is_installed_although_another_archive_cannot_be_read() {
        if !is_root().unwrap() {
            println!("not root: dpkg installs nothing, not even in a folder");
            return;
        }
        let test = TestArchive::new();
        test.add_archive_without_index();
        let target = other_system(&test);
        let (send, lines) = channel();
        target.install(&["loopbox-test"], &Progress::to_channel("test", send)).unwrap();
        assert!(state(&target).contains("Status: install ok installed"), "{}", state(&target));
        assert!(lines.into_iter().any(|line| line.contains("go on with the package indexes")));
        let error = target.install(&["no-such-package"], &Progress::new("test")).unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("not all package indexes could be read"), "{text}");
        assert!(text.contains("no-such-package"), "{text}");
    }

    #[test]
    fn an_installation_that_was_killed_is_finished_first() {
        if !is_root().unwrap() {
            println!("not root: dpkg installs nothing, not even in a folder");
            return;
        }
        let test = TestArchive::new();
        let target = other_system(&test);
        run(target.dpkg(&["--unpack"]).arg(test.package())).unwrap();
        assert!(state(&target).contains("Status: install ok unpacked"), "{}", state(&target));
        let (send, lines) = channel();
        target.install(&["loopbox-test"], &Progress::to_channel("test", send)).unwrap();
        assert!(state(&target).contains("Status: install ok installed"), "{}", state(&target));
        assert!(lines.into_iter().any(|line| line.contains("finish an installation")));
    }

    #[test]
    fn reads_the_effective_user() {
        assert_eq!(effective_user("Name:\tx\nUid:\t1000\t0\t1000\t1000\n"), Some(0));
        assert_eq!(effective_user("Name:\tx\n"), None);
    }
}
