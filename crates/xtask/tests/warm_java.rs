//! Programs in the warm JVM, through the command that passes them to it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{self, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use loopbox_setup::tools::Tools;
use tempfile::{TempDir, tempdir};

/// A program that prints the id of its process and how often it has run there, and closes its output. It ends
/// as its argument says.
const PROGRAM: &str = r#"
public class Ends {
    static int runs;
    public static void main(String[] arguments) throws Exception {
        Thread printer = new Thread(() -> System.out.println(ProcessHandle.current().pid() + " " + ++runs));
        printer.start();
        printer.join();
        System.err.println("so " + String.join(",", arguments));
        System.out.close();
        System.err.close();
        switch (arguments[0]) {
            case "exits": System.exit(7);
            case "throws": throw new IllegalStateException("thrown");
            case "crashes": new ProcessBuilder("kill", "-KILL", "" + ProcessHandle.current().pid()).start().waitFor();
        }
    }
}
"#;

/// The folder of a warm JVM that serves this process, and a compiled program.
struct Warm {
    folder: TempDir,
    java: String,
}

impl Warm {
    fn new() -> Result<Self> {
        Self::serving(process::id())
    }

    /// The folder of a warm JVM that serves another process.
    fn serving(served: u32) -> Result<Self> {
        let folder = tempdir()?;
        symlink(format!("/proc/{served}/exe"), folder.path().join("java"))?;
        let java = Tools::ensure()?.java().get_program().to_string_lossy().into_owned();
        let warm = Self { folder, java };
        fs::write(warm.folder.path().join("Ends.java"), PROGRAM)?;
        Ok(warm)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, class_path: &str, program: &str, arguments: &[&str]) -> Result<Output> {
        let mut client = Command::new(env!("CARGO_BIN_EXE_xtask"));
        client.arg("warm-java").arg(self.path()).args([&self.java, class_path, program]).args(arguments);
        client.output().context("cannot run the client")
    }

    fn javac(&self, file: &str) -> Result<Output> {
        let file = self.path().join(file).display().to_string();
        self.run("", "javac", &["-d", &self.path().display().to_string(), &file])
    }

    fn ends(&self, how: &str) -> Result<Output> {
        self.run(&self.path().display().to_string(), "Ends", &[how, "é"])
    }
}

/// The process id that the program printed, and how often the program had run in that process.
fn printed(output: &Output) -> Result<(u32, u32)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let (process, runs) = text.trim().split_once(' ').with_context(|| format!("{output:?}"))?;
    Ok((process.parse()?, runs.parse()?))
}

#[test]
fn programs_run_in_one_jvm_and_end_as_they_would_alone() -> Result<()> {
    let warm = Warm::new()?;
    let compiled = warm.javac("Ends.java")?;
    assert!(compiled.status.success(), "{compiled:?}");
    let ends = [("returns", 0), ("exits", 7), ("throws", 1), ("returns", 0)];
    let jvm = fs::read_to_string(warm.path().join("process"))?.parse::<u32>()?;
    for (number, (how, status)) in (1..).zip(ends) {
        let output = warm.ends(how)?;
        assert_eq!((output.status.code(), printed(&output)?), (Some(status), (jvm, number)), "{how}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.starts_with(&format!("so {how},é\n")), "{errors}");
        assert_eq!(errors.contains("IllegalStateException: thrown"), how == "throws", "{errors}");
    }
    fs::write(warm.path().join("Wrong.java"), "class Wrong { int x = y; }")?;
    let refused = warm.javac("Wrong.java")?;
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("Wrong.java:1: error: cannot find symbol"));
    Ok(())
}

#[test]
fn relative_paths_are_those_of_the_command() -> Result<()> {
    let warm = Warm::new()?;
    let mut client = Command::new(env!("CARGO_BIN_EXE_xtask"));
    client.current_dir(warm.path()).arg("warm-java").arg(warm.path()).args([&warm.java, "", "javac"]);
    let output = client.args(["-d", ".", "Ends.java"]).output()?;
    assert!(output.status.success() && warm.path().join("Ends.class").is_file(), "{output:?}");
    assert!(!warm.path().join("process").exists());
    Ok(())
}

#[test]
fn the_jvm_ends_with_the_process_that_it_serves_and_leaves_nothing() -> Result<()> {
    let mut served = Command::new("sleep").arg("1000").spawn()?;
    let warm = Warm::serving(served.id())?;
    ensure!(warm.javac("Ends.java")?.status.success());
    let jvm = printed(&warm.ends("returns")?)?.0;
    served.kill()?;
    served.wait()?;
    let begun = Instant::now();
    // Gone, or a zombie that has not been reaped yet.
    let stat = format!("/proc/{jvm}/stat");
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) || warm.path().exists() {
        ensure!(begun.elapsed() < Duration::from_mins(1), "the JVM {jvm} or its folder is there");
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

#[test]
fn a_program_whose_jvm_ends_runs_in_one_of_its_own() -> Result<()> {
    let warm = Warm::new()?;
    ensure!(warm.javac("Ends.java")?.status.success());
    let jvm = printed(&warm.ends("returns")?)?.0;
    // It kills the warm JVM, and then its own one.
    let output = warm.ends("crashes")?;
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    assert_ne!(printed(&output)?.0, jvm);
    let next = printed(&warm.ends("returns")?)?;
    assert_eq!(fs::read_to_string(warm.path().join("process"))?, next.0.to_string());
    Ok(())
}

#[test]
fn a_jvm_that_refuses_to_stay_warm_runs_each_program_alone() -> Result<()> {
    let mut warm = Warm::new()?;
    // As a JDK of which nothing is left but the tools, and which has no SecurityManager.
    let bin = Path::new(&warm.java).canonicalize()?;
    let bin = bin.parent().context("no folder of the JDK")?;
    let jdk = tempdir()?;
    symlink(bin.join("javac"), jdk.path().join("javac"))?;
    let java = jdk.path().join("java");
    let script = "for one; do [ \"$one\" = -Djava.security.manager=allow ] && exit 1; done";
    fs::write(&java, format!("#!/bin/sh\n{script}\nexec {} \"$@\"\n", warm.java))?;
    fs::set_permissions(&java, fs::Permissions::from_mode(0o755))?;
    warm.java = java.display().to_string();
    ensure!(warm.javac("Ends.java")?.status.success());
    let (first, second) = (printed(&warm.ends("returns")?)?, printed(&warm.ends("returns")?)?);
    assert_ne!(first.0, second.0);
    assert_eq!((first.1, second.1), (1, 1));
    Ok(())
}
